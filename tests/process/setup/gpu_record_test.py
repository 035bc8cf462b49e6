"""What scripts/gpu-test.sh records, with fakes of nvidia-smi and ctest: gpu_record_test.py [TEST...]"""

import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[3]
FAKES = {
    "nvidia-smi": """for _ in $(seq "${FAKE_GPUS:-2}"); do
        case "$*" in
          *compute_cap*) echo 'NVIDIA H200, 9.0' ;;
          *driver_version*) echo 580.65.06 ;;
          *) echo 'NVIDIA H200' ;;
        esac
      done""",
    "ctest": """echo "$*" >>"$RESULTS.asked"
      case " $* " in *" -N "*) echo 'Total Tests: 7' ;; esac
      [ -e "$RESULTS" ] || exit 8
      while [ $# -gt 0 ]; do if [ "$1" = --output-junit ]; then cp "$RESULTS" "$2"; fi; shift; done""",
}
RESULTS = """<testsuite>
<testcase name="exact/On2" status="run"><system-out>fine</system-out></testcase>
<testcase name="exact/On4" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>
<system-out>skipped: needs 4 GPUs, but this machine has 2
</system-out></testcase></testsuite>"""


class GpuRecord(unittest.TestCase):
    def setUp(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="lockstep-gpu-record-"))
        self.addCleanup(shutil.rmtree, self.top)
        shutil.copytree(SOURCE / "scripts", self.top / "scripts")
        for folder in ("bin", "build", ".lockstep", "torch/include/torch/headeronly"):
            (self.top / folder).mkdir(parents=True)
        (self.top / "torch/include/torch/headeronly/version.h").write_text(
            "#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR 11\n#define TORCH_VERSION_PATCH 0\n")
        (self.top / ".lockstep/torch").write_text(f"{self.top}/torch\n")
        (self.top / "results.xml").write_text(RESULTS)
        for name, body in FAKES.items():
            path = self.top / "bin" / name
            path.write_text(f"#!/usr/bin/env bash\n{body}\n")
            path.chmod(0o755)

    def run_it(self, *options, **variables):
        outer = {name: value for name, value in os.environ.items() if name != "TEST_UNTIL"}  # of the script that runs this test
        environment = {**outer, "PATH": f"{self.top}/bin:{os.environ['PATH']}", "CUDA_VISIBLE_DEVICES": "0,1",
                       "RESULTS": f"{self.top}/results.xml", "LOCKSTEP_COMMIT": "abc", **variables}
        return subprocess.run([self.top / "scripts/gpu-test.sh", self.top / "build", *options], env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def test_says_on_how_many_gpus_and_what_was_left_out(self):
        done = self.run_it()
        self.assertEqual(done.returncode, 0, done.stdout)
        lines = (self.top / "bench/results/gpu-tests.toml").read_text().splitlines()
        for line in ("gpus = 2", 'devices = ["NVIDIA H200", "NVIDIA H200"]', 'torch = "2.11.0"', "passed = 1",
                     "failed = 0", "skipped = 1", "[[left_out]]", 'test = "exact/On4"',
                     'why = "needs 4 GPUs, but this machine has 2"'):
            self.assertIn(line, lines)

    def test_at_most_eight_run_at_once_since_most_take_the_first_gpus(self):
        for gpus, jobs in ((1, 4), (2, 8), (8, 8)):
            self.assertEqual(self.run_it(FAKE_GPUS=str(gpus)).returncode, 0)
            self.assertIn(f"-j {jobs} -L gpu|python", (self.top / "results.xml.asked").read_text().splitlines()[-1])

    def test_some_of_the_tests_have_a_record_of_their_own_that_names_them(self):
        done = self.run_it("-LE", "python", RECORD=f"{self.top}/some.toml")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn('command = "scripts/gpu-test.sh FOLDER -LE python"', (self.top / "some.toml").read_text())
        self.assertFalse((self.top / "bench").exists())

    def test_tests_that_had_not_begun_when_the_time_was_over_are_counted(self):
        done = self.run_it(TEST_UNTIL=str(int(time.time()) + 60))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("1 passed, 0 failed, 1 skipped, 5 not begun", done.stdout)
        self.assertIn("not_begun = 5", (self.top / "bench/results/gpu-tests.toml").read_text())
        self.assertIn("--stop-time", (self.top / "results.xml.asked").read_text())

    def test_where_no_test_ran_the_record_of_before_stays(self):
        self.run_it()
        (self.top / "results.xml").unlink()
        before = (self.top / "bench/results/gpu-tests.toml").read_text()
        done = self.run_it()
        self.assertIn("the tests did not run", done.stdout)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual((self.top / "bench/results/gpu-tests.toml").read_text(), before)

    def test_a_failed_test_is_its_exit_code(self):
        (self.top / "results.xml").write_text(RESULTS.replace('status="run"', 'status="fail"'))
        self.assertNotEqual(self.run_it().returncode, 0)
        self.assertIn("failed = 1", (self.top / "bench/results/gpu-tests.toml").read_text())


if __name__ == "__main__":
    unittest.main()
