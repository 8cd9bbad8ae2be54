"""Sums of products: einsum, matmul, linear, masked_matmul."""

import numbers
from dataclasses import dataclass, replace

from .._library import Error
from ._equation import (
    OF_LAYERS, form_of_mask, has_diagonals, parse, read_sparse, take_diagonals, write_out)
from ._many_dims import has_many_dims, merge
from ._op import (
    MAX_OPERANDS, SELECTOR_TYPES, Argument, IndexArgument, Mark, Op, Shortcut, kind, make, run)
from ._operand import constant_in_graphs, is_traced, makes_op
from ._text import FLOATS, INTEGERS, SMALL_FLOATS, IndexValue, sum_type, wide_type

NUMBERS = (*FLOATS, *INTEGERS)
BROADCAST = "; a mask has the shape of what it selects from, or one that broadcasts to that"
NO_LENGTHS = "; a mask is passed as mask="
PACKED = "packed"  # the dim of an operand or a result that an index has packed
# For padded batches. Lengths count rows from the first one, so other masks have none.
NO_ROW_LENGTHS = ("; lengths are numbers of rows: a mask of rows that ends in the padding has "
                  "mask.sum(-1), any other mask is passed to pit.linear(sparse=\"out\", mask=)")


def selector_argument(name, dims, mark, given=None):
    """The argument that says what of a tensor of named dims is selected; `given` are the
    dims that lengths, or a mask that broadcasts, have of these."""
    if mark.source == "index":
        return IndexArgument("index", dims, packed=PACKED if mark.packed else "")
    if mark.source == "routing":
        if len(dims) != 2:
            raise Error(f"{name}: routing= is about an operand of tokens x experts; "
                        f"{mark.label} has dims ({', '.join(dims)})")
        dims = (dims[0], "top")
    elif given is not None:
        dims = given
    remedy = ""
    if mark.source == "lengths":
        remedy = NO_ROW_LENGTHS if name == "padded_linear" else NO_LENGTHS
    return Argument(mark.source, dims, SELECTOR_TYPES[mark.source], alike=False,
                    advice=BROADCAST if mark.source == "mask" else "", remedy=remedy)


def selector_dims(name, dims, source, form):
    """The dims of lengths, or of a mask that broadcasts to a tensor of named dims: names, and 1 where
    a mask is repeated. `form` is the rank of lengths, or what form_of_mask returns."""
    if form is None:
        return None
    if source == "mask":
        first = len(dims) - len(form)
        return tuple(dims[first + i] if has else 1 for i, has in enumerate(form))
    if not 0 < form < len(dims):
        raise Error(f"{name}: lengths has {form} dimensions; it has those of the tensor up to the "
                    f"one that it counts, at least one and at most {len(dims) - 1} of "
                    f"({', '.join(dims)}){NO_LENGTHS}")
    return tuple(dims[:form])


@constant_in_graphs
def masked_equation(name, equation, count, sparse):
    """The equation with what a mask is about in the place of the result; "": there is no
    such thing, as make_marks will say."""
    inputs, output = parse(equation, count)
    operands = read_sparse(name, sparse, count)
    if len(operands) != 1:
        return ""
    return f"{','.join(inputs)}->{output if operands[0] < 0 else inputs[operands[0]]}"


def form_of(source, selector, equation, operands):
    """The form of a selector, for selector_dims; `equation` is a masked_equation."""
    if source == "lengths":
        return len(selector.shape)
    if source != "mask" or not equation or not hasattr(selector, "shape"):
        return None
    left, _, letters = equation.partition("->")
    sizes = {}
    for each, array in zip(left.split(","), operands):
        sizes.update(zip(each, getattr(array, "shape", ())))
    if not all([x in sizes for x in letters]):
        return None  # of another rank, as the op will say
    return form_of_mask(selector, [sizes[x] for x in letters])


def tiled(mark, loops):
    """A mark whose tile, if it has one, has the order of an op's loops."""
    if mark.tile is None:
        return mark
    sizes = dict(mark.tile)
    return replace(mark, tile=tuple(sizes[x] for x in loops))


