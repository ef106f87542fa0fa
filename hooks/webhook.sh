#!/bin/sh
# webhook: sends the event as JSON to a URL (POST).
#
# Events:   any
# Needs:    curl; without it, or without a URL, it says so and reports nothing
# Settings: git config axiomHook.webhookUrl https://example.org/hook
#           (in your own configuration or this clone's: a URL often is a secret, so it is kept out of the list of processes)
# Install:  copy it to EVENT.d/webhook.sh for each event, below .axiom/hooks (for everybody who approves it) or below
#           "$(git rev-parse --git-common-dir)/axiom/hooks" (for this clone), and make it executable: see hooks/README.md

set -u

if ! command -v curl >/dev/null 2>&1; then
    echo "webhook: curl is not installed: nothing is sent" >&2
    exit 0
fi
url=$(git config --get axiomHook.webhookUrl)
if [ -z "$url" ]; then
    echo "webhook: no URL, so nothing is sent: git config axiomHook.webhookUrl URL" >&2
    exit 0
fi

# The JSON comes from standard input; the URL goes by a descriptor, quoted as curl wants it.
quoted=$(printf '%s' "$url" | tr -d '\n\r' | sed -e 's/\\/\\\\/g' -e 's/"/\\"/g')
curl --config /dev/fd/3 --globoff --proto '=https,http' --fail --silent --show-error --max-time 20 --output /dev/null \
    --header 'Content-Type: application/json' --data-binary @- 3<<END
url = "$quoted"
END
