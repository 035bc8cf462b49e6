"""Python's lightgbm opens a model that the gbdt recipe saved, and predicts what the recipe did, from features by pandas.

Usage: gbdt_model_test.py LOCKSTEP PEERS. Exits 77, saying why, where Python lacks lightgbm or pandas.
"""
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

for module in ("numpy", "pandas", "lightgbm"):
    if importlib.util.find_spec(module) is None:
        print(f"skipped: python3 has no {module}")
        sys.exit(77)

import lightgbm
import numpy as np
import pandas as pd


def write_prices(path, days):
    """A random walk on weekdays."""
    generator = np.random.default_rng(4)
    close = 100 * np.exp(np.cumsum(generator.normal(0, 0.015, days)))
    opened = close * np.exp(generator.normal(0, 0.005, days))
    bars = pd.DataFrame({
        "timestamp": pd.bdate_range("2018-01-01", periods=days).strftime("%Y-%m-%d"), "open": opened,
        "high": np.maximum(opened, close) * 1.01, "low": np.minimum(opened, close) * 0.99, "close": close,
        "volume": generator.integers(1000, 100000, days)})
    bars.to_csv(path, index=False)


def main():
    lockstep, peers = (str(pathlib.Path(word).absolute()) for word in sys.argv[1:3])
    sys.path.insert(0, peers)
    from gbdt_features import NAMES, features
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_prices(folder / "AB.csv", 900)
        run = subprocess.run(
            [lockstep, "train", "gbdt", "--name", "g", "data.path=AB.csv", "start=2018-06-01", "end=2020-01-01",
             "num_leaves=31", "n_estimators=80", "early_stopping=0"], cwd=folder, text=True, capture_output=True)
        if run.returncode != 0 and "lib_lightgbm.so" in run.stderr:
            print("skipped: Lockstep has no LightGBM")
            sys.exit(77)
        assert run.returncode == 0, run.stderr
        result = folder / "runs/g"
        model = lightgbm.Booster(model_file=result / "model.txt")
        assert model.num_trees() == 80 == json.loads((result / "metadata.json").read_text())["model"]["trees"]
        assert model.feature_name() == NAMES
        bars = pd.read_csv(folder / "AB.csv", float_precision="round_trip")
        table = features(bars).set_index(bars.timestamp)
        ours = pd.read_csv(result / "predictions.csv").set_index("timestamp")
        assert len(ours) > 300 and ours.probability.std() > 0.01
        theirs = model.predict(table.loc[ours.index, NAMES].to_numpy())
        worst = np.abs(theirs - ours.probability.to_numpy()).max()
        assert worst <= 1e-12, worst
    print(f"{len(ours)} predictions, largest difference {worst}")


main()
