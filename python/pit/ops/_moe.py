"""Layers of several products whose hidden values stay packed: mixtures of experts,
and the feed-forward block of padded batches."""

from dataclasses import dataclass

from .._library import Error
from ._activations import ACTIVATIONS, check_activation
from ._einsum import NO_ROW_LENGTHS
from ._op import SELECTOR_TYPES, Argument, Mark, Op, Shortcut, kind, make, run
from ._operand import halves, is_traced, makes_op, route
from ._products import rank_of, run_new, run_on_rows
from ._text import LAYER_FLOATS, wide_type


MOE, PADDED_MLP = Shortcut(6), Shortcut(6)
TRANSPOSED = ("; weights of experts are (experts, in, out): those that lie as (experts, out, in) are "
              "passed with their last two dimensions exchanged, which copies nothing")


@kind
@dataclass(frozen=True)
class Experts(Op):
    """y[t, n] = sum over the experts e of token t of
    weights[t, e] * (activation(x[t] w_gate[e]) * (x[t] w_up[e])) w_down[e]; without a
    gate activation(x[t] w_up[e]). `joined`: both are halves of one array, which is passed,
    so that neither has gaps between its experts."""

    activation: str
    gated: bool
    joined: bool = False

    name = "moe"
    # Experts' parts of a token's result are rounded as the result is, then added in f32, in
    # the order of experts: on an H100 1.09 to 1.3 times as fast as adding them atomically
    # in f32, for 4096 tokens and more.
    gpu_pipeline = "round-partials=true"

    def arguments(self):
        names = ("gate_up",) if self.joined else ("gate", "up") if self.gated else ("up",)
        wide = [Argument(f"w_{which}", ("e", "k", "g" if self.joined else "f"), LAYER_FLOATS,
                         permutable=True, advice=TRANSPOSED) for which in names]
        return [Argument("x", ("t", "k"), LAYER_FLOATS),
                Argument("router_weights", ("t", "top"), LAYER_FLOATS, alike=False),
                Argument("experts", ("t", "top"), ("i32", "i64"), alike=False), *wide,
                Argument("w_down", ("e", "f", "n"), LAYER_FLOATS, permutable=True,
                         advice=TRANSPOSED)]

    def dynamic(self):
        return ("t",)

    def exact(self):
        return ("f", "g") if self.joined else ()

    def results(self, types, sizes):
        if self.joined and sizes["g"] != 2 * sizes["f"]:
            raise Error(f"moe: w_gate and w_up have {sizes['g'] // 2} columns for each expert, w_down "
                        f"has {sizes['f']} rows; both are 'f'")
        return [(types[0], (sizes["t"], sizes["n"]))]

    def build(self, builder, values, orders):
        x, weights, experts, *wide, down = values
        maps = [["ekf"[i] for i in order] if order else list("ekf") for order in orders[3:-1]]
        if self.joined:
            maps *= 2
            half = down.dims[("efn" if orders[-1] is None else ["efn"[i] for i in orders[-1]]).index("f")]
            wide = [builder.part(wide[0], maps[0].index("f"), half, which) for which in range(2)]
        down_map = ["efn"[i] for i in orders[-1]] if orders[-1] else list("efn")
        size_of = {name: dim for each, v in ((*zip(maps, wide), (down_map, down)))
                   for name, dim in zip(each, v.dims)}
        tokens, count = x.dims[0], size_of["e"]
        routed = Mark(0, "routing")

        def selected(table):
            return builder.mark(table, routed, experts)

        # The routing table holds ones here. The down projection multiplies by the weights.
        here = selected(builder.ones((tokens, count), x.type))
        hidden = [tokens, count, size_of["f"]]
        type_ = x.type
        summed = wide_type(type_)
        *gate, up = [builder.product([here, x, w], [["t", "e"], ["t", "k"], each], hidden,
                                     ["t", "e", "f"], summed) for w, each in zip(wide, maps)]
        function = ACTIVATIONS[self.activation]
        if gate:
            # The values in between are rounded when they are stored; the rest is computed in f32.
            gate = [builder.epilogue(gate[0], None, None, type_)]
            value = builder.elementwise([up, *gate], lambda body, u, g: body.cast(body.mul(
                summed, function(body, summed, body.cast(g, type_, summed)), u),
                summed, type_), type_)
        else:
            value = builder.epilogue(up, None, self.activation, type_)
        table = selected(self.table(builder, weights, experts, (tokens, count), type_))
        return [builder.product([table, value, down], [["t", "e"], ["t", "e", "f"], down_map],
                                [tokens, size_of["n"]], ["t", "n"], type_)]

    @staticmethod
    def table(builder, weights, experts, dims, type_):
        """The weights of tokens by experts, from those of their choices."""
        def function(body, weight, expert, total):
            expert = body.emit(f"arith.index_cast {expert} : {experts.type} to index")
            here = body.emit(f"arith.cmpi eq, {expert}, {body.emit('linalg.index 1 : index')} : index")
            zero = body.constant(0, type_)
            weight = body.cast(weight, weights.type, type_)
            term = body.emit(f"arith.select {here}, {weight}, {zero} : {type_}")
            return body.add(type_, total, term)

        return builder.generic([["t", "j"], ["t", "j"], ["t", "e"]], ["t", "e", "j"],
                               [weights, experts], builder.zeros(dims, type_), function)


@makes_op
def experts_op(activation, gated, joined=False):
    check_activation("moe", activation)
    if activation is None:
        raise Error("moe: activation is None; a mixture of experts without one is a product")
    return make(Experts, activation, gated, joined)


