"""Turns the runs of bench/memory.sh into a TOML record on the standard output.

Usage: python3 bench/memory_record.py RUNS --command TEXT --commit TEXT --date TIME --gpus N
       python3 bench/memory_record.py --read ROOT
RUNS: one JSON object a line: preset, vocab, micro, precision, recompute, result.
ROOT: a folder with one run; prints what its plan says and what its ranks used, as one JSON line.
"""
import json
import pathlib
import sys

from read_run import step_events
from step_record import print_origin, read_arguments, toml_value


def gb(count):
    return round(count / 1e9, 3)


def read_memory(root):
    runs = [path.parent for path in pathlib.Path(root).glob("*/run.json")]
    if len(runs) != 1:
        raise SystemExit(f"error: {root} holds {len(runs)} runs, not one")
    with open(runs[0] / "run.json", encoding="utf-8") as file:
        memory = json.load(file)["plan"]["memory"]
    ranks = [rank for event in step_events(runs[0]) for rank in event["memory"]]
    return {
        "estimate_gb": gb(memory["needed_bytes"]),
        "fixed_gb": gb(memory["fixed_bytes"]),
        "peak_gb": gb(max(rank["peak"] for rank in ranks)),
        "reserved_gb": gb(max(rank["reserved"] for rank in ranks)),
    }


def case_lines(run):
    result = run["result"]
    yield "[[cases]]"
    for key in ("preset", "vocab", "micro", "precision", "recompute"):
        yield f"{key} = {toml_value(run[key])}"
    for key, value in result.items():
        yield f"{key} = {toml_value(value)}"
    if "peak_gb" in result:
        yield f"estimate_over_peak = {result['estimate_gb'] / result['peak_gb']:.3f}"
    yield ""


def main():
    if sys.argv[1:2] == ["--read"]:
        print(json.dumps(read_memory(sys.argv[2])))
        return
    arguments, runs = read_arguments(__doc__.splitlines()[0], ("command", "commit", "date"))
    print("# What the plan says that a rank needs beside the most that it had allocated, and what")
    print("# the allocator held of the GPU then. Written by bench/memory.sh.")
    print_origin(arguments)
    print()
    for run in runs:
        print("\n".join(case_lines(run)))


if __name__ == "__main__":
    main()
