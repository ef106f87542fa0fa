#!/bin/sh
# tests-before-merge: runs a command of yours on the result of a merge; the merge happens only if it passes.
#
# Events:   pre-merge
# Needs:    git, and what the command needs
# Settings: git config axiomHook.testCommand 'make test'      the command, for sh
#           git config axiomHook.testIn workspace             in the task's workspace instead: faster, with all that was built
#                                                             there, but without what the target has since
# Install:  copy it to pre-merge.d/tests-before-merge.sh below .axiom/hooks (for everybody who approves it) or below
#           "$(git rev-parse --git-common-dir)/axiom/hooks" (for this clone), and make it executable: see hooks/README.md
#
# One test database for all: git config axiomHook.testCommand 'git axiom lock testdb -- make test'
# Mind the time limit of hooks (hooks.timeout); long tests are better in merge.verify, which has its own.

set -u

veto() {
    echo "tests-before-merge: $1" >&2
    exit 1
}

command=$(git config --get axiomHook.testCommand)
[ -n "$command" ] || veto "no command to run: git config axiomHook.testCommand COMMAND"
where=$(git config --get axiomHook.testIn || echo merge)

case $where in
workspace)
    sh -c "$command" </dev/null || veto "'$command' failed in the workspace (status $?)"
    exit 0
    ;;
merge) ;;
*) veto "axiomHook.testIn is merge or workspace" ;;
esac

case ${AXIOM_MERGE_TREE:-} in
'' | *[!0-9a-f]*) veto "AXIOM_MERGE_TREE is not the id of a tree" ;;
esac
folder=$(mktemp -d "${TMPDIR:-/tmp}/axiom-merge-XXXXXX") || veto "no temporary folder"
trap 'rm -rf -- "$folder"' EXIT
trap 'exit 1' HUP INT TERM

# The files of the merge, with an index of their own. No worktree is added and no ref moves.
GIT_INDEX_FILE=$folder/index git read-tree "$AXIOM_MERGE_TREE" || veto "the tree of the merge cannot be read"
GIT_INDEX_FILE=$folder/index git checkout-index --all --quiet --prefix="$folder/tree/" || veto "the files of the merge cannot be written"
mkdir -p "$folder/tree"
(cd "$folder/tree" && sh -c "$command") </dev/null || veto "'$command' failed on the result of the merge (status $?)"
