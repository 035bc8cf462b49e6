"""The cells of the guide on notebooks run in a notebook, as nbconvert executes it, and print what the page shows.

Usage: notebook_test.py LOCKSTEP PAGE. Without GPUs `lockstep launch` starts two CPU ranks by itself, and jobs are given no GPU.
Exits 77, saying why, where Python lacks torch, nbconvert or ipykernel.
"""
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "guides"))
from guides_test import blocks_of, compare  # noqa: E402

for package in ("torch", "nbconvert", "ipykernel"):
    if importlib.util.find_spec(package) is None:
        print(f"skipped: python3 has no {package}")
        sys.exit(77)
import nbformat  # noqa: E402

# There is no GPU for a job here.
INSTEAD = ("--gpus 1", "--gpus 0")


def cells_of(page):
    """(source, what the page shows of its output) of each cell."""
    cells = []
    for language, lines in blocks_of(page):
        if language == "python":
            cells.append(("\n".join(lines).replace(*INSTEAD), []))
        else:
            assert not language and cells, lines
            cells[-1][1].extend(lines)
    return cells


def printed_by(cell):
    texts = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.outputs]
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", "".join(texts)).replace("\r", "\n")


def main():
    lockstep, page = pathlib.Path(sys.argv[1]).absolute(), pathlib.Path(sys.argv[2])
    cells = cells_of(page.read_text())
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source, _ in cells])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "bin").mkdir()
        (folder / "bin/lockstep").symlink_to(lockstep)
        nbformat.write(notebook, folder / "page.ipynb")
        environment = {**os.environ, "PATH": f"{folder}/bin:{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": name,
                       "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1", "COLUMNS": "120"}
        done = subprocess.run([sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "page.ipynb", "--output", "executed.ipynb"],
                              cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=280)
        assert done.returncode == 0, done.stdout
        executed = nbformat.read(folder / "executed.ipynb", as_version=4)
        for (source, shown), cell in zip(cells, executed.cells):
            print(f">>> {source.splitlines()[0]}\n{printed_by(cell)}")
            missing = compare(shown, printed_by(cell))
            assert missing is None, f"not printed so: {missing}"


if __name__ == "__main__":
    main()
