"""Turns runs, one JSON object per line, into a TOML record on the standard output: medians of each program, then every run.

Usage: python3 bench/runs_record.py RUNS --command TEXT --commit TEXT --date TIME --gpus N
RUNS: program, repeat and result, an object of numbers and words.
"""
import statistics

from step_record import print_origin, read_arguments, toml_value


def median_lines(runs):
    for program in dict.fromkeys(run["program"] for run in runs):
        results = [run["result"] for run in runs if run["program"] == program]
        for key in ("free_ms", "step_ms"):  # where steps ran freely, that
            if all(key in result for result in results):
                yield f"{program}_ms = {statistics.median(result[key] for result in results)}"
                break
        for key in ("peak_gb", "mem_gb"):
            if all(key in result for result in results):
                yield f"{program}_gb = {max(result[key] for result in results)}"


def run_lines(runs):
    for run in runs:
        yield f"\n[[run]]\nprogram = {toml_value(run['program'])}\nrepeat = {run['repeat']}"
        for key, value in run["result"].items():
            yield f"{key} = {toml_value(value)}"


def main():
    arguments, runs = read_arguments(__doc__.splitlines()[0], ("command", "commit", "date"))
    print_origin(arguments)
    for line in [*median_lines(runs), *run_lines(runs)]:
        print(line)


if __name__ == "__main__":
    main()
