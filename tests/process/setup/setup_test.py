"""The decisions of scripts/setup.sh, with fakes of everything that it asks: setup_test.py [TEST...]"""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parents[3]

# Stand-ins for programs; each notes its call in $FAKE_LOG. FAKE_* variables steer them.
FAKES = {
    # A download of packages leaves files that dpkg-deb unpacks: one header each, gloo/context.h of libgloo-dev.
    "apt-get": """echo "apt-get $*" >>"$FAKE_LOG"
      case "$*" in
        *" -s install "*) for p in $FAKE_NEEDS; do echo "Inst $p (1 Debian:12 [amd64])"; done ;;
        *" download "*) [ -z "${FAKE_NO_DOWNLOADS:-}" ] || exit 100; while [ "$1" != download ]; do shift; done
          shift; for p in "$@"; do echo "$p" >"$p.deb"; done ;;
      esac
      exit "${FAKE_APT_STATUS:-0}" """,
    "dpkg-deb": """p=$(cat "$2"); mkdir -p "$3/usr/include/${p%-dev}" "$3/usr/lib/x86_64-linux-gnu"
      touch "$3/usr/include/${p%-dev}/context.h"; ln -s "$p.so.1" "$3/usr/lib/x86_64-linux-gnu/$p.so" """,
    "sudo": """echo "sudo $*" >>"$FAKE_LOG"; [ "$FAKE_SUDO" = yes ] || exit 1; shift; exec "$@" """,
    "id": 'echo "${FAKE_UID:-0}"',
    "dpkg-query": "exit 1",
    "nvidia-smi": """[ -n "${FAKE_GPUS:-}" ] || exit 9
      case "$*" in
        *compute_cap*) printf '%s\\n' "$FAKE_GPUS" ;;
        *driver_version*) echo "${FAKE_DRIVER:-580.65.06}" ;;
        *query-gpu*) printf '%s\\n' "$FAKE_GPUS" | cut -d, -f1 ;;
        *) echo "| NVIDIA-SMI 580.65.06    Driver Version: 580.65.06    CUDA Version: ${FAKE_CUDA:-13.0}  |" ;;
      esac""",
    # FAKE_MISSING: headers and libraries that are not there before apt-get has installed something.
    "g++": """missing() { [[ " ${FAKE_MISSING:-} " == *" $1 "* ]] && ! grep -q "^apt-get.* install " <(grep -v -- ' -s ' "$FAKE_LOG" 2>/dev/null); }
      case " $* " in
        *" -v "*) printf 'search:\\n %s\\nEnd\\n' "${FAKE_SEARCHES:-/usr/include}" >&2; exit ;;
        *" -E "*) for w in "$@"; do case $w in -I*) deps=${w#-I} ;; esac; done
          sed -n 's/^"absent:\\(.*\\)"$/\\1/p' | while read -r h; do
            if missing "$h" && ! [ -e "$deps/$h" ]; then printf '"absent:%s"\\n' "$h"; fi; done ;;
        *print-file-name=*) name=${*#*print-file-name=}; if missing "$name"; then echo "$name"; else echo /bin/sh; fi ;;
        *) echo "${FAKE_GXX:-12.2.0}" ;;
      esac""",
    "cmake": 'echo "cmake version 3.25.1"',
    "ninja": "exit 0",
    "ccache": "exit 0",
    "df": """echo head; echo "disk 1 1 ${FAKE_FREE_MB:-100000} 1% /" """,
    # pip download copies from $FAKE_INDEX; anything else is the real Python.
    "python3": """if [ "$1 $2" != "-m pip" ]; then exec "$REAL_PYTHON" "$@"; fi
      while [ $# -gt 0 ]; do case $1 in --dest) to=$2 ;; -r) list=$2 ;; esac; shift; done
      read -r wheel _ <"$list"
      name=${wheel%==*}; version=${wheel#*==}
      echo "pip $name $version" >>"$FAKE_LOG"
      sleep "${FAKE_PIP_SECONDS:-0}"
      if [ "${FAKE_PIP_BREAKS_AT:-}" = "$name" ]; then echo "ERROR: connection reset" >&2; exit 1; fi
      cp "$FAKE_INDEX/${name//-/_}-$version-"*.whl "$to" """,
}


def version_header(version):
    parts = zip(("MAJOR", "MINOR", "PATCH"), version.split("."))
    return "".join(f"#define TORCH_VERSION_{name} {value}\n" for name, value in parts)


