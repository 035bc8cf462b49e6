# shellcheck shell=bash disable=SC2034,SC2154
# What is missing, without the right to install: packages unpacked into the cache, cmake and ninja from wheels.

# Sets `deps` to the folder that serves instead of system packages: the user's, or what an earlier setup unpacked.
choose_deps() {
  deps=${LOCKSTEP_DEPS:-}
  if [ -z "$deps" ]; then
    if [ -d "$cache/packages/include" ]; then deps=$cache/packages; fi
    return
  fi
  [ -d "$deps/include" ] || die "LOCKSTEP_DEPS is '$deps', which holds no folder include/" \
    "make such a folder with scripts/pack-deps.sh where the packages are installed, or unset LOCKSTEP_DEPS"
  deps=$(realpath "$deps")
}

# private_apt WORDS…: apt-get with package lists and downloads of its own.
private_apt() {
  mkdir -p "$cache/apt/lists/partial" "$cache/apt/archives/partial"
  apt-get -q -o Dir::State::Lists="$cache/apt/lists" -o Dir::Cache="$cache/apt" -o Debug::NoLocking=1 "$@"
}

# Links what a package links to, but what was not unpacked because the system has it already.
mend_links() {
  local link target
  find "$1" -xtype l | while read -r link; do
    target=$(find /usr/lib /lib -name "$(basename "$(readlink "$link")")" 2>/dev/null | sed -n 1p)
    if [ -n "$target" ]; then ln -sf "$target" "$link"; fi
  done
}

# Unpacks those of `missing` that are libraries into a folder laid out as LOCKSTEP_DEPS, and sets `deps` to it;
# a compiler or Python cannot be had so. Fails where something remains.
unpack_packages() {
  local package wanted=() names folder=$cache/packages partial=$cache/.packages-$$ file
  for package in "${missing[@]}"; do
    case $package in
      cmake | ninja-build) ;;
      g++* | python3*) return 1 ;;
      *) wanted+=("$package") ;;
    esac
  done
  if ((${#missing_tools[@]})); then use_tools_from_wheels || return 1; fi
  if ((${#wanted[@]} == 0)); then return; fi
  command -v dpkg-deb >/dev/null || return 1
  mkdir -p "$cache" 2>/dev/null && [ -w "$cache" ] || return 1
  say "this user may not install packages: unpacking ${wanted[*]} into $folder"
  if ! names=$(private_apt -qq -s install --no-install-recommends "${wanted[@]}" 2>/dev/null); then
    private_apt update >&2 || return 1
    names=$(private_apt -qq -s install --no-install-recommends "${wanted[@]}") || return 1
  fi
  rm -rf "$partial" "$cache/apt/debs"
  mkdir -p "$partial/root" "$cache/apt/debs"
  # shellcheck disable=SC2046
  (cd "$cache/apt/debs" && private_apt download $(sed -n 's/^Inst \([^ ]*\).*/\1/p' <<<"$names") >&2) || return 1
  for file in "$cache/apt/debs"/*.deb; do dpkg-deb -x "$file" "$partial/root" || return 1; done
  if [ -n "$deps" ] && [ "$deps" = "$folder" ]; then cp -rn "$folder"/. "$partial/"; fi
  mkdir -p "$partial/include" "$partial/lib" "$partial/share"
  cp -r "$partial/root/usr/include/." "$partial/include/" 2>/dev/null || true
  # Headers that differ by machine, such as libjpeg's.
  cp -r "$partial/root/usr/include/x86_64-linux-gnu/." "$partial/include/" 2>/dev/null || true
  for file in "$partial/root/usr/lib" "$partial/root/lib"; do
    if [ -d "$file/x86_64-linux-gnu" ]; then cp -r "$file/x86_64-linux-gnu/." "$partial/lib/"; fi
  done
  cp -r "$partial/root/usr/share/." "$partial/share/" 2>/dev/null || true
  rm -rf "$partial/root" "$cache/apt/debs"
  mend_links "$partial/lib"
  mend_links "$partial/share"
  rm -rf "$folder"
  mv "$partial" "$folder"
  deps=$folder
}

# cmake and ninja from their wheels, linked in .lockstep/bin, which every script has on its path.
use_tools_from_wheels() {
  local folder=$cache/tools
  [ -n "$(find_pip)" ] || return 1
  say "fetching cmake and ninja from the package index"
  use_bundle "$here/wheels-tools.txt" "$folder" || return 1
  mkdir -p "$chosen/bin"
  ln -sfn "$folder/cmake/data/bin/cmake" "$chosen/bin/cmake"
  ln -sfn "$folder/cmake/data/bin/ctest" "$chosen/bin/ctest"
  ln -sfn "$folder"/ninja-*.data/scripts/ninja "$chosen/bin/ninja"
  PATH=$chosen/bin:$PATH
}
