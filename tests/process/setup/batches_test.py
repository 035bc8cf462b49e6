"""What bench/lib/batches.py reads out of a ledger: batches_test.py [TEST...]"""

import pathlib
import sqlite3
import sys
import tempfile
import unittest

BENCH = pathlib.Path(__file__).resolve().parents[3] / "bench"
sys.path[:0] = [str(BENCH / "lib"), str(BENCH)]
import batches
import gbdt_gpu


class Figures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="lockstep-batches-")
        self.addCleanup(folder.cleanup)
        self.batch = pathlib.Path(folder.name)
        self.ledger = sqlite3.connect(self.batch / "ledger.sqlite")
        self.addCleanup(self.ledger.close)
        self.ledger.executescript(
            "CREATE TABLE job(id INTEGER PRIMARY KEY, state TEXT, listed INTEGER DEFAULT 1);"
            "CREATE TABLE attempt(job INTEGER, outcome TEXT, started REAL, ended REAL, devices TEXT, placement TEXT,"
            " gpu_memory_bytes INTEGER, gpu_activity_percent REAL);"
            "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT);")

    def job(self, number, outcome, started, ended, device, placement="verified"):
        state = "done" if outcome == "done" else "failed"
        self.ledger.execute("INSERT OR REPLACE INTO job(id, state) VALUES (?, ?)", (number, state))
        self.ledger.execute("INSERT INTO attempt VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                            (number, outcome, started, ended, f'["{device}"]', placement, 1 << 30, 20.0))
        self.ledger.commit()

    def test_counts_what_was_done_and_where(self):
        self.job(1, "failed", 100, 101, "GPU-0", "wrong")
        self.job(1, "done", 101, 103, "GPU-0")
        self.job(2, "done", 100, 104, "GPU-1")
        self.job(3, "done", 104, 110, "GPU-0", "unseen")
        found = batches.figures(self.batch, device_count=2)
        self.assertEqual((found["jobs"], found["done"], found["failed"], found["attempts"]), (3, 3, 0, 4))
        self.assertEqual((found["verified"], found["wrong"], found["too_short_to_tell"]), (2, 1, 1))
        self.assertEqual((found["seconds"], found["per_minute"], found["at_once"]), (10, 18, 1.2))
        self.assertEqual((found["device_jobs"], found["device_job_seconds"]), ([2, 1], [8, 4]))
        self.assertEqual((found["balance_of_jobs"], found["balance_of_seconds"]), (0.5, 0.5))
        self.assertEqual((found["peak_mib"], found["activity_percent"]), (1024, 20))

    def test_a_device_without_a_job_counts(self):
        self.job(1, "done", 0, 1, "GPU-0")
        self.assertEqual(batches.figures(self.batch, device_count=2)["balance_of_jobs"], 0)

    def test_a_batch_without_a_job_that_was_done_has_no_rate(self):
        self.job(1, "failed", 0, 1, "GPU-0")
        found = batches.figures(self.batch)
        self.assertEqual((found["per_minute"], found["job_s"], found["failed"]), (0, None, 1))

    def test_as_many_windows_as_the_time_allows(self):
        self.assertEqual(gbdt_gpu.symbols_in_time({"per_minute": 60}, 45), 7)
        self.assertEqual(gbdt_gpu.symbols_in_time({"per_minute": 60000}, 45), 96)
        self.assertEqual(gbdt_gpu.symbols_in_time({"per_minute": 0}, 45), 0)


if __name__ == "__main__":
    unittest.main()
