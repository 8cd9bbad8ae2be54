"""Gradients of pit.attention as loops of their own: that of queries along the keys, those of keys
and values along the queries. Probabilities are computed again of the logarithms of sums that the
forward returns; nothing of queries times keys is stored. The compiler makes the loops of what
stands here, as of the forward.
"""

from dataclasses import dataclass

from . import _orders
from ._attention import Scores
from ._op import Argument, Op, kind
from ._places import Places
from ._text import LAYER_FLOATS, wide_type


class Gradient(Scores):
    """dy is the gradient of the result. `logs` are the logarithms of sums, any finite number where a
    row is nothing, and `delta` has dy y of each row."""

    def arguments(self):
        rows = ("b", "h", "m")
        return [*super().arguments(), Argument("dy", (*rows, "e"), LAYER_FLOATS, permutable=True),
                Argument("logs", rows, LAYER_FLOATS, alike=False),
                Argument("delta", rows, LAYER_FLOATS, alike=False)]

    def slopes_of(self, builder, found, letters, of_sum=False):
        """The probabilities, and the gradients of q k.T, with dims in this order; or of the scores
        behind softcap and bias, not rounded."""
        sizes = found.sizes
        products, scores = self.computed_scores(builder, found, letters)
        (v, of_v), (dy, of_dy) = found["v"], found["dy"]
        logs, rows = found["logs"]
        delta, _ = found["delta"]
        type_, summed = v.type, scores.type
        dims = [sizes[x] for x in letters]
        chances = builder.generic(
            [letters, rows, letters], letters, [scores, logs], builder.empty(dims, summed),
            lambda body, x, log, old: body.emit(
                f"math.exp {body.emit(f'arith.subf {x}, {log} : {summed}')} : {summed}"))
        pair = [(dy, of_dy), (v, of_v)][::1 if letters[-1] == "n" else -1]
        back = builder.product([x for x, _ in pair], [of for _, of in pair], dims, letters, summed)

        def function(body, chance, back, delta, *others):
            x = body.mul(summed, chance, body.emit(f"arith.subf {back}, {delta} : {summed}"))
            if of_sum:
                return x
            if self.softcap is not None:
                scale = body.constant(self.scale_of(sizes) / self.softcap, summed)
                part = body.emit(f"math.tanh {body.mul(summed, others[0], scale)} : {summed}")
                slope = body.emit(f"arith.subf {body.constant(1, summed)}, "
                                  f"{body.mul(summed, part, part)} : {summed}")
                x = body.mul(summed, x, slope)
            return body.cast(x, summed, type_)

        ins, maps = [chances, back, delta], [letters, letters, rows]
        if self.softcap is not None and not of_sum:
            ins, maps = [*ins, products], [*maps, letters]
        out = builder.empty(dims, summed if of_sum else type_)
        slopes = builder.generic([*maps, letters], letters, ins, out, function)
        return chances, slopes

    def rounded(self, builder, found, value, type_, scale):
        """A sum, scaled, in the type of a gradient."""
        summed = value.type
        return builder.elementwise([value], lambda body, x: body.cast(
            body.mul(summed, x, body.constant(scale, summed)), summed, type_), type_)


@kind
@dataclass(frozen=True)
class RowProducts(Op):
    """dy y of each row, in the type of sums, without products that are stored."""

    name = "attention_row_products"

    def arguments(self):
        return [Argument(name, ("b", "h", "m", "e"), LAYER_FLOATS, permutable=True) for name in ("dy", "y")]

    def dynamic(self):
        return ("b", "m")

    def rows(self):
        return ("m",)

    def results(self, types, sizes):
        return [(wide_type(types[0]), tuple(sizes[x] for x in "bhm"))]

    def build(self, builder, values, orders):
        letters = [[argument.dims[i] for i in order or range(4)]
                   for argument, order in zip(self.arguments(), orders)]
        sizes = dict(zip(letters[0], values[0].dims))
        return [builder.product(values, letters, [sizes[x] for x in "bhm"], list("bhm"),
                                wide_type(values[0].type))]


@kind
@dataclass(frozen=True)
class QueryGradient(Gradient):
    """The gradient of q."""

    name = "attention_q_gradient"

    def results(self, types, sizes):
        return [(types[0], tuple(sizes[x] for x in "bhmd"))]

    def build(self, builder, values, orders):
        found = self.read(builder, values, orders)
        rows, sizes = self.row_letters, found.sizes
        letters = [*rows, "n"]
        _, slopes = self.slopes_of(builder, found, letters)
        k, of_k = found["k"]
        dq = builder.product([slopes, k], [letters, of_k], [sizes[x] for x in [*rows, "d"]],
                             [*rows, "d"], wide_type(k.type))
        dq = self.rounded(builder, found, dq, found["q"][0].type, self.scale_of(sizes))
        return [self.to_heads(builder, sizes, dq)]


