"""Prints a program that compares linalg ops with scalar loops.

Each case is a linalg.generic on memrefs, and a loop nest with the same body over
the same maps. `main` returns the number of elements that differ. Values are small
integers, so that sums are exact in any order.
"""

import itertools


def is_float(t):
    return not t.startswith("i")


def memref(shape, t, dynamic=False):
    return "memref<" + "".join(f"{'?' if dynamic else s}x" for s in shape) + t + ">"


def loops(extents, body):
    """The text of a loop nest; `body` gets the names of the induction variables."""
    names = [f"%i{d}" for d in range(len(extents))]
    # The outer one makes a scope for names also if there are no extents.
    head, tail = "scf.for %once = %c0 to %c1 step %c1 {\n", "}\n"
    for name, extent in zip(names, extents):
        head += f"scf.for {name} = %c0 to %c{extent} step %c1 {{\n"
        tail += "}\n"
    return head + body(names) + tail


def fill(memref_name, shape, t, seed):
    def body(ivs):
        text = f"%v0 = arith.constant {seed} : index\n"
        for d, iv in enumerate(ivs):
            text += f"%w{d} = arith.muli {iv}, %c{[7, 3, 5, 9][d]} : index\n"
            text += f"%v{d + 1} = arith.addi %v{d}, %w{d} : index\n"
        text += f"%r = arith.remui %v{len(ivs)}, %c11 : index\n"
        text += "%s = arith.subi %r, %c5 : index\n"
        if t == "i1":
            text += "%x = arith.cmpi slt, %s, %c0 : index\n"
        elif is_float(t):
            text += "%y = arith.index_cast %s : index to i32\n"
            text += f"%x = arith.sitofp %y : i32 to {t}\n"
        else:
            text += f"%x = arith.index_cast %s : index to {t}\n"
        where = ", ".join(ivs)
        return text + f"memref.store %x, {memref_name}[{where}] : {memref(shape, t)}\n"

    return loops(shape, body)


def count_differences(shape, t):
    compare = "arith.cmpf une," if is_float(t) else "arith.cmpi ne,"

    def body(ivs):
        where = ", ".join(ivs)
        return (
            f"%x = memref.load %out[{where}] : {memref(shape, t)}\n"
            f"%y = memref.load %want[{where}] : {memref(shape, t)}\n"
            f"%differs = {compare} %x, %y : {t}\n"
            "%one = arith.extui %differs : i1 to i64\n"
            "%before = memref.load %count[] : memref<i64>\n"
            "%after = arith.addi %before, %one : i64\n"
            "memref.store %after, %count[] : memref<i64>\n"
        )

    return loops(shape, body)


def case(name, extents, iterators, operands, body, dynamic):
    """A function; operands are (map, shape, type), the last one is the output, and
    `body` is text that computes %r from %x0, %x1, ... and the output %o."""
    dims = ", ".join(f"d{d}" for d in range(len(extents)))
    kinds = ", ".join(
        '"parallel"' if i == "p" else '"reduction"' for i in iterators
    )
    names = [f"%in{n}" for n in range(len(operands) - 1)] + ["%out"]
    text = f"func.func private @{name}() -> i64 {{\n"
    constants = {0, 1, 3, 5, 7, 9, 11}.union(extents, *(s for _, s, _ in operands))
    for c in sorted(constants):
        text += f"%c{c} = arith.constant {c} : index\n"
    text += "%zero = arith.constant 0 : i64\n%count = memref.alloca() : memref<i64>\n"
    text += "memref.store %zero, %count[] : memref<i64>\n"
    for n, (memref_name, (_, shape, t)) in enumerate(zip(names, operands)):
        text += f"{memref_name} = memref.alloc() : {memref(shape, t)}\n"
        text += fill(memref_name, shape, t, n)
    _, out_shape, out_type = operands[-1]
    text += f"%want = memref.alloc() : {memref(out_shape, out_type)}\n"
    text += fill("%want", out_shape, out_type, len(operands) - 1)

    # The op.
    given, types = [], []
    for memref_name, (_, shape, t) in zip(names, operands):
        types.append(memref(shape, t, dynamic))
        given.append(memref_name + "d" if dynamic else memref_name)
        if dynamic:
            text += f"{given[-1]} = memref.cast {memref_name} : {memref(shape, t)} to {types[-1]}\n"
    maps = ", ".join(f"affine_map<({dims}) -> ({m})>" for m, _, _ in operands)
    args = [f"%x{n}: {t}" for n, (_, _, t) in enumerate(operands[:-1])]
    text += f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} "
    text += f"ins({', '.join(given[:-1])} : {', '.join(types[:-1])}) outs({given[-1]} : {types[-1]}) {{\n"
    text += f"^bb0({', '.join(args)}, %o: {out_type}):\n{body}\nlinalg.yield %r : {out_type}\n}}\n"

    # The loops.
    def nest(ivs):
        inner = ""
        for n, (m, shape, t) in enumerate(operands):
            source = "%want" if n == len(operands) - 1 else names[n]
            value = "%o" if n == len(operands) - 1 else f"%x{n}"
            where = []
            for r, expr in enumerate(e for e in m.split(", ") if e):
                where.append(f"%a{n}_{r}")
                inner += f"{where[-1]} = affine.apply affine_map<({dims}) -> ({expr})>({', '.join(ivs)})\n"
            where = ", ".join(where)
            inner += f"{value} = memref.load {source}[{where}] : {memref(shape, t)}\n"
        inner += body + "\n"
        return inner + f"memref.store %r, %want[{where}] : {memref(out_shape, out_type)}\n"

    text += loops(extents, nest)
    text += count_differences(out_shape, out_type)
    for memref_name, (_, shape, t) in zip(names, operands):
        text += f"memref.dealloc {memref_name} : {memref(shape, t)}\n"
    text += f"memref.dealloc %want : {memref(out_shape, out_type)}\n"
    return text + "%n = memref.load %count[] : memref<i64>\nreturn %n : i64\n}\n\n"


