"""Batches of gbdt on the CPU, by OpenCL and by CUDA: 12 windows, then 576, or as many as the time allows.

    gbdt_gpu.py OUT_FILE TOOL FOLDER [--limit 45] [--devices 0,1] [--count 2] [--ways cpu,cpu_all,gpu,cuda]
A way whose 12 windows tell that 576 would take longer than the limit gets fewer symbols, which the record says.
"""
import argparse
import csv
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "lib"))
import batches

PER_SYMBOL, MOST_SYMBOLS = 6, 96
# The device that LightGBM trains on, and how many windows at once.
WAYS = {"cpu": ("cpu", 4), "cpu_all": ("cpu", 0), "gpu": ("gpu", 4), "cuda": ("cuda", 4)}


def run(asked, way, symbols):
    device, slots = WAYS[way]
    # By CUDA LightGBM bounds no depth, so none is asked for anywhere.
    words = [f"data.made_symbols={symbols}", f"gbdt.device={device}", "max_depth=-1", "is_unbalance=false"]
    if slots:
        words += ["--slots", str(slots)]
    name = f"{way}_{symbols * PER_SYMBOL}"
    found = batches.run_batch(asked.tool, asked.folder, name, words, asked.limit + 15, kind="gbdt",
                              devices="" if device == "cpu" else asked.devices,
                              device_count=0 if device == "cpu" else asked.count)
    found.pop("notes")
    windows = asked.folder / "runs" / name / "windows.csv"
    if windows.exists():
        with open(windows, newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["status"] == "success"]
        if rows:
            found["mean_auc"] = round(statistics.fmean(float(row["auc"]) for row in rows if row["auc"]), 4)
            found["training_s"] = round(statistics.median(float(row["training_s"]) for row in rows), 4)
    said = [line for line in (asked.folder / f"{name}.log").read_text().splitlines() if line.startswith("the CPU is")]
    found["said"] = said[0] if said else None
    return {"way": way, "workers": slots or "all cores", "windows": symbols * PER_SYMBOL, **found}


def symbols_in_time(few, limit_s):
    """So many that the limit is kept, by the rate of 12 windows."""
    if not few["per_minute"]:
        return 0
    return min(MOST_SYMBOLS, int(few["per_minute"] / 60 * limit_s / PER_SYMBOL))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("tool")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--limit", type=float, default=45)
    parser.add_argument("--devices", default="")
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--ways", default="cpu,cpu_all,gpu,cuda")
    asked = parser.parse_args()
    ways = asked.ways.split(",")
    few = {way: run(asked, way, 2) for way in ways}
    many = {}
    for way in ways:
        symbols = symbols_in_time(few[way], asked.limit)
        if symbols > 2:
            many[way] = run(asked, way, symbols)
    lines = batches.head("bench/gbdt_gpu.sh OUT_FILE")
    lines += [f"devices = {asked.count}", f"limit_s = {asked.limit}"]
    best = {way: (many.get(way) or few[way])["per_minute"] for way in ways}
    cpu = max((best[way] for way in ways if way.startswith("cpu")), default=0)
    for way in ways:
        if way.startswith("cpu") or not best[way]:
            continue
        lines.append(f"cpu_over_{way} = {round(cpu / best[way], 2)}  # windows per minute")
        if way in many and many[way]["windows"] < MOST_SYMBOLS * PER_SYMBOL:
            lines.append(f'{way}_note = "{many[way]["windows"]} windows instead of {MOST_SYMBOLS * PER_SYMBOL}: more take longer than the limit"')
    lines += [batches.table("batch", one) for one in [*few.values(), *many.values()]]
    batches.write(asked.out, lines)


if __name__ == "__main__":
    main()
