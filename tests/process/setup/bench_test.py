"""Records of scripts in bench/, with a fake of the tool: whole, or not there. bench_test.py [TEST...]"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[3]
STEP = {"kind": "step", "step_s": 0.05, "units_per_s": 1000, "data_share": 0, "loss": 2.5, "memory": [{"peak": 2e9}]}
TRACE = {"traceEvents": [{"cat": "kernel", "name": "gelu_kernel", "ts": 1, "dur": 5},
                         {"cat": "gpu_memset", "name": "Memset", "ts": 8, "dur": 2}]}
# Leaves what a run leaves, or fails.
LOCKSTEP = """#!/usr/bin/env bash
echo "$*" >"$FAKE_FILES/words"
[ -z "${FAKE_FAILS:-}" ] || { echo "error: no" >&2; exit 1; }
while [ $# -gt 0 ]; do
  case $1 in run.root=*) root=${1#*=} ;; --name) name=$2 ;; esac
  shift
done
mkdir -p "$root/$name/profile"
cp "$FAKE_FILES/events.jsonl" "$root/$name/"
cp "$FAKE_FILES/trace.json" "$root/$name/profile/rank0.json"
"""


class BenchRecords(unittest.TestCase):
    def setUp(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="lockstep-bench-"))
        self.addCleanup(shutil.rmtree, self.top)
        (self.top / "modules/torch").mkdir(parents=True)
        self.write_torch("raise OSError('libcudart.so.13: cannot open shared object file')")
        lines = [json.dumps({**STEP, "step": 10 * i}) for i in range(1, 21)]
        (self.top / "events.jsonl").write_text("\n".join(lines))
        (self.top / "trace.json").write_text(json.dumps(TRACE))
        (self.top / "lockstep").write_text(LOCKSTEP)
        (self.top / "lockstep").chmod(0o755)
        self.out = self.top / "out.toml"

    def write_torch(self, text):
        (self.top / "modules/torch/__init__.py").write_text(text + "\n")

    def run_script(self, name, *words, **variables):
        environment = {**os.environ, "LOCKSTEP": f"{self.top}/lockstep", "FAKE_FILES": str(self.top), "REPEATS": "1",
                       "PYTHONPATH": f"{self.top}/modules", "LOCKSTEP_COMMIT": "abc", **variables}
        return subprocess.run([SOURCE / "bench" / name, self.out, *words], env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)

    def test_options_are_compared_though_torch_cannot_be_imported(self):
        done = self.run_script("option_cost.sh")
        self.assertEqual(done.returncode, 0, done.stdout)
        record = self.out.read_text().splitlines()
        for line in ('torch = "unknown"', "[gpt124m.recompute]", "step_ms = [50.0]", "time = 1.000  # of plain"):
            self.assertIn(line, record)

    def test_kernels_are_listed_with_their_share(self):
        done = self.run_script("kernels.sh")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("gelu_kernel", self.out.read_text())

    def test_a_step_of_volumes_on_eight_has_patches_enough(self):
        python = self.top / "bin/python3"
        python.parent.mkdir()
        python.write_text(f"""#!/usr/bin/env bash
            case $1 in
              -c) ;;
              */peers/step.py) echo '{{"step_ms": 110, "free_ms": 100}}' ;;
              *) exec {sys.executable} "$@" ;;
            esac""")
        python.chmod(0o755)
        done = self.run_script("step.sh", "8", WORKLOADS="volume", PATH=f"{python.parent}:{os.environ['PATH']}")
        self.assertEqual(done.returncode, 0, done.stdout)
        words = (self.top / "words").read_text()  # 2 x 16 for each GPU, of the eight volumes that are made
        self.assertIn("preset=bench-volume data.patches=512", words)
        self.assertIn("--devices 0,1,2,3,4,5,6,7", words)
        self.assertIn("speedup = 2.000", self.out.read_text())

    def test_a_run_that_fails_leaves_no_record(self):
        for script in ("option_cost.sh", "kernels.sh"):
            self.assertNotEqual(self.run_script(script, FAKE_FAILS="1").returncode, 0, script)
            self.assertFalse(self.out.exists(), script)

    def test_a_record_that_cannot_be_completed_is_none(self):
        self.write_torch("raise RuntimeError('broken')")
        self.assertNotEqual(self.run_script("option_cost.sh").returncode, 0)
        self.assertFalse(self.out.exists())


if __name__ == "__main__":
    unittest.main()
