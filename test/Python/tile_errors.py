# RUN: %python %s %t
# REQUIRES: pit-compile
"""What pit.jit says of wrong programs: where, and why. Inputs/tile_mistakes.txt has them, each
with a caret below the place and the message behind it."""

import linecache
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import pit  # noqa: E402
from pit import tile  # noqa: E402

HEAD = """from pit import tile


def helper(t):
    return tile.exp(t)


def f(x: tile.f32["M", "N"], v: tile.f32["N"], n: tile.i32, h: tile.f16["M", "N"],
      b: tile.i1["M", "N"], q: tile.i32["M", "N"], *, m=8):
    M, N = x.shape
    y = tile.empty((M, N), tile.f32)
"""
EXPECTED = re.compile(r" *\^ (error|note): (.*)")


def load(text, path):
    """The function f of a text, as if a file had it."""
    linecache.cache[path] = (len(text), None, text.splitlines(True), path)
    values = {}
    exec(compile(text, path, "exec"), values)
    return values["f"]


class Mistakes(unittest.TestCase):
    def mistakes(self):
        """The text of each program, and what is expected: (line, column, kind, message)."""
        path = Path(__file__).parent / "Inputs" / "tile_mistakes.txt"
        for program in path.read_text().split("-----\n"):
            lines, expected = HEAD.splitlines(), []
            for line in program.splitlines():
                found = EXPECTED.fullmatch(line)
                if found:
                    expected.append((len(lines), line.index("^") + 5, *found.groups()))
                else:
                    lines.append("    " + line if line else "")
            yield "\n".join(lines) + "\n", sorted(expected)

    def test_all(self):
        number = 0
        for text, expected in self.mistakes():
            number += 1
            path = f"mistake{number}.py"
            with self.subTest(text.removeprefix(HEAD)):
                with self.assertRaises(tile.SourceError) as caught:
                    pit.jit(load(text, path)).specialize().compile()
                lines = caught.exception.message.splitlines()
                found = []
                for at, line in enumerate(lines):
                    match = re.fullmatch(rf"{path}:(\d+):(\d+): (error|note): (.*)", line)
                    if match:
                        row, column = int(match[1]), int(match[2])
                        found.append((row, column, match[3], match[4]))
                        self.assertEqual(lines[at + 1], "    " + text.splitlines()[row - 1])
                        self.assertEqual(lines[at + 2], "    " + " " * (column - 1) + "^")
                # The helper's body is above.
                found = [f for f in found if f[0] > HEAD.count("\n")]
                self.assertEqual(sorted(found), expected)
                self.assertIn((caught.exception.line, caught.exception.column),
                              [at[:2] for at in expected] + [(5, 12)])
        self.assertGreater(number, 100)

    def test_in_a_function_that_is_called(self):
        text = HEAD + """\
    for i, j in tile.forall((0, M, m), (0, N, m)):
        t = helper(tile.sread(q[i, j]))
    return y
"""
        with self.assertRaises(tile.SourceError) as caught:
            pit.jit(load(text, "called.py")).mlir()
        self.assertEqual(caught.exception.message, """\
called.py:5:12: error: tile.exp takes floats, not i32; write .to(tile.f32) before it
        return tile.exp(t)
               ^
called.py:13:13: note: it is called here
            t = helper(tile.sread(q[i, j]))
                ^""")

    def test_depth(self):
        with self.assertRaisesRegex(tile.SourceError, "too deep; split it into statements"):
            pit.jit(load(HEAD + f"""\
    for i, j in tile.forall((0, M, m), (0, N, m)):
        t = tile.sread(x[i, j])
        tile.swrite(y[i, j], {" + ".join(["t"] * 600)})
    return y
""", "deep.py")).mlir()
        text = HEAD.replace("tile.exp(t)", "helper(t + 1.0)") + """\
    for i, j in tile.forall((0, M, m), (0, N, m)):
        tile.swrite(y[i, j], helper(tile.sread(x[i, j])))
    return y
"""
        with self.assertRaisesRegex(tile.SourceError, "helper calls itself; calls are written out"):
            pit.jit(load(text, "endless.py")).mlir()

    def test_of_the_compiler(self):
        """Its messages point at Python's lines, too."""
        text = HEAD + """\
    for i, j in tile.forall((0, M, m), (0, N, m), conflicts="atomic"):
        tile.swrite(y[i, j], tile.sread(x[i, j]), combine="add")
    return y
"""
        function = pit.jit(load(text, "atomic.py"))
        function.specialize().compile(target="cuda", device_code="ptx")
        with self.assertRaises(tile.SourceError) as caught:
            function.specialize().compile()
        self.assertEqual((caught.exception.path, caught.exception.line), ("atomic.py", 12))
        self.assertIn("the CPU takes none and sequential", caught.exception.reason)
        self.assertIn("    for i, j in tile.forall(", caught.exception.message)

    def test_parameters(self):
        for parameters, message in [
                ("x", "parameter 'x' needs a type, as x: tile.f32\\[\"M\", \"K\"\\]"),
                ("x: int", "parameter 'x' needs a type"),
                ("x: tile.index_type", "parameter 'x' needs a type"),
                ("x: tile.f32['M', -1]", "a size of a tensor is 0 or more, not -1"),
                ("x: tile.f32['M', 1.5]", "a size of a tensor is a number or a name, not 1.5"),
                ("x: tile.f32['a b']", "must be an identifier, not 'a b'"),
                ("x: tile.f32['M'] = 3", "'x' is an argument and has no default"),
                ("x: tile.index([2, 0], 0)", "a micro-tile is 1 long along its axis"),
                ("x: tile.index([1, 0], 2)", "axis 2 is no dimension"),
                ("x: tile.index([1, 0.5], 0)", "a positive number of elements"),
                ("*x", "no \\* or \\*\\* parameters"),
                ("x: tile.f32['M'], *, out", "cannot be called 'out'")]:
            with self.subTest(parameters):
                text = ("from __future__ import annotations\nfrom pit import tile\n"
                        f"def f({parameters}):\n    return x\n")
                with self.assertRaisesRegex(tile.SourceError, message) as caught:
                    pit.jit(load(text, "parameters.py"))
                self.assertEqual(caught.exception.line, 3)

    def test_results(self):
        text = ("from pit import tile\n"
                "def f(x: tile.f32['M', 'N'], *, m=8) -> RESULT:\n"
                "    M, N = x.shape\n"
                "    y = tile.zeros((M, m), tile.f32)\n"
                "    return y\n")
        for said, message in [
                ("tile.f32['M', 'm']", None), ("tile.f32['M', 8]", None), ("None", None),
                ("tile.tensor['M', 'other']", None),
                ("tile.f32['N', 8]", "result 0 is a tensor of f32 of shape \\[M, 8\\], and the func"),
                ("tile.f32['M', 4]", "result 0"), ("tile.f16['M', 8]", "result 0"),
                ("tile.f32['M']", "result 0"), ("tile.f32[4, 8]", "result 0"),
                ("(tile.f32['M', 8], tile.f32['M', 8])", "1 results, and the function says 2")]:
            with self.subTest(said):
                function = pit.jit(load(text.replace("RESULT", said), "results.py"))
                if message is None:
                    function.mlir()
                    continue
                with self.assertRaisesRegex(tile.SourceError, message) as caught:
                    function.mlir()
                self.assertEqual(caught.exception.line, 5)

    def test_no_function(self):
        with self.assertRaisesRegex(pit.Error, "pit.jit takes a function, not 3"):
            pit.jit(3)
        with self.assertRaisesRegex(pit.Error, "pit.jit takes a function that def makes"):
            pit.jit(lambda x: x)
        values = {}
        exec("def f(x): return x", values)
        with self.assertRaisesRegex(pit.Error, "pit.jit reads the source of a function"):
            pit.jit(values["f"])
        with self.assertRaisesRegex(pit.Error, "tile.exp has a meaning inside of a function of"):
            tile.exp(3)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
