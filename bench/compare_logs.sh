#!/usr/bin/env bash
# Processor time and memory of lockstep compare for two logs of other programs, in turn with what reads them in Python:
# pandas for CSV, EventAccumulator for TensorBoard. Writes a record.
#   bench/compare_logs.sh OUT_FILE      needs a python3 with pandas and tensorboard
# Environment: LOCKSTEP names the tool (build/lockstep); PYTHON the interpreter (python3); ROWS (1000000) of a CSV log with four
# columns, EVENTS (100000) of a TensorBoard log, PAIRS (5); LOCKSTEP_COMMIT where the checkout has no git history.
set -euo pipefail
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
[ $# = 1 ] || die "compare_logs.sh takes the file to write" "bench/compare_logs.sh OUT_FILE"
tool=${LOCKSTEP:-$checkout/build/lockstep} python=${PYTHON:-python3}
[ -x "$tool" ] || die "$tool is not there" "make build"
"$python" -c 'import pandas, tensorboard' || die "$python has no pandas or tensorboard" "PYTHON names one that has"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
commit=$(measured_commit "$checkout")
"$python" - "$work" "$(realpath "$tool")" "$commit" "${ROWS:-1000000}" "${EVENTS:-100000}" "${PAIRS:-5}" "$(realpath -m "$1")" <<'PYTHON'
import importlib.metadata, os, pathlib, random, statistics, subprocess, sys, time

work, tool, commit = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
rows, events, pairs = map(int, sys.argv[4:7])
out = pathlib.Path(sys.argv[7])
os.chdir(work)
random.seed(1)


def make_csv(path):
    with open(path, "w") as file:
        file.write("step,time,loss,val_loss\n")
        for step in range(rows):
            file.write(f"{step},{1.7e9 + 0.01 * step},{random.random()},{random.random()}\n")


def make_tensorboard(folder):
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    writer = EventFileWriter(folder)
    for step in range(events):
        value = Summary.Value(tag="loss", simple_value=random.random())
        writer.add_event(Event(wall_time=1.7e9 + 0.01 * step, step=step, summary=Summary(value=[value])))
    writer.close()


def measure(words):
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    error = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        sys.exit(f"{words[:3]}: {error.decode()[-2000:]}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def in_turn(name, operands, imports, read):
    peer = f"import sys\n{imports}\nfor path in sys.argv[1:]:\n    {read}\n"
    ours, theirs, alone = [], [], []
    for _ in range(pairs):
        ours.append(measure([tool, "compare", *operands]))
        theirs.append(measure([sys.executable, "-c", peer, *operands]))
        alone.append(measure([sys.executable, "-c", imports]))
    reading = [whole[0] - start[0] for whole, start in zip(theirs, alone)]
    ratio = statistics.median(our[0] / their for our, their in zip(ours, reading))
    print(f"bench: {name}: {ratio:.2f} of its time for reading alone", file=sys.stderr)
    columns = {"processor_s": [one[0] for one in ours], "peak_mib": [one[1] for one in ours],
               "peer_processor_s": [one[0] for one in theirs], "peer_peak_mib": [one[1] for one in theirs],
               "peer_import_processor_s": [one[0] for one in alone]}
    text = "".join(f"{name}_{what} = [{', '.join(f'{value:.2f}' for value in values)}]\n" for what, values in columns.items())
    whole = statistics.median(our[0] / their[0] for our, their in zip(ours, theirs))
    return text + f"{name}_ratio_to_reading = {ratio:.2f}\n{name}_ratio_to_program = {whole:.2f}\n"


for name in "ab":
    make_csv(f"{name}.csv")
    make_tensorboard(name)
load = os.getloadavg()[0]
measured = in_turn("csv", ["a.csv", "b.csv"], "import pandas", "pandas.read_csv(path)")
imports = "from tensorboard.backend.event_processing.event_accumulator import EventAccumulator"
measured += in_turn("tensorboard", ["a", "b"], imports,
                    "log = EventAccumulator(path, {'scalars': 0}); log.Reload(); log.Scalars('loss')")
versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("pandas", "tensorboard"))
out.write_text(f"""# lockstep compare of two logs of other programs beside pandas' read_csv and TensorBoard's EventAccumulator reading both, in
# turn. The processor's seconds of whole programs; peer_import is that of a program that imports the library and ends. Ratios are
# medians over the pairs, of processor time, so that other programs on the machine weigh little.
# Written by bench/compare_logs.sh.
command = "bench/compare_logs.sh OUT_FILE"
commit = "{commit}"
machine = "{os.cpu_count()} cores, with other programs on them"
date = "{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())}"
versions = "{versions}"
load_before = {load:.2f}
csv_rows = {rows}
csv_columns = 4
tensorboard_events = {events}
{measured}""")
PYTHON
