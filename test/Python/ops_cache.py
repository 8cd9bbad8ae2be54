# RUN: %python %s
# REQUIRES: pit-compile
"""Programs on disk: where they cannot be kept each is compiled once, and one warning says
what to do."""

import contextlib
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

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
counts = {{"artifact": 0, "compile": 0}}

def counted(name, function):
    def call(*args, **options):
        counts[name] += 1
        return function(*args, **options)
    return call

_compiler.Compiler.artifact = counted("artifact", _compiler.Compiler.artifact)
_compiler.compile = counted("compile", _compiler.compile)
a = np.array([[0, 1], [2, 0]], "f")
for dtype in ("f", "f", "d", "d", "i4"):
    x = a.astype(dtype)
    assert (pit.matmul(x, x) == x @ x).all()
print(counts["artifact"], counts["compile"])
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
        # Those of another level are others.
        self.assertEqual(self.run_script(PIT_OPT_LEVEL="1"), ((3, 0), ""))

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

    def test_folder_disappears(self):
        """While a program is compiled, or before it is loaded."""
        from pit import _cache, _compiler
        artifact, make_room = _compiler.Compiler.artifact, _cache.make_room

        def then_delete(function):
            def call(*args, **options):
                result = function(*args, **options)
                shutil.rmtree(self.folder)
                return result
            return call

        x = np.ones(3, "f")
        for place, name, function, kept in [
                (_compiler.Compiler, "artifact", artifact, 1), (_cache, "make_room", make_room, 0)]:
            text = (f"func.func @{name}(%x: tensor<3xf32>) -> tensor<3xf32> {{\n"
                    "  return %x : tensor<3xf32>\n}\n")
            said = io.StringIO()
            with self.subTest(name), contextlib.redirect_stderr(said), \
                    mock.patch.dict(os.environ, PIT_CACHE_DIR=self.folder), \
                    mock.patch.object(place, name, then_delete(function)):
                program = _cache.program(text)
                np.testing.assert_array_equal(program[name](x), x)
                self.assertEqual(said.getvalue(), "")
                self.assertEqual(len(list(Path(self.folder).glob("programs/*.so"))), kept)

    def test_fork_while_a_thread_compiles(self):
        """The child does not wait for a thread that it does not have."""
        from pit import _cache
        begun, end, read_or_compile = threading.Event(), threading.Event(), _cache.read_or_compile

        def wait(*args):
            begun.set()
            end.wait()
            return read_or_compile(*args)

        text = ("func.func @slow(%x: tensor<3xf32>) -> tensor<3xf32> {\n"
                "  return %x : tensor<3xf32>\n}")
        with mock.patch.object(_cache, "read_or_compile", wait):
            thread = threading.Thread(target=_cache.program, args=(text,))
            thread.start()
            begun.wait()
        child = os.fork()
        if child == 0:
            wrong = 1
            try:
                signal.alarm(60)
                wrong = int(_cache.program(text).entries != ["slow"])
            finally:
                os._exit(wrong)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        end.set()
        thread.join()

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
