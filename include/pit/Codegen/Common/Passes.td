//===- Passes.td - Passes of every target ------------------*- tablegen -*-===//

#ifndef PIT_CODEGEN_COMMON_PASSES_TD
#define PIT_CODEGEN_COMMON_PASSES_TD

include "mlir/Pass/PassBase.td"

def PitLowerMath : Pass<"pit-lower-math"> {
  let summary = "expands math ops that are lowered nowhere, or wrong";
  let description = [{
    Expands, of scalars and vectors, `math.clampf`, `isinf`, `isnormal` and `ipowi`, and
    `fpowi` to a constant power of at most 8, which becomes a chain of products, and
    `math.fma` of 8-bit floats, as of f16 below.

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

def PitLowerF8 : Pass<"pit-lower-f8"> {
  let summary = "expands conversions of 8-bit floats";
  let description = [{
    Expands `arith.extf` and `arith.truncf` from and to f8E4M3FN and f8E5M2, of scalars
    and vectors, into arithmetic on i32 and f32. Neither LLVM nor its targets have these
    types: in memory and registers they are i8.

    Extensions are exact. Truncations round to the nearest, of two to the even one, and
    once, also from f64. A value above the largest finite number rounds to infinity in
    f8E5M2, and to NaN in f8E4M3FN, which has no infinity: as constants are folded, and as
    ml_dtypes has it.

    Arithmetic has to be in f32 already: `math-extend-to-supported-types` and
    `arith-emulate-unsupported-floats` see to that.

    Example: `%w = arith.extf %x : f8E5M2 to f32`
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PitLowerReshapes : Pass<"pit-lower-reshapes", "::mlir::func::FuncOp"> {
  let summary = "lowers reshapes of memory that MLIR's passes lower badly, or not";
  let description = [{
    Two kinds become a `memref.reinterpret_cast` with their sizes, and with the strides
    that follow. Other reshapes are left alone.

    - Expansions of a dim into several dynamic ones, as models split tokens into
      batches and positions. MLIR's `expand-strided-metadata` computes one dynamic size of
      a group from the size of the source, and has no answer for two. The op holds the
      sizes as operands.
    - Collapsed memory without gaps. MLIR's `fold-memref-alias-ops` computes the place of
      each access to a collapsed dim in the dims that it was made of, by divisions. An
      access to memory without gaps needs none.

    Example:

    ```mlir
    func.func @f(%x: memref<?x8xf32>, %b: index, %s: index) -> memref<?x?x8xf32> {
      %r = memref.expand_shape %x [[0, 1], [2]] output_shape [%b, %s, 8]
             : memref<?x8xf32> into memref<?x?x8xf32>
      return %r : memref<?x?x8xf32>
    }
    func.func @g(%x: memref<4x8x2xf32>, %i: index) -> f32 {
      %c0 = arith.constant 0 : index
      %rows = memref.collapse_shape %x [[0, 1], [2]]
                : memref<4x8x2xf32> into memref<32x2xf32>
      %r = memref.load %rows[%i, %c0] : memref<32x2xf32>
      return %r : f32
    }
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::memref::MemRefDialect"];
}

def PitVerifyStage : Pass<"pit-verify-stage"> {
  let summary = "verifies a program at the end of a stage of a pipeline";
  let description = [{
    Verifying the program after each pass takes as long as the passes do.
    `pit_compile_*` does it only where a pipeline says so: when the program is
    tiled, when it has buffers, when it has blocks, and before it leaves MLIR.
    `pit-opt` verifies after each pass, unless it is told not to.

    The pass changes nothing, and fails if an op is not valid.

    Example: `pit-opt f.mlir --pass-pipeline='builtin.module(canonicalize,pit-verify-stage)' --verify-each=0`
  }];
}

def PlaceBuffers : Pass<"pit-place-buffers", "::mlir::ModuleOp"> {
  let summary = "takes buffers from the memory of the call";
  let description = [{
    Replaces every `memref.alloc` of a function that has a frame
    (`pit-abi-prepare`) by memory of that frame. So compiled programs neither
    allocate nor free in the steady state.

    - *In parallel loops* (`pit.forall`, `scf.forall`, `scf.parallel`) static
      buffers get fixed places in a scratch area, of which every worker has its
      own. A loop of scf with a buffer of dynamic size becomes sequential, with a
      remark.
    - *Others* live until the function returns. A buffer that it returns itself, as a
      function of `pit-abi-open-frames` may, is left to its caller.
    - *In a sequential loop* each buffer has one place, whatever the number of
      iterations. A static one is placed once, before the loop. A dynamic one gets
      its last memory again while that is large enough (`pit_rt_realloc`). One
      that the loop hands to its next iteration takes turns with a second.

    Runs on bufferized IR before `convert-pit-to-scf`.

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
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::pit::PitDialect",
    "::mlir::scf::SCFDialect"];
}

#endif // PIT_CODEGEN_COMMON_PASSES_TD
