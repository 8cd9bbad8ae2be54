//===- Passes.td - Passes to code for a CPU ----------------*- tablegen -*-===//

#ifndef PIT_CODEGEN_CPU_PASSES_TD
#define PIT_CODEGEN_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def PitVectorize : Pass<"pit-vectorize", "::mlir::func::FuncOp"> {
  let summary = "vector code for linalg ops on memrefs";
  let description = [{
    Replaces every linalg op on memrefs, of static or dynamic shape, by loops
    around vector code.

    One loop of the op runs along the lanes of vectors: a parallel loop along
    which the outputs are contiguous, or else a reduction along which the inputs
    are. Contractions are computed in register blocks of several vectors times
    several rows, with the sums in registers across all reductions; vectors that
    are read are shared by the rows of the block. The rest of a loop is a
    smaller block, or a masked vector. Inputs of a contraction that are read
    across memory, or that are narrower than the sums, are first packed to the
    stack where that pays. Element-wise transposes go through registers. The
    rest becomes scalar loops.

    Large contractions are cut into tiles for the caches, and, with `parallel`,
    all large ops into tiles for threads. If sizes are dynamic, a branch at run
    time decides whether an op is large.

    Products and sums of contractions may be fused, sums along the lanes are
    reassociated, and reductions into floats narrower than f32 are computed in f32, rounded
    when they are stored. Element-wise code is computed as it is written, except that
    exp, exp2, expm1, log, log2, log1p, tanh and erf in f32 and below are polynomials:
    within 5 units in the last place (exp and expm1 6 above 88.7, where they nearly
    overflow), subnormal results are 0, and logarithms of subnormal numbers are that of
    the smallest normal one.

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
           "Width of a vector register in bits: 128, 256 or 512">,
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

def PitBalanceLoops : Pass<"pit-balance-loops", "::mlir::func::FuncOp"> {
  let summary = "decides how threads share out loops";
  let description = [{
    Gives each `omp.wsloop` in which an inner loop runs as often as memory says a
    dynamic schedule: the counts of an index differ from group to group, so
    equal parts of the iterations are not equal parts of the work. It is
    nonmonotonic: LLVM's OpenMP library gives each thread its part, as a static
    schedule does, and lets those that are done take from the others. They take 1 to
    64 iterations at once, so that there are about 128 chunks: one row of a sparse
    product takes no longer than taking a chunk does. Other loops stay as they are.

    An `omp.parallel` around one loop nest gets an `if` clause: a loop of a single
    iteration runs on the calling thread. Waking a team takes microseconds, which
    is longer than a small program runs.

    Example:

    ```mlir
    omp.wsloop schedule(dynamic = %chunk : i64, nonmonotonic) {
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
  let options = [
    Option<"all", "all", "bool", /*default=*/"false",
           "Make the outer ones of functions with a frame sequential, too, and "
           "leave other functions alone">];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def PitShareLoops : Pass<"pit-share-loops", "::mlir::ModuleOp"> {
  let summary = "makes equal loops one function, and similar ones of long programs";
  let description = [{
    Programs repeat their layers, and each loop takes long to compile. Outermost loops
    without results that are the same, up to the values that they take from outside,
    become calls of one private function. Constants are part of the loop: loops whose
    constants differ stay apart. So do loops with calls whose status is returned or
    with assertions, and small loops. Elementwise structured ops on buffers are loops as
    well; eight or more that are equal share a function.

    Static sizes make a loop faster, so loops that differ in them are compiled each. If
    all loops of the module together have more than `most-ops` ops, those that differ in
    sizes alone share a function, too: constants of type index become arguments, and
    memrefs have dynamic sizes and strides. Sizes that are equal in all of them stay.

    Example: two loops

    ```mlir
    func.func @twice(%a: memref<?xf32>, %b: memref<?xf32>, %n: index, %x: f32) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      scf.parallel (%i) = (%c0) to (%n) step (%c1) {
        memref.store %x, %a[%i] : memref<?xf32>
      }
      scf.parallel (%i) = (%c0) to (%n) step (%c1) {
        memref.store %x, %b[%i] : memref<?xf32>
      }
      return
    }
    ```

    become, if they are large enough to be worth it, two calls of
    `@twice_loop(%n, %x, %a)`.
  }];
  let options = [
    Option<"fewestOps", "fewest-ops", "int64_t", /*default=*/"32",
           "Loops of fewer ops stay where they are">,
    Option<"mostOps", "most-ops", "int64_t", /*default=*/"60000",
           "With more ops in loops that are not equal, loops of different sizes share">
  ];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect"];
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
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect",
    "::mlir::pit::PitDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def PitSanitize : Pass<"pit-sanitize", "::mlir::ModuleOp"> {
  let summary = "marks functions for a sanitizer of LLVM's";
  let description = [{
    Gives each `llvm.func` that has a body the attribute `sanitize_address`. The
    translation of the module to LLVM IR then runs AddressSanitizer's pass over it, as
    `pit-compile` and the C interface do; LLVM's outlining of parallel loops keeps
    the attribute. Runs last.

    Example: test/Codegen/CPU/sanitize.mlir.
  }];
  let options = [Option<"sanitizer", "sanitizer", "std::string",
                        /*default=*/"\"address\"", "The sanitizer: address">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def PitCloseGaps : Pass<"pit-close-gaps", "::mlir::func::FuncOp"> {
  let summary = "has mainloops access rows whose elements are neighbours";
  let description = [{
    Mainloops are formed on tensors, and vectors run along the last dimension of what
    they read and write. Bufferization may give a tensor any layout. Arguments of
    functions have strides that are not known, and a slice with a step has gaps in its
    rows. A nest of tile loops then accesses a memref whose last stride is 1. It is the
    same memory if that stride turns out to be 1 at run time. Otherwise it is a copy,
    which is written back behind the nest if the nest writes into it.

    A last stride that is known and is not 1 stays where the mainloop can be run as it
    is: a transposed operand is read that way. A memref that the nest accesses by two
    names, one of which writes, stays, too.

    Example: around a nest that writes into `%c`, a
    `memref<64x64xf32, strided<[?, ?], offset: ?>>`, there is

    ```mlir
    %room = memref.alloc(%size) : memref<?xf32>      // 0 if %c has no gaps
    %rows = arith.select %gapless, %same, %copy : memref<64x64xf32, strided<[?, 1], offset: ?>>
    scf.if %gaps {
      linalg.copy ins(%c : memref<64x64xf32, strided<[?, ?], offset: ?>>)
        outs(%copy : memref<64x64xf32, strided<[?, 1], offset: ?>>)
    }
    ```

    Run it before `pit-schedule-mainloops`.
  }];
  let options = [
    Option<"vectorWidth", "vector-width", "int64_t", /*default=*/"512",
           "Width of a vector register in bits">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def PitScheduleMainloops
    : Pass<"pit-schedule-mainloops", "::mlir::func::FuncOp"> {
  let summary = "decides how a CPU runs each mainloop";
  let description = [{
    Each `pit.mainloop` on memrefs gets `schedules` with a
    `#pit.cpu_schedule`: which operand is read by rows and which by lanes, how many
    rows and vectors a register block has, what is packed and what is transposed.
    `convert-pit-to-scf` does what it says, so this is the one place that decides.
    A mainloop that has such a schedule keeps it; `convert-pit-to-scf` checks it.

    *Single elements.* Products of fewer than four rows or columns, such as those
    of a matrix and a vector, are computed element by element if ids stand for the
    sum and no lanes fit.

    *AMX.* With `amx`, products of bf16 that are summed up in f32, and of i8 in
    i32, are computed in tile registers, in functions that have a frame: the system
    has to be asked for them.

    Example: test/Codegen/CPU/schedule-mainloops.mlir.
  }];
  let options = [
    Option<"vectorWidth", "vector-width", "int64_t", /*default=*/"512",
           "Width of a vector register in bits">,
    Option<"amx", "amx", "bool", /*default=*/"false",
           "Multiply bf16 and i8 in AMX's tile registers">
  ];
  let dependentDialects = ["::mlir::pit::PitDialect"];
}

def ConvertPitToSCF : Pass<"convert-pit-to-scf", "::mlir::ModuleOp"> {
  let summary = "lowers bufferized level 3 to scf, vector and memref";
  let description = [{
    | op | becomes |
    |---|---|
    | `pit.forall`, `pit.for` | `scf.parallel`, `scf.for` |
    | `pit.sread` | loops that pack into the tile, with vector moves along contiguous runs and vector gathers where the innermost dimension is gathered |
    | `pit.swrite` | the mirror of it |
    | `pit.index` | a call of the runtime's builder, whose status returns through `pit-abi-return-status` |
    | an index at a function's boundary | a pointer to the runtime's `pit_index` |
    | `pit.mainloop` | loops over blocks of sums in registers, which read their operands in place or packed, as its `schedules` say (`pit-schedule-mainloops`) |

    *Packing.* Operands that many tiles of a `pit.forall` read are packed before
    it, in memory of the call:

    - One operand is packed in panels of columns, if its elements are read often
      enough to pay for it. The index says so at run time. If the caller has
      promised that an argument's memory is constant, its panels are kept from
      call to call (`pit_rt_keep`).
    - The other operand is packed by tiles, if it has to be gathered or extended.
      If tiles choose different elements from its rows, it is transposed as a
      whole, unless the index names few of them. Tiles then copy parts of its
      rows.

    *Single elements.* Nothing is packed for schedules of single elements, and ids
    that one of the operands lacks are left out.

    *AMX.* Where a schedule has tile registers, both operands are packed for them,
    one of them in panels with two or four neighbours along k together. That
    happens once before the `pit.forall` if k is dense, otherwise for each chunk of
    ids. Sums are rounded as the instructions do, which flush denormal floats to 0.
    The function first asks the system for the registers (`pit_rt_request_amx`).

    Example:

    ```mlir
    pit.for %ids at %pos in %i[%m] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 {
      pit.sread %b[%ids : !pit.ids<64>, %n] into %t : memref<?x?xf32> -> memref<64x128xf32>
    }
    ```
  }];
  let options = [
    Option<"vectorWidth", "vector-width", "int64_t", /*default=*/"512",
           "Width of a vector register in bits">
  ];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::amx::AMXDialect",
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::memref::MemRefDialect", "::mlir::pit::PitDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

#endif // PIT_CODEGEN_CPU_PASSES_TD
