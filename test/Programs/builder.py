"""Writes MLIR as exporters of models do: an op with a new result for each step, generics
with broadcast operands, fills of new tensors, dims asked for where they are dynamic.

Dims are numbers or single capital letters; what comes out is a text for suite.py.
"""

from dataclasses import dataclass

LETTERS = "ijklmnop"


@dataclass(frozen=True)
class Value:
    name: str
    dims: tuple
    type: str

    @property
    def mlir(self):
        return f"tensor<{'x'.join([*map(str, self.dims), self.type])}>"


class Body:
    """The ops in a generic: `e.addf(x, y)` is arith.addf, `e.math("exp", x)` math.exp."""

    def __init__(self, builder, type_):
        self.builder, self.type, self.lines = builder, type_, []

    def emit(self, text, type_):
        name = self.builder.fresh()
        self.lines.append(f"    {name} = {text} : {type_}")
        return name

    def __getattr__(self, name):
        return lambda *operands: self.emit(f"arith.{name} {', '.join(operands)}", self.type)

    def math(self, name, *operands):
        return self.emit(f"math.{name} {', '.join(operands)}", self.type)

    def cmp(self, predicate, x, y, kind="f", type_=None):
        return self.emit(f"arith.cmp{kind} {predicate}, {x}, {y}", type_ or self.type)

    def select(self, condition, x, y):
        return self.emit(f"arith.select {condition}, {x}, {y}", self.type)

    def cast(self, name, x, source, target):
        return self.emit(f"arith.{name} {x}", f"{source} to {target}")

    def index(self, dim, type_=None):
        at = self.emit(f"linalg.index {dim}", "index")
        return at if type_ is None else self.cast("index_cast", at, "index", type_)

    def extract(self, value, *indices):
        return self.emit(f"tensor.extract {value.name}[{', '.join(indices)}]", value.mlir)

    def const(self, number, type_=None):
        return self.builder.constant(number, type_ or self.type)


