#!/bin/sh
# Makes the pictures of README and docs/USING.md from the real program: docs/pictures/make.sh PROGRAM
# Needs tmux. Everything happens in a scratch folder.
set -eu
program=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
scratch=$(mktemp -d)
trap 'tmux -L axiom-pictures kill-server 2>/dev/null || true; rm -rf "$scratch"' EXIT
export HOME="$scratch/home" GIT_CONFIG_NOSYSTEM=1 TZ=UTC
mkdir "$HOME" "$scratch/repo" "$scratch/bin"
ln -s "$program" "$scratch/bin/git-axiom"
PATH="$scratch/bin:$PATH"
git config --global user.name 'A U Thor'
git config --global user.email author@example.org
git config --global init.defaultBranch main
cd "$scratch/repo"
git init -q
echo '# Shop' > README.md
git add README.md
git commit -q -m 'first'
git axiom init > /dev/null

work() { # ID TITLE SECONDS AFTER LINES
    git axiom task add "$2" --id "$1" ${4:+--after "$4"} --parent m1-auth --persona ed --body "
        for n in 1 2 3 4; do echo \"reading src/$1.rs, step \$n\"; git axiom signal progress \$((n * 20)); sleep $3; done
        seq $5 > $1.txt" > /dev/null
}
git axiom task add 'Authentication' --id m1-auth --kind group > /dev/null
work ch-001 'User model' 0.3 '' 400
work ch-002 'JWT token generation' 0.6 '' 90
work ch-003 'Register endpoint' 0.4 ch-001 250
git axiom run --mode autopilot --agents 2 --until-idle > /dev/null 2>&1
git axiom checkpoint create before-refactoring > /dev/null
work ch-004 'Rate limiting' 0.3 '' 30
git axiom run --mode autopilot --agents 2 --until-idle > /dev/null 2>&1
git axiom rollback checkpoint before-refactoring --yes > /dev/null 2>&1
git axiom undo --yes > /dev/null 2>&1
git axiom graph --all --svg "$here/graph.svg" > /dev/null

work ch-005 'Password reset' 20 '' 10
work ch-006 'Audit log' 20 '' 10
git axiom task add 'Sign in with a passkey' --id ch-007 --after ch-005 --parent m1-auth > /dev/null
git axiom run --mode review --agents 2 --detach > /dev/null 2>&1
sleep 2
tmux -L axiom-pictures -f /dev/null new-session -d -x 100 -y 24 'git axiom panel'
sleep 3
tmux -L axiom-pictures capture-pane -p > "$scratch/screen"
git axiom quit --yes > /dev/null 2>&1 || true
git axiom stop --all > /dev/null 2>&1 || true
# A screen is text: one line of the picture a line.
{
    echo '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 448" role="img"><title>git axiom panel</title>'
    echo '<style>svg{background:#0d1117;border-radius:6px}text{font:14px ui-monospace,Menlo,Consolas,monospace;fill:#e6edf3;white-space:pre}</style>'
    sed -e 's/&/\&amp;/g' -e 's/</\&lt;/g' -e 's/>/\&gt;/g' "$scratch/screen" |
        awk '{ printf "<text x=\"10\" y=\"%d\" xml:space=\"preserve\">%s</text>\n", 22 + 18 * (NR - 1), $0 }'
    echo '</svg>'
} > "$here/panel.svg"
