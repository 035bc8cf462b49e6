"""Lays out the pages of the site as the repository has them, for Sphinx.

Usage: stage.py CHECKOUT FOLDER. FOLDER/pages gets README, guides, reference, design pages and every file that these
link to, with a navigation in the order of their indexes. Fails where a link leads nowhere.
"""
import pathlib
import re
import shutil
import sys

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
SOURCE = re.compile(r'<(?:source|img) [^>]*src(?:set)?="([^"]+)"')
PICTURE = re.compile(r'<picture>\s*<source [^>]*srcset="(.*?)">\s*<img alt="(.*?)" src="(.*?)">\s*</picture>')
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def linked(page):
    """The files that a page links to."""
    text = FENCE.sub("", page.read_text())
    text = re.sub(r"`[^`\n]*`", "", text)
    for target in LINK.findall(text) + SOURCE.findall(text):
        if "://" not in target and not target.startswith("mailto:"):
            yield (page.parent / target).resolve()


def reachable(checkout):
    """README, the pages of docs/, and what they link to."""
    wanted = [checkout / "README.md", *sorted((checkout / "docs").rglob("*.md"))]
    found = set()
    while wanted:
        file = wanted.pop()
        if file in found:
            continue
        if not file.is_file():
            sys.exit(f"error: a page links to {file}, which is no file of the repository")
        found.add(file)
        if file.suffix == ".md":
            wanted.extend(linked(file))
    return found


def listed(index):
    """The pages beside an index page that it links to, in its order, each once, as Sphinx names them."""
    return list(dict.fromkeys(file.stem for file in linked(index) if file.parent == index.parent and file != index))


def with_pictures(text):
    """A page whose pictures for light and dark readers are as the theme wants them."""
    shown = "```{{image}} {}\n:alt: {}\n:class: only-{}\n```\n"
    return PICTURE.sub(lambda match: shown.format(match[3], match[2], "light") + shown.format(match[1], match[2], "dark"), text)


def add_tree(page, caption, names):
    """What the navigation shows below a page."""
    with page.open("a") as file:
        file.write("\n```{toctree}\n:hidden:\n" + (f":caption: {caption}\n" if caption else "") + "\n" + "\n".join(names) + "\n```\n")


CONFIGURATION = """project = "Lockstep"
extensions = ["myst_parser"]
root_doc = "README"
myst_heading_anchors = 4  # as the pages link to headings
html_theme = "furo"
html_title = "Lockstep"
suppress_warnings = ["misc.highlighting_failure"]  # "…" in code
highlight_language = "none"
html_copy_source = False
html_show_sphinx = False
"""


def main():
    checkout, folder = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    pages = folder / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    files = reachable(checkout)
    for file in files:
        copy = pages / file.relative_to(checkout)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".md":
            copy.write_text(with_pictures(file.read_text()))
        else:
            shutil.copyfile(file, copy)
    for name in ("guide", "reference", "design"):
        add_tree(pages / "docs" / name / "README.md", "", listed(checkout / "docs" / name / "README.md"))
    add_tree(pages / "README.md", "", [f"docs/{name}/README" for name in ("guide", "reference", "design")])
    # The others are found by links alone.
    for file in files:
        page = pages / file.relative_to(checkout)
        if file.suffix == ".md" and file.parent.parent != checkout / "docs" and file != checkout / "README.md":
            page.write_text("---\norphan: true\n---\n" + page.read_text())
    (pages / "conf.py").write_text(CONFIGURATION)


if __name__ == "__main__":
    main()
