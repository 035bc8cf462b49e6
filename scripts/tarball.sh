#!/usr/bin/env bash
# Makes lockstep-VERSION-linux-x86_64.tar.gz: the tool without LibTorch, as one program that needs nothing but glibc 2.31
# or newer. It monitors, finds out why a GPU idles, runs batches, compares and reports; what needs LibTorch says so.
#   tarball.sh [FOLDER]     FOLDER: of the build, and for the archive (build-tarball)
# Building it takes no LibTorch (setup.sh --tool). It is linked against the C library of Debian 11 or Ubuntu 20.04, whichever
# this system comes from, and brings a SentencePiece of its own; both are kept in LOCKSTEP_CACHE.
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

folder=${1:-build-tarball}
choices=$PWD/.lockstep/tool
cache=${LOCKSTEP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lockstep}
sentencepiece='sentencepiece-0.2.1'
sentencepiece_sha256=8138cec27c2f2282f4a34d9a016e3374cd40e5c6e9cb335063db66a0a3b71fad
version=$(sed -n 's/^project(lockstep VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)

# Static libraries of it, with the protobuf that it brings. A system's package has none.
pieces=$cache/$sentencepiece
make_sentencepiece() {
  local partial=$cache/.sentencepiece-$$ python
  python=$(find_pip)
  [ -n "$python" ] || die "there is no Python with pip" "install python3-pip"
  mkdir -p "$partial"
  say "fetching $sentencepiece"
  echo "sentencepiece==${sentencepiece#*-} --hash=sha256:$sentencepiece_sha256" >"$partial/wanted.txt"
  "$python" -m pip download -q --no-deps --no-binary :all: -d "$partial" --require-hashes -r "$partial/wanted.txt" >&2 ||
    { rm -rf "$partial" && die "$sentencepiece could not be fetched" "see the message of pip above"; }
  tar -C "$partial" -xzf "$partial/$sentencepiece.tar.gz"
  cmake -S "$partial/$sentencepiece/sentencepiece" -B "$partial/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_POLICY_VERSION_MINIMUM=3.5 \
    -DCMAKE_CXX_COMPILER="$(cat "$choices/compiler")" -DSPM_ENABLE_SHARED=OFF -DSPM_ENABLE_TCMALLOC=OFF \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_INSTALL_PREFIX="$partial/made" >"$partial/log" 2>&1 &&
    ninja -C "$partial/build" -j "$(build_jobs)" install >>"$partial/log" 2>&1 ||
    { tail -n 30 "$partial/log" >&2 && rm -rf "$partial" && die "$sentencepiece could not be built"; }
  rm -rf "$pieces"
  cp "$partial/$sentencepiece/"{LICENSE*,sentencepiece/LICENSE*} "$partial/made/" 2>/dev/null || true
  mv "$partial/made" "$pieces"
  rm -rf "$partial"
}

"$here/setup.sh" --quick --tool
mkdir -p "$cache"
make_sysroot
if [ ! -e "$pieces/include/sentencepiece_processor.h" ]; then make_sentencepiece; fi
archives=$(dirname "$(find "$pieces" -name libsentencepiece.a)")

BUILD_CHOICES=$choices "$here/build.sh" "$folder" -DLOCKSTEP_TOOL_ONLY=ON -DLOCKSTEP_TESTS=OFF -DLOCKSTEP_SYSROOT="$sysroot" \
  -DSENTENCEPIECE_INCLUDE="$pieces/include" -DSENTENCEPIECE_LIBRARY="$archives/libsentencepiece.a" \
  -DSENTENCEPIECE_TRAIN_LIBRARY="$archives/libsentencepiece_train.a" lockstep-tool

name=lockstep-$version-linux-x86_64
archive=$folder/$name.tar.gz
rm -rf "${folder:?}/$name"
mkdir -p "$folder/$name/bin"
strip -o "$folder/$name/bin/lockstep" "$folder/lockstep"
# The tool must need the C library alone, and no symbol of a newer one.
needed=$(objdump -p "$folder/$name/bin/lockstep" | sed -n 's/^ *NEEDED *//p' | grep -vE '^(libc|libm|libpthread|libdl|librt|ld-linux-x86-64)\.so\.' || true)
[ -z "$needed" ] || die "the tool needs more than the C library: ${needed//$'\n'/, }" "this is a fault of Lockstep's build"
needs_no_newer "$folder/$name/bin/lockstep"

# The text and the sentences that recipes train on where no data is given, and LightGBM.
for part in textgen/data dimabsa/data gbdt/lightgbm; do
  cmake -DCMAKE_INSTALL_PREFIX="$PWD/$folder/$name" -P "$folder/recipes/$part/cmake_install.cmake" >"$folder/install.log"
done
# LightGBM's OpenMP, which not every system has.
cp -L "$sysroot"/usr/lib/x86_64-linux-gnu/libgomp.so.1 "$folder/$name/lib/lockstep/lightgbm/lib/"
cp LICENSE "$folder/$name/"
mkdir -p "$folder/$name/share/doc/lockstep/docs"
cp -r docs/guide docs/reference "$folder/$name/share/doc/lockstep/docs/"
# The licences of the packages that it was built with, and of g++'s own libraries.
mkdir -p "$folder/$name/share/doc/lockstep"
while read -r package _; do
  if [ -e "/usr/share/doc/$package/copyright" ]; then cp -L "/usr/share/doc/$package/copyright" "$folder/$name/share/doc/lockstep/$package.txt"; fi
done <<<"$libraries"
for file in /usr/share/doc/gcc-*-base/copyright; do
  if [ -e "$file" ]; then cp "$file" "$folder/$name/share/doc/lockstep/$(basename "$(dirname "$file")").txt"; fi
done
if [ -e "$pieces/LICENSE" ]; then cp "$pieces/LICENSE" "$folder/$name/share/doc/lockstep/sentencepiece.txt"; fi
cat >"$folder/$name/README.md" <<TEXT
# Lockstep $version, without LibTorch
One program, for any x86_64 Linux with glibc $oldest_glibc or newer. Nothing is to be installed:

    bin/lockstep doctor                why a GPU idles
    bin/lockstep monitor               what every GPU does
    bin/lockstep batch run jobs.toml   many commands on all cores and GPUs
    bin/lockstep --help                everything else

Commands that train, evaluate or predict need LibTorch: \`make run\` in a checkout of Lockstep.
TEXT
tar -C "$folder" --sort=name --owner=0 --group=0 --numeric-owner -czf "$archive" "$name"
echo "$archive: $(($(stat -c %s "$archive") / 1000000)) MB, for glibc $oldest_glibc and newer"
