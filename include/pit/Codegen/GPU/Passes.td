//===- Passes.td - Passes to kernels for a GPU -------------*- tablegen -*-===//

#ifndef PIT_CODEGEN_GPU_PASSES_TD
#define PIT_CODEGEN_GPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def PitScheduleKernels : Pass<"pit-schedule-kernels", "::mlir::ModuleOp"> {
  let summary = "decides how a GPU runs each mainloop";
  let description = [{
    Each `pit.mainloop` of a kernel gets `schedules`. One is a `#pit.gpu_schedule`
    without producers: which warps or threads compute what, how deep a stage is,
    how many stages there are, how they are swizzled. This schedule takes all tensors.

    For a chip with wgmma (`sm_90a`) mainloops get a better one before it, with
    producers: the tile, the loaders, the stages, the cluster, in how
    many parts blocks share a tile, and which rows the kernel fills. Only kernels
    have it that are nothing but a loop over tiles with one mainloop whose operands
    wgmma takes. With `explain`, remarks say why others have none.

    `convert-pit-to-gpu` does what the attributes say, so this is the one place that
    decides. A mainloop that has schedules which the chip can run keeps them, and gets no
    better one: to try another number of stages, write it.

    A kernel that is nothing but sums of rows, one loop over tiles of columns around one
    over rows, gets a `#pit.launch_info` with a grid of `rows`: up to `parts` blocks
    share the rows of a tile. It needs no tiles: threads add what they read in registers.

    Blocks share the steps of tiles where there are fewer tiles than the machine has
    room for. Their sums are then added up in the order of the parts. With `strict`
    no tile is shared: each sum is taken in the order of its steps.

    Each schedule of the chip is asked by itself. A product that none takes becomes loops
    over tiles again.

    Example: test/Codegen/GPU/schedule-kernels.mlir.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/[{"sm_80"}],
           "The oldest GPU to run on; if empty, all are meant">,
    Option<"explain", "explain", "bool", /*default=*/"false",
           "Say, as remarks, which kernels with a mainloop do without Hopper's "
           "schedule, and why">,
    Option<"strict", "strict", "bool", /*default=*/"false",
           "No blocks share the steps of a tile">
  ];
  let dependentDialects = ["::mlir::pit::PitDialect"];
}

