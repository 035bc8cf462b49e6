#!/usr/bin/env bash
# Runs the tests that compare with Python's torch, in an environment of its own in the cache (2.5 GB of wheels at first).
#   test-python.sh FOLDER [CTEST-OPTION…]
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/lib/common.sh
. "$here/lib/common.sh"
# shellcheck source=scripts/lib/python_tools.sh
. "$here/lib/python_tools.sh"

[ $# -ge 1 ] || die "test-python.sh takes the folder of a build" "scripts/test-python.sh build"
folder=$1
shift
requirements=$(dirname "$here")/tests/process/python
# Versions 4 and 5 of transformers save other files, and do not go into one environment; this one takes torch from the last.
python_tools transformers5 "$requirements/requirements-transformers5.txt"
export LOCKSTEP_TRANSFORMERS5=$tools/bin/python3
# An older MLflow, and trackio, which wants other packages than transformers.
python_tools python-trackers "$requirements/requirements-trackers.txt"
export LOCKSTEP_TRACKERS_PYTHON=$tools/bin/python
python_tools python-tests "$requirements/requirements.txt"
ninja -C "$folder" -j "$(build_jobs)" python-test-programs
PATH=$tools/bin:$PATH "$here/test.sh" "$folder" -L python "$@"
