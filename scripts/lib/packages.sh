# shellcheck shell=bash disable=SC2034,SC2154
# The system's packages and compiler: what is missing, and how it gets here.

# A package, and what a build looks for in it: headers, libraries (any of a|b), files from the root on.
libraries='
nlohmann-json3-dev    nlohmann/json.hpp
libtoml11-dev         toml.hpp
libxxhash-dev         xxhash.h
libpcre2-dev          pcre2.h libpcre2-8.a|libpcre2-8.so
libutf8proc-dev       utf8proc.h libutf8proc.a|libutf8proc.so
libncurses-dev        curses.h libncursesw.a|libncursesw.so libtinfo.a|libtinfo.so
libsentencepiece-dev  sentencepiece_processor.h libsentencepiece.so
libgloo-dev           gloo/context.h
libboost-dev          boost/beast/http/parser.hpp boost/math/distributions/non_central_t.hpp
libjpeg-dev           jpeglib.h libjpeg.a|libjpeg.so
libpng-dev            png.h libpng.a|libpng.so
zlib1g-dev            zlib.h libz.a|libz.so
libtiff-dev           tiffio.h libtiff.a|libtiff.so
libdeflate-dev        libdeflate.h libdeflate.a|libdeflate.so
libzstd-dev           zstd.h libzstd.a|libzstd.so
libminizip-dev        minizip/zip.h libminizip.a|libminizip.so
libcsv-dev            csv.h libcsv.a|libcsv.so
libexpat1-dev         expat.h libexpat.a|libexpat.so
libsqlite3-dev        sqlite3.h libsqlite3.a|libsqlite3.so
libjs-dygraphs        /share/javascript/dygraphs/dygraph.min.js /share/doc/libjs-dygraphs/copyright'
# The tests are built with these.
test_libraries='
libgtest-dev          gtest/gtest.h libgtest.a|libgtest.so
libgmock-dev          gmock/gmock.h libgmock.a|libgmock.so'
# What some tests need besides, and skip without: a Slurm of their own, hosts in network namespaces,
# those who look at the monitor's page and metrics, an OpenCL driver for CPUs.
test_packages=(slurm-wlm munge iproute2 prometheus chromium chromium-driver pocl-opencl-icd)

compiler_version() { "$1" -dumpfullversion -dumpversion 2>/dev/null; }

# Whether a compiler looks where the system's packages are: conda's does not.
searches_system() { [[ $("$1" -x c++ -E -v - </dev/null 2>&1) == *$'\n /usr/include\n'* ]]; }

