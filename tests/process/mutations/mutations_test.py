"""Runs, exports and batches that somebody changed in every way, read by every command.

mutations_test.py BUILD [--only NUMBER]… [--part K/N] [--slower FACTOR]

Each of 2,000 changes of a run folder, an export or a batch (types of files, links, sizes, names, counts, values) meets
ten commands. None may end by a signal, take longer than a limit or more memory than another, or change anything outside
of what it reads; an exit code of 2 comes with `error:` and `hint:`. Where LOCKSTEP_TEST_TENTH is a number, fifty of the
changes, always the same ones, of which each third meets the commands that start LibTorch; --only runs those of these numbers,
and says what they are; --part 2/8 the second of eight parts, of which others may run beside it; --slower allows a build with
sanitizers that many times the time and memory.
"""
import argparse
import json
import os
import random
import shutil
import sqlite3
import struct
import sys
import tempfile
from pathlib import Path

from world import World

CASES = 2000
sys.setrecursionlimit(10_000)  # for what is nested deeper than most
MEMORY_LIMIT_BYTES = 2 << 30
ESCAPE = "\x1b]0;owned\x07\x9b2J\u202egnp"


def some_value(rng, world):
    victim = str(world.folder / "victim")
    return rng.choice([
        lambda: 10 ** rng.randint(15, 40), lambda: -rng.randint(1, 10**12), lambda: rng.random() * 1e300,
        lambda: float("nan"), lambda: "", lambda: "x" * rng.choice([300, 70_000]), lambda: ESCAPE,
        lambda: victim + "/precious.txt", lambda: victim, lambda: "../" * rng.randint(1, 6) + "victim/precious.txt",
        lambda: "**/" * rng.choice([3, 400]) + "*.txt", lambda: None, lambda: True, lambda: [], lambda: {},
        lambda: [rng.randint(-5, 5)] * rng.choice([2, 5000]), lambda: {f"k{i}": i for i in range(rng.choice([3, 2000]))},
        lambda: nested(rng.choice([5, 900])), lambda: "/dev/zero", lambda: "\ud800",
    ])()


def nested(depth):
    value = 1
    for _ in range(depth):
        value = [value]
    return value


def places_of(value, found, path=()):
    found.append(path)
    if isinstance(value, dict):
        for key in value:
            places_of(value[key], found, path + (key,))
    if isinstance(value, list):
        for i, part in enumerate(value[:20]):
            places_of(part, found, path + (i,))
    return found