def torch_files(version):
    return {
        "torch/__init__.py": "raise ImportError('the setup must not import torch')\n",
        "torch/version.py": "cuda: Optional[str] = '13.0'\n",
        "torch/include/ATen/ATen.h": "",
        "torch/include/torch/headeronly/version.h": version_header(version),
        "torch/lib/libtorch_cpu.so": "",
        "torch/lib/libtorch_cuda.so": "",
        "torch/nn/large.py": "not needed\n",
    }


def write_files(folder, files):
    for name, text in files.items():
        path = pathlib.Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


class SetupTest(unittest.TestCase):
    def setUp(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="lockstep-setup-"))
        self.addCleanup(shutil.rmtree, self.top)
        self.checkout = self.top / "checkout"
        shutil.copytree(SOURCE / "scripts", self.checkout / "scripts")
        self.cache = self.top / "cache"
        self.log = self.top / "log"
        self.root = self.top / "root"
        write_files(self.root, {
            "etc/os-release": 'ID=debian\nVERSION_ID="12"\n', "var/lib/apt/lists/x_Packages": "",
            "usr/share/javascript/dygraphs/dygraph.min.js": "", "usr/share/doc/libjs-dygraphs/copyright": ""})
        self.make_fakes()
        self.make_wheels()
        self.environment = {
            "PATH": f"{self.top / 'bin'}:/usr/bin:/bin",
            "HOME": str(self.top),
            "FAKE_LOG": str(self.log),
            "FAKE_INDEX": str(self.top / "index"),
            "REAL_PYTHON": sys.executable,
            "LOCKSTEP_CACHE": str(self.cache),
            "LOCKSTEP_WHEELS": str(self.top / "wheels.txt"),
            "LOCKSTEP_SETUP_ROOT": str(self.root),
        }

    def make_fakes(self):
        for name, body in FAKES.items():
            path = self.top / "bin" / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"#!/bin/bash\n{body}\n")
            path.chmod(0o755)

    def make_wheels(self):
        index = self.top / "index"
        index.mkdir()
        lines = []
        for name, version, files in (
            ("torch", "2.11.0", torch_files("2.11.0")),
            ("nvidia-cuda-runtime", "13.0.96", {"nvidia/cu13/lib/libcudart.so.13": ""}),
        ):
            wheel = index / f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
            with zipfile.ZipFile(wheel, "w") as archive:
                for path, text in files.items():
                    archive.writestr(zipfile.ZipInfo(path, (2026, 3, 23, 12, 0, 0)), text)
            lines.append(f"{name}=={version} --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n")
        (self.top / "wheels.txt").write_text("".join(lines))
        (self.checkout / "scripts/wheels-lightgbm.txt").write_text(bundle(
            index, "lightgbm", "4.7.0",
            {"lightgbm/lib/lib_lightgbm.so": "", "lightgbm/VERSION.txt": "4.7.0", "lightgbm/basic.py": ""}))

    def run_setup(self, *arguments, **environment):
        return subprocess.run(
            [self.checkout / "scripts/setup.sh", *arguments],
            env={**self.environment, **environment}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)

    def assert_fails_with(self, result, *words):
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("error: ", result.stderr)
        self.assertIn("\n\nhint: ", result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)
        self.assertFalse((self.checkout / ".lockstep").exists(), "a failed setup wrote its choices")

    def chosen(self):
        return (self.checkout / ".lockstep/torch").read_text().strip()

    def calls(self, start=""):
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line for line in lines if line.startswith(start)]

    def make_torch(self, name, version, **changes):
        folder = self.top / name
        write_files(folder, {**torch_files(version), **changes})
        return folder


