"""Attention: scores, softmax and the weighted sum, written as what they are. The compiler makes
one loop over the keys of them (pit-tile-online-reductions), which reads those alone that a mark
selects.

In the text a head h is (k, g): a head of the keys, and one of those that share it, where there are
fewer heads of keys.
"""

import functools
from dataclasses import dataclass
from math import inf, log

from .._arrays import View
from .._library import Error
from . import _few_tiles, _numbers, _orders, _sequences
from ._attention_scales import scaled, times_scales
from ._einsum import read_type
from ._op import SELECTOR_TYPES, Argument, IndexArgument, Op, kind, make, run
from ._operand import makes_op
from ._places import Places
from ._products import rank_of
from ._text import LAYER_FLOATS, SMALL_FLOATS, Value, wide_type

LONGEST_HEAD = 512
LOWEST = {"f64": "0xFFF0000000000000", "f32": "0xFF800000"}
STORED = (*SMALL_FLOATS, "i8", *LAYER_FLOATS)  # types of keys and values that are of another than q
SCALES = ("k_scale", "v_scale")
OF_ROUNDED = 256.0  # times probabilities, which are rounded to 8 bits then
ROUNDED_HEADS = range(65, 129)  # elements of v's heads whose products with probabilities of 8 bits are worth it
ROUNDS_BLOCKS = 16, 64  # blocks of multiples of so many queries and keys are read as they lie
OF_SCORES = ("q_scale", "k_scale")  # which scores are multiplied by, where q and k have 8 bits
BYTES = "; of bytes that hold floats pass a view of it as float8_e4m3fn"
ADDED = "; what is not 0 selects a key. Numbers that are added to scores are bias="
RANGES = ("starts", "ends", "places", "begins")  # as _sequences.ranges has them


class Found(dict):
    """Arguments by name, as (value, letters), `sizes` by letter, and `counts` of keys and of queries as
    values of the program."""


