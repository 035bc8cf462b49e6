"""What a batch sees on real GPUs: verified and wrong placements, and memory that comes back.

    batch_gpu_check.py OUT_FILE TOOL FOLDER [--devices 0,1] [--count 2]
Writes a record of what was seen and whether it is as it should be; exit code 1 where something is not.
"""
import argparse
import json
import pathlib
import shlex
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "lib"))
import batches

JOB = f"{shlex.quote(sys.executable)} {shlex.quote(str(pathlib.Path(__file__).parent / 'peers/small_job.py'))}"


class Check:
    def __init__(self, asked):
        self.asked, self.found = asked, []

    def run(self, name, script, jobs, **keys):
        file = self.asked.folder / f"{name}.toml"
        batches.job_file(file, ["sh", "-c", self.asked.program or script, "x", "{n}"], jobs, name="job{n}", gpus=1,
                         cpus=1, **keys)
        return batches.run_batch(self.asked.tool, self.asked.folder, name, [str(file), "--slots", "8"], 40,
                                 devices=self.asked.devices, device_count=self.asked.count)

    def keep(self, name, holds, batch, **more):
        self.found.append({"check": name, "holds": bool(holds), **more, **batch})

    def verified(self):
        """Jobs on the device that they were given."""
        batch = self.run("verified", f"exec {JOB} hold --seconds 2.5", 2 * max(1, self.asked.count), gpu_memory="all")
        self.keep("a job on its own device is verified", batch["verified"] == batch["done"] == batch["jobs"], batch)

    def wrong(self):
        """One that sees all devices and takes another than its own."""
        others = ("import ctypes, os, sys; all = sys.argv[1].split(); own = os.environ['CUDA_VISIBLE_DEVICES']; "
                  "print(next(uuid for uuid in all if uuid != own))")
        uuids = " ".join(self.uuids())
        script = (f"CUDA_VISIBLE_DEVICES=$({shlex.quote(sys.executable)} -c {shlex.quote(others)} {shlex.quote(uuids)}); "
                  f"export CUDA_VISIBLE_DEVICES; exec {JOB} hold --seconds 8")
        batch = self.run("wrong", script, 1, gpu_memory="all")
        reason = batches.rows_of(self.asked.folder / "runs/wrong", "SELECT reason FROM job")[0][0]
        self.keep("a job on another device is wrong, and ended", batch["wrong"] == 1 and batch["failed"] == 1, batch,
                  reason=reason)

    def memory_comes_back(self):
        """Each takes half of the memory, and leaves a process of another session behind that holds it."""
        batch = self.run("memory", f"exec {JOB} hold --share 0.5 --seconds 60 --leave", 2 * max(1, self.asked.count),
                         gpu_memory="all")
        after = self.run("after", f"exec {JOB} hold --share 0.7 --seconds 1 > $LOCKSTEP_OUT/found", max(1, self.asked.count),
                         gpu_memory="all")
        free = []
        for file in sorted((self.asked.folder / "runs/after/jobs").glob("*/found")):
            free.append(json.loads(file.read_text())["free_share_at_start"])
        holds = batch["done"] == batch["jobs"] and after["done"] == after["jobs"] and free and min(free) > 0.9
        self.keep("what a job leaves behind is ended, and its memory comes back", holds, batch, free_share_afterwards=free)

    def uuids(self):
        said = subprocess.run([self.asked.tool, "devices", "--json"], capture_output=True, text=True).stdout
        return [gpu["uuid"] for gpu in json.loads(said)["gpus"]]

    def analyze(self, name):
        said = subprocess.run([self.asked.tool, "batch", "analyze", name], cwd=self.asked.folder, capture_output=True,
                              text=True)
        self.found.append({"check": f"lockstep batch analyze {name}", "holds": said.returncode == 0 and "GPU 0" in said.stdout,
                           "said": said.stdout.splitlines()})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("tool")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--devices", default="")
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--program", default="")
    asked = parser.parse_args()
    check = Check(asked)
    check.verified()
    if asked.count > 1:
        check.wrong()
    check.memory_comes_back()
    check.analyze("verified")
    lines = batches.head("bench/batch_gpu_check.sh OUT_FILE") + [f"devices = {asked.count}"]
    lines.append(f"all_hold = {json.dumps(all(one['holds'] for one in check.found))}")
    if asked.count < 2:
        lines.append('left_out = "a job on another device than its own: needs two GPUs"')
    batches.write(asked.out, lines + [batches.table("check", one) for one in check.found])
    sys.exit(0 if all(one["holds"] for one in check.found) else 1)


if __name__ == "__main__":
    main()
