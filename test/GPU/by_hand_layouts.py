"""Runs small kernels of the pit_gpu dialect: one for each layout of tiles, and each kind of factor.

    by_hand_layouts.py PIT_OPT FOLDER [--chip=CHIP] [--only=TEXT] [--prepare | --from]

Kernels of a chip, sm_90a or sm_100a, are written to FOLDER. Factors are small integers, which all types of elements hold and
whose products are exact in f32, so results are compared bit by bit. --prepare and --from are those
of by_hand.py.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy

import by_hand
from by_hand import Kernel, Operand, compile_kernel, poison
from driver import Driver

BYTES = {"f16": 2, "bf16": 2, "f32": 4, "f8E4M3FN": 1, "f8E5M2": 1}
NUMPY = {"f16": "float16", "bf16": "bfloat16", "f32": "float32"}
by_hand.ELEMENTS.update({"uint8": 0})


class Bytes(Operand):
    """Floats of 8 bits: small integers by a table."""

    def __init__(self, driver, array, element):
        mantissa, bias = (3, 7) if element == "f8E4M3FN" else (2, 15)
        table = {}
        for code in range(128):
            exponent, rest = code >> mantissa, code & ((1 << mantissa) - 1)
            table[(1 + rest / (1 << mantissa)) * 2.0 ** (exponent - bias)] = code
        table[0.0] = 0
        self.dtype, self.shape = "uint8", array.shape
        codes = [table[abs(x)] | (0x80 if x < 0 else 0) for x in array.ravel()]
        self.host = numpy.array(codes, numpy.uint8).reshape(array.shape)
        self.buffer = by_hand.Buffer(driver, self.host.nbytes)
        driver.write(self.buffer.address.value, self.host)


def operand(driver, array, element):
    if element in NUMPY:
        return Operand(driver, array, NUMPY[element])
    return Bytes(driver, array, element)


HEAD = """gpu.module @kernels [#nvvm.target<O = 3, chip = "CHIP", features = "+ptx87">] attributes {pit.kernels} {
"""
#: The fragment that stands for a, and its elements in numpy.
FRAGMENT = """pit_gpu.map () -> !fragment {
        ^bb0(%i: i32, %j: i32):
          %c3 = arith.constant 3 : i32
          %c5 = arith.constant 5 : i32
          %c7 = arith.constant 7 : i32
          %u = arith.muli %i, %c3 : i32
          %v = arith.muli %j, %c5 : i32
          %z = arith.addi %u, %v : i32
          %r = arith.remui %z, %c7 : i32
          %q = arith.subi %r, %c3 : i32
          %few = arith.constant FILLED : i32
          %filled = arith.cmpi slt, %j, %few : i32
          %none = arith.constant 0 : i32
          %p = arith.select %filled, %q, %none : i32
          %e = arith.sitofp %p : i32 to ELEMENT
          pit_gpu.yield %e : ELEMENT
        }"""


def types_of_sums(m, n, in_tensor_memory):
    if in_tensor_memory:
        return (f"!late = !pit_gpu.accumulator<{m}x{n}xf32, tensor_memory>\n"
                "!ring_of_sums = !pit_gpu.ring<1, [!late]>\n"
                "!stage_of_sums = !pit_gpu.stage<[!late]>")
    return (f"!sums = !pit_gpu.accumulator<{m}x{n}xf32>\n"
            f"!values = !pit_gpu.fragment<{m}x{n}xf32>")


def product(a="bf16", b=None, sa=128, sb=128, ta=False, tb=False, m=64, n=64, tile_k=64, k=150,
            copy="load", rows_of_box=None, groups=1, halves=1, fragment=False, turns=False,
            filled=1024, in_tensor_memory=False):
    """A kernel for one tile, and what it has of each operand: m rows for each of the
    warpgroups, n columns in each of the halves. A fragment is 0 from column `filled` on, which LLVM
    knows. Sums in tensor memory have 128 rows."""
    b = b or a
    all_m, all_n = m * groups, n * halves
    if fragment:
        k = tile_k
    shape = {"a": (tile_k, all_m) if ta else (all_m, tile_k),
             "b": (all_n, tile_k) if tb else (tile_k, all_n)}

    def tile(rows, cols, element, swizzle, whole=None):
        pitch = f", pitch = {whole * swizzle}" if whole else ""
        return f"!pit_gpu.tile<{rows}x{cols}x{element}, swizzle = {swizzle}{pitch}>"

    def box(name, element, swizzle):
        rows = rows_of_box or min(256, shape[name][0])
        return f"!pit_gpu.tensor_map<{rows}x{swizzle // BYTES[element]}x{element}, swizzle = {swizzle}>"

    part_a = (tile_k, m) if ta else (m, tile_k)
    part_b = (n, tile_k) if tb else (tile_k, n)
    tiles = {"a": tile(*shape["a"], a, sa), "b": tile(*shape["b"], b, sb)}
    stage = f"[{tiles['a']}, {tiles['b']}]"
    by_load = ["b"] if copy == "gather" or fragment else ["a", "b"]
    loaded = {"a": shape["a"][0] * shape["a"][1] * BYTES[a],
              "b": shape["b"][0] * shape["b"][1] * BYTES[b]}
    text = f"""!a = {tiles['a']}
!b = {tiles['b']}
!own_a = {tile(*part_a, a, sa, shape['a'][0])}
!own_b = {tile(*part_b, b, sb, shape['b'][0])}
!ring = !pit_gpu.ring<2, {stage}>
!stage = !pit_gpu.stage<{stage}>
!map_a = {box('a', a, sa)}
!map_b = {box('b', b, sb)}
{types_of_sums(m, n, in_tensor_memory)}
!fragment = !pit_gpu.fragment<{m}x{tile_k}x{a if a in ('f16', 'bf16') else 'f16'}>
{HEAD}
  gpu.func @layout(%a: memref<?x?x{a}>, %b: memref<?x?x{b}>, %y: memref<?x?xf32>, %ids: memref<?xi32>) kernel {{
    %zero = arith.constant 0 : i32
    %c0 = arith.constant 0 : index
    %step = arith.constant {tile_k} : index
    %depth = arith.constant {k} : index
    %map_b = pit_gpu.tensor_map %b : memref<?x?x{b}> -> !map_b
"""
    if "a" in by_load:
        text += f"    %map_a = pit_gpu.tensor_map %a : memref<?x?x{a}> -> !map_a\n"
    arrivals = 1 + (128 if copy == "gather" else 0)
    text += f"""    %ring = pit_gpu.ring full {arrivals} empty {1 if in_tensor_memory else 4 * groups} : !ring
    pit_gpu.roles {{
      role "producers" warps 4 registers 56 {{
        scf.for %k = %c0 to %depth step %step {{
          %at = arith.divui %k, %step : index
          %number = arith.index_cast %at : index to i32
          %s = pit_gpu.acquire %ring[%number] : !ring -> !stage
          pit_gpu.commit %s after tma bytes {sum(loaded[name] for name in by_load)} : !stage
          pit_gpu.load %map_b[{'%c0, %k' if tb else '%k, %c0'}] into %s[1] : !map_b, !stage
"""
    if "a" in by_load:
        text += f"""          pit_gpu.load %map_a[{'%k, %c0' if ta else '%c0, %k'}] into %s[0] : !map_a, !stage
"""
    if copy == "gather":
        first, col = ("%k", "%c0") if ta else ("%c0", "%k")
        text += f"""          pit_gpu.gather %a rows %ids[{first}] cols {col} into %s[0] : memref<?x?x{a}>, memref<?xi32>, !stage
          pit_gpu.commit %s after copies : !stage
"""
    text += "        }\n      }\n"
    if in_tensor_memory:
        text = text.replace("    pit_gpu.roles {", RING_OF_SUMS) + tensor_roles(m, n, ta, tb)
    else:
        text += registers_role(m, n, ta, tb, a, groups, halves, fragment and filled, turns)
    text += "    }\n    gpu.return\n  }\n}\n"
    return text, product_case(a, b, ta, tb, all_m, all_n, m, k, tile_k, copy, groups, fragment and filled)


RING_OF_SUMS = """    %ring_of_sums = pit_gpu.ring full 1 empty 4 : !ring_of_sums
    pit_gpu.roles {"""


def tensor_roles(m, n, ta, tb):
    """One role multiplies, another one reads what is in tensor memory, 8 or 24 columns at a time."""
    part = 24 if n % 24 == 0 else 8
    return f"""      role "products" warps 4 registers 40 {{
        %t = pit_gpu.acquire %ring_of_sums[%zero] : !ring_of_sums -> !stage_of_sums
        %acc = pit_gpu.tile %t[0] : !stage_of_sums -> !late
        scf.for %k = %c0 to %depth step %step {{
          %at = arith.divui %k, %step : index
          %number = arith.index_cast %at : index to i32
          %s = pit_gpu.wait %ring[%number] : !ring -> !stage
          %all_a = pit_gpu.tile %s[0] : !stage -> !a
          %all_b = pit_gpu.tile %s[1] : !stage -> !b
          %later = arith.cmpi sgt, %k, %c0 : index
          %more = pit_gpu.mma %all_a{' transpose' if ta else ''}, %all_b{' transpose' if tb else ''}, %acc
              adds if %later : !a, !b, !late
          pit_gpu.release %s after products : !stage
        }}
        pit_gpu.commit %t after products : !stage_of_sums
      }}
      role "epilogue" warps 4 registers 168 {{
        %t = pit_gpu.wait %ring_of_sums[%zero] : !ring_of_sums -> !stage_of_sums
        %acc = pit_gpu.tile %t[0] : !stage_of_sums -> !late
        %end = arith.constant {n} : index
        %part = arith.constant {part} : index
        scf.for %col = %c0 to %end step %part {{
          %from = arith.index_cast %col : index to i32
          %values = pit_gpu.read %acc cols %from : !late -> !pit_gpu.fragment<{m}x{part}xf32, warp_rows = 32>
          pit_gpu.store %values to %y[%c0, %col] : !pit_gpu.fragment<{m}x{part}xf32, warp_rows = 32>, memref<?x?xf32>
        }}
        pit_gpu.release %t : !stage_of_sums
      }}
"""


def registers_role(m, n, ta, tb, a, groups, halves, fragment, turns):
    """Each warpgroup multiplies its rows, and has the sums in registers."""
    text = f"""      role "consumers" warps {4 * groups} registers {[256, 200, 152][groups - 1]} {{
        %group = pit_gpu.warpgroup : i32
        %rows = arith.constant {m} : i32
        %row = arith.muli %group, %rows : i32
        %row_index = arith.index_cast %row : i32 to index
        %nothing = arith.constant 0.0 : f32
        %zeros = pit_gpu.splat %nothing : f32 -> !values
        %begin = pit_gpu.accumulate %zeros : !values -> !sums
"""
    if fragment:
        text += "        %fragment = " + FRAGMENT.replace("ELEMENT", a).replace("FILLED", str(fragment)) + "\n"
    names = [f"%sums{i}" for i in range(halves)]
    text += f"""        {', '.join(names)} = scf.for %k = %c0 to %depth step %step
            iter_args({', '.join(f'%acc{i} = %begin' for i in range(halves))}) -> ({', '.join(['!sums'] * halves)}) {{
          %at = arith.divui %k, %step : index
          %number = arith.index_cast %at : index to i32
          %s = pit_gpu.wait %ring[%number] : !ring -> !stage
          %all_a = pit_gpu.tile %s[0] : !stage -> !a
          %own_a = pit_gpu.subtile %all_a[{'%zero, %row' if ta else '%row, %zero'}] : !a -> !own_a
          %all_b = pit_gpu.tile %s[1] : !stage -> !b
"""
    first, kind = ("%fragment", "!fragment") if fragment else ("%own_a", "!own_a")
    for i in range(halves):
        text += f"""          %col{i} = arith.constant {n * i} : i32
          %own_b{i} = pit_gpu.subtile %all_b[{f'%col{i}, %zero' if tb else f'%zero, %col{i}'}] : !b -> !own_b
"""
        mma = (f"pit_gpu.mma {first}{' transpose' if ta else ''}, "
               f"%own_b{i}{' transpose' if tb else ''}, %acc{i} : {kind}, !own_b, !sums")
        if turns:
            text += f"""          %more{i} = pit_gpu.hand_over -> !sums {{
            %mine = {mma}
            pit_gpu.yield %mine : !sums
          }}
"""
        else:
            text += f"          %more{i} = {mma}\n"
    text += f"""          pit_gpu.mma_wait pending 0
          pit_gpu.release %s : !stage
          scf.yield {', '.join(f'%more{i}' for i in range(halves))} : {', '.join(['!sums'] * halves)}
        }}
"""
    for i in range(halves):
        text += f"""        %result{i} = pit_gpu.mma_wait pending 0 of {names[i]} : !sums -> !values
        %at{i} = arith.constant {n * i} : index
        pit_gpu.store %result{i} to %y[%row_index, %at{i}] : !values, memref<?x?xf32>
"""
    return text + "      }\n"


def product_case(a, b, ta, tb, all_m, all_n, m, k, tile_k, copy, groups, fragment):
    def case(driver, random):
        x = random.integers(-4, 5, (k, all_m) if ta else (all_m, k)).astype(float)
        w = random.integers(-4, 5, (all_n, k) if tb else (k, all_n)).astype(float)
        # TMA and cp.async take rows that start at a multiple of 16 bytes.
        x = numpy.pad(x, [(0, 0), (0, -x.shape[1] % 16)])
        w = numpy.pad(w, [(0, 0), (0, -w.shape[1] % 16)])
        ids = random.permutation(len(x))
        ids[::7] = -1
        operands = [operand(driver, x, a), operand(driver, w, b),
                    Operand(driver, poison((all_m, all_n)), "float32"),
                    Operand(driver, ids, "int32")]
        if copy == "gather":
            x = numpy.where(ids[:, None] < 0, 0, x[ids])
        if fragment:
            x = (3 * numpy.arange(m)[:, None] + 5 * numpy.arange(tile_k)) % 7 - 3.0
            x[:, fragment:] = 0
            x = numpy.tile(x, (groups, 1))
        if ta:
            x = x.T
        if tb:
            w = w.T
        return operands, 2, x[:all_m, :k] @ w[:k, :all_n]
    return case


def columns(element="f32", m=128, n=24, shift=1):
    """Sums and maxima of rows, and fragments of one column as inputs and results."""
    text = f"""!values = !pit_gpu.fragment<{m}x{n}x{element}>
!column = !pit_gpu.fragment<{m}x1x{element}>
!memref = memref<?x?x{element}>
!fragment = !values
{HEAD}
  gpu.func @columns(%y: !memref) kernel {{
    %c0 = arith.constant 0 : index
    %first = arith.constant {shift} : index
    %after = arith.constant {shift + n} : index
    %next = arith.constant {shift + n + 1} : index
    pit_gpu.roles {{
      role "all" warps 4 registers 248 {{
        %f = {FRAGMENT.replace('ELEMENT', element).replace('FILLED', str(n))}
        %sum = pit_gpu.reduce_rows %f : !values -> !column {{
        ^bb0(%x: {element}, %y0: {element}):
          %z = arith.addf %x, %y0 : {element}
          pit_gpu.yield %z : {element}
        }}
        %max = pit_gpu.reduce_rows %f : !values -> !column {{
        ^bb0(%x: {element}, %y0: {element}):
          %z = arith.maxnumf %x, %y0 : {element}
          pit_gpu.yield %z : {element}
        }}
        %same = pit_gpu.reduce_rows %max : !column -> !column {{
        ^bb0(%x: {element}, %y0: {element}):
          %z = arith.addf %x, %y0 : {element}
          pit_gpu.yield %z : {element}
        }}
        %both = pit_gpu.map (%sum, %same : !column, !column) -> !column {{
        ^bb0(%i: i32, %j: i32, %x: {element}, %y0: {element}):
          %row = arith.sitofp %i : i32 to {element}
          %z = arith.addf %x, %y0 : {element}
          %w = arith.addf %z, %row : {element}
          pit_gpu.yield %w : {element}
        }}
        %differences = pit_gpu.map (%f, %max : !values, !column) -> !values {{
        ^bb0(%i: i32, %j: i32, %x: {element}, %y0: {element}):
          %z = arith.subf %x, %y0 : {element}
          pit_gpu.yield %z : {element}
        }}
        pit_gpu.store %differences to %y[%c0, %first] : !values, !memref
        pit_gpu.store %both to %y[%c0, %after] : !column, !memref
        pit_gpu.store %max to %y[%c0, %c0] : !column, !memref
        pit_gpu.store %max to %y[%c0, %next] : !column, !memref
      }}
    }}
    gpu.return
  }}
}}
"""

    def case(driver, random):
        f = (3 * numpy.arange(m)[:, None] + 5 * numpy.arange(n)) % 7 - 3.0
        top = f.max(axis=1, keepdims=True)
        both = f.sum(axis=1, keepdims=True) + top + numpy.arange(m)[:, None]
        padding = numpy.zeros((m, shift - 1))
        # Some rows are beyond the end of the memref.
        want = numpy.hstack([top, padding, f - top, both])[:m - 3]
        begin = poison(want.shape)
        begin[:, 1:shift] = 0
        return [Operand(driver, begin, NUMPY[element])], 0, want
    return text, case


def staged(element="bf16", m=64, n=64, swizzle=128, transposed=False, groups=1):
    """A fragment in shared memory, which goes there in two parts. Threads then read its elements one
    by one and, if there are instructions for it, as a fragment again: y has both, side by side."""
    rows, cols = (n, m) if transposed else (m, n)
    tile = f"!pit_gpu.tile<{rows}x{cols}x{element}, swizzle = {swizzle}>"
    bytes_of_group = rows * -(-cols * BYTES[element] // swizzle) * swizzle
    loads = element != "f32" and not transposed and n % 16 == 0
    at = "%col32, %row32" if transposed else "%row32, %col32"
    text = f"""!tile = {tile}
!memref = memref<?x?x{element}>
{HEAD}
  gpu.func @staged(%y: !memref) kernel {{
    %c0 = arith.constant 0 : index
    %place = pit_gpu.shared {groups * bytes_of_group} : i32
    pit_gpu.roles {{
      role "all" warps {4 * groups} registers 128 {{
        %group = pit_gpu.warpgroup : i32
        %of_group = arith.constant {bytes_of_group} : i32
        %before = arith.muli %group, %of_group : i32
        %own = arith.addi %place, %before : i32
        %t = pit_gpu.tile_at %own : !tile
        %m = arith.constant {m} : index
        %n = arith.constant {n} : index
        %group_index = arith.index_cast %group : i32 to index
        %first = arith.muli %group_index, %m : index
"""
    for first, count in [(0, 16), (16, n - 16)] if n > 16 else [(0, n)]:
        part = f"!pit_gpu.fragment<{m}x{count}x{element}>"
        text += f"""        %f{first} = pit_gpu.map () -> {part} {{
        ^bb0(%i: i32, %j: i32):
          %c3 = arith.constant 3 : i32
          %c5 = arith.constant 5 : i32
          %c7 = arith.constant 7 : i32
          %shift = arith.constant {first} : i32
          %col = arith.addi %j, %shift : i32
          %u = arith.muli %i, %c3 : i32
          %v = arith.muli %col, %c5 : i32
          %w = arith.addi %u, %v : i32
          %z = arith.addi %w, %group : i32
          %r = arith.remui %z, %c7 : i32
          %e = arith.sitofp %r : i32 to {element}
          pit_gpu.yield %e : {element}
        }}
        pit_gpu.local_store %f{first}{' transposed' if transposed else ''} into %t cols {first} : {part}, !tile
"""
    text += f"""        pit_gpu.sync of warpgroup
        %thread = pit_gpu.thread : i32
        %threads = arith.constant 128 : i32
        %mine = arith.remui %thread, %threads : i32
        %from = arith.index_cast %mine : i32 to index
        %step = arith.constant 128 : index
        %all = arith.constant {m * n} : index
        scf.for %e = %from to %all step %step {{
          %i = arith.divui %e, %n : index
          %j = arith.remui %e, %n : index
          %row32 = arith.index_cast %i : index to i32
          %col32 = arith.index_cast %j : index to i32
          %address = pit_gpu.address %t[{at}] : !tile
          %pointer = llvm.inttoptr %address : i32 to !llvm.ptr<3>
          %x = llvm.load %pointer : !llvm.ptr<3> -> {element}
          %to = arith.addi %first, %i : index
          memref.store %x, %y[%to, %j] : !memref
        }}
"""
    if loads:
        text += f"""        %g = pit_gpu.local_load %t : !tile -> !pit_gpu.fragment<{m}x{n}x{element}>
        pit_gpu.store %g to %y[%first, %n] : !pit_gpu.fragment<{m}x{n}x{element}>, !memref
"""
    text += "      }\n    }\n    gpu.return\n  }\n}\n"

    def case(driver, random):
        number = numpy.arange(groups).repeat(m)[:, None]
        want = (3 * numpy.tile(numpy.arange(m), groups)[:, None] + 5 * numpy.arange(n) + number) % 7.0
        if loads:
            want = numpy.hstack([want, want])
        return [Operand(driver, poison(want.shape), NUMPY[element])], 0, want
    return text, case


def partials(element="f32", m=64, n=24, splits=3, vector=4, once="2 x 4"):
    """Partial sums of one block for all splits, every second slot. A fragment is the second part of
    what a thread has in a slot: y has the sums of all splits, and the largest elements, side by side."""
    count = m // 64 * n // 2
    text = f"""!values = !pit_gpu.fragment<{m}x{n}x{element}>
!memref = memref<?x?x{element}>
!fragment = !values
{HEAD}
  gpu.func @partials(%y: !memref, %memory: memref<?x{element}>, %counters: memref<?xi32>) kernel {{
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %splits = arith.constant {splits} : i32
    %from = arith.constant {count} : i32
    %next = arith.constant {n} : index
    %start = memref.extract_aligned_pointer_as_index %memory : memref<?x{element}> -> index
    %slots = arith.index_cast %start : index to i64
    %first_counter = memref.extract_aligned_pointer_as_index %counters : memref<?xi32> -> index
    %counts = arith.index_cast %first_counter : index to i64
    pit_gpu.roles {{
      role "all" warps 4 registers 248 {{
        %t = pit_gpu.thread : i32
        %warp = pit_gpu.warp : i32
        %f = {FRAGMENT.replace('ELEMENT', element).replace('FILLED', str(n))}
        scf.for %split = %zero to %splits step %one : i32 {{
          %g = pit_gpu.map (%f : !values) -> !values {{
          ^bb0(%i: i32, %j: i32, %x: {element}):
            %number = arith.addi %split, %one : i32
            %s = arith.sitofp %number : i32 to {element}
            %z = arith.mulf %x, %s : {element}
            pit_gpu.yield %z : {element}
          }}
          %slot = arith.muli %split, %two : i32
          pit_gpu.store_partials %g in %slots[%slot] from %from of {2 * count} thread %t of 128 vector {vector} : !values
        }}
        %first, %step = pit_gpu.await_splits %zero of %one in %counts[%warp] pieces 1 polls 10
        scf.for %piece = %first to %one step %step : i32 {{
          %sums = pit_gpu.add_partials %splits in %slots[%zero] step %two from %from of {2 * count}
                    thread %t of 128 vector {vector} once {once} : !values
          %most = pit_gpu.add_partials %splits in %slots[%zero] step %two from %from of {2 * count}
                    thread %t of 128 vector {vector} start -1.0 : {element} combine {{
                  ^bb0(%x: {element}, %y0: {element}):
                    %z = arith.maxnumf %x, %y0 : {element}
                    pit_gpu.yield %z : {element}
                  }} : !values
          pit_gpu.store %sums to %y[%c0, %c0] : !values, !memref
          pit_gpu.store %most to %y[%c0, %next] : !values, !memref
        }}
      }}
    }}
    gpu.return
  }}
}}
"""

    def case(driver, random):
        f = (3 * numpy.arange(m)[:, None] + 5 * numpy.arange(n)) % 7 - 3.0
        want = numpy.hstack([f * sum(range(splits + 1)), numpy.maximum(f * splits, -1)])
        memory = poison((2 * splits * 128 * 2 * count,))
        return [Operand(driver, poison(want.shape), NUMPY[element]), Operand(driver, memory, NUMPY[element]),
                Operand(driver, numpy.zeros(8), "int32")], 0, want
    return text, case


P = product
S = staged
#: The kernels of sm_90a, named for what each looks at.
HOPPER = {
    "f16": P("f16"), "f32": P("f32", tb=True, tile_k=32), "f32-long": P("f32", tb=True, tile_k=64),
    "f8E4M3FN": P("f8E4M3FN", tb=True, tile_k=128), "f8E5M2": P("f8E5M2", tb=True, tile_k=256, k=300),
    "f8-mixed": P("f8E4M3FN", "f8E5M2", tb=True, tile_k=128, n=40),
    "transposed-a": P(ta=True), "transposed-b": P(tb=True), "transposed-both": P(ta=True, tb=True),
    "parts": P(m=192, n=64), "parts-transposed": P(m=128, ta=True, n=128),
    "n8": P(n=8, tb=True), "n16": P(n=16, sb=32),
    "n256": P(n=256, tile_k=32, sa=64), "n192-transposed": P(n=192, tb=True),
    **{f"swizzle-{s}-{ta:d}{tb:d}": P(sa=s, sb=s, ta=ta, tb=tb, n=64)
       for s in (32, 64) for ta in (False, True) for tb in (False, True)},
    "swizzle-32-n128": P(sa=128, sb=32, n=128), "swizzle-64-parts": P(sa=64, sb=64, m=128, ta=True),
    "swizzle-32-f32": P("f32", sa=32, sb=32, tb=True, tile_k=32),
    "swizzle-64-f8": P("f8E5M2", sa=64, sb=32, tb=True, tile_k=128),
    "k16": P(tile_k=16, sa=32, sb=128, k=50), "wide-a": P(tile_k=128), "boxes": P(rows_of_box=8),
    "groups": P(groups=2), "groups-transposed": P(groups=2, ta=True),
    "groups-32": P(groups=2, sa=32), "groups-32-transposed": P(groups=2, sa=32, ta=True),
    "halves": P(halves=2), "halves-transposed": P(halves=2, tb=True),
    "halves-32": P(halves=2, sb=32), "halves-64-transposed": P(halves=2, sb=64, tb=True),
    **{f"gather-{s}": P(copy="gather", sa=s) for s in (32, 64, 128)},
    "gather-transposed": P(copy="gather", ta=True), "gather-wide": P(copy="gather", tile_k=128, groups=2),
    "gather-f16-few": P("f16", copy="gather", tile_k=32, sa=64, m=64, k=40),
    "gather-f32": P("f32", copy="gather", tb=True, tile_k=32),
    "gather-narrow": P(copy="gather", tile_k=32, sa=128), "gather-f8": P("f8E4M3FN", copy="gather", tb=True, tile_k=128),
    "fragment": P(fragment=True), "fragment-f16": P("f16", fragment=True, tb=True, tile_k=32, n=128, sb=64),
    "fragment-parts": P(fragment=True, m=128, tile_k=48, sa=32, n=64),
    # Registers of zeros are no sums that begin as zeros.
    "fragment-zeros": P(fragment=True, filled=8, tb=True),
    "fragment-32": P(fragment=True, sb=32, tile_k=64), "fragment-groups": P(fragment=True, groups=2),
    "turns": P(groups=2, turns=True), "turns-3": P(groups=3, halves=2, turns=True), "turn": P(turns=True),
    "columns": columns(), "columns-f16": columns("f16"), "columns-bf16": columns("bf16", m=64, n=8, shift=2),
    "partials": partials(), "partials-f16": partials("f16", m=128, splits=4, vector=8, once="3 x 16"),
    "partials-single": partials(splits=1, vector=1),
    **{f"staged-{swizzle}": S(swizzle=swizzle) for swizzle in (32, 64, 128)},
    **{f"staged-{swizzle}-transposed": S(swizzle=swizzle, transposed=True) for swizzle in (32, 64, 128)},
    "staged-f16": S("f16", n=32, groups=2), "staged-f32": S("f32", n=32), "staged-f32-wide": S("f32", n=64, m=128),
    "staged-parts": S(m=128, n=128), "staged-few": S("f16", n=24, transposed=True, swizzle=32), "staged-n8": S(n=8, swizzle=32),
    "staged-parts-transposed": S("f16", m=128, n=40, transposed=True, groups=2),
}


def T(*arguments, **options):
    return product(*arguments, m=128, in_tensor_memory=True, **options)


#: Those of sm_100a.
BLACKWELL = {
    "f16": T("f16"), "f32": T("f32", tb=True, tile_k=32), "f32-long": T("f32", tb=True, tile_k=64),
    "f8E4M3FN": T("f8E4M3FN", tb=True, tile_k=128), "f8E5M2": T("f8E5M2", tb=True, tile_k=256, k=300),
    "f8-mixed": T("f8E4M3FN", "f8E5M2", tb=True, tile_k=128, n=48),
    **{f"swizzle-{s}-{ta:d}{tb:d}": T(sa=s, sb=s, ta=ta, tb=tb)
       for s in (32, 64, 128) for ta in (False, True) for tb in (False, True)},
    "n16": T(n=16, sb=32), "n240": T(n=240, tb=True), "n256": T(n=256, tile_k=32, sa=64),
    "swizzle-32-f32": T("f32", sa=32, sb=32, tb=True, tile_k=32),
    "swizzle-64-f8": T("f8E5M2", sa=64, sb=32, tb=True, tile_k=128),
    "k16": T(tile_k=16, sa=32, k=50), "wide-a": T(tile_k=128),
    **{f"gather-{s}": T(copy="gather", sa=s) for s in (32, 64, 128)},
    "gather-transposed": T(copy="gather", ta=True),
    "gather-f32": T("f32", copy="gather", tb=True, tile_k=32),
}
CASES = {"sm_90a": HOPPER, "sm_100a": BLACKWELL}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pit_opt")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--chip", choices=sorted(CASES), default="sm_90a")
    parser.add_argument("--only", default="")
    parser.add_argument("--prepare", action="store_true")
    parser.add_argument("--from", dest="source", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    driver, failed, count = None if options.prepare else Driver(), 0, 0
    random = numpy.random.default_rng()
    for name, (text, case) in CASES[options.chip].items():
        if options.only not in name:
            continue
        path = options.folder / f"{name}.mlir"
        stored = path.with_suffix(".json")
        if options.source:
            compiled = json.loads(stored.read_text())
        else:
            path.write_text(text.replace("CHIP", options.chip))
            compiled = compile_kernel(options.pit_opt, path)
            stored.write_text(json.dumps(compiled))
        if options.prepare:
            continue
        operands, number, want = case(driver, random)
        kernel = Kernel(driver, compiled)
        kernel.launcher(operands, 1)()
        driver.synchronize()
        got = operands[number].read(driver)
        right = numpy.array_equal(got, want)
        failed += not right
        count += 1
        if not right:
            wrong = numpy.argwhere(got != want)
            print(f"{name}: {len(wrong)} of {got.size} are wrong, as {wrong[0]}: "
                  f"{got[tuple(wrong[0])]}, not {want[tuple(wrong[0])]}", flush=True)
    print(f"by_hand_layouts: {count} kernels, {failed} wrong")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
