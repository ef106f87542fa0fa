#!/bin/sh
# commit-messages: checks the messages of the commits that a merge would bring.
#
# Events:   pre-merge
# Needs:    git
# Settings: git config axiomHook.subjectLimit 72                       the longest subject, in characters
#           git config axiomHook.subjectPattern '^(feat|fix|docs): '   what a subject must match (grep -E)
# Install:  copy it to pre-merge.d/commit-messages.sh below .axiom/hooks (for everybody who approves it) or below
#           "$(git rev-parse --git-common-dir)/axiom/hooks" (for this clone), and make it executable: see hooks/README.md
#
# A subject is not empty, not too long, no fixup or squash, and an empty line follows it. Merges, and commits that git axiom
# made of what an agent left (they have the trailer Axiom-Task), are not checked.

set -u

commit_of() {
    case $1 in
    refs/*) git rev-parse --verify --quiet "$1^{commit}" ;;
    *) git rev-parse --verify --quiet "refs/heads/$1^{commit}" ;;
    esac
}

target=$(commit_of "${AXIOM_TARGET:-}") || { echo "commit-messages: the target branch is not found" >&2; exit 1; }
branch=$(commit_of "${AXIOM_BRANCH:-}") || { echo "commit-messages: the branch of the task is not found" >&2; exit 1; }
limit=$(git config --type=int --get axiomHook.subjectLimit || echo 72)
pattern=$(git config --get axiomHook.subjectPattern)
commits=$(git rev-list --no-merges --reverse "$target..$branch") || { echo "commit-messages: the commits cannot be listed" >&2; exit 1; }

# How many characters: bytes, without those that continue a character.
characters() {
    printf '%s' "$1" | LC_ALL=C tr -d '\200-\277' | wc -c
}

wrong=0
bad() {
    printf 'commit-messages: %.10s %s: %s\n' "$commit" "$1" "$(printf '%.100s' "$subject" | LC_ALL=C tr -d '\000-\037\177')" >&2
    wrong=1
}

for commit in $commits; do
    if [ -n "$(git log -1 --format='%(trailers:key=Axiom-Task)' "$commit")" ]; then
        continue
    fi
    subject=$(git log -1 --format=%B "$commit" | sed -n 1p)
    second=$(git log -1 --format=%B "$commit" | sed -n 2p)
    [ -n "$subject" ] || bad "has no subject"
    [ "$(characters "$subject")" -le "$limit" ] || bad "has a subject of more than $limit characters"
    [ -z "$second" ] || bad "has no empty line after its subject"
    case $subject in
    'fixup!'* | 'squash!'* | 'amend!'*) bad "was meant to be squashed" ;;
    esac
    if [ -n "$pattern" ] && ! printf '%s\n' "$subject" | grep -E -q -e "$pattern"; then
        bad "does not match $pattern"
    fi
done
exit "$wrong"