@kind
@dataclass(frozen=True)
class KeyGradient(Gradient):
    """The gradients of k and v."""

    name = "attention_k_gradient"
    outer = "n"

    def results(self, types, sizes):
        keys = "k" if self.grouped else "h"
        return [(types[0], tuple(sizes[x] for x in f"b{keys}n{each}")) for each in "de"]

    def build(self, builder, values, orders):
        found = self.read(builder, values, orders)
        letters = ["n" if x == "m" else x for x in self.row_letters] + ["m"]
        return self.of_keys(builder, found, letters, *self.slopes_of(builder, found, letters))

    def of_keys(self, builder, found, letters, chances, slopes):
        sizes, rows = found.sizes, letters[:-1]
        (q, of_q), (dy, of_dy) = found["q"], found["dy"]
        type_, summed = q.type, chances.type
        if type_ != summed:
            chances = builder.elementwise(
                [chances], lambda body, x: body.cast(x, summed, type_), type_)
        results = []
        for factor, other, of, column, scale in (
                (slopes, q, of_q, "d", self.scale_of(sizes)), (chances, dy, of_dy, "e", 1)):
            # Heads that share keys are summed in the loop, unless they have lists of their own.
            each = [*rows, column]
            out = [x for x in each if x != "g"]
            has_lists = self.is_split and self.select is not None and (
                "h" in self.mask or _orders.has_heads(self.orders))
            first = each if has_lists else out
            value = builder.product([factor, other], [letters, of], [sizes[x] for x in first], first,
                                    summed)
            if first != out:
                value = builder.product([value], [first], [sizes[x] for x in out], out, summed)
            results.append(self.rounded(builder, found, value, type_, scale))
        return results


@kind
@dataclass(frozen=True)
class AllGradients(KeyGradient):
    """The gradients of q, k and v. Where the compiler makes one loop of it, along the queries, blocks add to
    that of q in any order: its last bits differ from call to call."""

    name = "attention_gradients"

    def results(self, types, sizes):
        return [(types[0], tuple(sizes[x] for x in "bhmd")), *super().results(types, sizes)]

    def build(self, builder, values, orders):
        found = self.read(builder, values, orders)
        rows, sizes = self.row_letters, found.sizes
        letters = ["n" if x == "m" else x for x in rows] + ["m"]
        chances, slopes = self.slopes_of(builder, found, letters)
        k, of_k = found["k"]
        # First: the reductions of a loop lead to what it adds besides.
        dq = builder.product([slopes, k], [letters, of_k], [sizes[x] for x in [*rows, "d"]],
                             [*rows, "d"], wide_type(k.type))
        others = self.of_keys(builder, found, letters, chances, slopes)
        dq = self.rounded(builder, found, dq, found["q"][0].type, self.scale_of(sizes))
        return [self.to_heads(builder, sizes, dq), *others]


@kind
@dataclass(frozen=True)
class BiasGradient(Gradient):
    """The gradient of the bias, without its dims of size 1 ((batch) if it has no others), in the type
    of sums. A bias of keys, or of queries, is a loop along the others; one of both has as many
    elements as there are scores, and these are stored before heads and batches are summed."""

    name = "attention_bias_gradient"

    @property
    def outer(self):
        return "m" if "m" in self.bias else "n"

    @property
    def kept(self):
        return [x for x in self.bias if x != "1"] or ["b"]

    def results(self, types, sizes):
        return [(wide_type(types[0]), tuple(sizes[x] for x in self.kept))]

    def build(self, builder, values, orders):
        found = self.read(builder, values, orders)
        sizes, outer = found.sizes, self.outer
        rows = [outer if x == "m" else x for x in self.row_letters]
        letters = [*rows, "n" if outer == "m" else "m"]
        _, value = self.slopes_of(builder, found, letters, of_sum=True)
        kept = [x for each in self.kept for x in ("kg" if each == "h" and self.is_split else each)]
        # The loop along one dim first, so that nothing of queries times keys is stored.
        steps = [kept] if letters[-1] in kept else [rows, kept]
        for to in steps:
            if to != letters:
                value = builder.product([value], [letters], [sizes[x] for x in to], to, value.type)
                letters = to
        if "k" in kept and self.is_split:
            value = builder.merge(value, kept.index("k"), sizes["k"] * sizes["g"])
        return [value]


@kind
@dataclass(frozen=True)
class SlopeGradient(Gradient):
    """The gradient of alibi's slopes, (heads), in the type of sums: that of the scores times the distances
    of keys and queries, one loop along the keys."""

    name = "attention_alibi_gradient"

    def results(self, types, sizes):
        return [(wide_type(types[0]), (sizes["h"],))]

    def build(self, builder, values, orders):
        found = self.read(builder, values, orders)
        rows, sizes = self.row_letters, found.sizes
        letters = [*rows, "n"]
        _, slopes = self.slopes_of(builder, found, letters, of_sum=True)
        type_ = slopes.type
        names = ["places"] if self.packed else []

        def times_distance(body, x, *others):
            places = Places(self, body, letters, found, dict(zip(names, others)))
            return body.mul(type_, x, places.distance(type_))

        value = builder.generic([letters, *(found[name][1] for name in names), letters], letters,
                                [slopes, *(found[name][0] for name in names)],
                                builder.empty(slopes.dims, type_), times_distance)
        heads = [x for x in rows if x in "hkg"]
        for to in (rows, heads):
            value = builder.product([value], [letters], [sizes[x] for x in to], to, type_)
            letters = to
        return [builder.merge(value, 0, sizes["k"] * sizes["g"]) if self.is_split else value]
