#!/usr/bin/env python3
"""Calls functions of which pit lowers a part (test/Runtime/plain-functions.mlir) on a
GPU, as MLIR's C interface does, and compares with numpy in float64: shapes, zeros,
streams, threads and a CUDA graph; where the device chooses at each call, and where the
rule was chosen before. With the driver without a device it only looks what is asked of
that. Usage: plain_check.py --artifacts DIR [--device cuda|fake]
[--cases N] [--seed S]"""

import argparse
import ctypes as ct
import sys
import threading
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "Differential"), str(HERE.parents[1] / "python")]

import numpy as np  # noqa: E402

from cuda import Cuda  # noqa: E402
from fake import Fake  # noqa: E402

K, N, LAST, STATIC_ROWS = 1024, 512, 32, 96  # the extents in the program
ROWS = (0, 1, 5, 31, 64, 97, 300, 1025, 4096)


class Matrix(ct.Structure):
    """A memref of rank 2."""

    _fields_ = [("allocated", ct.c_void_p), ("aligned", ct.c_void_p), ("offset", ct.c_int64),
                ("sizes", ct.c_int64 * 2), ("strides", ct.c_int64 * 2)]


class MatrixAndToken(ct.Structure):
    _fields_ = [("matrix", Matrix), ("token", ct.c_void_p)]


class Program:
    """The functions, on arrays of the host."""

    def __init__(self, library, host):
        self.host, self.library = host, ct.CDLL(str(library))
        self.library.mgpuMemFree.argtypes = (ct.c_void_p, ct.c_void_p)
        for name in ("product", "chain", "into", "twice_on_host"):
            getattr(self.library, f"_mlir_ciface_{name}").restype = None

    def function(self, name):
        return getattr(self.library, f"_mlir_ciface_{name}")

    def describe(self, array):
        address = array.__cuda_array_interface__["data"][0]
        rows, columns = array.__cuda_array_interface__["shape"]
        return Matrix(address, address, 0, (rows, columns), (columns, 1))

    def take(self, matrix):
        """Copies a result, and frees it."""
        rows, columns = matrix.sizes
        array = np.empty((rows, columns), np.float32)
        if array.nbytes and isinstance(self.host, Cuda):
            self.host.driver.call("cuMemcpyDtoH_v2", ct.c_void_p(array.ctypes.data),
                                  ct.c_uint64(matrix.aligned), ct.c_size_t(array.nbytes))
        self.library.mgpuMemFree(matrix.allocated, None)
        return array

    def product(self, x, w):
        result = Matrix()
        self.function("product")(ct.byref(result), ct.byref(self.describe(x)),
                                 ct.byref(self.describe(w)))
        return result

    def chain(self, x, w, v, stream):
        result = MatrixAndToken()
        self.function("chain")(ct.byref(result), ct.byref(self.describe(x)),
                               ct.byref(self.describe(w)), ct.byref(self.describe(v)),
                               ct.c_void_p(stream))
        if result.token != stream:
            raise AssertionError(f"the token is {result.token}, not {stream}")
        return result.matrix

    def into(self, x, w, out, stream):
        self.function("into")(ct.byref(self.describe(x)), ct.byref(self.describe(w)),
                              ct.byref(self.describe(out)), ct.c_void_p(stream))

    def twice_on_host(self, x, w):
        self.function("twice_on_host")(ct.byref(self.describe(x)), ct.byref(self.describe(w)))


