//===- Passes.td - Passes of the calling convention --------*- tablegen -*-===//

#ifndef PIT_ABI_PASSES_TD
#define PIT_ABI_PASSES_TD

include "mlir/Pass/PassBase.td"

def PitAbiRequireShapes : Pass<"pit-abi-require-shapes", "::mlir::func::FuncOp"> {
  let summary = "records what the shapes of a function's arguments have to fulfil";
  let description = [{
    Ops take it for granted that the shapes of their operands fit together; no
    later pass checks it. This one collects, for the ops that a function runs in
    any case, what follows for its arguments: for `linalg.matmul` that the
    columns of the first are as many as the rows of the second, for a
    convolution that its windows lie inside the image. `pit-abi-prepare` makes
    it part of the manifest, and the runtime refuses a call that does not fulfil
    it. The attribute `pit.require` holds the words described in
    `pit-runtime/Abi.h`.

    It runs on linalg ops, before any tiling. Requirements of ops within regions,
    and on sizes that depend on the contents of tensors, are not collected, but
    for tile programs: tensors that `pit.sread` and `pit.swrite` subscript by the
    same variable of a `pit.forall` or `pit.for`, or by the same ids, have the
    same size there, unless the program computes one of the sizes, and ids count along the
    axis of what their index is built from. Sizes that are static and differ are an error.

    ```mlir
    func.func @f(%a: tensor<?x?xf32>, %b: tensor<?x4xf32>) -> tensor<?x4xf32>
        attributes {pit.require = array<i64: 1,
          0, 3, 1, 1, 0, 3, 1, 0, 1>} // dim 0 of %b == dim 1 of %a
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PitAbiHoistAsserts : Pass<"pit-abi-hoist-asserts", "::mlir::func::FuncOp"> {
  let summary = "takes assertions out of the bodies of linalg ops";
  let description = [{
    A `cf.assert` in the body of a linalg op is about each of its points. Before
    the op, a reduction over the loops that the condition depends on finds out
    whether it holds at all of them, and one `cf.assert` of the function says so:
    the op is not run if it does not. An embedding, whose body asserts that the
    id is a row of the table and reads that row by `tensor.extract`, so checks
    its ids once, and its body only reads.

    With `drop` assertions in bodies go without a check: the host does not read
    what a device computes. Kernels read 0 where a `tensor.extract` in a body
    lies outside of its tensor.

    Example: test/ABI/abi-hoist-asserts.mlir.
  }];
  let options = [
    Option<"drop", "drop", "bool", /*default=*/"false",
           "Drop assertions in bodies">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PitAbiLowerAsserts : Pass<"pit-abi-lower-asserts", "::mlir::ModuleOp"> {
  let summary = "makes assertions statuses of the call";
  let description = [{
    `cf.assert` ends the process where it does not hold. In functions with a
    frame it becomes a call of `pit_rt_assert`, after which
    `pit-abi-return-status` returns; the context's message has the assertion's
    text. An assertion inside of a parallel loop is an error. Run this after
    `convert-scf-to-cf`.

    Example: test/ABI/abi-lower-asserts.mlir.
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::pit::PitDialect"];
}

def PitAbiPrepare : Pass<"pit-abi-prepare", "::mlir::ModuleOp"> {
  let summary = "gives public functions the signature of entry points";
  let description = [{
    A public function on tensors becomes one that the calling convention's
    wrapper can call: it takes the call's frame first, writes its results into
    buffers of the caller's, and returns a status.

    ```mlir
    func.func @f(%a: tensor<?x4xf32>, %s: f32) -> tensor<?x4xf32>
    // becomes
    func.func @f(%frame: !llvm.ptr {pit.frame},
                 %a: tensor<?x4xf32> {bufferization.writable = false}, %s: f32,
                 %out: memref<?x4xf32>) -> i32
        attributes {pit.manifest = array<i64: ...>}
    ```

    Arguments are ranked tensors, scalars and `!pit.index`; results are ranked
    tensors and scalars, which are returned in memrefs of rank 0. The manifest
    (its words are described in `pit-runtime/Abi.h`) tells the runtime what to
    check before the call, among it what `pit-abi-require-shapes` found and the
    sizes of the results as functions of the arguments' sizes and of integer
    arguments. A size that is no such function is checked when it is
    known, by a call of `pit_rt_check_dim`, before the result is copied out.
    `llvm.emit_c_interface` is dropped: the entry point is what C calls.

    Calls between functions of the module have to be inlined before
    (`pit-prepare-calls`, `inline`).
  }];
  let options = [
    Option<"device", "device", "std::string", /*default=*/"\"cpu\"",
           "Where the functions run and their tensors are: `cpu` or `cuda`">];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect", "::mlir::func::FuncDialect",
    "::mlir::memref::MemRefDialect", "::mlir::pit::PitDialect",
    "::mlir::tensor::TensorDialect"];
}

def PitAbiClaimFunctions : Pass<"pit-abi-claim-functions", "::mlir::ModuleOp"> {
  let summary = "tells which functions of a module pit has a device compute";
  let description = [{
    For programs of which pit lowers a part, and others the rest. A function with ops
    of pit gets `pit.device = "cuda"`: its tensors are in the device's memory, and all
    that computes on them becomes kernels of pit, ops without marks as well. The
    attribute asks for that in a function without marks, too. Entry points
    (`pit-abi-prepare`) and all other functions stay as they are.

    Example:

    ```mlir
    func.func @f(%a: tensor<?x?xf32>) -> tensor<?x?xf32> {
      %s = pit.sparse %a : tensor<?x?xf32>
      ...
    // becomes
    func.func @f(%a: tensor<?x?xf32>) -> tensor<?x?xf32> attributes {pit.device = "cuda"} {
    ```
  }];
}

def PitAbiOpenFrames : Pass<"pit-abi-open-frames", "::mlir::ModuleOp"> {
  let summary = "gives functions with ops of pit a frame, and leaves their signature";
  let description = [{
    For programs of which pit lowers a part, and others the rest. Indices are built
    in the memory of a call, its frame. A bufferized function that has ops of pit,
    and is no entry point (`pit-abi-prepare`), opens one: its body becomes a private
    function that takes the frame, and the function calls that. Callers see no
    difference. Functions without ops of pit stay as they are.

    The frames are of a context that belongs to the module, in `pit_calls`. The
    first call makes it. After it the words of `pit_calls` are addresses that tell
    the functions apart.

    Arguments and results are memrefs and scalars. An index is no argument here.

    Example:

    ```mlir
    func.func @f(%a: memref<?x?xf32>) -> index {
      %i = pit.index %a : memref<?x?xf32> -> !pit.index<micro_tile = [1, *], axis = 0>
      %n = pit.count %i : !pit.index<micro_tile = [1, *], axis = 0>
      return %n : index
    }
    ```

    becomes a function `f_in_frame`, and

    ```mlir
    func.func @f(%a: memref<?x?xf32>) -> index {
      %calls = llvm.mlir.addressof @pit_calls : !llvm.ptr
      %own = llvm.getelementptr %calls[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
      %frame = call @pit_rt_open(%calls, %own) : (!llvm.ptr, !llvm.ptr) -> !llvm.ptr
      %n = call @f_in_frame(%frame, %a) : (!llvm.ptr, memref<?x?xf32>) -> index
      %ok = arith.constant 0 : i32
      %status = call @pit_rt_leave(%frame, %ok) : (!llvm.ptr, i32) -> i32
      return %n : index
    }
    ```

    With `device=cuda` it does so for the functions with `pit.device`
    (`pit-abi-claim-functions`), and for no others. The stream is an argument with
    `pit.stream`, an `!llvm.ptr` that is a `CUstream`, or an argument of type
    `!gpu.async.token`, which `gpu-to-llvm` makes such a pointer. The function then
    returns before its work is done. Without a stream the work goes to the default
    stream and is done when the function returns:

    ```mlir
    func.func @f(%a: memref<?x?xf32>, %t: !gpu.async.token) {
      %calls = llvm.mlir.addressof @pit_calls : !llvm.ptr
      %own = llvm.getelementptr %calls[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
      %stream = builtin.unrealized_conversion_cast %t : !gpu.async.token to !llvm.ptr
      %frame = call @pit_rt_open_cuda(%calls, %own, %stream) : (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> !llvm.ptr
      call @f_in_frame(%frame, %a, %t) : (!llvm.ptr, memref<?x?xf32>, !gpu.async.token) -> ()
      %wait = arith.constant 0 : i32
      call @pit_rt_close_cuda(%frame, %wait) : (!llvm.ptr, i32) -> ()
      return
    }
    ```
  }];
  let options = [
    Option<"device", "device", "std::string", /*default=*/"\"cpu\"",
           "Where the functions run: `cpu` or `cuda`">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

def PitAbiExpectStatus : Pass<"pit-abi-expect-status", "::mlir::ModuleOp"> {
  let summary = "ends the process where a runtime call of a plain function fails";
  let description = [{
    A function of `pit-abi-open-frames` has no status to return, so a call of the
    runtime that fails ends the process with a message, as `cf.assert` does. This
    pass makes a `pit_rt_expect` of each `pit.check_status`, and takes the
    attributes off that only passes of pit know. Entry points are left to
    `pit-abi-return-status`.

    ```mlir
    pit.check_status %s
    ```
    becomes
    ```mlir
    call @pit_rt_expect(%frame, %s) : (!llvm.ptr, i32) -> ()
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

def PitAbiReturnStatus : Pass<"pit-abi-return-status", "::mlir::func::FuncOp"> {
  let summary = "returns the status of failed runtime calls";
  let description = [{
    At each `pit.check_status` the function returns the status if it is not 0. They
    have to stand directly in the blocks of a function that returns one i32: run this
    after `convert-scf-to-cf`. One within a region, where there is no way to return, is
    an error.

    ```mlir
    pit.check_status %s
    ```
    becomes
    ```mlir
      %c0 = arith.constant 0 : i32
      %failed = arith.cmpi ne, %s, %c0 : i32
      cf.cond_br %failed, ^return(%s : i32), ^next
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect"];
}

def PitAbiNameBodies : Pass<"pit-abi-name-bodies", "::mlir::ModuleOp"> {
  let summary = "gives entry points names that no library's function has";
  let description = [{
    An entry point may be called as a function of the C library, `expm1` or
    `cbrtf`. Lowering would take it for that function. So each function f with a
    `pit.manifest` (see `pit-abi-prepare`) becomes `pit_f.body`, before math is
    lowered to calls. `pit-abi-emit-wrapper` exports it as `pit_f`.

    Example:

    ```mlir
    llvm.func @cbrtf(%frame: !llvm.ptr) -> i32 attributes {pit.manifest = array<i64: 1>}
    // becomes
    llvm.func @pit_cbrtf.body(%frame: !llvm.ptr) -> i32 attributes {pit.manifest = array<i64: 1>}
    ```
  }];
}

def PitAbiEmitWrapper : Pass<"pit-abi-emit-wrapper", "::mlir::ModuleOp"> {
  let summary = "exports entry points under the calling convention";
  let description = [{
    For each `llvm.func` `pit_f.body` with a `pit.manifest` (see
    `pit-abi-prepare` and `pit-abi-name-bodies`), whose memref arguments are
    expanded as `convert-func-to-llvm` does, this emits

    - `int32_t pit_f(pit_context *, const pit_value *ins,
      DLTensor *const *outs, pit_stream)`, which has the runtime check and
      unpack the arguments (`pit_rt_enter`), calls the body and gives the frame
      back,
    - the manifest as the constant `pit_f_manifest`,

    and for the module `pit_program_entries`, the list of its entry points. All
    other definitions become internal, so that programs can be linked together.

    Example: what is left of `llvm.func @pit_f.body` is

    ```mlir
    llvm.mlir.global external constant @pit_f_manifest() : !llvm.struct<...> {...}
    llvm.func @pit_f(%context: !llvm.ptr, %ins: !llvm.ptr, %outs: !llvm.ptr, %stream: !llvm.ptr) -> i32
    llvm.func internal @pit_f.body(...)
    llvm.mlir.global weak constant @pit_program_entries("f\00\00")
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // PIT_ABI_PASSES_TD
