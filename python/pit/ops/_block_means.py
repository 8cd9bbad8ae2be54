"""Means of blocks of places, and their scores. Frameworks read f16 and bf16 at a fraction of memory's rate
for it on a CPU, and short blocks at the end would be ops of their own. Tensor cores take no f32: a mean in
f16 or bf16 is two numbers, itself rounded, and the rest."""

from dataclasses import dataclass

from ._op import Argument, Op, kind
from ._text import LAYER_FLOATS, wide_type

STEP = 8  # places that a step of the loop adds up, at most
PARTS = 3


@kind
@dataclass(frozen=True)
class BlockMeans(Op):
    """x (batch, heads, places, d): the means of so many places each, of which the last may be fewer. They
    are in the type of sums or, if there is a `rest`, in x's: in one more dim, of PARTS, the means, and at
    `rest` what rounding takes from them."""

    size: int
    rest: int | None = None

    name = "block_means"
    autocasts = differentiable = False

    def arguments(self):
        return [Argument("x", tuple("bhnd"), LAYER_FLOATS, permutable=True)]

    def dynamic(self):
        return ("b", "h", "n")

    def fixed(self):
        return ("d",)

    def exact(self):
        return ("n", "d")

    def results(self, types, sizes):
        b, h, n, d = (sizes[x] for x in "bhnd")
        parts, type_ = ((), wide_type(types[0])) if self.rest is None else ((PARTS,), types[0])
        return [(type_, (b, h, -(-n // self.size), *parts, d))]

    def text(self, builder, values, orders):
        """A loop over rows, whose sums a GPU's threads share (lib/Codegen/GPU/Kernel/RowSums.cpp)."""
        x, = values
        order = list(orders[0] or range(4))
        wide = wide_type(x.type)
        step = next(n for n in range(STEP, 0, -1) if self.size % n == 0)
        sizes = [dim if isinstance(dim, int) else "?" for dim in x.dims]
        d = sizes[order.index(3)]

        def tensor(dims, type_=wide):
            return f"tensor<{'x'.join(map(str, dims))}x{type_}>"

        def map_of(dims):
            return f"affine_map<(b, h, n, d) -> ({', '.join(dims)})>"

        given, tile = tensor(sizes, x.type), tensor([(1, 1, step, d)[i] for i in order], x.type)
        result, parts = (wide, ()) if self.rest is None else (x.type, (PARTS,))
        sums, mean = tensor((1, 1, d)), tensor((1, 1, *parts, d), result)
        means, made = tensor(("?", "?", *parts, d), result), tensor(("?", "?", "?", *parts, d), result)
        loops = "bhpd" if parts else "bhd"
        row, at_mean = (f"affine_map<({', '.join(loops)}) -> ({', '.join(dims)})>" for dims in ("bhd", loops))
        places, kept = (", %c0", ", [4]") if parts else ("", "")
        at = ", ".join(("%b", "%h", "%n", "%c0")[i] for i in order)
        widened = ("%wide = arith.extf %in : " + f"{x.type} to {wide}" if x.type != wide else
                   f"%wide = arith.addf %in, %zero : {wide}")
        return f"""
func.func @{self.name}(%x: {given}) -> {made} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = arith.constant {self.size} : index
  %zero = arith.constant 0.0 : {wide}
  %at_b = arith.constant {order.index(0)} : index
  %at_h = arith.constant {order.index(1)} : index
  %at_n = arith.constant {order.index(2)} : index
  %B = tensor.dim %x, %at_b : {given}
  %H = tensor.dim %x, %at_h : {given}
  %N = tensor.dim %x, %at_n : {given}
  %M = arith.ceildivsi %N, %size : index
  %HM = arith.muli %H, %M : index
  %empty = tensor.empty(%B, %HM) : {means}
  %all = pit.forall (%b, %h, %m) = (%c0, %c0, %c0) to (%B, %H, %M) step (1, 1, 1) conflicts(none)
      iter_args(%out = %empty) -> ({means}) {{
    %begin = arith.muli %m, %size : index
    %end = arith.addi %begin, %size : index
    %begin_h = arith.muli %h, %M : index
    %hm = arith.addi %begin_h, %m : index
    %left = arith.subi %N, %begin : index
    %there = arith.minsi %left, %size : index
    %count_i = arith.index_cast %there : index to i64
    %count = arith.sitofp %count_i : i64 to {wide}
    %no_sums = tensor.empty() : {sums}
    %zeros = linalg.fill ins(%zero : {wide}) outs(%no_sums : {sums}) -> {sums}
    %sums = pit.for (%n) = (%begin) to (%end) step ({step}) iter_args(%acc = %zeros) -> ({sums}) {{
      %rows = pit.sread %x[{at}] pad(0.0 : {x.type}) : {given} -> {tile}
      %more = linalg.generic {{indexing_maps = [{map_of([("b", "h", "n", "d")[i] for i in order])}, {map_of("bhd")}],
          iterator_types = ["parallel", "parallel", "reduction", "parallel"]}}
          ins(%rows : {tile}) outs(%acc : {sums}) {{
      ^bb0(%in: {x.type}, %old: {wide}):
        {widened}
        %new = arith.addf %old, %wide : {wide}
        linalg.yield %new : {wide}
      }} -> {sums}
      pit.yield %more : {sums}
    }}
    %no_means = tensor.empty() : {mean}
    %means = linalg.generic {{indexing_maps = [{row}, {at_mean}], iterator_types = [{', '.join(['"parallel"'] * len(loops))}]}}
        ins(%sums : {sums}) outs(%no_means : {mean}) {{
    ^bb0(%in: {wide}, %old: {result}):
      %mean = arith.divf %in, %count : {wide}
      {self.parted(wide, x.type)}
    }} -> {mean}
    %written = pit.swrite %means into %out[%b, %hm{places}, %c0] : {mean} into {means}
    pit.yield %written : {means}
  }}
  %result = tensor.expand_shape %all [[0], [1, 2], [3]{kept}] output_shape [%B, %H, %M, {', '.join(map(str, (*parts, d)))}] : {means} into {made}
  return %result : {made}
}}
"""

    def parted(self, wide, type_):
        """The text that yields %mean, or the part of it that loop 2 says. What is not finite has no rest."""
        if self.rest is None:
            return f"linalg.yield %mean : {wide}"
        return f"""%near = arith.truncf %mean : {wide} to {type_}
      %back = arith.extf %near : {type_} to {wide}
      %exact = arith.subf %mean, %back : {wide}
      %is_finite = arith.cmpf ord, %exact, %exact : {wide}
      %part = linalg.index 2 : index
      %at_rest = arith.constant {self.rest} : index
      %is_rest = arith.cmpi eq, %part, %at_rest : index
      %none = arith.select %is_finite, %exact, %zero : {wide}
      %small = arith.truncf %none : {wide} to {type_}
      %each = arith.select %is_rest, %small, %near : {type_}
      linalg.yield %each : {type_}"""


@kind
@dataclass(frozen=True)
class BlockScores(Op):
    """q k.T in the type of sums, of means or of their parts side by side."""

    name = "block_scores"
    autocasts = differentiable = False

    def arguments(self):
        return [Argument("q", tuple("bgmd"), LAYER_FLOATS), Argument("k", tuple("bgnd"), LAYER_FLOATS)]

    def dynamic(self):
        return ("b", "g", "m", "n")

    def fixed(self):
        return ("d",)

    def results(self, types, sizes):
        return [(wide_type(types[0]), tuple(sizes[x] for x in "bgmn"))]

    def build(self, builder, values, orders):
        q, k = values
        return [builder.product(values, (tuple("bgmd"), tuple("bgnd")), (*q.dims[:3], k.dims[2]), tuple("bgmn"),
                                wide_type(q.type))]