@kind
@dataclass(frozen=True)
class Einsum(Op):
    """out[...] = activation(bias + the sum over all other dims of the product of the
    operands). Dims are letters. With a bias, a vector along the last dim of the
    result, it is the last argument but for the selector."""

    name: str
    inputs: tuple  # of letters: "mk", "kn"
    output: str
    marks: tuple = ()
    dtype: str | None = None  # of the result
    selector_dims: tuple | None = None  # of lengths, or a mask that broadcasts: letters and 1
    bias: bool = False
    activation: str | None = None
    dynamic_names: object = None  # None: those of the result's that the last input lacks
    ones: tuple = ()  # numbers of inputs that are one everywhere: only their sizes are read

    def operands(self):
        """The names that callers have for the operands."""
        if self.name in ("linear", "padded_linear"):
            return tuple(OF_LAYERS)
        return tuple(chr(ord("a") + i) for i in range(len(self.inputs)))

    def arguments(self):
        found = [Argument(name, dims, NUMBERS, permutable=self.permutable(i))
                 for i, (name, dims) in enumerate(zip(self.operands(), self.dims_of_inputs()))]
        if self.bias:
            found.append(Argument("bias", (self.output[-1],), NUMBERS, widens=True))
        for mark in self.marks:
            if mark.source != "values":
                dims = tuple(self.output if mark.operand < 0 else self.inputs[mark.operand])
                found.append(selector_argument(self.name, dims, mark, self.selector_dims))
        return found

    def dims_of_inputs(self):
        """The dims of the operands as they are passed."""
        packed = [mark.operand for mark in self.marks if mark.packed]
        return [(PACKED,) if i in packed else tuple(each) for i, each in enumerate(self.inputs)]

    def has_packed_result(self):
        return any(mark.packed and mark.operand < 0 for mark in self.marks)

    def fixed(self):
        passed = set().union(*self.dims_of_inputs())
        return tuple(sorted({*self.output, *"".join(self.inputs)} - passed))

    def varying(self):
        # How many values an index lists is no reason for another program.
        return (PACKED,) if any(mark.packed for mark in self.marks) else ()

    def permutable(self, i):
        """Whether nothing but the equation is about the order of an operand's dims: no selector,
        no hint, and no rows that lengths of the result count."""
        return not any(
            mark.operand == i and (mark.source != "values" or mark.micro_tile
                                   or mark.axis is not None)
            or mark.operand < 0 and self.has_counted_rows(i, mark) for mark in self.marks)

    def has_counted_rows(self, i, mark):
        rows = self.output[: len(self.selector_dims or ()) + 1]
        return mark.source == "lengths" and self.inputs[i].startswith(rows)

    def dynamic(self):
        if self.dynamic_names is not None:
            return self.dynamic_names
        first, last = self.inputs[0], self.inputs[-1]
        return "".join(x for x in self.output if x in first or x not in last)

    def rows(self):
        return self.dynamic() if self.dynamic_names is None else ()

    def result_type(self, types):
        return self.dtype or sum_type(types[0])

    def results(self, types, sizes):
        dims = (PACKED,) if self.has_packed_result() else self.output
        return [(self.result_type(types), tuple(sizes[x] for x in dims))]

    def build(self, builder, values, orders):
        count = len(self.inputs)
        operands, selector = list(values[:count]), values[-1]
        for i in self.ones:
            # The compiler drops a factor that it knows; what has three makes no mainloop.
            operands[i] = builder.ones(operands[i].dims, operands[i].type)
        maps = [[letters[i] for i in order] if order else list(letters)
                for letters, order in zip(self.inputs, orders)]
        loops = list(dict.fromkeys(x for each in (self.output, *maps) for x in each))
        sizes = dict(zip(selector.names, selector.dims)) if isinstance(selector, IndexValue) else {}
        sizes |= {x: d for each, names, v in zip(maps, self.dims_of_inputs(), operands)
                  for x, d in zip(each, v.dims) if names != (PACKED,)}
        for mark in self.marks:
            mark = tiled(mark, loops)
            if mark.packed and mark.operand >= 0:
                letters = self.inputs[mark.operand]
                operands[mark.operand] = builder.unpack(
                    operands[mark.operand], selector, [sizes[x] for x in letters])
            if mark.source == "mask" and self.selector_dims is not None:
                letters = self.output if mark.operand < 0 else self.inputs[mark.operand]
                selector = builder.broadcast(selector, self.selector_dims, letters,
                                             [sizes[x] for x in letters])
            if mark.operand >= 0:
                operands[mark.operand] = builder.mark(operands[mark.operand], mark, selector)
            elif mark.source == "lengths":
                # Rows that are not wanted are not read, either.
                for i in range(count):
                    if self.has_counted_rows(i, mark):
                        operands[i] = builder.mark(operands[i], mark, selector)
        types = [v.type for v in operands]
        result_type = self.result_type(types)
        floats = result_type in FLOATS and types[0] in FLOATS
        # The ops after the sum are computed in f32, and rounded once. The rounding of padded rows
        # is an op of its own in any case: then the product has the rule of its operand, whose tiles
        # are larger than those of a result.
        after = (self.bias or self.activation is not None or types[0] in SMALL_FLOATS
                 or any(m.operand < 0 and m.source == "lengths" for m in self.marks))
        type_ = wide_type(result_type) if after else result_type
        if not floats and type_ in FLOATS:
            type_ = sum_type(types[0])  # integers are added as such
        value = builder.product(operands, maps, [sizes[x] for x in self.output],
                                list(self.output), type_)
        value = self.finish(builder, value, values[count:], result_type)
        for mark in self.marks:
            if mark.operand < 0:
                value = builder.mark(value, tiled(mark, loops), selector)
                if mark.packed:
                    value = builder.pack(value, selector)
        return [value]

    def finish(self, builder, value, values, result_type):
        """The steps after the sum; `values` follow the operands."""
        return builder.epilogue(value, values[0] if self.bias else None, self.activation,
                                result_type)


