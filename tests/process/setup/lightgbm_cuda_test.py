"""The decisions of scripts/lightgbm-cuda.sh, with fakes of all that compiles: lightgbm_cuda_test.py [TEST...]"""

import hashlib
import io
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[3]

# Each notes its call in $FAKE_LOG.
FAKES = {
    "nvidia-smi": """[ -n "${FAKE_GPUS:-}" ] || exit 9
      case "$*" in *compute_cap*) printf '%s\\n' "$FAKE_GPUS" ;; *) exit 9 ;; esac""",
    "g++": """case " $* " in
        *" -v "*) printf 'search:\\n /usr/include\\nEnd\\n' >&2 ;;
        *) echo 12.2.0 ;;
      esac""",
    "cmake": """[ "$1" != --version ] || { echo "cmake version ${FAKE_CMAKE:-3.28.1}"; exit; }
      echo "cmake $*" >>"$FAKE_LOG"; mkdir -p "$4"
      [ -z "${FAKE_CONFIGURE_FAILS:-}" ] || { echo "CMake Error: no"; exit 1; } """,
    "ninja": """echo "ninja $*" >>"$FAKE_LOG"
      [ -z "${FAKE_COMPILE_FAILS:-}" ] || { echo "ptxas fatal: no"; exit 1; }
      echo library >"$2/../lib_lightgbm.so" """,
    "strip": 'echo "strip" >>"$FAKE_LOG"',
    "python3": """if [ "$1 $2" != "-m pip" ]; then exec "$REAL_PYTHON" "$@"; fi
      while [ $# -gt 0 ]; do case $1 in --dest) to=$2 ;; esac; shift; done
      echo "pip" >>"$FAKE_LOG"
      cp "$FAKE_SOURCE" "$to/lightgbm-4.7.0.tar.gz" """,
    "nvcc": "exit 0",
}


