"""What cmake/InstallHeaders.cmake makes of the headers."""

import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "cmake/InstallHeaders.cmake"
HEADER = """#pragma once
#include "base/error.h"
#include <string>
#include "other/thing.h"
// a; b [c] \\"d\\" ${e}
"""


class Headers(unittest.TestCase):
    def install(self, top):
        subprocess.run(["cmake", f"-DLOCKSTEP_HEADERS_FROM={top}/src", f"-DCMAKE_INSTALL_PREFIX={top}/to", "-P", SCRIPT],
                       check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return pathlib.Path(top, "to/include/lockstep")

    def write(self, top, name, text):
        path = pathlib.Path(top, "src", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def test_includes_of_our_rooms_gain_the_prefix_and_nothing_else_changes(self):
        with tempfile.TemporaryDirectory() as top:
            self.write(top, "base/error.h", "#pragma once\n")
            self.write(top, "plan/plan.h", HEADER)
            self.write(top, "cli/main.h", "#pragma once\n")
            installed = self.install(top)
            self.assertEqual((installed / "plan/plan.h").read_text(),
                             HEADER.replace('"base/error.h"', '"lockstep/base/error.h"'))
            self.assertFalse((installed / "cli").exists())

    def test_a_header_that_is_the_same_is_not_written_again(self):
        with tempfile.TemporaryDirectory() as top:
            self.write(top, "base/error.h", "#pragma once\n")
            header = self.install(top) / "base/error.h"
            before = header.stat().st_mtime_ns
            self.install(top)
            self.assertEqual(header.stat().st_mtime_ns, before)


if __name__ == "__main__":
    unittest.main()
