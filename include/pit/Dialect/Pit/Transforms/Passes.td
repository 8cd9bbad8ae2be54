//===- Passes.td - Passes on the pit dialect ----------------*- tablegen -*-===//

#ifndef PIT_DIALECT_PIT_TRANSFORMS_PASSES_TD
#define PIT_DIALECT_PIT_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def PitRunSchedule : Pass<"pit-run-schedule", "::mlir::ModuleOp"> {
  let summary = "runs a module's transform schedule, and takes it out";
  let description = [{
    A module with a `transform.named_sequence @__transform_main` is transformed
    by it, as `--transform-interpreter` does. Passes of pit can be part of it, by
    `transform.apply_registered_pass`. What is left of the transform dialect is
    then removed. Sequences without that entry point are a library that nothing
    calls here: they are removed with a remark.

    Example:

    ```mlir
    module attributes {transform.with_named_sequence} {
      func.func @f(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
        %s = pit.sparse %a : tensor<8x8xf32>
        return %s : tensor<8x8xf32>
      }
      transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
        %f = transform.structured.match ops{["func.func"]} in %root
               : (!transform.any_op) -> !transform.any_op
        %g = transform.apply_registered_pass "pit-lower-marks" to %f
               : (!transform.any_op) -> !transform.any_op
        transform.yield
      }
    }
    ```

    becomes a module without the sequence, in which the mark is lowered.
  }];
}

def PitFlattenModules : Pass<"pit-flatten-modules", "::mlir::ModuleOp"> {
  let summary = "moves what is in nested modules into the outer one";
  let description = [{
    A program is one module with functions. Nested modules, whose functions
    nobody else could call, become part of the outermost one. A private function
    whose name is taken gets another one; two public functions of one name are an
    error. Modules of kernels stay (`pit.kernels`).

    Example:

    ```mlir
    module @outer {
      module @inner {
        func.func @f(%a: tensor<8xf32>) -> tensor<8xf32> {
          return %a : tensor<8xf32>
        }
      }
    }
    ```

    becomes

    ```mlir
    module @outer {
      func.func @f(%a: tensor<8xf32>) -> tensor<8xf32> {
        return %a : tensor<8xf32>
      }
    }
    ```
  }];
}

def PitCheckDialects : Pass<"pit-check-dialects", "::mlir::ModuleOp"> {
  let summary = "refuses ops of dialects that the pipelines do not take";
  let description = [{
    The pipelines lower programs in builtin, func, pit, linalg, tensor, arith,
    math, complex, index, scf, cf, affine, memref, bufferization, vector, ub, llvm
    and omp. An op of another dialect would only be found by a pass in the middle,
    whose message does not tell what to do. This one names the op, what is taken,
    and for dialects of MLIR that have one, the pass that lowers them.

    Example: for `tosa.matmul` the error says

    ```
    is of dialect tosa, which pit does not take: lower it first, as by mlir-opt
    --pass-pipeline='builtin.module(func.func(tosa-to-linalg-named,tosa-to-linalg,tosa-to-arith,tosa-to-tensor))'
    ```
  }];
}

