"""Which tests scripts/test.sh runs once more, and which tenth of the long ones, with a fake ctest."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[3]
# The first call fails with the entries of FAILS, a second one passes.
CTEST = """#!/usr/bin/env bash
echo "$LOCKSTEP_TEST_TENTH $*" >>"$TOP/asked"
only=.
while [ $# -gt 0 ]; do case $1 in --output-junit) results=$2 ;; -R) only=$2 ;; esac; shift; done
mkdir -p "$TOP/build/Testing/Temporary" "$TOP/build/test-records/a"
status=run number=0
if [ ! -e "$TOP/ran" ] && [ -n "$FAILS" ]; then status=fail; fi
touch "$TOP/ran"
{
  echo "<testsuite>"
  for name in ${FAILS:-a/S.Good}; do [[ $name =~ $only ]] && echo "<testcase name='$name' status='$status'><system-out/></testcase>"; done
  echo "</testsuite>"
} >"$results"
for name in $FAILS; do echo "$((++number)):$name"; done >"$TOP/build/Testing/Temporary/LastTestsFailed.log"
[ "$status" = run ]
"""


class TestScript(unittest.TestCase):
    def setUp(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="lockstep-test-script-"))
        self.addCleanup(shutil.rmtree, self.top)
        shutil.copytree(SOURCE / "scripts", self.top / "scripts")
        for folder in ("bin", "build", "tests"):
            (self.top / folder).mkdir()
        (self.top / "bin/ctest").write_text(CTEST)
        (self.top / "bin/ctest").chmod(0o755)
        (self.top / "tests/retried.txt").write_text("# NAME, two blanks, why\na/S.Listed[1]  it waits for a clock\n")

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=self.top, check=True,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run_it(self, fails="", **variables):
        environment = {**os.environ, "PATH": f"{self.top}/bin:{os.environ['PATH']}", "TOP": str(self.top), "FAILS": fails,
                       "GIT_CEILING_DIRECTORIES": str(self.top.parent)}
        for name in ("LOCKSTEP_TEST_TENTH", "TEST_JOBS", "TEST_RECORD", "TEST_UNTIL"):  # of the script that runs this test
            environment.pop(name, None)
        done = subprocess.run([self.top / "scripts/test.sh", self.top / "build"], env={**environment, **variables},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout, (self.top / "asked").read_text().splitlines()

    def test_a_test_that_fails_is_not_tried_again(self):
        status, said, asked = self.run_it("a/S.Other")
        self.assertEqual((status, len(asked)), (1, 1), said)
        self.assertIn("failed: a/S.Other", said)

    def test_one_of_the_list_is_tried_again_alone_and_named(self):
        status, said, asked = self.run_it("a/S.Listed[1]")
        self.assertEqual((status, len(asked)), (0, 2), said)
        self.assertIn(r"-R ^(a/S\.Listed\[1\])$", asked[1])
        self.assertIn("passed only when it ran again, alone: a/S.Listed[1]", said)

    def test_of_both_the_one_of_the_list_alone(self):
        status, said, asked = self.run_it("a/S.Listed[1] a/S.Other")
        self.assertNotEqual(status, 0)
        self.assertIn(r"-R ^(a/S\.Listed\[1\])$", asked[1])

    def test_long_tests_run_another_tenth_at_each_commit(self):
        self.git("init", "-q")
        for commit in range(1, 12):
            self.git("commit", "-q", "--allow-empty", "-m", str(commit))
            status, said, asked = self.run_it()
            self.assertEqual(status, 0, said)
            self.assertEqual(asked[-1].split()[0], str(commit % 10))
        self.assertIn("make test-all", said)

    def test_and_all_of_them_where_the_history_is_not_whole_or_somebody_asks(self):
        self.assertEqual(self.run_it()[2][-1].split()[0], "all")  # no history at all
        self.git("init", "-q")
        for commit in range(3):
            self.git("commit", "-q", "--allow-empty", "-m", str(commit))
        self.assertEqual(self.run_it(LOCKSTEP_TEST_TENTH="all")[2][-1].split()[0], "all")
        commit = subprocess.run(["git", "rev-parse", "HEAD~1"], cwd=self.top, stdout=subprocess.PIPE, text=True).stdout
        (self.top / ".git/shallow").write_text(commit)
        self.assertEqual(self.run_it()[2][-1].split()[0], "all")


if __name__ == "__main__":
    unittest.main()
