"""Windows of LightGBM teachers as a careful Python program trains them: pandas, lightgbm and ProcessPoolExecutor.

    gbdt_windows.py DATA OUT --features symbol|window --workers N [--stride 24] [--start 2015-04-01]
Features are computed once for each symbol and kept by its worker, or again for each window. Rows, labels, embargo,
parameters and files are those of `lockstep batch gbdt`. Prints a line of JSON.
"""
import argparse
import concurrent.futures
import datetime
import functools
import gzip
import json
import os
import pathlib
import time

import lightgbm
import numpy as np
import pandas as pd

from gbdt_features import NAMES_V2 as NAMES, features_v2 as features

DAY = datetime.timedelta(days=1)
PARAMETERS = {
    "objective": "binary", "metric": "binary_logloss", "num_leaves": 127, "max_depth": 9, "learning_rate": 0.01,
    "min_child_samples": 20, "subsample": 0.8, "subsample_freq": 1, "colsample_bytree": 0.8, "is_unbalance": True,
    "seed": 42, "num_threads": 1, "verbosity": -1,
}


def table(data, symbol, horizon):
    started = time.perf_counter()
    bars = pd.read_csv(pathlib.Path(data) / f"{symbol}.csv", parse_dates=["timestamp"])
    out = features(bars)
    out["timestamp"] = bars.timestamp
    out["close"] = bars.close
    out["forward_return"] = bars.close.shift(-horizon) / bars.close - 1
    out["label"] = (out.forward_return > 0.02).astype(int)
    return out, time.perf_counter() - started


kept = functools.lru_cache(maxsize=64)(table)


def auc(labels, scores):
    ranks = pd.Series(scores).rank().to_numpy()
    positive = labels == 1
    m, n = positive.sum(), (~positive).sum()
    return float((ranks[positive].sum() - m * (m + 1) / 2) / (m * n)) if m and n else None


def split(rows, start, end, horizon):
    """Training, validation and test, an embargo of the horizon between them."""
    day = rows.timestamp
    usable = rows[NAMES + ["forward_return"]].notna().all(axis=1)
    index = np.arange(len(rows))
    end_bar = int(np.searchsorted(day.to_numpy(), np.datetime64(end)))
    inside = index[(day >= start) & (day < end) & usable]
    inside = inside[inside + horizon < end_bar]
    valid = inside[len(inside) - round(0.2 * len(inside)):]
    train = inside[inside + horizon < valid[0]]
    test = index[(day >= end) & (day < end + (end - start)) & usable]
    return train, valid, test


def train_window(data, out, mode, symbol, start, end, horizon):
    rows, seconds = (kept if mode == "symbol" else table)(data, symbol, horizon)
    train, valid, test = split(rows, pd.Timestamp(start), pd.Timestamp(end), horizon)
    values, labels = rows[NAMES].to_numpy(), rows.label.to_numpy()
    train_set = lightgbm.Dataset(values[train], labels[train], feature_name=NAMES)
    valid_set = lightgbm.Dataset(values[valid], labels[valid], reference=train_set)
    model = lightgbm.train(PARAMETERS, train_set, num_boost_round=500, valid_sets=[valid_set],
                           callbacks=[lightgbm.early_stopping(50, verbose=False)])
    scores = model.predict(values[test], num_iteration=model.best_iteration)
    folder = pathlib.Path(out) / f"{symbol}_{start}_to_{end}"
    folder.mkdir(parents=True, exist_ok=True)
    model.save_model(folder / "model.txt", num_iteration=model.best_iteration)
    used = rows.iloc[np.concatenate([train, valid, test])]
    with gzip.open(folder / "labels.csv.gz", "wt", compresslevel=6) as file:
        used[["timestamp", "close", "forward_return", "label"]].to_csv(file, index=False)
    pd.DataFrame({"timestamp": rows.timestamp[test], "label": labels[test], "probability": scores}).to_csv(
        folder / "predictions.csv", index=False)
    pd.DataFrame({"feature": NAMES, "importance": model.feature_importance()}).sort_values(
        "importance", ascending=False).to_csv(folder / "feature_importance.csv", index=False)
    record = {"symbol": symbol, "start": start, "end": end, "train": len(train), "valid": len(valid), "test": len(test),
              "trees": model.best_iteration, "auc": auc(labels[test], scores),
              "accuracy": float(((scores > 0.5) == labels[test]).mean()), "features_s": seconds}
    (folder / "metadata.json").write_text(json.dumps(record))
    return record


def windows(data, symbol, first, days, stride):
    last = pd.read_csv(pathlib.Path(data) / f"{symbol}.csv", usecols=["timestamp"]).timestamp.iloc[-1]
    last = datetime.date.fromisoformat(last) + 4 * DAY
    start = first
    while start + 2 * days * DAY <= last:
        yield start.isoformat(), (start + days * DAY).isoformat()
        start += stride * DAY


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("out")
    parser.add_argument("--features", choices=["symbol", "window"], default="symbol")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--start", type=datetime.date.fromisoformat, default=datetime.date(2015, 4, 1))
    parser.add_argument("--days", type=int, default=180)
    parser.add_argument("--stride", type=int, default=24)
    parser.add_argument("--horizon", type=int, default=7)
    asked = parser.parse_args()
    symbols = sorted(path.stem for path in pathlib.Path(asked.data).glob("*.csv"))
    started = time.perf_counter()
    with concurrent.futures.ProcessPoolExecutor(asked.workers) as pool:
        jobs = [pool.submit(train_window, asked.data, asked.out, asked.features, symbol, *window, asked.horizon)
                for symbol in symbols for window in windows(asked.data, symbol, asked.start, asked.days, asked.stride)]
        records = [job.result() for job in jobs]
    seconds = time.perf_counter() - started
    scores = [record["auc"] for record in records if record["auc"] is not None]
    print(json.dumps({"features": asked.features, "workers": asked.workers, "windows": len(records), "seconds": seconds,
                      "per_minute": 60 * len(records) / seconds, "mean_auc": sum(scores) / len(scores),
                      "trees": sum(record["trees"] for record in records), "lightgbm": lightgbm.__version__,
                      "pandas": pd.__version__}))


if __name__ == "__main__":
    main()