class Packages(SetupTest):
    def test_prints_the_line_to_run_where_neither_root_nor_sudo_may_install(self):
        result = self.run_setup(FAKE_UID="1000", FAKE_SUDO="no", FAKE_MISSING="gloo/context.h xxhash.h",
                                FAKE_NO_DOWNLOADS="1", FAKE_NEEDS="libgloo-dev libxxhash-dev")
        self.assert_fails_with(
            result, "sudo apt-get update && sudo apt-get install -y --no-install-recommends libxxhash-dev libgloo-dev")
        self.assertEqual(self.calls("pip"), [])

    def test_installs_what_is_missing_and_no_more_as_root(self):
        result = self.run_setup(FAKE_MISSING="gloo/context.h")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(self.calls("apt-get")), 1, self.calls())
        self.assertTrue(self.calls()[0].endswith("install -y --no-install-recommends libgloo-dev"), self.calls())

    def test_installs_through_sudo_that_asks_for_no_password(self):
        result = self.run_setup(FAKE_UID="1000", FAKE_SUDO="yes", FAKE_MISSING="gloo/context.h")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(self.calls("sudo -n env DEBIAN_FRONTEND=noninteractive apt-get")), 1)

    def test_renews_the_package_list_where_there_is_none(self):
        shutil.rmtree(self.root / "var/lib/apt")
        self.run_setup(FAKE_MISSING="gloo/context.h")
        self.assertIn("update", self.calls("apt-get")[0])

    def test_says_so_where_apt_fails(self):
        result = self.run_setup(FAKE_MISSING="gloo/context.h", FAKE_APT_STATUS="100")
        self.assert_fails_with(result, "apt-get could not install: libgloo-dev")
        self.assertEqual(self.calls("pip"), [])

    def test_takes_another_compiler_package_on_ubuntu_22_04(self):
        write_files(self.root, {"etc/os-release": 'ID=ubuntu\nVERSION_ID="22.04"\n'})
        for newer in ("g++-12", "g++-13", "g++-14", "g++-15"):
            (self.top / "bin" / newer).write_text("#!/bin/bash\nexit 1\n")
            (self.top / "bin" / newer).chmod(0o755)
        result = self.run_setup(FAKE_GXX="11.4.0", FAKE_UID="1000", FAKE_SUDO="no")
        self.assert_fails_with(result, "--no-install-recommends g++-12")

    def test_refuses_an_old_compiler_that_the_user_chose(self):
        result = self.run_setup(CXX="g++", FAKE_GXX="11.4.0")
        self.assert_fails_with(result, "must be g++ 12 or newer, but 'g++' is version 11.4.0")


class Gpus(SetupTest):
    def test_refuses_an_old_gpu_by_name(self):
        result = self.run_setup(FAKE_GPUS="Tesla P100-PCIE-16GB, 6.0")
        self.assert_fails_with(result, "Tesla P100-PCIE-16GB (sm_60)", "sm_75")
        self.assertEqual(self.calls("pip"), [])

    def test_names_an_old_gpu_beside_a_newer_one_and_goes_on(self):
        result = self.run_setup(FAKE_GPUS="Tesla T4, 7.5\nQuadro K620, 5.0")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("Quadro K620 (sm_50)", result.stderr)

    def test_says_that_the_driver_is_too_old_and_what_to_do(self):
        result = self.run_setup(FAKE_GPUS="Tesla T4, 7.5", FAKE_CUDA="12.4", FAKE_DRIVER="550.54.15")
        pinned = re.search(r"^torch==(\S+)", (SOURCE / "scripts/wheels-cuda.txt").read_text(), re.MULTILINE)[1]
        self.assert_fails_with(result, "driver 550.54.15 supports CUDA 12.4", "CUDA 13.0", "580",
                               f"--target torch-cuda-12 torch=={pinned}+cu126 nvidia-cuda-nvcc-cu12==12.6.77 ",
                               "LOCKSTEP_TORCH=$PWD/torch-cuda-12/torch make build")
        self.assertEqual(self.calls("pip"), [])

    def test_names_no_torch_for_a_driver_that_has_none(self):
        result = self.run_setup(FAKE_GPUS="Tesla T4, 7.5", FAKE_CUDA="11.4", FAKE_DRIVER="470.57.02")
        self.assert_fails_with(result, "driver 470.57.02 supports CUDA 11.4", "LOCKSTEP_CUDA=OFF make build")
        self.assertNotIn("LOCKSTEP_TORCH", result.stderr)

    def test_reads_the_driver_from_proc_where_there_is_no_nvidia_smi(self):
        write_files(self.root, {
            "dev/nvidiactl": "",
            "proc/driver/nvidia/gpus/0000:00:04.0/information": "Model: \t\t Tesla T4\n",
            "proc/driver/nvidia/version":
                "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19\n"})
        self.assert_fails_with(self.run_setup(), "driver 535.104.05", "LOCKSTEP_TORCH=$PWD/torch-cuda-12/torch")

    def test_hidden_gpus_do_not_count(self):
        result = self.run_setup(FAKE_GPUS="Tesla P100, 6.0", CUDA_VISIBLE_DEVICES="")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(self.chosen().endswith("libtorch-2.11.0-cpu/torch"))


