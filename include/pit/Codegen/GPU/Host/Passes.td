//===- Passes.td - Passes that make and launch kernels -----*- tablegen -*-===//

#ifndef PIT_CODEGEN_GPU_HOST_PASSES_TD
#define PIT_CODEGEN_GPU_HOST_PASSES_TD

include "mlir/Pass/PassBase.td"

def PitOutlineKernels : Pass<"pit-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "moves what computes on tensors into kernels";
  let description = [{
    Every outermost loop over tiles, and every other op that computes on whole
    tensors, becomes a function in the nested module `@pit_kernels`; a
    `pit.launch` takes its place. A kernel's arguments are what it uses, tensors
    as memrefs without gaps; results are its last arguments. Constants, sizes,
    and what depends on data of the device (counts of an index) are computed in
    the kernel; on the host, `pit.count` and `pit.extent` stand for the bounds
    that the shape gives.

    Run on tensors, and again after bufferization, it also takes the copies that
    bufferization left. With `claimed` it does so in functions with `pit.device`
    alone.

    Example:

    ```mlir
    %c = pit.forall (%m) = (%c0) to (%M) step (64) iter_args(%o = %init) -> (tensor<?xf32>) {...}
    // becomes
    %c = pit.launch @pit_kernels::@f_0 iterations(%n) ins(%x : tensor<?xf32>)
           outs(%init : tensor<?xf32>) -> (tensor<?xf32>)
    ```
  }];
  let options = [
    Option<"claimed", "claimed", "bool", /*default=*/"false",
           "Only in functions that pit-abi-claim-functions has claimed">];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect",
    "::mlir::pit::PitDialect"];
}

def PitAwaitLaunches : Pass<"pit-await-launches", "::mlir::ModuleOp"> {
  let summary = "has the host wait where others use what kernels work on";
  let description = [{
    In functions of which pit lowers a part (`pit.device`, with a frame by
    `pit-abi-open-frames`), the host does not wait for kernels. An op of others that
    reads or writes memory, as a call, a `gpu.launch_func` without a token or a
    `gpu.memcpy`, so gets a call of `pit_rt_wait` in front, if there may be work that
    it has not waited for. An op that takes the function's stream, or a token that
    follows from it, is in order already and does not wait.

    A `gpu.wait` that is not `async` on the function's token is an error: it ends the
    stream (`mgpuStreamDestroy`), which is the caller's.

    Example:

    ```mlir
    pit.launch @pit_kernels::@f iterations(%n) outs(%o : memref<?xf32>)
    call @theirs(%o) : (memref<?xf32>) -> ()
    // becomes
    pit.launch @pit_kernels::@f iterations(%n) outs(%o : memref<?xf32>)
    %status = call @pit_rt_wait(%frame) : (!llvm.ptr) -> i32
    pit.check_status %status
    call @theirs(%o) : (memref<?xf32>) -> ()
    ```
  }];
  let dependentDialects = [
    "::mlir::func::FuncDialect", "::mlir::pit::PitDialect"];
}

