//===- Passes.td - Passes that form mainloops --------------*- tablegen -*-===//

#ifndef PIT_CODEGEN_MAINLOOP_PASSES_TD
#define PIT_CODEGEN_MAINLOOP_PASSES_TD

include "mlir/Pass/PassBase.td"

def PitFormMainloops : Pass<"pit-form-mainloops", "::mlir::func::FuncOp"> {
  let summary = "turns contractions of tiles into mainloops";
  let description = [{
    In a kernel of `pit-outline-kernels`, a loop that multiplies pairs of tiles
    becomes a `pit.mainloop` on memrefs. The tile that the loop starts from, the
    element-wise ops after it and the SWrite become part of it. Kernels of any
    other form stay as they are.

    An element of a tile that a step reads, or of the coordinates of its ids, at a
    constant place is a number of the step: `vector.extract` of a `pit.view` or of
    `pit.coords` in `load`. Other tiles of the step may begin there. So an id may be
    the number of a block of rows, and a page's place may come from a table.

    A product becomes a mainloop whatever the chip is: `pit-schedule-kernels` makes loops
    over tiles of what no schedule takes. A loop that computes more becomes one only where
    `chip` has the registers and the shared memory for it. Without a chip kernels are for
    all GPUs from sm_80 on.

    With `tf32`, mainloops that add products of f32 to f32 may round the factors to
    tf32, which tensor cores multiply.

    With `vector-width` the pass is for the CPU and runs on tensors, outside of
    kernels: every SWrite of a tile that is computed in this way becomes a mainloop
    on tensors, if lanes of that many bits can run along one of the tile's
    dimensions, or if a few rows or columns meet elements that ids choose from
    the sums. It runs before bufferization.

    Example: test/Codegen/Mainloop/form-mainloops.mlir.
  }];
  let options = [
    Option<"tf32", "tf32", "bool", /*default=*/"false",
           "Products of f32 may be products of tf32">,
    Option<"chip", "chip", "std::string", /*default=*/[{""}],
           "The oldest GPU to run on, as sm_80; by default all">,
    Option<"vectorWidth", "vector-width", "unsigned", /*default=*/"0",
           "For a CPU: bits of a vector register; 0: for kernels of a GPU">,
    Option<"explain", "explain", "bool", /*default=*/"false",
           "Say, as remarks, which contractions form no mainloop, and why">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::pit::PitDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // PIT_CODEGEN_MAINLOOP_PASSES_TD
