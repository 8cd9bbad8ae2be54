#!/usr/bin/env python3
"""Checks the emulator with small kernels: values against numpy, and that it finds what
is wrong with a kernel.

    env LD_LIBRARY_PATH=FOLDER check_emulator.py

FOLDER has the emulator as libcuda.so.1."""

import ctypes
import os
import subprocess
import sys
from ctypes import byref, c_float, c_uint32, c_uint64, c_void_p
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "GPU"))

from driver import Buffer, CudaError, Driver  # noqa: E402

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
BITS = {"b16": 16, "u16": 16, "s16": 16, "f16": 16, "bf16": 16, "b32": 32, "u32": 32,
        "s32": 32, "f32": 32, "b64": 64, "u64": 64, "s64": 64, "f64": 64}
NUMPY = {"u16": np.uint16, "s16": np.int16, "f16": np.float16, "u32": np.uint32,
         "s32": np.int32, "f32": np.float32, "u64": np.uint64, "s64": np.int64,
         "f64": np.float64, "bf16": np.uint16}


class Kernels:
    """Loads PTX and runs kernels on arrays of numpy."""

    def __init__(self):
        self.driver = Driver()

    def load(self, text, name="k"):
        module, function = c_void_p(), c_void_p()
        self.driver.call("cuModuleLoadData", byref(module), text.encode())
        self.driver.call("cuModuleGetFunction", byref(function), module, name.encode())
        return function

    def launch(self, function, grid, block, *parameters):
        addresses = (c_void_p * max(1, len(parameters)))(
            *(ctypes.addressof(p) for p in parameters))
        self.driver.call("cuLaunchKernel", function, *grid, *block, 0, None, addresses, None)

    def run(self, text, arrays, grid=(1, 1, 1), block=(32, 1, 1)):
        """Each array is a parameter; returns the last one."""
        buffers = [Buffer(self.driver, array.nbytes) for array in arrays]
        for buffer, array in zip(buffers, arrays):
            self.driver.write(buffer.address.value, array)
        self.launch(self.load(text), grid, block, *(buffer.address for buffer in buffers))
        self.driver.read(arrays[-1], buffers[-1].address.value)
        return arrays[-1]


def kernel(parameters, body, registers=""):
    """A kernel that has its thread's number in %t and its parameters in %q0, %q1, ..."""
    listed = ", ".join(f".param .u64 p{n}" for n in range(parameters))
    loads = "\n".join(f"  ld.param.u64 %q{n}, [p{n}];" for n in range(parameters))
    return f"""{HEAD}
.visible .entry k({listed})
{{
  .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<19>; .reg .b32 %t; .reg .b64 %d<19>;
  .reg .b64 %q<9>; .reg .b64 %i;
  {registers}
{loads}
  mov.u32 %r16, %ctaid.x; mov.u32 %r17, %ntid.x; mov.u32 %r18, %tid.x;
  mad.lo.s32 %t, %r16, %r17, %r18;
{body}
  ret;
}}
"""


def elementwise(instruction, to, sources, count):
    """d[t] = instruction(a[t], ...) for `count` threads in blocks of 96."""
    register = {16: "h", 32: "r", 64: "d"}
    body = [f"  setp.ge.u32 %p0, %t, {count};", "  @%p0 bra END;"]
    names = []
    for n, source in enumerate(sources):
        bits = BITS[source]
        names.append(f"%{register[bits]}{n + 1}")
        body += [f"  mul.wide.u32 %i, %t, {bits // 8};", f"  add.u64 %i, %i, %q{n};",
                 f"  ld.global.b{bits} {names[-1]}, [%i];"]
    bits = BITS[to]
    result = f"%{register[bits]}8"
    body += [f"  {instruction.format(result, *names)};",
             f"  mul.wide.u32 %i, %t, {bits // 8};", f"  add.u64 %i, %i, %q{len(sources)};",
             f"  st.global.b{bits} [%i], {result};", "END:"]
    return kernel(len(sources) + 1, "\n".join(body))