def PitPlaceResults : Pass<"pit-place-results", "::mlir::ModuleOp"> {
  let summary = "allocates what functions on a device return by gpu.alloc";
  let description = [{
    A `memref.alloc` that is left in a function with `pit.device` after
    `pit-place-buffers` is memory that the function returns. It becomes `gpu.alloc`,
    and `memref.dealloc`, there of memory that a called function returned,
    `gpu.dealloc`, before which the host waits for the kernels. A
    `bufferization.dealloc` of such memory becomes a branch that asks whether that is
    retained. Their token is that of the function's stream, or stands for the
    default stream, so that `gpu-to-llvm` takes them as they are. Functions of the
    host that free what functions on a device gave them free it on the device, too.

    Example:

    ```mlir
    func.func private @f_in_frame(%frame: !llvm.ptr {pit.frame}, %n: index)
        -> memref<?xf32> attributes {pit.device = "cuda"} {
      %r = memref.alloc(%n) : memref<?xf32>
      return %r : memref<?xf32>
    }
    ```
    becomes
    ```mlir
      %null = llvm.mlir.zero : !llvm.ptr
      %token = builtin.unrealized_conversion_cast %null : !llvm.ptr to !gpu.async.token
      %r, %t = gpu.alloc async [%token] (%n) : memref<?xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::gpu::GPUDialect",
    "::mlir::memref::MemRefDialect", "::mlir::pit::PitDialect",
    "::mlir::scf::SCFDialect"];
}

def PitForwardCopies : Pass<"pit-forward-copies", "::mlir::func::FuncOp"> {
  let summary = "has kernels write what would be copied to its place";
  let description = [{
    Several results of an op may go into parts of one tensor, as the gradients of
    gates and ups that are one weight. Bufferization does not see that the parts are
    disjoint. So it copies one part onto itself, and computes the others in
    memory of their own, from where they are copied.

    A `memref.copy` of a view onto itself goes. So does the copy of memory that is
    allocated here into a `memref.subview` of such memory: the launches that write the
    one write the other. Only launches use what is copied, before the copy. Meanwhile
    nothing uses the other's elements: other uses are of parts that lie apart by
    offsets and sizes that are known.

    Runs between bufferization of the host and `pit-kernel-layouts`.

    Example: test/Codegen/GPU/Host/forward-copies.mlir.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect",
                           "::mlir::pit::PitDialect"];
}

def PitKernelLayouts : Pass<"pit-kernel-layouts", "::mlir::ModuleOp"> {
  let summary = "gives kernels the layouts of what they are launched on";
  let description = [{
    Kernels are made of tensors, so that their arguments are memrefs without
    gaps. A buffer that the host hands to them may be a part of another
    tensor: then the kernel's argument, and the views of it in the kernel, get
    the strides and the offset of that part. Strides that are known stay known.
    If launches of one kernel differ in them, they are found out when the kernel
    runs. If an op of the kernel cannot take such a memref (a
    `memref.collapse_shape` across a gap, a memref that a loop carries), the
    kernel gets a copy without gaps.

    Runs between bufferization of the host and the second
    `pit-outline-kernels`, which takes the copies.

    Example: test/Codegen/GPU/Host/kernel-layouts.mlir.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect",
                           "::mlir::pit::PitDialect"];
}

def PitPredicateVariants : Pass<"pit-predicate-variants", "::mlir::func::FuncOp"> {
  let summary = "lets the device choose among the variants of an op";
  let description = [{
    The host does not know what is in the device's memory, and does not wait for
    it. So `scf.if` cannot ask which variant a `pit.choose` has taken. The launches
    of all variants follow each other instead, and each asks on the device
    whether its variant is the one. Runs on memrefs, when all that computes is a
    launch. The ops of a branch beside its launches must do no harm for a variant that
    is not taken. All branches must return the same memory: allocations of one
    type and the same extents become one.

    Example:

    ```mlir
    %v, %bitmap = pit.choose %a of [...] dense(%d) fixed(%f) live(%l) : memref<?x?xf16>
    %is_1 = arith.cmpi eq, %v, %c1 : index
    scf.if %is_1 {
      %i = pit.index %a seen(%bitmap) : memref<?x?xf16> -> !pit.index<...>
      pit.launch @pit_kernels::@sparse iterations(%n) ins(%a, %b, %i : ...) outs(%c : ...)
    } else {
      pit.launch @pit_kernels::@dense iterations(%n) ins(%a, %b : ...) outs(%c : ...)
    }
    // becomes
    %v, %bitmap = pit.choose %a of [...] dense(%d) fixed(%f) live(%l) on_device : memref<?x?xf16>
    %i = pit.index %a seen(%bitmap) : memref<?x?xf16> -> !pit.index<...>
    pit.launch @pit_kernels::@sparse if(%bitmap : !pit.bitmap is 1) iterations(%n) ...
    pit.launch @pit_kernels::@dense if(%bitmap : !pit.bitmap is 0) iterations(%n) ...
    ```
  }];
}

def ConvertPitLaunch : Pass<"convert-pit-launch", "::mlir::ModuleOp"> {
  let summary = "lowers pit.launch to calls of the runtime";
  let description = [{
    A launch on memrefs becomes a call of `pit_rt_launch`. The kernel is a
    constant, a `pit_kernel`, with its name, image, threads and shared memory.
    The parameters are, of a memref its descriptor's fields, of an index the address of
    its copy on the device. Runs after `convert-pit-to-gpu`, whose kernels say
    in their `#pit.launch_info` how to launch them. The device code is
    the constant `pit_image`, which `pit-embed-kernels` fills in. An op that
    is left on the host and reads or writes elements of tensors is an error.

    A kernel may name a second one for Hopper, which does the same (`preferred`).
    It takes the same parameters, and then a TMA descriptor for each of its
    `tensor_maps`. `pit_rt_tensor_map` makes the descriptors. The host starts the
    second kernel if there are iterations, and if each of these memrefs can be
    described:

    - it starts at a multiple of 16 bytes,
    - its strides but the innermost are multiples of 16 bytes,
    - its extents are from 1 to 2^32 - 1.

    If a map says `along_k`, the dimension along which products are added, the
    first two need not hold: the host then has the memref copied to rows that do
    (`pit_rt_pack_rows`). With `order` it always does: the copy has the memref's
    dimensions in that order, and `box` is of the copy. Copies have to pay: the
    first output's elements times the extent along k have to be 64 times the
    elements that are copied. Otherwise the host starts the first kernel, the fallback. With
    `separate-fallbacks` kernels that are started in no other case move to the module
    `pit_fallback_kernels` and the image `pit_fallback_image`, which the runtime
    loads when it is needed first. They are optimized at level 1.

    The kernels of launches with `if` become `predicated`, and take the
    address of the choice's word and the variant's number as their last
    parameters. Launches of the same kernels without it hand over 0.

    The `fill` of a launch is started before any kernel but one that `fills`.

    Example: `pit.launch @pit_kernels::@f iterations(%n) outs(%o : memref<?xf32>)`
  }];
  let options = [
    Option<"separateFallbacks", "separate-fallbacks", "bool",
           /*default=*/"false", "Give fallbacks a module of their own">
  ];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect",
    "::mlir::pit::PitDialect", "::mlir::scf::SCFDialect"];
}

