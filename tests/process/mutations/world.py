"""A home, runs, an export and a batch to change or to be killed in, and the tool that reads them."""
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

CPU_LIMIT_S = 10  # of a command and all that it starts
WALL_LIMIT_S = 90  # of one that waits for something that never comes


def tiny(corpus):
    return [
        "textgen", f"data.path={corpus}", "model.layers=1", "model.heads=2", "model.width=16", "model.context=16",
        "batch.global=4", "stop.steps=4", "eval.every_steps=2", "checkpoint.every_steps=2", "checkpoint.keep=2",
        "log.tensorboard=true", "data.threads=0", "--devices", "cpu:1",
    ]


class World:
    """A home, a working folder with runs, and what must stay as it is."""

    def __init__(self, build, folder, slower=1):
        self.slower = slower  # than a build without sanitizers
        self.cpu_limit_s = CPU_LIMIT_S * slower
        self.tool = str(Path(build).resolve() / "lockstep")
        self.folder = folder
        self.bases = folder / "bases"
        self.environment = {
            "PATH": os.environ.get("PATH", ""),
            "LANG": "C.UTF-8",
            "OMP_NUM_THREADS": "1",  # models of a few numbers: threads would only wait for each other
            "HOME": str(folder / "home"),
            "XDG_CACHE_HOME": str(folder / "home/cache"),
            "XDG_STATE_HOME": str(folder / "home/state"),
            "TMPDIR": str(folder / "tmp"),
        }
        for name in ("LOCKSTEP_TORCH", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS"):
            if name in os.environ:
                self.environment[name] = os.environ[name]
        for name in ("home", "tmp", "victim", "bases"):
            (folder / name).mkdir(parents=True)
        (folder / "victim/precious.txt").write_text("precious\n")
        (folder / "victim/.tmp-precious").mkdir()
        (folder / "victim/.tmp-precious/model.safetensors").write_text("precious\n")

    def run(self, words, cwd, limited=True):
        def limit():
            os.setsid()
            if limited:
                resource.setrlimit(resource.RLIMIT_CPU, (self.cpu_limit_s, self.cpu_limit_s + 1))

        out, err = open(self.folder / "out", "w+b"), open(self.folder / "err", "w+b")
        with out, err:
            process = subprocess.Popen([self.tool, *words], cwd=cwd, env=self.environment, stdin=subprocess.DEVNULL,
                                       stdout=out, stderr=err, preexec_fn=limit)
            end = time.monotonic() + WALL_LIMIT_S * self.slower
            usage, status = None, None
            while usage is None:
                pid, status, used = os.wait4(process.pid, os.WNOHANG)
                if pid:
                    usage = used
                elif time.monotonic() > end:
                    os.killpg(process.pid, signal.SIGKILL)
                    _, status, usage = os.wait4(process.pid, 0)
                    process.returncode = -9
                    return {"code": "time-out", "out": "", "err": "", "memory": 0, "cpu": 0}
                else:
                    time.sleep(0.002)
            process.returncode = os.waitstatus_to_exitcode(status)
            for stream in (out, err):
                stream.seek(0)
            return {
                "code": process.returncode,
                "out": out.read(4 << 20).decode("utf-8", "backslashreplace"),
                "err": err.read(4 << 20).decode("utf-8", "backslashreplace"),
                "memory": usage.ru_maxrss * 1024,
                "cpu": usage.ru_utime + usage.ru_stime,
            }

    def make_bases(self):
        corpus = self.folder / "home/corpus.txt"
        corpus.write_text("".join(f"line {i} of a small text that is learnt.\n" for i in range(400)))
        made = self.bases / "made"
        made.mkdir()
        for name in ("gift", "good"):
            self.must(["train", *tiny(corpus), "--name", name], made)
        self.must(["evaluate", "gift", "--devices", "cpu:1"], made)
        self.must(["export", "gift", "--out", "gift.safetensors"], made)
        jobs = "shell = true\n" + "".join(
            f'[[jobs]]\nname = "job {i}"\ncommand = "echo {i}; echo \'{{\\"value\\": {i}}}\' > $LOCKSTEP_OUT/r.json; exit {i % 4 == 3}"\n'
            .replace("exit True", "exit 1").replace("exit False", "exit 0") for i in range(8))
        (made / "jobs.toml").write_text(jobs)
        self.must(["batch", "run", "jobs.toml", "--name", "batch"], made, codes=(0, 1))

    def must(self, words, cwd, codes=(0,)):
        result = self.run(words, cwd, limited=False)
        if result["code"] not in codes:
            sys.exit(f"cannot prepare: lockstep {' '.join(words)}: {result['code']}\n{result['out']}{result['err']}")
