"""Commands that are killed at any moment leave nothing behind once the next one of their kind has run.

kills_test.py BUILD

100 kills of evaluate, predict, export, report and monitor --serve, a tenth of them where LOCKSTEP_TEST_TENTH says which.
"""
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from world import World

KILLS = 100
COMMANDS = [
    ["evaluate", "gift", "--devices", "cpu:1"],
    ["predict", "gift", "--devices", "cpu:1", "predict.tokens=40"],
    ["export", "gift", "--out", "exported.safetensors", "--force"],
    ["report", "gift", "--force"],
    ["monitor", "--serve", "127.0.0.1:0"],
]


def all_names(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def kill_once(world, words, work, delay_s, whole):
    process = subprocess.Popen([world.tool, *words], cwd=work, env=world.environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        process.wait(delay_s)
        return False
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL) if whole else process.kill()
        process.wait()
        return True


def end_well(world, words, work):
    if words[0] != "monitor":
        return world.must(words, work)
    process = subprocess.Popen([world.tool, *words], cwd=work, env=world.environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.3)
    process.send_signal(signal.SIGTERM)
    process.wait(20)


def main():
    tenth = os.environ.get("LOCKSTEP_TEST_TENTH", "all")
    failures, killed = [], 0
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        world = World(sys.argv[1], Path(folder).resolve())
        world.make_bases()
        work = world.folder / "work"
        shutil.copytree(world.bases / "made", work)
        for words in COMMANDS:
            begin = time.monotonic()
            end_well(world, words, work)
            took_s = time.monotonic() - begin
            names, temporary = all_names(work), all_names(world.folder / "tmp")
            for number in range(KILLS // len(COMMANDS)):
                if tenth != "all" and number % 10 != int(tenth):
                    continue
                rng = random.Random(f"{words[0]} {number}")
                killed += kill_once(world, words, work, took_s * rng.random(), rng.random() < 0.5)
                time.sleep(0.5)  # ranks see that the tool is gone
                end_well(world, words, work)
                for before, after in ((names, all_names(work)), (temporary, all_names(world.folder / "tmp"))):
                    left = [name for name in after if name not in before]
                    if left:
                        failures.append(f"kill {number} of lockstep {' '.join(words)}: left {left[:5]}")
    print(f"{killed} kills: {len(failures)} left something behind")
    print("\n".join(failures))
    return 1 if failures or killed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
