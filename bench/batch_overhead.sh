#!/usr/bin/env bash
# What lockstep batch adds to each job, beside xargs and GNU parallel, in turn in one run; and how long
# a ledger with many jobs takes to its first job, to its status, and to go on, here and shared out for Slurm. Writes a record.
#   bench/batch_overhead.sh OUT_FILE      needs python3, and parallel (Debian's package of that name)
# Environment: LOCKSTEP names the tool (build/lockstep); JOBS (10000; 0: only the ledger), REPEATS (3), LEDGER_JOBS (100000);
# BEFORE names an older tool, called lockstep too, which is measured in turn with the others;
# LOCKSTEP_COMMIT where the checkout has no git history. On a machine that others use: chrt -f 10 bench/batch_overhead.sh …
set -euo pipefail
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
[ $# = 1 ] || die "batch_overhead.sh takes the file to write" "bench/batch_overhead.sh OUT_FILE"
tool=${LOCKSTEP:-$checkout/build/lockstep}
[ -x "$tool" ] || die "$tool is not there" "make build"
command -v parallel >/dev/null || die "parallel is not installed" "sudo apt-get install -y parallel"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
commit=$(measured_commit "$checkout")
python3 - "$work" "$tool" "$commit" "${JOBS:-10000}" "${REPEATS:-3}" "${LEDGER_JOBS:-100000}" "${BEFORE:-}" <<'PYTHON'
import json, os, pathlib, shutil, signal, sqlite3, statistics, subprocess, sys, time

work, tool, commit = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
jobs, repeats, many = map(int, sys.argv[4:7])
before = sys.argv[7]
os.chdir(work)
pathlib.Path("values").write_text("".join(f"{i}\n" for i in range(jobs)))
pathlib.Path("many").write_text("".join(f"{i}\n" for i in range(many)))
root = f"run.root={work}/runs"


def run(name, command, stdin=None, until=None):
    """Seconds to its end, or until the file `until` is there; then it is interrupted. And MiB."""
    load = os.getloadavg()[0]
    pathlib.Path("begun").unlink(missing_ok=True)
    with open("output", "wb") as output:
        begin = time.monotonic()
        child = subprocess.Popen(command, stdin=open(stdin) if stdin else subprocess.DEVNULL, stdout=output, stderr=output)
        if until:
            while not os.path.exists(until) and time.monotonic() < begin + 120:
                time.sleep(0.0005)
            seconds = time.monotonic() - begin
            child.send_signal(signal.SIGINT)
        _, status, usage = os.wait4(child.pid, 0)
        if not until:
            seconds = time.monotonic() - begin
    code = os.waitstatus_to_exitcode(status)
    if code != (130 if until else 0):
        sys.exit(f"{command} ended with {code}:\n" + open("output").read()[-2000:])
    print(f"bench: {name} {seconds:.3f} s, {usage.ru_maxrss / 1024:.0f} MiB, load {load:.2f}", file=sys.stderr)
    return {"name": name, "seconds": seconds, "mib": usage.ru_maxrss / 1024, "load": load}


runs = []
for _ in range(repeats if jobs else 0):
    runs.append(run("xargs", ["xargs", "-P2", "-n1", "true"], "values"))
    for each, suffix in ((tool, ""), (before, "_before")):
        if each:
            shutil.rmtree("runs", ignore_errors=True)
            runs.append(run(f"batch{suffix}", [each, "batch", "run", "--name", "t", "--slots", "2", "--arg-file", "values", root, "--", "true"]))
    runs.append(run("parallel", ["parallel", "--will-cite", "-j2", "true"], "values"))

def measure_ledger(tool, ready, suffix):
    """A job says that it has begun. Most of them wait, or most of them are done."""
    shutil.rmtree("runs", ignore_errors=True)
    words = ["--slots", "2", "--arg-file", "many", root, "--", "sh", "-c", ": > begun; sleep 0.05"]
    runs.append(run(f"start_{ready}{suffix}", [tool, "batch", "run", "--name", "m", *words], until="begun"))
    if ready == "done":
        with sqlite3.connect("runs/m/ledger.sqlite") as ledger:
            waiting = f"id <= {many - 100} AND state = 'waiting'"
            ledger.execute(f"INSERT INTO attempt(job, number, supervisor, slot, cores, devices, outcome, reason, exit_code, started, ended, cpu_s, max_rss_bytes) SELECT id, 1, 's', 0, '[]', '[]', 'done', '', 0, 1e9 + id, 1e9 + id + 0.5, 0.1, 1000000 FROM job WHERE {waiting}")
            ledger.execute(f"UPDATE job SET state = 'done', tries = 1 WHERE {waiting}")
        ledger.close()
    runs.append(run(f"status_{ready}{suffix}", [tool, "batch", "status", "m", root]))
    runs.append(run(f"resume_{ready}{suffix}", [tool, "batch", "resume", "m", "--slots", "2", root], until="begun"))


for ready in ("waiting", "done"):
    for _ in range(repeats):
        measure_ledger(tool, ready, "")
        if before:
            measure_ledger(before, ready, "_before")


# Shares of 100 jobs for tasks of Slurm: what is not Slurm's own time, with stand-ins for its commands.
pathlib.Path("bin").mkdir()
for name, script in (("sbatch", "echo 7"), ("squeue", "exit 0")):
    (pathlib.Path("bin") / name).write_text(f"#!/bin/sh\n{script}\n")
    (pathlib.Path("bin") / name).chmod(0o755)
os.environ["PATH"] = f"{work}/bin:{os.environ['PATH']}"
pathlib.Path("jobs.toml").write_text(f'command = ["true", "{{i}}"]\n[matrix]\ni = {{from = 1, to = {many}}}\n')
for _ in range(repeats):
    for each, suffix in ((tool, ""), (before, "_before")):
        if each:
            shutil.rmtree("runs", ignore_errors=True)
            runs.append(run(f"submit{suffix}", [each, "batch", "slurm", "jobs.toml", root]))
            runs.append(run(f"slurm_status{suffix}", [each, "batch", "status", "jobs", root]))


def values(name, key):
    return [run[key] for run in runs if run["name"] == name]


def numbers(all, digits):
    return "[" + ", ".join(f"{value:.{digits}f}" for value in all) + "]"


text = json.dumps
cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if "model name" in line), "unknown")
head = f'command = "bench/batch_overhead.sh OUT_FILE"\ncommit = {text(commit)}\n'
head += f'machine = {text(f"{len(os.sched_getaffinity(0))} cores, {cpu}")}\n'
head += f'date = "{time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}"'
if os.sched_getscheduler(0) != os.SCHED_OTHER:
    how = "-f" if os.sched_getscheduler(0) == os.SCHED_FIFO else "-r"
    priority = os.sched_getparam(0).sched_priority
    head += f'\ncontext = "all at real-time priority (chrt {how} {priority}), because other programs took the cores"'


