#!/usr/bin/env bash
# Makes lockstep-VERSION-py3-none-manylinux_2_31_x86_64.whl: what an installation holds, for pip. `pip install` puts the
# tool, which needs no Python to start, into the environment's bin/, and the engine into its lib/. The engine runs with
# the torch that the environment has. There is one for the torch that this checkout builds against, without GPU code.
#   wheel.sh [FOLDER]     FOLDER: of the build, and for the wheel (build-wheel)
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
checkout=$(dirname "$here")
# shellcheck source=scripts/lib/common.sh
. "$here/lib/common.sh"
# shellcheck source=scripts/lib/packages.sh
. "$here/lib/packages.sh"
# shellcheck source=scripts/lib/unpacked.sh
. "$here/lib/unpacked.sh"
# shellcheck source=scripts/lib/old_system.sh
. "$here/lib/old_system.sh"
cd "$checkout"

folder=${1:-build-wheel}
cache=${LOCKSTEP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lockstep}
version=$(sed -n 's/^project(lockstep VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)

# The tool and what it shares with the archive.
"$here/tarball.sh" build-tarball >&2
tree=build-tarball/lockstep-$version-linux-x86_64
make_sysroot

"$here/setup.sh" --quick
"$here/build.sh" "$folder" -DLOCKSTEP_CUDA=OFF -DLOCKSTEP_TESTS=OFF -DLOCKSTEP_SYSROOT="$sysroot" wheel-parts
parts=$folder/wheel
for file in "$parts"/torch-*/*.so "$parts/lockstep-worker"; do needs_no_newer "$file"; done

stage=$folder/stage
rm -rf "$stage"
mkdir -p "$stage/data" "$stage/scripts"
cp -r "$tree/lib" "$tree/share" "$stage/data/"
cp "$tree/bin/lockstep" "$stage/scripts/"
strip -o "$stage/scripts/lockstep-worker" "$parts/lockstep-worker"
for file in "$parts"/torch-*/*.so; do
  engine=$stage/data/lib/lockstep/$(basename "$(dirname "$file")")
  mkdir -p "$engine"
  strip -o "$engine/$(basename "$file")" "$file"
done
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)} \
  python3 "$here/lib/make_wheel.py" "$stage" "$folder" --version "$version" --tag "py3-none-manylinux_${oldest_glibc/./_}_x86_64"