def change_json(text, rng, world):
    value = json.loads(text)
    for _ in range(rng.randint(1, 3)):
        place = rng.choice(places_of(value, []))
        if not place:
            if rng.random() < 0.2:
                return json.dumps(some_value(rng, world))
            continue
        parent = value
        for key in place[:-1]:
            parent = parent[key]
        if isinstance(parent, dict) and rng.random() < 0.25:
            del parent[place[-1]]
        elif isinstance(parent, dict) and rng.random() < 0.1:
            parent[ESCAPE] = parent.pop(place[-1])
        else:
            parent[place[-1]] = some_value(rng, world)
    return json.dumps(value, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass").decode("latin-1")


def write_latin(path, text):
    path.unlink()
    path.write_bytes(text.encode("latin-1", "replace"))


def change_values(path, rng, world):
    data = path.read_bytes()
    if path.suffix == ".jsonl":
        lines = data.decode("utf-8", "replace").splitlines()
        for _ in range(rng.randint(1, 4)):
            if not lines:
                break
            i = rng.randrange(len(lines))
            kind = rng.random()
            if kind < 0.6:
                try:
                    lines[i] = change_json(lines[i], rng, world)
                except ValueError:
                    lines[i] = "{"
            elif kind < 0.75:
                lines.insert(i, "x" * rng.choice([10, 3_000_000]))
            elif kind < 0.85:
                lines[i:i] = [lines[i]] * rng.choice([2, 20_000])
            else:
                del lines[i:]
        write_latin(path, "\n".join(lines) + ("\n" if rng.random() < 0.8 else ""))
        return "values of a line"
    if path.suffix == ".json":
        try:
            write_latin(path, change_json(data.decode("utf-8", "replace"), rng, world))
            return "values"
        except ValueError:
            return change_bytes(path, rng)
    if path.suffix == ".safetensors" and len(data) > 8:
        size = struct.unpack("<Q", data[:8])[0]
        try:
            header = change_json(data[8:8 + size].decode("utf-8", "replace"), rng, world).encode("latin-1", "replace")
        except ValueError:
            return change_bytes(path, rng)
        length = len(header) if rng.random() < 0.8 else rng.choice([0, 1, len(header) + 9, 2**63, 2**64 - 1])
        path.unlink()
        path.write_bytes(struct.pack("<Q", length) + header + data[8 + size:])
        return "values of the header"
    if path.suffix == ".sqlite":
        return change_ledger(path, rng, world)
    return change_bytes(path, rng)


def change_bytes(path, rng):
    data = bytearray(path.read_bytes())
    kind = rng.choice(["bytes", "cut", "doubled", "inserted", "random"])
    if kind == "bytes" and data:
        for _ in range(rng.randint(1, 20)):
            data[rng.randrange(len(data))] = rng.randrange(256)
    elif kind == "cut":
        del data[rng.randrange(len(data) + 1):]
    elif kind == "doubled":
        data = data * 2
    elif kind == "inserted":
        place = rng.randrange(len(data) + 1)
        data[place:place] = rng.randbytes(rng.choice([1, 9000]))
    else:
        data = bytearray(rng.randbytes(rng.choice([1, 100, 100_000])))
    path.unlink()
    path.write_bytes(bytes(data))
    return kind


def change_ledger(path, rng, world):
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
    ledger = sqlite3.connect(path)
    tables = [row[0] for row in ledger.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")]
    said = []
    for _ in range(rng.randint(1, 3)):
        table = rng.choice(tables)
        columns = [row[1] for row in ledger.execute(f"PRAGMA table_info({table})")]
        kind = rng.choice(["cell"] * 6 + ["view", "trigger", "drop", "version", "rows", "column", "index"])
        said.append(f"{kind} of {table}")
        try:
            if kind == "cell":
                value = some_value(rng, world)
                if not isinstance(value, (int, float, str, type(None))) or (isinstance(value, int) and abs(value) >= 2**63):
                    value = rng.randbytes(20)
                if isinstance(value, str):
                    value = value.replace("\ud800", "?")
                ledger.execute(f"UPDATE {table} SET {rng.choice(columns)} = ? WHERE rowid % ? = 0", (value, rng.choice([1, 3])))
            elif kind == "view":
                ledger.execute(f"ALTER TABLE {table} RENAME TO kept")
                listed = ", ".join(f"i AS {column}" for column in columns)
                ledger.execute(f"CREATE VIEW {table} AS SELECT {listed} FROM ({endless})")
            elif kind == "trigger":
                ledger.execute(f"CREATE TRIGGER t_{rng.randrange(99)} AFTER UPDATE ON {table} BEGIN DELETE FROM {table}; END")
            elif kind == "drop":
                ledger.execute(f"DROP TABLE {table}")
            elif kind == "version":
                ledger.execute(f"PRAGMA user_version = {rng.choice([0, 1, 999_999])}")
            elif kind == "rows":
                ledger.execute(f"INSERT INTO {table} SELECT {', '.join('NULL' if i == 0 else c for i, c in enumerate(columns))} FROM {table}")
            elif kind == "column":
                ledger.execute(f"ALTER TABLE {table} RENAME COLUMN {rng.choice(columns)} TO other")
            else:
                ledger.execute(f"CREATE INDEX i_{rng.randrange(99)} ON {table}({rng.choice(columns)})")
            ledger.commit()
        except sqlite3.Error:
            ledger.rollback()
    ledger.close()
    return ", ".join(said)


def change_type(path, rng, world):
    kind = rng.choice(["link to a file", "link to a folder", "link to a device", "pipe", "folder", "empty", "sparse", "gone",
                       "link to itself", "unreadable"])
    was_folder = path.is_dir() and not path.is_symlink()
    if was_folder:
        shutil.rmtree(path)
    else:
        path.unlink()
    victim = world.folder / "victim"
    if kind == "link to a file":
        path.symlink_to(victim / "precious.txt")
    elif kind == "link to a folder":
        path.symlink_to(victim)
    elif kind == "link to a device":
        path.symlink_to("/dev/zero")
    elif kind == "link to itself":
        path.symlink_to(path.name)
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        (path / "deeper/and deeper").mkdir(parents=True)
    elif kind == "empty":
        path.touch()
    elif kind == "sparse":
        path.touch()
        size = rng.choice([3 << 30, 1 << 40])
        os.truncate(path, 10 << 20 if path.suffix == ".log" else size)  # a log is printed whole
    elif kind == "unreadable":
        path.touch()
        path.chmod(0)
    return kind


def add_something(folder, rng, world):
    kind = rng.choice(["nested", "names", "many", "temporary", "checkpoint", "link"])
    if kind == "nested":
        place = folder / rng.choice(["predictions", "evaluations", "media", "checkpoints", "logs"])
        for _ in range(rng.choice([30, 400])):
            place = place / "d"
            if len(str(place)) > 3900:
                break
        place.mkdir(parents=True, exist_ok=True)
        (place / "file.txt").touch()
    elif kind == "names":
        for name in (ESCAPE, "-x", "--root=x", "a\nb", "x" * 255, "\udcff\udcfe", " "):
            (folder / name).touch()
    elif kind == "many":
        place = folder / rng.choice(["predictions", "evaluations", "media", "checkpoints", "logs", "tensorboard"])
        place.mkdir(exist_ok=True)
        for i in range(2000):
            (place / f"step-{i:09d}").touch()
    elif kind == "temporary":
        for parent in (folder, folder / "checkpoints", folder / "evaluations"):
            if parent.is_dir():
                (parent / ".tmp-step-000000009-1/deeper").mkdir(parents=True, exist_ok=True)
                (parent / ".old-step-000000009").mkdir(exist_ok=True)
                (parent / ".a.1-00000000-1.0.tmp").touch()
    elif kind == "checkpoint":
        place = folder / "checkpoints" / rng.choice(["step-9223372036854775807", "step-999999999", "step-000000003"])
        place.mkdir(parents=True, exist_ok=True)
        (place / "manifest.json").write_text(json.dumps({"step": 3, "files": {"../../../../victim/precious.txt": {}}}))
    else:
        for name in ("predictions", "evaluations", "media", "tensorboard", "logs"):
            if not (folder / name).exists():
                (folder / name).symlink_to(world.folder / "victim")
    return f"added: {kind}"


def files_below(folder):
    found = []
    for parent, folders, files in os.walk(folder):
        found += [Path(parent) / name for name in files]
    return sorted(found)


def change(folder, rng, world):
    """Changes one thing of what lies there; says what."""
    files = files_below(folder) if folder.is_dir() else [folder]
    kind = rng.random()
    if kind < 0.15 and folder.is_dir():
        return add_something(folder, rng, world)
    important = [f for f in files if f.suffix in (".json", ".jsonl", ".sqlite", ".safetensors", ".csv", ".toml")]
    path = rng.choice(important if important and rng.random() < 0.8 else files)
    if path.is_symlink() or not path.is_file():
        return "nothing"
    shown = path.name if not folder.is_dir() else str(path.relative_to(folder))
    if kind < 0.4:
        if folder.is_dir() and rng.random() < 0.3:
            path = rng.choice([p for p in folder.rglob("*") if p.is_dir() and not p.is_symlink()] or [path])
            shown = str(path.relative_to(folder))
        return f"{shown}: {change_type(path, rng, world)}"
    if path.stat().st_size > 64 << 20:  # a change before made it so
        return "nothing"
    try:
        return f"{shown}: {change_values(path, rng, world)}"
    except (sqlite3.Error, PermissionError) as error:
        return f"{shown}: {error}"


RUN_COMMANDS = [
    ["runs"], ["runs", "gift"], ["runs", "gift", "--json"], ["compare", "gift", "good"], ["report", "gift", "--force"],
    ["export", "gift", "--out", "exported.safetensors"], ["export", "gift", "--mlflow", "exported"],
    ["evaluate", "gift", "--devices", "cpu:1"], ["predict", "gift", "--devices", "cpu:1", "predict.tokens=2"],
    ["resume", "gift", "--devices", "cpu:1", "stop.steps=5"],
]
EXPORT_COMMANDS = [
    ["runs"], ["compare", "gift.safetensors", "good"], ["report", "gift.safetensors"],
    ["evaluate", "gift.safetensors", "--devices", "cpu:1"], ["predict", "gift.safetensors", "--devices", "cpu:1", "predict.tokens=2"],
    ["export", "gift.safetensors", "--out", "again.safetensors"], ["runs", "gift.safetensors"], ["config", "textgen"],
    ["evaluate", "good", "--devices", "cpu:1"],
    ["plan", "textgen", "data.path=/nowhere", "init.from=gift.safetensors"],
]
BATCH_COMMANDS = [
    ["runs"], ["batch", "status", "runs/batch"], ["batch", "status", "runs/batch", "--json", "--jobs"],
    ["batch", "resume", "runs/batch"], ["batch", "logs", "runs/batch", "job_3"], ["batch", "analyze", "runs/batch"],
    ["report", "runs/batch", "--force"], ["compare", "runs/batch", "good"], ["batch", "cancel", "runs/batch", "job 2"],
    ["batch", "wait", "runs/batch"],
]


def snapshot(world, case):
    """All that a command may not change: everything but the changed thing, what is written by order, and caches."""
    found = {}
    for top in ("victim", "home", "tmp"):
        for parent, folders, files in os.walk(world.folder / top):
            if top == "home":
                folders[:] = [f for f in folders if f not in ("cache", "state")]
            for name in folders + files:
                path = os.path.join(parent, name)
                status = os.lstat(path)
                found[path] = (status.st_mode, status.st_size, status.st_mtime_ns)
    good = case / "runs/good"
    for parent, folders, files in os.walk(good):
        for name in files:
            status = os.lstat(os.path.join(parent, name))
            found[os.path.join(parent, name)] = (status.st_mode, status.st_size, status.st_mtime_ns)
    return found


def faults_of(words, result, world):
    faults = []
    code = result["code"]
    if code not in (0, 1, 2):
        faults.append(f"ended with {code}")
    if code == 2 and not ("error:" in result["err"] and "hint:" in result["err"]):
        faults.append("error without a hint")
    if code == 1 and "a fault of Lockstep" in result["err"]:
        faults.append("called a fault of its own")
    if result["memory"] > MEMORY_LIMIT_BYTES * world.slower:
        faults.append(f"took {result['memory'] >> 20} MiB")
    if result["cpu"] > world.cpu_limit_s:
        faults.append(f"took {result['cpu']:.1f} s of processors")
    # What a job printed stays byte for byte where it goes into a file.
    for stream in ("err",) if words[:2] == ["batch", "logs"] else ("out", "err"):
        for character in result[stream]:
            if character in "\x1b\x07" or 0x80 <= ord(character) < 0xA0 or 0x202A <= ord(character) <= 0x202E:
                faults.append(f"printed {character!r}")
                break
    return faults


STARTS_LIBTORCH = ("evaluate", "predict", "resume")


def run_case(number, world, shows, whole):
    rng = random.Random(number)
    case = world.folder / f"case-{number}"
    case.mkdir()
    made = world.bases / "made"
    (case / "runs").mkdir()
    shutil.copytree(made / "runs/good", case / "runs/good")
    kind = rng.choice(["run"] * 5 + ["export"] * 2 + ["batch"] * 3)
    if kind == "run":
        target, commands = case / "runs/gift", RUN_COMMANDS
        shutil.copytree(made / "runs/gift", target)
    elif kind == "batch":
        target, commands = case / "runs/batch", BATCH_COMMANDS
        shutil.copytree(made / "runs/batch", target, symlinks=True)
    else:
        target, commands = case / "gift.safetensors", EXPORT_COMMANDS
        shutil.copy(made / "gift.safetensors", target)
    changes = [change(target, rng, world) for _ in range(rng.randint(1, 3))] if target.is_dir() else [change(target, rng, world)]
    what = f"case {number}, {kind}: {'; '.join(changes)}".encode("ascii", "backslashreplace").decode()
    if shows:
        print(what, flush=True)
    before = snapshot(world, case)
    failures = []
    for words in commands:
        if words[0] in STARTS_LIBTORCH and not whole:
            continue
        result = world.run(words, case)
        found = faults_of(words, result, world)
        after = snapshot(world, case)
        changed = sorted(p for p in before.keys() | after.keys() if before.get(p) != after.get(p))
        if words[0] == "resume" or words[:2] == ["batch", "cancel"]:
            changed = [p for p in changed if "/runs/good/" not in p]
        found += [f"changed {p}" for p in changed[:3]]
        if found:
            said = (result["out"] + result["err"])[-600:].encode("ascii", "backslashreplace").decode()
            failures.append(f"{what}\n  lockstep {' '.join(words)}: {'; '.join(map(ascii, found))}\n  {said}")
        elif shows:
            print(f"  {result['code']} {result['cpu']:.2f} s {result['memory'] >> 20} MiB: lockstep {' '.join(words)}", flush=True)
        before = after
    for parent, folders, files in os.walk(case):
        for name in folders:
            os.chmod(os.path.join(parent, name), 0o700, follow_symlinks=True) if not os.path.islink(os.path.join(parent, name)) else None
    shutil.rmtree(case, ignore_errors=True)
    return failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--only", type=int, action="append")
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--slower", type=int, default=1)
    arguments = parser.parse_args()
    tenth = os.environ.get("LOCKSTEP_TEST_TENTH", "all")
    numbers = arguments.only or [n for n in range(CASES) if tenth == "all" or n % 40 == 3]
    part, parts = map(int, arguments.part.split("/"))
    numbers = numbers[part - 1::parts]
    with tempfile.TemporaryDirectory(prefix="mutations-") as folder:
        world = World(arguments.build, Path(folder).resolve(), arguments.slower)
        world.make_bases()
        done = failed = 0
        try:
            for number in numbers:
                for failure in run_case(number, world, bool(arguments.only), tenth == "all" or number // 20 % 3 == 0):
                    failed += 1
                    print(failure, flush=True)
                done += 1
        except KeyboardInterrupt:
            print("interrupted")
    print(f"{done} of {len(numbers)} changed runs, exports and batches: {failed} commands failed")
    return 1 if failed or done < len(numbers) else 0


if __name__ == "__main__":
    sys.exit(main())
