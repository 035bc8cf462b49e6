#!/usr/bin/env bash
# Runs the tests that compare with Python's torch, in an environment of its own in the cache (2.5 GB of wheels at first).
#   test-python.sh FOLDER [CTEST-OPTION…]
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/lib/common.sh
. "$here/lib/common.sh"

[ $# -ge 1 ] || die "test-python.sh takes the folder of a build" "scripts/test-python.sh build"
folder=$1
shift
requirements=$(dirname "$here")/tests/process/python/requirements.txt
cache=${LOCKSTEP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lockstep}
environment=$cache/python-tests
if ! cmp -s "$requirements" "$environment/requirements.txt"; then
  say "installing Python's torch into $environment"
  rm -rf "$environment"
  python3 -m venv "$environment"
  "$environment/bin/pip" install --quiet --requirement "$requirements"
  cp "$requirements" "$environment/requirements.txt"
fi
ninja -C "$folder" -j "$(build_jobs)" python-test-programs
PATH=$environment/bin:$PATH "$here/test.sh" "$folder" -L python "$@"
