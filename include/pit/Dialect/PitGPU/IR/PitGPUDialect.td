//===- PitGPUDialect.td - The pit_gpu dialect --------------*- tablegen -*-===//

#ifndef PIT_DIALECT_PITGPU_IR_PITGPUDIALECT_TD
#define PIT_DIALECT_PITGPU_IR_PITGPUDIALECT_TD

include "mlir/IR/OpBase.td"

def PitGPU_Dialect : Dialect {
  let name = "pit_gpu";
  let cppNamespace = "::mlir::pit::pitgpu";
  let summary = "The pipeline of a kernel: stages, roles of warps, copies, tensor cores";
  let description = [{
    The `pit_gpu` dialect says what a kernel of an NVIDIA GPU is made of. It lies
    between `pit.mainloop`, which says what a kernel computes, and NVVM, which has
    the instructions.

    - A *ring* is a number of stages in shared memory. A stage holds tiles.
    - *Roles* are groups of warps with code of their own and registers of their own.
    - Stages change hands by one protocol: a producer *acquires* an empty stage,
      copies tiles into it and *commits* it; a consumer *waits* for the full stage,
      multiplies its tiles and *releases* it. Use number n of a ring takes stage
      `n mod stages`.
    - *Accumulators* are sums that tensor cores are working on; after a wait they are
      *fragments*, whose elements the threads of a warpgroup have in registers.
      On sm_100a they lie in *tensor memory*, and are tiles of a ring of their own: a
      role starts products into a stage, another one reads it into fragments.
    - A kernel without roles is one group of threads: all of them fill the stages of a
      *ring of the block* (`block_ring`, `copy`) and read them by the same protocol, and
      warps multiply what they read (`load_matrices`, `mma_sync`). So it runs on any chip
      from sm_80 on.
    - A *tile space* says in which order a result's tiles are numbered, for the L2 cache.
    - Blocks that share a tile in *k-splits* store their partial sums in memory, and the
      last one, or each for some pieces of the tile, adds them up (`store_partials`,
      `last_split`, `await_splits`, `add_partials`).

    An op is run by all threads of its role together, and lowers to what a part of
    them does, if one thread is enough. If one thread gives a stage on, one warp
    waits for it. Numbers of uses and positions in tiles are
    i32, coordinates in tensors are index.

    `convert-pit-gpu-to-nvvm` lowers the ops one by one. The tutorial
    (docs/HopperKernel.md) writes a kernel by hand.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerTypes();
  }];
}

#endif // PIT_DIALECT_PITGPU_IR_PITGPUDIALECT_TD
