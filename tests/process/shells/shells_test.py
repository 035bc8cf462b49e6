"""TAB in real shells: what it puts into the command line, and that it evaluates nothing.

Each test types into a shell on a terminal of its own. There `lockstep` is a function that writes its
arguments to a file, so that what the shell made of the line is seen exactly.
"""

import json
import os
import pathlib
import pty
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TOOL = os.environ["LOCKSTEP_TOOL"]
PATIENCE_S = 60
HOSTILE = [
    "$(touch evil)", "`touch evil`", "my run", "it's", 'say "x"', "a;touch evil", "a&touch evil&b", "*", "~root",
    "a:b=c@d", "back\\slash", "$HOME", "${x:-y}", "ümlaut", "a|b>c", "#x", "!!", "{1,2}", "[a]", "%s", "-dash", "=ls",
    "^x", "key=value",
]


class Terminal:
    """A program on a terminal of its own, to type into."""

    def __init__(self, words, folder, environment):
        self.output = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(words[0], words, environment)

    def type(self, text):
        os.write(self.fd, text.encode())

    def read(self, timeout_s):
        if not select.select([self.fd], [], [], timeout_s)[0]:
            return
        try:
            self.output += os.read(self.fd, 65536)
        except OSError:  # it has ended
            time.sleep(timeout_s)

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


