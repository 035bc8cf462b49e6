"""Rounds of the same windows by Lockstep and by two Python programs, one after the other, as TOML.

    gbdt_pairs.py LOCKSTEP DATA FOLDER [--rounds 5] [--slots 2] [--stride 24] [--start 2015-04-01]
Times are of whole programs, from start to end. Ratios are of the two in one round, so that what drifts meets both.
"""
import argparse
import csv
import json
import pathlib
import statistics
import subprocess
import sys
import time

PEER = pathlib.Path(__file__).parent / "peers/gbdt_windows.py"


def timed(command, folder):
    folder.mkdir(parents=True)  # a new one each time: a file system takes longer where it has just deleted
    started = time.perf_counter()
    result = subprocess.run(command, cwd=folder, text=True, capture_output=True)
    seconds = time.perf_counter() - started
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}:\n{result.stderr}")
    return seconds, result.stdout


def ours(asked, folder):
    command = [asked.lockstep, "batch", "gbdt", "--name", "g", "--slots", str(asked.slots), f"data.path={asked.data}",
               f"start={asked.start}", f"stride_days={asked.stride}", "test=full"]
    seconds, _ = timed(command, folder)
    with open(folder / "runs/g/windows.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    total = lambda name: sum(float(row[name] or 0) for row in rows)
    scores = [float(row["auc"]) for row in rows if row["auc"]]
    work = total("features_s") + total("training_s") + total("prediction_s")
    return {"seconds": seconds, "windows": sum(row["status"] == "success" for row in rows), "trees": int(total("trees")),
            "mean_auc": statistics.fmean(scores), "features_s": total("features_s"),
            "lightgbm_s": total("training_s") + total("prediction_s"), "over_work": seconds * asked.slots / work}


def peer(asked, folder, features):
    seconds, printed = timed([sys.executable, str(PEER), asked.data, str(folder / "out"), "--features", features,
                              "--workers", str(asked.slots), "--stride", str(asked.stride), "--start", asked.start],
                             folder)
    found = json.loads(printed)
    return {"seconds": seconds, **{key: found[key] for key in ("windows", "trees", "mean_auc", "lightgbm", "pandas")}}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("lockstep", type=lambda word: str(pathlib.Path(word).absolute()))
    parser.add_argument("data", type=lambda word: str(pathlib.Path(word).absolute()))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--stride", type=int, default=24)
    parser.add_argument("--start", default="2015-04-01")
    asked = parser.parse_args()
    rounds = []
    for number in range(asked.rounds):
        folder = asked.folder / str(number)
        rounds.append({"lockstep": ours(asked, folder / "ours"),
                       "features_by_symbol": peer(asked, folder / "by_symbol", "symbol"),
                       "features_by_window": peer(asked, folder / "by_window", "window")})
    counts = {one[kind]["windows"] for one in rounds for kind in one}
    if len(counts) != 1:
        sys.exit(f"the programs differ in their windows: {counts}")
    first = rounds[0]
    print(f"slots = {asked.slots}\nwindows = {first['lockstep']['windows']}\n"
          "# Trees differ a little: features differ in their last digits, so some values fall into other bins.")
    print(f"largest_difference_of_mean_auc = "
          f"{max(abs(one[kind]['mean_auc'] - first['lockstep']['mean_auc']) for one in rounds for kind in one):.2e}")
    median = lambda values: statistics.median(values)
    print(f"windows_per_minute = {median([60 * one['lockstep']['windows'] / one['lockstep']['seconds'] for one in rounds]):.0f}")
    for kind in ("features_by_symbol", "features_by_window"):
        ratios = [one[kind]["seconds"] / one["lockstep"]["seconds"] for one in rounds]
        print(f"over_{kind} = {median(ratios):.3f}  # {min(ratios):.3f} to {max(ratios):.3f} in {len(ratios)} rounds")
    ratios = [one["lockstep"]["over_work"] for one in rounds]
    print("# Wall time over (features + LightGBM) / slots:")
    print(f"over_work = {median(ratios):.3f}  # {min(ratios):.3f} to {max(ratios):.3f}")
    for one in rounds:
        for kind, values in one.items():
            print(f"\n[[{kind}]]")
            for key, value in values.items():
                print(f"{key} = {json.dumps(round(value, 6) if isinstance(value, float) else value)}")


if __name__ == "__main__":
    main()