class Builder:
    def __init__(self):
        self.arguments, self.lines, self.constants, self.count = [], [], {}, 0
        self.known, self.extents = set(), []  # letters; the lines that define arguments'

    # -- the frame ---------------------------------------------------------

    def fresh(self):
        self.count += 1
        return f"%{self.count}"

    def arg(self, name, *dims, type="f32"):
        value = Value(f"%{name}", dims, type)
        self.arguments.append(value)
        self.define(value, self.extents)
        return value

    def index_arg(self, name):
        value = f"%{name}"
        self.arguments.append(value)
        return value

    def constant(self, number, type_):
        """A constant at the head of the function."""
        if isinstance(number, float):
            number = "0xFF800000" if number == float("-inf") else f"{number:.16e}"
        key = f"{number} : {type_}"
        return self.constants.setdefault(key, f"%c_{len(self.constants)}")

    def emit(self, text, dims, type_):
        value = Value(self.fresh(), tuple(dims), type_)
        self.lines.append(f"  {value.name} = {text}")
        self.define(value, self.lines)
        return value

    def define(self, value, lines):
        """The extents that a value is the first one to have."""
        for position, dim in enumerate(value.dims):
            if isinstance(dim, str) and dim not in self.known:
                self.known.add(dim)
                at = self.constant(position, "index")
                lines.append(f"  %{dim} = tensor.dim {value.name}, {at} : {value.mlir}")

    def text(self, *results):
        arguments = ", ".join(f"{a.name}: {a.mlir}" if isinstance(a, Value) else f"{a}: index"
                              for a in self.arguments)
        types = ", ".join(r.mlir for r in results)
        head = [f"  {name} = arith.constant {key}" for key, name in self.constants.items()]
        head += self.extents
        names = ", ".join(r.name for r in results)
        return "\n".join([f"func.func @f({arguments}) -> ({types}) {{", *head, *self.lines,
                          f"  return {names} : {types}", "}", ""])

    # -- tensors -----------------------------------------------------------

    def empty(self, dims, type_="f32"):
        sizes = ", ".join(f"#{d}" for d in dims if isinstance(d, str))
        shape = "x".join([*map(str, dims), type_])
        return self.emit(f"tensor.empty({sizes}) : tensor<{shape}>", dims, type_)

    def fill(self, dims, number=0.0, type_="f32"):
        out = self.empty(dims, type_)
        scalar = self.constant(number, type_)
        return self.emit(f"linalg.fill ins({scalar} : {type_}) outs({out.name} : {out.mlir}) "
                         f"-> {out.mlir}", dims, type_)

    def mark(self, x, by=""):
        """pit.sparse; `by` is a source and a background."""
        return self.emit(f"pit.sparse {x.name}{by} : {x.mlir}", x.dims, x.type)

    def mask(self, x, mask):
        return self.mark(x, f" mask({mask.name} : {mask.mlir})")

    def lengths(self, x, lengths):
        return self.mark(x, f" lengths({lengths.name} : {lengths.mlir})")

    def routing(self, x, assigned):
        return self.mark(x, f" routing({assigned.name} : {assigned.mlir})")

    # -- linalg ------------------------------------------------------------

    def generic(self, maps, ins, inits, function, read=False):
        """A linalg.generic. `function` gets a Body and the elements of `ins`, with `read`
        those of `inits` as well, and returns what is yielded."""
        inits = list(inits) if isinstance(inits, (list, tuple)) else [inits]
        body = Body(self, inits[0].type)
        elements = [self.fresh() for _ in (*ins, *inits)]
        yielded = function(body, *elements[: None if read else len(ins)])
        yielded = list(yielded) if isinstance(yielded, (list, tuple)) else [yielded]
        listed = lambda values: (", ".join(v.name for v in values) + " : "
                                 + ", ".join(v.mlir for v in values))
        name = self.fresh()
        types = ", ".join(v.mlir for v in inits)
        result = f"{name}:{len(inits)}" if len(inits) > 1 else name
        header = ", ".join(f"{e}: {v.type}" for e, v in zip(elements, (*ins, *inits)))
        self.lines += [
            f"  {result} = linalg.generic #[{maps}]"
            + (f" ins({listed(ins)})" if ins else "") + f" outs({listed(inits)}) {{",
            f"  ^bb0({header}):", *body.lines,
            f"    linalg.yield {', '.join(yielded)} : {', '.join(v.type for v in inits)}",
            f"  }} -> ({types})" if len(inits) > 1 else f"  }} -> {types}"]
        names = [f"{name}#{i}" for i in range(len(inits))] if len(inits) > 1 else [name]
        results = [Value(n, v.dims, v.type) for n, v in zip(names, inits)]
        return results if len(results) > 1 else results[0]

    def map(self, function, *ins, type_=None):
        """Element by element; dims are aligned from the right, and 1 is repeated."""
        rank = max(len(x.dims) for x in ins)
        dims = [1] * rank
        for x in ins:
            for at, dim in enumerate(x.dims, rank - len(x.dims)):
                dims[at] = dim if dim != 1 else dims[at]
        letters = LETTERS[:rank]
        maps = ["".join("0" if dim == 1 and dims[at] != 1 else letters[at]
                        for at, dim in enumerate(x.dims, rank - len(x.dims))) or "." for x in ins]
        return self.generic(f"{' '.join(maps)} -> {letters or '.'}", ins,
                            self.empty(dims, type_ or ins[0].type), function)

    def add(self, x, y):
        return self.map(lambda e, a, b: e.addf(a, b), x, y)

    def sub(self, x, y):
        return self.map(lambda e, a, b: e.subf(a, b), x, y)

    def mul(self, x, y):
        return self.map(lambda e, a, b: e.mulf(a, b), x, y)

    def scale(self, x, number):
        return self.map(lambda e, a: e.mulf(a, e.const(number)), x)

    def relu(self, x):
        return self.map(lambda e, a: e.select(e.cmp("ugt", a, e.const(0.0)), a, e.const(0.0)), x)

    def sigmoid(self, x):
        return self.map(lambda e, a: e.divf(
            e.const(1.0), e.addf(e.math("exp", e.negf(a)), e.const(1.0))), x)

    def tanh(self, x):
        return self.map(lambda e, a: e.math("tanh", a), x)

    def silu(self, x):
        return self.map(lambda e, a: e.divf(
            a, e.addf(e.math("exp", e.negf(a)), e.const(1.0))), x)

    def gelu(self, x):
        def erf(e, a):
            half = e.mulf(a, e.const(0.5))
            return e.mulf(half, e.addf(
                e.math("erf", e.divf(a, e.const(1.4142135623730951))), e.const(1.0)))
        return self.map(erf, x)

    def reduce(self, x, combiner, start, keep=True, axes=None, term=None):
        """Along the last dim, or the `axes`; kept with extent 1, as torch-mlir does."""
        rank = len(x.dims)
        axes = axes or [rank - 1]
        letters = LETTERS[:rank]
        out = "".join(("0" if keep else "") if at in axes else letters[at] for at in range(rank))
        dims = [1 if at in axes else dim for at, dim in enumerate(x.dims)
                if keep or at not in axes]
        term = term or (lambda e, a: a)
        return self.generic(
            f"{letters} -> {out or '.'}", [x], self.fill(dims, start, x.type),
            lambda e, a, o: getattr(e, combiner)(term(e, a), o), read=True)

    def sum(self, x, **how):
        return self.reduce(x, "addf", 0.0, **how)

    def max(self, x, **how):
        return self.reduce(x, "maximumf", float("-inf"), **how)

    def softmax(self, x):
        shifted = self.sub(x, self.max(x))
        powers = self.map(lambda e, a: e.math("exp", a), shifted)
        return self.map(lambda e, a, b: e.divf(a, b), powers, self.sum(powers))

    def layer_norm(self, x, weight, bias, size, epsilon=1e-5):
        mean = self.map(lambda e, a: e.divf(a, e.const(float(size))), self.sum(x))
        off = self.sub(x, mean)
        variance = self.map(lambda e, a: e.divf(a, e.const(float(size))),
                            self.sum(self.mul(off, off)))
        factor = self.map(lambda e, a: e.math("rsqrt", e.addf(a, e.const(epsilon))), variance)
        return self.add(self.mul(self.mul(off, factor), weight), bias)

    def rms_norm(self, x, weight, size, epsilon=1e-6):
        squares = self.sum(self.map(lambda e, a: e.mulf(a, a), x))
        factor = self.map(lambda e, a: e.math("rsqrt", e.addf(
            e.divf(a, e.const(float(size))), e.const(epsilon))), squares)
        return self.mul(self.mul(x, factor), weight)

    def named(self, op, x, y, dims, attributes="", type_="f32", init=None):
        """A named op on a fill of zeros, or on `init`."""
        zero = 0.0 if type_[0] != "i" else 0
        out = init or self.fill(dims, zero, type_)
        return self.emit(f"linalg.{op} {attributes} ins({x.name}, {y.name} : {x.mlir}, {y.mlir}) "
                         f"outs({out.name} : {out.mlir}) -> {out.mlir}", out.dims, type_)

    def matmul(self, x, w, **how):
        return self.named("matmul", x, w, (x.dims[0], w.dims[1]), **how)

    def batch_matmul(self, x, y, **how):
        return self.named("batch_matmul", x, y, (*x.dims[:2], y.dims[2]), **how)

    def transpose(self, x, order):
        dims = [x.dims[i] for i in order]
        out = self.empty(dims, x.type)
        return self.emit(f"linalg.transpose ins({x.name} : {x.mlir}) outs({out.name} : {out.mlir}) "
                         f"permutation = {list(order)}", dims, x.type)

    def linear(self, x, weight, bias=None):
        """x W^T + b, with the weight as torch has it."""
        product = self.matmul(x, self.transpose(weight, (1, 0)))
        return self.add(product, bias) if bias else product

    def embedding(self, ids, table):
        rank = len(ids.dims)
        letters = LETTERS[: rank + 1]
        out = self.empty((*ids.dims, table.dims[1]), table.type)
        return self.generic(f"{letters[:-1]} -> {letters}", [ids], out, lambda e, k: e.extract(
            table, e.cast("index_cast", k, "i64", "index"), e.index(rank)))

    # -- shapes ------------------------------------------------------------

    def expand(self, x, groups, dims):
        sizes = ", ".join(f"#{d}" if isinstance(d, str) else str(d) for d in dims)
        shape = "x".join([*map(str, dims), x.type])
        return self.emit(f"tensor.expand_shape {x.name} {groups} output_shape [{sizes}] : "
                         f"{x.mlir} into tensor<{shape}>", dims, x.type)

    def collapse(self, x, groups, dims):
        shape = "x".join([*map(str, dims), x.type])
        return self.emit(f"tensor.collapse_shape {x.name} {groups} : {x.mlir} into "
                         f"tensor<{shape}>", dims, x.type)

    def slice(self, x, offsets, sizes, strides=None, dims=None):
        spell = lambda values: ", ".join(f"#{v}" if isinstance(v, str) and v.isupper() else str(v)
                                         for v in values)
        dims = dims or sizes
        shape = "x".join([*map(str, dims), x.type])
        strides = strides or [1] * len(sizes)
        return self.emit(f"tensor.extract_slice {x.name}[{spell(offsets)}] [{spell(sizes)}] "
                         f"[{spell(strides)}] : {x.mlir} to tensor<{shape}>", dims, x.type)

    def insert(self, x, into, offsets, sizes, strides=None):
        spell = lambda values: ", ".join(f"#{v}" if isinstance(v, str) and v.isupper() else str(v)
                                         for v in values)
        strides = strides or [1] * len(sizes)
        return self.emit(f"tensor.insert_slice {x.name} into {into.name}[{spell(offsets)}] "
                         f"[{spell(sizes)}] [{spell(strides)}] : {x.mlir} into {into.mlir}",
                         into.dims, into.type)

    def concat(self, axis, values, dims):
        shape = "x".join([*map(str, dims), values[0].type])
        return self.emit(
            f"tensor.concat dim({axis}) {', '.join(v.name for v in values)} : "
            f"({', '.join(v.mlir for v in values)}) -> tensor<{shape}>", dims, values[0].type)

    def pad(self, x, low, high, dims, number=0.0):
        indices = ", ".join(f"%p{i}: index" for i in range(len(dims)))
        shape = "x".join([*map(str, dims), x.type])
        return self.emit(
            f"tensor.pad {x.name} low{low} high{high} {{\n  ^bb0({indices}):\n"
            f"    tensor.yield {self.constant(number, x.type)} : {x.type}\n  }} : {x.mlir} to "
            f"tensor<{shape}>", dims, x.type)

    # -- loops -------------------------------------------------------------

    def loop(self, count, carried, function):
        """scf.for from 0 to `count`, an index value; `function` gets the step's number and
        the carried values, and returns the next ones."""
        step = self.fresh()
        zero, one = self.constant(0, "index"), self.constant(1, "index")
        inside = [Value(self.fresh(), v.dims, v.type) for v in carried]
        pairs = ", ".join(f"{i.name} = {v.name}" for i, v in zip(inside, carried))
        types = ", ".join(v.mlir for v in carried)
        name = self.fresh()
        result = f"{name}:{len(carried)}" if len(carried) > 1 else name
        self.lines.append(f"  {result} = scf.for {step} = {zero} to {count} step {one} "
                          f"iter_args({pairs}) -> ({types}) {{")
        values = function(step, *inside)
        values = list(values) if isinstance(values, (list, tuple)) else [values]
        self.lines += [f"  scf.yield {', '.join(v.name for v in values)} : {types}", "  }"]
        names = [f"{name}#{i}" for i in range(len(carried))] if len(carried) > 1 else [name]
        results = [Value(n, v.dims, v.type) for n, v in zip(names, carried)]
        return results if len(results) > 1 else results[0]
