"""linalg_document.py ROOT: looks for the programs that docs/LinalgOps.md names."""

import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
sys.path[:0] = [str(root / "test" / part) for part in ("Programs", "Differential")] + [
    str(root / "python")]
import catalogue  # noqa: E402,F401
import suite  # noqa: E402

page = (root / "docs/LinalgOps.md").read_text(encoding="utf-8")
rows = re.findall(r"^\|.*\| (.*) \|$", page[page.index("## MLIR's integration tests"):], re.M)
named = {name for row in rows for name in re.findall(r"`([\w-]+)`", row)}
for name in sorted(named - set(suite.REGISTRY)):
    print(f"no program is called {name}")
print(f"all of {len(named)} programs exist" if named <= set(suite.REGISTRY) else "some are missing")
