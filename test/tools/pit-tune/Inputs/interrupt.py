"""Runs pit-tune, interrupts it after the second shape, and runs it again.

    interrupt.py TABLE COMMAND...
"""

import json
import signal
import subprocess
import sys
from pathlib import Path

# What runs the tests may ignore it, and so would what it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
table, command = Path(sys.argv[1]), sys.argv[2:]
state = table.with_name(table.name + ".state")
with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
    for line in run.stdout:
        if line.startswith("[2/"):
            run.send_signal(signal.SIGINT)
            break
    _, errors = run.communicate()
assert run.returncode == 130, (run.returncode, errors)
assert errors == "pit-tune: interrupted; the same command goes on from here\n", errors
assert not table.exists()
before = json.loads(state.read_text())["measured"]
assert 2 <= len(before) < 8, list(before)

again = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
assert f"{len(before)} of 8 shapes were measured before" in again, again
after = json.loads(state.read_text())["measured"]
assert len(after) == 8 and before.items() <= after.items()
assert len(json.loads(table.read_text())["costs"]) == 3