class Torch(SetupTest):
    def test_takes_the_torch_of_the_active_python_on_a_machine_with_gpus(self):
        site = self.make_torch("site", "2.12.1")
        result = self.run_setup(FAKE_GPUS="Tesla T4, 7.5", PYTHONPATH=str(site))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.chosen(), str(site / "torch"))
        self.assertEqual(self.calls("pip torch"), [])

    def test_takes_the_wheels_where_the_python_torch_is_too_old_or_has_no_cuda(self):
        old = self.make_torch("old", "2.9.0")
        no_cuda = self.make_torch("no_cuda", "2.11.0")
        (no_cuda / "torch/lib/libtorch_cuda.so").unlink()
        for site in (old, no_cuda):
            result = self.run_setup(FAKE_GPUS="Tesla T4, 7.5", PYTHONPATH=str(site))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("is not used", result.stderr)
            self.assertEqual(self.chosen(), str(self.cache / "libtorch-2.11.0-cuda/torch"))

    def test_leaves_the_python_torch_alone_without_gpus(self):
        result = self.run_setup(PYTHONPATH=str(self.make_torch("site", "2.11.0")))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.chosen(), str(self.cache / "libtorch-2.11.0-cpu/torch"))

    def test_a_given_torch_comes_before_all_others(self):
        given = self.make_torch("given", "2.13.0")
        for folder in (given, given / "torch"):
            result = self.run_setup(LOCKSTEP_TORCH=str(folder), FAKE_GPUS="Tesla T4, 7.5")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(self.chosen(), str(given / "torch"))
        self.assertEqual(self.calls("pip torch"), [])

    def test_refuses_a_given_torch_of_the_wrong_version(self):
        for version in ("2.10.2", "3.0.0"):
            result = self.run_setup(LOCKSTEP_TORCH=str(self.make_torch(version, version)))
            self.assert_fails_with(result, f"holds {version}", "2.11 or newer")

    def test_refuses_a_given_folder_without_libtorch(self):
        self.assert_fails_with(self.run_setup(LOCKSTEP_TORCH=str(self.top)), "holds no LibTorch")


def bundle(index, name, version, files):
    """A wheel in the index and its line in a list of wheels. Programs in bin/ may be executed."""
    wheel = index / f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in files.items():
            info = zipfile.ZipInfo(path, (2026, 3, 23, 12, 0, 0))
            info.external_attr = (0o755 if "/bin/" in path or "/scripts/" in path else 0o644) << 16
            archive.writestr(info, text)
    return f"{name}=={version} --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n"


