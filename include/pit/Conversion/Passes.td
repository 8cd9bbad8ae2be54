//===- Passes.td - Conversions out of the pit dialect -------*- tablegen -*-===//

#ifndef PIT_CONVERSION_PASSES_TD
#define PIT_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def PlaceBuffers : Pass<"pit-place-buffers", "::mlir::ModuleOp"> {
  let summary = "takes buffers from the memory of the call";
  let description = [{
    Replaces every `memref.alloc` of a function that has a frame
    (`pit-abi-prepare`) by memory of that frame, so that compiled programs
    neither allocate nor free in the steady state. Static buffers inside of
    `pit.forall`, `scf.forall` or `scf.parallel` get fixed places in a scratch
    area of which every worker has its own; a loop of scf with a buffer of dynamic
    size becomes sequential, with a remark. The others live until the function
    returns. In a sequential loop each has one place, whatever the number of
    iterations: a static buffer is placed once, before the loop, a dynamic one
    gets its last memory again while that is large enough (`pit_rt_realloc`), and
    one that the loop hands to its next iteration takes turns with a second. Runs
    on bufferized IR before `convert-pit-to-scf`.

    Example:

    ```mlir
    pit.forall (%i) = (%lo) to (%hi) step (32) {
      %t = memref.alloc() : memref<32x64xf32>
      ...
    }
    ```

    takes `%t` as a `memref.view` of the worker's scratch.
  }];
  let options = [
    Option<"openmp", "openmp", "bool", /*default=*/"true",
           "pit.forall runs on OpenMP's threads, each with its own scratch">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def PitCheckBounds : Pass<"pit-check-bounds", "::mlir::ModuleOp"> {
  let summary = "checks in the program that each access is inside of its memref";
  let description = [{
    In functions that have a frame (`pit-abi-prepare`), each load, store, masked
    access, gather, scatter, transfer and copy runs only if all of its elements
    lie inside of the memref that it names, and the views that it goes through
    inside of their sources. Otherwise `pit_rt_check_bounds` makes the call fail,
    with a message that names the op and its place in the source, and what would
    have been read is 0: nothing outside is touched. This is for finding errors:
    a program takes several times as long. It runs on loops over vectors, while
    views are not folded yet.

    An op that accesses a memref in a way that the pass does not know is an error.
    Not checked is what takes addresses apart from memrefs: the fields of
    `pit_index`, memory on the stack, and the gathers of words that pack rows of
    narrow elements for dot products.

    ```mlir
    %x = memref.load %m[%i] : memref<?xf32>
    ```
    becomes
    ```mlir
    %x = scf.if %inside -> (f32) {
      %0 = memref.load %m[%i] : memref<?xf32>
      scf.yield %0 : f32
    } else {
      func.call @pit_rt_check_bounds(%frame, %text, %dim, %i, %one, %size)
          : (!llvm.ptr, !llvm.ptr, i32, i64, i64, i64) -> ()
      scf.yield %zero : f32
    }
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def ConvertPitToSCF : Pass<"convert-pit-to-scf", "::mlir::ModuleOp"> {
  let summary = "lowers bufferized level 3 to scf, vector and memref";
  let description = [{
    `pit.forall` becomes `scf.parallel`, `pit.for` becomes `scf.for`. `pit.sread`
    becomes loops that pack into the tile, with vector moves along contiguous
    runs and vector gathers where the innermost dimension is gathered;
    `pit.swrite` is its mirror. `pit.index` becomes a call of the runtime's
    builder, whose status returns through `pit-abi-return-status`. An index at
    a function's boundary becomes a pointer to the runtime's `pit_index`.

    `pit.ring` becomes loops over blocks of sums in registers, which read their
    operands in place. Those that many tiles of a `pit.forall` read are packed
    before it, in memory of the call: one operand in strips of columns, if its
    elements are read often enough to pay for it, which the index says at run
    time, and the other one by tiles, if it has to be gathered or extended.
    If tiles choose different elements from its rows, it is turned as a whole,
    unless the index names few of them, and tiles copy parts of the rows that it
    has then.
    Where the caller has promised that an argument's memory is constant, strips
    of it are kept from call to call (`pit_rt_keep`).

    Products of fewer than four rows or columns, as those of a matrix and a
    vector, are computed element by element if ids stand for the sum and no
    lanes fit. Nothing is packed for them, and ids that one of the operands lacks
    are left out.

    With `amx`, products of bf16 that are summed up in f32, and of i8 in i32, are
    computed in tile registers. Both operands are packed for them, the one in
    strips with two or four neighbours along k together: once before the
    `pit.forall` if k is dense, and else for each chunk of ids. Sums are rounded
    as the instructions do, which flush denormal floats to 0. The function first
    asks the system for the registers (`pit_rt_request_amx`).

    Example:

    ```mlir
    pit.for %ids at %pos in %i[%m] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 {
      pit.sread %b[%ids : !pit.ids<64>, %n] into %t : memref<?x?xf32> -> memref<64x128xf32>
    }
    ```
  }];
  let options = [
    Option<"vectorWidth", "vector-width", "int64_t", /*default=*/"512",
           "Width of a vector register in bits">,
    Option<"amx", "amx", "bool", /*default=*/"false",
           "Multiply bf16 and i8 in AMX's tile registers">
  ];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::amx::AMXDialect",
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def ConvertPitToGPU : Pass<"convert-pit-to-gpu", "::mlir::ModuleOp"> {
  let summary = "lowers kernels of bufferized level 3 to gpu, scf and memref";
  let description = [{
    Every nested module with the attribute `pit.kernels` becomes a `gpu.module`,
    every function in it a kernel. A block of threads computes one iteration of
    the outermost `pit.forall` at a time and takes every `grid_dim.x`-th of
    them, so that any grid is right. All threads of the block run the scalar
    code; they share the elements of `pit.sread`, `pit.swrite` and of linalg
    ops, and wait for each other where one op depends on another. Ops on whole
    memrefs outside of loops are shared by the threads of the whole grid; if
    they depend on each other, the first block alone runs the kernel.

    Tiles lie in dynamic shared memory. If they need more than
    `max-shared-bytes`, the largest ones lie in a scratch, which the kernel gets
    as its last argument. The attributes of a kernel say how to launch it:

    - `pit.threads`: threads of a block (also `known_block_size`);
    - `pit.shared_bytes`: dynamic shared memory of a block;
    - `pit.scratch_bytes`: bytes of the scratch for each block, if it has one;
    - `pit.blocks`: more blocks than these have no work, if it is there;
    - `pit.split`: blocks along y share the chunks of a group;
    - `pit.hopper`: a second kernel, to launch in its place where it can be.

    For `sm_90a`, a kernel that is nothing but a loop over tiles, with one
    `pit.ring` on f16 or bf16 in it, becomes two: `f_kernel`, as above, and
    `f_kernel_hopper`, in which one warpgroup copies tiles into a ring of stages
    in shared memory (TMA and mbarriers) and two multiply them (wgmma). It takes
    the same arguments, and after them TMA descriptors of tensors. Whether these
    can be described depends on addresses and extents, so it is the launch that
    decides. With `explain`, remarks say why a ring has the first kernel only.
    The second one has `pit.threads`, `pit.shared_bytes` and `pit.split` like
    others (of the latter: the groups' chunks are among the tiles, and nothing
    is launched along y), and

    - `pit.tensor_maps`: for each descriptor, `argument`, the number of the
      tensor among the kernel's arguments, `box`, the elements that one copy
      covers along each of its dimensions, and `swizzle`, the bytes in which 16
      byte chunks change places;
    - `pit.persistent`: blocks take tiles in turn, so that one for each
      multiprocessor is enough;
    - `pit.cluster`: blocks of a cluster, which their number has to be a
      multiple of; 1 if it is missing;
    - `pit.partial_bytes`: where tiles may be fewer than multiprocessors, blocks
      share them along k. Before the descriptors there is one more parameter,
      the address of 16 KB of counters, which are zero, and so many bytes for
      the partial sums of each multiprocessor's block.

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
           /*default=*/"101376", "Shared memory that the tiles of a block may "
           "take; 99 KB is what every chip from sm_80 on has">,
    Option<"chip", "chip", "std::string", /*default=*/[{"sm_80"}],
           "Chip to attach as the module's target; none if empty">,
    Option<"features", "features", "std::string", /*default=*/"",
           "Features of the chip, as LLVM has them; by default the PTX version "
           "that knows the chip">,
    Option<"explain", "explain", "bool", /*default=*/"false",
           "Say, as remarks, which kernels with a ring do without Hopper's "
           "schedule, and why">
  ];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def PitLowerDeviceMath : Pass<"pit-lower-device-math"> {
  let summary = "expands math functions that a device lacks";
  let description = [{
    PTX has few functions, and there is no library to call. Functions of f32
    become arithmetic that is right to 10 units in the last place: but sin, cos and
    tan of more than 1e9, which are NaN, and logarithms of subnormal numbers, which
    are that of the smallest normal one. Narrower types have to be extended first
    (`math-extend-to-supported-types`), and what is not in f32 only expanded
    (`pit-lower-math`). Of f64,
    square roots, rounding and the like are left; other functions are an error.

    Example: `math.exp` becomes two `math.exp2`, one of a whole number.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::vector::VectorDialect"];
}

def PitGPUToNVVM : Pass<"pit-gpu-to-nvvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "lowers gpu ops to nvvm, without libdevice";
  let description = [{
    Upstream's `convert-gpu-to-nvvm` turns functions, and `arith.remf` and
    others besides, into calls of libdevice. This pass lowers functions, thread
    numbers, barriers and shuffles, and leaves arith and math to
    `convert-to-llvm`.

    Example: `gpu.thread_id x` becomes `nvvm.read.ptx.sreg.tid.x`.
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

#endif // PIT_CONVERSION_PASSES_TD
