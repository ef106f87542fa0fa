#!/bin/sh
# notify: a desktop notification.
#
# Events:   any; meant for on-gate, on-idle, on-pause, on-error, on-conflict and post-task-complete
# Needs:    notify-send (Debian, Ubuntu: libnotify-bin); without it, it says so and reports nothing
# Settings: none
# Install:  copy it to EVENT.d/notify.sh for each event, below .axiom/hooks (for everybody who approves it) or below
#           "$(git rev-parse --git-common-dir)/axiom/hooks" (for this clone), and make it executable: see hooks/README.md

set -u

if ! command -v notify-send >/dev/null 2>&1; then
    echo "notify: notify-send is not installed: nothing is shown" >&2
    exit 0
fi

event=${AXIOM_EVENT:-}
task=${AXIOM_TASK_ID:-}
urgency=normal
case $event in
on-pause)
    title="Paused: ${AXIOM_REASON:-}"
    body=${AXIOM_RUNNING_TASKS:+"Running: $AXIOM_RUNNING_TASKS"}
    ;;
on-error)
    title="${AXIOM_ERROR_TYPE:-Error}${task:+ ($task)}"
    body=${AXIOM_MESSAGE:-}
    urgency=critical
    ;;
on-conflict)
    title="Conflict${task:+ in $task}"
    body=${AXIOM_FILES:-}
    urgency=critical
    ;;
on-gate)
    title="Waiting for you${task:+: $task} (${AXIOM_KIND:-})"
    body="${AXIOM_REASON:-}
${AXIOM_COMMAND:-}"
    urgency=critical
    ;;
on-idle)
    case ${AXIOM_STATUS:-} in
    finished) title="Finished" ;;
    waiting) title="Nothing goes on without you" ;;
    *) title="Nothing goes on" ;;
    esac
    body="${AXIOM_REASON:-}
${AXIOM_COMMAND:-}"
    ;;
post-task-complete)
    title="$task: ${AXIOM_STATUS:-}"
    body="${AXIOM_AGENT:-} took ${AXIOM_DURATION:-?} s"
    ;;
*)
    title="$event${task:+: $task}"
    body=
    ;;
esac

# Both are cut, since they may be long, and without half a character and control characters. The body may have markup: what
# looks like it is shown as it is.
shown() {
    printf '%s' "$1" | head -c "$2" | iconv -c -f UTF-8 -t UTF-8 2>/dev/null | LC_ALL=C tr -d '\000-\010\013-\037\177'
}
body=$(shown "$body" 500 | sed -e 's/&/\&amp;/g' -e 's/</\&lt;/g' -e 's/>/\&gt;/g')
notify-send --app-name='git axiom' --urgency="$urgency" -- "$(shown "git axiom: $title" 200)" "$body"
