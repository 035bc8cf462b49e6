#!/usr/bin/env bash
# Measures what a newcomer waits for: `make run` in a fresh clone of this checkout with an empty ccache and an empty
# cache of downloads, until the first step. System packages count only where they are missing.
#   bench/first_step.sh OUT_FILE
set -euo pipefail

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
[ $# = 1 ] || die "first_step.sh takes a file" "bench/first_step.sh OUT_FILE"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

git clone -q "$checkout" "$work/lockstep"
begin=$EPOCHREALTIME
# Seconds since the beginning at which a line came that matches.
(cd "$work/lockstep" && CCACHE_DIR=$work/ccache LOCKSTEP_CACHE=$work/cache make run 2>&1) |
  while IFS= read -r line; do printf '%s %s\n' "$EPOCHREALTIME" "$line"; done >"$work/log"
at() { awk -v begin="$begin" -v what="$1" '$0 ~ what {printf "%.0f", $1 - begin; exit}' "$work/log"; }
{
  echo "# From \`make run\` in a fresh clone to the first step, caches empty. Written by bench/first_step.sh."
  echo "command = \"bench/first_step.sh $(basename "$1")\""
  echo "commit = \"$(measured_commit "$checkout")\""
  echo "date = $(date -u +%Y-%m-%dT%H:%M:%SZ)"
  echo "machine = \"$(usable_cores) cores\""
  printf '\n[[run]]\nsetup_s = %s\nfirst_step_s = %s\nend_s = %s\n' "$(at 'setup: LibTorch')" "$(at 'step 1/')" "$(at 'finished at step')"
} >"$work/record"
mv "$work/record" "$1"
cat "$1"
