"""Python's lightgbm opens a model that the gbdt recipe saved, and predicts what the recipe did, from features by pandas:
of both sets of features. Those of v2 are the same where the file begins later, and the golden files of the unit tests are
what pandas computes here.

Usage: gbdt_model_test.py LOCKSTEP PEERS GOLDEN. Exits 77, saying why, where Python lacks lightgbm or pandas.
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


def train(lockstep, folder, name, *words):
    run = subprocess.run(
        [lockstep, "train", "gbdt", "--name", name, "data.path=AB.csv", "start=2018-06-01", "end=2020-01-01", "num_leaves=31",
         "n_estimators=80", "early_stopping=0", *words], cwd=folder, text=True, capture_output=True)
    if run.returncode != 0 and "lib_lightgbm.so" in run.stderr:
        print("skipped: Lockstep has no LightGBM")
        sys.exit(77)
    assert run.returncode == 0, run.stderr
    return folder / "runs" / name


def predicts_as_lightgbm(result, bars, names, features):
    model = lightgbm.Booster(model_file=result / "model.txt")
    assert model.num_trees() == 80 == json.loads((result / "metadata.json").read_text())["model"]["trees"]
    assert model.feature_name() == names
    table = features(bars).set_index(bars.timestamp)
    ours = pd.read_csv(result / "predictions.csv").set_index("timestamp")
    assert len(ours) > 300 and ours.probability.std() > 0.01
    theirs = model.predict(table.loc[ours.index, names].to_numpy())
    worst = np.abs(theirs - ours.probability.to_numpy()).max()
    assert worst <= 1e-12, worst
    print(f"{result.name}: {len(ours)} predictions, largest difference {worst}")


def later(lockstep, folder, name):
    """Probabilities by day, of the whole file and of one that begins after the window, and what is said of the latter."""
    lines = (folder / "AB.csv").read_text().splitlines(keepends=True)
    (folder / "later").mkdir(exist_ok=True)
    (folder / "later/AB.csv").write_text("".join(lines[:1] + lines[530:]))  # 2020-01-10
    found = []
    for data, out in (("AB.csv", "all.csv"), ("later/AB.csv", "later.csv")):
        run = subprocess.run([lockstep, "predict", name, f"data.path={data}", f"out={name}-{out}"], cwd=folder, text=True,
                             capture_output=True)
        assert run.returncode == 0, run.stderr
        found.append(pd.read_csv(folder / f"{name}-{out}", dtype=str).set_index("timestamp").probability)
    assert len(found[0]) > len(found[1]) > 200
    return found[0][found[1].index], found[1], run.stderr


def main():
    lockstep, peers, golden = (str(pathlib.Path(word).absolute()) for word in sys.argv[1:4])
    sys.path.insert(0, peers)
    from gbdt_features import SETS, features_v2, read, slowly_v2
    bars = read(pathlib.Path(golden) / "golden_bars.csv")
    for name, computed in (("", SETS["v1"][1](bars)), ("_v2", slowly_v2(bars)), ("_v2", features_v2(bars))):
        kept = pd.read_csv(pathlib.Path(golden) / f"golden_features{name}.csv")
        np.testing.assert_allclose(computed.to_numpy(), kept.to_numpy(), rtol=1e-9)
        assert list(computed.columns) == list(kept.columns)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_prices(folder / "AB.csv", 900)
        bars = pd.read_csv(folder / "AB.csv", float_precision="round_trip")
        for version, (names, features) in SETS.items():
            words = [] if version == "v2" else [f"feature_set={version}"]
            predicts_as_lightgbm(train(lockstep, folder, version, *words), bars, names, features)
        whole, begun_later, said = later(lockstep, folder, "v2")
        assert (whole == begun_later).all(), "v2 depends on where the file begins"
        assert "predictions of the test differ" not in said, said
        whole, begun_later, said = later(lockstep, folder, "v1")
        assert (whole != begun_later).any() and "predictions of the test differ" in said, said


main()
