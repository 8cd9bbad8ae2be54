//===- PitTypes.td - Types of the pit dialect --------------*- tablegen -*-===//

#ifndef PIT_DIALECT_PIT_IR_PITTYPES_TD
#define PIT_DIALECT_PIT_IR_PITTYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "pit/Dialect/Pit/IR/PitDialect.td"

class Pit_Type<string name, string typeMnemonic> : TypeDef<Pit_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Pit_IndexType : Pit_Type<"SparsityIndex", "index"> {
  let summary = "the live micro-tiles of a tensor";
  let description = [{
    An online sparsity index of a tensor of rank `micro_tile.size()`. A
    micro-tile extends `micro_tile[d]` elements along dimension d: 1 along the
    `axis`, and `*` where it takes the whole dimension. The dimensions that are
    neither the axis nor whole number the *groups*, in row-major order; each
    group lists the coordinates along the axis (*ids*) of its live micro-tiles.

    Groups along dimension d start every `step[d]` elements; the step is the
    micro-tile's extent unless groups are windows, as for convolutions.

    At a function's boundary an index is a `const pit_index *` of the runtime.

    Example:

    ```mlir
    !pit.index<micro_tile = [32, 1], axis = 1>
    !pit.index<micro_tile = [1, *], axis = 0>
    !pit.index<micro_tile = [1, 1, 10, 10], axis = 1, step = [1, 1, 8, 8]>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$microTile,
    "int64_t":$axis,
    ArrayRefParameter<"int64_t">:$step);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [
    /// Groups as far apart as the micro-tile is long.
    TypeBuilder<(ins "ArrayRef<int64_t>":$microTile, "int64_t":$axis), [{
      return $_get($_ctxt, microTile, axis, microTile);
    }]>
  ];
  let extraClassDeclaration = [{
    /// PIT_MAX_RANK of the runtime.
    static constexpr int64_t kMaxRank = 8;
    int64_t getRank() const { return getMicroTile().size(); }
    bool isWhole(int64_t dim) const {
      return ShapedType::isDynamic(getMicroTile()[dim]);
    }
    /// The dimensions that number the groups, ascending.
    SmallVector<int64_t> getGroupDims() const;
    /// True if groups are windows: some step differs from the extent.
    bool hasWindows() const;
    /// True if a micro-tile is one element wide or whole along every dimension,
    /// so that whole-tensor SRead can pack a tensor by it.
    bool isPackable() const;
  }];
}

def Pit_IdsType : Pit_Type<"Ids", "ids"> {
  let summary = "a chunk of ids, or of positions, of an index";
  let description = [{
    Up to `size` coordinates along the axis of an index (or, for positions,
    places in a tensor packed by it). The last chunk of a group may be short;
    the ids that it lacks are *absent*.

    Example: `!pit.ids<64>`
  }];
  let parameters = (ins "int64_t":$size);
  let assemblyFormat = "`<` $size `>`";
  let genVerifyDecl = 1;
}

def Pit_BitmapType : Pit_Type<"Bitmap", "bitmap"> {
  let summary = "which elements of a tensor are selected, one bit an element";
  let description = [{
    A `const pit_bitmap *` of the runtime, made by one read of the tensor. The
    live fraction of every micro-tile follows from it, and so does the index of the one
    that is taken. It may be null: then nobody has scanned the tensor.

    Example: `!pit.bitmap`
  }];
}

#endif // PIT_DIALECT_PIT_IR_PITTYPES_TD