def draw(rng, name, count):
    if name == "bf16":
        return to_bf16(rng.normal(size=count) * 10.0 ** rng.integers(-3, 4, count))
    dtype = np.dtype(NUMPY[name])
    if dtype.kind == "f":
        values = rng.normal(size=count) * 10.0 ** rng.integers(-4, 5, count)
        values[: min(4, count)] = [0, -0.0, 1, np.inf][: min(4, count)]
        return values.astype(dtype)
    info = np.iinfo(dtype)
    values = rng.integers(info.min, info.max, count, dtype, endpoint=True)
    small = rng.random(count) < 0.4
    values[small] = rng.integers(0, 70, small.sum()).astype(dtype)
    values[: min(3, count)] = [info.min, info.max, 0][: min(3, count)]
    return values


def to_bf16(values):
    """The nearest bf16, ties to even, as bits."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def from_bf16(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def shifted(a, b, left=False):
    bits = 8 * a.dtype.itemsize
    amount = np.minimum(b, bits - 1).astype(a.dtype)
    moved = a << amount if left else a >> amount
    gone = 0 if left or a.dtype.kind == "u" else a >> a.dtype.type(bits - 1)
    return np.where(b >= bits, gone, moved)


def truncating(a, b):
    """Quotient and remainder as C has them; b is not 0."""
    a, b = [x.astype(object) for x in (a, b)]
    quotient = np.array([abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
                         for x, y in zip(a, b)], object)
    return quotient, a - quotient * b


def wrap(values, name):
    bits = BITS[name]
    return np.array([int(v) & ((1 << bits) - 1) for v in values], f"u{bits // 8}").view(NUMPY[name])


def not_zero(b):
    return np.where(b == 0, b.dtype.type(7), b)


def exact(a):
    return a.astype(object)


def saturated(a, name):
    info = np.iinfo(NUMPY[name])
    whole = np.nan_to_num(np.rint(a.astype(np.float64)), posinf=2.0 ** 70, neginf=-2.0 ** 70)
    return np.array([min(max(int(x), info.min), info.max) for x in whole], NUMPY[name])


def halves(function, dtype):
    """A function of the two halves of words."""
    return lambda *words: function(*(word.view(dtype) for word in words)).view(np.uint32)


# instruction, the result's type, those of the operands, and what numpy computes.
VALUES = [
    ("add.s32 {0}, {1}, {2}", "s32", ("s32", "s32"), lambda a, b: a + b),
    ("sub.s16 {0}, {1}, {2}", "s16", ("s16", "s16"), lambda a, b: a - b),
    ("mul.lo.s64 {0}, {1}, {2}", "s64", ("s64", "s64"), lambda a, b: a * b),
    ("mul.hi.u32 {0}, {1}, {2}", "u32", ("u32", "u32"),
     lambda a, b: wrap(exact(a) * exact(b) // 2**32, "u32")),
    ("mul.hi.u64 {0}, {1}, {2}", "u64", ("u64", "u64"),
     lambda a, b: wrap(exact(a) * exact(b) // 2**64, "u64")),
    ("mul.hi.s32 {0}, {1}, {2}", "s32", ("s32", "s32"),
     lambda a, b: wrap(exact(a) * exact(b) // 2**32, "s32")),
    ("mul.wide.s32 {0}, {1}, {2}", "s64", ("s32", "s32"),
     lambda a, b: a.astype(np.int64) * b.astype(np.int64)),
    ("mad.wide.u32 {0}, {1}, {2}, {3}", "u64", ("u32", "u32", "u64"),
     lambda a, b, c: a.astype(np.uint64) * b.astype(np.uint64) + c),
    ("mad.lo.s32 {0}, {1}, {2}, {3}", "s32", ("s32", "s32", "s32"), lambda a, b, c: a * b + c),
    ("div.u64 {0}, {1}, {2}", "u64", ("u64", "u64"), lambda a, b: a // b),
    ("div.s32 {0}, {1}, {2}", "s32", ("s32", "s32"), lambda a, b: wrap(truncating(a, b)[0], "s32")),
    ("rem.s64 {0}, {1}, {2}", "s64", ("s64", "s64"), lambda a, b: wrap(truncating(a, b)[1], "s64")),
    ("rem.u32 {0}, {1}, {2}", "u32", ("u32", "u32"), lambda a, b: a % b),
    ("min.s32 {0}, {1}, {2}", "s32", ("s32", "s32"), np.minimum),
    ("add.s16x2 {0}, {1}, {2}", "u32", ("u32", "u32"), halves(lambda a, b: a + b, np.int16)),
    ("min.s16x2 {0}, {1}, {2}", "u32", ("u32", "u32"), halves(np.minimum, np.int16)),
    ("max.s16x2 {0}, {1}, {2}", "u32", ("u32", "u32"), halves(np.maximum, np.int16)),
    ("min.u16x2 {0}, {1}, {2}", "u32", ("u32", "u32"), halves(np.minimum, np.uint16)),
    ("max.u16x2 {0}, {1}, {2}", "u32", ("u32", "u32"), halves(np.maximum, np.uint16)),
    ("min.relu.s32 {0}, {1}, {2}", "s32", ("s32", "s32"),
     lambda a, b: np.maximum(np.minimum(a, b), 0)),
    ("max.relu.s32 {0}, {1}, {2}", "s32", ("s32", "s32"),
     lambda a, b: np.maximum(np.maximum(a, b), 0)),
    ("max.u64 {0}, {1}, {2}", "u64", ("u64", "u64"), np.maximum),
    ("abs.s64 {0}, {1}", "s64", ("s64",), np.abs),
    ("shl.b32 {0}, {1}, {2}", "u32", ("u32", "u32"), lambda a, b: shifted(a, b, True)),
    ("shr.u64 {0}, {1}, {2}", "u64", ("u64", "u32"), shifted),
    ("shr.s32 {0}, {1}, {2}", "s32", ("s32", "u32"), shifted),
    ("xor.b64 {0}, {1}, {2}", "u64", ("u64", "u64"), lambda a, b: a ^ b),
    ("popc.b64 {0}, {1}", "u32", ("u64",),
     lambda a: np.array([bin(int(x)).count("1") for x in a], np.uint32)),
    ("clz.b32 {0}, {1}", "u32", ("u32",),
     lambda a: np.array([32 - int(x).bit_length() for x in a], np.uint32)),
    ("bfe.u32 {0}, {1}, 5, 9", "u32", ("u32",), lambda a: a >> 5 & 511),
    ("bfe.s32 {0}, {1}, 28, 9", "s32", ("s32",), lambda a: a >> 28),
    ("prmt.b32 {0}, {1}, {2}, 0x5410", "u32", ("u32", "u32"),
     lambda a, b: a & 0xFFFF | b << np.uint32(16)),
    ("cvt.s64.s32 {0}, {1}", "s64", ("s32",), lambda a: a.astype(np.int64)),
    ("cvt.u16.u64 {0}, {1}", "u16", ("u64",), lambda a: a.astype(np.uint16)),
    ("cvt.s32.s8 {0}, {1}", "s32", ("u32",),
     lambda a: a.astype(np.uint8).view(np.int8).astype(np.int32)),
    ("cvt.rn.f32.s64 {0}, {1}", "f32", ("s64",), lambda a: a.astype(np.float32)),
    ("cvt.rn.f64.u64 {0}, {1}", "f64", ("u64",), lambda a: a.astype(np.float64)),
    ("cvt.rni.s32.f32 {0}, {1}", "s32", ("f32",), lambda a: saturated(a, "s32")),
    ("cvt.rni.s64.f64 {0}, {1}", "s64", ("f64",), lambda a: saturated(a, "s64")),
    ("cvt.rn.f16.f32 {0}, {1}", "f16", ("f32",), lambda a: a.astype(np.float16)),
    ("cvt.f32.f16 {0}, {1}", "f32", ("f16",), lambda a: a.astype(np.float32)),
    ("cvt.rn.bf16.f32 {0}, {1}", "bf16", ("f32",), to_bf16),
    ("cvt.f32.bf16 {0}, {1}", "f32", ("bf16",), from_bf16),
    ("cvt.rn.f16x2.f32 {0}, {1}, {2}", "u32", ("f32", "f32"),
     lambda a, b: b.astype(np.float16).view(np.uint16) |
     a.astype(np.float16).view(np.uint16).astype(np.uint32) << np.uint32(16)),
    ("add.rn.f32 {0}, {1}, {2}", "f32", ("f32", "f32"), lambda a, b: a + b),
    ("div.rn.f32 {0}, {1}, {2}", "f32", ("f32", "f32"), lambda a, b: a / b),
    ("sqrt.rn.f64 {0}, {1}", "f64", ("f64",), np.sqrt),
    # A product of two f32 is exact in f64; what is added here is of its size or larger.
    ("fma.rn.f64 {0}, {1}, {2}, {1}", "f64", ("f32:f64", "f32:f64"), lambda a, b: a * b + a),
    ("add.rn.f16 {0}, {1}, {2}", "f16", ("f16", "f16"),
     lambda a, b: (a.astype(np.float64) + b.astype(np.float64)).astype(np.float16)),
    ("mul.rn.bf16 {0}, {1}, {2}", "bf16", ("bf16", "bf16"),
     lambda a, b: to_bf16(from_bf16(a) * from_bf16(b))),
    ("max.f32 {0}, {1}, {2}", "f32", ("f32", "f32"), np.fmax),
    ("ex2.approx.f32 {0}, {1}", "f32", ("f32",),
     lambda a: np.exp2(a.astype(np.float64)).astype(np.float32)),
    ("setp.lt.s32 %p1, {1}, {2}; selp.b32 {0}, {1}, {2}, %p1", "s32", ("s32", "s32"), np.minimum),
    ("setp.leu.f32 %p1, {1}, {2}; selp.u32 {0}, 1, 0, %p1", "u32", ("f32", "f32"),
     lambda a, b: (~(a > b)).astype(np.uint32)),
]


def check_values(kernels, rng):
    for instruction, to, sources, compute in VALUES:
        count = int(rng.integers(150, 400))
        arrays = []
        for source in sources:
            name, _, wide = source.partition(":")
            array = draw(rng, name, count)
            arrays.append(array.astype(NUMPY[wide]) if wide else array)
        if "div.u" in instruction or "div.s" in instruction or "rem." in instruction:
            arrays[1] = not_zero(arrays[1])
        types = [source.partition(":")[2] or source for source in sources]
        text = elementwise(instruction, to, types, count)
        with np.errstate(all="ignore"):
            wanted = np.asarray(compute(*arrays)).astype(NUMPY[to])
        got = kernels.run(text, [*arrays, np.zeros(count, NUMPY[to])],
                          (-(-count // 96), 1, 1), (96, 1, 1))
        if "approx" in instruction:
            same = np.isclose(got, wanted, rtol=1e-6, equal_nan=True)
        elif wanted.dtype.kind == "f":
            same = (got == wanted) | (np.isnan(got) & np.isnan(wanted))
        else:
            same = got == wanted
        if to == "bf16":
            same |= (got & 0x7FFF > 0x7F80) & (wanted & 0x7FFF > 0x7F80)
        if not same.all():
            n = int(np.flatnonzero(~same)[0])
            yield (f"{instruction}: of {[a[n] for a in arrays]} it makes {got[n]}, "
                   f"not {wanted[n]}")


STORE = "  mul.wide.u32 %i, %t, 4; add.u64 %i, %i, %q0; st.global.u32 [%i], %r1;"

# Each lane runs its own number of rounds, and adds 2 to what an odd one has.
DIVERGENT = kernel(1, """
  mov.u32 %r1, 0; and.b32 %r2, %t, 7;
