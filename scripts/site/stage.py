"""Lays out the pages of the site as the repository has them, and writes the configuration of mkdocs.

Usage: stage.py CHECKOUT FOLDER. FOLDER/pages gets README, guides, reference, design pages and every file that these
link to; FOLDER/mkdocs.yml lists them in the order of the guides' index. Fails where a link leads nowhere.
"""
import json
import pathlib
import re
import shutil
import sys

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def linked(page):
    """The files that a page links to."""
    text = FENCE.sub("", page.read_text())
    text = re.sub(r"`[^`\n]*`", "", text)
    for target in LINK.findall(text):
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


def listed(checkout, index):
    """The pages that an index page links to, in its order, each once, from the checkout on."""
    pages = dict.fromkeys([index, *(file for file in linked(index) if file.parent == index.parent)])
    return [str(page.relative_to(checkout)) for page in pages]


def main():
    checkout, folder = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    pages = folder / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    for file in reachable(checkout):
        copy = pages / file.relative_to(checkout)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
    nav = [{"Lockstep": "README.md"}]
    for title, name in (("Guides", "guide"), ("Reference", "reference"), ("Design", "design")):
        nav.append({title: listed(checkout, checkout / "docs" / name / "README.md")})
    config = {
        "site_name": "Lockstep",
        "docs_dir": str(pages),
        "site_dir": str(folder / "site"),
        "nav": nav,
        "plugins": ["search"],
        "markdown_extensions": ["admonition", "pymdownx.superfences", {"toc": {"permalink": True}}],
        "validation": {"omitted_files": "ignore", "absolute_links": "warn", "unrecognized_links": "warn", "anchors": "warn"},
        "theme": {
            "name": "material",
            "font": False,  # a page asks no other server for anything
            "features": ["navigation.tabs", "navigation.sections", "navigation.indexes", "navigation.top", "toc.follow",
                         "content.code.copy", "search.suggest", "search.highlight"],
            "palette": [
                {"media": "(prefers-color-scheme: light)", "scheme": "default", "primary": "teal",
                 "toggle": {"icon": "material/weather-night", "name": "Dark"}},
                {"media": "(prefers-color-scheme: dark)", "scheme": "slate", "primary": "teal",
                 "toggle": {"icon": "material/weather-sunny", "name": "Light"}},
            ],
        },
    }
    (folder / "mkdocs.yml").write_text(json.dumps(config, indent=1))  # JSON is YAML, too


if __name__ == "__main__":
    main()