def multiply_add(t, total):
    kind = "f" if is_float(total) else "i"
    if t == total:
        text, x, y = "", "%x0", "%x1"
    else:
        extend = "extf" if is_float(t) else "extsi"
        text = "".join(
            f"%w{n} = arith.{extend} %x{n} : {t} to {total}\n" for n in range(2)
        )
        x, y = "%w0", "%w1"
    text += f"%p = arith.mul{kind} {x}, {y} : {total}\n"
    return text + f"%r = arith.add{kind} %o, %p : {total}"


def matmul(m, n, k, t, total, transposed):
    second = ("d1, d2", [n, k], t) if transposed else ("d2, d1", [k, n], t)
    operands = [("d0, d2", [m, k], t), second, ("d0, d1", [m, n], total)]
    return [m, n, k], "ppr", operands, multiply_add(t, total)


def convolution(n, h, w, f, kh, kw, c, stride, channels_last):
    high, wide = (h - 1) * stride + kh, (w - 1) * stride + kw
    row, column = f"d1 * {stride} + d4", f"d2 * {stride} + d5"
    if channels_last:
        operands = [
            (f"d0, {row}, {column}, d6", [n, high, wide, c], "f32"),
            ("d4, d5, d6, d3", [kh, kw, c, f], "f32"),
            ("d0, d1, d2, d3", [n, h, w, f], "f32"),
        ]
    else:
        operands = [
            (f"d0, d6, {row}, {column}", [n, c, high, wide], "f32"),
            ("d3, d6, d4, d5", [f, c, kh, kw], "f32"),
            ("d0, d3, d1, d2", [n, f, h, w], "f32"),
        ]
    return [n, h, w, f, kh, kw, c], "pppprrr", operands, multiply_add("f32", "f32")


def unary(m, n, source, target, types, body, iterators="pp"):
    shapes = {"": [], "d0": [m], "d1": [n], "d0, d1": [m, n], "d1, d0": [n, m]}
    operands = [(source, shapes[source], types[0]), (target, shapes[target], types[1])]
    return [m, n], iterators, operands, body


cases = []
# Whole blocks, remainders of rows and vectors, sizes of one; few and many uses.
for t, total in [("f32", "f32"), ("f64", "f64"), ("bf16", "f32"), ("f16", "f32"),
                 ("i8", "i32"), ("i32", "i32")]:
    sizes = [(12, 64, 8), (13, 37, 29)]
    if t == "f32":
        sizes += [(3, 5, 7), (1, 35, 18), (35, 1, 18), (4, 0, 3), (4, 16, 0)]
    for m, n, k in sizes:
        cases += [matmul(m, n, k, t, total, transposed) for transposed in (False, True)]
# Large enough, with dynamic sizes, for the tiles of caches.
cases.append(matmul(150, 270, 530, "f32", "f32", False))
cases.append(matmul(133, 300, 40, "bf16", "f32", True))
cases.append(matmul(4, 520, 520, "f32", "f32", False))
for stride, last in itertools.product((1, 2), (False, True)):
    cases.append(convolution(2, 5, 9, 20, 3, 2, 3, stride, last))
ADD = "%r = arith.addf %x0, %o : f32"
MAX = "%r = arith.maxsi %x0, %o : i32"
for m, n in [(16, 64), (7, 21), (1, 40), (33, 1)]:
    # Sums and maxima of rows, of columns, and of everything.
    for target, iterators in [("d0", "pr"), ("d1", "rp"), ("", "rr")]:
        cases.append(unary(m, n, "d0, d1", target, ("f32", "f32"), ADD, iterators))
        cases.append(unary(m, n, "d0, d1", target, ("i32", "i32"), MAX, iterators))
    # Copies: transposed, broadcast, converted, of masks.
    for t in ("f32", "i8", "i1", "bf16"):
        cases.append(unary(m, n, "d1, d0", "d0, d1", (t, t), f"%r = arith.select %true, %x0, %o : {t}"
                           .replace("%r", "%true = arith.constant true\n%r")))
    cases.append(unary(m, n, "d1", "d0, d1", ("f32", "f32"), ADD))
    cases.append(unary(m, n, "d0", "d0, d1", ("f32", "f32"), ADD))
    cases.append(unary(m, n, "d0, d1", "d0, d1", ("f32", "bf16"),
                       "%r = arith.truncf %x0 : f32 to bf16"))
    cases.append(unary(m, n, "d0, d1", "d0, d1", ("i1", "f32"),
                       "%z = arith.constant 9.0 : f32\n%r = arith.select %x0, %z, %o : f32"))
    # Lanes that are off must not divide.
    cases.append(unary(m, n, "d0, d1", "d0, d1", ("i32", "i32"),
                       "%two = arith.constant 2 : i32\n%e = arith.muli %x0, %two : i32\n"
                       "%one = arith.constant 1 : i32\n%odd = arith.addi %e, %one : i32\n"
                       "%r = arith.divsi %o, %odd : i32"))

calls = []
for number, (arguments, dynamic) in enumerate(itertools.product(cases, (False, True))):
    calls.append(f"case{number}")
    print(case(calls[-1], *arguments, dynamic))
print("func.func @main() -> i64 {\n%s0 = arith.constant 0 : i64")
for number, call in enumerate(calls):
    print(f"%n{number} = call @{call}() : () -> i64")
    print(f"%s{number + 1} = arith.addi %s{number}, %n{number} : i64")
print(f"return %s{len(calls)} : i64\n}}")