def draw(rng, rows, columns, kind):
    """A matrix whose zeros are where a rule looks for them, or nowhere."""
    a = rng.standard_normal((rows, columns)).astype(np.float32)
    if kind == "zero":
        a[:] = 0
    elif kind == "rows":
        a[rng.random(rows) < 0.8] = 0
    elif kind == "blocks":  # 32 rows of a column
        live = rng.random((-(-rows // 32), columns)) < 0.1
        a *= np.repeat(live, 32, axis=0)[:rows]
    elif kind == "single":
        a *= rng.random((rows, columns)) < 0.05
    return a


class Check:
    def __init__(self, program, seed):
        self.program, self.host = program, program.host
        self.real = isinstance(self.host, Cuda)
        self.rng = np.random.default_rng(seed)
        self.passed = self.total = 0
        self.w = self.rng.standard_normal((K, N)).astype(np.float32)
        self.v = self.rng.standard_normal((N, LAST)).astype(np.float32)
        self.w_there, self.v_there = self.host.upload(self.w), self.host.upload(self.v)

    def run(self, name, check, *arguments):
        self.total += 1
        try:
            check(*arguments)
            self.passed += 1
        except Exception:  # pylint: disable=broad-except
            print(f"FAILED {name}\n{traceback.format_exc(limit=-3)}", flush=True)

    def compare(self, got, wanted, magnitude):
        """`magnitude` is the sum of the products' absolute values: what f32 can lose."""
        if got.shape != wanted.shape:
            raise AssertionError(f"a result of {got.shape}, not {wanted.shape}")
        if not self.real:
            return
        wrong = ~(np.abs(got - wanted) <= 1e-5 * magnitude + 1e-30)
        if wrong.any():
            at = tuple(int(i) for i in np.argwhere(wrong)[0])
            raise AssertionError(f"{wrong.sum()} of {wrong.size} wrong; at {at} {got[at]}, "
                                 f"not {wanted[at]}")

    def reference(self, x):
        if not self.real:  # what kernels compute, nobody knows
            x = x[:, :1]
            return np.empty((len(x), N)), None
        x, w = x.astype(np.float64), self.w.astype(np.float64)
        return x @ w, np.abs(x) @ np.abs(w)

    def reference_chain(self, x):
        y, magnitude = self.reference(x)
        if not self.real:
            return np.empty((len(x), LAST)), None
        v = self.v.astype(np.float64)
        return (3 * y) @ v, (3 * magnitude) @ np.abs(v)

    def product(self, x):
        result = self.program.product(self.host.upload(x), self.w_there)
        self.compare(self.program.take(result), *self.reference(x))

    def chain(self, x, stream):
        there = self.host.upload(x)
        result = self.program.chain(there, self.w_there, self.v_there, stream)
        self.host.synchronize()
        self.compare(self.program.take(result), *self.reference_chain(x))

    def into(self, x, stream):
        out = self.host.upload(np.full((STATIC_ROWS, N), np.nan, np.float32))
        there = self.host.upload(x)
        self.program.into(there, self.w_there, out, stream)
        self.host.synchronize()
        self.compare(self.host.download(out), *self.reference(x))

    def graph(self, stream):
        """A captured call, on other data each time."""
        there = self.host.upload(draw(self.rng, STATIC_ROWS, K, "blocks"))
        out = self.host.upload(np.zeros((STATIC_ROWS, N), np.float32))
        def launch():
            self.program.into(there, self.w_there, out, stream)
        launch()  # loads the kernels
        replay = self.host.capture(stream, launch)
        if not self.real:
            return
        for kind in ("single", "zero", "full", "rows", "blocks"):
            x = draw(self.rng, STATIC_ROWS, K, kind)
            self.host.write(there, x)
            replay()
            self.host.synchronize()
            self.compare(self.host.download(out), *self.reference(x))

    def overlapping(self, streams):
        """Many calls in flight on several streams."""
        xs = [draw(self.rng, STATIC_ROWS, K, kind) for kind in ("rows", "blocks", "full", "zero")]
        there = [self.host.upload(x) for x in xs]
        outs = [[self.host.upload(np.zeros((STATIC_ROWS, N), np.float32)) for _ in xs]
                for _ in streams]
        for _ in range(20):
            for i, x in enumerate(there):
                for stream, of_stream in zip(streams, outs):
                    self.program.into(x, self.w_there, of_stream[i], stream)
        self.host.synchronize()
        for of_stream in outs:
            for x, out in zip(xs, of_stream):
                self.compare(self.host.download(out), *self.reference(x))

    def threads(self):
        """Calls at the same time, each without a stream."""
        errors = []
        xs = [draw(self.rng, rows, K, kind)
              for rows, kind in ((33, "rows"), (96, "blocks"), (1, "full"), (300, "single"))]

        def work(x):
            try:
                if self.real:  # the thread has no current context
                    self.host.driver.call("cuCtxSetCurrent", self.context)
                for _ in range(10):
                    self.product(x)
            except Exception as error:  # pylint: disable=broad-except
                errors.append(error)

        if self.real:
            self.context = ct.c_void_p()
            self.host.driver.call("cuCtxGetCurrent", ct.byref(self.context))
        running = [threading.Thread(target=work, args=(x,)) for x in xs]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
        if errors:
            raise errors[0]

    def leaks(self):
        """Calls of one kind soon allocate nothing but their results, which are freed."""
        x = self.host.upload(draw(self.rng, 300, K, "blocks"))

        def used():
            if not self.real:
                return self.host.state.allocated
            free, total = ct.c_size_t(), ct.c_size_t()
            self.host.driver.call("cuMemGetInfo_v2", ct.byref(free), ct.byref(total))
            return total.value - free.value

        for _ in range(3):
            self.program.twice_on_host(x, self.w_there)
        before = used()
        for _ in range(200):
            self.program.twice_on_host(x, self.w_there)
        if used() > before:
            raise AssertionError(f"200 calls left {used() - before} bytes")


def run(check, streams, cases, most_rows):
    rng = check.rng
    for _ in range(cases):
        rows = int(rng.choice([n for n in ROWS if n <= most_rows]))
        kind = str(rng.choice(["zero", "rows", "blocks", "single", "full"]))
        x = draw(rng, rows, K, kind)
        check.run(f"product of {rows} rows, {kind}", check.product, x)
        check.run(f"chain of {rows} rows, {kind}", check.chain, x, streams[0])
        x = draw(rng, STATIC_ROWS, K, kind)
        check.run(f"into, {kind}", check.into, x, streams[int(rng.integers(3))])
    if most_rows >= max(ROWS):
        check.run("graph", check.graph, streams[1])
        check.run("overlapping calls", check.overlapping, streams)
        check.run("threads", check.threads)
        check.run("leaks", check.leaks)
    if not check.real:
        check.run("the driver", lambda: check.host.check_launches(6 * cases))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--artifacts", required=True, type=Path)
    parser.add_argument("--device", default="cuda", choices=("cuda", "fake"))
    parser.add_argument("--cases", type=int, default=60)
    # An emulator takes its time.
    parser.add_argument("--most-rows", type=int, default=4096,
                        help="with less than the default only the cases that are drawn")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    arguments = parser.parse_args()
    print(f"plain_check: seed {arguments.seed}", flush=True)
    host = Cuda() if arguments.device == "cuda" else Fake()
    streams = [host.stream() for _ in range(3)]
    passed = total = 0
    for name in ("plain-functions.so", "plain-functions-now.so"):
        check = Check(Program(arguments.artifacts / name, host), arguments.seed)
        run(check, streams, arguments.cases, arguments.most_rows)
        passed, total = passed + check.passed, total + check.total
    print(f"plain_check: {passed} of {total} passed", flush=True)
    return passed != total


if __name__ == "__main__":
    sys.exit(main())
