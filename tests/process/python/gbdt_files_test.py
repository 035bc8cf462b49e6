"""Price files and tables as pandas, yfinance and exchanges write them: the gbdt recipe reads what pandas reads.

Usage: gbdt_files_test.py DUMP_BARS. Exits 77, saying why, where Python lacks pandas.
"""
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

for module in ("numpy", "pandas"):
    if importlib.util.find_spec(module) is None:
        print(f"skipped: python3 has no {module}")
        sys.exit(77)

import numpy as np
import pandas as pd

FIELDS = ["Open", "High", "Low", "Close", "Volume"]
PROGRAM = pathlib.Path(sys.argv[1]).absolute()


def walk(rows=90, seed=1, index=None):
    """Prices with all digits of a double, by day."""
    generator = np.random.default_rng(seed)
    close = 1000 * np.exp(np.cumsum(generator.normal(0, 0.015, rows)))
    index = pd.bdate_range("2021-01-04", periods=rows, name="Date") if index is None else index
    return pd.DataFrame({"Open": close * 1.001, "High": close * 1.01, "Low": close * 0.99, "Close": close,
                         "Volume": generator.integers(1, 5_000_000, rows)}, index=index)


def dump(path, *words, code=0):
    done = subprocess.run([PROGRAM, path, *words], text=True, capture_output=True, check=False)
    assert done.returncode == code, (path.name, done.stdout[:300], done.stderr)
    return json.loads(done.stdout) if code == 0 else done.stderr


def same(path, frame, *words, fields=tuple(FIELDS)):
    """What is read of the file is the frame: to the bit, with its days."""
    read = dump(path, *words)
    assert read["days"] == [day.strftime("%Y-%m-%d") for day in frame.index], path.name
    for field in fields:
        ours = np.array(read[field.lower()], dtype=float)
        assert np.array_equal(ours, frame[field].to_numpy(dtype=float)), (path.name, field)
    return read


def by_pandas(path, **how):
    """The file as pandas reads it, its numbers correctly rounded."""
    return pd.read_csv(path, float_precision="round_trip", **how)


def indexes(folder):
    walk().to_csv(folder / "named.csv")
    same(folder / "named.csv", by_pandas(folder / "named.csv", index_col=0, parse_dates=True))
    walk().reset_index().to_csv(folder / "numbered.csv")
    same(folder / "numbered.csv", by_pandas(folder / "numbered.csv", index_col=0, parse_dates=["Date"]).set_index("Date"))
    by_pandas(folder / "numbered.csv").to_csv(folder / "unnamed.csv", index=False)
    assert (folder / "unnamed.csv").read_text().startswith("Unnamed: 0,")
    same(folder / "unnamed.csv", walk())
    walk().rename_axis(None).to_csv(folder / "nameless.csv")
    same(folder / "nameless.csv", by_pandas(folder / "nameless.csv", index_col=0, parse_dates=True))


def yfinance(folder):
    """yfinance 0.2.51 to 1.0 give columns of two levels, Price and Ticker; to_csv writes three lines."""
    both = pd.concat({"AAPL": walk(seed=1), "MSFT": walk(seed=2)}, axis=1, names=["Ticker", "Price"])
    for order in ("price", "ticker"):
        frame = both.swaplevel(axis=1).sort_index(axis=1) if order == "price" else both
        path = folder / f"{order}_first.csv"
        frame.to_csv(path)
        table = by_pandas(path, header=[0, 1], index_col=0, parse_dates=True)
        for ticker in ("AAPL", "MSFT"):
            same(path, table.xs(ticker, axis=1, level="Ticker"), f"symbol={ticker}")
            one = folder / f"{order}_{ticker}.csv"
            frame.xs(ticker, axis=1, level="Ticker", drop_level=False).to_csv(one)
            same(one, table.xs(ticker, axis=1, level="Ticker"))
    assert "2 tickers, AAPL, MSFT" in dump(folder / "price_first.csv", "symbol=X", code=1)


def symbols(folder):
    path = folder / "all.csv"
    together = pd.concat([walk(seed=seed).assign(Name=f"S{seed}") for seed in range(3)])
    for frame in (together, together.sort_index(kind="stable")):
        frame.to_csv(path)
        table = by_pandas(path, index_col=0, parse_dates=True)
        for name, rows in table.groupby("Name"):
            same(path, rows, f"symbol={name}", "symbol_column=Name")
        assert "symbol_column=Name" in dump(path, code=1)


