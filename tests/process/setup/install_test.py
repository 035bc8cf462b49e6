"""What the installation makes of headers and of LibTorch: cmake/InstallHeaders.cmake, cmake/InstallTorch.cmake."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

CMAKE = pathlib.Path(__file__).resolve().parents[3] / "cmake"
SCRIPT = CMAKE / "InstallHeaders.cmake"
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

    def test_includes_of_our_modules_gain_the_prefix_and_nothing_else_changes(self):
        with tempfile.TemporaryDirectory() as top:
            self.write(top, "base/error.h", "#pragma once\n")
            self.write(top, "plan/plan.h", HEADER)
            self.write(top, "tools/cli/main.h", "#pragma once\n")
            installed = self.install(top)
            self.assertEqual((installed / "plan/plan.h").read_text(),
                             HEADER.replace('"base/error.h"', '"lockstep/base/error.h"'))
            self.assertFalse((installed / "tools/cli").exists())

    def test_headers_in_folders_of_a_room_are_installed_too(self):
        with tempfile.TemporaryDirectory() as top:
            self.write(top, "core/base/error.h", "#pragma once\n")
            self.write(top, "tools/jobs/files/batch.h", '#include "core/base/error.h"\n')
            installed = self.install(top)
            self.assertEqual((installed / "tools/jobs/files/batch.h").read_text(), '#include "lockstep/core/base/error.h"\n')

    def test_names_of_earlier_versions_lead_to_headers_that_are_there(self):
        pairs = re.findall(r"^  (\S+[.]h) (\S+[.]h)$", (CMAKE / "ForwardHeaders.cmake").read_text(), re.MULTILINE)
        self.assertTrue(pairs)
        old, new = pairs[0]
        with tempfile.TemporaryDirectory() as top:
            self.write(top, new, "#pragma once\n")
            installed = self.install(top)
            self.assertIn(f"#include <lockstep/{new}>\n", (installed / old).read_text())
            self.assertFalse((installed / pairs[1][0]).exists())

    def test_headers_that_an_earlier_version_installed_are_no_longer_there(self):
        with tempfile.TemporaryDirectory() as top:
            self.write(top, "core/base/error.h", "#pragma once\n")
            stale = pathlib.Path(top, "to/include/lockstep/doctor/rules.h")
            others = pathlib.Path(top, "to/include/lockstep/mine/rules.h")
            for header in (stale, others):
                header.parent.mkdir(parents=True)
                header.write_text("struct Rule {};\n")
            self.install(top)
            self.assertFalse(stale.exists())
            self.assertTrue(others.exists())

    def test_a_header_that_is_the_same_is_not_written_again(self):
        with tempfile.TemporaryDirectory() as top:
            self.write(top, "base/error.h", "#pragma once\n")
            header = self.install(top) / "base/error.h"
            before = header.stat().st_mtime_ns
            self.install(top)
            self.assertEqual(header.stat().st_mtime_ns, before)


class LibTorch(unittest.TestCase):
    """Where only its owner can read LibTorch, an installation for others brings a copy."""

    def setUp(self):
        before = os.umask(0o022)
        self.addCleanup(os.umask, before)
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="lockstep-install-"))
        self.addCleanup(shutil.rmtree, self.top)
        self.top.chmod(0o755)
        self.home = self.top / "home"
        for name in ("torch/lib/libtorch_cpu.so", "torch/include/ATen/ATen.h", "torch/version.py", "torch/nn/module.py",
                     "nvidia/cu13/lib/libcudart.so.13", "nvidia/cu13/include/cuda.h"):
            path = self.home / "cache" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("")

    def install(self, prefix, **environment):
        subprocess.run(
            ["cmake", f"-DLOCKSTEP_TORCH={self.home}/cache/torch", f"-DCMAKE_INSTALL_PREFIX={prefix}",
             f"-DLOCKSTEP_TORCH_LIBRARY_PATHS={self.home}/cache/torch/lib;{self.home}/cache/nvidia/cu13/lib",
             "-P", CMAKE / "InstallTorch.cmake"],
            env={**os.environ, **environment}, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return pathlib.Path(prefix, "lib/lockstep/libtorch")

    def test_it_is_copied_out_of_a_private_folder(self):
        self.home.chmod(0o700)
        copy = self.install(self.top / "usr")
        for name in ("torch/lib/libtorch_cpu.so", "torch/include/ATen/ATen.h", "torch/version.py",
                     "nvidia/cu13/lib/libcudart.so.13", "nvidia/cu13/include/cuda.h"):
            self.assertTrue((copy / name).exists(), name)
        self.assertFalse((copy / "torch/nn").exists())

    def test_it_stays_where_everybody_can_read_it_and_a_copy_of_earlier_goes(self):
        self.home.chmod(0o700)
        copy = self.install(self.top / "usr")
        self.home.chmod(0o755)
        self.install(self.top / "usr")
        self.assertFalse(copy.exists())

    def test_it_stays_where_both_lie_in_the_same_private_folder(self):
        self.home.chmod(0o700)
        self.assertFalse(self.install(self.home / "lockstep").exists())

    def test_the_user_decides(self):
        self.assertTrue(self.install(self.top / "a", LOCKSTEP_INSTALL_TORCH="ON").exists())
        self.home.chmod(0o700)
        self.assertFalse(self.install(self.top / "b", LOCKSTEP_INSTALL_TORCH="OFF").exists())

    def test_programs_no_longer_look_into_the_private_folder(self):
        compiler = shutil.which("g++")
        if not compiler:
            self.skipTest("no compiler")
        self.home.chmod(0o700)
        program = self.top / "usr/bin/lockstep-worker"
        program.parent.mkdir(parents=True)
        cache = f"{self.home}/cache"
        path = f"$ORIGIN/../lib:$ORIGIN/../lib/lockstep/libtorch/torch/lib:{cache}/torch/lib:{cache}/nvidia/cu13/lib"
        subprocess.run([compiler, "-x", "c++", "-", "-o", program, f"-Wl,-rpath,{path}"], input=b"int main() {}", check=True)
        self.install(self.top / "usr")
        self.assertNotIn(cache.encode(), program.read_bytes())
        self.assertIn(b"$ORIGIN/../lib/lockstep/libtorch/torch/lib", program.read_bytes())


if __name__ == "__main__":
    unittest.main()