LOOP:
  setp.eq.u32 %p1, %r2, 0; @%p1 bra AFTER;
  add.u32 %r1, %r1, %t; sub.u32 %r2, %r2, 1; bra LOOP;
AFTER:
  and.b32 %r3, %t, 1; setp.eq.u32 %p2, %r3, 0; @%p2 bra EVEN;
  add.u32 %r1, %r1, 2;
EVEN:
""" + STORE)

# Lanes take a lock one after the other: whoever waits must not keep the owner from
# going on.
LOCK = kernel(1, """
TAKE:
  atom.global.cas.b32 %r2, [%q0], 0, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra TAKE;
  ld.volatile.global.u32 %r3, [%q0+4]; add.u32 %r3, %r3, 1;
  st.volatile.global.u32 [%q0+4], %r3; st.volatile.global.u32 [%q0], 0;
""")

# Each thread sees what the one at the other end of the block has written.
REVERSED = kernel(1, """
  mov.b64 %d1, room; mul.wide.u32 %d2, %r18, 4; add.u64 %d3, %d1, %d2;
  st.shared.u32 [%d3], %t; bar.sync 0;
  sub.u32 %r2, %r17, %r18; sub.u32 %r2, %r2, 1; mul.wide.u32 %d2, %r2, 4;
  add.u64 %d3, %d1, %d2; ld.shared.u32 %r1, [%d3];
