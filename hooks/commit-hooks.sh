#!/bin/sh
# commit-hooks: runs the project's pre-commit hook (husky, pre-commit, lefthook, or a plain one) on the work of a task before it is merged.
#
# Verify:   git config --add axiom.merge.verify 'commit-hooks=git axiom hooks show commit-hooks | sh'
# Events:   pre-merge, where it is installed as a hook
# Needs:    git 2.36, and what the hook needs
# Settings: git config axiomHook.commitHooksLink 'node_modules .venv'   folders of the main worktree that the hook finds too
# Install:  the line above, for this clone; or copy it to pre-merge.d/commit-hooks.sh below .axiom/hooks (for everybody who approves
#           it) or below "$(git rev-parse --git-common-dir)/axiom/hooks", and make it executable: see hooks/README.md
#
# As for one commit of a human: the task's whole change is staged over the commit where its branch began, in a folder of its own, on
# a branch of the same name. No commit is made, and none of the task's commits is looked at by itself. Which hook runs is decided by
# the main worktree, and what configures it is as on the target: an agent may edit .husky or .pre-commit-config.yaml.

set -u

veto() {
    echo "commit-hooks: $1" >&2
    exit 1
}

# What decides which hooks run.
deciders='.husky .pre-commit-config.yaml lefthook.yml lefthook.yaml lefthook.toml lefthook.json .lefthook.yml .lefthook.yaml
.lefthook.toml .lefthook.json .lefthook lefthook-local.yml .lefthook-local.yml'

unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_PREFIX GIT_CEILING_DIRECTORIES
common=$(git rev-parse --path-format=absolute --git-common-dir) || veto "this is no repository"
main=$(git worktree list --porcelain | sed -n '1s/^worktree //p')
[ "$(git -C "$main" rev-parse --is-inside-work-tree 2>/dev/null)" = true ] || main=$(pwd)
hooks=$(git -C "$main" rev-parse --path-format=absolute --git-path hooks) || veto "the folder of the hooks is not known"
if [ ! -x "$hooks/pre-commit" ]; then
    echo "commit-hooks: there is no pre-commit hook in $hooks"
    exit 0
fi

commit_of() {
    git rev-parse --verify --quiet "$1^{commit}"
}

if [ -n "${AXIOM_BRANCH:-}" ]; then
    name=${AXIOM_BRANCH#refs/heads/}
    tip=$(commit_of "refs/heads/$name") || veto "the branch of the task is not found"
    target=$(commit_of "refs/heads/${AXIOM_TARGET#refs/heads/}") || veto "the target branch is not found"
elif ! name=$(git symbolic-ref --quiet --short HEAD) && tip=$(commit_of HEAD^2); then
    # The result of the merge.
    name=axiom/${AXIOM_TASK_ID:-task}
    target=$(commit_of HEAD^1)
else
    name=${name:-axiom/${AXIOM_TASK_ID:-task}}
    tip=$(commit_of HEAD) || veto "there is no commit"
    target=$(git -C "$main" rev-parse --verify --quiet HEAD) || veto "$main has no commit"
fi
base=$(git merge-base "$target" "$tip") || veto "the task's branch has nothing in common with the target"
if git diff --quiet "$base" "$tip"; then
    exit 0
fi
links=$(git config --get axiomHook.commitHooksLink || echo 'node_modules .venv')
format=$(git rev-parse --show-object-format)

folder=$(mktemp -d "${TMPDIR:-/tmp}/axiom-commit-XXXXXX") || veto "no temporary folder"
trap 'rm -rf -- "$folder"' EXIT
trap 'exit 1' HUP INT TERM

# A repository that borrows the objects, with the settings of this one: no worktree of this one that somebody could take for work.
made() {
    git init --quiet --template= --object-format="$format" "$folder" &&
        cd "$folder" &&
        mkdir -p .git/info .git/objects/info &&
        printf '%s\n' "$common/objects" > .git/objects/info/alternates &&
        git config --file .git/both include.path "$common/config" &&
        cat .git/config >> .git/both &&
        mv .git/both .git/config &&
        git config core.bare false &&
        git config core.worktree "$folder" &&
        git config core.hooksPath "$hooks" &&
        git config lfs.storage "$common/lfs" &&
        git symbolic-ref HEAD "refs/heads/$name" &&
        git update-ref HEAD "$base" &&
        git read-tree "$tip" &&
        git checkout-index --all --force --quiet
}
made </dev/null || veto "the work could not be put into $folder"
for path in $deciders; do
    git rm -r --quiet --cached --ignore-unmatch -- "$path" || veto "$path could not be taken out"
    rm -rf -- "$path"
    if git cat-file -e "$target:$path" 2>/dev/null; then
        git checkout --quiet "$target" -- "$path" </dev/null || veto "$path of the target could not be put there"
    fi
done
for path in $links; do
    if [ -e "$main/$path" ] && [ ! -e "$path" ]; then
        ln -s "$main/$path" "$path" && printf '/%s\n' "$path" >> .git/info/exclude
    fi
done
git update-index -q --refresh </dev/null
GIT_INDEX_FILE=$folder/.git/index GIT_EDITOR=: git hook run pre-commit </dev/null || veto "the pre-commit hook of $main rejects it"
