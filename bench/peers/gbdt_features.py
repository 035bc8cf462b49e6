"""The fifteen features of the recipe gbdt by pandas: feature_set=v1, and v2.

    gbdt_features.py PRICES.csv OUT.csv [v1|v2]         features of a price file, a row per bar
    gbdt_features.py --golden FOLDER                    made prices and their features, which unit tests read
Numbers are written with 17 digits, missing ones as nan.
"""
import pathlib
import sys

import numpy as np
import pandas as pd

NAMES = ["sma_20", "sma_50", "ema_12", "ema_26", "rsi_14", "atr_14", "vwap", "bb_upper", "bb_middle", "bb_lower",
         "macd", "macd_signal", "macd_hist", "adx_14", "obv"]
NAMES_V2 = [{"vwap": "vwap_20", "obv": "obv_20"}.get(name, name) for name in NAMES]
LOOKBACK = 61  # bars of a row of v2


def features(bars):
    """v1: a frame with a column per feature; bars has open, high, low, close, volume."""
    high, low, close, volume = bars.high, bars.low, bars.close, bars.volume
    out = pd.DataFrame(index=bars.index)
    out["sma_20"] = close.rolling(20).mean()
    out["sma_50"] = close.rolling(50).mean()
    out["ema_12"] = close.ewm(span=12, adjust=False).mean()
    out["ema_26"] = close.ewm(span=26, adjust=False).mean()
    change = close.diff()
    gain = change.where(change > 0, 0.0).rolling(14).mean()
    loss = (-change.where(change < 0, 0.0)).rolling(14).mean()
    out["rsi_14"] = 100 - 100 / (1 + gain / loss)
    ranges = pd.concat([high - low, (high - close.shift()).abs(), (low - close.shift()).abs()], axis=1)
    out["atr_14"] = ranges.max(axis=1).rolling(14).mean()
    typical = (high + low + close) / 3
    out["vwap"] = (typical * volume).cumsum() / volume.cumsum()
    deviation = close.rolling(20).std()
    out["bb_upper"] = out.sma_20 + 2 * deviation
    out["bb_middle"] = out.sma_20
    out["bb_lower"] = out.sma_20 - 2 * deviation
    out["macd"] = out.ema_12 - out.ema_26
    out["macd_signal"] = out.macd.ewm(span=9, adjust=False).mean()
    out["macd_hist"] = out.macd - out.macd_signal
    up, down = high.diff(), -low.diff()
    plus = up.where((up > down) & (up > 0), 0.0).rolling(14).sum() / out.atr_14 * 100
    minus = down.where((down > up) & (down > 0), 0.0).rolling(14).sum() / out.atr_14 * 100
    out["adx_14"] = (100 * (plus - minus).abs() / (plus + minus)).rolling(14).mean()
    out["obv"] = (np.sign(change) * volume).fillna(0).cumsum()
    return out[NAMES]


def last_row_v2(bars):
    """v2 of the last of these 61 bars, as pandas has it of a file that holds them alone."""
    out = features(bars).iloc[-1].rename({"vwap": "vwap_20", "obv": "obv_20"})
    fast, slow = (bars.close.ewm(span=span).mean() for span in (12, 26))
    macd = fast - slow
    signal = macd.ewm(span=9).mean()
    out["ema_12"], out["ema_26"], out["macd"], out["macd_signal"] = (x.iloc[-1] for x in (fast, slow, macd, signal))
    out["macd_hist"] = out["macd"] - out["macd_signal"]
    last = bars.iloc[-20:]
    out["vwap_20"] = ((last.high + last.low + last.close) / 3 * last.volume).sum() / last.volume.sum()
    out["obv_20"] = (np.sign(bars.close.diff()) * bars.volume).iloc[-20:].sum()
    return out[NAMES_V2]


def slowly_v2(bars):
    """v2 from one slice of bars after the other."""
    rows = [last_row_v2(bars.iloc[t + 1 - LOOKBACK:t + 1]) for t in range(LOOKBACK - 1, len(bars))]
    return pd.DataFrame(rows, columns=NAMES_V2).reindex(bars.index)


def features_v2(bars):
    """The same of all bars at once."""
    out = features(bars).rename(columns={"vwap": "vwap_20", "obv": "obv_20"})
    close, volume = bars.close, bars.volume
    slices = np.lib.stride_tricks.sliding_window_view(close.to_numpy(), LOOKBACK)
    steps = np.eye(LOOKBACK)  # the mean of each unit vector is what its place weighs
    weights = {span: pd.DataFrame(steps).ewm(span=span).mean() for span in (12, 26)}
    weights[9] = (weights[12] - weights[26]).ewm(span=9).mean()
    means = {span: np.full(len(bars), np.nan) for span in weights}
    for span, table in weights.items():
        means[span][LOOKBACK - 1:] = slices @ table.iloc[-1].to_numpy()
    out["ema_12"], out["ema_26"], out["macd_signal"] = means[12], means[26], means[9]
    out["macd"] = out.ema_12 - out.ema_26
    out["macd_hist"] = out.macd - out.macd_signal
    out["vwap_20"] = ((bars.high + bars.low + close) / 3 * volume).rolling(20).sum() / volume.rolling(20).sum()
    out["obv_20"] = (np.sign(close.diff()) * volume).rolling(20).sum()
    out.iloc[:LOOKBACK - 1] = np.nan
    return out[NAMES_V2]


SETS = {"v1": (NAMES, features), "v2": (NAMES_V2, features_v2)}


def read(path):
    bars = pd.read_csv(path)
    bars.columns = [name.strip().lower() for name in bars.columns]
    return bars.astype({name: float for name in ("open", "high", "low", "close", "volume")})


def write(frame, path):
    frame.to_csv(path, index=False, float_format="%.17g", na_rep="nan")


def golden(folder):
    """Prices with plateaus, jumps and a first bar without volume."""
    generator = np.random.default_rng(22)
    moves = generator.normal(0, 0.02, 130)
    moves[60:80] = 0
    moves[100] = 0.3
    close = np.round(50 * np.exp(np.cumsum(moves)), 2)
    spread = np.where(moves == 0, 0, np.round(np.abs(generator.normal(0, 0.4, 130)), 2))
    volume = generator.integers(1_000, 90_000, 130)
    volume[0] = 0
    days = pd.bdate_range("2020-01-01", periods=130).strftime("%Y-%m-%d")
    bars = pd.DataFrame({"timestamp": days, "open": close, "high": close + spread, "low": close - spread,
                         "close": close, "volume": volume})
    bars.to_csv(folder / "golden_bars.csv", index=False)
    write(features(read(folder / "golden_bars.csv")), folder / "golden_features.csv")
    write(slowly_v2(read(folder / "golden_bars.csv")), folder / "golden_features_v2.csv")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--golden"] and len(sys.argv) == 3:
        golden(pathlib.Path(sys.argv[2]))
    elif len(sys.argv) in (3, 4) and (len(sys.argv) == 3 or sys.argv[3] in SETS):
        compute = SETS[(sys.argv[3:] or ["v2"])[0]][1]
        write(compute(read(sys.argv[1])), sys.argv[2])
    else:
        sys.exit(__doc__)