class GpuCode(SetupTest):
    GPU = {"FAKE_GPUS": "Tesla T4, 7.5"}

    def setUp(self):
        super().setUp()
        self.environment["PYTHONPATH"] = str(self.make_torch("site", "2.12.1"))
        index, scripts = self.top / "index", self.checkout / "scripts"
        (scripts / "wheels-cudnn-frontend.txt").write_text(bundle(
            index, "nvidia-cudnn-frontend", "1.18.0", {"include/cudnn_frontend.h": "", "cudnn/__init__.py": ""}))
        (scripts / "wheels-cuda-compiler.txt").write_text(bundle(
            index, "nvidia-cuda-nvcc", "13.0.88", {"nvidia/cu13/bin/nvcc": "#!/bin/sh\n", "nvidia/cu13/nvcc.h": ""}))

    def choice(self, name):
        path = self.checkout / ".lockstep" / name
        return path.read_text().strip() if path.exists() else ""

    def test_headers_and_compiler_come_once_where_there_is_a_gpu(self):
        for _ in range(2):
            result = self.run_setup(**self.GPU)
            self.assertEqual(result.returncode, 0, result.stderr)
            folder = pathlib.Path(self.choice("cudnn_frontend"))
            self.assertEqual(folder, self.cache / "cudnn-frontend/include")
            self.assertTrue((folder / "cudnn_frontend.h").exists())
            self.assertFalse((folder.parent / "cudnn").exists())
            self.assertEqual(self.choice("nvcc"), str(self.cache / "cuda-compiler/nvidia/cu13/bin/nvcc"))
            self.assertTrue(os.access(self.choice("nvcc"), os.X_OK))
        self.assertEqual(len(self.calls("pip nvidia-cudnn-frontend")), 1)
        self.assertEqual(len(self.calls("pip nvidia-cuda-nvcc")), 1)

    def test_the_build_is_told_that_it_must_support_the_gpus_of_the_machine(self):
        self.assertEqual(self.run_setup(FAKE_GPUS="Tesla T4, 7.5\nNVIDIA H100, 9.0\nTesla T4, 7.5").returncode, 0)
        self.assertEqual((self.choice("cuda"), self.choice("architectures")), ("ON", "75;90"))
        self.assertEqual(self.run_setup(LOCKSTEP_CUDA="OFF", **self.GPU).returncode, 0)
        self.assertEqual(self.choice("cuda"), "OFF")

    def test_gpu_code_stays_away_without_a_gpu_unless_asked_for(self):
        self.assertEqual(self.run_setup().returncode, 0)
        self.assertEqual((self.choice("cuda"), self.choice("cudnn_frontend"), self.choice("nvcc")), ("OFF", "", ""))
        self.assertEqual(self.run_setup("--quick", LOCKSTEP_CUDA="ON").returncode, 0)
        self.assertEqual(self.choice("cuda"), "ON")
        self.assertNotEqual(self.choice("cudnn_frontend"), "")
        self.assertNotEqual(self.choice("nvcc"), "")

    def test_the_quick_way_notices_a_gpu_that_is_new(self):
        self.assertEqual(self.run_setup().returncode, 0)
        write_files(self.root, {"dev/nvidia0": ""})
        self.assertEqual(self.run_setup("--quick", **self.GPU).returncode, 0)
        self.assertEqual(self.choice("cuda"), "ON")

    def test_what_cannot_be_had_is_said_and_tried_again(self):
        for name, words, choice in (
                ("nvidia-cudnn-frontend", "going on without cuDNN's front end", "cudnn_frontend"),
                ("nvidia-cuda-nvcc", "the CUDA compiler could not be fetched", "nvcc")):
            shutil.rmtree(self.cache, ignore_errors=True)
            result = self.run_setup(FAKE_PIP_BREAKS_AT=name, **self.GPU)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(words, result.stderr)
            self.assertEqual(self.choice(choice), "")
            self.assertEqual(self.run_setup("--quick", **self.GPU).returncode, 0)
            self.assertNotEqual(self.choice(choice), "")

    def test_of_lightgbm_the_library_is_kept_and_a_build_goes_on_without_it(self):
        result = self.run_setup(FAKE_PIP_BREAKS_AT="lightgbm")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("going on without LightGBM", result.stderr)
        self.assertEqual(self.choice("lightgbm"), "")
        self.assertEqual(self.run_setup().returncode, 0)
        folder = pathlib.Path(self.choice("lightgbm"))
        self.assertEqual(folder, self.cache / "lightgbm/lightgbm")
        self.assertEqual(sorted(path.name for path in folder.iterdir()), ["VERSION.txt", "lib"])
        self.assertTrue((folder / "lib/lib_lightgbm.so").exists())

    def test_the_tool_alone_needs_no_libtorch(self):
        result = self.run_setup("--tool")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("LibTorch", result.stderr)
        self.assertEqual(self.calls("pip torch"), [])
        self.assertEqual([path.name for path in (self.checkout / ".lockstep").iterdir()], ["tool"], "what else is built is chosen by itself")
        self.assertEqual(self.choice("tool/cuda"), "OFF")
        self.assertEqual(self.choice("tool/lightgbm"), str(self.cache / "lightgbm/lightgbm"))
        self.assertEqual(self.run_setup("--tool", "--quick", FAKE_PIP_BREAKS_AT="lightgbm").stderr, "")

    def test_a_given_compiler_comes_before_the_wheels(self):
        result = self.run_setup(LOCKSTEP_NVCC="/bin/true", **self.GPU)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.choice("nvcc"), "/bin/true")
        self.assertEqual(self.calls("pip nvidia-cuda-nvcc"), [])

    def test_a_given_compiler_that_is_not_there_is_refused(self):
        self.assert_fails_with(self.run_setup(LOCKSTEP_NVCC="/nowhere/nvcc", **self.GPU), "/nowhere/nvcc", "not a program")

    def test_a_torch_of_cuda_12_runs_on_a_driver_of_cuda_12_and_gets_no_compiler_of_13(self):
        site = self.make_torch("cu12", "2.11.0", **{"torch/version.py": "cuda: Optional[str] = '12.8'\n"})
        result = self.run_setup(PYTHONPATH=str(site), FAKE_CUDA="12.4", FAKE_DRIVER="550.54.15", **self.GPU)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.chosen(), str(site / "torch"))
        self.assertEqual(self.choice("nvcc"), "")

    def test_wheels_for_gpus_serve_the_cpu_too(self):
        self.environment["PYTHONPATH"] = str(self.make_torch("old", "2.9.0"))  # before one that may be installed
        self.assertEqual(self.run_setup(**self.GPU).returncode, 0)
        folder = self.chosen()
        self.assertEqual(self.run_setup().returncode, 0)
        self.assertEqual(self.chosen(), folder)


