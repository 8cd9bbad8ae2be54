//===- Passes.td - Passes on the pit dialect ---------------*- tablegen -*-===//

#ifndef PIT_DIALECT_PIT_TRANSFORMS_PASSES_TD
#define PIT_DIALECT_PIT_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def PitExplain : Pass<"pit-explain", "::mlir::func::FuncOp"> {
  let summary = "explains, as remarks, what may be done with each sparse operand";
  let description = [{
    For each linalg op with a marked operand or result, remarks say

    - of each iteration dimension why it is a PIT axis or not,
    - whether the background may be skipped, and what becomes of the results
      there,
    - along which dimensions the operand may be packed,
    - which `#pit.rule` the op carries.

    A refusal names the condition of docs/Legality.md that fails. Marks are traced
    through `tensor.cast`, `tensor.expand_shape`, `tensor.collapse_shape` and
    `linalg.transpose`. If a mark ends at another op, a remark names that op.

    Nothing is changed. `pit-plan` and `pit-tile-dense` say what tiles were
    modelled to take, if told to `explain`.

    Example:

    ```mlir
    %s = pit.sparse %a : tensor<?x?xf32>
    %c = linalg.matmul ins(%s, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
    ```

    gives

    ```
    remark: linalg.matmul: d0 is a PIT axis: it indexes every result
    remark: linalg.matmul: d1 is a PIT axis: it indexes every result
    remark: linalg.matmul: d2 is a PIT axis: arith.addf combines result 0
    remark: linalg.matmul: operand 0 is sparse, by its values, background 0.000000e+00 : f32
    remark: linalg.matmul: skipping operand 0 is legal: result 0 is kept
    remark: linalg.matmul: operand 0 may be packed along d0 (dimension 0 of operand 0), d2 (dimension 1 of operand 0)
    remark: linalg.matmul: carries no rule, so it is computed dense
    ```
  }];
}

