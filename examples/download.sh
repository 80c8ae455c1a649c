#!/usr/bin/env bash
# examples/download.sh URL [FILE]
#
# Downloads URL with fetchd and fetches the file: submits a job, waits for it, prints its progress, and writes the
# finished file to FILE (default: the name of the file, in the current folder). Requires curl and jq.
#
# FETCHD_URL (default: http://127.0.0.1:8080) and FETCHD_TOKEN select the service. The exit status is 0 when FILE is
# complete, 1 when the download has failed, and 2 when you must correct something first. Ctrl-C ends only the script: the
# download continues.
set -euo pipefail

readonly service=${FETCHD_URL:-http://127.0.0.1:8080}
# In seconds. The service answers a wait after at most 30.
readonly wait=30 longest_pause=15
pause=1

main() {
    case "${1:-}" in '' | -*) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" && exit 2 ;; esac
    local url=$1 file=${2:-} job
    workspace=$(mktemp -d)
    trap 'rm -rf "$workspace"' EXIT
    # Answers go into a file. The token is in a file, too, because other users can read command lines.
    : >"$workspace/curl.conf"
    if [[ -n "${FETCHD_TOKEN:-}" ]]; then
        jq -rn '"header = " + ("Authorization: Bearer \(env.FETCHD_TOKEN)" | tojson)' >"$workspace/curl.conf"
    fi

    job=$(add "$url")
    trap 'leave 130 "$job"' INT
    trap 'leave 143 "$job"' TERM
    follow "$job"
    fetch "$job" "$file"
    [[ ! -t 1 ]] || echo
}

# Submits the job and prints its identifier. Because of the key, a repeated request does not create a second job.
add() {
    jq -n --arg url "$1" '{url: $url}' >"$workspace/order"
    local order=(jobs -X POST --data-binary "@$workspace/order" -H 'Content-Type: application/json'
        -H "Idempotency-Key: $(</proc/sys/kernel/random/uuid)")
    ask "${order[@]}" || ask "${order[@]}" ||
        stop 2 "fetchd does not answer at $service. Is it running (fetchd serve), and is FETCHD_URL right?"
    [[ "$status" == 201 ]] || stop 2 "$(explanation)"
    jq -r .id "$workspace/answer"
}

# Prints the progress of the job until its end. The first answer comes at once. Each later one comes with the next change,
# or is a 304 after $wait seconds without a change.
follow() {
    local options=() state
    while true; do
        if ! ask_patiently "jobs/$1" "${options[@]}"; then continue; fi
        options=(-H "If-None-Match: $etag" -H "Prefer: wait=$wait")
        [[ "$status" != 304 ]] || continue
        [[ "$status" == 200 ]] || stop 2 "$(explanation)"
        state=$(jq -r .state "$workspace/answer")
        say "$(progress)"
        case "$state" in
            succeeded) return ;;
            failed) stop 1 "$(jq -r '.failure | "\(.code): \(.message)"' "$workspace/answer")" ;;
            cancelled) stop 1 "A client has cancelled it. To retry: curl -X POST $service/v1/jobs/$1/retry" ;;
        esac
    done
}

progress() {
    jq -r '
        def mib: . / 1048576 * 10 | round / 10 | "\(.) MiB";
        .progress as $p | [
            .state + (if .reason then " (\(.reason))" else "" end),
            ($p.bytes_received | mib) + (if $p.bytes_expected then " of \($p.bytes_expected | mib)" else "" end),
            (if $p.fraction then "\($p.fraction * 100 | floor) %" else empty end),
            (if .state == "paused" then "resume it to continue" else empty end),
            (if .retry_at then "next attempt at \(.retry_at)" else empty end)
        ] | join(", ")' "$workspace/answer"
}

# Fetches the finished file and compares its digest. The file gets its name only when it is complete.
fetch() {
    local name digest
    name=$(jq -r '.file.path | split("/") | last' "$workspace/answer")
    digest=$(jq -r '.file.sha256 // empty' "$workspace/answer")
    local file=${2:-$name}
    [[ ! -e "$file" ]] || stop 2 "$file is there already. Name another: $0 URL FILE"
    curl --silent --show-error --fail --config "$workspace/curl.conf" --output "$file.part" "$service/v1/jobs/$1/file" ||
        stop 2 "The file could not be fetched. It is at $service/v1/jobs/$1/file"
    if [[ -n "$digest" && "$(sha256sum <"$file.part")" != "$digest"* ]]; then
        stop 2 "$file.part does not have the sha-256 $digest. Fetch it again: $service/v1/jobs/$1/file"
    fi
    mv --no-clobber -- "$file.part" "$file"
    say "$file"
}

# ask PATH CURL-OPTION...   Sets status and etag; the body is in $workspace/answer. Fails without an answer.
ask() {
    local path=$1 told
    shift
    told=$(curl --silent --config "$workspace/curl.conf" --max-time $((wait + 30)) --output "$workspace/answer" \
        --write-out '%{http_code} %header{etag}' "$@" "$service/v1/$path") || return 1
    read -r status etag <<<"$told" || true
}

# The same, but waits if the service is unavailable or not ready: 1 s, 2 s, 4 s, ...
ask_patiently() {
    if ask "$@" && [[ "$status" != 502 && "$status" != 503 && "$status" != 504 ]]; then
        pause=1
        return
    fi
    echo "fetchd does not answer at $service. Is it running (fetchd serve)? Trying again in $pause s." >&2
    sleep "$pause"
    pause=$((pause * 2 < longest_pause ? pause * 2 : longest_pause))
    return 1
}

# The message of the service (RFC 9457), in one line.
explanation() {
    local hint=''
    [[ "$status" != 401 ]] || hint=' That is FETCHD_TOKEN here.'
    jq -er '"\(.title). \(.detail)"' "$workspace/answer" 2>/dev/null | sed "s/\$/$hint/" ||
        echo "$service answers $status, but not as fetchd does. Is FETCHD_URL right?"
}

# On a terminal, replaces the current line; otherwise prints a new line.
say() { if [[ -t 1 ]]; then printf '\r\033[K%s' "$1"; else printf '%s\n' "$1"; fi; }

# leave STATUS JOB
leave() {
    echo >&2
    stop "$1" "The download goes on without this script: curl $service/v1/jobs/$2"
}

# stop STATUS SENTENCE
stop() {
    [[ ! -t 1 ]] || echo
    echo "download: $2" >&2
    exit "$1"
}

main "$@"
