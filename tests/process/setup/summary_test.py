"""What scripts/test.sh says at its end, from results as ctest writes them."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SUMMARY = pathlib.Path(__file__).resolve().parents[3] / "scripts/lib/test_summary.py"
PASSED = '<testcase name="a" status="run"><system-out>fine</system-out></testcase>'
FAILED = '<testcase name="b" status="fail"><failure message=""/><system-out>no</system-out></testcase>'
NO_PROGRAM = '<testcase name="c" status="notrun"><skipped message="Unable to find executable"/></testcase>'
SKIPPED = """<testcase name="{}" status="notrun"><skipped message="SKIP_RETURN_CODE"/>
<system-out>skipped: {}
</system-out></testcase>"""


class Summary(unittest.TestCase):
    def summarise(self, *cases, again=None, record=None, planned=None, records=None, records_again=None, failures=None):
        """records: what programs wrote down of their tests, by entry."""
        with tempfile.TemporaryDirectory() as folder:
            words = [pathlib.Path(folder, "results.xml")]
            words[0].write_text(f"<testsuite>{''.join(cases)}</testsuite>")
            for flag, written in (("--records", records), ("--records-again", records_again)):
                for entry, text in (written or {}).items():
                    path = pathlib.Path(folder, flag[2:], f"{entry}.tsv")
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(text)
                    words += [flag, path.parents[entry.count("/")]]
            if again is not None:
                words += ["--again", pathlib.Path(folder, "again.xml")]
                words[-1].write_text(f"<testsuite>{''.join(again)}</testsuite>")
            if planned is not None:
                words += ["--planned", str(planned)]
            if failures:
                words += ["--failures", failures]
            if record:
                words += ["--record", record]
            done = subprocess.run([sys.executable, SUMMARY, *words], stdout=subprocess.PIPE, text=True)
        return done.returncode, done.stdout.splitlines()

    def test_closes_with_the_counts_alone_on_a_line(self):
        status, lines = self.summarise(PASSED, PASSED, SKIPPED.format("s", "no GPU"))
        self.assertEqual((status, lines[-1]), (0, "2 passed, 0 failed, 1 skipped"))

    def test_groups_the_skipped_by_reason(self):
        cases = [SKIPPED.format(f"s{i}", "needs an NVIDIA GPU") for i in range(5)] + [SKIPPED.format("t", "no torchrun")]
        _, lines = self.summarise(PASSED, *cases)
        self.assertIn("skipped 5: needs an NVIDIA GPU (s0, s1, s2, ...)", lines)
        self.assertIn("skipped 1: no torchrun (t)", lines)

    def test_a_record_names_every_test_that_was_skipped(self):
        cases = [SKIPPED.format(f"exact/On{gpus}", f"needs {gpus} GPUs, but this machine has 2") for gpus in (4, 8)]
        with tempfile.TemporaryDirectory() as folder:
            record = pathlib.Path(folder, "record.toml")
            self.summarise(PASSED, *cases, record=record)
            lines = record.read_text().splitlines()
        self.assertEqual(lines[:3], ["passed = 1", "failed = 0", "skipped = 2"])
        for gpus in (4, 8):
            at = lines.index(f'test = "exact/On{gpus}"')
            self.assertEqual(lines[at - 1 : at + 2 : 2],
                             ["[[left_out]]", f'why = "needs {gpus} GPUs, but this machine has 2"'])

    def test_a_failed_test_fails_the_run_and_is_named(self):
        status, lines = self.summarise(PASSED, FAILED)
        self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed, 0 skipped"))
        self.assertIn("failed: b", lines)

    def test_one_that_passes_when_it_runs_again_is_named_and_counts_as_passed(self):
        twice = FAILED.replace('"b"', '"c"')
        with tempfile.TemporaryDirectory() as folder:
            record = pathlib.Path(folder, "record.toml")
            status, lines = self.summarise(PASSED, FAILED, twice, again=[PASSED.replace('"a"', '"b"'), twice], record=record)
            self.assertIn('passed_only_alone = ["b"]', record.read_text().splitlines())
        self.assertEqual((status, lines[-1]), (1, "2 passed, 1 failed, 0 skipped"))
        self.assertIn("passed only when it ran again, alone: b", lines)
        self.assertIn("failed: c", lines)
        self.assertEqual(self.summarise(PASSED, FAILED, again=[PASSED.replace('"a"', '"b"')])[0], 0)

    def test_a_test_whose_program_is_missing_has_failed(self):
        status, lines = self.summarise(PASSED, NO_PROGRAM)
        self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed, 0 skipped"))

    def test_failures_are_kept_in_the_words_of_their_tests(self):
        def said(name, text):
            return FAILED.replace('"b"', f'"{name}"').replace(">no<", f">{text}<")

        lines = "\n".join(f"line {number}" for number in range(100))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "failures")
            self.summarise(PASSED, said("gtest", f"{lines}\na_test.cpp:3: Failure\nExpected: 1\n{lines}"), said("script", lines),
                           said("alone", "once"), said("twice", "first"), again=[PASSED.replace('"a"', '"alone"'), said("twice", "then")],
                           failures=path)
            texts = dict(part.split(":\n", 1) for part in path.read_text().strip().split("\n\n"))
            self.summarise(PASSED, failures=path)
            self.assertEqual(path.read_text(), "")
        self.assertEqual(list(texts), ["gtest", "script", "twice"])
        self.assertTrue(texts["gtest"].startswith("a_test.cpp:3: Failure\nExpected: 1\nline 0\n"))
        self.assertEqual((len(texts["gtest"].splitlines()), texts["script"].splitlines()[-1], texts["twice"]), (40, "line 99", "then"))

    def entry(self, status, written, **more):
        """A program that ran the tests of suite S, as it wrote them down."""
        case = f'<testcase name="unit-a/S" status="{status}"><system-out/></testcase>'
        return self.summarise(case, records={"unit-a/S": written}, **more)

    def test_tests_are_counted_and_not_the_entries_that_ran_them(self):
        written = "tests\t3\nbegan\tS.A\npassed\t1\tS.A\t\nbegan\tS.B\npassed\t1\tS.B\t\nbegan\tS.C\nskipped\t0\tS.C\tno GPU\n"
        status, lines = self.entry("run", written)
        self.assertEqual((status, lines[-1]), (0, "2 passed, 0 failed, 1 skipped"))
        self.assertIn("skipped 1: no GPU (unit-a/S.C)", lines)

    def test_the_test_that_failed_is_named(self):
        status, lines = self.entry("fail", "tests\t2\nbegan\tS.A\npassed\t1\tS.A\t\nbegan\tS.B\nfailed\t1\tS.B\t\n")
        self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed, 0 skipped"))
        self.assertIn("failed: unit-a/S.B", lines)

    def test_a_test_that_ended_its_program_has_failed_and_those_behind_it_had_not_begun(self):
        status, lines = self.entry("fail", "tests\t4\nbegan\tS.A\npassed\t1\tS.A\t\nbegan\tS.B\n")
        self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed, 0 skipped, 2 not begun"))
        self.assertIn("failed: unit-a/S.B", lines)

    def test_a_program_that_fails_as_it_ends_has_failed(self):
        status, lines = self.entry("fail", "tests\t1\nbegan\tS.A\npassed\t1\tS.A\t\n")
        self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed, 0 skipped"))
        self.assertIn("failed: unit-a/S", lines)

    def test_a_program_that_wrote_no_end_of_its_tests_has_not_passed(self):
        self.assertEqual(self.entry("run", "tests\t2\n")[0], 1)

    def test_a_test_that_failed_before_it_skipped_has_failed(self):
        case = '<testcase name="unit-a/S.A" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/></testcase>'
        status, lines = self.summarise(PASSED, case, records={"unit-a/S.A": "tests\t1\nbegan\tS.A\nfailed\t1\tS.A\t\n"})
        self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed, 0 skipped"))

    def test_of_a_program_that_runs_again_the_tests_of_both_runs_are_known(self):
        first, second = ("tests\t1\nbegan\tS.A\n" + end for end in ("failed\t1\tS.A\t\n", "passed\t1\tS.A\t\n"))
        passed = '<testcase name="unit-a/S" status="run"><system-out/></testcase>'
        status, lines = self.entry("fail", first, again=[passed], records_again={"unit-a/S": second})
        self.assertEqual((status, lines[-1]), (0, "1 passed, 0 failed, 0 skipped"))
        self.assertIn("passed only when it ran again, alone: unit-a/S.A", lines)

    def test_a_run_that_the_time_cut_short_fails_and_counts_what_had_not_begun(self):
        self.assertEqual(self.summarise(PASSED, planned=3), (1, ["", "1 passed, 0 failed, 0 skipped, 2 not begun"]))
        self.assertEqual(self.summarise(PASSED, planned=1), (0, ["", "1 passed, 0 failed, 0 skipped"]))

    def test_a_run_that_ran_no_test_fails(self):
        self.assertEqual(self.summarise(SKIPPED.format("s", "no GPU"))[0], 1)
        self.assertEqual(self.summarise()[0], 1)


if __name__ == "__main__":
    unittest.main()