def PitTranslateKernels : Pass<"pit-translate-kernels", "::mlir::ModuleOp"> {
  let summary = "translates modules of kernels to PTX";
  let description = [{
    As upstream's `gpu-module-to-binary{format=isa}` each `gpu.module` with a target
    of the nvvm dialect becomes a `gpu.binary` with its PTX. LLVM optimizes and
    translates the modules at the same time, on as many threads as there are
    processors. The PTX is that of one thread. With `O = 0` kernels with wgmma get
    the code of `O = 1`, without its other optimizations: their sums must not be copied
    before they are complete.

    Functions that kernels call of libdevice (`__nv_exp`) are linked and inlined. An error [U6]
    says where libdevice was searched.

    With `own` that is done for the modules of pit alone, which have `pit.kernels`.

    Example:

    ```mlir
    gpu.module @pit_kernels [#nvvm.target<chip = "sm_90a">] { ... }
    // becomes
    gpu.binary @pit_kernels [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = "...">]
    ```
  }];
  let options = [
    Option<"own", "own", "bool", /*default=*/"false",
           "Only modules with pit.kernels">];
}

def PitAssembleKernels : Pass<"pit-assemble-kernels", "::mlir::ModuleOp"> {
  let summary = "assembles the PTX of kernels";
  let description = [{
    PTX in a `gpu.binary` becomes a cubin, by ptxas of the CUDA toolkit: the one
    that the environment variable `PIT_PTXAS` names, otherwise that of the
    `PATH` or of /usr/local/cuda. The messages of ptxas become a warning.

    With `device-code=auto` this is done for chips whose name ends in `a`, except
    for `pit_fallback_kernels`. No other GPU runs their PTX, so nothing is lost, and
    the driver's assembler does worse on some kernels with wgmma. Fallbacks have no
    wgmma, and most programs never start one: the driver assembles those that
    are started. If ptxas cannot do it, a warning says
    so, and the kernels stay PTX; with `cubin` that is an error.

    With `own` that is done for the binaries `pit_kernels` and
    `pit_fallback_kernels` alone.

    Example:

    ```mlir
    gpu.binary @pit_kernels [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = "...">]
    // becomes
    gpu.binary @pit_kernels [#gpu.object<#nvvm.target<chip = "sm_90a">, bin = "...">]
    ```
  }];
  let options = [
    Option<"deviceCode", "device-code", "::mlir::pit::DeviceCode",
           "::mlir::pit::DeviceCode::Cubin", "What the kernels become.",
           "::mlir::pit::getDeviceCodeValues()">,
    Option<"own", "own", "bool", /*default=*/"false",
           "Only binaries of pit's kernels">];
}

def PitEmbedKernels : Pass<"pit-embed-kernels", "::mlir::ModuleOp"> {
  let summary = "makes device code a constant of the program";
  let description = [{
    The `gpu.binary` of the kernels, PTX or a cubin, becomes the data of the
    constant `pit_image`, from where the runtime loads it, and that of the fallbacks
    the data of `pit_fallback_image`. A last line with a hash tells images apart.

    Example:

    ```mlir
    llvm.mlir.global internal constant @pit_image() : !llvm.struct<(ptr, i64)>
    gpu.binary @pit_kernels [#gpu.object<#nvvm.target<chip = "sm_90a">, bin = "...">]
    // becomes
    llvm.mlir.global internal constant @pit_image_data("...// pit 338115b4688fa26d\00")
    llvm.mlir.global internal constant @pit_image() : !llvm.struct<(ptr, i64)> {
      // ... the address and the size of @pit_image_data
    }
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // PIT_CODEGEN_GPU_HOST_PASSES_TD
