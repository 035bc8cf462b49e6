#!/usr/bin/env bash
# Builds what has threads or processes with ThreadSanitizer, runs its tests, and fails if it finds a race:
# the loader, the background checkpoint, the sampler of monitor, the launcher, batches and what lies below them.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/lib/common.sh
. "$here/lib/common.sh"
checkout=$(dirname "$here")
folder=$checkout/build-tsan
tests=(unit-base unit-run unit-launch unit-data unit-checkpoint unit-monitor unit-jobs process-launch process-batch)

"$here/build.sh" "$folder" -DCMAKE_BUILD_TYPE=Debug -DLOCKSTEP_SANITIZE=thread "${tests[@]}"
# LibTorch is not instrumented: what its threads order with means of their own, such as counts of owners, would
# look unordered. Nothing else is suppressed.
export TSAN_OPTIONS="ignore_noninstrumented_modules=1 exitcode=66 history_size=4"
for test in "${tests[@]}"; do
  echo "tsan: $test"
  "$folder/tests/$test" --gtest_brief=1
done
echo "tsan: no race found"
