//===- PitGPUOrderOps.td - The order of tiles --------------*- tablegen -*-===//

#ifndef PIT_DIALECT_PITGPU_IR_PITGPUORDEROPS_TD
#define PIT_DIALECT_PITGPU_IR_PITGPUORDEROPS_TD

include "pit/Dialect/PitGPU/IR/PitGPUOpBase.td"

def PitGPU_ByRows : I32EnumAttrCase<"Rows", 0, "rows">;
def PitGPU_ByCols : I32EnumAttrCase<"Cols", 1, "cols">;
def PitGPU_ByBands : I32EnumAttrCase<"Bands", 2, "bands">;
def PitGPU_TileOrder : I32EnumAttr<"TileOrder", "in which order tiles are numbered",
    [PitGPU_ByRows, PitGPU_ByCols, PitGPU_ByBands]> {
  let cppNamespace = "::mlir::pit::pitgpu";
}

def PitGPU_Number : AnyTypeOf<[I32, Index], "i32 or index">;

def PitGPU_TileSpaceOp : PitGPU_Op<"tile_space", [
    Pure, AttrSizedOperandSegments]> {
  let summary = "says in which order the tiles of a result are numbered";
  let description = [{
    There are so many tiles along each dimension. Blocks that run at the same time have
    numbers that follow each other; the order says what they have in common, which
    should be in the L2 cache. `rows` and `cols` are the dimensions along which a
    product's operands lie. All others are gone through one after another, the first
    one most slowly, and within them come rows and columns:

    - `by rows`: a row of tiles after another;
    - `by cols`: a column after another;
    - `by bands of n`: bands of n rows, in each of them a column after another. With `height`
      the kernel computes n, which is 1 or more.

    By rows or columns, dimensions may be `alike`: what tiles have in common is the same
    along them. They are gone through before the next column, or row.

    The blocks of a `cluster` have tiles below each other. They have one number, and bands
    are of n rows of tiles, too. The cluster may not divide the rows: with `pairs` its
    blocks have tiles side by side in the rows that are left.

    With `last first` numbers are counted from the last tile on: that with the most
    steps, as in a causal attention.

    Example: bands of 16 rows of tiles, which pairs of blocks share, for each of a batch;
    and columns one after another, each with all of the second dimension's tiles.

    ```mlir
    %s = pit_gpu.tile_space (%batch, %m, %n) rows 1 cols 2 by bands of 16 cluster 2
           : i32, i32, i32
    %t = pit_gpu.tile_space (%m, %e, %n) rows 0 cols 2 by cols alike [1] : i32, i32, i32
    %u = pit_gpu.tile_space (%heads, %m) rows 0 cols 1 by bands height %n : i32 last first : i32, i32
    ```

    Constraints:

    - [tile_space 1] there is a dimension at least, and the extents have one type;
    - [tile_space 2] rows and columns, if there are any, and those that are alike are
      different dimensions;
    - [tile_space 3] bands, and nothing else, have a number of rows, a constant of 1 to 65536
      or a number of the extents' type; only by rows or columns something is alike;
    - [tile_space 4] a cluster has 1, 2, 4 or 8 blocks; one of several has rows, and is by
      bands; pairs are those of such a cluster with columns; bands of a cluster of several
      have a constant number of rows.
  }];
  let arguments = (ins Variadic<PitGPU_Number>:$extents,
                       Optional<PitGPU_Number>:$height, OptionalAttr<I64Attr>:$rows,
                       OptionalAttr<I64Attr>:$cols, PitGPU_TileOrder:$order,
                       OptionalAttr<I64Attr>:$band,
                       OptionalAttr<DenseI64ArrayAttr>:$alike,
                       DefaultValuedAttr<I64Attr, "1">:$cluster, UnitAttr:$pairs,
                       UnitAttr:$lastFirst);
  let results = (outs PitGPU_TileSpaceType:$result);
  let assemblyFormat = [{
    `(` $extents `)` (`rows` $rows^)? (`cols` $cols^)? `by` $order (`of` $band^)?
    (`height` $height^ `:` type($height))? (`alike` $alike^)? (`cluster` $cluster^)? (`pairs` $pairs^)?
    (`last` `first` $lastFirst^)? attr-dict `:` type($extents)
  }];
  let hasVerifier = 1;
}

