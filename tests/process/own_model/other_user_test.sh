#!/usr/bin/env bash
# Installs Lockstep as root, and trains with it as a user who can enter no home folder:
# other_user_test.sh BUILD_DIR
set -euo pipefail
build=$1
if [ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null; then
  echo "skipped: it takes root and setpriv to be another user"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
fail() { printf 'failed: %s\n' "$*" >&2; exit 1; }

umask 022  # as scripts/install.sh
# As if LibTorch lay where nobody else can enter; on many machines it does.
LOCKSTEP_INSTALL_TORCH=ON cmake --install "$build" --prefix "$work/prefix" >"$work/install.log" || { cat "$work/install.log"; fail install; }
mkdir "$work/home"
chown 65534:65534 "$work/home"
cd "$work/home"
other() { setpriv --reuid 65534 --regid 65534 --clear-groups env -i PATH=/usr/bin:/bin HOME="$work/home" "$@"; }
torch=$(sed -n 's/^LOCKSTEP_TORCH:[A-Z]*=//p' "$build/CMakeCache.txt")
other "$work/prefix/bin/lockstep" train textgen preset=small stop.steps=2 --devices cpu:2 --name first >out.txt 2>train.log ||
  { cat train.log; fail "train as another user"; }
other "$work/prefix/bin/lockstep" runs first >runs.txt || fail "runs as another user"
grep -q finished runs.txt || fail "not finished: $(cat runs.txt)"
if readelf -d "$work/prefix/bin/lockstep-worker" | grep -q "$torch"; then fail "the worker still looks into $torch"; fi
