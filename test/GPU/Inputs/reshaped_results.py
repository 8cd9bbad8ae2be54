"""Results that are reshaped before they are returned, on the emulator or the CPU, compared
with numpy.

    reshaped_results.py PROGRAMS PIT_RUN [OPTIONS of pit-run]

PROGRAMS is a file of functions that multiply two tensors. The last line says how many were
right.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

# Shapes of the operands, and of the results.
SHAPES = {"fixed": ((4, 8, 16), (4, 16, 32), [(32, 32)]),
          "dynamic": ((5, 7, 16), (5, 16, 32), [(35, 32)]),
          "expand": ((36, 16), (16, 32), [(9, 4, 32)]),
          "chain": ((3, 4, 16), (16, 32), [(3, 4, 4, 8), (12, 32)])}


def run(name, text, command, rng):
    a, b, shapes = SHAPES[name]
    arrays = [rng.standard_normal(shape, dtype=np.float32) for shape in (a, b)]
    product = arrays[0] @ arrays[1]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "f.mlir")
        source.write_text(text)
        for i, array in enumerate(arrays):
            np.save(Path(folder, f"{i}.npy"), array)
        subprocess.run([command[0], str(source), *command[1:],
                        *[f"--arg={folder}/{i}.npy" for i in range(2)],
                        *[f"--out={folder}/out{i}.npy" for i in range(len(shapes))]], check=True)
        got = [np.load(Path(folder, f"out{i}.npy")) for i in range(len(shapes))]
    want = [f(product).reshape(shape) for f, shape in zip((np.array, np.exp), shapes)]
    return all(np.allclose(g, w, rtol=1e-3, atol=1e-3) for g, w in zip(got, want))


def main():
    path, *command = sys.argv[1:]
    functions = re.split(r"^(?=func\.func)", Path(path).read_text(), flags=re.M)[1:]
    rng = np.random.default_rng()
    right = 0
    for text in functions:
        name = re.match(r"func\.func @(\w+)", text)[1]
        good = run(name, text, command, rng)
        right += good
        if not good:
            print(name, "is wrong")
    print(f"{right} of {len(functions)} programs are right")


main()
