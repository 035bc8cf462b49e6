#!/usr/bin/env bash
# Seconds and memory of lockstep report for a made run with many logged steps, and for many runs over each other. Writes a
# record.
#   bench/report.sh OUT_FILE      needs python3
# Environment: LOCKSTEP names the tool (build/lockstep); STEPS (1000000), RUNS (10000), REPEATS (3); LOCKSTEP_COMMIT where the
# checkout has no git history.
set -euo pipefail
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
[ $# = 1 ] || die "report.sh takes the file to write" "bench/report.sh OUT_FILE"
tool=${LOCKSTEP:-$checkout/build/lockstep}
[ -x "$tool" ] || die "$tool is not there" "make build"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
commit=$(measured_commit "$checkout")
python3 - "$work" "$(realpath "$tool")" "$commit" "${STEPS:-1000000}" "${RUNS:-10000}" "${REPEATS:-3}" "$(realpath -m "$1")" <<'PYTHON'
import json, math, os, pathlib, subprocess, sys, time

work, tool, commit = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
steps, runs, repeats = map(int, sys.argv[4:7])
out = pathlib.Path(sys.argv[7])
os.chdir(work)


def make(name, steps):
    run = pathlib.Path("runs") / name
    run.mkdir(parents=True)
    (run / "run.json").write_text(json.dumps({"recipe": "textgen", "config": {"batch.global": 8},
                                              "plan": {"batch": {"global": 8}}, "started": 1e9}))
    with open(run / "events.jsonl", "w") as events:
        events.write('{"kind":"start","step":0,"time":1000000000,"total_steps":%d,"unit":"tokens"}\n' % steps)
        for s in range(1, steps + 1):
            events.write(
                '{"compute_share":0.9412,"data_share":0.0131,"epoch":%.4f,"grad_norm":1.469%d,"kind":"step","logged":'
                '{"accuracy":0.71},"loss":%.6f,"lr":0.00015,"memory":[{"allocated":1234567890,"peak":2234567890,"reserved":'
                '3234567890},{"allocated":1234567890,"peak":2234567890,"reserved":3234567890}],"mfu":0.4131,'
                '"rank_wait_shares":[0.01,0.02],"save_share":0.001,"step":%d,"step_s":0.1204,"time":%.3f,"units_per_s":'
                '203312.4,"wait_share":0.0411}\n'
                % (s / 1000, s % 10, 3 + math.sin(s / 1000) + (s * 7919 % 1000) / 1000, s, 1e9 + s * 0.12))
    return (run / "events.jsonl").stat().st_size


def measure(words):
    load = os.getloadavg()[0]
    begin = time.monotonic()
    child = subprocess.Popen([tool, *words], stderr=subprocess.PIPE)
    error = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{words[:3]}: {error.decode()[-2000:]}")
    seconds, mib = time.monotonic() - begin, usage.ru_maxrss / 1024
    processor = usage.ru_utime + usage.ru_stime
    print(f"bench: {seconds:.2f} s, {processor:.2f} s of a processor, {mib:.0f} MiB, load {load:.2f}", file=sys.stderr)
    return seconds, processor, mib, load


def lines(name, measured):
    columns = zip(("s", "processor_s", "peak_mib", "load_before"), zip(*measured))
    return "".join(f"{name}_{what} = [{', '.join(f'{value:.2f}' for value in values)}]\n" for what, values in columns)


size = make("long", steps)
report = ["report", "long", "--out", "long.html", "--out", "long.md", "--out", "long.json", "--force"]
long = [measure(report) for _ in range(repeats)]
names = [f"run{i}" for i in range(runs)]
for name in names:
    make(name, 100)
many = [measure(["report", *names, "--out", "all.html", "--out", "all.json", "--force"]) for _ in range(repeats)]
text = (f'# lockstep report: HTML, Markdown and JSON of a made run, and HTML and JSON of many runs of 100 logged steps over each\n'
        f'# other. Written by bench/report.sh.\ncommand = "bench/report.sh OUT_FILE"\ncommit = "{commit}"\n'
        f'machine = "{os.cpu_count()} cores"\ndate = "{time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}"\n'
        f'logged_steps = {steps}\nevents_mib = {size / 2**20:.0f}\n' + lines("run", long) +
        f'page_mib = {os.path.getsize("long.html") / 2**20:.2f}\nruns = {runs}\n' + lines("runs", many) +
        f'runs_page_mib = {os.path.getsize("all.html") / 2**20:.2f}\n')
out.write_text(text)
PYTHON
say "wrote $1"
