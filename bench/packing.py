"""Small training jobs, one per device and packed by measurement, in turn; and one that runs out of memory.

    packing.py OUT_FILE TOOL FOLDER [--jobs 64] [--limit 45] [--devices 0,1] [--program WORDS]
Each batch starts no more jobs after the limit: its rate is that of the jobs that were done.
"""
import argparse
import pathlib
import shlex
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "lib"))
import batches

SMALL_JOB = str(pathlib.Path(__file__).parent / "peers/small_job.py")


def programs(asked):
    """What a job is, by name. --program stands in for all of them where there is no GPU."""
    if asked.program:
        return {"stand_in": ["sh", "-c", asked.program, "x", "{n}"]}
    return {"textgen_small": [asked.tool, "train", "textgen", "preset=small", "seed={n}", "--name", "run", "run.root={out}"],
            "python_small": [sys.executable, SMALL_JOB, "train", "--seed", "{n}"]}


def run(asked, name, command, jobs, limit_s, **keys):
    file = asked.folder / f"{name}.toml"
    batches.job_file(file, command, jobs, name="job{n}", gpus=1, cpus=1, **keys)
    return batches.run_batch(asked.tool, asked.folder, name, [str(file), "--slots", "64"], limit_s,
                             devices=asked.devices, device_count=asked.count)


def compare(asked, name, command):
    plain = run(asked, f"{name}_one_per_device", command, asked.jobs, asked.limit, gpu_memory="all")
    packed = run(asked, f"{name}_packed", command, asked.jobs, asked.limit)
    ratio = round(packed["per_minute"] / plain["per_minute"], 3) if plain["per_minute"] else None
    return {"program": name, "packed_over_one_per_device": ratio, "balance_of_jobs": packed["balance_of_jobs"],
            "balance_of_seconds": packed["balance_of_seconds"]}, [plain, packed]


def run_out_of_memory(asked):
    """Jobs of 6 % of the memory, and a seventh that takes 80 %: beside the others there is not enough."""
    if asked.program:
        words = asked.program
    else:
        words = (f'share=0.06; [ "$1" != 7 ] || share=0.8; exec {shlex.quote(sys.executable)} {shlex.quote(SMALL_JOB)} '
                 "hold --seconds 3 --share $share")
    found = run(asked, "out_of_memory", ["sh", "-c", words, "x", "{n}"], 20, asked.limit)
    batch = asked.folder / "runs/out_of_memory"
    reasons = batches.rows_of(batch, "SELECT job, number, outcome, reason FROM attempt WHERE outcome NOT IN ('done')")
    found["not_done"] = [f"job {job}, attempt {number}: {outcome}: {reason}" for job, number, outcome, reason in reasons]
    found["job_7_tries"] = batches.rows_of(batch, "SELECT tries FROM job WHERE id = 7")[0][0]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("tool")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=64)
    parser.add_argument("--limit", type=float, default=45)
    parser.add_argument("--devices", default="")
    parser.add_argument("--count", type=int, default=0, help="devices that there are")
    parser.add_argument("--program", default="")
    parser.add_argument("--only", default="", help="one of the programs, and nothing else")
    asked = parser.parse_args()
    wanted = {name: command for name, command in programs(asked).items() if asked.only in ("", name)}
    for name, command in wanted.items():  # reads data and compiles once, so that the first batch need not
        run(asked, f"{name}_warm_up", command, 1, asked.limit, gpu_memory="all")
    ratios, found = [], []
    for name, command in wanted.items():
        ratio, both = compare(asked, name, command)
        ratios.append(ratio)
        found += both
    if not asked.only:
        found.append(run_out_of_memory(asked))
    lines = batches.head("bench/packing.sh OUT_FILE")
    lines += [f"devices = {asked.count}", f"limit_s = {asked.limit}"]
    lines += [batches.table("ratio", ratio) for ratio in ratios]
    lines += [batches.table("batch", one) for one in found]
    batches.write(asked.out, lines)


if __name__ == "__main__":
    main()
