#!/usr/bin/env bash
# Formats or checks the project's C++ and CUDA sources.
#   sources.sh format      rewrites them        sources.sh check-format    fails where one differs
#   sources.sh tidy [REGEX]      runs clang-tidy on the files that match, every finding an error
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/.."
# shellcheck source=scripts/lib/common.sh
. "$here/lib/common.sh"

need() { command -v "$1" >/dev/null || die "$1 is not installed" "sudo apt-get install -y $1"; }

mapfile -t files < <(find src recipes tests bench examples -type f \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) -not -path '*/build*/*' | sort)

case ${1:-} in
  format)
    need clang-format
    clang-format -i "${files[@]}"
    ;;
  check-format)
    need clang-format
    clang-format --dry-run -Werror "${files[@]}"
    ;;
  tidy)
    need clang-tidy
    # A configuration of its own, made each time so that it knows new files: clang cannot read g++'s precompiled
    # headers.
    rm -f build-tidy/.configured-with
    ONLY_CONFIGURE=1 "$here/build.sh" build-tidy -DLOCKSTEP_UNITY=OFF -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DCMAKE_CXX_COMPILER_LAUNCHER=
    # Only what is built here: without CUDA, its sources lack their headers.
    printf '%s\n' "${files[@]}" | grep -E '^(src|recipes)/.*\.cpp$' | grep -E "${2:-.}" |
      while read -r file; do if grep -q "/$file\"" build-tidy/compile_commands.json; then echo "$file"; fi; done |
      xargs -r -P "$(build_jobs)" -n 1 clang-tidy -p build-tidy --quiet --warnings-as-errors='*'
    ;;
  *) die "unknown word '${1:-}'" "one of: format, check-format, tidy" ;;
esac