@kind
@dataclass(frozen=True)
class ActivationGradient(Einsum):
    """out[...] = factor[...] * activation'(bias + the sum of products): the gradient of what
    the activation of such an Einsum is applied to, from that of its result. The factor is the
    argument after the bias."""

    differentiable = False

    def arguments(self):
        found = super().arguments()
        found.insert(len(self.inputs) + self.bias,
                     Argument("factor", tuple(self.output), NUMBERS, alike=False))
        return found

    def finish(self, builder, value, values, result_type):
        return builder.activation_gradient(value, values[0] if self.bias else None,
                                           values[self.bias], self.activation, result_type)


# --------------------------------------------------------------------------
# Arguments of calls
# --------------------------------------------------------------------------


@constant_in_graphs
def read_type(name, dtype):
    """MLIR's name of a result's type, from that or a framework's."""
    if dtype is None:
        return None
    text = getattr(dtype, "__name__", None) or str(dtype).rpartition(".")[2]
    from .._types import TYPES
    for type_ in TYPES:
        if text in (type_.name, type_.array) and type_.name in NUMBERS:
            return type_.name
    raise Error(f"{name}: no result of {dtype!r}; there are: {', '.join(NUMBERS)}")


# The facts about zeros that a caller may state: assume, micro_tile, axis, live_fraction. None of it is
# needed. It is a plain tuple, which torch.compile can build.
NOTHING, ASSUME = (False, None, None, None), (True, None, None, None)


def make_marks(name, sparse, count, source, hints, packed=False, sparse_grad=False):
    operands = read_sparse(name, sparse, count)
    if sparse_grad not in (False, True, "relu"):
        raise Error(f'{name}: sparse_grad={sparse_grad!r}; it is False, True or "relu"')
    if sparse_grad and (source != "values" or not operands):
        raise Error(f"{name}: sparse_grad= is about operands that are sparse by their own zeros; "
                    + ("sparse= names none" if source == "values" else f"with {source}=, the "
                       "gradient of an operand is 0 where it is not selected anyway"))
    if source != "values" and len(operands) != 1:
        raise Error(f"{name}: {source}= is about one operand, or the result; sparse= has to name "
                    f"it, and is {sparse!r}")
    if source == "values" and -1 in operands:
        raise Error(f'{name}: sparse="out" needs mask=, lengths=, routing= or index= to say which '
                    "elements of the result are wanted")
    if hints != NOTHING and len(operands) != 1:
        raise Error(f"{name}: hints about zeros (assume, micro_tile, axis, live_fraction) are about one "
                    f"operand; sparse is {sparse!r}")
    if not packed:
        return tuple(Mark(operand, source, *hints, sparse_grad=sparse_grad)
                     for operand in operands)
    if source != "index":
        raise Error(f"{name}: packed=True needs index=, which says where the packed values are")
    assume, micro_tile, axis, live_fraction = hints
    if micro_tile is not None or axis is not None:
        raise Error(f"{name}: packed values have the micro-tile and the axis of their index; "
                    "micro_tile= and axis= are for others")
    # Elements that are not packed are zero.
    return tuple(Mark(operand, source, operand >= 0, live_fraction=live_fraction, packed=True)
                 for operand in operands)


