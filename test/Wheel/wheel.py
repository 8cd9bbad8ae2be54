#!/usr/bin/env python3
"""Checks a wheel of pit: installs it into an empty virtual environment and uses it from
there, on a machine that has no LLVM as far as it can see.

    test/Wheel/wheel.py WHEEL [--runtime-only]

It needs a Python that has numpy, and `ldd` and `readelf`.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

# What every Linux has, as manylinux lists it, and zlib, which Python itself needs.
EVERYWHERE = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1",
              "libgcc_s.so.1", "libstdc++.so.6", "libz.so.1", "ld-linux-x86-64.so.2",
              "linux-vdso.so.1"}

USE = """
import json, sys
import numpy as np
import pit

random = np.random.default_rng()
a = np.where(random.random((33, 70)) < 0.1, random.standard_normal((33, 70)), 0).astype("f")
b = random.standard_normal((70, 21)).astype("f")
for _ in range(2):
    error = abs(pit.matmul(a, b) - a.astype("d") @ b.astype("d")).max()
    assert error < 1e-4, error
with open("/proc/self/maps") as maps:
    loaded = sorted({line.split()[-1] for line in maps if ".so" in line})
print(json.dumps({"file": pit.__file__, "version": pit.__version__, "loaded": loaded}))
"""

RUN = """
import sys
import numpy as np
import pit

f = pit.load(sys.argv[1]).f
a, b, c = (np.random.rand(1024, n).astype("f") for n in (1024, 512, 512))
assert np.allclose(f(a, b, c), a @ b + c, rtol=1e-3)
try:
    pit.compile("")
except pit.Error as error:
    assert "the compiler must be beside the runtime" in str(error), error
else:
    raise AssertionError("there is a compiler")
"""


class Wheel(unittest.TestCase):
    wheel = program = folder = None

    @classmethod
    def setUpClass(cls):
        cls.venv = cls.folder / "venv"
        # numpy is the other Python's; the wheel is the only thing that is installed.
        subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", "--without-pip",
                        cls.venv], check=True)
        cls.python = cls.venv / "bin/python"
        subprocess.run([sys.executable, "-m", "pip", "--python", cls.python, "install", "-q",
                        "--no-index", "--no-deps", "--ignore-installed", cls.wheel], check=True)
        cls.package = next(cls.venv.glob("lib/python*/site-packages/pit"))

    def run_alone(self, *command, **environment):
        """From another folder, with nothing in the environment."""
        import numpy
        environment = {"HOME": str(self.folder), "PATH": "/nonexistent",
                       "PYTHONPATH": str(Path(numpy.__file__).parents[1]), **environment}
        done = subprocess.run([str(part) for part in command], cwd=self.folder, env=environment,
                              capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def test_libraries(self):
        """What is linked lies in the package, or is everywhere."""
        libraries = sorted(self.package.glob("*.so*"))
        self.assertIn("libomp.so.5", [path.name for path in libraries])
        for path in libraries:
            found = subprocess.run(["ldd", path], check=True, capture_output=True, text=True,
                                   env={"PATH": os.environ["PATH"]}).stdout
            for line in found.splitlines():
                name, _, target = line.strip().partition(" => ")
                name = Path(name.split()[0]).name
                if name not in EVERYWHERE:
                    self.assertEqual(Path(target.split()[0]).parent.resolve(),
                                     self.package.resolve(), f"{path.name} needs {line}")

    def test_files(self):
        with zipfile.ZipFile(self.wheel) as archive:
            names = set(archive.namelist())
        self.assertIn("pit/py.typed", names)
        self.assertTrue([n for n in names if n.endswith("licenses/python/NOTICE")])
        self.assertFalse([n for n in names if "__pycache__" in n])
        self.assertIn("cp310-abi3-linux_x86_64", self.wheel.name)
        # Without the code of targets that no program is for.
        self.assertLess(self.wheel.stat().st_size, 45e6)

    def test_help(self):
        shown = self.run_alone(self.python, "-m", "pydoc", "pit").stdout
        self.assertLess(shown.index("matmul("), shown.index("padded_linear("))
        self.assertIn("usage: pit-tune", self.run_alone(
            self.venv / "bin/pit-tune", "--help").stdout)


class Compiler(Wheel):
    def test_use(self):
        import json
        done = self.run_alone(self.python, "-c", USE)
        found = json.loads(done.stdout)
        self.assertEqual(Path(found["file"]).parent.resolve(), self.package.resolve())
        self.assertIn(f"pit-{found['version']}-", self.wheel.name)
        for path in map(Path, found["loaded"]):
            if path.name.startswith(("libomp", "libpit", "libPIT", "_pit", "libzstd")):
                self.assertEqual(path.parent.resolve(), self.package.resolve())


class Runtime(Wheel):
    def test_use(self):
        self.run_alone(self.python, "-c", RUN, self.program)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--runtime-only", type=Path, metavar="PROGRAM",
                        help="the wheel has no compiler; the program, of examples/matmul.mlir, "
                             "is run")
    options = parser.parse_args()
    Wheel.wheel, Wheel.program = options.wheel.resolve(), options.runtime_only
    case = Runtime if options.runtime_only else Compiler
    with tempfile.TemporaryDirectory(prefix="pit-wheel-") as folder:
        Wheel.folder = Path(folder)
        tests = unittest.defaultTestLoader.loadTestsFromTestCase(case)
        result = unittest.TextTestRunner(verbosity=2).run(tests)
    sys.exit(not result.wasSuccessful())


if __name__ == "__main__":
    main()
