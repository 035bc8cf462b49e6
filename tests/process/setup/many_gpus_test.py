"""bench/many_gpus.sh with fakes of the programs and of the GPUs: each part leaves its record, and what fails or takes
too long is said and stops nothing else. many_gpus_test.py [TEST...]"""

import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile
import time
import unittest

try:
    import tomllib
except ImportError:  # before Python 3.11
    tomllib = None

SOURCE = pathlib.Path(__file__).resolve().parents[3]
FAKES = {
    "bin/nvidia-smi": """#!/usr/bin/env bash
        for _ in $(seq "$FAKE_GPUS"); do
          case "$*" in
            *compute_cap*) echo 'NVIDIA H200, 9.0' ;;
            *driver_version*) echo 580.65.06 ;;
            *memory.total*) echo '143771 MiB' ;;
            *) echo 'NVIDIA H200' ;;
          esac
        done""",
    "bin/ldd": """#!/usr/bin/env bash
        case ":${LD_LIBRARY_PATH:-}:" in *":$FAKE_TOP/build:"*) ! [ -e "$FAKE_TOP/build/libpiece.so.0" ] || exit 0 ;; esac
        if [ -n "${FAKE_ABSENT:-}" ]; then printf '\\tlibpiece.so.0 => not found\\n'; fi""",
    "bin/ctest": """#!/usr/bin/env bash
        echo "$*" >>"$FAKE_TOP/ctest.log"
        if [ -n "${DOCTOR_RECORDINGS:-}" ]; then echo '{}' >"$DOCTOR_RECORDINGS/healthy.jsonl"; fi
        while [ $# -gt 0 ]; do
          case $1 in --output-junit) cp "$FAKE_TOP/results.xml" "$2" ;; -N) echo 'Total Tests: 1' ;; esac
          shift
        done""",
    # Training of so many steps, or until something happens to a rank; weights are the same on any number of devices.
    "build/lockstep": """#!/usr/bin/env python3
import json, os, pathlib, signal, subprocess, sys, time

words = sys.argv[1:]
options = dict(word.split("=", 1) for word in words if "=" in word)
flag = lambda name: words[words.index(name) + 1]


def fail(text, code=2):
    print(f"error: {text}", file=sys.stderr)
    sys.exit(code)


if words[0] == "doctor":
    pathlib.Path(flag("--record")).write_text("{}")
    sys.exit(1)
if os.environ.get("FAKE_FAILS", "nothing") in words:
    fail("this fails")
resumes = words[0] == "resume"
run = pathlib.Path("runs", words[1] if resumes else flag("--name"))
count, steps = len(flag("--devices").split(",")), int(options["stop.steps"])
events = run / "events.jsonl"


def save(step):
    folder = run / f"checkpoints/step-{step:09}"
    folder.mkdir(parents=True)
    differs = "exact=true" in words and str(count) in os.environ.get("FAKE_DIFFERS", "")
    (folder / "model.safetensors").write_text("others" if differs else "weights")
    (folder / "manifest.json").write_text("{}")


def note(**event):
    run.mkdir(parents=True, exist_ok=True)
    with open(events, "a") as file:
        file.write(json.dumps(event, separators=(",", ":")) + "\\n")


def note_step(step):
    note(kind="step", step=step, step_s=0.8 / count, units_per_s=1, data_share=0, loss=2, memory=[{"peak": 1e9}])


if resumes:
    newest = max(int(path.name[5:]) for path in (run / "checkpoints").iterdir())
    if steps <= newest or 384 % count:
        fail("cannot go on")
    print(f"resumed at step {newest}", file=sys.stderr)
worker = str(pathlib.Path(__file__).parent / "lockstep-worker")
if steps >= 1000000:
    ranks = [subprocess.Popen([worker, "wait"], env={**os.environ, "RANK": str(rank)}) for rank in range(count)]

    def end(code):
        for rank in ranks:
            rank.kill()
        sys.exit(code)

    signal.signal(signal.SIGTERM, lambda *_: end(75))
    note_step(200)
    save(200)
    while True:
        time.sleep(0.1)
        for number, rank in enumerate(ranks):
            state = pathlib.Path(f"/proc/{rank.pid}/stat").read_text().split(") ")[1][0]
            how = {"Z": "killed by signal 9", "T": "is stopped by a signal: no sign of life"}.get(state)
            if how:
                print(f"error: rank {number} on cuda:{number} failed: {how}", file=sys.stderr)
                end(1)
if run.name == "scarce":
    for rank in range(count):
        said = subprocess.run([worker], env={**os.environ, "RANK": str(rank)}, stdout=subprocess.PIPE, text=True).stdout
        if "per_process_memory_fraction:0.0" in said:
            print(f"out of memory on rank {rank} (cuda:{rank}) in forward", file=sys.stderr)
            note(kind="memory", step=0, ranks=[{"rank": rank}])
for step in range(0, steps, int(options.get("log.every_steps", 1))):
    note_step(step)
save(steps)
""",
    "build/lockstep-worker": """#!/usr/bin/env bash
        echo "${PYTORCH_ALLOC_CONF:-}"
        if [ "${1:-}" = wait ]; then exec sleep 60; fi""",
    "bench/step.sh": """#!/usr/bin/env bash
        echo "workload = \\"$PEER $WORKLOADS $2\\"" >"$1" """,
    "bench/monitor.sh": """#!/usr/bin/env bash
        echo "words = \\"$2 $3\\"" >"$1" """,
    "bench/packing.sh": """#!/usr/bin/env bash
        case ${FAKE_PACKING:-} in
          fails) exit 3 ;;
          hangs) setsid sleep 61 & echo $! >"$FAKE_TOP/left_over"; sleep 60 ;;
        esac
        echo 'packed = 1' >"$1" """,
}


