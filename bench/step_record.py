"""Turns the runs of bench/step.sh into a TOML record on the standard output.

Usage: python3 bench/step_record.py RUNS --command TEXT --commit TEXT --date TIME --gpus N --mode MODE
RUNS: one JSON object a line: program (ours or peer), workload, repeat, result.
"""
import argparse
import json
import os
import statistics
import subprocess


def smi(field):
    command = ["nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader"]
    try:
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ["unknown"]
    return [line.strip() for line in text.splitlines() if line.strip()]


def torch_version():
    try:
        import torch
    except (ImportError, OSError):  # absent, or without a library that it needs
        return "unknown"
    return torch.__version__


def step_ms(run):
    # The peer's free-running time, without a synchronisation a step, is the one like ours.
    return run["result"]["free_ms" if run["program"] == "peer" else "step_ms"]


def toml_value(value):
    return json.dumps(value, ensure_ascii=False)  # the same for strings, numbers and lists of them


def workload_lines(name, runs):
    ours = [step_ms(run) for run in runs if run["program"] == "ours"]
    peer = [step_ms(run) for run in runs if run["program"] == "peer"]
    yield f"[{name}]"
    yield f"ours_ms = {toml_value(ours)}"
    yield f"peer_ms = {toml_value(peer)}"
    yield f"ours_median_ms = {statistics.median(ours)}"
    yield f"peer_median_ms = {statistics.median(peer)}"
    yield f"speedup = {statistics.median(peer) / statistics.median(ours):.3f}  # peer / ours"
    yield ""
    for run in runs:
        fields = ", ".join(f"{key} = {toml_value(value)}" for key, value in run["result"].items())
        yield f"[[{name}.runs]]"
        yield f"program = {toml_value(run['program'])}"
        yield f"repeat = {run['repeat']}"
        yield f"result = {{{fields}}}"
        yield ""


def read_arguments(description, names):
    """The arguments of a record's program: RUNS, --gpus and the given ones; and the runs."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("runs")
    for name in names:
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--gpus", type=int, required=True)
    arguments = parser.parse_args()
    with open(arguments.runs, encoding="utf-8") as lines:
        return arguments, [json.loads(line) for line in lines]


def print_origin(arguments):
    """What was run, when, and on what."""
    print(f"command = {toml_value(arguments.command)}")
    print(f"commit = {toml_value(arguments.commit)}")
    print(f"date = {arguments.date}")
    print(f"machine = {toml_value(smi('name'))}")
    print(f"driver = {toml_value(smi('driver_version')[0])}")
    print(f"cores = {os.cpu_count()}")
    print(f"torch = {toml_value(torch_version())}")
    print(f"gpus = {arguments.gpus}")


def main():
    arguments, runs = read_arguments(__doc__.splitlines()[0], ("command", "commit", "date", "mode"))
    print("# A training step of ours beside PyTorch's, measured in turn; written by bench/step.sh.")
    print_origin(arguments)
    print(f"compared_with = {toml_value(f'bench/peers/step.py WORKLOAD {arguments.mode} --gpus {arguments.gpus}')}")
    print()
    for name in dict.fromkeys(run["workload"] for run in runs):
        print("\n".join(workload_lines(name, [run for run in runs if run["workload"] == name])))


if __name__ == "__main__":
    main()
