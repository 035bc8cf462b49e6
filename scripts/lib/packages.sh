# shellcheck shell=bash disable=SC2034,SC2154
# The system packages: what is missing, and how it gets installed.

libraries=(nlohmann-json3-dev libtoml11-dev libxxhash-dev libpcre2-dev libutf8proc-dev libncurses-dev
  libsentencepiece-dev libgloo-dev libgtest-dev libgmock-dev libboost-dev libjs-dygraphs)
# What some tests need besides, and skip without: a Slurm of their own, hosts in network namespaces,
# those who look at the monitor's page and metrics.
test_packages=(slurm-wlm munge iproute2 prometheus chromium chromium-driver)

compiler_version() { "$1" -dumpfullversion -dumpversion 2>/dev/null; }

# Sets `compiler` to the first g++ that is new enough, or to nothing. CXX, where set, must be.
find_compiler() {
  local candidate version
  compiler=
  if [ -n "${CXX:-}" ]; then
    version=$(compiler_version "$CXX") || die "CXX is '$CXX', which is not a compiler that runs" \
      "unset CXX, or set it to g++ $oldest_compiler or newer"
    at_least "$version" "$oldest_compiler" || die \
      "CXX must be g++ $oldest_compiler or newer, but '$CXX' is version $version" \
      "unset CXX to let the setup choose"
    compiler=$(command -v "$CXX")
    return
  fi
  for candidate in g++ g++-15 g++-14 g++-13 g++-12; do
    if version=$(compiler_version "$candidate") && at_least "$version" "$oldest_compiler"; then
      compiler=$(command -v "$candidate")
      return
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

# Sets `missing` to the packages to install. $1: "wheels" where a download is coming.
find_missing() {
  local package version installed
  missing=()
  find_compiler
  if [ -z "$compiler" ]; then
    # Ubuntu 22.04 has g++ 11 as its default.
    if [ "$(os_field ID)$(os_field VERSION_ID)" = ubuntu22.04 ]; then missing+=(g++-12); else missing+=(g++); fi
  fi
  version=$(cmake --version 2>/dev/null | sed -n '1s/[^0-9]*//p') || version=
  if ! at_least "${version:-0}" "$oldest_cmake"; then missing+=(cmake); fi
  if ! command -v ninja >/dev/null; then missing+=(ninja-build); fi
  if ! command -v ccache >/dev/null; then missing+=(ccache); fi
  if ! command -v python3 >/dev/null; then missing+=(python3); fi
  if [ "${1:-}" = wheels ] && [ -z "$(find_pip)" ]; then missing+=(python3-pip); fi
  local wanted=("${libraries[@]}")
  if [ "${LOCKSTEP_TEST_PACKAGES:-}" = ON ]; then wanted+=("${test_packages[@]}"); fi
  installed=" $(dpkg-query -W -f '${db:Status-Status}:${Package} ' "${wanted[@]}" 2>/dev/null || true)"
  for package in "${wanted[@]}"; do
    [[ $installed == *" installed:$package "* ]] || missing+=("$package")
  done
}

# run_apt WORDS…: as root, or through the sudo that install_packages found.
run_apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@" >&2; }

# Installs `missing`; nothing is touched where that is not possible.
install_packages() {
  local install=(install -y --no-install-recommends "${missing[@]}") lists
  local line="sudo apt-get update && sudo apt-get ${install[*]}"
  if ! command -v apt-get >/dev/null; then
    die "not found on this system: ${missing[*]}" \
      "the setup installs packages on Debian 12, Ubuntu 22.04 and 24.04; install what these stand for, then run it again"
  fi
  as_root=()
  if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
      as_root=(sudo -n)
    elif command -v sudo >/dev/null && [ -t 0 ]; then
      as_root=(sudo)
    else
      command -v sudo >/dev/null || line="apt-get update && apt-get ${install[*]}   (as root)"
      die "system packages are missing and this user may not install them: ${missing[*]}" "run this, then run make again:

  $line"
    fi
  fi
  say "installing ${missing[*]}"
  lists=("${LOCKSTEP_SETUP_ROOT:-}"/var/lib/apt/lists/*_Packages*)
  if [ ! -e "${lists[0]}" ]; then run_apt -q update || true; fi
  # An old package list names files that are gone: renew it once.
  run_apt -qq "${install[@]}" || { run_apt -q update && run_apt -qq "${install[@]}"; } ||
    die "apt-get could not install: ${missing[*]}" \
      "see its message above; on Ubuntu these are in 'universe' (sudo add-apt-repository universe)"
}
