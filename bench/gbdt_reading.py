"""Rounds of reading a million minute bars and computing their features, by Lockstep and by pandas in turn, as TOML.

    gbdt_reading.py LOCKSTEP FOLDER [--bars 1000000] [--rounds 7] [--feature-set v2]
Seconds are of the processor: what else runs on the machine delays both, but is not counted. Lockstep's are those of the
whole program (`lockstep batch gbdt --dry-run` of one window, which reads the file, computes features and labels and looks for
rows), pandas' those of read_csv and the features alone, without Python's start and imports. pandas leaves the stamps as
texts, or parses them too. Ratios are of the two in one round.
"""
import argparse
import json
import pathlib
import resource
import statistics
import subprocess
import sys

PEERS = pathlib.Path(__file__).parent / "peers"
PEER = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
from gbdt_features import SETS, read
import pandas as pd
features = SETS[sys.argv[3]][1]
begin = time.process_time()
bars = read(sys.argv[2])
text_s = time.process_time() - begin
features(bars)
text_and_features_s = time.process_time() - begin
begin = time.process_time()
pd.to_datetime(bars.timestamp)
print(json.dumps({"read_s": text_s, "seconds": text_and_features_s, "dates_s": time.process_time() - begin,
                  "pandas": pd.__version__}))
"""


def write_bars(path, count):
    import numpy as np
    import pandas as pd
    generator = np.random.default_rng(7)
    close = 100 * np.exp(np.cumsum(generator.normal(0, 0.0005, count)))
    opened = close * np.exp(generator.normal(0, 0.0002, count))
    bars = pd.DataFrame({"timestamp": pd.date_range("2021-01-01", periods=count, freq="min"), "open": opened,
                         "high": np.maximum(opened, close) * 1.0003, "low": np.minimum(opened, close) * 0.9997,
                         "close": close, "volume": generator.integers(100, 90_000, count)})
    bars.to_csv(path, index=False)


def ours(asked, path):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([asked.lockstep, "batch", "gbdt", "--dry-run", f"data.path={path}", f"feature_set={asked.feature_set}",
                           "start=2021-02-01", "end=2021-02-15"], cwd=asked.folder, text=True, capture_output=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            "most_memory_mib": after.ru_maxrss / 1024}


def peer(asked, path):
    done = subprocess.run([sys.executable, "-c", PEER, str(PEERS), str(path), asked.feature_set], text=True, capture_output=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def table(name, values):
    print(f"\n[[{name}]]")
    for key, value in values.items():
        print(f"{key} = {json.dumps(value) if isinstance(value, str) else round(value, 4)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("lockstep", type=lambda word: str(pathlib.Path(word).absolute()))
    parser.add_argument("folder", type=lambda word: pathlib.Path(word).absolute())
    parser.add_argument("--bars", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--feature-set", choices=("v1", "v2"), default="v2")
    asked = parser.parse_args()
    path = asked.folder / "MINUTES.csv"
    write_bars(path, asked.bars)
    rounds = [(ours(asked, path), peer(asked, path)) for _ in range(asked.rounds)]
    texts = [mine["seconds"] / theirs["seconds"] for mine, theirs in rounds]
    dates = [mine["seconds"] / (theirs["seconds"] + theirs["dates_s"]) for mine, theirs in rounds]
    print(f"bars = {asked.bars}\nfeature_set = \"{asked.feature_set}\"\nfile_mib = {path.stat().st_size / 2**20:.1f}")
    for name, ratios in (("over_pandas", texts), ("over_pandas_with_dates", dates)):
        print(f"{name} = {statistics.median(ratios):.3f}  # {min(ratios):.3f} to {max(ratios):.3f} in {len(ratios)} rounds")
    for mine, theirs in rounds:
        table("lockstep", mine)
        table("pandas", theirs)


main()
