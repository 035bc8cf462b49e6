#!/usr/bin/env bash
# Runs the tests of a build folder and closes with "N passed, N failed, N skipped". A few that fail run once more, one
# at a time: other tests may have kept every core from one that waits for a moment. Who passes then is named.
#   test.sh FOLDER [CTEST-OPTION…]       e.g. test.sh build -R unit-plan
# Environment: TEST_JOBS, how many tests run at once (one per core); TEST_RECORD, a file for the counts and the skipped
# tests by name, as TOML; TEST_UNTIL, the second since 1970 after which no test begins: those that still run then are
# ended and have failed, and the others are counted.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/lib/common.sh
. "$here/lib/common.sh"

folder=$(cd "$1" && pwd)
shift
results=$folder/test-results.xml
again=$folder/test-results-again.xml
rm -f "$results" "$again" "$folder/Testing/Temporary/LastTestsFailed.log"

verbose=()
if [ -n "${V:-}" ]; then verbose=(--verbose); fi
has_time() { ((${TEST_UNTIL:-0} == 0 || TEST_UNTIL > $(date +%s) + 1)); }
has_time || die "TEST_UNTIL is over"
stop=() planned=''
if [ -n "${TEST_UNTIL:-}" ]; then
  stop=(--stop-time "$(date -d "@$TEST_UNTIL" +%H:%M:%S)")
  planned=$(ctest --test-dir "$folder" -N "$@" | sed -n 's/^Total Tests: //p')
fi
run() {
  ctest --test-dir "$folder" --output-on-failure --no-tests=error --test-output-size-passed 20000 "${verbose[@]}" "${stop[@]}" "$@"
}
most_again=10
run --output-junit "$results" -j "${TEST_JOBS:-$(usable_cores)}" "$@" || {
  failed=$(wc -l <"$folder/Testing/Temporary/LastTestsFailed.log" 2>/dev/null || echo 0)
  if ((failed > 0 && failed <= most_again)) && has_time; then
    echo "the tests that failed, once more and alone:"
    run --rerun-failed --output-junit "$again" -j 1 || true
  fi
}
if [ -e "$again" ]; then set -- --again "$again"; else set --; fi
python3 "$here/lib/test_summary.py" "$results" "$@" ${planned:+--planned "$planned"} ${TEST_RECORD:+--record "$TEST_RECORD"}