def PitEliminateEmpties : Pass<"pit-eliminate-empties", "::mlir::ModuleOp"> {
  let summary = "has tensors computed in the memory that they will lie in";
  let description = [{
    Like upstream's `eliminate-empty-tensors`: a tensor that is computed from a
    `tensor.empty`, and then inserted into another one or materialized in it, is
    computed there. Upstream's pass does not ask whether that memory is free: a
    tensor whose memory is overwritten by a later version of itself, or that only
    one branch of an `scf.if` hands on, may be read afterwards, and bufferization
    then fails ("cannot avoid RaW conflict"). This pass leaves the empty tensor
    where an op between it and its end starts in new memory, and where something
    else in the same memory is read after the end.

    A tensor that is reshaped (`tensor.collapse_shape`, `tensor.expand_shape`)
    before it is materialized in a memref without gaps is computed there, too:
    the memref takes the shape that the tensor has before.

    Example:

    ```mlir
    %a = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %b = linalg.add ins(%x, %x : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %q = scf.if %p -> tensor<8xf32> {
      scf.yield %a : tensor<8xf32>
    } else {
      scf.yield %b : tensor<8xf32>
    }
    %r = bufferization.materialize_in_destination %q in %d : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    ```

    If `%a` is read below, `%a` is not computed in `%d`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PitSeparateInits : Pass<"pit-separate-inits", "::mlir::func::FuncOp"> {
  let summary = "gives each op that writes into a tensor a tensor of its own";
  let description = [{
    Several ops may start from one `tensor.empty` or `linalg.fill`, which CSE
    makes of equal ones. Only one of them can write it in place; empty tensor
    elimination, which turns such a tensor into one of the results, does not see
    that another op writes it, too. This pass makes an empty or filled tensor
    again for each op that writes into it, in the branch where that is. An op that
    starts several results from one other tensor gets copies of it.

    Variants of an op materialize their results in one tensor (pit-plan). A value
    that branches or a select join with such a result is copied, unless the function
    allocates it: it may be memory that must not be written.

    Run it right before bufferization: CSE merges what it has made.

    Example:

    ```mlir
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
    %q = linalg.matmul ins(%x, %wq : tensor<8x8xf32>, tensor<8x8xf32>) outs(%i : tensor<8x8xf32>) -> tensor<8x8xf32>
    %k = linalg.matmul ins(%x, %wk : tensor<8x8xf32>, tensor<8x8xf32>) outs(%i : tensor<8x8xf32>) -> tensor<8x8xf32>
    ```

    becomes two fills of two empty tensors, one for each product.
  }];
  let options = [
    Option<"copyAll", "copy-all", "bool", /*default=*/"false",
           "Outside of tile loops, copy whatever else an op writes into, too: "
           "then bufferization decides nothing that could be wrong">];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

def PitDecompose : Pass<"pit-decompose", "::mlir::func::FuncOp"> {
  let summary = "decomposes aggregate linalg ops into structured ones";
  let description = [{
    linalg.softmax, linalg.pack and linalg.unpack, and the Winograd transforms
    have no indexing maps of their own. They become the linalg ops, and the pads,
    reshapes and loops, that they stand for; those can be planned and lowered.

    Example:

    ```mlir
    %p = linalg.softmax dimension(1) ins(%x : tensor<64x48xf32>)
           outs(%o : tensor<64x48xf32>) -> tensor<64x48xf32>
    ```

    becomes a maximum along the rows, an exponential, a sum and a division.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def PitDropUnitResults
    : Pass<"pit-drop-unit-results", "::mlir::func::FuncOp"> {
  let summary = "gives results that keep a dim of extent 1 back by a reshape";
  let description = [{
    Exporters write reductions whose result keeps the reduced dim, of extent 1:
    its map has a 0 there. A tile is written where dims of the iteration say, so
    the op works without that dim, and `tensor.expand_shape` brings it back. Rules
    and marks stay as they are: an operand that is broadcast along such a dim may
    lose it as well, and marks pass through its reshape by `pit-sink-marks`.

    Example:

    ```mlir
    #in = affine_map<(i, j) -> (i, j)>
    #out = affine_map<(i, j) -> (i, 0)>
    func.func @f(%x: tensor<64x32xf32>, %o: tensor<64x1xf32>) -> tensor<64x1xf32> {
      %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]}
          ins(%x : tensor<64x32xf32>) outs(%o : tensor<64x1xf32>) {
      ^bb0(%a: f32, %b: f32):
        %c = arith.addf %a, %b : f32
        linalg.yield %c : f32
      } -> tensor<64x1xf32>
      return %r : tensor<64x1xf32>
    }
    ```

    becomes an op on `tensor<64xf32>`, with the map `(i, j) -> (i)`.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"];
}

// Options on what is known of zeros.
def Pit_Samples : ListOption<"samples", "samples", "std::string",
    "Arrays as the values of marks will be: the label of a mark and a .npy file, "
    "as f:0=a.npy; several of a mark count alike">;
def Pit_Profile : Option<"profile", "profile", "std::string", /*default=*/"",
    "What a run recorded of the zeros of marks (a JSON file)">;

def PitLabelMarks : Pass<"pit-label-marks", "::mlir::ModuleOp"> {
  let summary = "gives each mark a label, by which samples and profiles name it";
  let description = [{
    The n-th mark of a function `f`, counted from 0, becomes `f:n`, unless the
    program gives it a label. Marks of one label share what is known of them: the
    copies of an inlined function do. If a mark moves through a transposition
    or a slice (`pit-sink-marks`), the label tells that, as `f:0[1-0]`.

    It is an error if a sample or a profile names a mark that is not there.

    Example:

    ```mlir
    func.func @f(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
      %s = pit.sparse %a : tensor<4x4xf32>
      return %s : tensor<4x4xf32>
    }
    ```

    gets `pit.sparse %a label("f:0") : tensor<4x4xf32>`.
  }];
  let options = [Pit_Samples, Pit_Profile];
}

def PitRecordLiveFractions : Pass<"pit-record-live-fractions", "::mlir::func::FuncOp"> {
  let summary = "has the program record the zeros of each mark";
  let description = [{
    After each mark that has a label comes a `pit.record` of what it selects. The
    context of the calls adds up what they count, and
    `pit_context_write_profile` writes it for `pit-plan` to plan by. A mark by an
    index says itself what is live, and is left out.

    Example:

    ```mlir
    %s = pit.sparse %a label("f:0") : tensor<4x4xf32>
    ```

    is followed by

    ```mlir
    pit.record %a label("f:0") signature("values of tensor<4x4xf32> for linalg.matmul") location("f.mlir:2:8") : tensor<4x4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::pit::PitDialect",
                           "::mlir::tensor::TensorDialect"];
}

include "pit/Dialect/Pit/Transforms/PlanAndTile.td"
include "pit/Dialect/Pit/Transforms/LoopsOverTiles.td"

def PitLowerMarks : Pass<"pit-lower-marks", "::mlir::func::FuncOp"> {
  let summary = "lowers the marks that no other pass used to dense ops";
  let description = [{
    A mark that nobody could use still selects: its result is
    `select(selected, input, background)`. A `pit.reorder` becomes a loop that moves
    the elements. Marks on the values themselves, and
    marks that `assume`, become their input. A mask or lengths become one
    `linalg.generic`, a routing two. For an index, its micro-tiles are copied
    into a tensor of background.

    Example:

    ```mlir
    func.func @f(%x: tensor<?x?xf32>, %m: tensor<?x?xi1>) -> tensor<?x?xf32> {
      %s = pit.sparse %x mask(%m : tensor<?x?xi1>) : tensor<?x?xf32>
      return %s : tensor<?x?xf32>
    }
    ```

    becomes a `linalg.generic` with the body

    ```
    ^bb0(%in: f32, %in_0: i1, %out: f32):
      %1 = arith.select %in_0, %in, %cst : f32
      linalg.yield %1 : f32
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::pit::PitDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PitSinkMarks : Pass<"pit-sink-marks", "::mlir::func::FuncOp"> {
  let summary = "moves marks to their users, through branches, loops and reshapes";
  let description = [{
    If both branches of an `scf.if` yield a marked value, so is its result. If a
    loop starts from a marked value and each iteration yields one, what it carries
    is, in its body and after it. The new mark is by values: what was selected by a
    mask is background by then. In one of two branches a tensor of nothing but the
    background will do as well.

    `pit-plan` looks at the operands of linalg ops. A mark that stands before a
    `tensor.cast`, `expand_shape`, `collapse_shape`, `reshape`, `extract_slice` or
    `pad`, before a `linalg.transpose`, or before a linalg op that casts elements,
    moves behind it. A slice then has an index of its own. A mask is reshaped
    likewise. Lengths and routings stay as they are while the leading dimensions
    that they are about do, and become a mask otherwise. A padding has to be the
    background, unless the values are the source. A cast of elements whose result
    is only returned keeps its mark before it: it skips itself.

    A selection by an index has no form behind an op that moves elements. There the
    values, which have the selection in them, are marked: so planned ops (level 2)
    that other passes have tiled or reshaped are planned anew.

    The mark's rule follows its dimensions; it is dropped, with a remark, if one
    that it is about does not stay in one piece. If the mark is on the result of
    a linalg op, it stays there, and its copy behind the reshape relies on it
    (`assume`).

    Example:

    ```mlir
    func.func @f(%x: tensor<?x4x8xf32>, %w: tensor<8x8xf32>, %o: tensor<?x8xf32>) -> tensor<?x8xf32> {
      %s = pit.sparse %x : tensor<?x4x8xf32>
      %c = tensor.collapse_shape %s [[0, 1], [2]] : tensor<?x4x8xf32> into tensor<?x8xf32>
      %r = linalg.matmul ins(%c, %w : tensor<?x8xf32>, tensor<8x8xf32>) outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
      return %r : tensor<?x8xf32>
    }
    ```

    becomes

    ```mlir
    func.func @f(%x: tensor<?x4x8xf32>, %w: tensor<8x8xf32>, %o: tensor<?x8xf32>) -> tensor<?x8xf32> {
      %c = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x4x8xf32> into tensor<?x8xf32>
      %s = pit.sparse %c : tensor<?x8xf32>
      %r = linalg.matmul ins(%s, %w : tensor<?x8xf32>, tensor<8x8xf32>) outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
      return %r : tensor<?x8xf32>
    }
    ```

    Example of a branch:

    ```mlir
    func.func @f(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>, %p: i1) -> tensor<8x8xf32> {
      %r = scf.if %p -> tensor<8x8xf32> {
        %s = pit.sparse %x : tensor<8x8xf32>
        scf.yield %s : tensor<8x8xf32>
      } else {
        %s = pit.sparse %y : tensor<8x8xf32>
        scf.yield %s : tensor<8x8xf32>
      }
      return %r : tensor<8x8xf32>
    }
    ```

    gets `%s = pit.sparse %r : tensor<8x8xf32>` behind the `scf.if`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::pit::PitDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // PIT_DIALECT_PIT_TRANSFORMS_PASSES_TD