""" + STORE, registers=".shared .align 4 .b8 room[1024];")

SHUFFLED = kernel(1, """
  shfl.sync.bfly.b32 %r2, %t, 5, 31, -1; shfl.sync.up.b32 %r3|%p1, %t, 3, 0, -1;
  selp.u32 %r4, 100, 200, %p1; setp.lt.u32 %p2, %t, 11;
  vote.sync.ballot.b32 %r5, %p2, -1; popc.b32 %r5, %r5; redux.sync.max.u32 %r6, %t, -1;
  add.u32 %r1, %r2, %r3; add.u32 %r1, %r1, %r4; add.u32 %r1, %r1, %r5;
  add.u32 %r1, %r1, %r6;
""" + STORE)


def copied(wait):
    """Copies to shared memory what is there, and reads it back."""
    return kernel(1, f"""
  mov.b64 %d1, room; mul.wide.u32 %d2, %t, 4; add.u64 %d3, %d1, %d2; add.u64 %d4, %q0, %d2;
  st.shared.u32 [%d3], 77;
  cp.async.ca.shared.global [%d3], [%d4], 4; cp.async.commit_group;
  {wait}
  ld.shared.u32 %r1, [%d3];
""" + STORE, registers=".shared .align 4 .b8 room[128];")


def check_programs(kernels, rng):
    t = np.arange(64, dtype=np.uint32)
    lanes = t[:32]
    zeros = lambda: np.zeros(64, np.uint32)
    got = kernels.run(DIVERGENT, [zeros()], (2, 1, 1))
    if (got != t * (t & 7) + 2 * (t & 1)).any():
        yield f"lanes that go their own ways: {got}"
    got = kernels.run(LOCK, [zeros()], (3, 1, 1), (64, 1, 1))
    if got[0] != 0 or got[1] != 192:
        yield f"a lock: {got[:2]}"
    got = kernels.run(REVERSED, [np.zeros(400, np.uint32)], (2, 1, 1), (200, 1, 1))
    wanted = np.concatenate([np.arange(200)[::-1], np.arange(200, 400)[::-1]])
    if (got != wanted).any():
        yield f"a barrier: {got}"
    got = kernels.run(SHUFFLED, [np.zeros(32, np.uint32)])
    up = np.where(lanes >= 3, lanes - 3, lanes)
    if (got != (lanes ^ 5) + up + np.where(lanes >= 3, 100, 200) + 11 + 31).any():
        yield f"what lanes do together: {got}"
    values = rng.integers(1, 1000, 32).astype(np.uint32)
    got = kernels.run(copied("cp.async.wait_group 0;"), [values.copy()])
    if (got != values).any():
        yield f"a copy that was waited for: {got}"
    for wait in ("", "cp.async.wait_group 1;"):
        got = kernels.run(copied(wait), [values.copy()])
        if (got != 77).any():
            yield f"a copy that was not waited for ('{wait}') is seen: {got}"


ADDRESS = "  mul.wide.u32 %d2, %t, 4; add.u64 %d3, %q0, %d2;\n"
ROOM = ".shared .align 8 .b8 room[64];"
# A kernel on 32 words and 32 threads, and what the emulator has to say of it.
FAULTS = {
    "after the end": (kernel(1, ADDRESS + "  st.global.u32 [%d3+4], %t;"),
                      "k: line 14, 'st.global.u32 [%d3+4], %t;': block (0, 0, 0), thread 31: "
                      "4 bytes of global memory"),
    "no allocation": (kernel(1, "  mov.u64 %d1, 4096; ld.global.u32 %r1, [%d1];"),
                      "where nothing is allocated"),
    "misaligned": (kernel(1, ADDRESS + "  ld.global.b64 %d4, [%d3];"), "is no multiple of 8"),
    "shared": (kernel(1, "  mov.b64 %d1, room; ld.shared.b32 %r1, [%d1+64];", ROOM),
               "4 bytes of shared memory at 64; the block has 64 bytes"),
    "deadlock": (kernel(1, "  bar.sync 1, 64;"), "deadlock, every warp waits"),
    "mbarrier": (kernel(1, """
  mov.b64 %d1, room; setp.ne.u32 %p1, %t, 0; @%p1 bra WAIT;
  mbarrier.init.shared.b64 [%d1], 2;