def print_overhead(out):
    print("# lockstep batch with jobs of `true` on two slots, ledger on, beside xargs -P2 and GNU parallel, in turn; and a", file=out)
    print("# ledger with many jobs: seconds to its first job, to its status, and to the first job of a resume, with all jobs", file=out)
    print("# waiting and with all but 100 done; and what handing them to Slurm in tasks of 100 takes without Slurm's own time.", file=out)
    print("# before: an older tool in turn. Load: of the machine in the minute before. Written by bench/batch_overhead.sh.", file=out)
    print(f"{head}\njobs = {jobs}", file=out)
    names = ("xargs", "batch", *(["batch_before"] if before else []), "parallel")
    ms = {name: [1000 * each / jobs for each in values(name, "seconds")] for name in names}
    over = [ours - theirs for ours, theirs in zip(ms["batch"], ms["xargs"])]
    for name in ms:
        print(f'{name}_ms_per_job = {numbers(ms[name], 3)}\n{name}_load_before = {numbers(values(name, "load"), 2)}', file=out)
    print(f"more_than_xargs_ms_per_job = {numbers(over, 3)}\nmedian_more_than_xargs_ms = {statistics.median(over):.3f}", file=out)
    if before:
        longer = statistics.median(ours - theirs for ours, theirs in zip(ms["batch_before"], ms["xargs"]))
        print(f"median_before_more_than_xargs_ms = {longer:.3f}", file=out)
    print(f"median_less_than_parallel_ms = {statistics.median(p - o for o, p in zip(ms['batch'], ms['parallel'])):.3f}", file=out)
    print(f'batch_peak_mib = {numbers(values("batch", "mib"), 0)}\n', file=out)


def print_ledger(out):
    print("[ledger]" + ("" if jobs else f"\n{head}") + f"\njobs = {many}", file=out)
    for ready in ("waiting", "done"):
        for what in ("start", "status", "resume"):
            if (what, ready) == ("start", "done"):
                continue
            for suffix in ("", "_before") if before else ("",):
                name = f"{what}_{ready}{suffix}"
                print(f'{name}_s = {numbers(values(name, "seconds"), 3)}\n{name}_mib = {numbers(values(name, "mib"), 0)}', file=out)


def print_slurm(out):
    print(f"\n[slurm]\njobs = {many}\njobs_per_task = 100", file=out)
    for what in ("submit", "slurm_status"):
        for suffix in ("", "_before") if before else ("",):
            print(f'{what}{suffix}_s = {numbers(values(what + suffix, "seconds"), 3)}', file=out)
            print(f'{what}{suffix}_mib = {numbers(values(what + suffix, "mib"), 0)}', file=out)


with open("record", "w") as out:
    if jobs:
        print_overhead(out)
    print_ledger(out)
    print_slurm(out)
PYTHON
mv "$work/record" "$1"
cat "$1"
