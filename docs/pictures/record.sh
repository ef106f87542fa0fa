#!/bin/sh
# Makes the moving picture of README from the real programs: docs/pictures/record.sh PROGRAM
# Needs npm, pip, unshare and bash. Everything happens in a scratch folder, where nothing but this machine can be reached.
set -eu
claude_version=2.1.332
program=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
# As long as /home/you, which stands in its place in the picture.
scratch=$(mktemp -d /tmp/XXXX)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/tmp" "$scratch/home" "$scratch/bin" "$scratch/shop" "$scratch/casts"
npm install --silent --ignore-scripts --no-audit --no-fund --prefix "$scratch/npm" "@anthropic-ai/claude-code@$claude_version"
python3 -m venv "$scratch/python"
"$scratch/python/bin/pip" install -q termtosvg-ng==1.4.1
ln -s "$program" "$scratch/bin/git-axiom"
ln -s "$scratch"/npm/node_modules/@anthropic-ai/claude-code-*/claude "$scratch/bin/claude"

export TMPDIR="$scratch/tmp" HOME="$scratch/home" PATH="$scratch/bin:$PATH"
export GIT_CONFIG_NOSYSTEM=1 TZ=UTC LANG=C.UTF-8 TERM=xterm-256color
export MODEL_PORT=18181 ANTHROPIC_BASE_URL=http://127.0.0.1:18181 ANTHROPIC_API_KEY=dummy
export CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
# What Claude Code asks at its first start is answered.
cat > "$HOME/.claude.json" <<EOF
{"hasCompletedOnboarding": true, "theme": "dark-ansi", "customApiKeyResponses": {"approved": ["dummy"]},
 "projects": {"$scratch/shop": {"hasTrustDialogAccepted": true}}}
EOF
cd "$scratch/shop"
sh "$here/shop.sh"
unshare --net --map-root-user sh -c 'ip link set lo up && exec "$@"' - \
    python3 "$here/record.py" "$scratch/casts" "$claude_version"
sed -i "s|$scratch|/home/you|g" "$scratch"/casts/*.cast
cp "$scratch/casts/rewind.cast" "$scratch/casts/rollback.cast" "$here"

picture() { # NAME FOREGROUND BACKGROUND PALETTE
    printf '{"fg": "%s", "bg": "%s", "palette": "%s"}' "$2" "$3" "$4" > "$scratch/theme.json"
    "$scratch/python/bin/termtosvg" render "$scratch/casts/both.cast" "$here/$1.svg" \
        --theme "$scratch/theme.json" -t gjm8 -m 40 -D 2000
}
bright='#30363d:#ff7b72:#3fb950:#d29922:#58a6ff:#bc8cff:#39c5cf:#f0f6fc'
picture rollback-dark '#e6edf3' '#0d1117' "#484f58:#ff7b72:#3fb950:#d29922:#58a6ff:#bc8cff:#39c5cf:#b1bac4:$bright"
bright='#d0d7de:#a40e26:#1a7f37:#633c01:#218bff:#a475f9:#3192aa:#24292f'
picture rollback-light '#1f2328' '#f6f8fa' "#24292f:#cf222e:#116329:#4d2d00:#0969da:#8250df:#1b7c83:#6e7781:$bright"
