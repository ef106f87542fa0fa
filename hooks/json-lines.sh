#!/bin/sh
# json-lines: appends each event as one line of JSON to a file.
#
# Events:   any
# Needs:    git axiom (for its lock: two events at once stay two lines)
# Settings: git config axiomHook.jsonFile /path/to/file; without it, axiom-hooks.jsonl in the git directory
# Install:  copy it to EVENT.d/json-lines.sh for each event, below .axiom/hooks (for everybody who approves it) or below
#           "$(git rev-parse --git-common-dir)/axiom/hooks" (for this clone), and make it executable: see hooks/README.md

set -u
# It tells of the work: for this user only.
umask 077

file=$(git config --type=path --get axiomHook.jsonFile)
if [ -z "$file" ]; then
    file=$(git rev-parse --path-format=absolute --git-common-dir)/axiom-hooks.jsonl || exit 1
fi
# A line feed between two parts of the object means nothing; within a text it is always \n.
line=$(tr '\n\r' '  ')
if [ -z "$line" ]; then
    echo "json-lines: nothing came on standard input" >&2
    exit 1
fi
# shellcheck disable=SC2016 # $1 is for the inner shell
printf '%s\n' "$line" | git axiom lock hook-json-lines --wait 20s -- sh -c 'cat >>"$1"' sh "$file"
