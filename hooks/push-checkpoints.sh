#!/bin/sh
# push-checkpoints: pushes each new checkpoint to a backup remote.
#
# Events:   post-checkpoint
# Needs:    git, and a remote that asks for no password; without one, it says so and pushes nothing
# Settings: git config axiomHook.backupRemote backup       the name of the remote (git remote add backup URL)
#           git config axiomHook.backupTriggers 'manual session-start'    only checkpoints made for these reasons
# Install:  copy it to post-checkpoint.d/push-checkpoints.sh below
#           "$(git rev-parse --git-common-dir)/axiom/hooks" (for this clone), and make it executable: see hooks/README.md
#
# A checkpoint holds everything, uncommitted and untracked files too: the remote must be as private as your disk. Nothing is
# overwritten there. To get one back: git fetch backup 'refs/axiom/captures/NAME:refs/axiom/captures/NAME'

set -u

remote=$(git config --get axiomHook.backupRemote)
if [ -z "$remote" ]; then
    echo "push-checkpoints: no remote, so nothing is pushed: git config axiomHook.backupRemote NAME" >&2
    exit 0
fi
triggers=$(git config --get axiomHook.backupTriggers)
case " ${triggers:-${AXIOM_TRIGGER:-}} " in
*" ${AXIOM_TRIGGER:-} "*) ;;
*) exit 0 ;;
esac

name=${AXIOM_CHECKPOINT:-}
case $name in
'' | [!A-Za-z0-9]* | *[!A-Za-z0-9_-]*)
    echo "push-checkpoints: AXIOM_CHECKPOINT is not the name of a checkpoint" >&2
    exit 1
    ;;
esac
if ! git remote get-url -- "$remote" >/dev/null 2>&1; then
    echo "push-checkpoints: there is no remote of the name in axiomHook.backupRemote" >&2
    exit 1
fi

# The capture holds all of the checkpoint; its tag, where there is one, is for people who look at the backup.
set -- "refs/axiom/captures/$name:refs/axiom/captures/$name"
if git rev-parse --verify --quiet "refs/tags/axiom/$name" >/dev/null; then
    set -- "$@" "refs/tags/axiom/$name:refs/tags/axiom/$name"
fi
GIT_TERMINAL_PROMPT=0 GIT_SSH_COMMAND=${GIT_SSH_COMMAND:-ssh -o BatchMode=yes} \
    git push --quiet -- "$remote" "$@" </dev/null
