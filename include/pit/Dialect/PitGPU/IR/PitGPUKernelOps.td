//===- PitGPUKernelOps.td - Kernels and roles --------------*- tablegen -*-===//

#ifndef PIT_DIALECT_PITGPU_IR_PITGPUKERNELOPS_TD
#define PIT_DIALECT_PITGPU_IR_PITGPUKERNELOPS_TD

include "pit/Dialect/PitGPU/IR/PitGPUOpBase.td"

def PitGPU_TensorMapOp : PitGPU_Op<"tensor_map", [Pure]> {
  let summary = "describes a tensor to TMA";
  let description = [{
    The descriptor of a memref. The host makes it when it launches the kernel, and
    passes it as one more parameter.

    With an `order` the host describes a copy of the memref that has its dimensions in
    this order, and the box is one of the copy. `along_k` is the dimension of the memref
    along which products add up, if the descriptor is all that the kernel reads of it:
    the host may have it copied, too, with other strides.

    Example:

    ```mlir
    %map = pit_gpu.tensor_map %a
             : memref<?x?xbf16> -> !pit_gpu.tensor_map<128x64xbf16, swizzle = 128>
    ```

    Constraints:

    - [tensor_map 1] the memref is an argument of the kernel;
    - [tensor_map 2] box and memref have one rank and one type of elements;
    - [tensor_map 3] elements of a row lie side by side;
    - [tensor_map 4] the order names each dimension of the memref once, and `along_k` one
      of them.
  }];
  let arguments = (ins AnyStridedMemRef:$source, OptionalAttr<I64Attr>:$along_k,
                       OptionalAttr<DenseI64ArrayAttr>:$order);
  let results = (outs PitGPU_TensorMapType:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def PitGPU_RingOp : PitGPU_Op<"ring", []> {
  let summary = "makes a ring of stages";
  let description = [{
    All threads of the block run it, before their roles begin; then all stages are
    empty. A stage is full after `full` arrivals, and after the bytes that were
    announced; it is empty after `empty` arrivals. `commit` and `release` say how
    often they arrive. After no arrivals it is never said to be empty: `acquire` does
    not wait, and nothing is released; a role knows by other means when it may write.

    With a `cluster` so many blocks fill each other's stages (`load`, multicast): a
    stage is empty when it is in all of them.

    `offset` is the place of the first stage in the shared memory of the block, and
    `barriers` that of the barriers, both in bytes; of a ring in tensor memory
    `offset` is a column of what the block allocates. `convert-pit-gpu-to-nvvm` gives
    places to rings that have none.

    Example:

    ```mlir
    %ring = pit_gpu.ring full 1 empty 8
              : !pit_gpu.ring<4, [!pit_gpu.tile<128x64xbf16, swizzle = 128>]>
    ```

    Constraints:

    - [ring 1] arrivals fill a stage 1 to 1048575 times, and empty it 0 to 1048575 times;
    - [ring 2] there are both places, or none; stages start at a multiple of 1024, or
      at a column below 512, barriers at a multiple of 8, and all below 16777216;
    - [ring 3] it is in no role and in no loop;
    - [ring 4] a cluster has 1, 2, 4 or 8 blocks;
    - [ring 5] it is none of the block: `block_ring` makes those.
  }];
  let arguments = (ins I64Attr:$full, I64Attr:$empty,
                       DefaultValuedAttr<I64Attr, "1">:$cluster,
                       OptionalAttr<I64Attr>:$offset,
                       OptionalAttr<I64Attr>:$barriers);
  let results = (outs PitGPU_RingType:$result);
  let assemblyFormat = [{
    `full` $full `empty` $empty (`cluster` $cluster^)?
    (`at` $offset^ `barriers` $barriers)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def PitGPU_BlockRingOp : PitGPU_Op<"block_ring", []> {
  let summary = "makes a ring of stages that all threads of the block fill and read";
  let description = [{
    The stages lie at `place` (i32, shared memory), and all are empty. The block has no
    roles: each thread copies its pieces into a stage, and all threads compute.
    `commit` ends a group of a thread's copies. In `wait` all threads meet at the barrier
    of the block: a stage is full then, and those that were released before are empty. So
    the ring has no barriers of its own.

    Copies are `stages - 1` uses ahead, and `wait` waits for all groups but the last
    `stages - 2`. In the last steps, too: stages are committed into which nothing is copied.

    Nothing says when all threads have done with the last stage. Before something else lies
    at the place, a `copy_wait` for all groups and a barrier of the block come.

    Example: the first two of three stages are filled, then each step fills one and reads
    one. Loops carry the number of the stage.

    ```mlir
    %ring = pit_gpu.block_ring %place : !ring_of_block
    %s0 = pit_gpu.acquire %ring[%zero] : !ring_of_block -> !stage_of_block
    pit_gpu.commit %s0 after copies : !stage_of_block
    %s1 = pit_gpu.acquire %ring[%one] : !ring_of_block -> !stage_of_block
    pit_gpu.commit %s1 after copies : !stage_of_block
    %end = scf.for %k = %zero to %n step %one iter_args(%stage = %zero) -> i32 : i32 {
      %full = pit_gpu.wait %ring[%stage] : !ring_of_block -> !stage_of_block
      %s = pit_gpu.acquire %ring[%ahead] : !ring_of_block -> !stage_of_block
      pit_gpu.commit %s after copies : !stage_of_block
      pit_gpu.release %full : !stage_of_block
      scf.yield %next : i32
    }
    ```

    Constraints:

    - [block_ring 1] its type is that of a ring of the block, it is in no role, and
      `acquire` and `wait` alone take it;
    - [block_ring 2] a stage is committed once, in the block of ops in which it was
      acquired, and [protocol 1], [protocol 2] and [protocol 5] of `roles` hold;
    - [block_ring 3] before each `wait`, `stages - 1` uses are committed that none has
      waited for, and never more;
    - [block_ring 4] a stage is released before the next `wait`;
    - [block_ring 5] from its first commit to its last `wait`, with the whole loops in
      which these are, no other groups of copies are ended.
  }];
  let arguments = (ins I32:$place);
  let results = (outs PitGPU_RingType:$result);
  let assemblyFormat = "$place attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def PitGPU_SharedOp : PitGPU_Op<"shared", [Pure]> {
  let summary = "a place in shared memory, beside rings";
  let description = [{
    The address of so many bytes, for code of other dialects. `offset` is their place in
    the shared memory of the block; `convert-pit-gpu-to-nvvm` gives one to those that
    have none, at a multiple of 128.

    Example: `%results = pit_gpu.shared 16384 at 196864 : i32`

    Constraints:

    - [shared 1] there are 1 to 16777215 bytes, and a place lies below 16777216.
  }];
  let arguments = (ins I64Attr:$bytes, OptionalAttr<I64Attr>:$offset);
  let results = (outs I32:$result);
  let assemblyFormat = "$bytes (`at` $offset^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def PitGPU_RolesOp : PitGPU_Op<"roles", [NoTerminator, NoRegionArguments]> {
  let summary = "has groups of warps run code of their own";
  let description = [{
    Each region is run by as many warps as `warps` says: the first one by the block's
    first warps. `registers` is what a thread of the role has while it runs; roles
    that compute take those that roles that copy give back (setmaxnreg). `blocks` of
    the kernel are to run on a multiprocessor at once, one unless it is said.

    The regions use rings of the kernel by one protocol, which the constraints spell
    out. `warpgroup` says which warpgroup of the role a thread belongs to.

    Example: four warps copy, eight multiply.

    ```mlir
    pit_gpu.roles {
      role "producers" warps 4 registers 40 {
        %s = pit_gpu.acquire %ring[%n] : !ring -> !stage
        pit_gpu.load %map[%m, %k] into %s[0] : !map, !stage
        pit_gpu.commit %s after tma bytes 16384 : !stage
      }
      role "consumers" warps 8 registers 232 {
        %s = pit_gpu.wait %ring[%n] : !ring -> !stage
        pit_gpu.release %s : !stage
      }
    }
    ```

    Constraints:

    - [roles 1] there are a name, a number of warps and one of registers for each
      region, and at least one region;
    - [roles 2] warps are a multiple of 4 up to 32, and registers one of 8 from 24 to
      256;
    - [roles 3] the block has at most 1024 threads, and the registers of all `blocks`
      are at most 65536;
    - [roles 4] ops on stages, copies, stores, products, their waits and maps are in a
      role;
    - [roles 5] hand-overs and `sync`s take at most 15 named barriers: one for each warpgroup
      that has a turn, one for each that has a `sync` of its own, one for a role that has
      one of all its threads;
    - [protocol 1] a stage that is acquired is committed on every path, and one that
      is waited for is released: in the same iteration, or carried by a loop in the
      next one or after it;
    - [protocol 2] nothing uses a stage after it has been given on;
    - [protocol 3] the bytes that a commit announces are those of the loads into the
      stage;
    - [protocol 4] the arrivals of a ring are those that its roles make in a use;
    - [protocol 5] a stage is released after a `mma_wait` for all that reads it, or, if
      products into tensor memory read it, by a `release after products` behind them;
    - [protocol 6] the blocks of a multicast, and those that a release speaks to, are the
      ring's cluster;
    - [protocol 7] products go to a stage of tensor memory that was acquired, and
      `read` reads one that was waited for.
  }];
  let arguments = (ins StrArrayAttr:$names, DenseI64ArrayAttr:$warps,
                       DenseI64ArrayAttr:$registers,
                       DefaultValuedAttr<I64Attr, "1">:$blocks);
  let regions = (region VariadicRegion<SizedRegion<1>>:$bodies);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The role in which an op is, and its number.
    static std::pair<RolesOp, unsigned> of(::mlir::Operation *op);
    /// The first of the named barriers of a role's hand-overs, of the syncs of its
    /// warpgroups, and of its own.
    struct Barriers { int64_t handOvers, ofWarpgroups, own; };
    /// The barriers of each role, and how many there are with that of the block.
    std::pair<::llvm::SmallVector<Barriers>, int64_t> getBarriers();
    int64_t getThreads();
  }];
}

class PitGPU_NumberOp<string mnemonic> : PitGPU_Op<mnemonic, [Pure]> {
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def PitGPU_ThreadOp : PitGPU_NumberOp<"thread"> {
  let summary = "the number of a thread in its role";
  let description = [{
    From 0 on.

    Example: `%t = pit_gpu.thread : i32`

    Constraints:

    - [thread 1] it is in a role.
  }];
}

def PitGPU_WarpOp : PitGPU_NumberOp<"warp"> {
  let summary = "the number of a thread's warp in its role";
  let description = [{
    From 0 on. It is the same in all threads of a warp.

    Example: `%w = pit_gpu.warp : i32`

    Constraints:

    - [warp 1] it is in a role.
  }];
}

def PitGPU_WarpgroupOp : PitGPU_NumberOp<"warpgroup"> {
  let summary = "the number of a thread's warpgroup in its role";
  let description = [{
    From 0 on. It is the same in all threads of a warp.

    Example: `%g = pit_gpu.warpgroup : i32`

    Constraints:

    - [warpgroup 1] it is in a role.
  }];
}

def PitGPU_LeaderOp : PitGPU_Op<"leader", [
    SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects]> {
  let summary = "has one thread of a role run code, or one of each warp";
  let description = [{
    The same thread every time: one that the role's first warp elects. With `of warps`
    each warp elects one. All threads of a warp come to the op, or none.

    Around a loop, it saves the elections of the copies and commits in the loop.

    Example:

    ```mlir
    pit_gpu.leader {
      %s = pit_gpu.acquire %ring[%n] : !ring -> !stage
      pit_gpu.commit %s after tma bytes 16384 : !stage
      pit_gpu.load %map[%m, %k] into %s[0] : !map, !stage
    }
    ```

    Constraints:

    - [leader 1] it is in a role, and in no other one.
  }];
  let arguments = (ins UnitAttr:$ofWarps);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "(`of` `warps` $ofWarps^)? $body attr-dict";
  let hasRegionVerifier = 1;
}

def PitGPU_TilesOp : PitGPU_Op<"tiles", [
    AutomaticAllocationScope, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "goes through the tiles that a block has of a space of two dimensions";
  let description = [{
    Blocks take turns: block b of B has tiles b, b + B and so on. Tiles are counted
    in bands of `raster` rows of tiles, column after column, so that blocks that run
    at the same time read the same parts of both operands from the L2 cache. All
    roles that run the op with the same bounds get the same tiles.

    The region's arguments are the coordinates of the tile's first element (index),
    then what it carries, as `scf.for` does.

    Example: tiles of 256 x 128 of a matrix; the number of stages used so far is
    carried.

    ```mlir
    %end = pit_gpu.tiles (%m, %n) to (%rows, %cols) step (256, 128) raster 8
             carry (%used = %zero) -> i32 {
      pit_gpu.yield %used : i32
    }
    ```

    Constraints:

    - [tiles 1] steps and the raster are 1 to 65536;
    - [tiles 2] the region has two coordinates, then an argument of the type of each
      carried value, and yields as many.
  }];
  let arguments = (ins Index:$rows, Index:$cols, Variadic<AnyType>:$inits,
                       DenseI64ArrayAttr:$step, I64Attr:$raster);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

def PitGPU_SyncRole : I32EnumAttrCase<"Role", 0, "role">;
def PitGPU_SyncWarpgroup : I32EnumAttrCase<"Warpgroup", 1, "warpgroup">;
def PitGPU_SyncWarp : I32EnumAttrCase<"Warp", 2, "warp">;
def PitGPU_SyncScope : I32EnumAttr<"SyncScope", "threads that wait for each other",
    [PitGPU_SyncRole, PitGPU_SyncWarpgroup, PitGPU_SyncWarp]> {
  let cppNamespace = "::mlir::pit::pitgpu";
}

def PitGPU_SyncOp : PitGPU_Op<"sync", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "has the threads of a role, a warpgroup or a warp wait for each other";
  let description = [{
    All of them come to the op, and go on when all have come: what they have written
    to shared memory before, the others see. For a role or a warpgroup it is a named
    barrier, which no other role has.

    Example: each warpgroup for itself.

    ```mlir
    pit_gpu.sync of warpgroup
    ```

    Constraints:

    - [sync 1] it is in a role, and not in a `leader`;
    - [sync 2] the warpgroups of a role do not wait for each other in a turn, which one
      has alone.
  }];
  let arguments = (ins PitGPU_SyncScope:$scope);
  let assemblyFormat = "`of` $scope attr-dict";
  let hasVerifier = 1;
}

def PitGPU_HandOverOp : PitGPU_Op<"hand_over", [
    SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects]> {
  let summary = "has the warpgroups of a role run code one after another";
  let description = [{
    The first warpgroup runs the region, then the next one, and after the last one
    the first one again: each has its second turn when all have had their first. So
    all warpgroups of the role come to ops of this kind equally often. If the
    region starts products, those of one warpgroup run while others compute with
    theirs (Shah et al., FlashAttention-3, 2024, section 3.1).

    Example:

    ```mlir
    %r = pit_gpu.hand_over -> !sums {
      %s = pit_gpu.mma %a, %b, %acc : !a, !b, !sums
      pit_gpu.yield %s : !sums
    }
    ```

    Constraints:

    - [hand_over 1] it is in a role;
    - [hand_over 2] the region yields values of the types of the results;
    - [hand_over 3] it is in no other one.
  }];
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "(`->` type($results)^)? $body attr-dict";
  let hasRegionVerifier = 1;
}

def PitGPU_YieldOp : PitGPU_Op<"yield", [
    Pure, Terminator, ReturnLike,
    ParentOneOf<["TilesOp", "ListTilesOp", "ShareListsOp", "HandOverOp", "LeaderOp",
                 "MapOp", "ReduceRowsOp", "AddPartialsOp"]>]> {
  let summary = "ends a region, and gives its values";
  let description = [{
    Example: `pit_gpu.yield %x : f32`
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ValueRange()); }]>];
}

#endif // PIT_DIALECT_PITGPU_IR_PITGPUKERNELOPS_TD
