#!/usr/bin/env bash
# Runs a command where no CUDA toolkit can be found, as on the machines of most users: in a mount namespace in which
# the toolkits' folders are empty. For root.
#   without-toolkit.sh COMMAND…
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/lib/common.sh
. "$here/lib/common.sh"

if [ "${1:-}" != --hidden ]; then
  [ $# -gt 0 ] || die "without-toolkit.sh takes the command to run"
  unshare -m true 2>/dev/null || die "this user may not make a mount namespace" "run it as root"
  exec unshare -m "$0" --hidden "$@"
fi
shift

unset CUDA_HOME CUDA_PATH CUDACXX
for folder in /usr/local/cuda* /opt/cuda /usr/lib/cuda /usr/lib/nvidia-cuda-toolkit; do
  if [ -d "$folder" ]; then mount -t tmpfs none "$(realpath "$folder")"; fi
done
if [ -e /usr/local/include/cuda_runtime_api.h ]; then mount -t tmpfs none /usr/local/include; fi
while nvcc=$(command -v nvcc) && [ -s "$nvcc" ]; do
  mount --bind /dev/null "$(realpath "$nvcc")"
  hash -r
done
if "${CXX:-g++}" -x c++ -E - <<<'#include <cuda_runtime_api.h>' >/dev/null 2>&1; then
  die "the compiler finds CUDA headers all the same" "remove the package that put them into /usr/include"
fi
exec "$@"
