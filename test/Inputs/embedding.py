"""What docs/Embedding.md says, for tools/check.sh and Embedding.test.

    embedding.py ROOT commands    prints its commands
    embedding.py ROOT check       looks for its code in examples/standalone, and for its
                                  pipelines in what `pit-opt --pit-list-pipelines` prints
"""

import re
import subprocess
import sys
from pathlib import Path

root = Path(sys.argv[1])
text = (root / "docs/Embedding.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


if sys.argv[2] == "commands":
    print("".join(blocks("sh")), end="")
    sys.exit()

sources = [file.read_text(encoding="utf-8") for file in (root / "examples/standalone").iterdir()
           if file.is_file()]
for block in [*blocks("cpp"), *blocks("cmake")]:
    for line in block.splitlines():
        if not any(line in source.splitlines() for source in sources):
            print(f"not in examples/standalone: {line}")
listed = subprocess.run(["pit-opt", "--pit-list-pipelines"], capture_output=True, text=True,
                        check=True).stdout
named = re.findall(r"^\| `(pit-[\w-]+)` \|", text, re.M)
known = re.findall(r"^--([\w-]+)", listed, re.M)
for name in sorted(set(named) ^ set(known)):
    print(f"pipeline {name} is {'not listed' if name in named else 'not on the page'}")
print(f"{len(known)} pipelines and {len(blocks('cpp'))} blocks of C++ were looked for")
