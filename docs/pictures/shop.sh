#!/bin/sh
# The repository in which README's picture plays, made in the current folder: tracked and untracked files, an attached agent.
set -eu
git config --global user.name 'A U Thor'
git config --global user.email author@example.org
git config --global init.defaultBranch main
git init -q
mkdir notes src
echo '# Shop' > README.md
echo 'fn main() {}' > src/main.rs
git add .
git commit -q -m 'Begin'
echo 'fn pay() {}' > src/pay.rs
echo 'ask Ann' > notes/todo.txt
git axiom attach claude > /dev/null 2>&1
