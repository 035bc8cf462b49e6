"""Scripts as people write them, under `lockstep launch` and under torchrun: the same ranks, the same losses, and the
variables that torchrun sets.

Usage: launchers_test.py LOCKSTEP SCRIPT [PACKAGE]. Exits 77, saying why, where Python lacks torch or PACKAGE.
"""
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent / "launched"
REPORT = re.compile(r"rank (\d+) of (\d+): loss (\d+\.\d{6})")  # torchrun may put two on one line
# Inside an sbatch job of one task.
SLURM = {"SLURM_NTASKS": "1", "SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_NODEID": "0", "SLURM_JOB_ID": "4711",
         "SLURM_JOB_NAME": "train.sh", "SLURM_NNODES": "1", "SLURM_NODELIST": "ash", "SLURM_JOB_NODELIST": "ash"}
# What torchrun's agent tells itself, and hands down with all else that is in its environment.
ITS_OWN = {"TORCHELASTIC_SIGNALS_TO_HANDLE"}


class Launchers:
    def __init__(self, lockstep, folder):
        self.folder = folder
        torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
        self.commands = {"lockstep launch": [lockstep, "launch", "--devices", "cpu:2", sys.executable], "torchrun": torchrun}

    def run(self, launcher, script, *arguments, **variables):
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "TORCHELASTIC_"))}
        clean.update({"OMP_NUM_THREADS": "1", "PYTHONPATH": str(HERE), **variables})
        return subprocess.run([*self.commands[launcher], script, *arguments], cwd=self.folder, env=clean,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=250)

    def ranks(self, launcher, script, *arguments, **variables):
        """(rank, world, loss) of all ranks, by rank."""
        done = self.run(launcher, script, *arguments, **variables)
        assert done.returncode == 0, (launcher, done.stdout)
        return sorted(REPORT.findall(done.stdout))

    def variables(self, launcher):
        """The names that it adds, by rank."""
        script = self.folder / "names.py"
        script.write_text("import json, os\nopen('names' + os.environ['RANK'], 'w').write(json.dumps(dict(os.environ)))\n")
        done = self.run(launcher, script)
        assert done.returncode == 0, done.stdout
        found = [json.loads((self.folder / f"names{rank}").read_text()) for rank in range(2)]
        return [{name: value for name, value in one.items() if name not in os.environ} for one in found]


def check_variables(launchers):
    ours, theirs = launchers.variables("lockstep launch"), launchers.variables("torchrun")
    for rank in range(2):
        missing = set(theirs[rank]) - set(ours[rank]) - ITS_OWN
        assert not missing, missing
        for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE", "ROLE_NAME",
                     "ROLE_RANK", "ROLE_WORLD_SIZE", "TORCHELASTIC_RESTART_COUNT", "TORCH_NCCL_ASYNC_ERROR_HANDLING"):
            assert ours[rank][name] == theirs[rank][name], (name, ours[rank][name], theirs[rank][name])
    assert ours[0]["TORCHELASTIC_RUN_ID"] == ours[1]["TORCHELASTIC_RUN_ID"] != ""
    assert ours[0]["TORCHELASTIC_USE_AGENT_STORE"] == "False", "nobody serves one"


def check_devices_of_lightning(launchers):
    """Devices that are not the ranks are an error of Lightning's own."""
    for launcher in launchers.commands:
        done = launchers.run(launcher, HERE / "lightning_fit.py", "one", "1")
        assert done.returncode != 0 and "does not match the world size (2)" in done.stdout, (launcher, done.stdout)


def main():
    lockstep, script = str(pathlib.Path(sys.argv[1]).absolute()), sys.argv[2]
    for package in ["torch", *sys.argv[3:]]:
        if importlib.util.find_spec(package) is None:
            print(f"skipped: python3 has no {package}")
            sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        launchers = Launchers(lockstep, pathlib.Path(folder))
        if script == "variables":
            return check_variables(launchers)
        arguments = {"lightning_fit.py": ["out", "2"], "hf_trainer.py": ["out"]}.get(script, [])
        for variables in [{}, SLURM] if script == "lightning_fit.py" else [{}]:
            ours, theirs = (launchers.ranks(launcher, HERE / script, *arguments, **variables)
                            for launcher in launchers.commands)
            assert [one[:2] for one in ours] == [("0", "2"), ("1", "2")] and ours == theirs, (ours, theirs)
            print(ours)
        if script == "lightning_fit.py":
            check_devices_of_lightning(launchers)


if __name__ == "__main__":
    main()
