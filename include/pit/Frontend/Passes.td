//===- Passes.td - Passes that prepare programs of others --*- tablegen -*-===//

#ifndef PIT_FRONTEND_PASSES_TD
#define PIT_FRONTEND_PASSES_TD

include "mlir/Pass/PassBase.td"

def PitRunSchedule : Pass<"pit-run-schedule", "::mlir::ModuleOp"> {
  let summary = "runs a module's transform schedule, and takes it out";
  let description = [{
    A module with a `transform.named_sequence @__transform_main` is transformed
    by it, as `--transform-interpreter` does. Passes of pit can be part of it, by
    `transform.apply_registered_pass`. The rest of the transform dialect is
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

def PitRunWhere : Pass<"pit-run-where"> {
  let summary = "runs a pipeline on some ops: with an attribute, or with ops of a dialect";
  let description = [{
    The pipelines for a part of a module use it for passes that are about some
    functions or modules of it, and leave the others alone: functions with
    `pit.device`, modules with `pit.kernels`, and functions with ops of pit. An op
    without the attribute or such ops, or of another kind than the pipeline is for,
    stays as it is.

    Example:

    ```mlir
    // --pass-pipeline='builtin.module(func.func(pit-run-where{
    //     attribute=pit.device pipeline=func.func(canonicalize)}))'
    func.func @f() attributes {pit.device = "cuda"} { ... } // is canonicalized
    func.func @g() { ... }                                  // is not
    ```
  }];
  let options = [
    Option<"attribute", "attribute", "std::string", /*default=*/"",
           "The attribute that ops have to have">,
    Option<"dialect", "dialect", "std::string", /*default=*/"",
           "The dialect that ops in them have to be of, one at least">,
    Option<"pipeline", "pipeline", "std::string", /*default=*/"",
           "What is run on them, as text: the kind of op and its passes">];
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

def PitCheckOps : Pass<"pit-check-ops", "::mlir::ModuleOp"> {
  let summary = "refuses ops and types that the pipelines do not take";
  let description = [{
    The pipelines lower programs in builtin, func, pit, linalg, tensor, arith,
    math, complex, index, scf, cf, affine, memref, bufferization, vector, ub, llvm
    and omp. An op of another dialect, or a value of a type for which there is no
    arithmetic, would only be found by a pass in the middle, whose message does not
    tell what to do. This pass names the op, what is taken, and for dialects of MLIR
    that have one, the pass that lowers them. The types that are taken:

    - numbers: f64, f32, f16, bf16, f8E4M3FN, f8E5M2, index, integers of 1 to 64 bits,
      and complex numbers of these;
    - elements of tensors: the same, but of integers those of 1, 8, 16, 32 and 64
      bits;
    - conversions of floats that round to the nearest, ties to even.

    Not taken are f128, f80, tf32, other floats of 8 bits, and smaller ones. (The
    option `tf32` only says how to multiply f32.)

    Example: for `tosa.matmul` the error says

    ```
    is of dialect tosa, which pit does not take: lower it first, as by mlir-opt
    --pass-pipeline='builtin.module(func.func(tosa-to-linalg-named,tosa-to-linalg,tosa-to-arith,tosa-to-tensor))'
    ```

    and `func.func @f(%a: tensor<4xf8E3M4>)` fails with

    ```
    error: 'func.func' op has a value of type 'tensor<4xf8E3M4>', but there is no
    arithmetic of 'f8E3M4'; pit takes f64, f32, f16, bf16, f8E4M3FN, f8E5M2, index and
    integers of 1 to 64 bits
    ```
  }];
}

def PitDropSigns : Pass<"pit-drop-signs", "::mlir::ModuleOp"> {
  let summary = "makes signless integers of signed and unsigned ones";
  let description = [{
    Exporters write whether an integer has a sign into its type (`ui8`), and casts
    (`builtin.unrealized_conversion_cast`) to the signless types that ops compute with.
    In pit only the calling convention tells them apart. After this pass no value has
    such a type, and such casts are gone. An argument or a result of a public function
    has its type in `pit.element`, which `pit-abi-prepare` reads.

    Example:

    ```mlir
    func.func @f(%a: tensor<4xui8>) -> tensor<4xf32> {
      %0 = builtin.unrealized_conversion_cast %a : tensor<4xui8> to tensor<4xi8>
      ...
    // becomes
    func.func @f(%a: tensor<4xi8> {pit.element = ui8}) -> tensor<4xf32> {
      ...
    ```
  }];
}

def PitCheckShapes : Pass<"pit-check-shapes"> {
  let summary = "refuses linalg ops whose known sizes do not fit";
  let description = [{
    The verifier of linalg ops compares the sizes of operands only if the extents of
    all loops are known. With one that is not, the others may differ, and the op
    would read beyond an operand's end. Such an op is an error, and so are windows that
    reach beyond an image. Sizes that are not known are compared when a function is
    called (`pit-abi-require-shapes`).

    Example: a `linalg.matmul` of `tensor<?x40xf32>` and `tensor<8x16xf32>` fails with

    ```
    error: 'linalg.matmul' op has d2 of 40 by dimension 1 of operand 0, but of 8 by
    dimension 0 of operand 1; both have to be the same
    ```
  }];
}

def PitReadResources : Pass<"pit-read-resources", "::mlir::func::FuncOp"> {
  let summary = "checks constants in resources, and reads single numbers";
  let description = [{
    Exporters keep weights in resources (`dense_resource`). Such a constant is an
    error if its data is not there, as in a program that was printed without large
    elements, or is not as long as its type says. Constants of one element are
    read: MLIR's passes take these out of their tensor, which they cannot do with
    a resource. So are i1, index and complex numbers, which MLIR does not translate
    to LLVM IR from a resource.

    Example: `arith.constant dense_resource<scale> : tensor<f32>` becomes
    `arith.constant dense<2.500000e-01> : tensor<f32>`.
  }];
}

def PitPrepareCalls : Pass<"pit-prepare-calls", "::mlir::ModuleOp"> {
  let summary = "makes every call of a function of the module one that inlines";
  let description = [{
    A compiled program's functions hand on neither the memory of the call nor its
    status. So each entry point is compiled as one function: all calls of
    functions that the module defines are inlined. For MLIR's `inline` to take
    all of them,

    - `no_inline` is dropped,
    - functions of several blocks become functions of one (`lift-cf-to-scf`), since
      they may be called within a loop of scf. Tensors that are poison there,
      because a loop has not computed them yet, become `tensor.empty`.

    A function that calls itself, directly or by others, is an error, and so is
    `func.call_indirect`.

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

def PitNameGenerics : Pass<"pit-name-generics", "::mlir::func::FuncOp"> {
  let summary = "gives generic ops that are fills or transposes their names";
  let description = [{
    `linalg-generalize-named-ops` and exporters write `linalg.generic` for ops that
    have names. Other passes have to know two of them: a tensor
    that is filled is not read by the op that starts from it, and a mark moves
    through a transpose. This pass makes `linalg.fill` and `linalg.transpose` of
    them. Other ops are taken by their maps and bodies, whatever they are called.

    Example:

    ```mlir
    func.func @f(%e: tensor<8x8xf32>) -> tensor<8x8xf32> {
      %zero = arith.constant 0.0 : f32
      %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>],
                           iterator_types = ["parallel", "parallel"]}
             outs(%e : tensor<8x8xf32>) {
      ^bb0(%out: f32):
        linalg.yield %zero : f32
      } -> tensor<8x8xf32>
      return %z : tensor<8x8xf32>
    }
    ```

    becomes

    ```mlir
    func.func @f(%e: tensor<8x8xf32>) -> tensor<8x8xf32> {
      %zero = arith.constant 0.0 : f32
      %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
      return %z : tensor<8x8xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def PitSequenceForalls : Pass<"pit-sequence-foralls", "::mlir::func::FuncOp"> {
  let summary = "makes loops in which an index is built sequential";
  let description = [{
    An index is built by a call of the runtime that may fail, and takes memory of
    the call: neither can be done by several threads at once. So an `scf.forall`
    on tensors, or an `scf.parallel`, with a `pit.sparse` or `pit.index` in it
    becomes nested `scf.for`, with a remark. The ops of an iteration
    still run on all threads.

    An iteration reads an output as the loop started from it, but for the slice that
    this iteration writes.

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

    Run it after `pit-sink-marks`, by which marks get into loops.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PitCutChains : Pass<"pit-cut-chains", "::mlir::func::FuncOp"> {
  let summary = "has long chains of insertions bufferized part by part";
  let description = [{
    Bufferization compares all insertions into a tensor with each other, and looks for
    each pair through all insertions before: the fourth power of their number. If
    many `tensor.insert_slice` follow each other, and nothing else uses what is between
    them, this pass takes the tensor's memory after some of them, and goes on with that
    memory as another tensor. A chain that starts from an empty tensor and materializes
    in memory that nothing else uses starts in that memory.

    Example: with `length=1`

    ```mlir
    %a = tensor.insert_slice %x into %e[0] [1] [1] : tensor<1xf32> into tensor<3xf32>
    %b = tensor.insert_slice %y into %a[1] [1] [1] : tensor<1xf32> into tensor<3xf32>
    %c = tensor.insert_slice %z into %b[2] [1] [1] : tensor<1xf32> into tensor<3xf32>
    ```

    becomes, for the first two,

    ```mlir
    %a = tensor.insert_slice %x into %e[0] [1] [1] : tensor<1xf32> into tensor<3xf32>
    %m = bufferization.to_buffer %a : tensor<3xf32> to memref<3xf32>
    %t = bufferization.to_tensor %m restrict writable : memref<3xf32> to tensor<3xf32>
    %b = tensor.insert_slice %y into %t[1] [1] [1] : tensor<1xf32> into tensor<3xf32>
    ```
  }];
  let options = [
    Option<"length", "length", "unsigned", /*default=*/"16",
           "Insertions of a part; chains of up to twice as many stay whole">,
  ];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

def PitCarryTensors : Pass<"pit-carry-tensors", "::mlir::func::FuncOp"> {
  let summary = "has loops compute the tensors that they carry in one place";
  let description = [{
    A loop of scf may hand any tensor to its next iteration. Bufferization makes a
    new buffer for it in every iteration, unless it is computed in the memory of
    the tensor that it replaces. If both are known to be of the same sizes, this
    pass asks for the old one's memory, by
    `bufferization.materialize_in_destination`.

    If a branch in a loop hands on a value from outside of it, and the other branch
    an updated tensor, that value is copied: bufferization takes both for one memory.

    A tensor is copied first if it may lie in such memory itself, for example
    because a loop exchanges two tensors. So is one that may have another size:
    every buffer that a loop hands on is then new, and is needed for one
    iteration.

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

#endif // PIT_FRONTEND_PASSES_TD
