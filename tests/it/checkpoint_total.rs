//! `checkpoints.maxTotal`: automatic checkpoints go before all of them hold more, and those that are always kept stay.

use crate::common::TestEnv;

/// Bytes that nothing compresses, others for each number.
fn noise(number: u64, length: usize) -> Vec<u8> {
    let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..length).map(next).collect()
}

/// An automatic checkpoint that alone holds so many bytes; all that is said.
fn checkpoint(env: &TestEnv, number: u64, length: usize) -> String {
    std::fs::write(env.repo().join("data"), noise(number, length)).unwrap();
    env.axiom(&["checkpoint", "create"]).success().to_string()
}

fn count(env: &TestEnv, kind: &str) -> usize {
    let list = env.json(&["checkpoint", "list"]);
    list["checkpoints"].as_array().unwrap().iter().filter(|one| one["type"] == kind).count()
}

#[test]
fn automatic_checkpoints_go_before_all_of_them_hold_more_than_that() {
    let env = TestEnv::new();
    env.ok(&["init"]);
    (0..4).for_each(|number| drop(checkpoint(&env, number, 300_000)));
    env.ok(&["checkpoint", "create", "mine"]);
    assert_eq!((count(&env, "auto"), count(&env, "named")), (4, 1), "without a limit all stay");
    env.git(&["config", "axiom.checkpoints.maxTotal", "2"]);
    // What a branch has, and what is staged, no checkpoint holds alone.
    std::fs::write(env.repo().join("committed"), noise(98, 3_000_000)).unwrap();
    env.git(&["add", "committed"]);
    env.git(&["commit", "-q", "-m", "large"]);
    std::fs::write(env.repo().join("staged"), noise(99, 3_000_000)).unwrap();
    env.git(&["add", "staged"]);
    for number in 4..12 {
        let said = checkpoint(&env, number, 300_000);
        assert!(!said.contains("maxTotal"), "{said}");
    }
    // The named one holds what the fourth does.
    assert_eq!((count(&env, "auto"), count(&env, "named")), (5, 1));
    let alone = env.json(&["disk"])["uses"][0].clone();
    assert_eq!((alone["what"].as_str(), alone["limit"].as_u64()), (Some("captures, notes"), Some(2 << 20)));
    assert!((1_800_000..=2 << 20).contains(&alone["bytes"].as_u64().unwrap()), "{alone}");
    assert_eq!(env.git(&["for-each-ref", "refs/axiom/kept"]), "", "what went holds nothing");
    env.ok(&["checkpoint", "verify"]);

    env.git(&["config", "axiom.checkpoints.maxTotal", "1"]);
    (12..15).for_each(|number| drop(checkpoint(&env, number, 600_000)));
    let said = checkpoint(&env, 15, 600_000);
    assert!(said.contains("checkpoints that are always kept hold") && said.contains("maxTotal"), "{said}");
    assert_eq!((count(&env, "auto"), count(&env, "named")), (3, 1));
    assert!(env.axiom(&["disk"]).success().to_string().contains("checkpoints that are always kept hold"));
}
