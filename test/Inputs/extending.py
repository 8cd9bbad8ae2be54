"""extending.py ROOT: looks for the names of docs/Extending.md in the files beside them."""

import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
page = (root / "docs/Extending.md").read_text(encoding="utf-8")
rows = re.findall(r"^\| [^|]* \| `([\w./-]+)` \| (.*) \|$", page, re.M)
wrong = 0
for path, names in rows:
    file = root / path
    text = file.read_text(encoding="utf-8") if file.is_file() else None
    if text is None:
        wrong += 1
        print(f"no file {path}")
        continue
    for name in re.findall(r"`([^`]+)`", names):
        if name not in text:
            wrong += 1
            print(f"{path} has no {name}")
for path in re.findall(r"`((?:test|lib)/[\w./-]+)`", page):
    if not (root / path).exists():
        wrong += 1
        print(f"no {path}")
print(f"{len(rows)} rows, {wrong} wrong names")