def moe(x, router_weights, experts, w_gate, w_up, w_down, *, activation="silu", out=None):
    """A mixture of experts: each token goes through the feed-forward blocks that it is
    routed to, and no others.

        logits = x @ router
        weights, experts = logits.softmax(-1).topk(2)
        y = pit.moe(x, weights, experts, w_gate, w_up, w_down)

    x               (tokens, k), or (..., k)
    router_weights  (tokens, top): how much of each of its experts a token gets; any
                    float type
    experts         (tokens, top), i32 or i64: which ones; -1 is none. A token names
                    an expert once
    w_gate, w_up    (experts, k, f); w_gate may be None: then activation(x w_up)
    w_down          (experts, f, n)
    activation      "silu", "gelu", "relu", "sigmoid" or "tanh", of x w_gate
    Result          (tokens, n), of x's type. On a GPU what each expert adds to a result
                    of f16 or bf16 is rounded to that type first, and then added in f32,
                    in the order of experts: the same bits every time. Sums of f32 are
                    added in any order

    A weight that is stored as (experts, f, k) is passed as w.transpose(1, 2) of torch
    or w.transpose(0, 2, 1) of numpy; it is not copied. Neither are the two halves of one
    array that holds gates and ups, `gate, up = w.transpose(1, 2).chunk(2, -1)`, without
    gradients and graphs; with these each call copies them. A number that is no
    expert is an error on the CPU and counts as none on a GPU.
    """
    given = (out, x, router_weights, experts, w_gate, w_up, w_down, activation)
    if not is_traced():
        both = None
        if w_gate is not None and route((x, router_weights, w_gate, w_up, w_down)) is None:
            both = halves(w_gate, w_up)  # which asks where they lie: they have to be memory
        if both is not None:
            op, arrays = experts_op(activation, True, True), (x, router_weights, experts, both, w_down)
            if rank_of("moe", "x", x) < 3:
                return run(op, arrays, out)
            return run_on_rows("moe", op, arrays, [0, 1, 2], out, w_down.shape[-1])
        found = MOE.run(given)
        if found is not NotImplemented:
            return found
    gates = () if w_gate is None else (w_gate,)
    op = experts_op(activation, w_gate is not None)
    arrays = (x, router_weights, experts, *gates, w_up, w_down)
    positions = None if rank_of("moe", "x", x) < 3 else [0, 1, 2]
    return run_new(MOE, given, "moe", op, arrays, positions, out, w_down.shape[-1])


def bias_arguments(biases):
    """Those of two layers, of f and n outputs, that there are."""
    return [Argument(name, (dim,), LAYER_FLOATS)
            for name, dim, there in zip(("b1", "b2"), "fn", biases) if there]


@kind
@dataclass(frozen=True)
class PaddedMlp(Op):
    """y = activation(x w1.T + b1) w2.T + b2 of the rows that are there."""

    activation: str
    biases: tuple  # whether there are b1 and b2

    name = "padded_mlp"

    def arguments(self):
        found = [Argument("x", ("b", "s", "k"), LAYER_FLOATS),
                 Argument("lengths", ("b",), SELECTOR_TYPES["lengths"], alike=False,
                          remedy=NO_ROW_LENGTHS),
                 Argument("w1", ("f", "k"), LAYER_FLOATS, permutable=True),
                 Argument("w2", ("n", "f"), LAYER_FLOATS, permutable=True)]
        return found + bias_arguments(self.biases)

    def dynamic(self):
        return ("b", "s")

    def results(self, types, sizes):
        return [(types[0], (sizes["b"], sizes["s"], sizes["n"]))]

    def build(self, builder, values, orders):
        x, lengths, w1, w2, *biases = values
        b1 = biases.pop(0) if self.biases[0] else None
        b2 = biases.pop(0) if self.biases[1] else None

        def layer(value, weight, bias, order, activation):
            type_ = value.type
            letters = ["nk"[i] for i in order] if order else list("nk")
            width = weight.dims[letters.index("n")]
            # As in linear: f32 until it is rounded once.
            y = builder.product([value, weight], [list("bsk"), letters],
                                [*value.dims[:2], width], list("bsn"), wide_type(type_))
            y = builder.epilogue(y, bias, activation, type_)
            return builder.mark(y, Mark(-1, "lengths"), lengths)

        x = builder.mark(x, Mark(0, "lengths"), lengths)
        hidden = layer(x, w1, b1, orders[2], self.activation)
        return [layer(hidden, w2, b2, orders[3], None)]


@makes_op
def padded_mlp_op(activation, biases):
    check_activation("padded_mlp", activation)
    return make(PaddedMlp, activation, biases)


def padded_mlp(x, lengths, w1, b1, w2, b2, *, activation="gelu", out=None):
    """activation(x w1.T + b1) w2.T + b2 of the rows that are there; the result is 0 in
    the padding. The hidden rows lie packed between the two products.

        y = pit.padded_mlp(x, lengths, fc1.weight, fc1.bias, fc2.weight, fc2.bias)

    x (batch, positions, k), lengths (batch) of i32 or i64, w1 (f, k), b1 (f) or None,
    w2 (n, f), b2 (n) or None; the result is (batch, positions, n). Activations as in
    pit.linear.
    """
    given = (out, x, lengths, w1, w2, b1, b2, activation)
    if not is_traced():
        found = PADDED_MLP.run(given)
        if found is not NotImplemented:
            return found
    op = padded_mlp_op(activation, (b1 is not None, b2 is not None))
    biases = tuple(b for b in (b1, b2) if b is not None)
    PADDED_MLP.add(given, op)
    return run(op, (x, lengths, w1, w2, *biases), out)
