"""What lockstep_plugin() makes of CUDA sources in an outside project, with fakes of nvcc, LibTorch and an installed
Lockstep."""

import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

CMAKE = pathlib.Path(__file__).resolve().parents[3] / "cmake"
# Compiles as C++, and writes down how it was called.
NVCC = """#!/bin/bash
case "$*" in
  *--version*) echo "Cuda compilation tools, release {release}"; exit ;;
  *--list-gpu-arch*) printf 'compute_75\\ncompute_90\\ncompute_100\\n'; exit ;;
esac
source= to= deps= options=()
while [ $# -gt 0 ]; do
  case $1 in
    -c) source=$2; shift ;;
    -o) to=$2; shift ;;
    -MF) deps=$2; shift ;;
    -D*|-I*) options+=("$1") ;;
  esac
  line+=" $1"
  shift
done
[ "${{source##*/}}" = lockstep_nvcc.cu ] && {{ : >"$to"; exit; }}
echo "$0$line" >>{log}
exec g++ -x c++ -std=c++20 -fPIC "${{options[@]}}" -MD -MF "$deps" -MT "$to" -c "$source" -o "$to"
"""
PROJECT = """cmake_minimum_required(VERSION 3.22)
project(own LANGUAGES CXX)
find_package(lockstep REQUIRED)
lockstep_plugin(own {sources})
"""
CPP = """#ifdef LOCKSTEP_PLUGIN_CUDA
extern "C" const char* kernels() { return LOCKSTEP_PLUGIN_CUDA; }
#endif
extern "C" int recipe() { return 1; }
"""
CU = """#include "own.h"
extern "C" int cudaLaunchKernel();
extern "C" int kernel() { return cudaLaunchKernel() + ANSWER; }
"""


class PluginTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="lockstep-plugin-")
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name).resolve()
        self.log = self.top / "nvcc.log"
        self.torch()
        self.lockstep()
        self.write("own/CMakeLists.txt", PROJECT.format(sources="own.cpp own.cu"))
        self.write("own/own.cpp", CPP)
        self.write("own/own.cu", CU)
        self.write("own/own.h", "#define ANSWER 42\n")

    def write(self, name, text="", mode=0o644):
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    def library(self, name, source="", soname=None):
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["g++", "-shared", "-fPIC", "-x", "c++", "-", "-o", path, f"-Wl,-soname,{soname or path.name}"],
                       input=source, text=True, check=True)

    def torch(self, cuda="13.0"):
        """A wheel of LibTorch with its CUDA runtime beside it."""
        self.write("site/torch/include/ATen/ATen.h")
        self.write("site/torch/include/torch/csrc/api/include/torch/all.h")
        self.write("site/torch/include/torch/headeronly/version.h",
                   "#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR 11\n#define TORCH_VERSION_PATCH 0\n")
        self.write("site/torch/version.py", f"cuda: Optional[str] = '{cuda}'\n")
        for name in ("torch_cpu", "c10", "torch_cuda", "c10_cuda"):
            self.library(f"site/torch/lib/lib{name}.so")
        self.write("site/nvidia/cu13/include/cuda_runtime_api.h", "#define CUDART_VERSION  13000\n")
        self.library("site/nvidia/cu13/lib/libcudart.so.13", 'extern "C" int cudaLaunchKernel() { return 0; }')

    def lockstep(self, nvcc="", architectures="75;90"):
        """An installed tree."""
        self.write("prefix/include/lockstep/core/base/text/text.h")
        self.write("prefix/include/lockstep-dependencies/nlohmann/json.hpp")
        self.library("prefix/lib/liblockstep.so")
        self.library("prefix/lib/liblockstep-cuda.so")
        values = {"PROJECT_VERSION": "0.1.0", "LOCKSTEP_TORCH_VERSION": "2.11.0", "LOCKSTEP_TORCH": self.top / "site/torch",
                  "lockstep_kernel_compiler": nvcc, "lockstep_kernel_architectures": architectures}
        config = re.sub("@([A-Za-z_]+)@", lambda found: str(values[found[1]]), (CMAKE / "lockstep-config.cmake.in").read_text())
        self.write("prefix/lib/cmake/lockstep/lockstep-config.cmake", config)
        for name in re.findall(r"cmake/(\S+[.]cmake)\b", (CMAKE / "Install.cmake").read_text()):
            if (CMAKE / name).exists():
                shutil.copy(CMAKE / name, self.top / "prefix/lib/cmake/lockstep")

    def nvcc(self, folder, release="13.0, V13.0.88"):
        return self.write(f"{folder}/nvcc", NVCC.format(release=release, log=self.log), 0o755)

    def configure(self, *options, path=(), **environment):
        folders = ":".join([str(self.top / folder) for folder in path] + ["/usr/bin", "/bin"])
        self.environment = {"PATH": folders, "HOME": str(self.top), "LOCKSTEP_SETUP_ROOT": str(self.top / "root"), **environment}
        result = subprocess.run([shutil.which("cmake"), "-S", self.top / "own", "-B", self.top / "build", "-G", "Ninja",
                                 "-Wno-dev", f"-DCMAKE_MAKE_PROGRAM={shutil.which('ninja')}",
                                 f"-DCMAKE_PREFIX_PATH={self.top}/prefix", *options],
                                env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return result.returncode, " ".join(result.stdout.split())

    def build(self, *options, path=(), **environment):
        """What configuring says, and the libraries."""
        status, said = self.configure(*options, path=path, **environment)
        self.assertEqual(status, 0, said)
        self.make()
        return said

    def make(self):
        result = subprocess.run([shutil.which("cmake"), "--build", self.top / "build"], env=self.environment, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)
        self.assertEqual(result.returncode, 0, result.stdout)

    def calls(self):
        return self.log.read_text().splitlines() if self.log.exists() else []

    def has(self, name):
        return (self.top / "build" / name).exists()

    def needed(self, name):
        text = subprocess.run(["readelf", "-d", self.top / "build" / name], stdout=subprocess.PIPE, text=True, check=True).stdout
        return re.findall(r"NEEDED.*\[(.*)\]", text)

    def symbols(self, name):
        text = subprocess.run(["nm", "-D", "--defined-only", self.top / "build" / name], stdout=subprocess.PIPE, text=True,
                              check=True).stdout
        return [line.split()[-1] for line in text.splitlines()]


class Kernels(PluginTest):
    def test_become_a_library_of_their_own_that_the_plugin_names(self):
        self.nvcc("bin")
        self.build(path=("bin",))
        self.assertIn("kernel", self.symbols("libown-cuda.so"))
        self.assertIn("lockstep_kernels_version", self.symbols("libown-cuda.so"))
        self.assertIn("kernels", self.symbols("libown.so"), "LOCKSTEP_PLUGIN_CUDA is defined")
        self.assertIn("lockstep_plugin_kernels", self.symbols("libown.so"))
        self.assertIn(b"libown-cuda.so\0", (self.top / "build/libown.so").read_bytes())

    def test_take_the_runtime_of_libtorch_which_the_plugin_itself_does_without(self):
        self.nvcc("bin")
        self.build(path=("bin",))
        self.assertIn("libcudart.so.13", self.needed("libown-cuda.so"))
        self.assertNotIn("cudaLaunchKernel", self.symbols("libown-cuda.so"), "a second runtime")
        self.assertIn("libc10_cuda.so", self.needed("libown-cuda.so"))
        for library in ("libcudart.so.13", "libc10_cuda.so", "libtorch_cuda.so"):
            self.assertNotIn(library, self.needed("libown.so"))

    def test_are_compiled_as_those_of_lockstep(self):
        self.nvcc("bin")
        self.build(path=("bin",))
        call, = self.calls()
        for words in ("-std=c++20", "-O3", "-fPIC", "arch=compute_75,code=sm_75", "arch=compute_90,code=sm_90",
                      "arch=compute_90,code=compute_90", "-DLOCKSTEP_PLUGIN_VERSION=\"0.1.0 torch 2.11.0\"",
                      f"-I{self.top}/prefix/include", f"-I{self.top}/site/torch/include"):
            self.assertIn(words, call)

    def test_see_what_the_project_adds_to_the_plugin(self):
        self.nvcc("bin")
        self.write("own/more/own2.h", "")
        self.write("own/own.cu", '#include "own2.h"\n' + CU + "static_assert(MORE == 7);\n")
        with open(self.top / "own/CMakeLists.txt", "a") as project:
            project.write("target_include_directories(own PRIVATE more)\ntarget_compile_definitions(own PRIVATE MORE=7)\n")
        self.build("-DCMAKE_CUDA_FLAGS=--use_fast_math -lineinfo", path=("bin",))
        self.assertIn("--use_fast_math", self.calls()[0])

    def test_are_compiled_again_when_a_header_changes(self):
        self.nvcc("bin")
        self.build(path=("bin",))
        self.make()
        self.assertEqual(len(self.calls()), 1)
        self.write("own/own.h", "#define ANSWER 43\n")
        self.make()
        self.assertEqual(len(self.calls()), 2)

    def test_that_call_what_is_not_there_fail_when_linked(self):
        self.nvcc("bin")
        self.write("own/own.cu", 'extern "C" int nowhere();\nextern "C" int kernel() { return nowhere(); }\n')
        status, said = self.configure(path=("bin",))
        self.assertEqual(status, 0, said)
        result = subprocess.run([shutil.which("cmake"), "--build", self.top / "build"], env=self.environment, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("undefined reference to `nowhere'", result.stdout)


class Architectures(PluginTest):
    def codes(self, *options, **environment):
        self.nvcc("bin")
        said = self.build(*options, path=("bin",), **environment)
        call, = self.calls()
        return re.findall(r"code=(\w+)", call), said

    def test_are_those_that_the_project_wants(self):
        self.assertEqual(self.codes("-DCMAKE_CUDA_ARCHITECTURES=100")[0], ["sm_100", "compute_100"])

    def test_may_be_written_as_cmake_writes_them(self):
        self.assertEqual(self.codes("-DCMAKE_CUDA_ARCHITECTURES=75-real;90-real;90-virtual")[0],
                         ["sm_75", "sm_90", "compute_90"])

    def test_may_be_all(self):
        self.assertEqual(self.codes("-DCMAKE_CUDA_ARCHITECTURES=all")[0], ["sm_75", "sm_90", "sm_100", "compute_100"])

    def test_that_no_nvcc_knows_are_named(self):
        self.nvcc("bin")
        status, said = self.configure("-DCMAKE_CUDA_ARCHITECTURES=52", "-DLOCKSTEP_CUDA=ON", path=("bin",))
        self.assertNotEqual(status, 0)
        self.assertIn("knows none of the architectures 52", said)


class Compilers(PluginTest):
    def test_are_found_wherever_one_says_so(self):
        nvcc = self.nvcc("toolkit/bin")
        for options, environment in (((f"-DLOCKSTEP_NVCC={nvcc}",), {}), ((), {"LOCKSTEP_NVCC": str(nvcc)}),
                                     ((f"-DCMAKE_CUDA_COMPILER={nvcc}",), {}), ((), {"CUDACXX": str(nvcc)}),
                                     ((f"-DCUDAToolkit_ROOT={self.top}/toolkit",), {}),
                                     ((), {"CUDAToolkit_ROOT": str(self.top / "toolkit")})):
            with self.subTest(options=options, environment=environment):
                shutil.rmtree(self.top / "build", ignore_errors=True)
                status, said = self.configure(*options, **environment)
                self.assertEqual(status, 0, said)
                self.assertIn(f"CUDA kernels: {nvcc} for 75;90", said)

    def test_the_one_of_lockstep_serves_where_there_is_no_toolkit(self):
        nvcc = self.nvcc("cache")
        self.lockstep(nvcc)
        self.build()
        self.assertTrue(self.calls()[0].startswith(str(nvcc)))

    def test_the_projects_own_comes_before_it(self):
        self.lockstep(self.nvcc("cache"))
        own = self.nvcc("own-toolkit/bin")
        self.build(CUDACXX=str(own))
        self.assertTrue(self.calls()[0].startswith(str(own)))

    def test_of_another_generation_are_passed_over(self):
        self.nvcc("old", "12.4, V12.4.1")
        said = self.build(path=("old",))
        self.assertIn("is of CUDA 12, but LibTorch of CUDA 13.0", said)
        self.assertFalse(self.has("libown-cuda.so"))


class Without(PluginTest):
    def assert_without_kernels(self):
        self.assertEqual(self.calls(), [])
        self.assertFalse(self.has("libown-cuda.so"))
        self.assertIn("recipe", self.symbols("libown.so"))
        self.assertNotIn("kernels", self.symbols("libown.so"), "LOCKSTEP_PLUGIN_CUDA is defined")
        self.assertNotIn("lockstep_plugin_kernels", self.symbols("libown.so"))

    def test_nvcc_the_plugin_is_built_for_the_cpu_and_it_is_said(self):
        said = self.build()
        self.assertIn("the plugin own is built without own.cu: no nvcc was found", said)
        self.assertIn("put nvcc of CUDA 13.0 on PATH or name it with -DLOCKSTEP_NVCC=PATH", said)
        self.assert_without_kernels()

    def test_nvcc_it_is_an_error_where_kernels_are_asked_for(self):
        for options, environment in ((("-DLOCKSTEP_CUDA=ON",), {}), ((), {"LOCKSTEP_CUDA": "ON"})):
            status, said = self.configure(*options, **environment)
            self.assertNotEqual(status, 0)
            self.assertIn("own.cu of the plugin own cannot be compiled: no nvcc was found", said)

    def test_cuda_in_libtorch_it_says_so(self):
        self.nvcc("bin")
        (self.top / "site/torch/lib/libtorch_cuda.so").unlink()
        said = self.build(path=("bin",))
        self.assertIn("this LibTorch is without CUDA", said)
        self.assertIn("`LOCKSTEP_CUDA=ON make install` in Lockstep's folder fetches what kernels take", said)
        self.assert_without_kernels()

    def test_gpus_in_lockstep_it_says_so(self):
        self.nvcc("bin")
        (self.top / "prefix/lib/liblockstep-cuda.so").unlink()
        self.assertIn("this Lockstep is for the CPU alone", self.build(path=("bin",)))
        self.assert_without_kernels()

    def test_kernels_where_they_are_not_wanted(self):
        self.nvcc("bin")
        self.assertIn("own is built without own.cu: LOCKSTEP_CUDA=OFF", self.build("-DLOCKSTEP_CUDA=OFF", path=("bin",)))
        self.assert_without_kernels()

    def test_a_runtime_it_says_so(self):
        self.nvcc("bin")
        (self.top / "site/nvidia/cu13/lib/libcudart.so.13").unlink()
        self.assertIn("the CUDA runtime library (libcudart.so) was not found", self.build(path=("bin",)))
        self.assert_without_kernels()

    def test_a_source_of_cpp_it_is_an_error(self):
        self.nvcc("bin")
        self.write("own/CMakeLists.txt", PROJECT.format(sources="own.cu"))
        status, said = self.configure(path=("bin",))
        self.assertNotEqual(status, 0)
        self.assertIn("the plugin own has no C++ source, only 'own.cu'", said)
        self.assertIn("belongs into a .cpp file", said)

    def test_cuda_sources_nothing_is_looked_for(self):
        self.write("own/CMakeLists.txt", PROJECT.format(sources="own.cpp"))
        said = self.build()
        self.assertNotIn("nvcc", said)
        self.assert_without_kernels()


if __name__ == "__main__":
    unittest.main()