class ShellCase:
    """The same for every shell."""

    def setUp(self):
        if shutil.which(self.shell) is None:
            self.skipTest(f"no {self.shell}")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="lockstep-shells-"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "home").mkdir()
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder / "home"), "TERM": "xterm",
                            "LC_ALL": "C.UTF-8", "XDG_STATE_HOME": str(self.folder / "state")}
        done = subprocess.run([TOOL, "completion", self.shell], stdout=subprocess.PIPE, text=True, check=True)
        (self.folder / "script").write_text(done.stdout)
        self.terminal = None

    def tearDown(self):
        if self.terminal:
            self.terminal.close()
        self.assertEqual(sorted(self.folder.rglob("evil")), [])

    def make_run(self, name, root="runs", **record):
        (self.folder / root / name).mkdir(parents=True)
        (self.folder / root / name / "run.json").write_text(json.dumps(record))

    def wait_for(self, name):
        end = time.monotonic() + PATIENCE_S
        while not (self.folder / name).exists():
            self.assertLess(time.monotonic(), end, self.terminal.output.decode(errors="replace"))
            self.terminal.read(0.05)

    def start(self):
        self.terminal = Terminal(self.words, self.folder, self.environment)
        self.terminal.type(self.begin + "\r")
        self.wait_for("ready")

    def arguments(self, line):
        """Those that `lockstep` gets where `line` is typed; <TAB> is the key."""
        if self.terminal is None:
            self.start()
        (self.folder / "args").unlink(missing_ok=True)
        self.terminal.type(line.replace("<TAB>", "\t") + "\r")
        self.wait_for("args")
        return (self.folder / "args").read_text().split("\0")[:-1]

    def test_script_has_no_fault(self):
        done = subprocess.run([self.shell, "-n", "script"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_commands_flags_and_options(self):
        self.assertEqual(self.arguments("lockstep pred<TAB>"), ["predict"])
        self.assertEqual(self.arguments("true; NOTHING=1 lockstep plan text<TAB>"), ["plan", "textgen"])
        self.assertEqual(self.arguments("lockstep plan textgen --dev<TAB>cpu<TAB>"),
                         ["plan", "textgen", "--devices", "cpu"])
        self.assertEqual(self.arguments("lockstep plan textgen optimizer.ki<TAB>sg<TAB>"),
                         ["plan", "textgen", "optimizer.kind=sgd"])
        self.assertEqual(self.arguments("lockstep plan textgen preset=shakes<TAB>seed=1"),
                         ["plan", "textgen", "preset=shakespeare", "seed=1"])
        self.assertEqual(self.arguments("lockstep bench textgen --scaling=we<TAB>"),
                         ["bench", "textgen", "--scaling=weak"])

    def test_commands_of_two_words(self):
        self.make_run("plain")
        for name in ["other batch", "search"]:
            self.make_run(name)
            (self.folder / "runs" / name / "run.json").rename(self.folder / "runs" / name / "batch.json")
        (self.folder / "unlike_any.py").write_text("")
        self.assertEqual(self.arguments("lockstep bat<TAB>stat<TAB>sea<TAB>"), ["batch", "status", "search"])
        self.assertEqual(self.arguments("lockstep batch resume oth<TAB>"), ["batch", "resume", "other batch"])
        self.assertEqual(self.arguments("lockstep batch status pla<TAB>"), ["batch", "status", "pla"])
        self.assertEqual(self.arguments("lockstep batch run --keep<TAB>unlike<TAB>"),
                         ["batch", "run", "--keep-order", "unlike_any.py"])
        self.assertEqual(self.arguments("lockstep batch add search -- cat unlike<TAB>"),
                         ["batch", "add", "search", "--", "cat", "unlike_any.py"])

    def test_names_of_jobs(self):
        subprocess.run([TOOL, "batch", "run", "--name", "search", "--", "true", "--lr", "{1}", "--kind", "{2}",
                        ":::", "0.1", "0.25", ":::", "plain", "two words"],
                       cwd=self.folder, check=True, capture_output=True)
        self.assertEqual(self.arguments("lockstep batch logs sea<TAB>1=0.25,2=pl<TAB>"),
                         ["batch", "logs", "search", "1=0.25,2=plain"])
        self.assertEqual(self.arguments("lockstep batch status search 1=0.1,2=t<TAB>"),
                         ["batch", "status", "search", "1=0.1,2=two_words"])
        self.assertEqual(self.arguments("lockstep batch cancel search none<TAB>"),
                         ["batch", "cancel", "search", "none"])

    def test_names_of_runs_are_never_evaluated(self):
        for name in HOSTILE:
            with self.subTest(name=name):
                shutil.rmtree(self.folder / "runs", ignore_errors=True)
                self.make_run(name)
                want = f"runs/{name}" if name[0] in "-~" else name
                self.assertEqual(self.arguments("lockstep predict <TAB>"), ["predict", want])

    def test_several_names_are_listed_without_being_evaluated(self):
        for name in HOSTILE + ["new\nline", "\x1b]0;title\x07", "both"]:
            self.make_run(name)
        self.assertEqual(self.arguments("lockstep resume <TAB><TAB>\x15lockstep resume bo<TAB>"), ["resume", "both"])

    def test_names_are_found_where_run_root_says(self):
        self.make_run("other", root="else where")
        line = "lockstep runs run.root=else\\ where <TAB>"
        self.assertEqual(self.arguments(line), ["runs", "run.root=else where", "other"])

    def test_files_are_never_evaluated(self):
        (self.folder / "my $(touch evil) file.toml").write_text("")
        want = ["train", "textgen", "--config", "my $(touch evil) file.toml"]
        self.assertEqual(self.arguments("lockstep train textgen --config my<TAB>"), want)
        want = ["train", "textgen", "data.path=my $(touch evil) file.toml"]
        self.assertEqual(self.arguments("lockstep train textgen data.path=my<TAB>"), want)

    def test_a_word_inside_quotes(self):
        self.make_run("my $(touch evil) run")
        self.assertEqual(self.arguments("lockstep predict 'my<TAB>"), ["predict", "my $(touch evil) run"])
        self.assertEqual(self.arguments('lockstep predict "my<TAB>'), ["predict", "my $(touch evil) run"])

    def test_programs_complete_their_own_words(self):
        (self.folder / "unlike_any.py").write_text("")
        self.assertEqual(self.arguments("lockstep launch --devices cpu:2 python3 unlike<TAB> --seed"),
                         ["launch", "--devices", "cpu:2", "python3", "unlike_any.py", "--seed"])

    def test_options_of_a_plugin_that_was_used_before(self):
        option = {"key": "model.wonder", "type": "integer", "default": 1, "meaning": "how much", "unit": "", "min": None,
                  "max": None, "choices": None}
        recipe = {"name": "wonder", "summary": "", "options": [option], "presets": [], "cpu_defaults": {},
                  "gpu_defaults": {}}
        library = self.folder / "gone.so"  # it is not loaded
        (self.folder / "state/lockstep").mkdir(parents=True)
        (self.folder / "state/lockstep/plugins.json").write_text(json.dumps({str(library): {"recipes": [recipe]}}))
        self.assertEqual(self.arguments("lockstep train --plugin gone.so won<TAB>model.won<TAB>2"),
                         ["train", "--plugin", "gone.so", "wonder", "model.wonder=2"])
        self.make_run("wonderful", recipe="wonder", plugin=str(library))
        self.assertEqual(self.arguments("lockstep resume wonderful model.won<TAB>2"),
                         ["resume", "wonderful", "model.wonder=2"])


class Bash(ShellCase, unittest.TestCase):
    shell = "bash"
    words = ["bash", "--norc", "--noprofile", "-i"]
    begin = ("unset HISTFILE; set +H; source ./script; "
             "lockstep() { printf '%s\\0' \"$@\" > args.new; mv args.new args; }; touch ready")

    def test_offers_no_words_of_its_own(self):
        self.assertEqual(self.arguments("lockstep predict nothing<TAB>"), ["predict", "nothing"])


class Zsh(ShellCase, unittest.TestCase):
    shell = "zsh"
    words = ["zsh", "-f", "-i"]
    begin = ("unsetopt BANG_HIST; autoload -Uz compinit; compinit -D -u; source ./script; "
             "lockstep() { printf '%s\\0' \"$@\" > args.new; mv args.new args }; touch ready")

    def test_is_found_by_its_name(self):
        (self.folder / "functions").mkdir()
        shutil.copy(self.folder / "script", self.folder / "functions/_lockstep")
        self.begin = self.begin.replace("autoload", "fpath=($PWD/functions $fpath); autoload").replace("source ./script; ", "")
        self.assertEqual(self.arguments("lockstep pred<TAB>"), ["predict"])
        self.assertEqual(self.arguments("lockstep pla<TAB>text<TAB>"), ["plan", "textgen"])


class Fish(ShellCase, unittest.TestCase):
    shell = "fish"
    words = ["fish", "-i"]
    begin = ("source ./script; function lockstep; printf '%s\\0' $argv > args.new; mv args.new args; end; "
             "touch ready")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
