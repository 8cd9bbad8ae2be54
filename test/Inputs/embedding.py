"""The code on docs/Embedding.md and docs/EmbeddingC.md, for tools/check.sh and Embedding.test.

    embedding.py ROOT commands    prints its commands
    embedding.py ROOT check       looks for its code in examples and test/CAPI, and for its pipelines in what `pit-opt
                                  --pit-list-pipelines` prints
"""

import re
import subprocess
import sys
from pathlib import Path

root = Path(sys.argv[1])
text = "".join((root / "docs" / page).read_text(encoding="utf-8") for page in ("Embedding.md", "EmbeddingC.md"))


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


if sys.argv[2] == "commands":
    print("".join(blocks("sh")), end="")
    sys.exit()

def look_for(folders, code):
    """Prints the lines of `code` that no file of `folders` has."""
    sources = [file.read_text(encoding="utf-8").splitlines()
               for folder in folders for file in (root / folder).iterdir() if file.is_file()]
    for block in code:
        for line in block.splitlines():
            if not any(line in source for source in sources):
                print(f"not in {' or '.join(folders)}: {line}")


look_for(["examples/standalone", "examples/plugin"], [*blocks("cpp"), *blocks("cmake")])
look_for(["test/CAPI"], blocks("c"))
listed = subprocess.run(["pit-opt", "--pit-list-pipelines"], capture_output=True, text=True,
                        check=True).stdout
named = re.findall(r"^\| `(pit-[\w-]+)` \|", text, re.M)
known = re.findall(r"^--([\w-]+)", listed, re.M)
for name in sorted(set(named) ^ set(known)):
    print(f"pipeline {name} is {'not listed' if name in named else 'not on the page'}")
print(f"{len(known)} pipelines, {len(blocks('cpp'))} blocks of C++ and {len(blocks('c'))} of C "
      "were looked for")