def PitPrepareCalls : Pass<"pit-prepare-calls", "::mlir::ModuleOp"> {
  let summary = "makes every call of a function of the module one that inlines";
  let description = [{
    A compiled program's functions hand on neither the memory of the call nor its
    status, so each entry point is compiled as one function: all calls of
    functions that the module defines are inlined. For MLIR's `inline` to take
    all of them, `no_inline` is dropped, and functions of several blocks become
    functions of one (`lift-cf-to-scf`), since they may be called within a loop of
    scf. Tensors that are poison there, as values that a loop has not computed
    yet, become `tensor.empty`.

    A function that calls itself, maybe by others, and `func.call_indirect` are
    errors.

    Example:

    ```mlir
    func.func private @g(%x: f32) -> f32 attributes {no_inline} {
      return %x : f32
    }
    func.func @f(%x: f32) -> f32 {
      %y = call @g(%x) : (f32) -> f32
      return %y : f32
    }
    ```

    becomes the same without `no_inline`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::ub::UBDialect"];
}

def PitSequenceForalls : Pass<"pit-sequence-foralls", "::mlir::func::FuncOp"> {
  let summary = "makes loops sequential in which an index is built";
  let description = [{
    An index is built by a call of the runtime that may fail, and takes memory of
    the call: neither can be done by several threads at once. So an `scf.forall`
    on tensors, or an `scf.parallel`, with a `pit.sparse` or `pit.index` in it
    becomes nested `scf.for`, with a remark. What is computed by each iteration
    still runs on all threads.

    What an iteration reads of an output is what the loop started from, unless it
    is the slice that this iteration writes.

    Example:

    ```mlir
    func.func @f(%a: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
      %r = scf.forall (%i) = (0) to (64) step (16) shared_outs(%o = %c) -> tensor<64x64xf32> {
        %x = tensor.extract_slice %a[%i, 0] [16, 64] [1, 1] : tensor<64x64xf32> to tensor<16x64xf32>
        %s = pit.sparse %x : tensor<16x64xf32>
        scf.forall.in_parallel {
          tensor.parallel_insert_slice %s into %o[%i, 0] [16, 64] [1, 1] : tensor<16x64xf32> into tensor<64x64xf32>
        }
      }
      return %r : tensor<64x64xf32>
    }
    ```

    becomes an `scf.for` over `%i` that carries `%o` and inserts `%s` into it.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PitCarryTensors : Pass<"pit-carry-tensors", "::mlir::func::FuncOp"> {
  let summary = "has loops compute the tensors that they carry in one place";
  let description = [{
    A loop of scf may hand any tensor to its next iteration. If it is not
    computed in the memory of the one that it replaces, bufferization makes a new
    buffer for it in every iteration. Where both are known to be of the same
    sizes, this pass asks for the old one's memory, by
    `bufferization.materialize_in_destination`. What may be in such memory itself,
    as where a loop exchanges two tensors, is copied first, and so is what may
    have another size: every buffer that a loop hands on is then new, and is
    needed for one iteration.

    Example:

    ```mlir
    func.func @f(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<8xf32> {
        %e = tensor.empty() : tensor<8xf32>
        %b = linalg.exp ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
        scf.yield %b : tensor<8xf32>
      }
      return %r : tensor<8xf32>
    }
    ```

    becomes a loop that yields

    ```mlir
    %c = bufferization.materialize_in_destination %b in %a
           : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PitExplain : Pass<"pit-explain", "::mlir::func::FuncOp"> {
  let summary = "explains, as remarks, what may be done with each sparse operand";
  let description = [{
    For each linalg op with a marked operand or result, remarks say of each
    iteration dimension why it is a PIT axis or not, whether the background may
    be skipped and what becomes of the results there, along which dimensions the
    operand may be packed, and which `#pit.rule` the op carries. A refusal names
    the condition of docs/Legality.md that fails. Marks are traced through
    `tensor.cast`, `tensor.expand_shape`, `tensor.collapse_shape` and
    `linalg.transpose`; of a mark that ends elsewhere, a remark says at which op.
    Nothing is changed. What tiles were modelled to take is
    said by `pit-plan` and `pit-tile-dense`, if told to `explain`.

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

def PitSeparateInits : Pass<"pit-separate-inits", "::mlir::func::FuncOp"> {
  let summary = "gives each op that writes into a tensor a tensor of its own";
  let description = [{
    Several ops may start from one `tensor.empty` or `linalg.fill`, which CSE
    makes of equal ones. Only one of them can write it in place; empty tensor
    elimination, which turns such a tensor into one of the results, does not see
    that another op writes it, too. This pass makes an empty or filled tensor
    again for each op that writes into it. An op that starts several results from
    one other tensor gets copies of it.

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

// Options on where tile sizes come from.
def Pit_TileTable : Option<"tileTable", "tile-table", "std::string",
    /*default=*/"",
    "Table of tile sizes (a JSON file) in place of the built-in one">;
def Pit_TileTarget : Option<"target", "target", "::mlir::pit::TileTarget",
    /*default=*/"::mlir::pit::TileTarget::Cpu",
    "The machine whose built-in table of tile sizes counts",
    [{::llvm::cl::values(
        clEnumValN(::mlir::pit::TileTarget::Cpu, "cpu", "a CPU"),
        clEnumValN(::mlir::pit::TileTarget::Gpu, "gpu", "an NVIDIA GPU"),
        clEnumValN(::mlir::pit::TileTarget::Hopper, "hopper",
                   "an NVIDIA GPU with wgmma (sm_90a)"))}]>;
def Pit_Tf32 : Option<"tf32", "tf32", "bool", /*default=*/"false",
    "f32 may be multiplied as tf32: tiles that suit it">;
def Pit_ExplainTiles : Option<"explain", "explain", "bool",
    /*default=*/"false",
    "Say what tiles were modelled to take, where there was a choice">;

def PitPlan : Pass<"pit-plan", "::mlir::func::FuncOp"> {
  let summary = "chooses how marked linalg ops gather their micro-tiles";
  let description = [{
    For each linalg op with a marked operand or result (level 1), looks at every
    axis of every mark: is it a PIT axis, may what is not selected be skipped,
    can tiles cut out its groups? Of the rules that are legal the cheapest by a
    static model becomes the op's `pit.rule`; its index is built from the mark's
    source, and the operand is marked by that index (level 2). Tile sizes come
    from a table, a JSON file; see lib/Dialect/Pit/Transforms/TileTable.h. If it
    has several for an op whose extents are static, with the cycles that each
    takes, they are those of the least modelled time.

    A rule on the mark is kept: the parts that it gives are taken as they are,
    and it is an error if no op can carry it out. An op without a legal rule
    stays dense, and a remark says why.

    Groups that write the same outputs are kept apart as `conflicts` says. What
    would not be `deterministic` if it were atomic has two phases, unless its
    partial results would take more than 4 GB. What can be neither is
    sequential.

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
                          "by memory of their own, added up afterwards"))}]>,
    Option<"deterministic", "deterministic", "bool", /*default=*/"false",
           "Only rules that give the same bits every time">,
    Option<"unordered", "unordered", "bool", /*default=*/"false",
           "Indices may list the ids of a group in any order">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::pit::PitDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PitTile : Pass<"pit-tile", "::mlir::func::FuncOp"> {
  let summary = "tiles planned linalg ops: loops, SRead, tile compute, SWrite";
  let description = [{
    Turns every linalg op that carries a `#pit.rule` (level 2) into loops over
    tiles (level 3). The rule's operand has to be marked by
    `pit.sparse .. index(..)`, or the op's result has to be so marked; the
    index gives the micro-tiles that are gathered along the rule's axis.

    Parallel dimensions become one `pit.forall`, reductions become `pit.for`.
    If the groups of micro-tiles are numbered by a reduction, several of them
    write the same outputs. The loop over them is then sequential, inside of the
    parallel one, or, if the rule has `conflicts = atomic`, part of it: each
    tile starts from the combiner's identity, and its SWrite combines it with
    the outputs. With `conflicts = two_phase` it writes what it sums packed, by
    positions, and a second loop adds that to the outputs, one group after
    another. Combiners that arith has no atomic operation for (those of
    complex) are refused by both. Factors of a product that do not depend on the innermost
    reduction leave it. Reductions in f16 and bf16 accumulate in f32.

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
           "For kernels: a single tile is computed in a pit.forall, too, and "
           "tiles of packed tensors without the dims of groups">
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::pit::PitDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PitTileDense : Pass<"pit-tile-dense", "::mlir::func::FuncOp"> {
  let summary = "tiles contractions that gather nothing";
  let description = [{
    The lowering of `pit-tile` without an index: every linalg op on tensors that
    has a reduction and two inputs or more, of which each dimension is indexed by
    itself, becomes a `pit.forall` over its parallel dimensions around `pit.for`
    over its reductions. Tile sizes come from the tile table. Ops that cannot be
    tiled, convolutions, element-wise ops and reductions of one input are left
    alone; ops that carry a `pit.rule` are those of `pit-tile`. For a CPU only
    ops are tiled whose lanes one input holds along the last dim of the result,
    of 16 elements at least, and if that is not its own last dim there are 32
    rows that meet each of its columns, at least.

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
  let options = [Pit_TileTable, Pit_TileTarget, Pit_Tf32, Pit_ExplainTiles];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::pit::PitDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PitFuseEpilogues : Pass<"pit-fuse-epilogues", "::mlir::func::FuncOp"> {
  let summary = "computes element-wise ops on tiles before they are written";
  let description = [{
    A linalg op of parallel dimensions only that alone uses the result of a
    `pit.forall` moves into it: it is computed on every tile that is written, its
    other operands are read tile by tile, and the loop gives its result. So do
    the ops after it, one by one. They see what would have been written, that is,
    sums rounded to the type of the result.

    What the loop does not write is as its init is. That has to be a new tensor,
    of which nothing is known there, or a constant that the op makes a constant
    of, or of which it gives one of its other operands (S3 of docs/Legality.md):
    this is where the new loop starts from. A tile that is one of several
    summands (`conflicts`, or an output that is read again) is left alone.

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
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::pit::PitDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PitInlineAllocaScopes
    : Pass<"pit-inline-alloca-scopes", "::mlir::func::FuncOp"> {
  let summary = "replaces memref.alloca_scope by saving the stack pointer";
  let description = [{
    Puts the body of every `memref.alloca_scope` in its place, between
    `llvm.intr.stacksave` and `llvm.intr.stackrestore` if it allocates.
    `convert-scf-to-openmp` wraps loop bodies in such scopes, and
    `convert-scf-to-cf`, which has to split blocks inside of them, fails on them;
    canonicalization drops scopes inside of loops, and the stack overflows.

    Example:

    ```mlir
    memref.alloca_scope {
      %m = memref.alloca() : memref<8xf32>
      func.call @use(%m) : (memref<8xf32>) -> ()
    }
    ```

    becomes

    ```mlir
    %s = llvm.intr.stacksave : !llvm.ptr
    %m = memref.alloca() : memref<8xf32>
    func.call @use(%m) : (memref<8xf32>) -> ()
    llvm.intr.stackrestore %s : !llvm.ptr
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def PitFold : Pass<"pit-fold", "::mlir::func::FuncOp"> {
  let summary = "keeps values packed between ops that share an index";
  let description = [{
    Packing commutes with every op in which the packed dimensions are parallel
    PIT axes: element-wise ops, layer norm, row softmax, the rows of a matmul.
    So whole-tensor `pit.sread` moves up through ops whose result is only
    packed, `pit.swrite` moves down through ops that make a constant of the
    background around what is unpacked, or leave their init there, and where the
    two meet by the same index, both go. Operands of planned ops are packed if
    that reaches an op that can have them packed.

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

def PitLowerMarks : Pass<"pit-lower-marks", "::mlir::func::FuncOp"> {
  let summary = "lowers the marks that no other pass used to dense ops";
  let description = [{
    A mark whose background is no gain to anybody still selects: its result is
    `select(selected, input, background)`. Marks on the values themselves, and
    marks that `assume`, are their input. A mask or lengths become one
    `linalg.generic`, an assignment two. For an index, its micro-tiles are
    copied into a tensor of background.

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
  let summary = "moves marks through slices, reshapes and transposes to their users";
  let description = [{
    `pit-plan` looks at the operands of linalg ops. A mark that stands before a
    `tensor.cast`, `tensor.expand_shape`, `tensor.collapse_shape`,
    `tensor.extract_slice` or `linalg.transpose` moves behind it: of a slice an
    index is built for itself. A mask is reshaped likewise. Lengths and
    assignments stay as they are while the leading dimensions that they are
    about do, and become a mask otherwise. A mark by an index moves through
    casts only.

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
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::pit::PitDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PitCheckTypes : Pass<"pit-check-types"> {
  let summary = "refuses types that no target computes with";
  let description = [{
    Fails on the first op with a value of a type for which there is no arithmetic,
    before a later pass, or LLVM, does so less clearly. What is taken:

    - numbers: f64, f32, f16, bf16, index, integers of 1 to 64 bits, and complex
      numbers of these;
    - elements of tensors: the same, but of integers those of 1, 8, 16, 32 and 64
      bits;
    - conversions of floats that round to the nearest, ties to even.

    Not taken are f128, f80, tf32, and floats of 8 bits and less. (What the option
    `tf32` does is multiply f32 so.)
  }];
}

def PitLowerMath : Pass<"pit-lower-math"> {
  let summary = "expands math ops that are lowered nowhere, or wrong";
  let description = [{
    Expands, of scalars and vectors, `math.clampf`, `isinf`, `isnormal` and `ipowi`, and
    `fpowi` to a constant power of at most 8, which becomes a chain of products.

    Without `device` it also expands what LLVM has not on a host:

    - `fpowi` to other powers: a `powf`, which has the sign of the base if the power
      is odd;
    - `math.fma` in f16 and bf16: in f32 and f64, where the product is exact. The sum
      is rounded to odd, so that the result is rounded once;
    - conversions from f64 to f16 and bf16, which by way of f32 would round twice
      and without it call a library function that many systems lack;
    - `math.expm1`, which `convert-math-to-llvm` makes an `exp` minus 1: a call of
      libm, which has to be declared in the module.

    `ipowi` becomes a loop of scf. Functions of f16 and bf16 are extended after it
    (`math-extend-to-supported-types`): what is normal in f32 need not be in f16.

    Example:

    ```mlir
    %r = math.clampf %x to [%lo, %hi] : f32
    ```

    becomes

    ```mlir
    %0 = arith.maximumf %x, %lo : f32
    %r = arith.minimumf %0, %hi : f32
    ```
  }];
  let options = [
    Option<"device", "device", "bool", /*default=*/"false",
           "leave what devices have, or pit-lower-device-math expands">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def PitLowerExpandShape
    : Pass<"pit-lower-expand-shape", "::mlir::func::FuncOp"> {
  let summary = "lowers expansions of a dim into several dynamic ones";
  let description = [{
    Models split tokens into batches and positions, none of them known at compile
    time. MLIR's `expand-strided-metadata` computes one dynamic size of a group
    from the size of the source, and has no answer for two. The op holds the sizes
    as operands; here it becomes a `memref.reinterpret_cast` with these, and with
    the strides that follow. Other expansions are left alone.

    Example:

    ```mlir
    func.func @f(%x: memref<?x8xf32>, %b: index, %s: index) -> memref<?x?x8xf32> {
      %r = memref.expand_shape %x [[0, 1], [2]] output_shape [%b, %s, 8]
             : memref<?x8xf32> into memref<?x?x8xf32>
      return %r : memref<?x?x8xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::memref::MemRefDialect"];
}

def PitLowerBf16 : Pass<"pit-lower-bf16"> {
  let summary = "bf16 in memory and registers becomes i16";
  let description = [{
    Replaces the type bf16 by i16 everywhere, also in signatures of functions, and
    conversions from and to bf16 by integer ops. LLVM calls a library function,
    which many systems lack, wherever a bf16 that is not in memory meets a target
    without instructions for it.

    Arithmetic has to be in f32 already: `math-extend-to-supported-types` and
    `arith-emulate-unsupported-floats` see to that. A conversion from f64 is
    by way of f32, and rounds once all the same. Fast-math flags of conversions, which LLVM IR has not, are
    dropped.

    Example:

    ```mlir
    func.func @wide(%m: memref<4xbf16>, %i: index) -> f32 {
      %x = memref.load %m[%i] : memref<4xbf16>
      %w = arith.extf %x : bf16 to f32
      return %w : f32
    }
    ```

    becomes

    ```mlir
    func.func @wide(%m: memref<4xi16>, %i: index) -> f32 {
      %c16 = arith.constant 16 : i32
      %x = memref.load %m[%i] : memref<4xi16>
      %l = arith.extui %x : i16 to i32
      %s = arith.shli %l, %c16 : i32
      %w = arith.bitcast %s : i32 to f32
      return %w : f32
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PitSequenceNestedLoops
    : Pass<"pit-sequence-nested-loops", "::mlir::func::FuncOp"> {
  let summary = "makes parallel loops inside of parallel loops sequential";
  let description = [{
    Replaces every `scf.parallel` without results inside of another one by `scf.for`
    loops. The threads are busy with the outer loop, and in a parallel region of
    its own the inner one would see the thread number 0 on all of them.

    Example:

    ```mlir
    func.func @nested(%n: index, %m: memref<?x?xf32>, %x: f32) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      scf.parallel (%i) = (%c0) to (%n) step (%c1) {
        func.call @row(%i) : (index) -> ()
        scf.parallel (%j) = (%c0) to (%n) step (%c1) {
          memref.store %x, %m[%i, %j] : memref<?x?xf32>
        }
      }
      return
    }
    func.func private @row(index)
    ```

    The loop over `%j` becomes an `scf.for`.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def PitBalanceLoops : Pass<"pit-balance-loops", "::mlir::func::FuncOp"> {
  let summary = "decides how threads share out loops";
  let description = [{
    Gives each `omp.wsloop` in which an inner loop runs as often as memory says a
    dynamic schedule: the counts of an index differ from group to group, so
    equal parts of the iterations are not equal parts of the work. It is
    nonmonotonic: LLVM's OpenMP library gives each thread its part, as a static
    schedule does, and lets those that are done take from the others. Other loops stay
    as they are.

    An `omp.parallel` around one loop nest gets an `if` clause: a loop of a single
    iteration runs on the calling thread. Waking a team takes microseconds, which
    is longer than a small program runs.

    Example:

    ```mlir
    omp.wsloop schedule(dynamic, nonmonotonic) {
      omp.loop_nest (%g) : index = (%c0) to (%groups) step (%c1) {
        %count = memref.load %counts[%g] : memref<?xindex>
        scf.for %i = %c0 to %count step %c1 {
          func.call @step(%g, %i) : (index, index) -> ()
        }
        omp.yield
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::omp::OpenMPDialect"];
}

def PitVerifyStage : Pass<"pit-verify-stage"> {
  let summary = "verifies a program at the end of a stage of a pipeline";
  let description = [{
    Verifying the program after each pass takes as long as the passes do.
    `pit_compile_*` does it only where a pipeline says so: when the program is
    tiled, when it has buffers, when it has blocks, and before it leaves MLIR.
    `pit-opt` verifies after each pass, unless it is told not to.

    The pass changes nothing, and fails if an op is not valid.
  }];
}

def PitVectorize : Pass<"pit-vectorize", "::mlir::func::FuncOp"> {
  let summary = "vector code for linalg ops on memrefs";
  let description = [{
    Replaces every linalg op on memrefs, of static or dynamic shape, by loops
    around vector code.

    One loop of the op runs along the lanes of vectors: a parallel loop along
    which the outputs are contiguous, or else a reduction along which the inputs
    are. Contractions are computed in register blocks of several vectors times
    several rows, with the sums in registers across all reductions; vectors that
    are read are shared by the rows of the block. What is left of a loop is a
    smaller block, or a masked vector. Inputs of a contraction that are read
    across memory, or that are narrower than the sums, are first packed to the
    stack where that pays. Element-wise transposes go through registers. The
    rest becomes scalar loops.

    Large contractions are cut into tiles for the caches, and, with `parallel`,
    all large ops into tiles for threads. Where sizes are dynamic, a branch at run
    time decides whether an op is large.

    Products and sums of contractions may be fused, sums along the lanes are
    reassociated, and reductions into f16 and bf16 are computed in f32, rounded
    when they are stored. Element-wise code is computed as it is written, except that
    exp, expm1, log, log2, log1p, tanh and erf in f32 and below are polynomials:
    within 5 units in the last place, subnormal results are 0, and logarithms of
    subnormal numbers are that of the smallest normal one.

    Example, with `vector-width=512`:

    ```mlir
    func.func @tile(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %c: memref<64x64xf32>) {
      linalg.matmul ins(%a, %b : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
      return
    }
    ```

    becomes a loop over the rows of `%c`, a few at a time, around a loop over k
    that carries their sums as vectors of 16 elements.
  }];
  let options = [
    Option<"vectorWidth", "vector-width", "unsigned", /*default=*/"512",
           "Width of a vector register in bits: a power of two, 128 to 2048">,
    Option<"parallel", "parallel", "bool", /*default=*/"false",
           "Distribute large ops that are in no scf.parallel to threads">
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // PIT_DIALECT_PIT_TRANSFORMS_PASSES_TD
