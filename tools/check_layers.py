#!/usr/bin/env python3
"""Checks that the folders of lib/ use each other in one direction only.

    tools/check_layers.py [ROOT]

docs/Layout.md lists the folders, from the bottom up, and what each may use. A file
that includes a header of another folder, or a CMake target that links one, is
reported.
"""

import re
import sys
from pathlib import Path

ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
PAGE = ROOT / "docs/Layout.md"
BEGIN, END = "<!-- layers: begin -->", "<!-- layers: end -->"


def read_layers():
    """{folder: folders that it may use}, from the table of the page."""
    text = PAGE.read_text()
    table = text[text.index(BEGIN):text.index(END)]
    layers = {}
    for line in table.splitlines():
        row = re.match(r"\| `([^`]+)` \|[^|]*\|([^|]*)\|", line)
        if not row:
            continue
        used = re.findall(r"`([^`]+)`", row[2])
        unknown = [folder for folder in used if folder not in layers]
        if unknown:
            sys.exit(f"{PAGE.name}: {row[1]} uses {unknown[0]}, which is not listed before it")
        layers[row[1]] = {row[1], *used}
    for folder, used in layers.items():
        for below in list(used - {folder}):
            used |= layers[below]
    return layers


def folder_of(path, layers):
    """The listed folder that holds `path`, given from lib/ on."""
    while path != Path("."):
        if str(path) in layers:
            return str(path)
        path = path.parent
    return None


def included(name, file):
    """The header that an #include names, from lib/ on; None if it is not of the project."""
    if name.startswith("pit/"):
        return Path(name).relative_to("pit")
    if (file.parent / name).is_file():
        return file.parent.joinpath(name).resolve().relative_to(ROOT / "lib")
    for base in (Path(), Path("Runtime")):
        if (ROOT / "lib" / base / name).is_file():
            return base / name
    return None


def check_includes(layers):
    for top in ("lib", "include/pit"):
        for file in sorted((ROOT / top).rglob("*")):
            if file.suffix not in (".cpp", ".h", ".c", ".inc"):
                continue
            own = folder_of(file.parent.relative_to(ROOT / top), layers)
            if own is None:
                if file.parent != ROOT / "lib":
                    yield f"{file.relative_to(ROOT)}: its folder is not listed in {PAGE.name}"
                continue
            for number, line in enumerate(file.read_text().splitlines(), 1):
                include = re.match(r'\s*#include "([^"]+)"', line)
                header = include and included(include[1], file)
                used = header and folder_of(header.parent, layers)
                if used and used not in layers[own]:
                    yield (f"{file.relative_to(ROOT)}:{number}: {own} may not use {used} "
                           f"({include[1]})")


def check_links(layers):
    targets, links = {}, []
    for file in sorted((ROOT / "lib").rglob("CMakeLists.txt")):
        own = folder_of(file.parent.relative_to(ROOT / "lib"), layers)
        for name, body in re.findall(r"pit_add_compiler_library\((\w+)([^)]*)\)", file.read_text()):
            targets[name] = own
            linked = re.search(r"\bLINK\b(.*)", body, re.DOTALL)
            links += [(file, own, other) for other in linked[1].split()] if linked else []
    for file, own, other in links:
        if other in targets and targets[other] not in layers[own]:
            yield f"{file.relative_to(ROOT)}: {own} may not link {targets[other]} ({other})"


def main():
    layers = read_layers()
    for folder in layers:
        if not (ROOT / "lib" / folder).is_dir():
            sys.exit(f"{PAGE.name}: there is no lib/{folder}")
    wrong = [*check_includes(layers), *check_links(layers)]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"layers: {len(layers)} folders, {len(wrong)} uses in the wrong direction")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
