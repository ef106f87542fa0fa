#!/bin/sh
# pause-summary: writes down where the work stands when it is paused, for whoever comes back to it.
#
# Events:   on-pause
# Needs:    git axiom
# Settings: git config axiomHook.summaryFile /path/to/file; without it, axiom-pause.txt in the git directory
# Install:  copy it to on-pause.d/pause-summary.sh below .axiom/hooks (for everybody who approves it) or below
#           "$(git rev-parse --git-common-dir)/axiom/hooks" (for this clone), and make it executable: see hooks/README.md

set -u
umask 077

file=$(git config --type=path --get axiomHook.summaryFile)
if [ -z "$file" ]; then
    file=$(git rev-parse --path-format=absolute --git-common-dir)/axiom-pause.txt || exit 1
fi

# Each line of a text of others, without control characters and set in.
set_in() {
    printf '%s\n' "$1" | LC_ALL=C tr -d '\000-\010\013-\037\177' | sed -e 's/^/    /'
}

new=$(mktemp "$file.XXXXXX") || exit 1
trap 'rm -f -- "$new"' EXIT
{
    echo "Paused at $(date '+%Y-%m-%d %H:%M:%S %z')"
    set_in "${AXIOM_REASON:-no reason was given}"
    echo
    echo "Running:"
    set_in "${AXIOM_RUNNING_TASKS:-nothing}"
    echo
    git axiom status
    echo
    echo "What waits for you:"
    git axiom gate list
    echo
    echo "Newest commits:"
    git log --oneline --all --branches -n 10
} >"$new" 2>&1
# Whoever reads it sees the old one or the new one, whole.
mv -f -- "$new" "$file"
trap - EXIT
cat -- "$file"