def dates(folder):
    for number, (written, how) in enumerate([
            ("%d-%b-%Y", {"date_format": "%d-%b-%Y"}), ("%b %d, %Y", {}), ("%Y.%m.%d", {}), ("%Y%m%d", {}),
            ("%Y%m%d %H%M%S", {}), ("%d/%m/%Y", {"dayfirst": True}), ("%m/%d/%Y", {}), ("%d.%m.%Y", {"dayfirst": True}),
            ("%m/%d/%Y %I:%M %p", {}), ("%Y-%m-%dT%H:%M:%SZ", {}), ("%Y-%m-%d %H:%M:%S+05:30", {}),
            ("%Y-%m-%d %H:%M:%S.%f", {})]):
        path = folder / f"date{number}.csv"
        frame = walk()
        frame.index = frame.index.strftime(written)
        frame.to_csv(path, sep=";")
        same(path, by_pandas(path, sep=";", index_col=0, parse_dates=True, **how))
    times = pd.date_range("2021-01-04", periods=200, freq="7h")
    for unit in ("s", "ms", "us", "ns"):
        path = folder / f"{unit}.csv"
        walk(200, index=pd.Index(times.as_unit(unit).astype("int64"), name="timestamp")).to_csv(path)
        table = by_pandas(path)
        same(path, table.set_index(pd.to_datetime(table.timestamp, unit=unit)))
    short = walk(9)
    short.index = short.index.strftime("%d/%m/%Y")
    short = short[[int(day[:2]) < 13 for day in short.index]]
    short.to_csv(folder / "short.csv")
    assert "date_order=dmy" in dump(folder / "short.csv", code=1)
    for order, first in (("dmy", True), ("mdy", False)):
        table = by_pandas(folder / "short.csv", index_col=0, parse_dates=True, dayfirst=first)
        if table.index.is_monotonic_increasing:
            same(folder / "short.csv", table, f"date_order={order}")
    path = folder / "newest.csv"
    walk().iloc[::-1].to_csv(path)
    assert any("newest" in note for note in same(path, by_pandas(path, index_col=0, parse_dates=True).iloc[::-1])["notes"])


def exchanges(folder):
    nse = walk().iloc[::-1]
    grouped = nse.map(lambda value: f"{value:,.2f}").assign(Volume=[f"{value:,}" for value in nse.Volume])
    grouped.index = nse.index.strftime("%d-%b-%Y")
    path = folder / "nse.csv"
    grouped.to_csv(path, encoding="utf-8-sig", quoting=1)
    same(path, by_pandas(path, index_col=0, parse_dates=True, date_format="%d-%b-%Y", thousands=",").iloc[::-1])
    klines = walk(100, index=pd.date_range("2021-01-04", periods=100, freq="h"))
    opened = klines.index.as_unit("ms").astype("int64")
    path = folder / "klines.csv"
    columns = {"time": opened, **klines.to_dict("list"), "closed": opened + 3_599_999}
    pd.DataFrame(columns).assign(**dict.fromkeys("abcde", 1)).to_csv(path, index=False, header=False)
    table = by_pandas(path, header=None, names=["time", *FIELDS, *"abcdef"])
    same(path, table.set_index(pd.to_datetime(table.time, unit="ms")))
    path = folder / "title.csv"
    path.write_text("https://www.example.com\n" + walk().to_csv())
    same(path, by_pandas(path, skiprows=1, index_col=0, parse_dates=True))
    walk().to_csv(folder / "utf16.csv", encoding="utf-16")
    same(folder / "utf16.csv", by_pandas(folder / "utf16.csv", encoding="utf-16", index_col=0, parse_dates=True))
    walk().drop(columns="Volume").to_csv(folder / "none.csv")
    assert not same(folder / "none.csv", walk(), fields=FIELDS[:4])["has_volume"]


def cells(folder):
    """Own columns: what to_csv writes of each kind, and every word that read_csv takes for missing."""
    words = ["", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A",
             "NA", "NULL", "NaN", "None", "n/a", "nan", "null"]
    rows = len(words)
    frame = pd.DataFrame({"flag": [True, False] * (rows // 2) + [True], "number": np.linspace(-1e300, 1e-300, rows),
                          "odd": ["inf", "-inf", "1e-400", "-1e-400", "Infinity", "+1.5", " 2", "1E5"] + ["7"] * (rows - 8),
                          "gap": ["1"] * rows, "y": [0, 1] * (rows // 2) + [0]})
    frame.loc[frame.index[1::2], "gap"] = words[1::2]
    path = folder / "table.csv"
    frame.to_csv(path)
    table = by_pandas(path, index_col=0)
    assert table.dtypes.astype(str).tolist() == ["bool", "float64", "float64", "float64", "int64"], table.dtypes
    read = dump(path, "features=*", "label=y")
    assert read["names"] == ["flag", "number", "odd", "gap"]
    ours = np.array(read["own"], dtype=float).reshape(rows, 4)
    theirs = table[read["names"]].to_numpy(dtype=float)
    assert np.array_equal(ours, theirs, equal_nan=True), np.argwhere(ours != theirs)
    assert np.array_equal(np.array(read["labels"], dtype=float), table.y)


def main():
    with tempfile.TemporaryDirectory() as name:
        for kind in (indexes, yfinance, symbols, dates, exchanges, cells):
            folder = pathlib.Path(name) / kind.__name__
            folder.mkdir()
            kind(folder)
    print(f"pandas {pd.__version__}: the same numbers and days")


main()