# Sets `compiler` to the compiler that CXX names, without a launcher before it: ours is ccache already.
use_given_compiler() {
  local words version
  read -ra words <<<"$CXX"
  case ${words[0]##*/} in ccache | sccache | distcc) words=("${words[@]:1}") ;; esac
  ((${#words[@]} == 1)) || die "CXX must be one program, but is '$CXX'" "give flags by CXXFLAGS"
  version=$(compiler_version "${words[0]}") || die "CXX is '$CXX', which is not a compiler that runs" \
    "unset CXX, or set it to g++ $oldest_compiler or newer"
  at_least "$version" "$oldest_compiler" || die \
    "CXX must be g++ $oldest_compiler or newer, but '$CXX' is version $version" \
    "unset CXX to let the setup choose"
  if [ -z "${LOCKSTEP_DEPS:-}" ] && ! searches_system "${words[0]}"; then
    die "CXX is '$CXX', which does not search /usr/include, where system packages lie" \
      "unset CXX to let the setup choose, or name a folder with the libraries by LOCKSTEP_DEPS (scripts/pack-deps.sh)"
  fi
  compiler=$(command -v "${words[0]}")
}

# Sets `compiler` to the first g++ that will do, or to nothing. CXX, where set, must.
find_compiler() {
  local candidate version
  compiler=
  if [ -n "${CXX:-}" ]; then
    use_given_compiler
    return
  fi
  for candidate in g++ "${LOCKSTEP_SETUP_ROOT:-}/usr/bin/g++" g++-15 g++-14 g++-13 g++-12; do
    if version=$(compiler_version "$candidate") && at_least "$version" "$oldest_compiler"; then
      if [ -n "${LOCKSTEP_DEPS:-}" ] || searches_system "$candidate"; then
        compiler=$(command -v "$candidate")
        return
      fi
    fi
  done
}

# The first Python whose pip works: the active environment's may have none.
find_pip() {
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" -c 'import importlib.util as u, sys; sys.exit(not u.find_spec("pip"))' 2>/dev/null; then
      echo "$python"
      return
    fi
  done
}

os_field() { sed -n "s/^$1=//p" "${LOCKSTEP_SETUP_ROOT:-}/etc/os-release" 2>/dev/null | tr -d '"'; }

# The headers among the arguments that the compiler does not find.
absent_headers() {
  local header flags=(-x c++ -std=c++20 -E -P)
  if [ -n "$deps" ]; then flags+=("-I$deps/include"); fi
  for header; do printf '#if !__has_include(<%s>)\n"absent:%s"\n#endif\n' "$header" "$header"; done |
    "${compiler:-false}" "${flags[@]}" - 2>/dev/null | sed -n 's/^"absent:\(.*\)"$/\1/p'
}

# has_file NAMES: one of a|b is a library that the compiler finds, or a file of the system.
has_file() {
  local names name path
  IFS='|' read -ra names <<<"$1"
  for name in "${names[@]}"; do
    case $name in
      /*) path=${LOCKSTEP_SETUP_ROOT:-}/usr$name ;;
      *) path=$("${compiler:-echo}" -print-file-name="$name" 2>/dev/null) || path= ;;
    esac
    # A compiler answers with the bare name where it finds nothing.
    if [[ $path == /* && -e $path ]]; then return; fi
    if [ -n "$deps" ] && { [ -e "$deps$name" ] || [ -e "$deps/lib/$name" ]; }; then return; fi
  done
  return 1
}

# absent_packages TABLE: the packages of a table of which something is not there.
absent_packages() {
  local package files file absent lacks
  # shellcheck disable=SC2046
  absent=" $(absent_headers $(tr ' ' '\n' <<<"$1" | grep '\.hp*$' | grep -v '^/') | tr '\n' ' ') "
  while read -r package files; do
    [ -n "$package" ] || continue
    lacks=
    for file in $files; do
      if [[ $file != /* && $file == *.h* ]]; then
        if [ -z "$compiler" ] || [[ $absent == *" $file "* ]]; then lacks=1; fi
      elif ! has_file "$file"; then
        lacks=1
      fi
    done
    if [ -n "$lacks" ]; then echo "$package"; fi
  done <<<"$1"
}

# Sets `missing` (without these nothing is built), `missing_tools` (of these, what wheels have too) and
# `optional` (better with them). $1: "wheels" where a download is coming. $2: "tests" where tests will be built.
find_missing() {
  local version installed package
  missing=() missing_tools=() optional=()
  find_compiler
  mapfile -t missing < <(absent_packages "$libraries")
  if [ "${2:-}" = tests ]; then mapfile -t -O "${#missing[@]}" missing < <(absent_packages "$test_libraries"); fi
  if [ -z "$compiler" ]; then
    # Ubuntu 22.04 has g++ 11 as its default.
    if [ "$(os_field ID)$(os_field VERSION_ID)" = ubuntu22.04 ]; then missing+=(g++-12); else missing+=(g++); fi
  fi
  version=$(cmake --version 2>/dev/null | sed -n '1s/[^0-9]*//p') || version=
  if ! at_least "${version:-0}" "$oldest_cmake"; then missing+=(cmake) missing_tools+=(cmake); fi
  if ! command -v ninja >/dev/null; then missing+=(ninja-build) missing_tools+=(ninja-build); fi
  if ! command -v python3 >/dev/null; then missing+=(python3); fi
  if [ "${1:-}" = wheels ] && [ -z "$(find_pip)" ]; then missing+=(python3-pip); fi
  if ! command -v ccache >/dev/null; then optional+=(ccache); fi
  if [ "${LOCKSTEP_TEST_PACKAGES:-}" = ON ] && command -v dpkg-query >/dev/null; then
    installed=" $(dpkg-query -W -f '${db:Status-Status}:${Package} ' "${test_packages[@]}" 2>/dev/null || true)"
    for package in "${test_packages[@]}"; do
      [[ $installed == *" installed:$package "* ]] || optional+=("$package")
    done
  fi
}

# repository_of Debian|Ubuntu: the address from which this machine has that system's packages, or nothing.
repository_of() {
  # shellcheck disable=SC2016
  apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null | sed -n "/security/d; s/^$1 //p" | sed -n 1p
}

# Sets `as_root` to what makes a command run as root; fails where nothing does.
find_root() {
  as_root=()
  if [ "$(id -u)" = 0 ]; then return; fi
  if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root=(sudo -n)
  elif command -v sudo >/dev/null && [ -t 0 ] && [ -t 2 ]; then
    as_root=(sudo)
  else
    return 1
  fi
}

run_apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@" >&2; }

# apt_install PACKAGES…: an old package list names files that are gone, so it is renewed once.
apt_install() {
  local lists=("${LOCKSTEP_SETUP_ROOT:-}"/var/lib/apt/lists/*_Packages*)
  if [ ! -e "${lists[0]}" ]; then run_apt -q update || true; fi
  run_apt -qq install -y --no-install-recommends "$@" ||
    { run_apt -q update && run_apt -qq install -y --no-install-recommends "$@"; }
}

# Installs `missing` and, where that costs nothing, `optional`. Where this user may not, unpacks what is missing
# into the cache (lib/unpacked.sh). Nothing is touched where neither is possible.
install_packages() {
  local line="sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}"
  if ! command -v apt-get >/dev/null; then
    if ((${#missing[@]} > ${#missing_tools[@]})); then
      die "not found on this system: ${missing[*]}" \
        "install your system's packages for these (the names are Debian's), or name a folder that holds them by LOCKSTEP_DEPS (scripts/pack-deps.sh); then run make again"
    fi
    use_tools_from_wheels
  elif find_root; then
    say "installing ${missing[*]} ${optional[*]}"
    if ((${#optional[@]})) && apt_install "${missing[@]}" "${optional[@]}"; then return; fi
    apt_install "${missing[@]}" ||
      die "apt-get could not install: ${missing[*]}" \
        "see its message above; on Ubuntu these are in 'universe' (sudo add-apt-repository universe)"
  else
    command -v sudo >/dev/null || line="apt-get update && apt-get install -y --no-install-recommends ${missing[*]}   (as root)"
    unpack_packages || die "system packages are missing, this user may not install them, and they could not be unpacked without that: ${missing[*]}" "run this, then run make again:

  $line"
  fi
}

# Installs `optional` where that takes no password; their absence stops nothing.
install_optional() {
  if ((${#optional[@]} == 0)) || ! command -v apt-get >/dev/null || { [ "$(id -u)" != 0 ] && ! sudo -n true 2>/dev/null; }; then return; fi
  find_root
  say "installing ${optional[*]}"
  apt_install "${optional[@]}" || say "going on without ${optional[*]}"
}
