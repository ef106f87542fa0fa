#!/bin/sh
# bell: rings the terminals of this user, with a line that says what waits.
#
# Events:   on-gate, on-idle
# Needs:    who, and write access to one's own terminals; without either, it says so and reports nothing
# Settings: none
# Install:  copy it to EVENT.d/bell.sh for each event, below .axiom/hooks (for everybody who approves it) or below
#           "$(git rev-parse --git-common-dir)/axiom/hooks" (for this clone), and make it executable: see hooks/README.md

set -u

case ${AXIOM_EVENT:-} in
on-gate) text="${AXIOM_REASON:-something waits for you}: ${AXIOM_COMMAND:-git axiom gate list}" ;;
on-idle) text="${AXIOM_STATUS:-idle}: ${AXIOM_REASON:-nothing is left to do}: ${AXIOM_COMMAND:-git axiom status}" ;;
*) text="${AXIOM_EVENT:-}" ;;
esac
# A terminal obeys control characters, whatever they are a part of.
text=$(printf '%s' "$text" | head -c 300 | iconv -c -f UTF-8 -t UTF-8 2>/dev/null | LC_ALL=C tr -d '\000-\037\177')

rang=
for terminal in $(who 2>/dev/null | while read -r user line _; do [ "$user" = "$(id -un)" ] && echo "/dev/$line"; done); do
    if [ -c "$terminal" ] && [ -w "$terminal" ]; then
        printf '\a\r\ngit axiom: %s\r\n' "$text" >"$terminal" && rang=yes
    fi
done
[ -n "$rang" ] || echo "bell: no terminal of yours can be written to: nothing rang" >&2
exit 0
