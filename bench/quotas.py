"""Whether quotas are kept, on CPU ranks, and how good forecasts are, there or on a GPU.

Usage: python3 bench/quotas.py LOCKSTEP quotas|forecasts [--gpu N] [--shortest SECONDS] [--longest SECONDS] [--skip CASES] [--most CASES] [--part K/N]
Prints TOML. quotas: 40 runs over recipes, quotas from 20 s to 10 min, with and without --then; kept: ended at most 2 % or 10 s
late. forecasts: 20 models and lengths, or with --gpu 8 larger ones on that GPU; of each a trial (plan --measure), a run, a forecast
after it, and the same run again. --shortest and --longest leave out other quotas, --skip the first cases and --most those behind so many; --part 2/8 runs the second of
eight parts of about equal length, beside which the others may run.
"""
import argparse
import itertools
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent
SPARE_SHARE, SPARE_S = 0.02, 10
QUOTAS = [20, 30, 45, 60, 120, 300, 600]
TEXT = ["textgen", "data.path=text.txt", "preset=small", "batch.global=8"]
VOLUME = ["volume", "data.path=volumes", "preset=small", "stop.epochs=100000", "batch.global=2"]
# Evaluations that are rare and long, frequent, or longer than the quota.
RUNS = [
    ["rare", TEXT, ["eval.every_steps=200"]],
    ["frequent", TEXT, ["eval.every_steps=20"]],
    ["wide", TEXT, ["model.width=512", "eval.every_steps=10", "data.valid_share=0.5"]],
    ["text", TEXT, ["eval.every_steps=50", "--then", "predict", "tokens=20"]],
    ["volumes", VOLUME, ["eval.every_steps=10"]],
    ["masks", VOLUME, ["eval.every_steps=10", "--then", "predict"]],
]


def make_data(folder):
    words = ["".join(random.Random(i).choices("abcdefghijklmnop", k=2 + i % 7)) for i in range(800)]
    chosen = random.Random(1).choices(words, k=400_000)
    (folder / "text.txt").write_text("\n".join(" ".join(chosen[i:i + 12]) for i in range(0, len(chosen), 12)))
    subprocess.run([sys.executable, CHECKOUT / "tests/process/guides/made.py", "volumes", folder / "volumes"], check=True)


def run(folder, arguments, codes=(0,)):
    begin = time.monotonic()
    result = subprocess.run(arguments, cwd=folder, capture_output=True, text=True)
    took = time.monotonic() - begin
    if result.returncode not in codes:
        sys.exit(f"{' '.join(map(str, arguments))} ended with {result.returncode}:\n{result.stderr[-3000:]}")
    return took, result


def quota_cases(shortest, longest):
    cases = [(name, recipe, options, quota) for quota, (name, recipe, options) in itertools.product(QUOTAS, RUNS)]
    return [case for case in cases[:40] if shortest <= case[3] <= longest]


def part_of(cases, part, length):
    """Of the parts that --part names, the one asked for: each case goes to the shortest so far, long cases first."""
    number, count = map(int, part.split("/"))
    if not 1 <= number <= count:
        sys.exit(f"--part {part}: K of K/N must be from 1 to N")
    parts, lengths = [[] for _ in range(count)], [0] * count
    for case in sorted(cases, key=length, reverse=True):
        shortest = lengths.index(min(lengths))
        parts[shortest].append(case)
        lengths[shortest] += length(case)
    return parts[number - 1]


