//! What git's configuration says of one branch (`branch.NAME.*`: its upstream, mostly), which goes with the branch when
//! `git branch -D` deletes it. Pure.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::domain::base::names::RefName;
use crate::domain::operation::journaled::{RefChange, Way};

/// One value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigValue {
    /// The last part of its key, in lower case.
    pub key: String,
    /// What it is; `None` where only the key is there, which is git's short form of `true`.
    pub value: Option<String>,
}

/// All values of some branches, in their order; a branch without any is not in it.
pub type BranchConfigs = BTreeMap<RefName, Vec<ConfigValue>>;

/// The configuration of a branch that comes back or goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BranchConfigChange {
    /// The branch.
    pub branch: RefName,
    /// All that is said of it.
    pub values: Vec<ConfigValue>,
    /// Which way it goes: [`Way::PutAside`] takes it out.
    pub way: Way,
}

impl BranchConfigChange {
    /// Whether there is something to do. It comes back only where nothing is said of the branch, and goes only while it is what it
    /// was: what somebody said of it since is his.
    pub fn is_to_do(&self, now: &BranchConfigs) -> bool {
        match self.way {
            Way::BringBack => !now.contains_key(&self.branch),
            Way::PutAside => now.get(&self.branch) == Some(&self.values),
        }
    }
}

/// What becomes of the configuration of branches that come back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coming {
    /// What comes back with them.
    pub back: Vec<BranchConfigChange>,
    /// Those of which something else is said by now: it stays.
    pub left: Vec<RefName>,
}

/// What comes back with the branches that come back, by what was said of them then and what is said now.
pub fn coming(refs: &[RefChange], then: &BranchConfigs, now: &BranchConfigs) -> Coming {
    let is_back = |change: &&RefChange| change.value.old.is_none() && change.value.new.is_some();
    let branches: BTreeSet<&RefName> = refs.iter().filter(is_back).map(|change| &change.name).collect();
    let mut coming = Coming::default();
    for (branch, values) in then.iter().filter(|(branch, _)| branches.contains(branch)) {
        match now.get(branch) {
            None => {
                let change = BranchConfigChange { branch: branch.clone(), values: values.clone(), way: Way::BringBack };
                coming.back.push(change);
            }
            Some(there) if there == values => {}
            Some(_) => coming.left.push(branch.clone()),
        }
    }
    coming
}

/// The values in words, one after the other, branches by their short names.
pub fn said(values: &[ConfigValue]) -> String {
    let one = |one: &ConfigValue| match &one.value {
        Some(value) => format!("{} {}", one.key, value.strip_prefix("refs/heads/").unwrap_or(value)),
        None => one.key.clone(),
    };
    values.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::base::names::Oid;
    use crate::domain::base::text::Change;

    fn configs(all: &[(&str, &str)]) -> BranchConfigs {
        let values = |remote: &str| vec![ConfigValue { key: "remote".into(), value: Some(remote.into()) }];
        all.iter().map(|(name, remote)| (RefName::branch(name), values(remote))).collect()
    }

    #[test]
    fn it_comes_back_with_its_branch_where_nothing_else_is_said_of_it() {
        let oid = || Some(Oid::new("1".repeat(40)).unwrap());
        let change = |name: &str, old, new| RefChange { name: RefName::branch(name), value: Change::new(old, new) };
        let refs = [
            change("back", None, oid()),
            change("same", None, oid()),
            change("other", None, oid()),
            change("moved", oid(), oid()),
            change("going", oid(), None),
        ];
        let then = configs(&[("back", "o"), ("same", "o"), ("other", "o"), ("moved", "o"), ("going", "o"), ("stays", "o")]);
        let coming = coming(&refs, &then, &configs(&[("same", "o"), ("other", "x")]));
        let back: Vec<&str> = coming.back.iter().map(|change| change.branch.short()).collect();
        assert_eq!((back, coming.left), (vec!["back"], vec![RefName::branch("other")]));
    }

    #[test]
    fn what_somebody_said_since_stays() {
        for (way, now, is_to_do) in [
            (Way::BringBack, configs(&[]), true),
            (Way::BringBack, configs(&[("b", "o")]), false),
            (Way::BringBack, configs(&[("b", "x")]), false),
            (Way::PutAside, configs(&[]), false),
            (Way::PutAside, configs(&[("b", "o")]), true),
            (Way::PutAside, configs(&[("b", "x")]), false),
        ] {
            let values = configs(&[("b", "o")]).remove(&RefName::branch("b")).unwrap();
            let change = BranchConfigChange { branch: RefName::branch("b"), values, way };
            assert_eq!(change.is_to_do(&now), is_to_do, "{way:?} {now:?}");
        }
    }
}
