# shellcheck shell=bash
# Functions for the output of the scripts. Source this file; do not run it.

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