class Compilers(SetupTest):
    def compiler(self):
        return (self.checkout / ".lockstep/compiler").read_text().strip()

    def test_a_launcher_before_the_compiler_is_left_out(self):
        result = self.run_setup(CXX="ccache g++")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.compiler(), str(self.top / "bin/g++"))

    def test_flags_behind_the_compiler_are_refused(self):
        self.assert_fails_with(self.run_setup(CXX="g++ -m64"), "must be one program", "CXXFLAGS")

    def conda(self, name):
        path = self.top / "bin" / name
        path.write_text("#!/bin/bash\nexport FAKE_SEARCHES=/opt/conda/include\nexec " + str(self.top / "real/g++") + ' "$@"\n')
        path.chmod(0o755)

    def test_a_compiler_that_does_not_see_system_packages_is_passed_over(self):
        (self.top / "real").mkdir()
        shutil.copy(self.top / "bin/g++", self.top / "real/g++")
        (self.root / "usr/bin").mkdir(parents=True)
        shutil.copy(self.top / "bin/g++", self.root / "usr/bin/g++")
        self.conda("g++")
        result = self.run_setup()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.compiler(), str(self.root / "usr/bin/g++"))

    def test_a_given_compiler_that_does_not_see_system_packages_is_refused(self):
        (self.top / "real").mkdir()
        shutil.copy(self.top / "bin/g++", self.top / "real/g++")
        self.conda("conda-g++")
        self.assert_fails_with(self.run_setup(CXX="conda-g++"), "does not search /usr/include", "LOCKSTEP_DEPS")


class WithoutRights(SetupTest):
    USER = {"FAKE_UID": "1000", "FAKE_SUDO": "no"}

    def test_packages_are_unpacked_into_the_cache(self):
        result = self.run_setup(FAKE_MISSING="libgloo/context.h gloo/context.h", FAKE_NEEDS="libgloo-dev", **self.USER)
        # The fake package holds libgloo/context.h, so that one is still missing: the line to run is named.
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertTrue((self.cache / "packages/include/libgloo/context.h").exists(), result.stderr)
        self.assertTrue((self.cache / "packages/lib/libgloo-dev.so").is_symlink())
        self.assertIn("unpacking libgloo-dev into", result.stderr)

    def test_what_is_unpacked_serves_the_build_and_the_next_setup(self):
        write_files(self.cache, {"packages/include/gloo/context.h": ""})
        result = self.run_setup(FAKE_MISSING="gloo/context.h", **self.USER)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual((self.checkout / ".lockstep/deps").read_text().strip(), str(self.cache / "packages"))
        self.assertEqual(self.calls("apt-get"), [])

    def test_a_folder_of_libraries_that_the_user_names_serves(self):
        write_files(self.top, {"deps/include/gloo/context.h": ""})
        result = self.run_setup(FAKE_MISSING="gloo/context.h", LOCKSTEP_DEPS=str(self.top / "deps"), **self.USER)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual((self.checkout / ".lockstep/deps").read_text().strip(), str(self.top / "deps"))

    def test_a_named_folder_without_headers_is_refused(self):
        self.assert_fails_with(self.run_setup(LOCKSTEP_DEPS=str(self.root)), "holds no folder include/")

    def test_a_system_without_apt_is_told_what_is_missing(self):
        for name in ("apt-get", "dpkg-query", "dpkg-deb"):
            (self.top / "bin" / name).unlink()
        tools = self.top / "tools"
        tools.mkdir()
        for name in ("bash", "env", "dirname", "cat", "sed", "tr", "grep", "awk", "mkdir", "rm", "mv", "cp", "ln", "stat",
                     "sha256sum", "cut", "du", "flock", "uname", "sort", "paste", "realpath", "readlink", "find", "sleep", "touch"):
            (tools / name).symlink_to(shutil.which(name))
        path = f"{self.top / 'bin'}:{tools}"
        self.assert_fails_with(self.run_setup(FAKE_MISSING="gloo/context.h", PATH=path), "libgloo-dev",
                               "your system's packages", "LOCKSTEP_DEPS")
        result = self.run_setup(PATH=path)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_what_is_only_better_to_have_stops_nothing(self):
        (self.top / "bin/ccache").unlink()
        result = self.run_setup(**self.USER)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_libraries_of_tests_are_asked_for_by_tests_alone(self):
        result = self.run_setup(FAKE_MISSING="gtest/gtest.h", **self.USER)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual((self.checkout / ".lockstep/tests").read_text().strip(), "OFF")
        result = self.run_setup("--quick", "--tests", FAKE_MISSING="gtest/gtest.h")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(self.calls("apt-get")[-1].endswith(" libgtest-dev"), self.calls())
        self.assertEqual((self.checkout / ".lockstep/tests").read_text().strip(), "ON")


