"""Takes the code blocks of README.md apart, for Readme.test.

    readme.py README.md program | level3 | command | output
"""

import re
import sys

text = open(sys.argv[1], encoding="utf-8").read()
program, level3 = re.findall(r"^```mlir\n(.*?)^```$", text, re.M | re.S)[:2]
session = re.search(r"^```console\n\$ (.*?[^\\])\n(.*?)^```$", text, re.M | re.S)
part = {
    "program": program,
    "level3": level3,
    "command": "set -e\n" + session[1] + "\n",
    "output": session[2],
}[sys.argv[2]]
sys.stdout.write(part)
