//===- PlanAndTile.td - Passes of levels 2 and 3 -----------*- tablegen -*-===//

#ifndef PIT_DIALECT_PIT_TRANSFORMS_PLANANDTILE_TD
#define PIT_DIALECT_PIT_TRANSFORMS_PLANANDTILE_TD

// Included by Passes.td, which defines what is used here.

// Options on where tile sizes come from.
def Pit_TileTable : Option<"tileTable", "tile-table", "std::string",
    /*default=*/"",
    "Table of tile sizes (a JSON file) in place of the built-in one">;
def Pit_TileTarget : Option<"target", "target", "std::string",
    /*default=*/[{"avx512"}],
    "The machine whose built-in table of tile sizes counts: a CPU (generic, "
    "avx2, avx512 or amx), or a GPU's chip, as sm_80">;
def Pit_Tf32 : Option<"tf32", "tf32", "bool", /*default=*/"false",
    "f32 may be multiplied as tf32: tiles that suit it">;
def Pit_ExplainTiles : Option<"explain", "explain", "bool",
    /*default=*/"false",
    "Say what tiles were modelled to take, where there was a choice">;

def PitPlan : Pass<"pit-plan", "::mlir::func::FuncOp"> {
  let summary = "chooses how marked linalg ops gather their micro-tiles";
  let description = [{
    For each linalg op with a marked operand or result (level 1), the pass looks at
    every axis of every mark. Is it a PIT axis? May what is not selected be
    skipped? Can tiles cut out its groups? The cheapest of the legal rules,
    by a static model, becomes the op's `pit.rule`. Its index is built
    from the mark's source, and the operand is marked by that index (level 2).

    Tile sizes come from a table, a JSON file, which `TileTable.h` describes. It
    may have several sizes for an op, with the cycles that each takes. If the
    op's extents are static, the size of the least modelled time is taken.

    Lengths list the rows of each matrix of a batch as a group. A sum over the batch
    and its rows goes through all of them. So its batch and rows become one dimension,
    where each operand has them one after the other or not at all, and its index has a
    single group: the rows of the whole batch. On a CPU they stay in a product, whose
    operands may lie packed, and of which a nest of loops is no slower.

    A rule on the mark is kept. The parts that it gives are taken as they are, and
    it is an error if no op can carry it out. An op without a legal rule stays
    dense, and a remark says why.

    If something is known of the zeros of a mark, its live fraction by each candidate
    micro-tile is counted, and the rule of the least time by the table's `costs` is
    taken, or none. The sources are `samples`, a `profile`, or the mark's live fraction.

    With `choice=run-time` an op whose mark selects by values or by a mask becomes a
    chain of `scf.if` on `pit.choose`. Its variants are the dense op, and one for each
    micro-tile that the table's `costs` list; of windows one for these, and one for
    single elements. Element-wise ops that follow go into the variants. An op whose
    operand is used so rarely that scanning it takes longer than all of it stays
    dense, as sums and element-wise ops do. On GPUs only contractions with a mark
    of the left operand's values choose.

    Groups that write the same outputs are kept apart as `conflicts` says. With
    `deterministic`, what would not be deterministic if it were atomic has two
    phases, unless its partial results would take more than 4 GB. If it can be
    neither, it is sequential.

    Example:

    ```mlir
    %s = pit.sparse %a : tensor<?x?xf32>
    %c = linalg.matmul ins(%s, %b : tensor<?x?xf32>, tensor<?x?xf32>)
           outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
    ```

    becomes

    ```mlir
    %i = pit.index %a : tensor<?x?xf32> -> !pit.index<micro_tile = [32, 1], axis = 1>
    %s = pit.sparse %a index(%i : !pit.index<micro_tile = [32, 1], axis = 1>) assume : tensor<?x?xf32>
    %c = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 1, micro_tile = [32, 1], tile = [32, 128, 64]>}
           ins(%s, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
    ```
  }];
  let options = [
    Pit_TileTable, Pit_TileTarget, Pit_Tf32, Pit_ExplainTiles,
    Option<"strict", "strict", "bool", /*default=*/"false",
           "Only rules that give the dense program's bits">,
    Option<"conflicts", "conflicts", "::mlir::pit::Conflicts",
           /*default=*/"::mlir::pit::Conflicts::Sequential",
           "How groups that write the same outputs are kept apart",
           [{::llvm::cl::values(
               clEnumValN(::mlir::pit::Conflicts::Sequential, "sequential",
                          "one after another"),
               clEnumValN(::mlir::pit::Conflicts::Atomic, "atomic",
                          "by atomic writes, where the combiner has them"),
               clEnumValN(::mlir::pit::Conflicts::TwoPhase, "two_phase",
                          "by memory of their own, added up afterwards"),
               clEnumValN(::mlir::pit::Conflicts::TwoPhaseRounded,
                          "two_phase_rounded",
                          "the same, in the result's type, if that is narrower "
                          "than sums are and two phases can be; else atomic"))}]>,
    Option<"deterministic", "deterministic", "bool", /*default=*/"false",
           "Only rules that give the same bits every time">,
    Option<"unordered", "unordered", "bool", /*default=*/"false",
           "Indices may list the ids of a group in any order">,
    Option<"choice", "choice", "::mlir::pit::Choice",
           /*default=*/"::mlir::pit::Choice::Now",
           "When an op's rule is chosen, where the mark has none and its source "
           "is its values",
           [{::llvm::cl::values(
               clEnumValN(::mlir::pit::Choice::Now, "now",
                          "now, for the live fraction of the table"),
               clEnumValN(::mlir::pit::Choice::AtRunTime, "run-time",
                          "at each call, by the zeros that there are; the table "
                          "has to say what that costs"))}]>,
    Pit_Samples, Pit_Profile
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect",
                           "::mlir::pit::PitDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PitTile : Pass<"pit-tile", "::mlir::func::FuncOp"> {
  let summary = "tiles planned linalg ops: loops, SRead, tile compute, SWrite";
  let description = [{
    Turns every linalg op that carries a `#pit.rule` (level 2) into loops over
    tiles (level 3). `pit.sparse .. index(..)` has to mark the rule's operand, or
    the op's result. The index gives the micro-tiles that are gathered along the
    rule's axis.

    Parallel dimensions become one `pit.forall`, reductions become `pit.for`.
    Factors of a product that do not depend on the innermost reduction leave it;
    one that is 1 is left out. Element-wise ops without a rule that end in a mark
    by the same index are computed by the loop, which starts from the mark's
    background (E6 of docs/Legality.md).
    Reductions in floats narrower than f32 accumulate in f32. Tiles of packed tensors are
    computed on without the dims of groups.

    If a reduction numbers the groups of micro-tiles, several of them write the
    same outputs. `conflicts` of the rule says how the loop over them runs:

    - `sequential`: a sequential loop, inside of the parallel one.
    - `atomic`: part of the parallel one. Each tile starts from the combiner's
      identity, and its SWrite combines it with the outputs.
    - `two_phase`: part of the parallel one. Each tile writes what it sums packed,
      by positions. A second parallel loop over the ids adds up what each of them
      has, at the positions that `pit.transpose_index` lists, in the order of
      groups.
    - `two_phase_rounded`: the same, but what is written packed has the result's
      type. It is added up in f32.
    - `disjoint`: part of the parallel one. No two groups list the same id, so
      nothing is combined.

    `atomic` and both with two phases refuse combiners that arith has no atomic operation
    for (those of complex).

    Example:

    ```mlir
    %i = pit.index %a : tensor<?x?xf32> -> !pit.index<micro_tile = [32, 1], axis = 1>
    %s = pit.sparse %a index(%i : !pit.index<micro_tile = [32, 1], axis = 1>) assume : tensor<?x?xf32>
    %c = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 1, micro_tile = [32, 1], tile = [32, 128, 64]>}
           ins(%s, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
    ```

    becomes a `pit.forall` over blocks of 32 rows and 128 columns, around a
    `pit.for` over chunks of 64 ids of the row block's group.
  }];
  let options = [
    Option<"kernels", "kernels", "bool", /*default=*/"false",
           "For kernels: a single tile is computed in a pit.forall, too">
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::pit::PitDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PitCollapseSums : Pass<"pit-collapse-sums", "::mlir::func::FuncOp"> {
  let summary = "makes one dim of those over which a marked operand is summed";
  let description = [{
    A gradient of weights is a sum over a batch and its rows. A rule for marked rows has
    its axis along one of the two dims, so each batch element has a list of its own, or a
    micro-tile spans all of them. If each operand has the dims that are summed over one
    after the other, they become one dim, and one list has the rows of all. The mark
    follows by `pit-sink-marks`.

    Marks by lengths, a routing or an index stay, since these are about the dims that there
    are, and so do marks with a rule. A kernel of a GPU takes one loop over ids, so there dims of any
    extent become one. A CPU is as fast by a nest of loops, unless lists are short.

    Example:

    ```mlir
    #x = affine_map<(k, n, b, m) -> (b, m, k)>
    #g = affine_map<(k, n, b, m) -> (b, m, n)>
    #y = affine_map<(k, n, b, m) -> (k, n)>
    %s = pit.sparse %x : tensor<4x8x16xf32>
    %y = linalg.generic {indexing_maps = [#x, #g, #y],
                         iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%s, %g : tensor<4x8x16xf32>, tensor<4x8x32xf32>) outs(%o : tensor<16x32xf32>) {
    ```

    becomes a product of matrices with 32 rows:

    ```mlir
    %s = pit.sparse %x : tensor<4x8x16xf32>
    %a = tensor.collapse_shape %s [[0, 1], [2]] : tensor<4x8x16xf32> into tensor<32x16xf32>
    %b = tensor.collapse_shape %g [[0, 1], [2]] : tensor<4x8x32xf32> into tensor<32x32xf32>
    %y = linalg.generic ... ins(%a, %b : tensor<32x16xf32>, tensor<32x32xf32>) outs(%o : tensor<16x32xf32>) {
    ```
  }];
  let options = [
    Option<"longest", "longest", "int64_t", /*default=*/"-1",
           "Dims of larger or of unknown extents stay; -1: none does">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"];
}

def PitFormMatrices : Pass<"pit-form-matrices", "::mlir::func::FuncOp"> {
  let summary = "makes contractions products of matrices";
  let description = [{
    A factor of a contraction may have no dim of its own in the result, as the vector of
    `linalg.matvec`, `linalg.vecmat` and their batches. Tensor cores take matrices:
    the vector becomes a matrix of a single row, and so does the result. Rows come
    before the vector's reduced dims, and in the result before the matrix's own
    dims. Contractions without a mark are taken whose factors are floats of 16
    bits or less.

    Element-wise ops that `pit-fuse-epilogues` would move into the loop get the
    dim as well, and `tensor.collapse_shape` comes after the last of them.

    Example of a vector:

    ```mlir
    %y = linalg.matvec ins(%w, %x : tensor<32x16xf16>, tensor<16xf16>)
           outs(%o : tensor<32xf32>) -> tensor<32xf32>
    ```

    becomes a product of one row:

    ```mlir
    #w = affine_map<(m, n, k) -> (n, k)>
    #x = affine_map<(m, n, k) -> (m, k)>
    #y = affine_map<(m, n, k) -> (m, n)>
    %a = tensor.expand_shape %x [[0, 1]] output_shape [1, 16] : tensor<16xf16> into tensor<1x16xf16>
    %b = tensor.expand_shape %o [[0, 1]] output_shape [1, 32] : tensor<32xf32> into tensor<1x32xf32>
    %p = linalg.generic {indexing_maps = [#w, #x, #y], ...} ins(%w, %a : ...) outs(%b : tensor<1x32xf32>) {
    %y = tensor.collapse_shape %p [[0, 1]] : tensor<1x32xf32> into tensor<32xf32>
    ```

    Layers work on tensors of several leading dims, as `[batch, tokens, k]`, and
    their weights have none of them. On a GPU a tile of a product has one dim for
    rows and one for columns. So dims of a contraction without a mark, or of a sum of
    rows, become one where each operand has all of them, one after the other, or none. They are
    rows, columns or reductions, not dims that all inputs have: these number
    products of their own.

    Element-wise ops that `pit-fuse-epilogues` would move into the loop are
    collapsed as well, and `tensor.expand_shape` comes after the last of them. If
    one of them has only some of the dims in an operand, as a scale for each batch
    element, all stay: one kernel is worth more. They stay, too, where an operand
    is a slice, or the result goes into one, because only a copy could be
    collapsed.

    An operand that an op repeats along new dims (`linalg.broadcast`, or a generic
    op that does so) is read as it was before.

    Example:

    ```mlir
    #x = affine_map<(b, m, n, k) -> (b, m, k)>
    #w = affine_map<(b, m, n, k) -> (k, n)>
    #y = affine_map<(b, m, n, k) -> (b, m, n)>
    %y = linalg.generic {indexing_maps = [#x, #w, #y],
                         iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<4x8x16xf32>, tensor<16x32xf32>) outs(%o : tensor<4x8x32xf32>) {
    ```

    becomes a product of 32 rows:

    ```mlir
    %a = tensor.collapse_shape %x [[0, 1], [2]] : tensor<4x8x16xf32> into tensor<32x16xf32>
    %c = tensor.collapse_shape %o [[0, 1], [2]] : tensor<4x8x32xf32> into tensor<32x32xf32>
    %p = linalg.generic ... ins(%a, %w : tensor<32x16xf32>, tensor<16x32xf32>) outs(%c : tensor<32x32xf32>) {
    %y = tensor.expand_shape %p [[0, 1], [2]] output_shape [4, 8, 32] : tensor<32x32xf32> into tensor<4x8x32xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def PitVersionTiles : Pass<"pit-version-tiles", "::mlir::func::FuncOp"> {
  let summary = "gives contractions tiles for few and for many rows";
  let description = [{
    How many rows a batch has is often known only when the program runs. Large
    tiles are good for thousands of rows. For a few of them there are too few
    such tiles for a GPU, whose blocks then share them along the reduction and
    add up large sums, or rows that do not exist are multiplied.

    The pass takes contractions that gather nothing (those of `pit-tile-dense`)
    of which just one extent is not known, that of a parallel dim, if an operand
    without that dim has 262144 elements or more. Such an op becomes one op for
    each of up to three tiles in branches of `scf.if` on the extent, each with a
    `#pit.rule` that has a tile and no operand, for `pit-tile-dense`. The ops
    that would become its epilogue (`pit-fuse-epilogues`) are in each branch, and
    so are contractions whose results meet there. All branches write to the same
    memory.

    Tiles and limits come from the tile table. If its entries are timed, the
    tile that is best by a model counts, with limits that are powers of two from
    16 to 1024: the model counts steps, what is read, and sums that blocks share.
    A tile has to save 9 % of the modelled time somewhere. If entries are not
    timed, up to 16 rows have a tile of so many. So it is for f32 without tensor
    cores, of which large tiles alone are timed; many rows have these. On a CPU
    nothing is changed.

    Example (a part):

    ```mlir
    func.func @f(%a: tensor<?x4096xf16>, %b: tensor<4096x4096xf16>,
                 %c: tensor<?x4096xf32>) -> tensor<?x4096xf32> {
      %r = linalg.matmul ins(%a, %b : tensor<?x4096xf16>, tensor<4096x4096xf16>)
             outs(%c : tensor<?x4096xf32>) -> tensor<?x4096xf32>
      return %r : tensor<?x4096xf32>
    }
    ```

    becomes, for sm_90a, a product with tiles of 64 x 128 up to 256 rows, one with
    tiles of 128 x 128 up to 512, and one with tiles of 128 x 256 for more.
  }];
  let options = [Pit_TileTable, Pit_TileTarget, Pit_Tf32, Pit_ExplainTiles];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::pit::PitDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PitTileDense : Pass<"pit-tile-dense", "::mlir::func::FuncOp"> {
  let summary = "tiles contractions that gather nothing";
  let description = [{
    The lowering of `pit-tile` without an index. It takes every linalg op on
    tensors that has a reduction and two inputs or more, and whose maps index each
    dimension by itself. The op becomes a `pit.forall` over its parallel
    dimensions around `pit.for` over its reductions. Tile sizes come from the tile
    table.

    For a GPU it also takes sums of rows: ops with one input that combine its rows, 256
    or more, to a row. Blocks share the rows of 256 columns. Without `shared` they stay.

    Left alone are ops that cannot be tiled, convolutions, element-wise ops and other
    reductions of one input. Ops that carry a `pit.rule` for an operand are those
    of `pit-tile`. A rule that has a tile and no operand says which tile it is.

    For a CPU only ops are tiled whose lanes can be loaded: one input has the last
    dim of the result, which is 16 elements long at least. If that is not the
    input's own last dim, at least 32 rows have to meet each of its columns.

    Example:

    ```mlir
    func.func @f(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
      %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>)
             outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
      return %r : tensor<?x?xf32>
    }
    ```

    becomes, for a GPU, a `pit.forall` over tiles of 128 rows and 128 columns
    around a `pit.for` over tiles of 16 along the reduction.
  }];
  let options = [Pit_TileTable, Pit_TileTarget, Pit_Tf32, Pit_ExplainTiles,
    Option<"shared", "shared", "bool", /*default=*/"true",
           "Of timed entries larger tiles may be chosen because a GPU's blocks "
           "share them along the reduction">];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::pit::PitDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PitTileOnlineReductions
    : Pass<"pit-tile-online-reductions", "::mlir::func::FuncOp"> {
  let summary = "tiles reductions of one dimension that use each other's results";
  let description = [{
    A softmax, the sum that it weights, and a logarithm of a sum of exponentials
    reduce one dimension several times, and a later reduction uses the result of an
    earlier one: `sum(exp(x - max(x)))`. Op by op what lies between is stored. This
    pass makes one loop over tiles of the dimension. It carries all results so far,
    and where one changes, those that were taken relative to it are rescaled: the
    online softmax (Milakov and Gimelshein, 2018).

    The chain consists of linalg ops on tensors: reductions along the dimension
    (contractions, too), element-wise ops along it between them, and element-wise ops on
    their results. Results that only the chain reads, such as the
    scores of an attention, are computed tile by tile and never stored.
    docs/Legality.md lists the conditions (O1 to O8).

    If a value of the chain is marked by `pit.sparse`, with a background that
    contributes nothing, the loop runs over the ids of an index. It is the mark's own
    one or is built of its mask. All ops of the chain gather by it. If
    the mask is one of blocks, whose elements other ops repeat, ids are numbers of
    blocks, and a step reads a block, or a part of it, where it lies. Lengths end
    the loop early, and so do comparisons of places, also with integers in memory: a
    causal mask, packed sequences, a window. If one of two comparisons has to hold, the
    loop goes through the keys of both: first keys, and then a window.

    Example:

    ```mlir
    %m = linalg.generic {maximum of each row of x} ..
    %p = linalg.generic {exp(x - m)} ..
    %l = linalg.generic {sum of each row of p} ..
    ```

    becomes a `pit.forall` over rows around

    ```mlir
    %r:2 = pit.for (%j) = (%c0) to (%N) step (64)
        iter_args(%m0 = .., %l0 = ..) -> (tensor<64xf32>, tensor<64xf32>) {
      %t = pit.sread %x[%i, %j] ..
      %m1 = linalg.generic {maximum of each row of t and m0} ..
      %s = linalg.generic {exp(m0 - m1)} ..
      %p = linalg.generic {exp(t - m1)} ..
      %l1 = linalg.generic {sum of each row of p} outs(l0 * s)
      pit.yield %m1, %l1
    }
    ```
  }];
  let options = [Pit_TileTarget,
    Option<"explain", "explain", "bool", /*default=*/"false",
           "Say as remarks what is tiled, and why something else is not">];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::pit::PitDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // PIT_DIALECT_PIT_TRANSFORMS_PLANANDTILE_TD