def measure_quotas(tool, folder, arguments):
    kept = 0
    cases = part_of(quota_cases(arguments.shortest, arguments.longest)[arguments.skip:arguments.most], arguments.part, lambda case: case[3])
    lines = []
    for number, (name, recipe, options, quota) in enumerate(cases):
        took, result = run(folder, [tool, "train", *recipe, *options, "--devices", "cpu:2", "--name", f"q{number}",
                                    "stop.steps=10000000", f"stop.after={quota}s"], (75,))
        is_kept = took <= quota + max(SPARE_SHARE * quota, SPARE_S)
        kept += is_kept
        left_out = len(re.findall("no more evaluations|was given up", result.stderr))
        lines.append(f'  {{run = "{name}", quota_s = {quota}, took_s = {took:.1f}, kept = {str(is_kept).lower()}, '
                     f'evaluations = {len(re.findall("^eval at", result.stderr, re.M))}, left_out = {left_out}}},')
        print(lines[-1], file=sys.stderr)
    print(f"cases = {len(cases)}\nkept = {kept}\nruns = [", *lines, "]", sep="\n")


def gpu_cases():
    for width, batch, steps in itertools.product((256, 768), (16, 64), (500, 2000)):
        yield [*TEXT[:-1], f"model.width={width}", f"batch.global={batch}", f"stop.steps={steps}", f"eval.every_steps={steps // 2}",
               "--devices", "0"]


def forecast_cases():
    for width, batch, steps in itertools.product((64, 128, 256), (4, 16), (60, 200)):
        yield [*TEXT[:-1], f"model.width={width}", f"batch.global={batch}", f"stop.steps={steps}", f"eval.every_steps={steps // 2}"]
    for batch, steps, ranks in itertools.product((1, 2), (20, 60), (1, 2)):
        yield [*VOLUME[:-1], f"batch.global={batch * ranks}", f"stop.steps={steps}", "eval.every_steps=0", "--devices", f"cpu:{ranks}"]


def planned_s(tool, folder, case, *flags):
    _, result = run(folder, [tool, "plan", *case, *flags, "--json"])
    return json.loads(result.stdout)["forecast"]["total_s"]


def measure_forecasts(tool, folder, arguments):
    within = {"run": 0, "trial": 0}
    lines = []
    cases = list(forecast_cases() if arguments.gpu is None else gpu_cases())[arguments.skip:arguments.most]
    cases = part_of(cases, arguments.part, lambda case: 1)
    for number, case in enumerate(cases):
        case = case if "--devices" in case else [*case, "--devices", "cpu:2"]
        trial = planned_s(tool, folder, case, "--measure")
        first, _ = run(folder, [tool, "train", *case, "--name", f"f{number}"])
        after = planned_s(tool, folder, case)
        second, _ = run(folder, [tool, "train", *case, "--name", f"g{number}"])
        within["trial"] += abs(trial - first) <= 0.3 * first
        within["run"] += abs(after - second) <= 0.15 * second
        lines.append(f'  {{options = "{" ".join(case)}", trial_s = {trial:.1f}, took_s = {first:.1f}, forecast_s = {after:.1f}, '
                     f"again_s = {second:.1f}}},")
        print(lines[-1], file=sys.stderr)
    print(f"cases = {len(cases)}\nwithin_30_percent_of_trial = {within['trial']}\nwithin_15_percent_of_run = {within['run']}",
          "runs = [", *lines, "]", sep="\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool", type=pathlib.Path)
    parser.add_argument("what", choices=("quotas", "forecasts"))
    parser.add_argument("--shortest", type=float, default=0)
    parser.add_argument("--longest", type=float, default=max(QUOTAS))
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--most", type=int, default=1000)
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--gpu")
    arguments = parser.parse_args()
    if arguments.gpu is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = arguments.gpu  # a number in plan --devices would be one of GPUs
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=CHECKOUT, capture_output=True, text=True).stdout.strip()
    print(f'# Whether quotas are kept, or how good forecasts are; written by bench/quotas.py.\n'
          f'command = "python3 bench/quotas.py {" ".join(sys.argv[1:])}"\ncommit = "{commit}"\n'
          f'date = "{time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}"\ncores = {len(os.sched_getaffinity(0))}')
    with tempfile.TemporaryDirectory() as name:
        make_data(pathlib.Path(name))
        measure = measure_quotas if arguments.what == "quotas" else measure_forecasts
        measure(arguments.tool.resolve(), pathlib.Path(name), arguments)


if __name__ == "__main__":
    main()
