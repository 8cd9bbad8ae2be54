//===- PitGPUFixupOps.td - Sums of tiles with k-splits -----*- tablegen -*-===//

#ifndef PIT_DIALECT_PITGPU_IR_PITGPUFIXUPOPS_TD
#define PIT_DIALECT_PITGPU_IR_PITGPUFIXUPOPS_TD

include "mlir/IR/BuiltinAttributeInterfaces.td"
include "pit/Dialect/PitGPU/IR/PitGPUOpBase.td"

def PitGPU_Sums : AnyTypeOf<[
    AnySignlessInteger, AnyFloat, PitGPU_FragmentType], "a number or a fragment">;

def PitGPU_StorePartialsOp : PitGPU_Op<"store_partials", [
    AttrSizedOperandSegments, MemoryEffects<[MemWrite]>]> {
  let summary = "stores a thread's sums of a split";
  let description = [{
    Blocks that share a tile in k-splits exchange their partial sums in memory of the
    device. It has a slot for each split of each tile, in which every one of `threads`
    has as many sums as the op stores, or as `of` says. A fragment has those that the
    thread has of it, one after another.

    A thread's sums are numbered, from 0 on; `from` is the number of the first one
    here. `vector` neighbours lie together, then those of the next thread: sum i of
    thread t in slot s is element
    ((s * of / vector + i / vector) * threads + t) * vector + i mod vector
    from the address on. So neighbouring threads are neighbours in memory. Slots that
    are used end before byte 4294967296.

    Example: the first four of 64 sums that each thread has.

    ```mlir
    pit_gpu.store_partials %a, %b, %c, %d in %memory[%slot] from %zero of 64
      thread %t of 256 vector 4 : f32, f32, f32, f32
    ```

    Constraints:

    - [store_partials 1] there are sums, all of one type of 1, 2, 4 or 8 bytes;
    - [store_partials 2] there are 1 to 65536 threads, and a slot has all sums of the op;
    - [store_partials 3] vectors are of 1, 2, 4, 8 or 16 sums and up to 16 bytes, and divide
      the sums of the op and of a slot.
  }];
  let arguments = (ins Variadic<PitGPU_Sums>:$sums, I64:$memory, I32:$slot,
                       Optional<I32>:$from, OptionalAttr<I64Attr>:$of,
                       I32:$thread, I64Attr:$threads,
                       DefaultValuedAttr<I64Attr, "1">:$vector);
  let assemblyFormat = [{
    $sums `in` $memory `[` $slot `]` (`from` $from^ `of` $of)?
    `thread` $thread `of` $threads (`vector` $vector^)? attr-dict `:` type($sums)
  }];
  let hasVerifier = 1;
}

def PitGPU_AddPartialsOp : PitGPU_Op<"add_partials", [
    AttrSizedOperandSegments, MemoryEffects<[MemRead]>]> {
  let summary = "adds up the partial sums of all splits of a tile";
  let description = [{
    Gives sums of a thread over all `splits`, which other threads have stored by
    `store_partials` with the same memory. The first split has slot `slot`, and each
    other one that which is `step` behind, or the next one. They are added in this order
    to zeros, or to `start`, by whichever thread: the same bits every time. A region
    `combine` says how two are added, if not by `arith.addf` or `arith.addi`.

    What is stored has to be there: `last_split` or `await_splits` say so. Loads are
    volatile, since a multiprocessor's cache may have what lay there before. `once 2 x 32`
    has a thread load 32 sums of each of 2 splits before it adds one of them.

    Example: four of the 64 sums that each thread has, and the largest elements.

    ```mlir
    %sums:4 = pit_gpu.add_partials %splits in %memory[%slot] step %cluster from %first of 64
                thread %t of 256 vector 4 once 2 x 4 : f32, f32, f32, f32
    %max = pit_gpu.add_partials %splits in %memory[%slot] thread %t of 128 start 0xFF800000 : f32
             combine {
             ^bb0(%x: f32, %y: f32):
               %m = arith.maximumf %x, %y : f32
               pit_gpu.yield %m : f32
             } : f32
    ```

    Constraints:

    - [add_partials 1] there are sums, all of one type of 1, 2, 4 or 8 bytes, which a
      `start` has, too;
    - [add_partials 2] there are 1 to 65536 threads, and a slot has all sums of the op;
    - [add_partials 3] vectors are of 1, 2, 4, 8 or 16 sums and up to 16 bytes, and divide
      the sums of the op and of a slot;
    - [add_partials 4] 1 to 64 splits are loaded at once, and whole vectors of them;
    - [add_partials 5] the region takes two sums and gives one;
    - [add_partials 6] no op of this dialect is in the region.
  }];
  let arguments = (ins I32:$splits, I64:$memory, I32:$slot, Optional<I32>:$step,
                       Optional<I32>:$from, OptionalAttr<I64Attr>:$of,
                       I32:$thread, I64Attr:$threads,
                       DefaultValuedAttr<I64Attr, "1">:$vector,
                       OptionalAttr<I64Attr>:$splitsAtOnce,
                       OptionalAttr<I64Attr>:$sumsAtOnce,
                       OptionalAttr<TypedAttrInterface>:$start);
  let results = (outs Variadic<PitGPU_Sums>:$sums);
  let regions = (region MaxSizedRegion<1>:$combine);
  let assemblyFormat = [{
    $splits `in` $memory `[` $slot `]` (`step` $step^)? (`from` $from^ `of` $of)?
    `thread` $thread `of` $threads (`vector` $vector^)?
    (`once` $splitsAtOnce^ `x` $sumsAtOnce)? (`start` $start^)?
    (`combine` $combine^)? attr-dict `:` type($sums)
  }];
  let hasRegionVerifier = 1;
}

