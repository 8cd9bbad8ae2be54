//===- LoopsOverTiles.td - Passes on loops over tiles (level 3) -*- tablegen -*-===//

#ifndef PIT_DIALECT_PIT_TRANSFORMS_LOOPSOVERTILES_TD
#define PIT_DIALECT_PIT_TRANSFORMS_LOOPSOVERTILES_TD

include "mlir/Pass/PassBase.td"

def PitFuseEpilogues : Pass<"pit-fuse-epilogues", "::mlir::func::FuncOp"> {
  let summary = "computes element-wise ops on tiles before they are written";
  let description = [{
    A linalg op moves into a `pit.forall` if it has parallel dimensions only, and
    if it alone uses the loop's result. It is computed on every tile that is
    written, its other operands are read tile by tile, and the loop gives its
    result. So do the ops after it, one by one. They see what would have been
    written, that is, sums rounded to the type of the result.

    Elements that the loop does not write are as its init is. So the init has to be one of
    these, and the new loop starts from what the op makes of it:

    - a new tensor, of which nothing is known there;
    - a constant of which the op makes a constant, or gives one of its other
      operands (S3 of docs/Legality.md).

    A tile that is one of several summands (`conflicts`, or an output that is read
    again) is left alone. The conditions are E1 to E5 of docs/Legality.md.

    On a GPU tensor cores wait for what an epilogue computes. So there, an op that
    computes functions of another operand as large as the result (the derivative of
    gelu, which multiplies a gradient) is faster by itself: `separate-functions` leaves it.

    Example:

    ```mlir
    func.func @f(%x: tensor<?xf32>, %b: tensor<?xf32>, %n: index) -> tensor<?xf32> {
      %c0 = arith.constant 0 : index
      %e = tensor.empty(%n) : tensor<?xf32>
      %r = pit.forall (%i) = (%c0) to (%n) step (64) iter_args(%o = %e) -> (tensor<?xf32>) {
        %t = pit.sread %x[%i] : tensor<?xf32> -> tensor<64xf32>
        %w = pit.swrite %t into %o[%i] : tensor<64xf32> into tensor<?xf32>
        pit.yield %w : tensor<?xf32>
      }
      %s = linalg.add ins(%r, %b : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
      return %s : tensor<?xf32>
    }
    ```

    becomes a loop that reads tiles of `%x` and `%b` and writes their sum.
  }];
  let options = [
    Option<"separateFunctions", "separate-functions", "bool", /*default=*/"false",
           "Leave ops that compute functions, as erf, of other operands of the "
           "result's size">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::pit::PitDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PitComputeOperands : Pass<"pit-compute-operands", "::mlir::func::FuncOp"> {
  let summary = "computes operands of contractions as they are read";
  let description = [{
    A contraction on a GPU may have an operand that an element-wise op makes of less
    than it has: of 8-bit numbers and scales, or of a bitmap and the values that are
    not zero, which the op's body reads by `tensor.extract` at places that it
    computes. If one tile of the contraction's loop reads an element, as with few
    rows of the other operand, the op becomes a part of the loop: it computes a tile
    from tiles of what it reads. So the operand is nowhere in memory, and a step reads
    as many bytes as the compressed operand has. [K1 to K5]

    Kernels then compute the tile in registers, where tensor cores take it from
    (`pit.pointwise` of a tile body).

    Example: test/Dialect/Pit/Transforms/compute-operands.mlir.
  }];
  let options = [
    Option<"explain", "explain", "bool", "false",
           "Say which operands stay in memory, and why.">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::pit::PitDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PitFuseRowSums : Pass<"pit-fuse-row-sums", "::mlir::func::FuncOp"> {
  let summary = "computes sums of rows where an element-wise op reads them";
  let description = [{
    A linalg.generic that reduces rows, and one that computes elements of what it
    reads, become one op with the results of both. So the gradients of a layer's
    hidden values and that of what scales them are computed in one pass over the
    values. Neither reads what the other one gives. Rows have 256 elements or more.

    The results of the elements keep their maps, which have the dim that is reduced:
    each point of the op computes its own.

    Example: test/Dialect/Pit/Transforms/fuse-row-sums.mlir.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def PitWriteUnpacked : Pass<"pit-write-unpacked", "::mlir::func::FuncOp"> {
  let summary = "writes what is only unpacked where it belongs";
  let description = [{
    A `pit.forall` that writes tiles of a packed tensor, and one that does nothing
    but unpack that by the same index, become one loop that writes the unpacked
    tensor. Nothing else reads what is packed, and the second loop reads all of it.

    Example:

    ```mlir
    func.func @f(%x: tensor<?x64xf32>, %i: !pit.index<micro_tile = [1], axis = 0>, %e: tensor<?x64xf32>,
                 %z: tensor<?x64xf32>) -> tensor<?x64xf32> {
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %p = pit.forall %ids at %pos in %i : !pit.index<micro_tile = [1], axis = 0> chunk 32
             iter_args(%o = %e) -> (tensor<?x64xf32>) {
        %t = pit.sread %x[%ids : !pit.ids<32>, %c0] : tensor<?x64xf32> -> tensor<32x64xf32>
        %w = pit.swrite %t into %o[%pos : !pit.ids<32>, %c0] : tensor<32x64xf32> into tensor<?x64xf32>
        pit.yield %w : tensor<?x64xf32>
      }
      %y = pit.forall (%n) = (%c0) to (%c64) step (64), %ids at %pos in %i : !pit.index<micro_tile = [1], axis = 0>
             chunk 16 iter_args(%o = %z) -> (tensor<?x64xf32>) {
        %t = pit.sread %p[%pos : !pit.ids<16>, %n] : tensor<?x64xf32> -> tensor<16x64xf32>
        %w = pit.swrite %t into %o[%ids : !pit.ids<16>, %n] : tensor<16x64xf32> into tensor<?x64xf32>
        pit.yield %w : tensor<?x64xf32>
      }
      return %y : tensor<?x64xf32>
    }
    ```

    becomes a loop that reads tiles of `%x` at `%ids` and writes them there into `%z`.
  }];
  let dependentDialects = ["::mlir::pit::PitDialect"];
}

def PitComputeLiveRows : Pass<"pit-compute-live-rows", "::mlir::func::FuncOp"> {
  let summary = "computes element-wise ops on the packed rows that there are";
  let description = [{
    A packed tensor may have room for more rows than an index lists, where a call
    alone knows how many there are. An element-wise op on such tensors becomes a
    `pit.forall` over the index if nobody reads other rows of its results, or if
    other rows of an operand are nothing. It computes the rows that have positions.
    The conditions are L1 to L3 of docs/Legality.md.

    Example:

    ```mlir
    func.func @f(%x: tensor<?x64xf32>, %i: !pit.index<micro_tile = [1], axis = 0>, %e: tensor<?x64xf32>,
                 %z: tensor<?x64xf32>) -> tensor<?x64xf32> {
      %c0 = arith.constant 0 : index
      %h = linalg.exp ins(%x : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
      %y = pit.forall %ids at %pos in %i : !pit.index<micro_tile = [1], axis = 0> chunk 16
             iter_args(%o = %z) -> (tensor<?x64xf32>) {
        %t = pit.sread %h[%pos : !pit.ids<16>, %c0] : tensor<?x64xf32> -> tensor<16x64xf32>
        %w = pit.swrite %t into %o[%ids : !pit.ids<16>, %c0] : tensor<16x64xf32> into tensor<?x64xf32>
        pit.yield %w : tensor<?x64xf32>
      }
      return %y : tensor<?x64xf32>
    }
    ```

    becomes two loops over `%i`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::pit::PitDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PitNarrowSiblings : Pass<"pit-narrow-siblings", "::mlir::func::FuncOp"> {
  let summary = "makes room for several sums in a tile";
  let description = [{
    Planned contractions whose results meet in an element-wise op, some of them after
    element-wise ops of their own, and whose tiles and ids are the same, will share a
    loop that carries the sums of all of them (`pit-fuse-siblings`). A block of threads has registers for 128 x 256 sums on
    tensor cores, and for 128 x 128 if an operand's elements have more than 16 bits.
    If all of the contractions have more, their tiles become narrower, along the
    result's last dimension that no micro-tile has.

    Tiles of less than 32 elements are not made. Contractions whose groups write the
    same outputs (`conflicts`) are left alone.

    Example: of two rules with `tile = [128, 1, 256, 64]` for silu(x A) * (x B) both
    become `tile = [128, 1, 128, 64]`.
  }];
}

def PitFuseSiblings : Pass<"pit-fuse-siblings", "::mlir::func::FuncOp"> {
  let summary = "computes contractions whose tiles meet in one loop";
  let description = [{
    A `pit.forall` that computes a contraction moves into one that computes another
    one, and that reads, on each of its tiles, just what the first one wrote there.
    So do the two projections of a gated layer, silu(x A) * (x B): the second
    loop's epilogue reads the tile of the first product. Then one `pit.for` over
    steps carries both sums. Operands of both are read once, and the first product is
    never in memory. `pit-form-mainloops` makes a mainloop with two accumulators
    of it.

    Both loops go through the same ranges, chunks of ids and steps. The first
    loop's result has no other use. A block of threads has registers for the sums of
    both (`pit-narrow-siblings`).

    Example: test/Dialect/Pit/Transforms/fuse-siblings.mlir.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::pit::PitDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PitShareScans : Pass<"pit-share-scans", "::mlir::func::FuncOp"> {
  let summary = "has a value scanned once: where it is computed, or by one choice";
  let description = [{
    If `pit.index` or `pit.choose` reads values that a `pit.forall` computes, the
    loop scans each tile when it has written it (`pit.scan`), and the index or
    the choice takes the bits. Variants that a call chooses from (`scf.if`) all
    scan. Elements that the loop does not write are background: their bits are 0.

    Values of others, as arguments, are read as before; so are those of loops that
    add to their result, whose tiles are not final, and of tiles that do not lie at
    multiples of 8 elements.

    Example of a loop that scans:

    ```mlir
    %h = pit.forall (%m, %n) = (%c0, %c0) to (%M, %c1024) step (32, 128)
         iter_args(%o = %e) -> (tensor<?x1024xf32>) {
      ...
      %w = pit.swrite %relu into %o[%m, %n] : tensor<32x128xf32> into tensor<?x1024xf32>
      pit.yield %w : tensor<?x1024xf32>
    }
    %i = pit.index %h : tensor<?x1024xf32> -> !pit.index<micro_tile = [32, 1], axis = 1>
    ```

    becomes

    ```mlir
    %h:2 = pit.forall (%m, %n) = (%c0, %c0) to (%M, %c1024) step (32, 128)
           iter_args(%o = %e, %b = %eb) -> (tensor<?x1024xf32>, tensor<?x128xi8>) {
      ...
      %w = pit.swrite %relu into %o[%m, %n] : tensor<32x128xf32> into tensor<?x1024xf32>
      %l = pit.scan %w[%m, %n : index, index] tile [32, 128] into %b
           : tensor<?x1024xf32> into tensor<?x128xi8> -> tensor<?x128xi8>
      pit.yield %w, %l : tensor<?x1024xf32>, tensor<?x128xi8>
    }
    %i = pit.index %h#0 bitmap(%h#1 : tensor<?x128xi8>) : tensor<?x1024xf32>
         -> !pit.index<micro_tile = [32, 1], axis = 1>
    ```

    Several `pit.choose` of a block may scan one tensor, as for both gradients of
    a product behind a ReLU. Then one of them comes first, and the others take what
    it has seen (`seen`). Each still decides for itself, by its own costs and the
    zeros of this call. The first is one that looks for all that the others ask
    about, as a device needs it, unless the times of its variants are not known so
    early.

    Choices that read bits have nothing to share.

    Example:

    ```mlir
    %v, %bv = pit.choose %x of [!pit.index<micro_tile = [1, *], axis = 0>] ...
    %w, %bw = pit.choose %x of [!pit.index<micro_tile = [1, *], axis = 0>] ...
    ```

    becomes

    ```mlir
    %v, %bv = pit.choose %x of [!pit.index<micro_tile = [1, *], axis = 0>] ...
    %w, %bw = pit.choose %x seen(%bv) of [!pit.index<micro_tile = [1, *], axis = 0>] ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::pit::PitDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PitPackColumns : Pass<"pit-pack-columns", "::mlir::func::FuncOp"> {
  let summary = "packs what ids select within rows, where tiles read it again";
  let description = [{
    The ids of a `pit.for` may select elements within the rows of a tensor. Then each of
    them is loaded alone, and again for each tile along the result's other
    dimensions. On a GPU with wgmma, a `pit.forall` before the loop copies the
    columns that the index lists into a tensor with a row for each position, and the
    loop reads that by positions: rows of consecutive elements. So a product whose
    A, [m, k], has zeros in micro-tiles of 32x1 reads two tensors by rows.

    If the function builds the index of that tensor's values, and its micro-tiles
    are what is packed, the build may do it in the pass that finds them
    (`pit.packed_index`); the `pit.forall` then is for builds that cannot. Not where
    the index is built from bits.

    It is done for elements of 16 bits, whose tiles wgmma takes transposed; where the
    tile's rows are those of the index's group, so that each position has one
    column; where a column has a multiple of 16 bytes; and where there is more than one
    tile to read it, or may be. The ops that read the tile become `linalg.generic`
    with another indexing map.

    Example: test/Dialect/Pit/Transforms/pack-columns.mlir.
  }];
  let options = [Pit_TileTarget];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::pit::PitDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PitTransposeGathered
    : Pass<"pit-transpose-gathered", "::mlir::func::FuncOp"> {
  let summary = "transposes operands of which ids select elements within rows";
  let description = [{
    The ids of a loop may select elements within the rows of a tensor. Then each of
    them is loaded alone, and again for each group of the index. On a GPU with
    wgmma, a `pit.forall` before the tile loop writes the tensor transposed, and the
    loop reads rows of that by its ids. So a product by a weight that is stored
    [n, k], whose other operand is sparse along k, gathers rows, as by one stored [k, n];
    and so does one by a weight [k, n] that is itself sparse along k in parts of
    rows: its other operand, [m, k], is transposed.

    It is done for elements of 16 bits, which wgmma takes by rows of either kind;
    where a gathered row has a multiple of 16 bytes in a tile; where the tile loop
    has four groups or more to read it, or may have; and where there are more than
    eight rows, or may be. The copy reads and
    writes the tensor once, whatever the index lists. Several reads of one tensor
    share it. The ops that read the tile become `linalg.generic` with another
    indexing map. An operand that `pit-pack-columns` packs needs no copy, so that pass comes first.

    Example: test/Dialect/Pit/Transforms/transpose-gathered.mlir.
  }];
  let options = [Pit_TileTarget];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::pit::PitDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PitFold : Pass<"pit-fold", "::mlir::func::FuncOp"> {
  let summary = "keeps values packed between ops that share an index";
  let description = [{
    Packing commutes with every op in which the packed dimensions are parallel
    PIT axes: element-wise ops, layer norm, row softmax, the rows of a matmul.
    So whole-tensor `pit.sread` moves up through ops whose result is only packed.
    `pit.swrite` moves down through ops that make a constant of the background
    around what is unpacked, or leave their init there. If the two meet by the
    same index, both go. Operands of planned ops are packed if that reaches an op
    that can have them packed.

    An element-wise op that is planned by the index of the planned op before it
    loses its `pit.rule`: it is folded, or computed by the loop of that op (E6 and
    E7 of docs/Legality.md).

    Example:

    ```mlir
    func.func @f(%p: tensor<?x64xf32>, %i: !pit.index<micro_tile = [1, *], axis = 0>,
                 %init: tensor<?x64xf32>, %bias: tensor<64xf32>) -> tensor<?x64xf32> {
      %x = pit.swrite %p into %init[%i : !pit.index<micro_tile = [1, *], axis = 0>]
             : tensor<?x64xf32> into tensor<?x64xf32>
      %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>,
                                            affine_map<(m, n) -> (m, n)>],
                           iterator_types = ["parallel", "parallel"]}
             ins(%x, %bias : tensor<?x64xf32>, tensor<64xf32>) outs(%init : tensor<?x64xf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %s = arith.addf %a, %b : f32
        linalg.yield %s : f32
      } -> tensor<?x64xf32>
      %q = pit.sread %r[%i : !pit.index<micro_tile = [1, *], axis = 0>]
             : tensor<?x64xf32> -> tensor<?x64xf32>
      return %q : tensor<?x64xf32>
    }
    ```

    becomes the `linalg.generic` on `%p`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::pit::PitDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // PIT_DIALECT_PIT_TRANSFORMS_LOOPSOVERTILES_TD
