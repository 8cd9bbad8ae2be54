"""Runs kernels that are written in the pit_gpu dialect, and compares them with numpy.

    by_hand.py PIT_OPT KERNELS [--chip=CHIP] [--only=NAME] [--time]
               [--prepare=FOLDER | --from=FOLDER]

KERNELS is a folder with NAME.mlir for each case below: those of a chip, sm_90a or sm_100a. Each is lowered to PTX by PIT_OPT and
launched through the driver, or through the emulator's. With --prepare PTX and attributes are
only written, so that a machine without a compiler can run them by --from. --time prints the
median time, too.
"""

import argparse
import ctypes
import json
import re
import statistics
import subprocess
import sys
from ctypes import c_int, c_uint, c_uint32, c_uint64, c_void_p
from pathlib import Path

import numpy

from driver import Buffer, Driver

#: Of cuTensorMapEncodeTiled: elements, and swizzles by bytes.
ELEMENTS = {"float16": 6, "float32": 7, "bfloat16": 9}
SWIZZLES = {32: 1, 64: 2, 128: 3}


def unescape(text):
    return re.sub(r"\\([0-9A-F]{2})", lambda m: chr(int(m[1], 16)), text).replace("\\\\", "\\")


def compile_kernel(pit_opt, path):
    """PTX of the kernel of a file, and how it is launched."""

    def run(*passes):
        return subprocess.run([pit_opt, str(path), *passes], check=True, text=True,
                              capture_output=True).stdout

    lowered, binary = run("--convert-pit-gpu-to-nvvm"), run("--pit-kernels-to-ptx")
    ptx = unescape(re.search(r'assembly = "(.*?)"(?=[>,])', binary, re.S)[1]).rstrip("\0")
    head = re.search(r"gpu\.func @(\w+)\(.*?\) kernel attributes \{(.*?)\} \{\n", lowered)
    info = re.search(r"#pit\.launch_info<(.*)>", head[2])[1]
    maps = [{"argument": int(re.search(r"argument = (\d+)", text)[1]),
             "box": json.loads(re.search(r"box = (\[[\d, ]+\])", text)[1]),
             "swizzle": int(re.search(r"swizzle = (\d+)", text)[1])}
            for text in re.findall(r"<argument = [^>]*>", info)]

    def number(name):
        found = re.search(rf"{name} = (\d+)", info)
        return int(found[1]) if found else 0
    return {"ptx": ptx, "name": head[1], "threads": number("threads"),
            "shared": number("shared_bytes"), "maps": maps}


def bits(array, dtype):
    """An array of f32 as the device has it."""
    if dtype != "bfloat16":
        return array.astype(dtype)
    words = array.astype(numpy.float32).view(numpy.uint32)
    return ((words + 0x7FFF + ((words >> 16) & 1)) >> 16).astype(numpy.uint16)


def rounded(array, dtype):
    """The values that `bits` keeps, as f64."""
    if dtype != "bfloat16":
        return array.astype(dtype).astype(numpy.float64)
    return (bits(array, dtype).astype(numpy.uint32) << 16).view(numpy.float32).astype(numpy.float64)


