"""tile_programs.py ROOT BUILD FOLDER: runs the programs of docs/TilePrograms.md and compares
with numpy in float64, and writes each to FOLDER."""

import os
import re
import sys
from pathlib import Path

import numpy as np

root, build, folder = map(Path, sys.argv[1:])
sys.path.insert(0, str(root / "python"))
os.environ["PIT_RUNTIME_LIBRARY"] = str(build / "lib" / "libpit_runtime.so")
import pit  # noqa: E402

rng = np.random.default_rng()
SIZES = [(37, 70, 91), (64, 64, 64), (1, 1, 1), (0, 5, 3), (5, 0, 3), (5, 3, 0), (129, 33, 17)]


def floats(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def with_zeros(live, *shape, micro=(1, 1)):
    """Values of which a part of the micro-tiles is not zero."""
    coarse = [-(-size // tile) for size, tile in zip(shape, micro)]
    keep = np.kron(rng.random(coarse) < live, np.ones(micro))[:shape[0], :shape[1]] > 0
    return np.where(keep, floats(*shape), np.float32(0))


def rows(live, m, k, n):
    a, b = with_zeros(live, m, k, micro=(1, max(k, 1))), floats(k, n)
    return (a, b), a.astype(float) @ b


def packed(live, m, k, n):
    a = with_zeros(live, m, n, micro=(1, max(n, 1)))
    return (a,), a[np.any(a != 0, axis=1)]


def columns(live, m, k, n):
    a, b, c = with_zeros(live, m, k, micro=(16, 1)), floats(k, n), floats(m, n)
    return (a, b, c), c + a.astype(float) @ b


def experts(live, t, k, n):
    count = 4
    x, routing, w = floats(t, k), floats(t, count), floats(count, k, n)
    chosen = np.argsort(rng.random((t, count)), axis=1)[:, :2].astype(np.int32)
    chosen[rng.random(chosen.shape) >= live] = -1
    y = np.zeros((t, n))
    for token, pair in enumerate(chosen):
        for expert in pair[pair >= 0]:
            y[token] += float(routing[token, expert]) * (x[token].astype(float) @ w[expert])
    return (x, routing, chosen, w), y


def softmax(live, m, k, n):
    x, mask = floats(m, n), with_zeros(live, m, n, micro=(8, 1)) != 0
    mask &= rng.random((m, n)) < 0.9
    e = np.where(mask, np.exp(x.astype(float)), 0.0)
    total = e.sum(1, keepdims=True)
    return (x, mask), np.divide(e, total, out=np.zeros_like(e), where=total != 0)


REFERENCES = {f.__name__: f for f in (rows, packed, columns, experts, softmax)}
page = (root / "docs/TilePrograms.md").read_text(encoding="utf-8")
programs = re.findall(r"^```mlir\n(.*?)^```$", page, re.M | re.S)
names = [re.search(r"func\.func @(\w+)", program)[1] for program in programs]
assert sorted(names) == sorted(REFERENCES), names
folder.mkdir(parents=True, exist_ok=True)
for name, program in zip(names, programs):
    (folder / f"{name}.mlir").write_text(program, encoding="utf-8")
    entry = getattr(pit.compile(program), name)
    for sizes in SIZES:
        for live in (0.3, 0.0, 1.0):
            arguments, want = REFERENCES[name](live, *sizes)
            got = np.full(want.shape, np.nan, np.float32)
            entry(*arguments, out=[got])
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4,
                                       err_msg=f"{name}{sizes}, {live} live")
print(f"{len(programs)} programs are right")
