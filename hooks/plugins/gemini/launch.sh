#!/bin/sh
# Calls git axiom for a plugin of an agent program: the file that git axiom noted when it was set up, else the first 'git-axiom' in a
# folder of the PATH that is in no worktree and that only you or root can write to. Where there is none, the agent goes on, and
# 'git axiom sessions' says that nothing was saved.

# What this script calls comes from the system: the PATH of a session may begin in a worktree.
users_path=${PATH:-}
PATH=/usr/bin:/bin:/run/current-system/sw/bin

state=
case ${XDG_STATE_HOME:-} in
    /*) state=$XDG_STATE_HOME/git-axiom ;;
    *)
        case ${HOME:-} in
            /*) state=$HOME/.local/state/git-axiom ;;
        esac
        ;;
esac

# Whether only you or root can write to these. With 'above', others may add to a folder in which they can change nothing, such as /tmp.
are_ours() {
    kind=$1
    shift
    list=$(LC_ALL=C ls -ldn -- "$@" 2>/dev/null) || return 1
    while read -r mode _ owner _; do
        case $owner in
            0 | "$user") ;;
            *) return 1 ;;
        esac
        case $kind$mode in
            aboved????????[tT]*) ;;
            "$kind"?????w* | "$kind"????????w*) return 1 ;;
        esac
    done <<LIST
$list
LIST
}

# Whether a folder, given without links, is in no worktree, and nobody else can change what is in it.
is_safe() {
    itself=$1
    above=$1
    set --
    while :; do
        if [ -e "$above/.git" ] || [ -h "$above/.git" ]; then
            return 1
        fi
        [ "$above" = / ] && break
        above=${above%/*}
        above=${above:-/}
        set -- "$@" "$above"
    done
    are_ours itself "$itself" && { [ $# = 0 ] || are_ours above "$@"; }
}

# Prints the first one of the PATH.
find_program() {
    user=$(id -u)
    set -f
    IFS=:
    # shellcheck disable=SC2086 # its folders are words
    set -- $users_path
    unset IFS
    for entry; do
        case $entry in /*) ;; *) continue ;; esac
        folder=$(cd -P -- "$entry" 2>/dev/null && pwd -P) || continue
        file=${folder%/}/git-axiom
        if [ ! -f "$file" ] || [ ! -x "$file" ]; then
            continue
        fi
        real=$(readlink -f -- "$file" 2>/dev/null)
        if [ -z "$real" ]; then
            [ -h "$file" ] && continue
            real=$file
        fi
        behind=${real%/*}
        if is_safe "$folder" && is_safe "${behind:-/}" && are_ours itself "$real"; then
            printf '%s\n' "$file"
            return
        fi
    done
}

# Calls a program, and ends as it ends; comes back where it cannot be started.
call() {
    program=$1
    shift
    case $program in /*) ;; *) return ;; esac
    if [ ! -f "$program" ] || [ ! -x "$program" ]; then
        return
    fi
    PATH=$users_path "$program" "$@"
    ended=$?
    case $ended in
        126 | 127) ;;
        *) exit "$ended" ;;
    esac
}

noted=
if [ -n "$state" ] && [ -f "$state/program" ]; then
    IFS= read -r noted <"$state/program"
fi
call "$noted" "$@"
call "$(find_program)" "$@"

# Nothing is saved: that is noted for 'git axiom sessions'.
umask 077
key=$(printf %s "$PWD" | cksum)
if [ -n "$state" ] && mkdir -p "$state/unstarted" 2>/dev/null; then
    printf '%s\n%s\n%s\n' "${2:-}" "$(date +%s)" "$PWD" >"$state/unstarted/${2:-}-${key%% *}" 2>/dev/null
fi
cat >/dev/null
exit 0