class Jobs(SetupTest):
    def jobs(self, **files):
        write_files(self.root, {"proc/meminfo": "MemAvailable:   64000000 kB\n", **files})
        common = self.checkout / "scripts/lib/common.sh"
        return int(subprocess.check_output(["bash", "-c", f". {common}; nproc() {{ echo 16; }}; build_jobs"],
                                           env=self.environment, text=True))

    def test_there_are_no_more_than_fit_into_the_memory_of_a_container(self):
        self.assertEqual(self.jobs(), 16)
        group = {"sys/fs/cgroup/memory.max": "8000000000", "sys/fs/cgroup/memory.current": "4000000000",
                 "sys/fs/cgroup/memory.stat": "anon 1\ninactive_file 1000000000\n"}
        self.assertEqual(self.jobs(**group), 3)

    def test_an_unlimited_container_and_the_older_form_are_understood(self):
        self.assertEqual(self.jobs(**{"sys/fs/cgroup/memory.max": "max"}), 16)
        self.root = self.top / "older"
        self.environment["LOCKSTEP_SETUP_ROOT"] = str(self.root)
        group = {"sys/fs/cgroup/memory/memory.limit_in_bytes": "6000000000",
                 "sys/fs/cgroup/memory/memory.usage_in_bytes": "3000000000"}
        self.assertEqual(self.jobs(**group), 2)
        group["sys/fs/cgroup/memory/memory.limit_in_bytes"] = "9223372036854771712"
        self.assertEqual(self.jobs(**group), 16)


