# shellcheck shell=bash
# Functions that the scripts share, most of them for their output. Source this file; do not run it.

if [[ -t 1 && -z "${NO_COLOR:-}" && "${TERM:-dumb}" != dumb ]]; then
    bold=$'\e[1m' dim=$'\e[2m' red=$'\e[31m' green=$'\e[32m' cyan=$'\e[36m' plain=$'\e[0m'
else
    bold='' dim='' red='' green='' cyan='' plain=''
fi

heading() { printf '\n%s━━ %s%s\n' "$bold" "$*" "$plain"; }
note() { printf '%s%s%s\n' "$dim" "$*" "$plain"; }
good() { printf '%s✓%s %s\n' "$green" "$plain" "$*"; }
bad() { printf '%s✗%s %s\n' "$red" "$plain" "$*"; }

# Prints a command that has the same effect.
echo_command() { printf '%s$ %s%s\n' "$cyan" "$*" "$plain"; }

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# The comment at the top of a script is its manual: everything between the #! line and the first line of code.
print_manual() { awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0"; }

# retry COMMAND...   For a command that needs the network: repeats it up to three times if it fails.
retry() {
    local pause
    for pause in 5 15 30; do
        if "$@"; then return; fi
        note "That failed. Trying again in $pause s: $*" >&2
        sleep "$pause"
    done
    "$@"
}
