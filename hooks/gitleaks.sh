#!/bin/sh
# gitleaks: looks for secrets in the commits that a merge would bring.
#
# Events:   pre-merge
# Needs:    gitleaks 8 (https://github.com/gitleaks/gitleaks); without it, nothing is merged, since nothing was looked at
# Settings: .gitleaks.toml of the target branch, where it has one: that of the task's branch could allow what it brings
# Install:  copy it to pre-merge.d/gitleaks.sh below .axiom/hooks (for everybody who approves it) or below
#           "$(git rev-parse --git-common-dir)/axiom/hooks" (for this clone), and make it executable: see hooks/README.md

set -u

veto() {
    echo "gitleaks: $1" >&2
    exit 1
}

commit_of() {
    case $1 in
    refs/*) git rev-parse --verify --quiet "$1^{commit}" ;;
    *) git rev-parse --verify --quiet "refs/heads/$1^{commit}" ;;
    esac
}

command -v gitleaks >/dev/null 2>&1 || veto "gitleaks is not installed, so nothing was looked at"
target=$(commit_of "${AXIOM_TARGET:-}") || veto "the target branch is not found"
branch=$(commit_of "${AXIOM_BRANCH:-}") || veto "the branch of the task is not found"
[ "$target" != "$branch" ] || exit 0

set -- --no-banner --redact --log-opts="$target..$branch"
if git cat-file -e "$target:.gitleaks.toml" 2>/dev/null; then
    config=$(mktemp "${TMPDIR:-/tmp}/axiom-gitleaks-XXXXXX") || veto "no temporary file"
    trap 'rm -f -- "$config"' EXIT
    git cat-file blob "$target:.gitleaks.toml" >"$config" || veto "the configuration of the target cannot be read"
    set -- "$@" --config "$config"
fi

# What is found is not printed: the output of hooks is kept. Before 8.19 the command had another name.
if gitleaks git --help >/dev/null 2>&1; then
    gitleaks git "$@" . </dev/null || veto "there may be secrets in these commits (status $?)"
else
    gitleaks detect "$@" --source . </dev/null || veto "there may be secrets in these commits (status $?)"
fi
