"""Reads the speed of a run from its events.jsonl.

Usage: python3 bench/read_run.py RUN_DIR [--after STEP]
Prints one JSON line: the median time of a step after STEP steps of warm-up, and what goes with it.
"""
import argparse
import json
import pathlib
import statistics


def read_events(run_dir):
    with open(pathlib.Path(run_dir) / "events.jsonl", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def step_events(run_dir):
    return [event for event in read_events(run_dir) if event.get("kind") == "step"]


def read_speed(run_dir, after):
    events = step_events(run_dir)
    end = next((event for event in read_events(run_dir) if event.get("kind") == "end"), {})
    # A logged event covers the steps since the one before it, so its predecessor must be warm too.
    warm = [event for last, event in zip(events, events[1:]) if last["step"] >= after]
    if len(warm) < 3:
        raise SystemExit(f"error: {run_dir} logged {len(warm)} times after step {after}; needs 3")
    peak = max(rank["peak"] for rank in warm[-1]["memory"])
    return {
        "step_ms": round(1e3 * statistics.median(event["step_s"] for event in warm), 3),
        "per_s": round(statistics.median(event["units_per_s"] for event in warm), 1),
        "peak_gb": round(peak / 1e9, 3),
        "run_per_s": round(end.get("units_per_s") or 0, 1),  # with what it read for the first time
        "loss": warm[-1]["loss"],
        "data_share": round(statistics.median(event["data_share"] for event in warm), 4),
        "windows": len(warm),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run_dir")
    parser.add_argument("--after", type=int, default=40, help="steps of warm-up left out")
    arguments = parser.parse_args()
    print(json.dumps(read_speed(arguments.run_dir, arguments.after)))


if __name__ == "__main__":
    main()