@dataclass(frozen=True)
class Scores(Op):
    """The parts of programs of attentions. `select` is the kind of the last argument: a mask, an
    index, blocks of a mask, or None. `mask`, `bias` have the dims of a mask and of a bias as letters,
    "1" where all have the same."""

    grouped: bool  # whether heads share keys
    scale: float | None
    softcap: float | None
    causal: bool
    end: bool  # whether the last query is at the last key
    window: int | None
    sinks: int | None
    bias: str | None
    slopes: bool
    lengths: bool
    sink_logits: bool
    select: str | None
    mask: str | None
    block: tuple | None  # queries and keys of a block
    orders: tuple  # the dims of lists of queries and keys, in whose order blocks are; None: as they are
    packed: bool  # whether sequences lie one behind the other
    narrow: bool  # whether k and v have another type than q, which they are computed in
    scales: tuple  # the dims of what k and v are multiplied by, as letters; None: nothing
    quantized: bool  # whether q and k are floats of 8 bits
    result: str | None  # the type of the result, where v is of 8 bits, too
    rounds: bool  # whether probabilities are rounded to the 8 bits of v
    q_scale: str | None  # as scales, of q
    with_lse: bool

    outer = "m"  # the dim whose places have ranges of the other, that loops go along

    def arguments(self):
        keys = "k" if self.grouped else "h"
        types = SMALL_FLOATS if self.quantized else LAYER_FLOATS
        found = [Argument("q", ("b", "h", "m", "d"), types, permutable=True, remedy=BYTES),
                 Argument("k", ("b", keys, "n", "d"), STORED if self.narrow else types,
                          alike=not self.narrow, permutable=True, remedy=BYTES),
                 Argument("v", ("b", keys, "n", "e"),
                          STORED if self.narrow else SMALL_FLOATS if self.result else LAYER_FLOATS,
                          alike=not self.narrow and not self.quantized, permutable=True,
                          remedy=BYTES if self.narrow or self.result else "")]
        if self.bias is not None:
            found.append(Argument("bias", dims_of(self.bias), LAYER_FLOATS, alike=False))
        if self.slopes:
            found.append(Argument("alibi", ("h",), LAYER_FLOATS, alike=False))
        if self.lengths:
            found.append(Argument("lengths", ("b",), SELECTOR_TYPES["lengths"], alike=False))
        if self.packed:
            found += [Argument(name, ("c",), SELECTOR_TYPES["lengths"], alike=False)
                      for name in ("cu_seqlens", "cu_seqlens_of_keys")]
        if self.sink_logits:
            found.append(Argument("sink_logits", ("h",), LAYER_FLOATS, alike=False))
        found += [Argument(name, dims_of(dims), LAYER_FLOATS, alike=False)
                  for name, dims in zip(("q_scale", *SCALES), (self.q_scale, *self.scales))
                  if dims is not None]
        if self.select == "index":
            found.append(IndexArgument("index", ("b", "h", "m", "n")))
        elif self.select is not None:
            dims = self.mask if self.select == "mask" else self.mask.replace("m", "M").replace("n", "N")
            found.append(Argument(self.select, dims_of(dims), (*SELECTOR_TYPES["mask"], "i32"),
                                  alike=False, remedy=ADDED if self.select == "mask" else ""))
        found += [Argument(name, dims_of(dims), SELECTOR_TYPES["lengths"], alike=False)
                  for name, dims in _orders.arguments(self.orders)]
        return found

    def stored_names(self):
        """The arguments of a cache, whose keys and values are computed as they are read; or all of 8 bits."""
        if self.quantized:
            return ("q", "k", "v", "bias", "alibi", "sink_logits", "q_scale", *SCALES)
        return ("k", "v", *SCALES) if self.narrow or self.scales != (None, None) else ()

    def dynamic(self):
        return ("b", "m", "n", "c")

    def rows(self):
        return ("m",)

    def fixed(self):
        return ("h", "k", "d", "e", *(("M", "N") if self.select == "blocks" else ()))

    def exact(self):
        return ("h", "k", "d", "e", *(("m", "n", "M", "N") if self.select == "blocks" else ()))

    def check(self, sizes):
        if self.grouped and (sizes["k"] == 0 or sizes["h"] % sizes["k"]):
            raise Error(f"{self.name}: q has {sizes['h']} heads, k and v have {sizes['k']}; each of "
                        "these serves as many of q's, so their number divides the other")
        for d, what in (("d", "q and k"), ("e", "v")):
            if not 0 < sizes[d] <= LONGEST_HEAD:
                raise Error(f"{self.name}: heads of {what} have {sizes[d]} elements; they may have "
                            f"1 to {LONGEST_HEAD}")
        if self.select == "blocks":
            for whole, parts, size, what in (("m", "M", self.block[0], "queries"),
                                             ("n", "N", self.block[1], "keys")):
                if parts in sizes and sizes[parts] != -(-sizes[whole] // size):
                    raise Error(f"{self.name}: {sizes[whole]} {what} are "
                                f"{-(-sizes[whole] // size)} blocks of {size}, but blocks has "
                                f"{sizes[parts]}")

    # -- text ----------------------------------------------------------------

    def read(self, builder, values, orders):
        found, given = Found(), {}
        for argument, value, order in zip(self.arguments(), values, orders):
            if isinstance(argument, IndexArgument):
                found[argument.name] = value, ()
                continue
            letters = [argument.dims[i] for i in order] if order else list(argument.dims)
            given[argument.name] = value, letters
        for name, (value, letters) in given.items():
            if name in SCALES and not self.quantized:
                continue
            is_stored = self.narrow or name + "_scale" in given
            if name in "kv" and not self.quantized and is_stored or (
                    name == "v" and self.result and not self.rounds):
                value = scaled(builder, value, letters, self.result or given["q"][0].type,
                               given.get(name + "_scale"))
            if self.grouped and self.select == "index":
                if name in "kv":
                    value, letters = self.repeated(builder, value, letters, values[0], orders[0])
            elif self.grouped and "h" in letters:
                at = letters.index("h")
                keys = values[1].dims[(orders[1] or range(4)).index(1)]
                value = builder.expand(value, at, keys, value.dims[at] // keys)
                letters[at:at + 1] = ["k", "g"]
            found[name] = value, letters
        found.sizes = {letter: size for value, letters in found.values()
                      for letter, size in zip(letters, getattr(value, "dims", ()))
                      if letter not in (1, "N")}
        return found

    @property
    def row_letters(self):
        heads = "kg" if self.is_split else "h"
        return list(f"b{heads}m")

    @property
    def is_split(self):
        """Whether heads are two dims. An index that the caller has made has one for them."""
        return self.grouped and self.select != "index"

    def repeated(self, builder, value, letters, q, order):
        """Keys or values of each of q's heads."""
        at = letters.index("k")
        heads = q.dims[(order or range(4)).index(1)]
        each = heads // value.dims[at]
        inner = [*letters[:at + 1], "g", *letters[at + 1:]]
        out = builder.empty([*value.dims[:at + 1], each, *value.dims[at + 1:]], value.type)
        value = builder.generic([letters, inner], inner, [value], out, lambda body, x, old: x)
        return builder.merge(value, at, heads), [*letters[:at], "h", *letters[at + 1:]]

    def computed_scores(self, builder, found, letters):
        """The products, and the scores that count, with dims in this order; those that a comparison
        of places leaves out are -inf."""
        (q, of_q), (k, of_k) = found["q"], found["k"]
        type_ = wide_type(q.type)
        sizes = found.sizes
        scores = builder.product([q, k] if letters[-1] == "n" else [k, q],
                                 [of_q, of_k] if letters[-1] == "n" else [of_k, of_q],
                                 [sizes[x] for x in letters], letters, type_)
        if self.packed:
            self.find_ranges(builder, found)
        ins, maps, names = [scores], [letters], []
        for name in ("bias", "alibi", "lengths", *RANGES, *OF_SCORES):
            if name in found:
                value, of = found[name]
                ins.append(builder.squeeze(value, [x == 1 for x in of]))
                maps.append([x for x in of if x != 1])
                names.append(name)
        found.counts = builder.size(sizes["n"]), builder.size(sizes["m"])

        def function(body, x, *others):
            given = dict(zip(names, others))  # the last of others is what was there before
            places = Places(self, body, letters, found, given)
            coordinate, minus = places.coordinate, places.minus
            scale = self.scale_of(sizes)
            x = times_scales(body, x, type_, [
                (body.cast(given[name], found[name][0].type, type_), found[name][1])
                for name in OF_SCORES if name in found])
            if self.softcap is not None:
                x = body.mul(type_, x, body.constant(scale / self.softcap, type_))
                x = body.emit(f"math.tanh {x} : {type_}")
                scale = self.softcap
            if scale != 1:
                x = body.mul(type_, x, body.constant(scale, type_))
            if "bias" in found:
                x = body.add(type_, x, body.cast(given["bias"], found["bias"][0].type, type_))
            if "alibi" in found:
                slope = body.cast(given["alibi"], found["alibi"][0].type, type_)
                x = body.add(type_, x, body.mul(type_, slope, places.distance(type_)))
            low = body.constant(-inf, type_)

            def keep(x, condition):
                return body.emit(f"arith.select {condition}, {x}, {low} : {type_}")

            def compare(how, a, b):
                return body.emit(f"arith.cmpi {how}, {a}, {b} : index")

            def or_sink(near):
                if self.sinks is None:
                    return near
                sink = compare("slt", places.number_of_key(),
                               body.constant(self.sinks, "index"))
                return body.emit(f"arith.ori {near}, {sink} : i1")

            if "lengths" in found:
                x = keep(x, compare("slt", coordinate("n"), places.index_of("lengths")))
            if self.packed:
                inner = coordinate("n" if self.outer == "m" else "m")
                x = keep(x, compare("sge", inner, places.index_of("starts")))
                x = keep(x, compare("slt", inner, places.index_of("ends")))
            if self.causal:
                x = keep(x, compare("sle", coordinate("n"), coordinate("m")))
            if self.window is not None:
                wide = body.constant(self.window, "index")
                x = keep(x, or_sink(compare("sgt", coordinate("n"), minus(coordinate("m"), wide))))
                if not self.causal:
                    last = body.emit(f"arith.addi {coordinate('m')}, {wide} : index")
                    x = keep(x, or_sink(compare("slt", coordinate("n"), last)))
            return x

        products, out = scores, builder.empty([sizes[x] for x in letters], type_)
        scores = builder.generic([*maps, letters], letters, ins, out, function)
        return products, self.selected(builder, found, scores, letters)

    def find_ranges(self, builder, found):
        """Facts about the sequence of each query, or of each key where loops go along queries."""
        sides = [found["cu_seqlens"][0], found["cu_seqlens_of_keys"][0]]
        letter = self.outer
        arrays = _sequences.ranges(builder, *(sides if letter == "m" else sides[::-1]),
                                   found.sizes[letter], self.end)
        needed = {"starts": True, "ends": True, "begins": self.sinks is not None and letter == "n",
                  "places": self.causal or self.window is not None or self.slopes}
        found.update({name: (value, [letter]) for name, value in zip(RANGES, arrays)
                      if needed[name]})

    def scale_of(self, sizes):
        return self.scale if self.scale is not None else sizes["d"] ** -0.5

    def selected(self, builder, found, scores, letters):
        """pit.sparse of the scores."""
        if self.select is None:
            return scores
        value, of = found[self.select]
        if self.select == "index":
            how = f"index({value.name} : {value.mlir})"
        else:
            if self.select == "blocks":
                value, of = self.elements_of(builder, found.sizes, value, list(of))
            value = builder.squeeze(value, [x == 1 for x in of])
            of = [x for x in of if x != 1]
            if of != letters:
                out = builder.empty([found.sizes[x] for x in letters], value.type)
                value = builder.generic([of, letters], letters, [value], out,
                                        lambda body, x, old: x)
            value = _orders.moved(builder, value, letters, found, self.orders)
            how = f"mask({value.name} : {value.mlir})"
        return builder.emit(
            f"pit.sparse {scores.name} {how} background({LOWEST[scores.type]} : {scores.type}) : "
            f"{scores.mlir}", scores.dims, scores.type)

    def elements_of(self, builder, sizes, value, of):
        """The mask of queries and keys of which blocks are given."""
        value = builder.squeeze(value, [x == 1 for x in of])
        of = [x for x in of if x != 1]
        for whole, parts, size in (("m", "M", self.block[0]), ("n", "N", self.block[1])):
            if parts not in of:
                continue
            at = of.index(parts)
            inner = [*of[:at + 1], "in", *of[at + 1:]]
            dims = [*value.dims[:at + 1], size, *value.dims[at + 1:]]
            out = builder.empty(dims, value.type)
            value = builder.generic([of, inner], inner, [value], out, lambda body, x, old: x)
            count = value.dims[at] * size
            value = builder.merge(value, at, count)
            of = [*of[:at], whole, *of[at + 1:]]
            have = sizes[whole]
            if have != count:
                value = builder.piece(value, [0] * len(of),
                                      [*value.dims[:at], have, *value.dims[at + 1:]])
        return value, of

    def to_heads(self, builder, sizes, value):
        """A result with one dim for the heads."""
        if self.is_split:
            value = builder.merge(value, 1, sizes["k"] * sizes["g"])
        return value


def dims_of(letters):
    return tuple(1 if x == "1" else x for x in letters)


@kind
@dataclass(frozen=True)
class Attention(Scores):
    """softmax(q k.T) v, and with_lse the logarithms of the sums of exponentials."""

    name = "attention"
    depends_on_sizes = True

    @staticmethod
    def finite(body, type_, most):
        """0 where no score counts."""
        low, zero = body.constant(-inf, type_), body.constant(0, type_)
        none = body.emit(f"arith.cmpf oeq, {most}, {low} : {type_}")
        return body.emit(f"arith.select {none}, {zero}, {most} : {type_}")

    def results(self, types, sizes):
        self.check(sizes)
        type_ = self.result or types[2 if self.quantized else 0]
        found = [(type_, (sizes["b"], sizes["h"], sizes["m"], sizes["e"]))]
        if self.with_lse:
            found.append((wide_type(types[0]), (sizes["b"], sizes["h"], sizes["m"])))
        return found

    @functools.cached_property
    def in_parts(self):
        return {}

    def run_instead(self, call, arrays, out):
        parts = _few_tiles.find(self, arrays, out)
        return parts and _few_tiles.run(call, parts, arrays, out)

    def build(self, builder, values, orders):
        found = self.read(builder, values, orders)
        rows, sizes = self.row_letters, found.sizes
        _, scores = self.computed_scores(builder, found, [*rows, "n"])
        v, of_v = found["v"]
        type_, summed = self.result or found["v" if self.quantized else "q"][0].type, scores.type
        of_rows = [sizes[x] for x in rows]
        letters = [*rows, "n"]
        top = builder.generic(
            [letters, rows], letters, [scores], builder.fill(of_rows, -inf, summed),
            lambda body, x, old: body.emit(f"arith.maximumf {old}, {x} : {summed}"))

        def power(body, x):
            x = body.emit(f"math.exp {x} : {summed}")
            return body.mul(summed, x, body.constant(OF_ROUNDED, summed)) if self.rounds else x

        powers = builder.generic(
            [letters, rows, letters], letters, [scores, top], builder.empty(scores.dims, summed),
            lambda body, x, most, old: power(body, body.emit(f"arith.subf {x}, {most} : {summed}")))
        total = builder.generic(
            [letters, rows], letters, [powers], builder.zeros(of_rows, summed),
            lambda body, x, old: body.add(summed, old, x))
        if v.type != summed:
            powers = builder.elementwise(
                [powers], lambda body, x: body.cast(x, summed, v.type), v.type)
        sums = builder.product([powers, v], [letters, of_v], [*of_rows, sizes["e"]],
                               [*rows, "e"], summed)
        if self.sink_logits:
            logits, of_logits = found["sink_logits"]

            def with_sink(body, count, most, logit):
                away = body.emit(f"arith.subf {body.cast(logit, logits.type, summed)}, "
                                 f"{self.finite(body, summed, most)} : {summed}")
                return body.add(summed, count, power(body, away))

            total = builder.elementwise(
                [total, top, logits], with_sink, summed,
                [list(range(len(rows)))] * 2 + [[rows.index(x) for x in of_logits]])
        parts, places = [sums, total], [list(range(len(rows) + 1)), list(range(len(rows)))]
        if self.rounds and "v_scale" in found:
            scale, of_scale = found["v_scale"]
            parts.append(builder.squeeze(scale, [x == 1 for x in of_scale]))
            places.append([rows.index(x) for x in of_scale if x != 1])

        def share(body, x, count, *scales):
            x = body.emit(f"arith.divf {x}, {count} : {summed}")
            for each in scales:
                x = body.mul(summed, x, body.cast(each, scale.type, summed))
            return body.cast(x, summed, type_)

        out = builder.elementwise(parts, share, type_, places)
        results = [self.to_heads(builder, sizes, out)]
        if self.with_lse:
            def logarithm(body, count, most):
                count = body.emit(f"math.log {count} : {summed}")
                if self.rounds:
                    count = body.add(summed, count, body.constant(-log(OF_ROUNDED), summed))
                return body.add(summed, self.finite(body, summed, most), count)

            logs = builder.elementwise([total, top], logarithm, summed)
            results.append(self.to_heads(builder, sizes, logs))
        return results


@makes_op
def attention_op(*fields):
    return make(Attention, *fields)


def pattern(name, shape, sizes, dims="(batch, heads, queries, keys)", names="bhmn",
            op="attention"):
    """The dims of what broadcasts to (b, h, m, n), as letters."""
    if len(shape) > len(sizes):
        raise Error(f"{op}: {name} has shape {tuple(shape)}; it broadcasts to {dims}")
    shape = (1,) * (len(sizes) - len(shape)) + tuple(shape)
    letters = ""
    for letter, size, whole in zip(names, shape, sizes):
        if size not in (1, whole):
            raise Error(f"{op}: {name} has shape {shape}; it broadcasts to {tuple(sizes)}: "
                        f"{dims}")
        letters += "1" if size == 1 and whole != 1 or size != whole else letter
    return letters


def blocks_of(op, size):
    """Places of a block of queries, and of one of keys."""
    pair = tuple(size) if isinstance(size, (tuple, list)) else (size, size)
    if len(pair) != 2:
        raise Error(f"{op}: block_size is {size}; it is a number, or one for queries and one for keys")
    return tuple(_numbers.whole(op, "block_size", each) for each in pair)


def to_rank(x, rank=4):
    return x if len(x.shape) == rank else x.reshape((1,) * (rank - len(x.shape)) + tuple(x.shape))


def is_narrow(x):
    """Whether an array has elements of 8 bits, which a scale stands beside."""
    if isinstance(x, View):
        return x.type.name.startswith(("f8", "i8"))
    return str(getattr(x, "dtype", "")).rpartition(".")[2].startswith(("float8", "int8", "uint8"))


def attention(q, k, v, *, mask=None, blocks=None, block_size=64, index=None, bias=None,
              lengths=None, cu_seqlens=None, causal=False, align="start", window=None, sinks=None,
              sink_logits=None, alibi=None, scale=None, softcap=None, q_scale=None, k_scale=None,
              v_scale=None, order=None, return_lse=False, dtype=None, out=None):
    """softmax(q k.T scale) v for each head; scores are never stored, and what is not selected is
    not computed.

        y = pit.attention(q, k, v, causal=True)
        y = pit.attention(q, k, v, blocks=live, block_size=64)    # which blocks of keys

    q           (batch, heads, queries, d)
    k, v        (batch, heads of keys, keys, d) and (.., e); fewer heads than q has serve
                as many of q's each; or of float8_e4m3fn, float8_e5m2 or int8, as caches are
    k_scale     of k and of v: what they are multiplied by as they are read. They broadcast to
    v_scale     (batch, heads of keys, keys): one for all, for each head, each key
    q_scale     beside q and k of float8_e4m3fn or float8_e5m2: what q is multiplied by,
                (batch, heads, queries)
    mask        broadcasts to (batch, heads, queries, keys); what is not 0 selects a key
    blocks      (batch or 1, heads or 1, blocks of queries, blocks of keys), or fewer dims, of
                `block_size` (a number, or one for queries and one for keys); or
                FlexAttention's BlockMask, whose function selects within its blocks
    order       in which blocks have queries and keys: block i of 64 has those that order[64 i] to
                order[64 i + 63] say; (places), or with dims that broadcast to (batch, heads) in
                front; or a pair, of queries and of keys. It has each place once. Nothing else
                is in this order: not q, k, v, the result, causal or a bias
    index       a pit.Index of (batch, heads, queries, keys) along axis 3; a dimension that it
                has as a whole shares its lists
    bias        is added to the scores; broadcasts as a mask does
    lengths     (batch): so many keys are there
    cu_seqlens  (sequences + 1), or a pair, of queries and of keys: sequences lie one behind the
                other, and begin at these places; queries have keys of their own sequence
    causal      query i has keys up to i; with align="end" the last query has all
    window      keys nearer than this many places, and the first `sinks` ones
    sink_logits (heads): what a learned sink adds to each sum
    alibi       (heads): slopes of ALiBi; slope * (key - query) is added
    scale       of the scores, 1 / sqrt(d) unless given
    softcap     c * tanh(scores / c)
    return_lse  also returns the logarithms of the sums, (batch, heads, queries)
    dtype       of the result, where q, k and v are all floats of 8 bits; float16 unless given
    Result      (batch, heads, queries, e), of q's type, or v's beside a q of 8 bits. A row of
                which nothing is selected is 0, and its logarithm -inf.
    """
    for name, x in (("q", q), ("k", k), ("v", v)):
        if rank_of("attention", name, x) != 4:
            raise Error(f"attention: {name} has shape {tuple(x.shape)}; it must have rank 4: (batch, "
                        "heads, places, elements of a head)")
    sizes = (q.shape[0], q.shape[1], q.shape[2], k.shape[2])
    select, given, letters, block = None, None, None, None
    if hasattr(blocks, "kv_num_blocks"):
        from ..torch import _block_mask
        blocks, block_size, mask = _block_mask.read(blocks, sizes, mask)
    for name, x in (("mask", mask), ("blocks", blocks), ("index", index), ("bias", bias)):
        if x is not None and name != "index":
            rank_of("attention", name, x)
        if x is None or name == "bias":
            continue
        if select is not None:
            raise Error(f"attention: {select} and {name} are given; one of mask, blocks and index "
                        "selects keys, and others may be its part")
        select, given = name, x
    if select == "mask":
        letters, given = pattern("mask", mask.shape, sizes), to_rank(mask)
    elif select == "blocks":
        block = blocks_of("attention", block_size)
        parts = (*sizes[:2], *(-(-size // each) for size, each in zip(sizes[2:], block)))
        letters = pattern("blocks", blocks.shape, parts,
                          f"(batch, heads, blocks of {block[0]} queries, blocks of {block[1]} keys); "
                          "block_size says how large blocks are")
        given = to_rank(blocks)
    if order is not None and select != "blocks":
        raise Error("attention: order is that of blocks of queries and keys; give blocks, too, as an array")
    orders, of_orders = _orders.of_argument("attention", order, sizes, pattern)
    if select == "blocks" and 0 in sizes:
        select, given, letters, block = None, None, None, None
        orders, of_orders = (None, None), (None, None)
    window = _numbers.whole("attention", "window", window, what="has 1 place or more")
    sinks = _numbers.whole("attention", "sinks", sinks, least=0)
    scale = _numbers.real("attention", "scale", scale)
    softcap = _numbers.real("attention", "softcap", softcap, positive=True)
    if align not in ("start", "end"):
        raise Error(f"attention: align is {align!r}; it is 'start' or 'end'")
    if sinks is not None and window is None:
        raise Error("attention: sinks are keys outside of a window; give the window, too")
    arrays = [q, k, v]
    of_bias = None
    if bias is not None:
        of_bias = pattern("bias", bias.shape, sizes)
        arrays.append(to_rank(bias))
    sequences = ()
    if cu_seqlens is not None:
        if lengths is not None:
            raise Error("attention: lengths and cu_seqlens are given; one of them says which keys "
                        "are there")
        sequences = _sequences.of_argument("attention", cu_seqlens, sizes[2:])
    quantized = is_narrow(q)
    for name, x in zip(("q_scale", *SCALES), (q_scale, k_scale, v_scale)):
        if x is not None:
            rank_of("attention", name, x)
    if q_scale is not None and not quantized:
        raise Error("attention: q_scale is that of a q of 8 bits; multiply q, or give scale=")
    small = quantized and is_narrow(v)
    if v_scale is not None and quantized and not small:
        raise Error("attention: beside a q of 8 bits v_scale is that of a v of 8 bits; multiply v, or "
                    "the result")
    if dtype is not None and not small:
        raise Error("attention: dtype is the result's where q, k and v have 8 bits; others have the type of "
                    + ("v" if quantized else "q"))
    result = (read_type("attention", dtype) or "f16") if small else None
    if result not in (None, *LAYER_FLOATS):
        raise Error(f"attention: no result of {dtype!r}; there are: {', '.join(LAYER_FLOATS)}")
    scales = tuple(None if x is None else pattern(
        name, x.shape, k.shape[:3], "(batch, heads of keys, keys)",
        "bkn" if q.shape[1] != k.shape[1] else "bhn") for name, x in zip(SCALES, (k_scale, v_scale)))
    of_q = None if q_scale is None else pattern(
        "q_scale", q_scale.shape, q.shape[:3], "(batch, heads, queries)", "bhm")
    # Not where keys are read one by one, where each value has a scale of its own, where threads have no
    # registers for the sums of a step, or where f16 is faster.
    by_blocks = select == "blocks" and of_orders[1] is None and all(
        size % unit == 0 for size, unit in zip(block, ROUNDS_BLOCKS))
    rounds = small and (select is None or by_blocks) and "n" not in (scales[1] or "") and (
        v.shape[3] in ROUNDED_HEADS)
    arrays += [x for x in (alibi, lengths, *sequences, sink_logits) if x is not None]
    arrays += [to_rank(x, 3) for x in (q_scale, k_scale, v_scale) if x is not None]
    if given is not None:
        arrays.append(given)
    arrays += [to_rank(x, 3) for x in orders if x is not None]
    op = attention_op(
        q.shape[1] != k.shape[1], scale, softcap, bool(causal), align == "end", window, sinks,
        of_bias, alibi is not None, lengths is not None, sink_logits is not None, select, letters,
        block, of_orders, bool(sequences), not quantized and (is_narrow(k) or is_narrow(v)),
        scales, quantized, result, rounds, of_q, bool(return_lse))
    return run(op, tuple(arrays), out)
