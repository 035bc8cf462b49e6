"""Turns the runs of bench/option_cost.sh into a TOML record on the standard output.

Usage: python3 bench/option_record.py RUNS --command TEXT --commit TEXT --date TIME --gpus N
RUNS: one JSON object a line: workload, variant, options, repeat, result.
"""
import statistics

from step_record import print_origin, read_arguments, toml_value


def medians(runs):
    step_ms = statistics.median(run["result"]["step_ms"] for run in runs)
    peak_gb = statistics.median(run["result"]["peak_gb"] for run in runs)
    return step_ms, peak_gb


def variant_lines(name, variant, runs, plain):
    step_ms, peak_gb = medians(runs)
    yield f"[{name}.{variant}]"
    yield f"options = {toml_value(runs[0]['options'])}"
    yield f"step_ms = {toml_value([run['result']['step_ms'] for run in runs])}"
    yield f"median_step_ms = {step_ms}"
    yield f"peak_gb = {peak_gb}"
    yield f"loss = {toml_value([run['result']['loss'] for run in runs])}"
    if variant != "plain":
        yield f"time = {step_ms / plain[0]:.3f}  # of plain"
        yield f"memory = {peak_gb / plain[1]:.3f}  # of plain"
    yield ""


def main():
    arguments, runs = read_arguments(__doc__.splitlines()[0], ("command", "commit", "date"))
    print("# A training step with options off and on, measured in turn.")
    print("# Written by bench/option_cost.sh.")
    print_origin(arguments)
    print()
    for name in dict.fromkeys(run["workload"] for run in runs):
        own = [run for run in runs if run["workload"] == name]
        plain = medians([run for run in own if run["variant"] == "plain"])
        for variant in dict.fromkeys(run["variant"] for run in own):
            print("\n".join(variant_lines(name, variant, [run for run in own if run["variant"] == variant], plain)))


if __name__ == "__main__":
    main()
