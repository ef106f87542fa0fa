//! The configuration of one branch (`branch.NAME.*`, mostly its upstream). `git branch -D` deletes it together with the
//! branch. Pure.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::base::names::RefName;
use crate::base::ref_change::{ChangeDirection, RefChange};

/// One value of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigValue {
    /// The last part of its key, in lower case.
    pub key: String,
    /// The value; `None` for a key without a value, which is git's short form of `true`.
    pub value: Option<String>,
}

/// The values of each branch, in their order. Branches without values are not in the map.
pub type BranchConfigs = BTreeMap<RefName, Vec<ConfigValue>>;

/// The configuration of a branch that is removed or brought back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BranchConfigChange {
    /// The branch.
    pub branch: RefName,
    /// All its values.
    pub values: Vec<ConfigValue>,
    /// The direction: [`ChangeDirection::PutAside`] removes the values.
    pub way: ChangeDirection,
}

impl BranchConfigChange {
    /// Whether there is something to do. The values come back only where the branch has none now. They are removed only
    /// where they are unchanged: what the user has configured since is left alone.
    pub fn is_to_do(&self, now: &BranchConfigs) -> bool {
        match self.way {
            ChangeDirection::BringBack => !now.contains_key(&self.branch),
            ChangeDirection::PutAside => now.get(&self.branch) == Some(&self.values),
        }
    }
}

/// What happens to the configuration of branches that come back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReturningBranchConfig {
    /// The values that come back with them.
    pub back: Vec<BranchConfigChange>,
    /// Branches that have other values by now: those stay.
    pub left: Vec<RefName>,
}

/// The configuration that comes back with the branches that come back, given the values `then` and `now`.
pub fn coming(refs: &[RefChange], then: &BranchConfigs, now: &BranchConfigs) -> ReturningBranchConfig {
    let is_back = |change: &&RefChange| change.value.old.is_none() && change.value.new.is_some();
    let branches: BTreeSet<&RefName> = refs.iter().filter(is_back).map(|change| &change.name).collect();
    let mut coming = ReturningBranchConfig::default();
    for (branch, values) in then.iter().filter(|(branch, _)| branches.contains(branch)) {
        match now.get(branch) {
            None => {
                let change =
                    BranchConfigChange { branch: branch.clone(), values: values.clone(), way: ChangeDirection::BringBack };
                coming.back.push(change);
            }
            Some(there) if there == values => {}
            Some(_) => coming.left.push(branch.clone()),
        }
    }
    coming
}

/// The values in words, in their order, with short branch names.
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
    use crate::base::names::Oid;
    use crate::base::text::ValueChange;

    fn configs(all: &[(&str, &str)]) -> BranchConfigs {
        let values = |remote: &str| vec![ConfigValue { key: "remote".into(), value: Some(remote.into()) }];
        all.iter().map(|(name, remote)| (RefName::branch(name), values(remote))).collect()
    }

    #[test]
    fn it_comes_back_with_its_branch_where_nothing_else_is_said_of_it() {
        let oid = || Some(Oid::new("1".repeat(40)).unwrap());
        let change = |name: &str, old, new| RefChange { name: RefName::branch(name), value: ValueChange::new(old, new) };
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
            (ChangeDirection::BringBack, configs(&[]), true),
            (ChangeDirection::BringBack, configs(&[("b", "o")]), false),
            (ChangeDirection::BringBack, configs(&[("b", "x")]), false),
            (ChangeDirection::PutAside, configs(&[]), false),
            (ChangeDirection::PutAside, configs(&[("b", "o")]), true),
            (ChangeDirection::PutAside, configs(&[("b", "x")]), false),
        ] {
            let values = configs(&[("b", "o")]).remove(&RefName::branch("b")).unwrap();
            let change = BranchConfigChange { branch: RefName::branch("b"), values, way };
            assert_eq!(change.is_to_do(&now), is_to_do, "{way:?} {now:?}");
        }
    }
}
