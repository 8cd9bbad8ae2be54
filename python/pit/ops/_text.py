"""Writes the MLIR of ops: linalg on tensors, with marks.

A dimension is a number, or a name where its size is known only at run time.
"""

from dataclasses import dataclass

from .._library import Error
from ._activations import ACTIVATIONS, VALUES_AND_SLOPES

SMALL_FLOATS = ("f8E4M3FN", "f8E5M2")  # whose sums are f32
LAYER_FLOATS = ("f64", "f32", "f16", "bf16")  # of which results are, too
FLOATS = (*LAYER_FLOATS, *SMALL_FLOATS)
NANS = {"f64": "0x7FF8000000000000", "f32": "0x7FC00000", "f16": "0x7E00", "bf16": "0x7FC0"}
INTEGERS = ("i8", "i16", "i32", "i64")


@dataclass(frozen=True)
class Value:
    name: str
    dims: tuple
    type: str

    @property
    def mlir(self):
        dims = ["?" if isinstance(d, str) else str(d) for d in self.dims]
        return f"tensor<{'x'.join([*dims, self.type])}>"


@dataclass(frozen=True)
class IndexValue:
    """An argument that is an index (pit.Index)."""

    name: str
    mlir: str
    names: tuple = ()  # of the dims of its tensor
    dims: tuple = ()


class Body:
    """The elements' ops of a linalg.generic. Operands are names; `type` is that of
    the result and, unless said otherwise, of the operands."""

    def __init__(self, builder, type_):
        self.builder, self.lines = builder, []
        self.rounds = wide_type(type_) != type_

    def emit(self, text):
        name = self.builder.fresh()
        self.lines.append(f"    {name} = {text}")
        return name

    def op(self, name, type_, *operands):
        return self.emit(f"{name} {', '.join(operands)} : {type_}")

    def _arith(self, name, type_, *operands):
        return self.op(f"arith.{name}{'f' if type_ in FLOATS else 'i'}", type_, *operands)

    def add(self, type_, a, b):
        return self._arith("add", type_, a, b)

    def mul(self, type_, a, b):
        return self._arith("mul", type_, a, b)

    def divide(self, type_, a, b):
        """a / b; a unit in the last place off of f32 if the result is rounded to a
        narrower type, for which a GPU takes a tenth of the time."""
        return self.emit(f"arith.divf {a}, {b}{self.how(type_)} : {type_}")

    def exp(self, type_, x):
        """exp(x); 8e-6 of it off if the result is rounded to a narrower type than f32,
        for which a GPU takes a third of the time."""
        return self.emit(f"math.exp {x}{self.how(type_)} : {type_}")

    def erf(self, type_, x):
        """erf(x), to which something near 1 is added; 4.5e-7 off if the result is rounded
        to a narrower type than f32, for which a GPU takes half of the time."""
        return self.emit(f"math.erf {x}{self.how(type_)} : {type_}")

    def how(self, type_):
        return " fastmath<afn>" if self.rounds and type_ == "f32" else ""

    def cast(self, value, source, target):
        if source == target:
            return value
        wider = size_of(target) > size_of(source)
        if source in FLOATS and target in FLOATS and size_of(source) != size_of(target):
            name = "extf" if wider else "truncf"
        elif source in FLOATS and target in FLOATS:  # of one size
            return self.cast(self.cast(value, source, "f32"), "f32", target)
        elif source in INTEGERS and target in INTEGERS:
            name = "extsi" if wider else "trunci"
        else:
            name = "sitofp" if target in FLOATS else "fptosi"
        return self.emit(f"arith.{name} {value} : {source} to {target}")

    def constant(self, number, type_):
        return self.builder.constant(number, type_)


def tile(sizes):
    """A micro-tile as MLIR has it; 0 is a whole dimension."""
    return f"[{', '.join('*' if size == 0 else str(size) for size in sizes)}]"