def PitGPU_LastSplitOp : PitGPU_Op<"last_split", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "counts a block's split of a tile, and says whether it is the last one";
  let description = [{
    All threads of the block come to the op, after they have stored the partial sums of
    a split. One of the blocks that have the `splits` of a tile gets true, in all of its
    threads, and can read what all have stored. No block waits for another one.

    Counters are words of 4 bytes in memory of the device; a tile has the one with that
    number. They are zeros before the first block comes, and again after the last one.
    Threads get the count by the word in shared memory (a byte address) that nothing
    else uses: from the op's begin, which has a barrier, to its end, which is one.

    Example:

    ```mlir
    %last = pit_gpu.last_split of %splits in %counters[%tile] thread %t through %word : i1
    ```

    Constraints:

    - [last_split 1] it is in no role: the threads of a block wait for each other.
  }];
  let arguments = (ins I32:$splits, I64:$counters, I32:$tile, I32:$thread,
                       I32:$word);
  let results = (outs I1:$last);
  let assemblyFormat = [{
    `of` $splits `in` $counters `[` $tile `]` `thread` $thread `through` $word attr-dict
    `:` type($last)
  }];
  let hasVerifier = 1;
}

def PitGPU_AwaitSplitsOp : PitGPU_Op<"await_splits", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits for the other splits of a tile, and says which pieces of it to add up";
  let description = [{
    No block alone reads the sums of all splits quickly. So warps that have stored the
    same rows of the `splits` of a tile, each of another block, share the tile's
    `pieces`, and each waits for these warps only. All lanes of a warp come to the op,
    after they have stored partial sums; then the warp can read what the others have.

    Gives the first piece that the warp is to add up, and how many further each next one
    is, up to the last of all. Where all have come, the warp of split i has pieces i,
    i + splits and so on.

    No warp may count on the others to run: the machine may be busy with something that
    waits, too. So waiting has an end, after the counter was read `polls` times. A warp
    that gives up says so and gets no piece, nor do the others, but for the one that
    comes last: it never waits, and gets all.

    Counters are pairs of words of 4 bytes in memory of the device: how many have come,
    below 65536, and how many have gone. Warps with the same rows have the one with that
    number. They are zeros before the first warp comes, and again after the last one has
    gone.

    Example:

    ```mlir
    %first, %step = pit_gpu.await_splits %split of %splits in %counters[%number]
                      pieces 4 polls 1000
    ```

    Constraints:

    - [await_splits 1] it is in a role, and in no `leader`;
    - [await_splits 2] there are 1 to 65536 pieces, and 1 to 1000000 polls.
  }];
  let arguments = (ins I32:$split, I32:$splits, I64:$counters, I32:$number,
                       I64Attr:$pieces, I64Attr:$polls);
  let results = (outs I32:$first, I32:$step);
  let assemblyFormat = [{
    $split `of` $splits `in` $counters `[` $number `]` `pieces` $pieces `polls` $polls
    attr-dict
  }];
  let hasVerifier = 1;
}

#endif // PIT_DIALECT_PITGPU_IR_PITGPUFIXUPOPS_TD
