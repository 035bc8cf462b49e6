#!/usr/bin/env bash
# How often `lockstep abtest` calls equal commands different, and how often it finds known slow-downs of 1, 2 and 5 %:
# by seeded simulation through its own code, and with a real program of a stated number of steps. Writes a record.
#   bench/abtest_proof.sh OUT_FILE
# Environment: BUILD names the build folder (build), with the targets lockstep, bench-busy and
# bench-abtest-simulation; TRIALS of each simulated case (1000); EQUAL (100) and EACH (20) real trials of equal commands
# and of each slow-down; REPEATS, pairs of a real trial at most (100); STEPS of the program (calibrated to 10 ms of
# processor time); NOTE on what else ran; LOCKSTEP_COMMIT where the checkout has no git history.
set -euo pipefail
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
[ $# = 1 ] || die "abtest_proof.sh takes the file to write" "bench/abtest_proof.sh OUT_FILE"
build=$(cd "${BUILD:-$checkout/build}" && pwd)
for program in lockstep bench-busy bench-abtest-simulation; do
  [ -x "$build/$program" ] || die "$build/$program is not there" "build the targets lockstep, bench-busy and bench-abtest-simulation"
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$build/bench-abtest-simulation" "${TRIALS:-1000}" 1 >"$work/simulated"
python3 - "$build" "$work" "$(measured_commit "$checkout")" >"$work/record" <<'PYTHON'
import json, math, os, pathlib, re, subprocess, sys, time

build, work, commit = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
simulated = (work / "simulated").read_text()
equal, each, repeats = (int(os.environ.get(name, otherwise)) for name, otherwise in (("EQUAL", 100), ("EACH", 20), ("REPEATS", 100)))


def processor_s(steps):
    text = subprocess.run([build / "bench-busy", str(steps)], check=True, capture_output=True, text=True).stdout
    return float(re.search(r"cpu_s (\S+)", text)[1])


steps = int(os.environ.get("STEPS", 0)) or int(10_000_000 * 0.010 / min(processor_s(10_000_000) for _ in range(9)))


# Chance that an interval of that half-width leaves 1 and reaches beyond the margin, with a true slow-down of the margin.
def chance(low, high, margin, pairs):
    half, width = math.log(high / low) / 2, math.log(1 + margin)
    deviations = 1.96 + 2.4 / (pairs - 1)  # Student's t, nearly
    return (1 + math.erf((width - max(half, width - half)) / (half / deviations) / math.sqrt(2))) / 2


# The finding for another quantity of the same trial, by the rule of the design page.
def finding(quantity, margin):
    low, high = quantity["low"], quantity["high"]
    if low is None:
        return "inconclusive"
    if low >= 1 / (1 + margin) and high <= 1 + margin:
        return "same"
    return "more" if low > 1 else "less" if high < 1 else "inconclusive"


def trial(slowdown, margin, number):
    folder = work / f"trial-{slowdown}-{number}"
    commands = [f"{build}/bench-busy {count}" for count in (steps, round(steps * (1 + slowdown)))]
    words = [build / "lockstep", "abtest", *commands, "--metric", r"cpu_s (\S+)", "--margin", f"{100 * margin}%",
             "--repeats", str(repeats), "--seed", str(number), "--out", folder]
    subprocess.run(words, check=True, capture_output=True)
    record = json.loads((folder / "abtest.json").read_text())
    found = record["result"]
    assert found["finding"] == finding(found["quantities"]["metric"], margin)
    row = {"pairs": len(record["pairs"]), "ended_by": found["ended_by"]}
    for key, name in (("metric", "cpu"), ("wall_s", "wall")):
        quantity = found["quantities"][key]
        row |= {name: finding(quantity, margin), f"{name}_ratio": round(quantity["ratio"], 4),
                f"{name}_low": round(quantity["low"], 4), f"{name}_high": round(quantity["high"], 4),
                f"{name}_spread": round(quantity["spread"], 4)}
    return row


def real(name, slowdown, margin, trials):
    rows = [trial(slowdown, margin, number) for number in range(trials)]
    count = lambda quantity, word: sum(row[quantity] == word for row in rows)
    print(f"\n[[{name}]]\nslowdown = {slowdown}\nmargin = {margin}\ntrials = {trials}")
    for quantity in ("cpu", "wall"):
        print(f'{quantity}_no_difference = {count(quantity, "same")}\n{quantity}_slower = {count(quantity, "more")}\n'
              f'{quantity}_faster = {count(quantity, "less")}\n{quantity}_inconclusive = {count(quantity, "inconclusive")}')
        held = sum(row[f"{quantity}_low"] <= 1 + slowdown <= row[f"{quantity}_high"] for row in rows)
        print(f"{quantity}_intervals_that_hold_the_truth = {held}")
        if slowdown > 0:
            expected = sum(chance(row[f"{quantity}_low"], row[f"{quantity}_high"], margin, row["pairs"]) for row in rows)
            print(f"{quantity}_slower_expected = {expected:.1f}")
    print(f'ended_narrow = {sum(row["ended_by"] == "narrow" for row in rows)}')
    print("runs = [")
    for row in rows:
        print("  {" + ", ".join(f"{key} = {json.dumps(value)}" for key, value in row.items()) + "},")
    print("]", flush=True)


cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if "model name" in line), "unknown")
print(f'command = "bench/abtest_proof.sh OUT_FILE"\ncommit = {json.dumps(commit)}')
print(f'machine = {json.dumps(f"{os.cpu_count()} cores, {cpu}")}\ndate = "{time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}"')
print(f'note = {json.dumps(os.environ.get("NOTE", ""))}\nload_average_before = {os.getloadavg()[0]:.1f}')
print("# Simulated trials (equal_100, equal, slower, fixed_repeats): spread is the deviation of one run's logarithm; outliers: one run in")
print("# twenty takes 20 % longer. slower: margin = slow-down, of which abtest states that more than 95 % are found.")
print("# fixed_repeats: pairs_on_average pairs, stated_power is that of `power`, and intervals_without_1 is what it states.")
print(simulated)
print(f"# Real trials: bench-busy of {steps} steps against as many and the slow-down; decided by its processor time, at most")
print(f"# {repeats} pairs; wall is what the same trials say of wall time. slower_expected: by the widths of the intervals that there are.")
real("real_equal", 0.0, 0.02, equal)
for slowdown in (0.01, 0.02, 0.05):
    real("real_slower", slowdown, slowdown, each)
PYTHON
mv "$work/record" "$1"
cat "$1"