def pairs_at(at, rank):
    """The groups of dims of a reshape that takes dims `at` and the next together."""
    groups = [[d] for d in range(rank) if d != at + 1]
    groups[at].append(at + 1)
    return groups


def size_of(type_):
    return 1 if type_ in SMALL_FLOATS else int(type_.lstrip("bfi")) // 8


def sum_type(type_):
    """The type of a sum of products of elements of a type."""
    return "i32" if type_ in ("i8", "i16") else "f32" if type_ in SMALL_FLOATS else type_


def wide_type(type_):
    """The type in which a sum is taken and what follows it is computed, before it is
    rounded to a type."""
    return "f32" if type_ in ("f16", "bf16", *SMALL_FLOATS) else type_


class Builder:
    """A function `name` of a module: arguments first, then ops, then `text`."""

    def __init__(self, name="f", on_gpu=False):
        self.on_gpu = on_gpu  # for the few ops that have another program there
        self.chip = None  # of the GPU
        self.name = name
        self.arguments, self.lines, self.constants, self.extents = [], [], {}, []
        self.known = set()  # names of dims whose sizes have been asked for
        self.computed = {}  # values that are sizes, by the names of dims
        self.count = 0

    def fresh(self):
        self.count += 1
        return f"%{self.count}"

    def argument(self, name, dims, type_):
        value = Value(f"%{name}", tuple(dims), type_)
        self.arguments.append(value)
        for position, dim in enumerate(value.dims):
            if isinstance(dim, str) and dim not in self.known:
                self.known.add(dim)
                at = self.constant(position, "index")
                self.extents.append(f"  %d_{dim} = tensor.dim {value.name}, {at} : {value.mlir}")
        return value

    def index_argument(self, name, micro_tile, axis, step=None, names=(), dims=()):
        step = "" if step is None else f", step = {list(step)}"
        value = IndexValue(
            f"%{name}", f"!pit.index<micro_tile = {tile(micro_tile)}, axis = {axis}{step}>",
            tuple(names), tuple(dims))
        self.arguments.append(value)
        return value

    def constant(self, number, type_):
        """A constant at the head of the function."""
        if type_ in FLOATS:
            number = NANS[type_] if number != number else {
                float("inf"): "1.0e+999", float("-inf"): "-1.0e+999"}.get(number, f"{float(number):.17e}")
        return self.constants.setdefault(f"{number} : {type_}", f"%c_{len(self.constants)}")

    def size(self, dim):
        """The value that is the size of a dim."""
        if isinstance(dim, int):
            return self.constant(dim, "index")
        return self.computed.get(dim, f"%d_{dim}")

    def emit(self, text, dims, type_):
        value = Value(self.fresh(), tuple(dims), type_)
        self.lines.append(f"  {value.name} = {text}")
        return value

    def text(self, *results):
        arguments = ", ".join(f"{a.name}: {a.mlir}" for a in self.arguments)
        types = ", ".join(r.mlir for r in results)
        head = [f"  {name} = arith.constant {value}" for value, name in self.constants.items()]
        names = ", ".join(r.name for r in results)
        return "\n".join([f"func.func @{self.name}({arguments}) -> ({types}) {{", *head,
                          *self.extents, *self.lines, f"  return {names} : {types}", "}", ""])

    # -- tensors -----------------------------------------------------------

    def empty(self, dims, type_):
        sizes = ", ".join(self.size(d) for d in dims if isinstance(d, str))
        return self.emit(f"tensor.empty({sizes}) : {Value('', tuple(dims), type_).mlir}",
                         dims, type_)

    def fill(self, dims, number, type_):
        return self.fill_over(self.empty(dims, type_), number)

    def fill_over(self, value, number):
        """A tensor of one number, in the place of another."""
        scalar = self.constant(number, value.type)
        return self.emit(f"linalg.fill ins({scalar} : {value.type}) outs({value.name} : "
                         f"{value.mlir}) -> {value.mlir}", value.dims, value.type)

    def zeros(self, dims, type_):
        return self.fill(dims, 0, type_)

    def ones(self, dims, type_):
        return self.fill(dims, 1, type_)

    def index(self, op, a, b):
        """An op of two sizes, each a number or the name of a value."""
        name = self.fresh()
        a, b = (self.constant(x, "index") if isinstance(x, int) else x for x in (a, b))
        self.lines.append(f"  {name} = arith.{op} {a}, {b} : index")
        return name

    def define(self, size):
        """The name of a dim whose size is a value of the program."""
        dim = size.lstrip("%")
        self.known.add(dim)
        self.computed[dim] = size
        return dim

    def window_count(self, dim, padding, window, stride, dilation):
        """How many windows there are along a dim: a dim."""
        if isinstance(dim, int) and isinstance(window, int):
            return (dim + sum(padding) - dilation * (window - 1) - 1) // stride + 1
        room = self.index("addi", self.size(dim), sum(padding))
        reach = self.index("muli", self.index("subi", self.size(window), 1), dilation)
        steps = self.index("divsi", self.index("subi", self.index("subi", room, reach), 1), stride)
        return self.define(self.index("addi", steps, 1))

    def pad(self, value, low, high):
        """Zeros around a tensor."""
        dims = []
        for dim, before, after in zip(value.dims, low, high):
            if isinstance(dim, int) or before + after == 0:
                dims.append(dim + before + after if isinstance(dim, int) else dim)
            else:
                dims.append(self.define(self.index("addi", self.size(dim), before + after)))
        zero = self.constant(0, value.type)
        out = Value(self.fresh(), tuple(dims), value.type)
        names = ", ".join(f"%i{i}: index" for i in range(len(dims)))
        self.lines += [
            f"  {out.name} = tensor.pad {value.name} low[{', '.join(map(str, low))}] "
            f"high[{', '.join(map(str, high))}] {{", f"  ^bb0({names}):",
            f"    tensor.yield {zero} : {value.type}", f"  }} : {value.mlir} to {out.mlir}"]
        return out

    def divide(self, size, by):
        """The size of a part of a dim: a dim."""
        return (size // by if isinstance(size, int) else
                self.define(self.index("divsi", self.size(size), by)))

    def expand(self, value, at, first, second):
        """A tensor whose dim `at` is two."""
        dims = (*value.dims[:at], first, second, *value.dims[at + 1:])
        sizes = ", ".join(str(d) if isinstance(d, int) else self.size(d) for d in dims)
        made = Value("", dims, value.type)
        return self.emit(
            f"tensor.expand_shape {value.name} {pairs_at(at, len(dims))} output_shape [{sizes}] : "
            f"{value.mlir} into {made.mlir}", dims, value.type)

    def split(self, value, at, parts):
        """A tensor whose dim `at` is two: `parts`, and what one has."""
        return self.expand(value, at, parts, self.divide(value.dims[at], parts))

    def blocks(self, value, at, size):
        """A tensor whose dim `at` is two: blocks, and the `size` elements of one."""
        return self.expand(value, at, self.divide(value.dims[at], size), size)

    def piece(self, value, offsets, sizes, drop=(), steps=None):
        """A part of a tensor, without the dims that `drop` numbers, of which it has one element."""
        made = Value("", tuple(d for i, d in enumerate(sizes) if i not in drop), value.type)
        return self.emit(f"tensor.extract_slice {value.name}{self.place(offsets, sizes, steps)} : "
                         f"{value.mlir} to {made.mlir}", made.dims, value.type)

    def put(self, part, value, offsets, sizes, steps=None):
        """A tensor with a part of it replaced."""
        return self.emit(f"tensor.insert_slice {part.name} into {value.name}"
                         f"{self.place(offsets, sizes, steps)} : {part.mlir} into {value.mlir}",
                         value.dims, value.type)

    def place(self, offsets, sizes, steps=None):
        sizes = [d if isinstance(d, int) else self.size(d) for d in sizes]
        return (f"[{', '.join(map(str, offsets))}] [{', '.join(map(str, sizes))}] "
                f"[{', '.join(map(str, steps or [1] * len(sizes)))}]")

    def part(self, value, at, size, which):
        """One of the parts of a tensor, `size` long, that follow one another along dim `at`."""
        sizes = (*value.dims[:at], size, *value.dims[at + 1:])
        return self.piece(value, self.offsets_of(sizes, at, which), sizes)

    def insert(self, part, value, at, which):
        """A tensor whose part (as `part` gives it) is another one."""
        return self.put(part, value, self.offsets_of(part.dims, at, which), part.dims)

    def offsets_of(self, sizes, at, which):
        size = sizes[at]
        offset = (which * size if isinstance(size, int) else
                  self.index("muli", self.size(size), which) if which else 0)
        return [offset if i == at else 0 for i in range(len(sizes))]

    def squeeze(self, value, ones):
        """A tensor without the dims that `ones` names, which are 1."""
        here = [i for i, one in enumerate(ones) if not one]
        if len(here) == len(value.dims):
            return value
        ends = [*here[1:], len(value.dims)]
        groups = [list(range(0 if k == 0 else i, end)) for k, (i, end) in enumerate(zip(here, ends))]
        made = Value("", tuple(value.dims[i] for i in here), value.type)
        return self.emit(f"tensor.collapse_shape {value.name} {groups} : {value.mlir} into "
                         f"{made.mlir}", made.dims, value.type)

    def merge(self, value, at, whole):
        """A tensor whose dims `at` and the next are one, `whole`."""
        dims = (*value.dims[:at], whole, *value.dims[at + 2:])
        made = Value("", dims, value.type)
        return self.emit(
            f"tensor.collapse_shape {value.name} {pairs_at(at, len(value.dims))} : {value.mlir} "
            f"into {made.mlir}", dims, value.type)

    def broadcast(self, value, names, all_names, dims):
        """A tensor with named dims, and dims of size 1 that have no name, repeated along
        what it lacks of `all_names`, whose order it has."""
        value = self.squeeze(value, [name == 1 for name in names])
        lacks = [i for i, name in enumerate(all_names) if name not in names]
        if not lacks:
            return value
        out = self.empty(dims, value.type)
        name = self.fresh()
        self.lines.append(
            f"  {name} = linalg.broadcast ins({value.name} : {value.mlir}) "
            f"outs({out.name} : {out.mlir}) dimensions = {lacks}")
        return Value(name, out.dims, out.type)

    def transpose(self, value, order):
        out = self.empty([value.dims[i] for i in order], value.type)
        name = self.fresh()
        self.lines.append(
            f"  {name} = linalg.transpose ins({value.name} : {value.mlir}) "
            f"outs({out.name} : {out.mlir}) permutation = {list(order)}")
        return Value(name, out.dims, value.type)

    def generic(self, maps, loops, ins, outs, function, exact_as=None):
        """A linalg.generic over the loops named in `loops`, the parallel ones first:
        those of the results, whose inits `outs` lists; or is, where there is one. Each of
        `maps` lists the loops of an operand or of a result. `function` gets a Body, the
        elements of `ins` and those of `outs`; it returns the new ones, or the new one. Its
        functions are as exact as `exact_as` is, which is the first result's type unless said
        otherwise."""
        single = isinstance(outs, Value)
        inits = [outs] if single else outs
        body = Body(self, exact_as or inits[0].type)
        elements = [self.fresh() for _ in (*ins, *inits)]
        results = function(body, *elements)
        results = [results] if single else results
        names = {loop: f"d{i}" for i, loop in enumerate(loops)}
        left = ", ".join(names.values())
        listed = ", ".join(f"affine_map<({left}) -> ({', '.join(names[x] for x in each)})>"
                           for each in maps)
        kinds = ", ".join('"parallel"' if loop in maps[-1] else '"reduction"' for loop in loops)
        header = ", ".join(f"{e}: {v.type}" for e, v in zip(elements, (*ins, *inits)))
        inputs = (f"ins({', '.join(v.name for v in ins)} : {', '.join(v.mlir for v in ins)}) "
                  if ins else "")
        types = ", ".join(v.mlir for v in inits)
        name = self.fresh()
        self.lines += [
            f"  {name}{'' if single else f':{len(inits)}'} = linalg.generic "
            f"{{indexing_maps = [{listed}], iterator_types = [{kinds}]}}",
            f"      {inputs}outs({', '.join(v.name for v in inits)} : {types}) {{",
            f"  ^bb0({header}):", *body.lines,
            f"    linalg.yield {', '.join(results)} : {', '.join(v.type for v in inits)}",
            f"  }} -> {types if single else f'({types})'}"]
        if single:
            return Value(name, outs.dims, outs.type)
        return [Value(f"{name}#{i}", v.dims, v.type) for i, v in enumerate(inits)]

    def product(self, operands, maps, out_dims, out_map, type_):
        """The sum over all loops that are not the result's of the product of the operands."""
        loops = list(out_map)
        for each in maps:
            loops += [loop for loop in each if loop not in loops]
        types = [v.type for v in operands]

        def function(body, *elements):
            *factors, total = elements
            product = None
            for factor, factor_type in zip(factors, types):
                factor = body.cast(factor, factor_type, type_)
                product = factor if product is None else body.mul(type_, product, factor)
            return body.add(type_, total, product)

        return self.generic([*maps, out_map], loops, operands, self.zeros(out_dims, type_),
                            function)

    def elementwise(self, ins, function, type_=None, maps=None):
        """`function(body, *elements)` of each element; maps list loops by number, by
        default those of the first operand."""
        first = ins[0]
        loops = list(range(len(first.dims)))
        maps = [*(maps or [loops] * len(ins)), loops]
        out = self.empty(first.dims, type_ or first.type)
        return self.generic(maps, loops, ins, out, lambda body, *e: function(body, *e[:-1]))

    # -- marks and packed values -------------------------------------------

    def index_of_routing(self, experts, tokens, count):
        """The index of a (tokens, count) table of which a routing selects."""
        return IndexValue(*self.lone(
            f"pit.index routing {experts.name} shape({self.size(tokens)}, {self.size(count)}) : "
            f"{experts.mlir} ->", f"!pit.index<micro_tile = {tile((1, 1))}, axis = 0>"))

    def index_of_rows(self, lengths, batch, positions):
        """The index of the rows of a padded batch, (batch * positions), that are there."""
        return IndexValue(*self.lone(
            f"pit.index lengths {lengths.name} shape({batch}, {positions}) : {lengths.mlir} ->",
            f"!pit.index<micro_tile = {tile((1,))}, axis = 0>"))

    def lone(self, text, type_):
        """A value of a type that is no tensor's."""
        name = self.fresh()
        self.lines.append(f"  {name} = {text} {type_}")
        return name, type_

    def select(self, value, index):
        """pit.sparse by an index of the program."""
        return self.emit(f"pit.sparse {value.name} index({index.name} : {index.mlir}) : {value.mlir}",
                         value.dims, value.type)

    def pack_rows(self, value, index, rows, dims=2):
        """The rows of a value that an index lists, in its order: (rows, ...), where the index has
        so many dims."""
        made = Value("", (rows, *value.dims[dims:]), value.type)
        return self.emit(f"pit.sread {value.name}[{index.name} : {index.mlir}] : {value.mlir} -> "
                         f"{made.mlir}", made.dims, made.type)

    def unpack_rows(self, packed, index, dims):
        """The value of which `packed` has the rows; 0 elsewhere."""
        zeros = self.zeros(dims, packed.type)
        return self.emit(f"pit.swrite {packed.name} into {zeros.name}[{index.name} : {index.mlir}] : "
                         f"{packed.mlir} into {zeros.mlir}", dims, packed.type)


    def mark(self, value, mark, selector=None):
        """pit.sparse; `mark` is a Mark."""
        text = f"pit.sparse {value.name}"
        if mark.source != "values":
            name = {"nonzero": "mask"}.get(mark.source, mark.source)
            text += f" {name}({selector.name} : {selector.mlir})"
        if mark.assume:
            text += " assume"
        if mark.micro_tile is not None or mark.axis is not None or mark.tile is not None:
            fields = []
            if mark.tile is not None:
                fields.append(f"tile = {list(mark.tile)}")
            if mark.axis is not None:
                fields.append(f"axis = {mark.axis}")
            if mark.micro_tile is not None:
                fields.append(f"micro_tile = {tile(mark.micro_tile)}")
            text += f" rule(#pit.rule<{', '.join(fields)}>)"
        if mark.live_fraction is not None:
            text += f" live_fraction({mark.live_fraction:e})"
        text += f' label("{mark.label}")'
        return self.emit(f"{text} : {value.mlir}", value.dims, value.type)

    def unpack(self, value, index, dims):
        """The tensor that an index has packed into a vector; zero elsewhere."""
        extent, size = self.fresh(), self.fresh()
        self.lines += [f"  {extent} = pit.extent {index.name} : {index.mlir}",
                       f"  {size} = tensor.dim {value.name}, {self.constant(0, 'index')} : {value.mlir}"]
        self.expect_same(extent, size, "the packed values are as many as the index has positions")
        zeros = self.zeros(dims, value.type)
        return self.emit(
            f"pit.swrite {value.name} into {zeros.name}[{index.name} : {index.mlir}] dims "
            f"{list(range(len(dims)))} : {value.mlir} into {zeros.mlir}", dims, value.type)

    def pack(self, value, index):
        """The vector of what an index lists of a tensor."""
        made = Value("", ("?",), value.type)
        return self.emit(
            f"pit.sread {value.name}[{index.name} : {index.mlir}] dims "
            f"{list(range(len(value.dims)))} : {value.mlir} -> {made.mlir}", made.dims, value.type)

    def expect_same(self, a, b, message):
        """Checks two sizes when the program is called."""
        same = self.fresh()
        self.lines += [f"  {same} = arith.cmpi eq, {a}, {b} : index",
                       f'  cf.assert {same}, "{self.name}: {message}"']

    # -- functions of elements ---------------------------------------------

    def epilogue(self, value, bias, activation, type_, channel=-1):
        """activation(value + bias) in the value's type, then rounded to `type_`: one op.
        The bias, which may be None, is a vector along the dim `channel`."""
        rank = len(value.dims)

        def function(body, x, *biases):
            if biases:
                x = body.add(value.type, x, body.cast(biases[0], bias.type, value.type))
            if activation is not None:
                if activation != "relu" and value.type not in FLOATS:
                    raise Error(f"activation='{activation}' takes floats, and sums of integers are "
                                f"{value.type}; 'relu' takes both")
                x = ACTIVATIONS[activation](body, value.type, x)
            return body.cast(x, value.type, type_)

        if bias is None:
            if activation is None and value.type == type_:
                return value
            return self.elementwise([value], function, type_)
        return self.elementwise([value, bias], function, type_,
                                [list(range(rank)), [channel % rank]])

    def activation_gradient(self, value, bias, factor, activation, type_):
        """factor * activation'(value + bias), as `epilogue` is; the bias may be None."""
        loops = list(range(len(value.dims)))
        ins, maps = [value], [loops]
        if bias is not None:
            ins, maps = [value, bias], [loops, [loops[-1]]]

        def function(body, x, *others):
            if bias is not None:
                x = body.add(value.type, x, body.cast(others[0], bias.type, value.type))
            _, slope = VALUES_AND_SLOPES[activation](body, value.type, x)
            by = body.cast(others[-1], factor.type, value.type)
            return body.cast(body.mul(value.type, slope, by), value.type, type_)

        return self.elementwise([*ins, factor], function, type_, [*maps, loops])