def pick_selector(name, mask, lengths, routing, index):
    """(source, selector) of the one that is given."""
    given = [(source, value) for source, value in (
        ("mask", mask), ("lengths", lengths), ("routing", routing), ("index", index))
        if value is not None]
    if len(given) > 1:
        raise Error(f"{name}: {' and '.join(f'{s}=' for s, _ in given)} are given; one at a time "
                    "says what is selected")
    return given[0] if given else ("values", None)


def make_einsum(name, equation, count, sparse, source, form, hints, dtype, dynamic, packed=False,
                tile=None, sparse_grad=False, ones=()):
    """`tile` is one for each loop of the op, pairs of a letter and a size: what a layer knows of
    its index, and a compiler does not. `ones` are the numbers of operands that are one everywhere."""
    inputs, output = parse(equation, count)
    check_dynamic(name, dynamic, set().union(*inputs))
    marks = make_marks(name, sparse, count, source, hints, packed, sparse_grad)
    if tile is not None:
        marks = tuple(replace(mark, tile=tile) for mark in marks)
    dims = None
    for mark in marks:
        marked = output if mark.operand < 0 else inputs[mark.operand]
        check_hints(name, mark, len(marked))
        dims = selector_dims(name, marked, source, form)
    return make(Einsum, name, inputs, output, marks, dtype, dims, dynamic_names=dynamic, ones=ones)


einsum_op = makes_op(make_einsum)


@makes_op
def expert_product_op(equation):
    """The op of a product of rows with the weights of the expert that a routing names. Its
    operands are ones (rows, experts), the rows, the weights, and the routing."""
    return make_einsum("moe", equation, 3, "a", "routing", None, NOTHING, None, None, ones=(0,))


def check_dynamic(name, dynamic, letters):
    """dynamic= names dims by their letters, or all of them, or none."""
    if dynamic is None or isinstance(dynamic, bool):
        return
    if not isinstance(dynamic, str):
        raise Error(f"{name}: dynamic={dynamic!r}; it is a string of letters of dims, True, False "
                    "or None")
    for x in dynamic:
        if x not in letters:
            raise Error(f"{name}: dynamic={dynamic!r}: no dim is called '{x}'; there are "
                        f"{', '.join(sorted(letters))}")


def check_hints(name, mark, rank):
    """A micro-tile, an axis and a live_fraction that pit.sparse takes."""
    if mark.micro_tile is not None and len(mark.micro_tile) != rank:
        raise Error(f"{name}: micro_tile={mark.micro_tile} has {len(mark.micro_tile)} sizes; "
                    f"operand {mark.label} has rank {rank}")
    if mark.micro_tile is not None and not all(
            isinstance(size, numbers.Integral) and size >= 0 for size in mark.micro_tile):
        raise Error(f"{name}: micro_tile={mark.micro_tile}; sizes are at least 1, or 0 for a whole dim")
    if mark.axis is not None and not 0 <= mark.axis < rank:
        raise Error(f"{name}: axis={mark.axis}; operand {mark.label} has axes 0 to {rank - 1}")
    if mark.live_fraction is not None and not (
            isinstance(mark.live_fraction, numbers.Real) and 0 <= mark.live_fraction <= 1):
        raise Error(f"{name}: live_fraction={mark.live_fraction!r}; it is the part that is not zero, in [0, 1]")


def read_hints(assume, micro_tile, axis, live_fraction):
    if micro_tile is None and axis is None and live_fraction is None:
        return ASSUME if assume else NOTHING
    return assume, None if micro_tile is None else tuple(micro_tile), axis, live_fraction


SHORTCUTS = [Shortcut(count + 4) for count in range(MAX_OPERANDS - 3)]  # by operands