def ConvertPitToGPU : Pass<"convert-pit-to-gpu", "::mlir::ModuleOp"> {
  let summary = "lowers kernels of bufferized level 3 to gpu, scf and memref";
  let description = [{
    Every nested module with the attribute `pit.kernels` becomes a `gpu.module`,
    every function in it a kernel. A block of threads computes one iteration of
    the outermost `pit.forall` at a time, and takes every `grid_dim.x`-th of them.
    So any grid is right, but for that of a tile in `parts`.

    All threads of the block run the scalar code. They share the elements of
    `pit.sread`, `pit.swrite` and of linalg ops, and wait for each other where one
    op depends on another. Ops on whole memrefs outside of loops are shared by the
    threads of the whole grid. If they depend on each other, the first block alone
    runs the kernel.

    Tiles lie in dynamic shared memory. If they need more than
    `max-shared-bytes`, the largest ones lie in a scratch, which the kernel gets
    as its last argument. The kernel's `#pit.launch_info` says how to launch it, and which
    further parameters it takes.

    The `schedules` of a `pit.mainloop` say how it is run; see
    `pit-schedule-kernels`. A kernel whose mainloop has one with producers
    becomes two. `f_kernel` is as above, by the schedule without; where there is none it computes tile by tile. In `f_kernel_hopper` one warpgroup copies
    tiles into stages in shared memory (TMA and mbarriers), and two multiply them
    (wgmma). It takes the same arguments, and after them TMA descriptors of tensors.
    Whether tensors can be described depends on addresses and extents, so the
    launch decides: the first kernel names the second as `preferred`.

    If a launch before fills an argument of the second kernel, that kernel fills the rows
    that no tile writes. The launch before then becomes the `fill` of this one. The fill is
    of the same variant, if any.

    An index is the address of a `pit_index` in device memory.

    Example:

    ```mlir
    module @pit_kernels attributes {pit.kernels} {
      func.func @f_0(%x: memref<?xf32>, %y: memref<?xf32>) {
        linalg.exp ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
        return
      }
    }
    ```
  }];
  let options = [
    Option<"threads", "threads", "int64_t", /*default=*/"256",
           "Threads of a block">,
    Option<"maxSharedBytes", "max-shared-bytes", "int64_t",
           /*default=*/"::mlir::pit::kPortableSharedBytes", "Shared memory that the tiles of a block may "
           "take; 99 KB is what every chip from sm_80 on has">,
    Option<"chip", "chip", "std::string", /*default=*/[{"sm_80"}],
           "The oldest GPU to run on, attached as the module's target; if empty, "
           "none is attached and all are meant">,
    Option<"features", "features", "std::string", /*default=*/"",
           "Features of the chip, as LLVM has them; by default the PTX version "
           "that knows the chip">,
    Option<"optLevel", "opt-level", "int64_t", /*default=*/"3",
           "How far LLVM optimizes the kernels, 0 to 3">
  ];
  let dependentDialects = ["::mlir::pit::pitgpu::PitGPUDialect",
                           
    "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect",
    "::mlir::pit::PitDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def PitLowerDeviceMath : Pass<"pit-lower-device-math"> {
  let summary = "expands math functions that a device lacks";
  let description = [{
    PTX has few functions. Functions of f32 become arithmetic that is right to 10
    units in the last place: but sin, cos and tan of more than 1e9, which are NaN, and
    logarithms of subnormal numbers, which are that of the smallest normal one.
    Functions of f64 become calls of libdevice, NVIDIA's library, right to 4 units:
    `pit-translate-kernels` links it. Narrower types have
    to be extended first (`math-extend-to-supported-types`), and what is not in f32
    only expanded (`pit-lower-math`). Square roots, rounding and the like are left.

    With `fastmath<afn>` functions are enough where the result is rounded to f16 or
    bf16, and subnormal results are 0. `math.exp` is one `ex2.approx`, off by up to |x|
    units in the last place, and so is `math.exp2`, which is exact otherwise. `math.erf` is off by up to 4.5e-7, near 0 as well.
    h x (1 + erf(c x)), as gelu is, is off by up to 7e-5 of itself, and x / (1 + exp(y)),
    as silu is, takes one reciprocal.

    `arith.remf` becomes a loop in f64, which is exact, in every type. The larger and the
    smaller one of two f32 are one instruction, for which LLVM has intrinsics.

    Example: `math.exp` of f32 becomes two `math.exp2`, one of a whole number; of f64
    it becomes `llvm.call @__nv_exp`.
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def PitGPUToNVVM : Pass<"pit-gpu-to-nvvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "lowers gpu ops to nvvm, and leaves arith and math";
  let description = [{
    Upstream's `convert-gpu-to-nvvm` turns functions, and `arith.remf` and
    others besides, into calls of libdevice. This pass lowers functions, thread
    numbers, barriers and shuffles, and leaves arith and math to
    `convert-to-llvm`: `pit-lower-device-math` has expanded what devices lack.

    Example: `gpu.thread_id x` becomes `nvvm.read.ptx.sreg.tid.x`.
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

def PitPredicateKernels
    : Pass<"pit-predicate-kernels", "::mlir::gpu::GPUModuleOp"> {
  let summary = "makes kernels of variants leave if theirs is not chosen";
  let description = [{
    A kernel that some launch starts for one variant alone is `predicated`, as its
    `#pit.launch_info` says. It gets two more parameters: the address of a word in the
    device's memory, or 0, and a number. It returns at once if the word is another
    number. Runs when the functions are those of the llvm dialect, after
    `pit-gpu-to-nvvm`.

    Kernels that start by PDL (`pdl`) wait for the one before
    them first. They let the next one come when all of their blocks have left, or
    are at work: blocks that come while others leave crowd onto the multiprocessors
    that are free by then. Hopper's kernels let it come at once: a block takes a
    multiprocessor of its own.

    Example:

    ```mlir
    llvm.func @k(%x: !llvm.ptr) attributes {nvvm.kernel, pit.launch_info = #pit.launch_info<threads = 64, predicated = true>} {...}
    // becomes
    llvm.func @k(%x: !llvm.ptr, %address: i64, %number: i64) {
      %conditional = llvm.icmp "ne" %address, %zero : i64
      llvm.cond_br %conditional, ^ask, ^body
    ^ask:
      // ... loads the word
      llvm.cond_br %is_chosen, ^body, ^leave
    ```
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

#endif // PIT_CODEGEN_GPU_PASSES_TD