class LightGbmCuda(unittest.TestCase):
    def setUp(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="lockstep-lightgbm-"))
        self.addCleanup(shutil.rmtree, self.top)
        self.checkout = self.top / "checkout"
        shutil.copytree(SOURCE / "scripts", self.checkout / "scripts")
        for name, body in FAKES.items():
            self.write(f"bin/{name}", f"#!/bin/bash\n{body}\n").chmod(0o755)
        self.write("site/nvidia/nccl/include/nccl.h")
        self.write("site/nvidia/nccl/lib/libnccl.so.2")
        (self.top / "site/torch").mkdir()
        self.write("root/proc/meminfo", "MemAvailable: 8000000 kB\n")
        self.write("checkout/.lockstep/torch", f"{self.top}/site/torch\n")
        self.write("checkout/.lockstep/nvcc", f"{self.top}/bin/nvcc\n")
        self.log = self.top / "log"
        self.make_source()

    def write(self, name, text=""):
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def make_source(self):
        """An archive with a licence, whose hash is the one that is asked for."""
        path = self.top / "source.tar.gz"
        with tarfile.open(path, "w:gz") as archive:
            member = tarfile.TarInfo("lightgbm-4.7.0/LICENSE")
            member.size = 3
            archive.addfile(member, io.BytesIO(b"MIT"))
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        self.write("checkout/scripts/source-lightgbm.txt", f"lightgbm==4.7.0 --hash=sha256:{digest}\n")

    def run_script(self, **environment):
        return subprocess.run(
            ["bash", self.checkout / "scripts/lightgbm-cuda.sh", self.top / "build"], text=True, capture_output=True,
            env={"PATH": f"{self.top / 'bin'}:/usr/bin:/bin", "HOME": str(self.top), "FAKE_LOG": str(self.log),
                 "FAKE_SOURCE": str(self.top / "source.tar.gz"), "REAL_PYTHON": sys.executable,
                 "LOCKSTEP_CACHE": str(self.top / "cache"), "LOCKSTEP_SETUP_ROOT": str(self.top / "root"), **environment})

    def calls(self, start):
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line for line in lines if line.startswith(start)]

    def assert_fails_with(self, result, *texts):
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        for text in texts:
            self.assertIn(text, result.stderr)
        self.assertFalse((self.top / "build/lightgbm-cuda").exists())

    def test_builds_for_the_gpus_that_are_here_and_keeps_it(self):
        gpus = "NVIDIA H100 80GB HBM3, 9.0\nTesla T4, 7.5"
        result = self.run_script(FAKE_GPUS=gpus)
        self.assertEqual(result.returncode, 0, result.stderr)
        folder = self.top / "build/lightgbm-cuda"
        self.assertEqual((folder / "lib/lib_lightgbm.so").read_text(), "library\n")
        self.assertEqual((folder / "VERSION.txt").read_text(), "4.7.0\n")
        self.assertEqual((folder / "LICENSE").read_text(), "MIT")
        configure = self.calls("cmake")[0]
        self.assertIn("-DCMAKE_CUDA_ARCHITECTURES=75;90 ", configure)
        self.assertIn(f"-DNCCL_LIBRARY={self.top}/site/nvidia/nccl/lib/libnccl.so.2", configure)
        kept = (self.checkout / ".lockstep/lightgbm_cuda").read_text().strip()
        self.assertEqual(kept, str(self.top / "cache/lightgbm-cuda-4.7.0-75-90"))
        shutil.rmtree(folder)
        self.assertEqual(self.run_script(FAKE_GPUS=gpus).returncode, 0)
        self.assertTrue((folder / "lib/lib_lightgbm.so").exists())
        self.assertEqual(len(self.calls("ninja")), 1)

    def test_builds_again_where_its_nccl_has_gone(self):
        self.assertEqual(self.run_script(LIGHTGBM_CUDA_ARCHITECTURES="90").returncode, 0)
        (self.top / "site").rename(self.top / "moved")
        (self.checkout / ".lockstep/torch").write_text(f"{self.top}/moved/torch\n")
        self.assertEqual(self.run_script(LIGHTGBM_CUDA_ARCHITECTURES="90").returncode, 0)
        self.assertEqual(len(self.calls("ninja")), 2)

    def test_builds_for_all_architectures_where_there_is_no_gpu_and_says_so(self):
        result = self.run_script()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("no GPU is here", result.stderr)
        self.assertIn("-DCMAKE_CUDA_ARCHITECTURES=75;80;86;89;90;100;120 ", self.calls("cmake")[0])

    def test_refuses_what_is_no_list_of_architectures(self):
        self.assert_fails_with(self.run_script(LIGHTGBM_CUDA_ARCHITECTURES="sm_90"), "'sm_90'", "for example 90")
        self.assertEqual(self.calls(""), [])

    def test_refuses_another_source(self):
        self.write("other.tar.gz", "something else")
        result = self.run_script(LIGHTGBM_CUDA_ARCHITECTURES="90", LIGHTGBM_SOURCE=f"{self.top}/other.tar.gz")
        self.assert_fails_with(result, "it has another SHA-256")
        result = self.run_script(LIGHTGBM_CUDA_ARCHITECTURES="90", LIGHTGBM_SOURCE="/nowhere.tar.gz")
        self.assert_fails_with(result, "there is no '/nowhere.tar.gz'")

    def test_refuses_an_nccl_that_is_not_whole(self):
        result = self.run_script(LIGHTGBM_CUDA_ARCHITECTURES="90", NCCL_ROOT=str(self.top / "bin"))
        self.assert_fails_with(result, "lacks include/nccl.h or lib/libnccl.so")

    def test_shows_what_cmake_and_the_compiler_say(self):
        result = self.run_script(LIGHTGBM_CUDA_ARCHITECTURES="90", FAKE_CONFIGURE_FAILS="1")
        self.assert_fails_with(result, "CMake Error: no", "could not be configured")
        result = self.run_script(LIGHTGBM_CUDA_ARCHITECTURES="90", FAKE_COMPILE_FAILS="1")
        self.assert_fails_with(result, "ptxas fatal: no", "could not be compiled")


if __name__ == "__main__":
    unittest.main()
