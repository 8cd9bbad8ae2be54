"""Looks at the links between the project's pages, for Links.test.

    links.py ROOT     prints each link whose file or heading is missing, and how many are right
"""

import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
pages = [root / "README.md"]
for folder in ("benchmarks", "docs", "examples"):
    pages += sorted((root / folder).rglob("*.md"))


def prose(page):
    """The text without blocks of code."""
    return re.sub(r"^ *```.*?^ *```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def anchors(page):
    """What links to the headings of a page are called."""
    names = []
    for heading in re.findall(r"^#+ (.*)$", prose(page), re.M):
        name = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        name = re.sub(r"[^\w\- ]", "", name).replace(" ", "-")
        same = sum(re.fullmatch(re.escape(name) + r"(-\d+)?", n) is not None for n in names)
        names.append(f"{name}-{same}" if same else name)
    return names


right = 0
for page in pages:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"\w+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path) if path else page
        if not file.exists():
            print(f"{page.relative_to(root)}: {target}: there is no such file")
        elif anchor and anchor not in anchors(file):
            print(f"{page.relative_to(root)}: {target}: there is no such heading")
        else:
            right += 1
print(f"{right} links are right")
