//===- Passes.td - Conversions out of the pit dialect -------*- tablegen -*-===//

#ifndef PIT_CONVERSION_PASSES_TD
#define PIT_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def PlaceBuffers : Pass<"pit-place-buffers", "::mlir::ModuleOp"> {
  let summary = "takes buffers from the memory of the call";
  let description = [{
    Replaces every `memref.alloc` of a function that has a frame
    (`pit-abi-prepare`) by memory of that frame, so that compiled programs
    neither allocate nor free in the steady state. Buffers inside `pit.forall`
    are static tiles: they get fixed places in a scratch area of which every
    worker has its own. The others live until the function returns; static ones
    inside `pit.for` are placed once, before the loop. Runs on bufferized IR
    before `convert-pit-to-scf`.

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
                           "::mlir::memref::MemRefDialect"];
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
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

#endif // PIT_CONVERSION_PASSES_TD
