#!/usr/bin/env bash
# What a checkpoint of gpt124m with AdamW's state costs the step in which it is taken, and how fast it
# is written beside dd with fsync on the same disk. Writes a record.
#   bench/checkpoint.sh OUT_FILE [FOLDER]      FOLDER is on the disk to test (.)
# Environment: LOCKSTEP names the tool (build/lockstep); PRESET (bench-gpt124m); LOCKSTEP_COMMIT.
set -euo pipefail
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
[ $# -ge 1 ] || die "checkpoint.sh takes the file to write" "bench/checkpoint.sh OUT_FILE [FOLDER]"
tool=${LOCKSTEP:-$checkout/build/lockstep} preset=${PRESET:-bench-gpt124m}
work=$(mktemp -d "$(realpath "${2:-.}")/checkpoint-bench-XXXXXX")
trap 'rm -rf "$work"' EXIT
"$tool" train textgen "preset=$preset" stop.steps=100 checkpoint.every_steps=25 checkpoint.keep=1 log.every_steps=1 \
  "run.root=$work" --name run --devices "${DEVICES:-0}" >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; die "lockstep failed"; }
bytes=$(du -sb "$work/run/checkpoints" | cut -f1)
for repeat in 1 2 3; do
  dd if=/dev/zero of="$work/dd" bs=4M count=$((bytes / 4194304)) conv=fsync 2>&1 | tail -n 1 >>"$work/dd.log"
  rm -f "$work/dd"
done
commit=$(measured_commit "$checkout")
python3 - "$work" "$commit" "$preset" >"$work/record" <<'PYTHON'
import json, os, pathlib, re, statistics, sys, time

work, commit, preset = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
events = [json.loads(line) for line in (work / "run/events.jsonl").read_text().splitlines()]
steps = {e["step"]: 1e3 * e["step_s"] for e in events if e["kind"] == "step"}
saved = [e for e in events if e["kind"] == "checkpoint"]
plain = statistics.median(ms for step, ms in steps.items() if step > 30)
dd = []
for line in (work / "dd.log").read_text().splitlines():
    bytes_, seconds = re.match(r"(\d+) bytes.*, ([\d.]+) s,", line).groups()
    dd.append(round(int(bytes_) / float(seconds) / 1e6, 1))
writes = [round(e["bytes"] / e["seconds"] / 1e6, 1) for e in saved]
print(f'command = "bench/checkpoint.sh OUT_FILE"\ncommit = "{commit}"\npreset = "{preset}"')
print(f'date = "{time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}"\nstep_median_ms = {plain:.2f}')
for e in saved:
    near = {step: round(steps[step] - plain, 2) for step in range(e["step"] - 1, e["step"] + 3) if step in steps}
    print(f'\n[[checkpoint]]\nstep = {e["step"]}\nbytes = {e["bytes"]}\nseconds = {e["seconds"]:.3f}')
    print(f'longer_than_median_ms = {json.dumps(list(near.values()))}  # the steps {list(near)}')
print(f"\n[write]\nours_mb_s = {writes}\ndd_fsync_mb_s = {dd}")
print(f"ratio = {statistics.median(writes) / statistics.median(dd):.3f}  # medians")
PYTHON
mv "$work/record" "$1"
cat "$1"
