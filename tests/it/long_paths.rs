//! Paths as long as git and the system take them.

use crate::common::TestEnv;

/// A name with a backslash keeps the files from being written by this process: git writes them out, each at its path below our folder.
#[test]
fn a_rollback_brings_a_path_back_that_is_as_long_as_the_system_takes() {
    let env = TestEnv::new();
    env.ok(&["init"]);
    let shell = |script: &str| {
        let mut command = std::process::Command::new("sh");
        let run = command.args(["-c", script]).current_dir(env.repo()).output().unwrap();
        assert!(run.status.success(), "{run:?}");
        String::from_utf8(run.stdout).unwrap()
    };
    shell(
        "mkdir deep; cd -P deep; for i in $(seq 40); do n=$(printf 'p%.0s' $(seq 100)); mkdir $n; cd -P $n; done; echo leaf > leaf; \
         cd /; true",
    );
    env.write("back\\slash", "b\n");
    env.write("mine.txt", "precious\n");
    env.ok(&["checkpoint", "create", "c1"]);
    shell("rm -rf deep 'back\\slash' mine.txt");
    env.ok(&["rollback", "checkpoint", "c1", "--yes"]);
    assert_eq!((env.read("mine.txt").as_str(), env.read("back\\slash").as_str()), ("precious\n", "b\n"));
    assert_eq!(shell("cd -P deep; while cd -P p* 2>/dev/null; do :; done; cat leaf"), "leaf\n");
}