class Wheels(SetupTest):
    def test_unpacks_what_a_build_needs_and_no_more(self):
        self.assertEqual(self.run_setup().returncode, 0)
        folder = pathlib.Path(self.chosen())
        self.assertTrue((folder / "include/ATen/ATen.h").exists())
        self.assertTrue((folder.parent / "nvidia/cu13/lib/libcudart.so.13").exists())
        self.assertFalse((folder / "nn").exists())

    def test_does_nothing_the_second_time(self):
        self.run_setup()
        before = (self.checkout / ".lockstep/torch").stat().st_mtime_ns
        for arguments in ((), ("--quick",)):
            self.assertEqual(self.run_setup(*arguments).returncode, 0)
        self.assertEqual(len(self.calls("pip")), 3)
        self.assertEqual((self.checkout / ".lockstep/torch").stat().st_mtime_ns, before)

    def test_the_quick_way_notices_that_the_unpacked_folder_is_gone(self):
        self.run_setup()
        shutil.rmtree(self.cache / "libtorch-2.11.0-cpu")
        self.assertEqual(self.run_setup("--quick").returncode, 0)
        self.assertTrue(pathlib.Path(self.chosen(), "include/ATen/ATen.h").exists())
        self.assertEqual(len(self.calls("pip")), 3, "the wheels were in the cache already")

    def test_an_interrupted_download_is_clear_and_the_next_run_goes_on(self):
        result = self.run_setup(FAKE_PIP_BREAKS_AT="nvidia-cuda-runtime")
        self.assert_fails_with(result, "download of nvidia-cuda-runtime 13.0.96 failed", "run make again")
        self.assertFalse((self.cache / "libtorch-2.11.0-cpu").exists())
        self.assertEqual(self.run_setup().returncode, 0)
        self.assertEqual(len(self.calls("pip torch")), 1, "torch was fetched twice")

    def test_a_damaged_wheel_in_the_cache_is_fetched_again(self):
        self.run_setup()
        next((self.cache / "wheels").glob("torch-*.whl")).write_bytes(b"cut short")
        shutil.rmtree(self.cache / "libtorch-2.11.0-cpu")
        result = self.run_setup()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("is damaged", result.stderr)
        self.assertEqual(len(self.calls("pip torch")), 2)
        self.assertEqual(len(self.calls("pip nvidia")), 1)

    def test_a_file_with_another_hash_is_never_unpacked(self):
        next((self.top / "index").glob("torch-*.whl")).write_bytes(b"something else")
        self.assert_fails_with(self.run_setup(), "download of torch 2.11.0 is damaged")
        self.assertEqual(list((self.cache / "wheels").glob("torch-*.whl")), [])
        self.assertFalse((self.cache / "libtorch-2.11.0-cpu").exists())

    def test_two_setups_at_once_do_the_work_once(self):
        results = []
        work = [threading.Thread(target=lambda: results.append(self.run_setup(FAKE_PIP_SECONDS="0.5")))
                for _ in range(2)]
        for thread in work:
            thread.start()
        for thread in work:
            thread.join()
        self.assertEqual([result.returncode for result in results], [0, 0], [result.stderr for result in results])
        self.assertEqual(len(self.calls("pip")), 3)
        self.assertTrue(any("waiting for another setup" in result.stderr for result in results))

    def test_what_a_killed_setup_left_is_cleared_away(self):
        (self.cache / ".unpack-99999/torch").mkdir(parents=True)
        self.assertEqual(self.run_setup().returncode, 0)
        self.assertEqual(list(self.cache.glob(".unpack-*")), [])

    def test_another_list_of_wheels_replaces_the_unpacked_folder(self):
        self.run_setup()
        stale = self.cache / "libtorch-2.11.0-cpu/stale"
        stale.touch()
        (self.cache / "libtorch-2.11.0-cpu/.lockstep-complete").write_text("of another list\n")
        self.assertEqual(self.run_setup().returncode, 0)
        self.assertFalse(stale.exists())

    def test_unpacking_again_leaves_the_times_that_builds_look_at(self):
        self.run_setup()
        header = pathlib.Path(self.chosen(), "include/ATen/ATen.h")
        before = header.stat().st_mtime
        shutil.rmtree(self.cache / "libtorch-2.11.0-cpu")
        self.assertEqual(self.run_setup().returncode, 0)
        self.assertEqual(header.stat().st_mtime, before)

    def test_says_that_there_is_no_space(self):
        self.assert_fails_with(self.run_setup(FAKE_FREE_MB="12"), "no space for LibTorch", "12 MB free", "LOCKSTEP_CACHE")
        self.assertEqual(self.calls("pip"), [])

    def test_says_that_the_cache_cannot_be_written(self):
        (self.top / "file").touch()
        self.assert_fails_with(self.run_setup(LOCKSTEP_CACHE=str(self.top / "file/cache")), "cannot write to the cache")

    def test_another_processor_is_refused_before_anything_is_done(self):
        uname = self.top / "bin/uname"
        uname.write_text("#!/bin/bash\necho aarch64\n")
        uname.chmod(0o755)
        self.assert_fails_with(self.run_setup(), "this machine is aarch64", "LOCKSTEP_TORCH")
        self.assertFalse(self.cache.exists())


class OlderPip(SetupTest):
    def test_an_older_pip_gives_way_to_the_wheel_of_a_newer_one_where_a_report_is_needed(self):
        (self.cache / "wheels").mkdir(parents=True)
        calls = self.top / "calls"
        (self.top / "bin/python3").write_text(f"""#!/bin/bash
            case "$*" in
              *"pip --version"*) echo "pip ${{FAKE_PIP:-22.0.2}} from /usr/lib" ;;
              -c*) exit 0 ;;
              *" download "*) touch "{self.cache}/wheels/pip-24.0-py3-none-any.whl" ;;
              *) echo "$*" >>"{calls}" ;;
            esac""")
        scripts = self.checkout / "scripts"
        ask = f"""set -u; cache={self.cache}; checkout={self.checkout}; oldest_compiler=12
            for part in common packages wheels; do . {scripts}/lib/$part.sh; done
            use_reporting_pip && run_pip install --report x torch"""
        for version, program in (("22.0.2", f"{self.cache}/wheels/pip-24.0-py3-none-any.whl/pip install "), ("23.2", "-m pip install ")):
            calls.write_text("")
            subprocess.run(["bash", "-c", ask], env={**self.environment, "FAKE_PIP": version}, check=True)
            self.assertTrue(calls.read_text().startswith(program), calls.read_text())


if __name__ == "__main__":
    unittest.main()
