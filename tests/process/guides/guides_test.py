"""Runs the command blocks of a page, in order, in an empty folder, and compares what they print with what the page shows.

Usage: guides_test.py CHECKOUT BUILD PAGE. A block without a language is a list of commands, each of which must succeed; one
with lines that begin with `$ ` shows their output too. What else a block is stands in pages/PAGE.toml beside this file:

  before = '''…'''          commands that prepare the folder
  run_by = "…"              another test that runs the whole page: nothing of it is run here
  words = {RUN = "first"}   what stands in the page for something of the reader, and what the test puts there
  [[block]]                 of the block whose first line begins with `begins`:
    before                  commands that prepare it
    output_of               a command: the block is a part of what it prints
    exit                    the exit code of its last command, or a list of those that may be, if not 0
    instead                 what is put in place of parts of its commands
    shown_as                what is put in place of parts of what the page shows, where the test has other devices
    leave_out               a regular expression of lines that need not be there
    drawn                   it is drawn with characters: only the words of its lines count
    stands_in               {"| row" = 'expression'}: what the expression finds in what is printed, by its group, stands in the next line
                            above the block that begins so; blanks do not matter
    file                    it is a file of that name, which later blocks use
    then                    commands that use that file
    code_of                 files of the repository: each of its lines is in one of them
    names_in                files of the repository: each name in its code is in one of them, or in `own`
    own                     names that stand for something of the reader
    fake_gpus               so many idle GPUs, in place of a driver
    facts                   what is different of them: a table for each (tests/fakes/nvml_script.h)
    needs                   programs, or lightgbm, without which it is left out
    not_run                 why it cannot run in a test, and which test shows it instead

`before` has the program `made`, which makes data (made.py). Numbers, units, plurals and paths may differ: the shape must be the same. `…`
stands for anything. Trainings are shortened. A page runs in one of ten commits. Exits 77, saying why, where it does not run.
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

try:
    import tomllib
except ImportError:  # before Python 3.11
    try:
        from pip._vendor import tomli as tomllib
    except ImportError:
        tomllib = None

SKIPPED = 77
# Options that make a training short, unless the page gives them itself.
SHORT = {
    "textgen": {"preset": "small", "model.width": "32", "model.layers": "1", "stop.steps": "4"},
    "volume": {"precision": "fp32", "model.width": "8", "model.depth": "3", "data.patch": "32", "batch.global": "2", "stop.steps": "2"},
    "fewshot": {"preset": "small", "stop.episodes": "4", "evaluate.episodes": "2"},
    "dimabsa": {"model.width": "32", "stop.steps": "4"},
    "gbdt": {"data.made_symbols": "2", "n_estimators": "5"},
}
# A program named lockstep that comes before the real one: it adds those options.
SHORTENING = """#!/usr/bin/env python3
import json, os, sys
words, short = sys.argv[1:], json.loads(os.environ["GUIDE_SHORT"])
end = words.index("--") if "--" in words else len(words)
shorten = words[:1] in (["train"], ["bench"]) and len(words) > 1 or words[:2] == ["batch", "gbdt"]
if shorten:
    given = {word.split("=")[0] for word in words[:end]}
    idle = {"data.made_symbols"} if "data.path" in given else set()
    words[end:end] = [f"{key}={value}" for key, value in short.get(words[1], {}).items() if key not in given | idle]
if words == ["monitor"]:
    words += ["--once"]
