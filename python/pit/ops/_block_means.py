"""Means of blocks of places, in the type of sums. Frameworks read f16 and bf16 at a fraction of memory's
rate for it on a CPU, and short blocks at the end would be ops of their own."""

from dataclasses import dataclass

from ._op import Argument, Op, kind
from ._text import LAYER_FLOATS, wide_type

STEP = 8  # places that a step of the loop adds up, at most


@kind
@dataclass(frozen=True)
class BlockMeans(Op):
    """x (batch, heads, places, d): the means of so many places each, of which the last may be fewer."""

    size: int

    name = "block_means"
    autocasts = differentiable = False

    def arguments(self):
        return [Argument("x", tuple("bhnd"), LAYER_FLOATS, permutable=True)]

    def dynamic(self):
        return ("b", "h", "n")

    def exact(self):
        return ("n",)

    def results(self, types, sizes):
        b, h, n, d = (sizes[x] for x in "bhnd")
        return [(wide_type(types[0]), (b, h, -(-n // self.size), d))]

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
        sums, means, made = tensor((1, 1, d)), tensor(("?", "?", d)), tensor(("?", "?", "?", d))
        at = ", ".join(("%b", "%h", "%n", "%c0")[i] for i in order)
        row = "affine_map<(b, h, d) -> (b, h, d)>"
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
    %means = linalg.generic {{indexing_maps = [{row}, {row}], iterator_types = ["parallel", "parallel", "parallel"]}}
        ins(%sums : {sums}) outs(%no_sums : {sums}) {{
    ^bb0(%in: {wide}, %old: {wide}):
      %mean = arith.divf %in, %count : {wide}
      linalg.yield %mean : {wide}
    }} -> {sums}
    %written = pit.swrite %means into %out[%b, %hm, %c0] : {sums} into {means}
    pit.yield %written : {means}
  }}
  %result = tensor.expand_shape %all [[0], [1, 2], [3]] output_shape [%B, %H, %M, {d}] : {means} into {made}
  return %result : {made}
}}
"""