def einsum(equation, *operands, sparse=None, mask=None, lengths=None, routing=None, index=None,
           assume=False, micro_tile=None, axis=None, live_fraction=None, dtype=None, dynamic=None,
           packed=False, sparse_grad=False, out=None):
    """The sum of products that an equation says, skipping what is zero.

        y = pit.einsum("mk,kn->mn", x, w, sparse="a")       # x has zeros, anywhere
        s = pit.einsum("bmd,bnd->bmn", q, k, sparse="out", mask=allowed)
        y = pit.einsum("te,tk,ekn->tn", gates, x, w, sparse="a", routing=experts)

    equation  Dims of operands and result by letters, as numpy.einsum has it. A
              letter that stands twice in an operand is its diagonal, which is
              copied; nothing can be selected of such an operand. "..." stands for
              dims of equal sizes. Without "->" the result has these, and then the
              letters that stand once, in alphabetical order.
    operands  Arrays of numpy, torch, CuPy or JAX on one device, of one element
              type: f64, f32, f16, bf16, float8_e4m3fn, float8_e5m2, i8, i16,
              i32, i64. They are not copied if
              their elements lie without gaps, in whichever order of dims; others
              are.
    sparse    Which operand has zeros to skip: "a", "b", ... or its number, or a
              tuple of these; "out": not all of the result is wanted. None: dense.
    mask, lengths, routing, index
              The selector of the elements of that operand that are there; the others count
              as zero. mask: bool or int8 of the operand's shape, or of one that
              broadcasts to it as numpy's do, as (batch, 1, 1, keys). lengths: i32 or
              i64 of the shape of its first dims: so many elements of the next dim
              are there. routing: i32 or i64 (tokens, top) for an operand (tokens,
              experts): the experts of each token, -1 for none. index: a pit.Index
              of the operand. Without any, the values themselves: what is not 0.
              Of "out", elements that are not selected are exactly 0.
    assume    The operand is 0 already where it is not selected.
    micro_tile, axis, live_fraction
              Hints that a caller may give: the shape that is skipped at once (0: a
              whole dim), along which dim, and which part is not zero.
              pit chooses them by the data otherwise.
    packed    With index=: that operand is passed as a vector of what the index lists,
              one value for each of its positions, and nothing else of it is stored;
              of "out", the result is such a vector. The index has micro-tiles of
              single elements; sizes that no other operand has are its own.
    sparse_grad
              Without a selector: the gradient of a sparse operand is not wanted
              where that is zero, as behind a ReLU, whose own gradient drops it
              there. It is 0 in these places, or what it would be. "relu": the
              same, but torch.autograd.grad of the operand itself, and hooks and
              retain_grad() of it, see the whole gradient.
    dtype     Of the result; by default the operands', i32 for i8 and i16, f32 for
              floats of 8 bits. Sums of these, of f16 and of bf16 are taken in f32.
    dynamic   Letters of dims whose sizes change from call to call: a string. True:
              all, False: none. By default those of the result which the last
              operand lacks, where they make more than 32 rows or four numbers of
              so few have been seen; and any other after four sizes.
    out       An array for the result.

    The first call of its kind compiles (about a second); programs are kept in
    memory and on disk. Raises pit.Error if shapes or types do not fit.
    """
    given = (out, *operands, mask, lengths, routing, index, equation, sparse, assume, micro_tile,
             axis, live_fraction, dtype, dynamic, packed, sparse_grad)
    shortcut = None
    if len(operands) < len(SHORTCUTS) and not is_traced():
        shortcut = SHORTCUTS[len(operands)]
        found = shortcut.run(given)
        if found is not NotImplemented:
            return found
    if type(sparse) is list:
        sparse = tuple(sparse)
    if isinstance(equation, str) and "..." in equation:
        equation = write_out(equation, tuple([len(getattr(x, "shape", ())) for x in operands]))
    merged = None
    if mask is None and lengths is None and routing is None and index is None:
        if micro_tile is None and axis is None and has_diagonals(equation):
            equation, operands = take_diagonals(equation, operands)
            shortcut = None  # which sees the whole operands
        source, selector = "values", None
    else:
        source, selector = pick_selector("einsum", mask, lengths, routing, index)
    if not packed and has_many_dims(equation, operands, selector):
        merged = merge(equation, operands, sparse, source, selector,
                       micro_tile is not None or axis is not None, dynamic)
        equation, operands, dynamic = merged.equation, merged.arrays, merged.dynamic
        selector, shortcut = merged.mask, None
    if source == "values":
        form, arrays = None, operands
    else:
        arrays = (*operands, selector)
        form = form_of(source, selector, mask is not None and masked_equation(
            "einsum", equation, len(operands), sparse), operands)
    op = einsum_op("einsum", equation, len(operands), sparse, source, form,
                   read_hints(assume, micro_tile, axis, live_fraction), read_type("einsum", dtype),
                   dynamic, packed, None, sparse_grad)
    if shortcut is not None:
        shortcut.add(given, op)
    if merged is None:
        return run(op, arrays, out)
    found = run(op, arrays, None).reshape(merged.shape)
    if out is None:
        return found
    out[...] = found
    return out
