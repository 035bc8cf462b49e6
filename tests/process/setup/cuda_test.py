"""What cmake/Cuda.cmake and cmake/TorchCuda.cmake make of toolkits, wheels and versions, with fakes of all of them."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

CMAKE = pathlib.Path(__file__).resolve().parents[3] / "cmake"
HEADERS = ("crt/host_defines.h", "cublas_v2.h", "cublasLt.h", "cusparse.h", "cusolverDn.h", "nccl.h")
NVCC = """#!/bin/sh
case "$*" in
  *--version*) echo "Cuda compilation tools, release {release}" ;;
  *--list-gpu-arch*) printf 'compute_75\\ncompute_90\\ncompute_100\\n' ;;
  *) exit {status} ;;
esac
"""
HARNESS = """
cmake_minimum_required(VERSION 3.22)
set(PROJECT_SOURCE_DIR ${TOP}/checkout)
set(CMAKE_BINARY_DIR ${TOP})
set(CMAKE_CXX_COMPILER_ID GNU)
set(CMAKE_CXX_COMPILER g++)
include(${CMAKE}/TorchCuda.cmake)
include(${CMAKE}/Cuda.cmake)
message("why_not=${LOCKSTEP_CUDA_WHY_NOT}")
message("kernels=${LOCKSTEP_KERNEL_COMPILER}")
message("flags=${LOCKSTEP_NVCC_FLAGS}")
message("cudart=${LOCKSTEP_CUDART}")
"""


class CudaTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="lockstep-cuda-")
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name)
        self.site = self.top / "site"
        self.write("site/torch/lib/libtorch_cuda.so")
        self.torch_cuda("13.0")
        self.headers("site/nvidia/cu13", "13")
        self.write("harness.cmake", HARNESS)

    def write(self, name, text="", mode=0o644):
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    def torch_cuda(self, version):
        self.write("site/torch/version.py", f"__version__ = '2.11.0'\ncuda: Optional[str] = '{version}'\n")

    def headers(self, folder, generation):
        for header in HEADERS:
            self.write(f"{folder}/include/{header}")
        self.write(f"{folder}/include/cuda_runtime_api.h", f"#define CUDART_VERSION  {generation}000\n")
        self.write(f"{folder}/lib/libcudart.so.{generation}")

    def nvcc(self, folder, release, status=0):
        return self.write(f"{folder}/nvcc", NVCC.format(release=release, status=status), 0o755)

    def configure(self, *options, path=(), **environment):
        folders = ":".join([str(self.top / folder) for folder in path] + ["/usr/bin", "/bin"])
        return subprocess.run(
            [shutil.which("cmake"), f"-DTOP={self.top}", f"-DCMAKE={CMAKE}", f"-DLOCKSTEP_TORCH={self.site}/torch",
             "-DLOCKSTEP_CUDA=ON", "-DLOCKSTEP_CUDA_ARCHITECTURES=75;90", *options, "-P", self.top / "harness.cmake"],
            env={"PATH": folders, "HOME": str(self.top), "LOCKSTEP_SETUP_ROOT": str(self.top / "root"), **environment}, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)

    def value(self, result, name):
        self.assertEqual(result.returncode, 0, result.stdout)
        return next(line.split("=", 1)[1] for line in result.stdout.splitlines() if line.startswith(name + "="))


class Compilers(CudaTest):
    def test_an_old_nvcc_on_the_path_does_not_hide_the_one_behind_it(self):
        self.nvcc("old", "11.5, V11.5.119")
        good = self.nvcc("good", "13.0, V13.0.88")
        result = self.configure(path=("old", "good"))
        self.assertEqual(self.value(result, "kernels"), str(good))
        self.assertIn("is of CUDA 11, but LibTorch of CUDA 13.0", result.stdout)
        self.assertIn("arch=compute_75,code=sm_75", self.value(result, "flags"))
        self.assertIn("arch=compute_90,code=compute_90", self.value(result, "flags"))

    def test_one_that_cannot_compile_is_passed_over(self):
        self.nvcc("broken", "13.0, V13.0.88", status=1)
        good = self.nvcc("toolkit/bin", "13.1, V13.1.1")
        self.assertEqual(self.value(self.configure(path=("broken", "toolkit/bin")), "kernels"), str(good))

    def test_toolkits_in_the_usual_places_are_found_without_a_path(self):
        nvcc = self.nvcc("root/usr/local/cuda-13.0/bin", "13.0, V13.0.88")
        self.assertEqual(self.value(self.configure(), "kernels"), str(nvcc))

    def test_the_given_one_comes_first(self):
        self.nvcc("path", "13.0, V13.0.88")
        given = self.nvcc("given", "13.0, V13.0.88")
        result = self.configure(f"-DLOCKSTEP_NVCC={given}", path=("path",))
        self.assertEqual(self.value(result, "kernels"), str(given))

    def test_a_toolkit_of_cuda_12_compiles_for_a_libtorch_of_cuda_12(self):
        self.torch_cuda("12.8")
        self.headers("site/nvidia/cu13", "13")
        self.headers("toolkit", "12")
        nvcc = self.nvcc("toolkit/bin", "12.8, V12.8.93")
        result = self.configure(path=("toolkit/bin",))
        self.assertEqual(self.value(result, "kernels"), str(nvcc))
        self.assertEqual(self.value(result, "cudart"), str(self.top / "toolkit/lib/libcudart.so.12"))

    def test_without_any_the_build_says_so(self):
        self.nvcc("old", "11.5, V11.5.119")
        result = self.configure(path=("old",))
        self.assertEqual(self.value(result, "kernels"), "")
        self.assertIn("note: CUDA kernels are not built", result.stdout)


class Headers(CudaTest):
    def test_the_compilers_own_folder_brings_what_the_wheels_of_libtorch_lack(self):
        (self.site / "nvidia/cu13/include/crt/host_defines.h").unlink()
        self.write("compiler/include/crt/host_defines.h")
        nvcc = self.nvcc("compiler/bin", "13.0, V13.0.88")
        self.assertEqual(self.value(self.configure(f"-DLOCKSTEP_NVCC={nvcc}"), "why_not"), "")

    def test_what_is_missing_is_an_error_with_its_name(self):
        for path in (self.site / "nvidia").rglob("nccl.h"):
            path.unlink()
        result = self.configure()
        self.assertNotEqual(result.returncode, 0)
        text = " ".join(result.stdout.split())
        self.assertIn("GPU support cannot be built: CUDA headers not found: nccl.h", text)
        self.assertIn("LOCKSTEP_CUDA=OFF", text)


class Versions(CudaTest):
    def asked(self):
        result = subprocess.run(["cmake", f"-DLOCKSTEP_TORCH={self.site}/torch", "-P", CMAKE / "TorchCuda.cmake"],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return result.stdout.split()

    def test_the_driver_that_is_needed_follows_from_libtorch(self):
        for version, number in (("13.0", "13000"), ("12.8", "12080"), ("12.10", "12100")):
            self.torch_cuda(version)
            self.assertEqual(self.asked(), [version, number])

    def test_a_libtorch_without_python_is_known_by_its_runtime(self):
        (self.site / "torch/version.py").unlink()
        self.write("site/torch/lib/libcudart-1ae9b34d.so.12")
        self.assertEqual(self.asked(), ["12.0", "12000"])

    def test_one_for_the_cpu_needs_none(self):
        self.write("site/torch/version.py", "cuda: Optional[str] = None\n")
        self.assertEqual(self.asked(), ["0"])


if __name__ == "__main__":
    unittest.main()
