# SPDX-License-Identifier: MIT
#
# command_cases.sh - helper functions for tests of the asf command; to be sourced. Each function test_NAME of
# the script is a case, which runs in an empty directory.

# call COMMAND...: runs it, with its output in $out, its messages in $err, its status in $status
call() {
    status=0
    "$@" >stdout 2>stderr </dev/null || status=$?
    out=$(<stdout)
    err=$(<stderr)
}

fail() {
    printf '%s: %s\n  status %s, stdout: %s\n  stderr: %s\n' "$case_name" "$1" "$status" "$out" "$err"
    failed=1
}

skip() {
    printf '%s: skipped: %s\n' "$case_name" "$1"
    skipped=$((skipped + 1))
}

expect_status() {
    [ "$status" -eq "$1" ] || fail "status $1 was expected"
}

# expect_line TEXT WHERE: a line of WHERE must contain TEXT
expect_line() {
    grep -qF -e "$1" <<<"$2" || fail "no line has '$1'"
}

expect_silence() {
    [ -z "$err" ] || fail "nothing was expected on stderr"
}

# expect_complaint STATUS TEXT: asf must print TEXT in a single line, and must not run the program
expect_complaint() {
    expect_status "$1"
    [ -z "$out" ] || fail "nothing was expected on stdout"
    [[ $err == "asf: "* && $err != *$'\n'* ]] || fail "one line that begins with 'asf: ' was expected"
    expect_line "$2" "$err"
}

run_case() {
    case_name=$1
    status=none out="" err=""
    mkdir "$work/$1" && cd "$work/$1" || exit 2
    "test_$1"
}

# run_cases [CASE]...: runs the named cases, or all. Exits with 77 if all were skipped.
run_cases() {
    local name cases
    work=$(mktemp -d)
    trap 'cd / && rm -rf "$work"' EXIT
    chmod 755 "$work"
    failed=0
    skipped=0
    [ $# -gt 0 ] || mapfile -t cases < <(declare -F | sed -n 's/^declare -f test_//p')
    [ $# -eq 0 ] || cases=("$@")
    for name in "${cases[@]}"; do
        run_case "$name"
    done
    [ $failed -eq 0 ] || exit 1
    [ $skipped -lt ${#cases[@]} ] || exit 77
    echo "${#cases[@]} cases passed, $skipped of them skipped"
}