os.execv(os.environ["GUIDE_TOOL"], ["lockstep"] + words)
"""
UNIT = r"(?:\s?(?:ns|us|µs|ms|s|m|h|d|B|KiB|MiB|GiB|kB|MB|GB)\b)?"
NUMBER = rf"(?:[-+]?\d[\d.,]*(?:e[-+]?\d+)?[kMG]?{UNIT})(?:\d+[hms])*"


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def blocks_of(page):
    """The fenced blocks: (language, lines)."""
    return [(match[2], match[3].splitlines())
            for match in re.finditer(r"^(?P<indent> *)```(\w*)\n(.*?)^(?P=indent)```$", page, re.DOTALL | re.MULTILINE)]


def shape(line):
    """A regular expression of what has the shape of a line."""
    parts = []
    for token in re.findall(rf"…|\s+|/home/ada|{NUMBER}|[▁-█]+|[A-Za-z]+|.", line.strip()):
        if token == "…":
            parts.append(r".*?")
        elif token.isspace():
            parts.append(r"\s+")
        elif token == "/home/ada":
            parts.append(r"\S*?")
        elif re.fullmatch(NUMBER, token):
            parts.append(NUMBER)
        elif "▁" <= token[0] <= "█":
            parts.append(r"[▁-█]+")
        elif token.isalpha() and len(parts) > 1 and parts[-2:] == [NUMBER, r"\s+"]:
            parts.append(token.removesuffix("s") + "s?")
        else:
            parts.append(re.escape(token))
    return "".join(parts)


def compare(shown, printed, drawn=False):
    """None, or the first line of what the page shows that is not printed after those above it."""
    shown = [line for line in shown if line.strip()]
    if drawn:
        said = re.findall(r"[a-z]{3,}", printed)
        for line in shown:
            if any(word not in said for word in re.findall(r"[a-z]{3,}", line)):
                return line
        return None
    for count in range(1, len(shown) + 1):
        if not re.search(r"\s+".join(shape(line) for line in shown[:count]), printed, re.DOTALL):
            return shown[count - 1]
    return None


def not_in(sources, lines):
    """What is wrong if lines of code are not all in one of the sources, comments and blanks aside."""
    def code(line):
        return re.sub(r"\s+", " ", re.split(r"\s//|\s+#", line)[0]).strip()
    there = {code(line) for source in sources for line in source.splitlines()}
    return [f"no line of the example: {line}" for line in lines if code(line) and "…" not in line and code(line) not in there]


def unknown_names(sources, lines, own):
    """What is wrong if a name in lines of C++ is neither in a source nor in `own`; words in texts and comments are no names."""
    text = "\n".join(re.sub(r'"[^"]*"', "", line.split("//")[0]) for line in lines)
    there = {name for source in sources for name in re.findall(r"[A-Za-z_]\w{2,}", source)} | set(own)
    return [f"no such name: {name}" for name in sorted(set(re.findall(r"[A-Za-z_]\w{2,}", text))) if name not in there]


class Page:
    def __init__(self, checkout, build, path, folder):
        self.checkout, self.build, self.folder, self.failed = checkout, build, folder, []
        name = "index" if path == "docs/guide/README.md" else pathlib.Path(path).stem
        plan = pathlib.Path(__file__).parent / "pages" / f"{name}.toml"
        self.plan = tomllib.loads(plan.read_text()) if plan.exists() else {}
        unknown = set(self.plan) - {"before", "words", "block", "needs", "run_by"}
        assert not unknown, f"{plan}: {unknown}"
        self.text = (checkout / path).read_text()
        self.blocks = blocks_of(self.text)
        self.plans = {}
        for block in self.plan.get("block", []):
            at = [i for i, (_, lines) in enumerate(self.blocks) if lines and lines[0].startswith(block["begins"]) and i not in self.plans]
            assert at, f"{plan}: {path} has no block that begins with '{block['begins']}'"
            self.plans[at[0]] = block
        (folder / "bin").mkdir()
        # A reader's clone may lie in a folder whose name has a blank.
        clone = folder / "my clone"
        clone.mkdir()
        (clone / "checkout").symlink_to(checkout)
        (clone / "build").symlink_to(build)
        made = shlex.join([sys.executable, str(clone / "checkout/tests/process/guides/made.py")])
        for program, script in (("lockstep", SHORTENING), ("made", f'#!/bin/sh\nexec {made} "$@"\n')):
            (folder / "bin" / program).write_text(script)
            (folder / "bin" / program).chmod(0o755)
        (folder / "work").mkdir()
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith(("LOCKSTEP_", "SLURM_"))},
            "PATH": f"{folder}/bin:{clone}/build:{os.environ['PATH']}", "HOME": str(folder), "CUDA_VISIBLE_DEVICES": "", "COLUMNS": "120",
            "GUIDE_TOOL": str(build / "lockstep"), "GUIDE_CHECKOUT": str(clone / "checkout"), "GUIDE_BUILD": str(clone / "build"),
            "GUIDE_SHORT": json.dumps(SHORT)}

    def run(self, script, expected=0, environment=None):
        """What a bash script prints, on both outputs."""
        done = subprocess.run(["bash", "-eo", "pipefail", "-c", script], cwd=self.folder / "work", env={**self.environment, **(environment or {})},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=300)
        if done.returncode not in (expected if isinstance(expected, list) else [expected]):
            self.failed.append(f"exit code {done.returncode}, not {expected}, of:\n{script}\n{done.stdout[-3000:]}")
        return done.stdout

    def as_here(self, script, instead):
        """A reader's commands, with what is here in place of the reader's."""
        for part, other in instead.items():
            script = script.replace(part, other)
        words = self.plan.get("words", {})
        if words:  # the longest first; nothing that was put in is looked at again
            pattern = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
            script = re.sub(rf"(?<![\w.-])(?:{pattern})(?![\w-])", lambda match: words[match[0]], script)
        return script

    def must_show(self, shown, printed, plan):
        text = "\n".join(shown)
        for part, other in plan.get("shown_as", {}).items():
            text = text.replace(part, other)
        shown = text.split("\n")
        if "leave_out" in plan:
            shown = [line for line in shown if not re.search(plan["leave_out"], line)]
            printed = "\n".join(line for line in printed.split("\n") if not re.search(plan["leave_out"], line))
        line = compare(shown, printed, plan.get("drawn", False))
        if line is not None:
            self.failed.append(f"not printed so: {line}\nbut:\n{printed[-5000:]}")

    def must_stand(self, lines, stands_in, printed):
        """Whether the page has the numbers that a block prints."""
        above = self.text[:self.text.index("\n".join(lines))].splitlines()
        for begins, expression in stands_in.items():
            row = [line for line in above if line.startswith(begins)][-1]
            found = re.findall(expression, printed)
            if not found:
                self.failed.append(f"{expression} is not in:\n{printed[-5000:]}")
            self.failed += [f"printed is {one}, but the page has: {row}" for one in found
                            if not re.search(rf"(?<![\d.]){re.escape(one.replace(' ', ''))}", row.replace(" ", ""))]

    def gpus(self, count, facts):
        """What the environment of a program is that sees so many GPUs, idle but for the facts of each."""
        gpus = [{"uuid": f"GPU-0{i}", "name": "NVIDIA H200", "bus": 16 * (i + 1), "minor_number": i, "memory": 141 << 30, "used": 1 << 21, "compute_mode": 0,
                 "major": 9, "minor_version": 0, "power": 78000, "power_limit": 700000, "default_power_limit": 700000, "temperature": 31,
                 "clock": 345, "max_clock": 1980, "utilization": 0, "gpm": {"2": 0, "5": 0, "10": 0}, "nvlink_version": 6,
                 "nvlinks": ["switch"] * 18, "processes": [], "reasons": 0,
                 **(facts[i] if facts else {})} for i in range(count)]
        file = self.folder / "gpus.json"
        file.write_text(json.dumps({"driver": "580.65.06", "cuda": 13000, "gpus": gpus}))
        return {"LOCKSTEP_NVML": f"{self.build}/tests/libfake-nvml.so", "LOCKSTEP_CUDA_DRIVER": f"{self.build}/tests/libfake-cuda-driver.so",
                "FAKE_NVML": str(file), "CUDA_VISIBLE_DEVICES": ",".join(str(i) for i in range(count))}

    def check(self, at):
        language, lines = self.blocks[at]
        plan = self.plans.get(at, {})
        unknown = set(plan) - {"begins", "before", "output_of", "exit", "drawn", "file", "then", "code_of", "names_in", "own", "fake_gpus", "facts", "needs",
                               "not_run", "instead", "shown_as", "leave_out", "stands_in"}
        assert not unknown, unknown
        why = plan.get("not_run") or self.lacks(plan.get("needs", []))
        if why:
            print(f"not run: {lines[0]}: {why}")
            return
        environment = self.gpus(plan["fake_gpus"], plan.get("facts")) if "fake_gpus" in plan else {}
        instead, code = plan.get("instead", {}), plan.get("exit", 0)
        if "before" in plan:
            self.run(plan["before"])
        if "output_of" in plan:
            self.must_show(lines, self.run(plan["output_of"], code, environment), plan)
        elif "file" in plan:
            (self.folder / "work" / plan["file"]).write_text("\n".join(lines) + "\n")
            self.run(plan.get("then", ""))
        elif "code_of" in plan:
            self.failed += not_in([(self.checkout / source).read_text() for source in plan["code_of"]], lines)
        elif "names_in" in plan:
            files = [file for pattern in plan["names_in"] for file in self.checkout.glob(pattern)]
            self.failed += unknown_names([file.read_text() for file in files], lines, plan.get("own", []))
        elif language:
            self.failed.append(f"a block of {language} is neither a file nor code of an example")
        elif any(line.startswith("$ ") for line in lines):
            for part in re.split(r"^\$ ", "\n".join(lines), flags=re.MULTILINE)[1:]:
                command, *shown = part.split("\n")
                self.must_show(shown, self.run(self.as_here(command, instead), code, environment), plan)
        else:
            printed = self.run(self.as_here("\n".join(lines), instead), code, environment)
            self.must_stand(lines, plan.get("stands_in", {}), printed)

    def lacks(self, needs):
        """Why the page or the block is left out here, or None."""
        for need in needs:
            if not ((self.build / "lightgbm/lib").exists() if need == "lightgbm" else shutil.which(need)):
                return f"no {need} here"
        return None


def main():
    checkout, build, path = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    tenth = os.environ.get("LOCKSTEP_TEST_TENTH", "all")
    pages = ["README.md"] + sorted(str(page.relative_to(checkout)) for page in (checkout / "docs/guide").glob("*.md"))
    if tenth != "all" and pages.index(path) % 10 != int(tenth):
        skip("in another tenth of the long tests; make test-all runs all of them")
    if not tomllib:
        skip("this Python cannot read TOML")
    with tempfile.TemporaryDirectory() as folder:
        page = Page(checkout, build, path, pathlib.Path(folder))
        why = page.lacks(page.plan.get("needs", []))
        if "run_by" in page.plan:
            why = f"{page.plan['run_by']} runs it"
        if why:
            skip(why)
        page.run(page.plan.get("before", ""))
        for at in range(len(page.blocks)):
            before = len(page.failed)
            page.check(at)
            page.failed[before:] = [f"block '{page.blocks[at][1][0]}': {what}" for what in page.failed[before:]]
        if page.failed:
            sys.exit(f"{path}: " + "\n\n".join(page.failed))


if __name__ == "__main__":
    main()