class Operand:
    """An array on the device."""

    def __init__(self, driver, array, dtype):
        self.dtype, self.shape = dtype, array.shape
        self.host = bits(array, dtype) if dtype != "int32" else array.astype(numpy.int32)
        self.buffer = Buffer(driver, self.host.nbytes)
        driver.write(self.buffer.address.value, self.host)

    def parameters(self):
        """A memref's descriptor: pointers, offset, sizes, strides."""
        strides = [stride // self.host.itemsize for stride in self.host.strides]
        address = self.buffer.address.value
        return [c_uint64(word) for word in (address, address, 0, *self.shape, *strides)]

    def read(self, driver):
        out = numpy.empty_like(self.host)
        driver.read(out, self.buffer.address.value)
        if self.dtype != "bfloat16":
            return out
        return (out.astype(numpy.uint32) << 16).view(numpy.float32)

    def tensor_map(self, driver, box, swizzle):
        rank = len(self.shape)
        storage = ctypes.create_string_buffer(128 + 64)
        start = (ctypes.addressof(storage) + 63) // 64 * 64
        sizes = (c_uint64 * rank)(*reversed(self.shape))
        strides = (c_uint64 * max(1, rank - 1))(*reversed(self.host.strides[:-1]))
        driver.call("cuTensorMapEncodeTiled", c_void_p(start), c_int(ELEMENTS[self.dtype]),
                    c_uint32(rank), c_void_p(self.buffer.address.value), sizes, strides,
                    (c_uint32 * rank)(*reversed(box)), (c_uint32 * rank)(*[1] * rank),
                    c_int(0), c_int(SWIZZLES[swizzle]), c_int(2), c_int(0))
        return storage, start


class Kernel:
    def __init__(self, driver, compiled):
        self.driver, self.compiled = driver, compiled
        self.module, self.function = c_void_p(), c_void_p()
        driver.call("cuModuleLoadData", ctypes.byref(self.module),
                    ctypes.c_char_p(compiled["ptx"].encode()))
        driver.call("cuModuleGetFunction", ctypes.byref(self.function), self.module,
                    ctypes.c_char_p(compiled["name"].encode()))
        driver.call("cuFuncSetAttribute", self.function, c_int(8), c_int(compiled["shared"]))
        count = c_int()
        driver.call("cuDeviceGetAttribute", ctypes.byref(count), c_int(16), driver.device)
        self.processors = count.value

    def launcher(self, operands, tiles, more=()):
        """A function that starts the kernel on arrays, with a block for each tile at most."""
        words = [word for operand in operands for word in operand.parameters()]
        words += more
        maps = [operands[each["argument"]].tensor_map(self.driver, each["box"], each["swizzle"])
                for each in self.compiled["maps"]]
        pointers = [ctypes.addressof(word) for word in words] + [start for _, start in maps]
        parameters = (c_void_p * len(pointers))(*pointers)
        blocks = max(1, min(tiles, self.processors))

        def launch(words=words, maps=maps, operands=operands):  # they stay alive
            self.driver.call("cuLaunchKernel", self.function, c_uint(blocks), c_uint(1),
                             c_uint(1), c_uint(self.compiled["threads"]), c_uint(1), c_uint(1),
                             c_uint(self.compiled["shared"]), c_void_p(None), parameters,
                             c_void_p(None))
        return launch


def poison(shape):
    return numpy.full(shape, numpy.nan, numpy.float32)


def product(driver, kernel, random, size):
    m, n, k = size
    x, w = random.standard_normal((m, k)), random.standard_normal((k, n))
    operands = [Operand(driver, x, "bfloat16"), Operand(driver, w, "bfloat16"),
                Operand(driver, poison((m, n)), "float32")]
    launch = kernel.launcher(operands, -(-m // 128) * -(-n // 256))
    return launch, operands[2], lambda: rounded(x, "bfloat16") @ rounded(w, "bfloat16"), 2 * m * n * k


def gathered_product(driver, kernel, random, size):
    m, n, k, listed = size
    x, w = random.standard_normal((m, k)), random.standard_normal((k, n))
    ids = random.integers(0, m, listed)
    ids[::5] = -1  # nobody's rows are 0
    operands = [Operand(driver, x, "bfloat16"), Operand(driver, ids, "int32"),
                Operand(driver, w, "bfloat16"), Operand(driver, poison((listed, n)), "bfloat16")]

    def reference():
        rows = numpy.where(ids[:, None] < 0, 0, rounded(x, "bfloat16")[ids])
        return rows @ rounded(w, "bfloat16")

    launch = kernel.launcher(operands, -(-listed // 128) * -(-n // 128))
    return launch, operands[3], reference, 2 * listed * n * k


def attention(driver, kernel, random, size):
    heads, rows, keys = size
    q, k, v = (random.standard_normal((heads, count, 128)) for count in (rows, keys, keys))
    operands = [Operand(driver, array, "bfloat16") for array in (q, k, v)]
    operands.append(Operand(driver, poison((heads * rows, 128)), "float32"))
    scale = 128 ** -0.5

    def reference():
        # Some heads are enough where there are many.
        q64, k64, v64 = (rounded(array, "bfloat16") for array in (q, k, v))
        out = numpy.empty((heads, rows, 128))
        for head in range(heads):
            scores = q64[head] @ k64[head].T * scale
            powers = numpy.exp(scores - scores.max(axis=1, keepdims=True))
            out[head] = powers @ v64[head] / powers.sum(axis=1, keepdims=True)
        return out.reshape(heads * rows, 128)

    launch = kernel.launcher(operands, heads * -(-rows // 128),
                             [ctypes.c_float(scale * numpy.log2(numpy.e))])
    return launch, operands[3], reference, 4 * heads * rows * keys * 128


class Joined:
    """Several operands, read as one."""

    def __init__(self, operands):
        self.operands = operands

    def read(self, driver):
        return numpy.concatenate([each.read(driver).ravel() for each in self.operands])


def attention_gradients(driver, kernel, random, size):
    heads, rows, keys = size
    q, dy = (random.standard_normal((heads, rows, 128)) for _ in range(2))
    k, v = (random.standard_normal((heads, keys, 128)) for _ in range(2))
    q64, k64, v64, dy64 = (rounded(array, "bfloat16") for array in (q, k, v, dy))
    scale = 128 ** -0.5
    logs, delta = numpy.zeros((2, heads, -(-rows // 64) * 64))
    dq, dk, dv = (numpy.empty((heads, count, 128)) for count in (rows, keys, keys))
    for head in range(heads):
        scores = q64[head] @ k64[head].T * scale
        logs[head, :rows] = numpy.log(numpy.exp(scores).sum(axis=1))
        chances = numpy.exp(scores - logs[head, :rows, None])
        back = dy64[head] @ v64[head].T
        delta[head, :rows] = (chances * back).sum(axis=1)
        slopes = chances * (back - delta[head, :rows, None])
        dq[head] = slopes @ k64[head]  # which its user scales where it is rounded
        dk[head] = slopes.T @ q64[head] * scale
        dv[head] = chances.T @ dy64[head]
    operands = [Operand(driver, array, "bfloat16") for array in (q, k, v, dy)]
    operands += [Operand(driver, logs * numpy.log2(numpy.e), "float32"),
                 Operand(driver, delta, "float32"),
                 Operand(driver, numpy.zeros((heads, rows, 128)), "float32")]
    operands += [Operand(driver, poison((heads * keys, 128)), "float32") for _ in range(2)]
    launch = kernel.launcher(operands, heads * -(-keys // 128),
                             [ctypes.c_float(scale * numpy.log2(numpy.e))])

    def reference():
        return numpy.concatenate([array.ravel() for array in (dq, dk, dv)])

    return launch, Joined(operands[6:]), reference, 10 * heads * rows * keys * 128


#: For each chip and file, the function that makes a case, sizes for the emulator, and a large one.
HOPPER = {
    "product": (product, [(128, 256, 64), (200, 264, 200), (1, 8, 8), (300, 520, 328), (64, 256, 8),
                          (1300, 304, 8)],
                (8192, 8192, 4096)),
    "gathered-product": (gathered_product, [(100, 136, 72, 130), (64, 128, 200, 5), (8, 256, 64, 0)],
                         (16384, 4096, 4096, 8192)),
    "attention": (attention, [(1, 128, 128), (2, 200, 300), (1, 1, 1)], (4, 16384, 16384)),
    "attention-gradients": (attention_gradients, [(1, 128, 128), (2, 200, 300), (1, 1, 1), (3, 520, 136)],
                            (16, 4096, 4096)),
}


CASES = {"sm_90a": HOPPER,
         "sm_100a": {f"{name}-sm100": HOPPER[name] for name in ("product", "gathered-product")}}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pit_opt")
    parser.add_argument("kernels", type=Path)
    parser.add_argument("--chip", choices=sorted(CASES), default="sm_90a")
    parser.add_argument("--only")
    parser.add_argument("--time", action="store_true")
    parser.add_argument("--prepare", type=Path)
    parser.add_argument("--from", dest="source", type=Path)
    options = parser.parse_args()
    compiled, cases = {}, CASES[options.chip]
    for name in cases:
        if options.only and name != options.only:
            continue
        if options.source:
            compiled[name] = json.loads((options.source / f"{name}.json").read_text())
        else:
            compiled[name] = compile_kernel(options.pit_opt, options.kernels / f"{name}.mlir")
        if options.prepare:
            options.prepare.mkdir(parents=True, exist_ok=True)
            (options.prepare / f"{name}.json").write_text(json.dumps(compiled[name]))
    if options.prepare:
        return 0
    driver, failed = Driver(), 0
    random = numpy.random.default_rng()
    for name, description in compiled.items():
        make, sizes, large = cases[name]
        kernel = Kernel(driver, description)
        for size in sizes + ([large] if options.time else []):
            launch, result, reference, operations = make(driver, kernel, random, size)
            launch()
            driver.synchronize()
            expected = reference().astype(numpy.float64)
            difference = numpy.abs(result.read(driver) - expected)
            scale = max(1e-6, numpy.abs(expected).max(initial=0))
            worst = float((difference / scale).max(initial=0))
            right = worst < 2e-2 and not numpy.isnan(difference).any()
            failed += not right
            line = f"{name} {'x'.join(map(str, size))}: {'right' if right else 'WRONG'}, {worst:.1e}"
            if size == large:
                line += f", {time_it(driver, launch, operations)}"
            print(line, flush=True)
    print(f"by_hand: {failed} wrong")
    return failed != 0


def time_it(driver, launch, operations):
    """The median of launches, in turns with nothing else."""
    events = [c_void_p(), c_void_p()]
    for event in events:
        driver.call("cuEventCreate", ctypes.byref(event), c_uint(0))
    times = []
    for _ in range(30):
        driver.call("cuEventRecord", events[0], c_void_p(None))
        launch()
        driver.call("cuEventRecord", events[1], c_void_p(None))
        driver.call("cuEventSynchronize", events[1])
        took = ctypes.c_float()
        driver.call("cuEventElapsedTime_v2" if hasattr(driver.library, "cuEventElapsedTime_v2")
                    else "cuEventElapsedTime", ctypes.byref(took), *events)
        times.append(took.value)
    middle = statistics.median(times)
    return f"{1e3 * middle:.1f} us, {operations / middle / 1e9:.0f} TFLOP/s"


if __name__ == "__main__":
    sys.exit(main())
