# shellcheck shell=bash disable=SC2034,SC2154
# LibTorch from the wheels: download into the cache, check by hash, unpack, all under one lock.

# wheel_lines LIST: "NAME VERSION SHA256" a line.
wheel_lines() { sed -n 's/^\([A-Za-z0-9_.-]*\)==\([^ ]*\) .*sha256:\([0-9a-f]*\).*/\1 \2 \3/p' "$1"; }

# Sets `unpacked` (the folder in the cache) and `wheels_digest` (what it must hold).
name_unpacked() {
  local version
  wheels_digest=$(wheel_lines "$wheels" | sha256sum | cut -d' ' -f1)
  version=$(wheel_lines "$wheels" | sed -n 's/^torch \([^ ]*\) .*/\1/p')
  [ -n "$version" ] || die "'$wheels' names no torch" "unset LOCKSTEP_WHEELS"
  unpacked=$cache/libtorch-$version-$wheels_kind
}

is_unpacked() { [ "$(cat "$unpacked/.lockstep-complete" 2>/dev/null)" = "$wheels_digest" ]; }

wheel_file() { compgen -G "$cache/wheels/${1//-/_}-$2-*.whl" | sed -n 1p; }
has_hash() { [ "$(sha256sum "$1" | cut -d' ' -f1)" = "$2" ]; }

check_space() {
  local needed=$wheels_cpu_mb free present
  if [ "$wheels_kind" = cuda ]; then needed=$wheels_cuda_mb; fi
  present=$(du -sm "$cache/wheels" | cut -f1)
  free=$(df -Pm "$cache" | awk 'NR == 2 {print $4}')
  if ((free + present < needed)); then
    die "no space for LibTorch in '$cache': $free MB free, but $((needed - present)) MB are needed" \
      "free some space, or set LOCKSTEP_CACHE to a folder on a larger disk"
  fi
}

# run_pip WORDS…: for CPython 3.12 on x86_64, whatever runs here. pip matches manylinux tags one by
# one, so all that the wheels may carry are named.
run_pip() {
  local command=$1 platforms=() minor
  shift
  for minor in {28..5}; do platforms+=(--platform "manylinux_2_${minor}_x86_64"); done
  for minor in 2014 2010 1; do platforms+=(--platform "manylinux${minor}_x86_64"); done
  PIP_REQUIRE_VIRTUALENV=0 "$(find_pip)" "${pip_program[@]}" "$command" --no-cache-dir --only-binary=:all: --quiet \
    --python-version 3.12 --implementation cp "${platforms[@]}" --disable-pip-version-check "$@"
}
pip_program=(-m pip)

# A pip that can report what it would install (22.2; Ubuntu 22.04 has 22.0): another runs from its own wheel.
use_reporting_pip() {
  local version
  version=$("$(find_pip)" -m pip --version | sed 's/^pip \([^ ]*\).*/\1/') || version=0
  if at_least "$version" 22.2; then return; fi
  run_pip download --no-deps --dest "$cache/wheels" 'pip>=22.2' >&2 || return 1
  pip_program=("$(compgen -G "$cache/wheels/pip-*.whl" | sort -V | tail -n 1)/pip")
}

# list_newest_wheels FILE: the newest torch and the two CUDA libraries that libtorch_cpu needs.
list_newest_wheels() {
  mkdir -p "$cache/wheels"
  use_reporting_pip || return 1
  run_pip install --dry-run --ignore-installed --report "$1.json" --target "$cache/unused" torch >&2 || return 1
  python3 - "$1.json" >"$1" <<'PYTHON'
import json, re, sys

for item in json.load(open(sys.argv[1]))["install"]:
    name = item["metadata"]["name"]
    if re.fullmatch(r"torch|nvidia-cuda-(runtime|cupti)(-cu\d+)?", name):
        sha256 = item["download_info"]["archive_info"]["hashes"]["sha256"]
        print(f"{name}=={item['metadata']['version']} --hash=sha256:{sha256}")
PYTHON
}

# fetch_wheel NAME VERSION SHA256: in the cache and whole afterwards.
fetch_wheel() {
  local file requirement=$cache/wheels/.requirement bar=off
  file=$(wheel_file "$1" "$2") || true
  if [ -n "$file" ]; then
    if has_hash "$file" "$3"; then return; fi
    say "$(basename "$file") is damaged: fetching it again"
    rm -f "$file"
  fi
  say "downloading $1 $2"
  echo "$1==$2 --hash=sha256:$3" >"$requirement"
  if [ -t 2 ]; then bar=on; fi
  run_pip download --no-deps --progress-bar "$bar" --require-hashes --dest "$cache/wheels" -r "$requirement" >&2 || die "the download of $1 $2 failed or was interrupted" \
    "see pip's message above; check the network and run make again: wheels that have arrived whole are kept in '$cache'; docs/guide/install.md says how to bring wheels in a folder"
  file=$(wheel_file "$1" "$2") || true
  if [ -z "$file" ] || ! has_hash "$file" "$3"; then
    if [ -n "$file" ]; then rm -f "$file"; fi
    die "the download of $1 $2 is damaged (its SHA-256 is not the expected one)" "run make again; if it stays so, the package index serves another file"
  fi
}

unpack_wheels() {
  local name version hash files=() partial=$cache/.unpack-$$
  rm -rf "$cache"/.unpack-* "$cache"/.old-*
  while read -r name version hash; do files+=("$(wheel_file "$name" "$version")"); done < <(wheel_lines "$wheels")
  say "unpacking LibTorch into $unpacked"
  python3 "$(dirname "${BASH_SOURCE[0]}")/unpack_wheels.py" "$partial" "${files[@]}" || exit 2
  echo "$wheels_digest" >"$partial/.lockstep-complete"
  if [ -e "$unpacked" ]; then mv "$unpacked" "$cache/.old-$$"; fi
  mv "$partial" "$unpacked"
  rm -rf "$cache/.old-$$"
}

# Sets `torch_dir` to the unpacked wheels, which it fetches where they are not in the cache.
use_wheels() {
  local name version hash
  torch_dir=$unpacked/torch
  if is_unpacked; then return; fi
  if ! mkdir -p "$cache/wheels" 2>/dev/null || [ ! -w "$cache" ]; then
    die "cannot write to the cache folder '$cache'" "make it writable, or set LOCKSTEP_CACHE to another folder"
  fi
  exec 9>"$cache/lock"
  if ! flock -n 9; then
    say "waiting for another setup that uses '$cache'"
    flock 9
  fi
  if ! is_unpacked; then
    check_space
    while read -r name version hash; do fetch_wheel "$name" "$version" "$hash"; done < <(wheel_lines "$wheels")
    unpack_wheels
  fi
  exec 9>&-
}
