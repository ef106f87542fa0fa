//! How many open tasks wait for each open task, directly or indirectly. Exact, and quick for graphs of any shape: what waits
//! is counted for a block of tasks at a time, as sets of bits that are joined from the last tasks to the first.

use std::collections::{BTreeMap, HashMap};

use crate::base::ids::TaskId;
use crate::state::current_state::State;

/// How many words of 64 tasks a block has: 512 bytes of each task are in use at a time.
const WORDS: usize = 64;

/// How many open tasks wait for each open task that any waits for.
pub fn unblocking_power(state: &State) -> BTreeMap<&TaskId, usize> {
    let tasks = &state.restorable.tasks;
    let is_open = |id: &&TaskId| tasks.get(*id).is_some_and(|task| !task.is_settled());
    let mut numbers: HashMap<&TaskId, usize> = HashMap::new();
    // Tasks that neither wait nor are waited for have no number.
    let mut waiting: Vec<Vec<usize>> = Vec::new();
    for task in tasks.values().filter(|task| !task.is_settled()) {
        for before in task.after.iter().filter(is_open) {
            let [here, before] = [&task.id, before].map(|id| {
                let next = numbers.len();
                *numbers.entry(id).or_insert(next)
            });
            waiting.resize_with(numbers.len(), Vec::new);
            waiting[before].push(here);
        }
    }
    let counts = count_reached(&waiting);
    numbers.into_iter().map(|(id, number)| (id, counts[number])).filter(|(_, count)| *count > 0).collect()
}

/// How many nodes each node reaches by `next`. Nodes of a cycle, which tasks never form, count what they reach at least.
fn count_reached(next: &[Vec<usize>]) -> Vec<usize> {
    let order = last_first(next);
    let mut counts = vec![0; next.len()];
    for first in (0..next.len()).step_by(WORDS * 64) {
        let words = WORDS.min((next.len() - first).div_ceil(64));
        let mut reached = vec![0_u64; words * next.len()];
        for &node in &order {
            for &other in &next[node] {
                for word in 0..words {
                    reached[node * words + word] |= reached[other * words + word];
                }
                if let Some(bit) = other.checked_sub(first).filter(|bit| *bit < words * 64) {
                    reached[node * words + bit / 64] |= 1 << (bit % 64);
                }
            }
            counts[node] += reached[node * words..][..words].iter().map(|word| word.count_ones() as usize).sum::<usize>();
        }
    }
    counts
}

/// All nodes, each after those that it reaches.
fn last_first(next: &[Vec<usize>]) -> Vec<usize> {
    let mut before = vec![Vec::new(); next.len()];
    let mut left: Vec<usize> = next.iter().map(Vec::len).collect();
    for (node, others) in next.iter().enumerate() {
        others.iter().for_each(|other| before[*other].push(node));
    }
    let mut order: Vec<usize> = (0..next.len()).filter(|node| left[*node] == 0).collect();
    let mut at = 0;
    while let Some(&node) = order.get(at) {
        for &other in &before[node] {
            left[other] -= 1;
            if left[other] == 0 {
                order.push(other);
            }
        }
        at += 1;
    }
    order.extend((0..next.len()).filter(|node| left[*node] > 0));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By a search from each node.
    fn searched(next: &[Vec<usize>]) -> Vec<usize> {
        let from = |node: usize| {
            let (mut seen, mut todo) = (vec![false; next.len()], vec![node]);
            while let Some(here) = todo.pop() {
                for &other in &next[here] {
                    if !std::mem::replace(&mut seen[other], true) {
                        todo.push(other);
                    }
                }
            }
            seen.into_iter().filter(|seen| *seen).count()
        };
        (0..next.len()).map(from).collect()
    }

    #[test]
    fn chains_diamonds_and_random_graphs_are_counted_as_a_search_counts_them() {
        assert_eq!(count_reached(&[]), [0; 0]);
        assert_eq!(count_reached(&[vec![1], vec![2], vec![]]), [2, 1, 0]);
        assert_eq!(count_reached(&[vec![1, 2, 1], vec![3], vec![3], vec![]]), [3, 1, 1, 0]);
        let mut seed = 1_u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % below
        };
        for nodes in [1, 63, 64, 65, 300] {
            let next: Vec<Vec<usize>> = (0..nodes)
                .map(|node| (0..random(4)).filter(|_| node + 1 < nodes).map(|_| node + 1 + random(nodes - node - 1)).collect())
                .collect();
            assert_eq!(count_reached(&next), searched(&next), "{nodes}");
        }
    }

    #[test]
    fn more_nodes_than_a_block_has_are_counted() {
        let nodes = WORDS * 64 + 100;
        let chain: Vec<Vec<usize>> = (0..nodes).map(|node| if node + 1 < nodes { vec![node + 1] } else { vec![] }).collect();
        let counts = count_reached(&chain);
        assert_eq!((counts[0], counts[50], counts[nodes - 1]), (nodes - 1, nodes - 51, 0));
    }

    #[test]
    fn a_cycle_ends() {
        assert_eq!(count_reached(&[vec![1], vec![0]]).len(), 2);
    }
}