def PitGPU_CountTilesOp : PitGPU_Op<"count_tiles", [Pure]> {
  let summary = "the number of tiles of a space";
  let description = [{
    The tiles of a cluster count as one.

    Example: `%total = pit_gpu.count_tiles %s : i32`

    Constraints:

    - [count_tiles 1] the space is a `tile_space`, whose extents have the type.
  }];
  let arguments = (ins PitGPU_TileSpaceType:$space);
  let results = (outs PitGPU_Number:$result);
  let assemblyFormat = "$space attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def PitGPU_TileOfOp : PitGPU_Op<"tile_of", [Pure]> {
  let summary = "where the tile is that has a number";
  let description = [{
    Along each dimension of the space, from 0 on. Block `rank` of a cluster has its own
    tile. In a space with pairs a further result (i1) says whether this one lies along
    columns: then the operand along rows is what its blocks share. A block for which no
    tile is left has a row behind the last one.

    Example:

    ```mlir
    %b, %row, %col = pit_gpu.tile_of %number in %s rank %rank : i32 -> i32, i32, i32
    ```

    Constraints:

    - [tile_of 1] the space is a `tile_space`, whose extents have the number's type;
    - [tile_of 2] there is a result of that type for each dimension, and then an i1 if and
      only if the space has pairs;
    - [tile_of 3] the blocks of a cluster, and no others, have ranks.
  }];
  let arguments = (ins PitGPU_Number:$number, PitGPU_TileSpaceType:$space,
                       Optional<I32>:$rank);
  let results = (outs Variadic<AnyTypeOf<[I1, I32, Index]>>:$results);
  let assemblyFormat = [{
    $number `in` $space (`rank` $rank^)? attr-dict `:` type($number) `->` type($results)
  }];
  let hasVerifier = 1;
}

def PitGPU_ShareTilesOp : PitGPU_Op<"share_tiles", [Pure]> {
  let summary = "has blocks share the tiles that are left after whole waves";
  let description = [{
    In every wave `workers` blocks (or clusters) take one of the `total` tiles each. In the
    last wave some would have none. So its tiles are divided along k, in as many k-splits
    as there are workers for, and at most `most` (stream-K: Osama et al., PPoPP 2023).
    Gives how many tiles are whole, how many splits each of the others has, and how many
    numbers whole tiles and splits have together.

    Example:

    ```mlir
    %whole, %splits, %numbers = pit_gpu.share_tiles %total among %workers most 4
    ```

    Constraints:

    - [share_tiles 1] there are 2 to 1024 splits at most.
  }];
  let arguments = (ins I32:$total, I32:$workers, I64Attr:$most);
  let results = (outs I32:$whole, I32:$splits, I32:$numbers);
  let assemblyFormat = "$total `among` $workers `most` $most attr-dict";
  let hasVerifier = 1;
}

def PitGPU_ShareListsOp : PitGPU_Op<"share_lists", [RecursiveMemoryEffects]> {
  let summary = "has blocks share the tiles of lists, if these are long";
  let description = [{
    The steps of a tile are those of a list, as of the ids of a group of an index. If
    `enough` times as many tiles as there are would still not be more than the `workers`
    (blocks or clusters), tiles are divided in k-splits by the mean list: so that a split
    has `least` ids or more, and a tile `most` splits or fewer, for which there are workers.

    The region gives how many ids all lists have, and how many lists there are. It runs
    only if tiles are few: so the blocks of other kernels do not wait for the numbers.

    Gives how many tiles are whole, all or none, how many splits each of the others has,
    the number that `worker` has first, and how many numbers whole tiles and splits have
    together. If most workers would have no number, those that have one lie as far apart
    as they can, since neighbours share a way to memory; the others have that behind all.

    Example:

    ```mlir
    %whole, %splits, %first, %numbers = pit_gpu.share_lists %tiles among %workers
        worker %worker enough 2 least 512 most 16 {
      pit_gpu.yield %ids, %lists : i32, i32
    }
    ```

    Constraints:

    - [share_lists 1] there are 2 to 1024 splits at most, `enough` is 1 to 1024, and a split
      has 1 to 1048576 ids at least;
    - [share_lists 2] the region takes nothing, and gives two i32.
  }];
  let arguments = (ins I32:$tiles, I32:$workers, I32:$worker, I64Attr:$enough,
                       I64Attr:$least, I64Attr:$most);
  let results = (outs I32:$whole, I32:$splits, I32:$first, I32:$numbers);
  let regions = (region SizedRegion<1>:$count);
  let assemblyFormat = [{
    $tiles `among` $workers `worker` $worker `enough` $enough `least` $least
    `most` $most $count attr-dict
  }];
  let hasRegionVerifier = 1;
}