WAIT:
  bar.sync 0; @%p1 bra OFTEN; mbarrier.arrive.shared.b64 _, [%d1];
OFTEN:
  mbarrier.try_wait.parity.shared.b64 %p2, [%d1], 0; @!%p2 bra OFTEN;""", ROOM),
                 "deadlock, every warp waits"),
    "spin": (kernel(1, "SPIN:\n  ld.volatile.global.u32 %r1, [%q0]; setp.ne.u32 %p1, %r1, 9999;\n"
                       "  @%p1 bra SPIN;"), "nothing happens any more"),
    "mask": (kernel(1, "  setp.lt.u32 %p1, %t, 16; @!%p1 bra END;\n"
                       "  shfl.sync.idx.b32 %r1, %t, 0, 31, 0xff;\nEND:"),
             "its lane is not in the mask 0xff"),
    "instruction": (kernel(1, "  no.such.instruction %r1;"),
                    "line 13: unknown instruction 'no.such.instruction'"),
    "operand": (kernel(1, "  add.s32 %r1, %r2, %d1;"),
                "line 13: a register of 64 bits where one of 32 is wanted"),
    "label": (kernel(1, "  bra NOWHERE;"), "line 13: unknown name NOWHERE"),
}


def fail(name):
    kernels = Kernels()
    kernels.run(FAULTS[name][0], [np.zeros(32, np.uint32)])


def check_faults(kernels, rng):
    """Each in a process of its own: after a fault nothing works any more."""
    for name, (_, wanted) in FAULTS.items():
        done = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True,
                              timeout=120)
        if wanted not in done.stderr or "CudaError" not in done.stderr:
            yield f"{name}: '{wanted}' is not in:\n{done.stderr}"


def main():
    if len(sys.argv) > 1:
        return fail(sys.argv[1])
    seed = int.from_bytes(os.urandom(4), "little")
    print(f"check_emulator: seed {seed}")
    rng, kernels = np.random.default_rng(seed), Kernels()
    failed = 0
    for check in (check_values, check_programs, check_faults):
        for message in check(kernels, rng):
            failed += 1
            print(f"FAILED {message}")
    total = len(VALUES) + 6 + len(FAULTS)
    print(f"check_emulator: {total} checks, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
