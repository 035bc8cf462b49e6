#!/usr/bin/env bash
# Copies the headers and libraries that Lockstep takes from system packages into one folder, for a
# machine where they cannot be installed: build there with LOCKSTEP_DEPS=DIR.
#   pack-deps.sh DIR        DIR is made; an earlier one of this script is replaced
# Environment: CXX names the compiler whose library folders are searched (g++).
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/lib/common.sh
. "$here/lib/common.sh"

[ $# = 1 ] || die "pack-deps.sh takes the folder to fill" "scripts/pack-deps.sh DIR"
dir=$1
if [ -e "$dir" ] && [ -n "$(ls -A "$dir")" ] && [ ! -e "$dir/include/nlohmann/json.hpp" ]; then
  die "$dir holds something else" "name a folder that is empty or not there yet"
fi
rm -rf "${dir:?}/include" "${dir:?}/lib"
mkdir -p "$dir/include" "$dir/lib"

# A header or a folder of headers, as #include names it.
pack_header() {
  local folder
  for folder in /usr/local/include /usr/include /usr/include/*-linux-gnu; do
    if [ -e "$folder/$1" ]; then
      cp -rL "$folder/$1" "$dir/include/"
      return
    fi
  done
  die "$1 is not in /usr/include" "make setup installs what is missing, or prints the line that does"
}

# A library file by the name that the linker looks for; a shared one also under its SONAME, because
# links are often lost on the way to another machine.
pack_library() {
  local file soname
  file=$("${CXX:-g++}" -print-file-name="$1")
  if [ ! -e "$file" ]; then
    die "$1 was not found" "make setup installs what is missing, or prints the line that does"
  fi
  cp -L "$file" "$dir/lib/$1"
  soname=$(objdump -p "$file" 2>/dev/null | awk '$1 == "SONAME" {print $2}')
  if [ -n "$soname" ] && [ "$soname" != "$1" ]; then cp -L "$file" "$dir/lib/$soname"; fi
}

for header in nlohmann toml.hpp toml xxhash.h xxh3.h pcre2.h utf8proc.h gloo gtest gmock \
  jpeglib.h jconfig.h jerror.h jmorecfg.h png.h pngconf.h pnglibconf.h zlib.h zconf.h minizip csv.h expat.h expat_external.h sqlite3.h \
  tiff.h tiffio.h tiffvers.h tiffconf.h libdeflate.h zstd.h zstd_errors.h \
  curses.h term.h ncurses_dll.h unctrl.h \
  sentencepiece_processor.h sentencepiece_trainer.h; do
  pack_header "$header"
done
# Of Boost only what the tool includes: all of it is 160 MB.
includes=$(grep -rh --include='*.cpp' '^#include <boost/' "$(dirname "$here")"/src/tools/monitor "$(dirname "$here")"/src/tools/stats)
"${CXX:-g++}" -std=c++20 -M -x c++ - <<<"$includes" | tr -s ' \\' '\n' | sed -n 's|^\(.*/include\)/boost/.*|& \1|p' |
  while read -r header root; do
    mkdir -p "$dir/include/$(dirname "${header#"$root"/}")"
    cp -L "$header" "$dir/include/${header#"$root"/}"
  done
[ -e "$dir/include/boost/beast" ] && [ -e "$dir/include/boost/math" ] ||
  die "Boost.Beast or Boost.Math is not in /usr/include" "make setup installs what is missing, or prints the line that does"
# The library that draws the monitor's page, with its licence.
rm -rf "${dir:?}/share"
for file in javascript/dygraphs/dygraph.min.js javascript/dygraphs/dygraph.min.css doc/libjs-dygraphs/copyright; do
  mkdir -p "$dir/share/$(dirname "$file")"
  cp -L "/usr/share/$file" "$dir/share/$file"
done
# From the cache of the setup, where it is: GPU code goes without.
checkout=$(dirname "$here")
frontend=$(cat "$checkout/.lockstep/cudnn_frontend" 2>/dev/null || true)
if [ -n "$frontend" ]; then cp -rL "$frontend"/cudnn_* "$dir/include/"; fi
for library in libpcre2-8.a libutf8proc.a libjpeg.a libpng.a libminizip.a libz.a libtiff.a libdeflate.a libzstd.a libcsv.a libexpat.a libsqlite3.a libncursesw.a libtinfo.a libgtest.a libgtest_main.a libgmock.a libgmock_main.a \
  libsentencepiece.so libsentencepiece_train.so; do
  pack_library "$library"
done

# sentencepiece brings its own protobuf in some packages and needs the system's in others.
needed=$(objdump -p "$dir/lib/libsentencepiece.so" | awk '$1 == "NEEDED" && /protobuf/ {print $2}')
for library in $needed; do pack_library "$library"; done

echo "$dir: $(du -sm "$dir" | cut -f1) MiB; build with LOCKSTEP_DEPS=$dir"
