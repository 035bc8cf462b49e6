#!/usr/bin/env bash
# Whether what `make tarball` made runs in clean roots of older and newer systems: a batch of 200 jobs, a batch of LightGBM
# windows, doctor and monitor on recordings, tokens of a text; and whether what needs LibTorch says so.
#   tarball-roots.sh [ARCHIVE [RELEASE…]]     the newest archive of build-tarball; Debian's bullseye bookworm trixie, or Ubuntu's
#                                             focal jammy noble, where this system has a repository with them
# For root, with the package debootstrap. Closes with a line for each.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
checkout=$(dirname "$here")
# shellcheck source=scripts/lib/common.sh
. "$here/lib/common.sh"
# shellcheck source=scripts/lib/packages.sh
. "$here/lib/packages.sh"

# Within a root, from /: every command as its user would type it.
tasks() {
  set -eu
  cd /tmp
  tar -xzf archive.tar.gz
  lockstep=$(echo /tmp/lockstep-*/bin/lockstep)
  "$lockstep" --version
  "$lockstep" batch run --name many -- sh -c 'echo "$0" >"$LOCKSTEP_OUT/value"' '{1}' ::: $(seq 200)
  [ "$(cat runs/many/jobs/*/value | sort -n | tail -n 1)" = 200 ]
  "$lockstep" batch gbdt --name windows data.made_symbols=2
  "$lockstep" doctor --replay healthy.jsonl
  "$lockstep" doctor --replay one_gpu.jsonl && exit 1
  "$lockstep" prepare textgen
  "$lockstep" train textgen 2>message && exit 1
  grep -q 'needs LibTorch' message
  "$lockstep" compare runs/many runs/many >/dev/null || [ $? = 1 ]
  echo "all of it runs"
}
if [ "${1:-}" = --inside ]; then
  root=$2
  mount -t proc none "$root/proc"
  mount --rbind /dev "$root/dev"
  exec chroot "$root" env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/root bash -c "$(declare -f tasks); tasks"
fi

archive=${1:-$(ls -t "$checkout"/build-tarball/lockstep-*.tar.gz 2>/dev/null | sed -n 1p)}
[ -f "$archive" ] || die "there is no archive to try" "run make tarball, or name one"
shift "$(($# ? 1 : 0))"
releases=("$@")
if ((${#releases[@]} == 0)); then releases=(bullseye bookworm trixie focal jammy noble); fi
[ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null || die "clean roots need root and debootstrap" "apt-get install debootstrap"

top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
lines=() status=0
for release in "${releases[@]}"; do
  case $release in bullseye | bookworm | trixie) system=Debian ;; *) system=Ubuntu ;; esac
  repository=$(repository_of "$system")
  if [ -z "$repository" ]; then
    lines+=("tarball: $release skipped: this system knows no repository of $system")
    continue
  fi
  root=$top/$release
  if ! debootstrap --variant=minbase "$release" "$root" "$repository" >"$top/log" 2>&1; then
    tail -n 5 "$top/log" >&2
    lines+=("tarball: $release skipped: debootstrap cannot make it here")
    continue
  fi
  cp "$archive" "$root/tmp/archive.tar.gz"
  cp "$checkout"/tests/unit/tools/doctor/recordings/{healthy,one_gpu}.jsonl "$root/tmp/"
  if unshare -m --propagation private "$0" --inside "$root" >"$top/said" 2>&1; then
    lines+=("tarball: $release passed, with $(chroot "$root" ldd --version | sed -n '1s/.* //;1p') of the C library")
  else
    cat "$top/said" >&2
    lines+=("tarball: $release failed") status=1
  fi
  rm -rf "$root"
done
printf '%s\n' "${lines[@]}"
exit "$status"
