#!/usr/bin/env bash
# Runs the tests of a build folder and closes with "N passed, N failed, N skipped"; FOLDER/test-failures keeps what those
# said that failed. Those of tests/retried.txt run once more, alone, if they fail; which passes only then is named. Of long
# tests a tenth runs, another one at each commit; all of it where the history is not whole.
#   test.sh FOLDER [CTEST-OPTION…]       e.g. test.sh build -R unit-planning
# Environment: LOCKSTEP_TEST_TENTH, of long tests: 0 to 9, or all; TEST_JOBS, how many tests run at once (one more than cores: tests also wait);
# TEST_RECORD, a file for the counts and the skipped tests by name, as TOML; TEST_UNTIL, the second since 1970 after which
# no test begins: those that still run then are ended and have failed, and the others are counted.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
checkout=$(dirname "$here")
# shellcheck source=scripts/lib/common.sh
. "$here/lib/common.sh"

folder=$(cd "$1" && pwd)
shift
results=$folder/test-results.xml records=$folder/test-records
again=$folder/test-results-again.xml records_again=
rm -rf "$results" "$again" "$records" "$records.first" "$folder/Testing/Temporary/LastTestsFailed.log"

LOCKSTEP_TEST_TENTH=$(test_tenth "$checkout")
export LOCKSTEP_TEST_TENTH
if [ "$LOCKSTEP_TEST_TENTH" != all ]; then echo "of long tests the tenth number $LOCKSTEP_TEST_TENTH runs; make test-all runs all of it"; fi

# Threads of LibTorch that wait for each other in a loop would take the cores of the tests beside them.
export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-PASSIVE}

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
# Of those that failed, which may run again: their entries, as a regular expression.
to_retry() {
  sed 's/^[0-9]*://' "$folder/Testing/Temporary/LastTestsFailed.log" 2>/dev/null |
    grep -xF -f <(sed -n 's/^\([^# ][^ ]*\)  .*/\1/p' "$checkout/tests/retried.txt" 2>/dev/null) |
    sed 's/[][*.^$+?(){}|\\]/\\&/g' | paste -sd'|'
}
run --output-junit "$results" -j "${TEST_JOBS:-$(($(usable_cores) + 1))}" "$@" || {
  retried=$(to_retry) || true
  if [ -n "$retried" ] && has_time; then
    echo "once more and alone, of the tests that failed, those of tests/retried.txt:"
    if [ -d "$records" ]; then mv "$records" "$records.first" && records_again=$records records=$records.first; fi
    run -R "^($retried)\$" --output-junit "$again" -j 1 || true
  fi
}
words=(--records "$records")
if [ -e "$again" ]; then words+=(--again "$again" --records-again "$records_again"); fi
status=0
python3 "$here/lib/test_summary.py" "$results" "${words[@]}" ${planned:+--planned "$planned"} ${TEST_RECORD:+--record "$TEST_RECORD"} \
  --failures "$folder/test-failures" >"$folder/test-summary" || status=$?
cat "$folder/test-summary"
exit "$status"