def PitGPU_SplitOfOp : PitGPU_Op<"split_of", [Pure]> {
  let summary = "which tile, or which split of one, has a number";
  let description = [{
    The first `whole` numbers are tiles; then each tile has `splits`, one after another.
    Gives the tile, the split, how many splits it has, and its number among those that
    have several. `usually whole`: then a branch saves the division.

    Example:

    ```mlir
    %tile, %split, %count, %later = pit_gpu.split_of %number whole %whole splits %splits
    ```
  }];
  let arguments = (ins I32:$number, I32:$whole, I32:$splits, UnitAttr:$usuallyWhole);
  let results = (outs I32:$tile, I32:$split, I32:$count, I32:$later);
  let assemblyFormat = [{
    $number `whole` $whole `splits` $splits (`usually` `whole` $usuallyWhole^)? attr-dict
  }];
}

def PitGPU_StepsOfSplitOp : PitGPU_Op<"steps_of_split", [
    Pure, AllTypesMatch<["split", "splits", "steps", "begin", "end", "count"]>]> {
  let summary = "the steps of a split of a tile";
  let description = [{
    A tile's `steps` are divided among so many splits, which differ by one step at most
    (split-K, stream-K). Gives the first step of a split, and that behind its last one,
    and how many splits there are. With a `least` number of steps a tile of few has fewer,
    of so many steps or more each, but one at least; then a split that the tile does not
    have has no meaning.

    `by n`: what is divided are the ids of a list, of which a step takes n, and the last
    one what is left. The numbers are those of ids then.

    Example: a block's steps, and a part of a list.

    ```mlir
    %begin, %end, %count = pit_gpu.steps_of_split %split of %splits in %steps least 8 : i32
    %first, %behind, %all = pit_gpu.steps_of_split %split of %splits in %ids by 64 : i32
    ```

    Constraints:

    - [steps_of_split 1] a split has 1 to 65536 steps at least, and a step 1 to 65536 ids.
  }];
  let arguments = (ins PitGPU_Number:$split, PitGPU_Number:$splits,
                       PitGPU_Number:$steps, OptionalAttr<I64Attr>:$least,
                       DefaultValuedAttr<I64Attr, "1">:$by);
  let results = (outs PitGPU_Number:$begin, PitGPU_Number:$end,
                      PitGPU_Number:$count);
  let assemblyFormat = [{
    $split `of` $splits `in` $steps (`least` $least^)? (`by` $by^)? attr-dict
    `:` type($steps)
  }];
  let hasVerifier = 1;
}

def PitGPU_ListTilesOp : PitGPU_Op<"list_tiles", [RecursiveMemoryEffects]> {
  let summary = "goes through the tiles that a block has of lists";
  let description = [{
    Each of so many `lists`, as those of the groups of an index, has tiles of its own.
    They are counted on from list to list, and a block has number `first` and each
    `workers`-th one after it.

    The region `count` says of a list (i32) how many tiles it has, and then other numbers
    of it (all i32). Each lane of a warp runs it for another list: so a block waits for
    memory once for 32 lists. The region `tile` takes the list, the number of the tile in
    it, these numbers, and what is carried (i32); it gives what it carries on.

    The result is the number that the block has next, counted from behind all lists, and
    then what was carried.

    Example:

    ```mlir
    %next, %end = pit_gpu.list_tiles %lists first %block step %blocks carry %zero : i32
      count {
      ^bb0(%list: i32):
        pit_gpu.yield %tiles, %ids : i32, i32
      } tile {
      ^bb0(%list: i32, %number: i32, %ids: i32, %used: i32):
        pit_gpu.yield %used : i32
      }
    ```

    Constraints:

    - [list_tiles 1] the first region takes an i32 and gives 1 to 8 of them;
    - [list_tiles 2] the second one takes two i32, one for each further number, and what
      is carried, which it gives, as the op does behind its first result;
    - [list_tiles 3] it is in a role, and in no `leader`.
  }];
  let arguments = (ins I32:$lists, I32:$first, I32:$workers, Variadic<I32>:$inits);
  let results = (outs I32:$next, Variadic<I32>:$ends);
  let regions = (region SizedRegion<1>:$count, SizedRegion<1>:$body);
  let assemblyFormat = [{
    $lists `first` $first `step` $workers (`carry` $inits^ `:` type($ends))?
    `count` $count `tile` $body attr-dict
  }];
  let hasRegionVerifier = 1;
}

#endif // PIT_DIALECT_PITGPU_IR_PITGPUORDEROPS_TD
