#!/usr/bin/env bash
# Runs the tests of a build folder and closes with "N passed, N failed, N skipped".
#   test.sh FOLDER [CTEST-OPTION…]       e.g. test.sh build -R unit-plan
# Environment: TEST_JOBS, how many tests run at once (one per core); TEST_RECORD, a file for the counts and the skipped
# tests by name, as TOML.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/lib/common.sh
. "$here/lib/common.sh"

folder=$(cd "$1" && pwd)
shift
results=$folder/test-results.xml
rm -f "$results"

verbose=()
if [ -n "${V:-}" ]; then verbose=(--verbose); fi
status=0
ctest --test-dir "$folder" --output-on-failure --no-tests=error --output-junit "$results" \
  --test-output-size-passed 20000 -j "${TEST_JOBS:-$(usable_cores)}" "${verbose[@]}" "$@" || status=$?
python3 "$here/lib/test_summary.py" "$results" ${TEST_RECORD:+"$TEST_RECORD"} || status=1
exit "$status"
