#!/bin/bash
# SPDX-License-Identifier: MIT
#
# compare.sh REFERENCE TESTED [NAME=VALUE...]
# Runs every case of two builds of one transcript program, each in an empty directory: REFERENCE without
# changes, TESTED with the given environment. Both must leave the same transcript, files, outputs, exit status
# and unread standard input. Prints the differences, and fails if there are any. CASES names the cases to run,
# and SKIPPED the cases to omit. KEEP=1 keeps the directories.
set -u
reference=$(realpath "$1") tested=$(realpath "$2")
shift 2
work=$(mktemp -d "${TMPDIR:-/tmp}/compare.XXXXXX")
[ -n "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
input=$work/input
seq -f 'line %06g' 1 3000 >"$input"

# run DIRECTORY PROGRAM CASE [NAME=VALUE...]: runs the case in the directory, with these variables
run() {
    local directory=$1 program=$2 case=$3 status
    shift 3
    mkdir -p "$directory/files" && cd "$directory/files" || exit 2
    exec 3<"$input"
    env -i PATH="$PATH" LC_ALL=C.UTF-8 TMPDIR=/tmp "$@" "$program" ../transcript "$case" \
        <&3 >../stdout 2>../stderr
    status=$?
    {
        echo "exit status $status"
        echo "unread input $(cksum <&3)"
    } >../outcome
    exec 3<&-
    cd "$work" || exit 2
}

failed=0 count=0
for case in ${CASES:-$("$reference" --list)}; do
    [[ " ${SKIPPED:-} " != *" $case "* ]] || continue
    { run "$work/$case/expected" "$reference" "$case"; } 2>/dev/null
    { run "$work/$case/got" "$tested" "$case" "$@"; } 2>/dev/null
    count=$((count + 1))
    if grep -q '^there is no case' "$case/expected/stderr"; then
        failed=$((failed + 1))
        echo "--- case $case: there is none"
    fi
    if grep -q 'exit status 142' "$case/expected/outcome"; then # SIGALRM
        failed=$((failed + 1))
        echo "--- case $case hangs without asf, too"
    fi
    if ! diff -r -a -U4 "$case/expected" "$case/got" >"$work/$case/diff"; then
        failed=$((failed + 1))
        echo "--- case $case differs"
        head -c 4000 "$work/$case/diff" | head -60
        echo
    fi
    [ -n "${KEEP:-}" ] || rm -rf "${work:?}/$case"
done
[ -z "${KEEP:-}" ] || echo "kept in $work"
echo "$count cases, $failed differ"
[ "$count" -gt 0 ] && [ "$failed" -eq 0 ]
