# RUN: %python %s
# REQUIRES: mypy
"""The types of the package: python/pit/__init__.pyi says what the modules are, and
programs that use them are checked by it."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import ROOT, pit  # noqa: E402

STUB = Path(pit.__file__).with_suffix(".pyi")
# Modules that the stub does not describe; classes that other functions make; what C makes.
OTHERS = r"""
pit\.(_\w|jax|ops|tile|torch|tune).*
pit\.(LiveFractions|Entry|Explanation|Index|Program)\.__init__
pit\.Entry\.__call__
"""
# No type of the stub is one of torch's or JAX's, and mypy would read 2,000 files of these.
CONFIGURATION = """
[mypy]
ignore_missing_imports = True
[mypy-torch.*,jax.*]
follow_imports = skip
"""

RIGHT = """
import numpy as np
import pit

a: np.ndarray = np.zeros((4, 8))
y = pit.matmul(a, a.T, sparse="b", micro_tile=(0, 1), axis=1)
reveal_type(y)
reveal_type(pit.load("f.so").f)
reveal_type(pit.build_index(a, (1, 1), 1).rebuild(a).shape)
with pit.constant(a) as constant:
    constant.changed()
"""
WRONG = """
import pit

pit.linear(1, 2, activation="swish")
pit.matmul(1, 2, spars="a")
pit.load("f.so").show(level=2)
pit.Context(threads="all")
"""


class Types(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "pit").mkdir()
        (self.folder / "pit/__init__.pyi").write_text(STUB.read_text())
        (self.folder / "mypy.ini").write_text(CONFIGURATION)

    def run_module(self, *arguments):
        done = subprocess.run(
            [sys.executable, "-m", *arguments], cwd=self.folder, capture_output=True, text=True,
            env={**os.environ, "MYPYPATH": str(self.folder), "PYTHONPATH": f"{ROOT}/python"})
        return done.returncode, done.stdout + done.stderr

    def check(self, program):
        (self.folder / "program.py").write_text(program)
        return self.run_module("mypy", "program.py")[1]

    def test_stub(self):
        (self.folder / "others").write_text(OTHERS)
        status, said = self.run_module(
            "mypy.stubtest", "pit", "--mypy-config-file=mypy.ini", "--allowlist=others",
            "--ignore-missing-stub", "--concise")
        self.assertEqual(status, 0, said)
        # Which that option would not miss.
        described = set(re.findall(r"^(?:def|class) (\w+)", STUB.read_text(), re.MULTILINE))
        self.assertEqual(set(pit.__all__) - described, {"jit", "tile"})

    def test_programs(self):
        said = self.check(RIGHT)
        self.assertEqual(said.count(" error: "), 0, said)
        for revealed in (r"ndarray\[", r"pit\.Entry", r"tuple\[.*int, \.\.\.\]"):
            self.assertRegex(said, f'Revealed type is ".*{revealed}')
        said = self.check(WRONG)
        self.assertEqual(said.count(" error: "), 4, said)


if __name__ == "__main__":
    unittest.main()