@unittest.skipUnless(tomllib, "needs Python 3.11, which reads TOML")
class ManyGpus(unittest.TestCase):
    def setUp(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="lockstep-many-gpus-"))
        self.addCleanup(shutil.rmtree, self.top)
        shutil.copytree(SOURCE / "scripts", self.top / "scripts")
        (self.top / "bench").mkdir()
        for name in ("many_gpus.sh", "read_run.py"):
            shutil.copy(SOURCE / "bench" / name, self.top / "bench")
        for name, body in FAKES.items():
            path = self.top / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(body)
            path.chmod(0o755)
        (self.top / "build/liblockstep-cuda.so").touch()
        (self.top / "results.xml").write_text('<testsuite><testcase name="gpu-train/a" status="run"/></testsuite>')
        self.out = self.top / "out"

    def run_it(self, *parts, gpus=8, **variables):
        environment = {**os.environ, "PATH": f"{self.top}/bin:{os.environ['PATH']}", "FAKE_GPUS": str(gpus),
                       "FAKE_TOP": str(self.top), "LOCKSTEP_COMMIT": "abc", "CUDA_VISIBLE_DEVICES": "0", **variables}
        done = subprocess.run([self.top / "bench/many_gpus.sh", self.out, *parts], env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        log = self.out / "log"
        return done.returncode, done.stdout + (log.read_text() if log.exists() else "")

    def record(self, name):
        return tomllib.loads((self.out / name).read_text())

    def test_each_part_leaves_its_record(self):
        code, said = self.run_it()
        self.assertEqual(code, 0, said)
        tests = self.record("gpu-tests.toml")
        self.assertEqual((tests["commit"], tests["gpus"], tests["passed"]), ("abc", 8, 1))
        self.assertEqual(tests["command"], "scripts/gpu-test.sh FOLDER -LE python -E ^gpu-doctor/")
        self.assertFalse((self.top / "bench/results").exists())
        self.assertIn("--stop-time", (self.top / "ctest.log").read_text())
        scaling = self.record("scaling.toml")
        self.assertEqual((scaling["machine"], scaling["gpus"]), ("8 x NVIDIA H200", 8))
        steps = {(step["of"], step["gpus"]): step for step in scaling["step"]}
        for name in ("gpt124m_fixed", "gpt124m_grown", "volume_fixed", "volume_grown", "textgen_fixed", "textgen_grown"):
            self.assertEqual([steps[name, n]["one_over_this"] for n in (1, 2, 4, 8)], [1, 2, 4, 8], name)
        self.assertEqual(self.record("step-8-compile-gpt124m.toml"), {"workload": "compile gpt124m 8"})
        self.assertTrue((self.out / "step-8-compile-volume.toml").exists())
        self.assertEqual(self.record("packing.toml"), {"packed": 1})
        exact = self.record("exact.toml")
        self.assertEqual(exact["bitwise"], {"equal_on": [1, 8, 4, 2], "equal_on_all": True})
        self.assertEqual(exact["cost"], {"gpus": 8, "time": 1.0})
        self.assertEqual({len(weights["sha256"]) for weights in exact["weights"]}, {64})
        self.assertEqual(self.record("monitor.toml"), {"words": "15 1"})
        self.assertTrue((self.out / "doctor.jsonl").exists())
        with tarfile.open(self.out / "doctor-recordings.tar.gz") as recordings:
            self.assertIn("recordings/healthy.jsonl", recordings.getnames())
        faults = self.record("faults.toml")
        for name in ("killed", "resumed_on_2", "resumed_on_6", "stopped", "out_of_memory"):
            self.assertTrue(faults[name]["as_expected"], said)
        self.assertIn("rank 7 on cuda:7 failed: killed", faults["killed"]["said"])

    def test_what_fails_is_said_and_the_rest_goes_on(self):
        code, said = self.run_it("scaling", "packing", "exact", "faults", gpus=4, FAKE_FAILS="volume",
                                 FAKE_DIFFERS="2", FAKE_PACKING="fails")
        self.assertEqual(code, 2, said)
        self.assertIn("error: not all went as it should: scaling packing exact\n", said)
        failed = [step["of"] for step in self.record("scaling.toml")["step"] if step.get("failed") == "error: this fails"]
        self.assertEqual(failed, ["volume_fixed", "volume_fixed", "volume_grown", "volume_grown",
                                  "volume_fixed", "volume_grown"])
        self.assertEqual(len(self.record("scaling.toml")["step"]), 18)
        self.assertFalse((self.out / "packing.toml").exists())
        self.assertEqual(self.record("exact.toml")["bitwise"], {"equal_on": [1, 4], "equal_on_all": False})
        faults = self.record("faults.toml")
        self.assertTrue(faults["resumed_on_3"]["as_expected"] and faults["resumed_on_2"]["as_expected"], said)

    def test_a_part_that_is_cut_short_leaves_nothing_running(self):
        code, said = self.run_it("packing", "monitor", FAKE_PACKING="hangs", TIME_S="21")
        self.assertEqual(code, 2, said)
        self.assertIn("cut short after", said)
        self.assertIn("no time is left for monitor", said)
        left_over = pathlib.Path("/proc", (self.top / "left_over").read_text().strip(), "cmdline")
        for _ in range(50):
            if not left_over.exists() or not left_over.read_bytes():  # gone, or dead
                break
            time.sleep(0.1)
        else:
            self.fail("it goes on")

    def test_a_build_that_was_brought_finds_libraries_beside_it_and_its_lists_of_tests(self):
        self.assertIn("need libpiece.so.0, which this machine", self.run_it("tests", FAKE_ABSENT="1")[1])
        (self.top / "build/libpiece.so.0").touch()
        lists = self.top / "build/tests/gpu"
        lists.mkdir(parents=True)
        (lists / "gpu-train[1]_tests.cmake").touch()
        os.utime(lists / "gpu-train[1]_tests.cmake", (0, 0))
        (lists / "gpu-train[1]_include.cmake").write_text('    include("/nowhere/GoogleTestAddTests.cmake")\n')
        code, said = self.run_it("tests", FAKE_ABSENT="1")
        self.assertEqual(code, 0, said)
        self.assertGreater((lists / "gpu-train[1]_tests.cmake").stat().st_mtime, 1)

    def test_says_what_is_missing_before_anything_runs(self):
        (self.top / "build/liblockstep-cuda.so").unlink()
        self.assertIn("liblockstep-cuda.so is not there", self.run_it()[1])
        (self.top / "build/liblockstep-cuda.so").touch()
        self.assertIn("needs two GPUs or more, but this machine has 1", self.run_it(gpus=1)[1])
        self.assertIn("has no part 'nothing'", self.run_it("nothing")[1])
        self.assertFalse(self.out.exists())


if __name__ == "__main__":
    unittest.main()
