# RUN: %python %s
# REQUIRES: pit-compile
"""Programs on disk: where they cannot be kept each is compiled once, and one warning says
what to do."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import pit  # noqa: E402

# Two ops, each called twice; prints how often each was compiled into a file, and in memory.
SCRIPT = """
import sys
sys.path.insert(0, {inputs!r})
import numpy as np
from setup import pit
from pit import _cache, _compiler
counts = {{"write": 0, "compile": 0}}

def counted(name, function):
    def call(*args, **options):
        counts[name] += 1
        return function(*args, **options)
    return call

_compiler.Compiler.write = counted("write", _compiler.Compiler.write)
_compiler.compile = counted("compile", _compiler.compile)
a = np.array([[0, 1], [2, 0]], "f")
for dtype in ("f", "f", "d", "d", "i4"):
    x = a.astype(dtype)
    assert (pit.matmul(x, x) == x @ x).all()
print(counts["write"], counts["compile"])
"""


class Cache(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def run_script(self, **environment):
        script = SCRIPT.format(inputs=str(Path(__file__).parent / "Inputs"))
        found = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, timeout=300,
            env={**os.environ, "PIT_CACHE_DIR": self.folder, "PIT_PROGRESS": "0", **environment})
        self.assertEqual(found.returncode, 0, found.stderr)
        return tuple(map(int, found.stdout.split())), found.stderr

    def test_kept(self):
        self.assertEqual(self.run_script(), ((3, 0), ""))
        self.assertEqual(self.run_script(), ((0, 0), ""))
        self.assertEqual(self.run_script(PIT_CACHE_DIR=""), ((0, 3), ""))

    def test_no_linker(self):
        counts, said = self.run_script(PATH=self.folder)
        self.assertEqual(counts, (1, 3))
        self.assertEqual(said.count("pit:"), 1, said)
        self.assertRegex(said, "not kept in .*no linker.*Put a linker, cc or clang, into PATH")

    def test_no_folder(self):
        file = Path(self.folder) / "file"
        file.write_text("")
        counts, said = self.run_script(PIT_CACHE_DIR=str(file))
        self.assertEqual(counts, (0, 3))
        self.assertEqual(said.count("pit:"), 1, said)
        self.assertRegex(said, "Set PIT_CACHE_DIR to a folder that can be written")

    def test_wrong_text(self):
        """is an error, and no reason to keep nothing."""
        from pit import _cache
        with self.assertRaisesRegex(pit.Error, "expected"):
            _cache.program("func.func @f( {")
        self.assertEqual(_cache.unwritable, set())
        a = np.ones((2, 2), "f")
        self.assertTrue((pit.matmul(a, a) == 2).all())


if __name__ == "__main__":
    unittest.main()
