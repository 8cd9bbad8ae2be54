//===- PitOps.td - Operations of the pit dialect -----------*- tablegen -*-===//

#ifndef PIT_DIALECT_PIT_IR_PITOPS_TD
#define PIT_DIALECT_PIT_IR_PITOPS_TD

include "mlir/Dialect/Arith/IR/ArithBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/LoopLikeInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "pit/Dialect/Pit/IR/PitConstraints.td"
include "pit/Dialect/Pit/IR/PitLaunchAttributes.td"
include "pit/Dialect/Pit/IR/PitTypes.td"

class Pit_Op<string mnemonic, list<Trait> traits = []>
    : Op<Pit_Dialect, mnemonic, traits>;

def Pit_Subscript : AnyTypeOf<[Index, Pit_IdsType, Pit_IndexType]>;
def Pit_TensorOrMemRef : AnyTypeOf<[AnyRankedTensor, AnyStridedMemRef]>;

//===----------------------------------------------------------------------===//
// Level 1: the mark
//===----------------------------------------------------------------------===//

def Pit_SparseOp : Pit_Op<"sparse", [
    Pure, AllTypesMatch<["input", "result"]>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>]> {
  let summary = "marks a value as dynamically sparse";
  let description = !strconcat([{
    The result is `select(selected, input, background)`, element by element.
    The selection is known only at run time and comes from a source:

    - none: the values themselves, `input != background`. The op is then the
      identity. NaN differs from every background; -0 equals 0.
    - `mask(%m)`: a tensor of the input's shape, of i1 or of numbers; what is not 0
      selects. -0.0 is 0, and NaN is not.
    - `lengths(%l)`: a tensor of i32 or i64 whose dimensions are the input's
      first ones; element (d.., s, ..) is selected if s < l[d..].
    - `routing(%a)`: a T x K tensor of i32 or i64; element (t, e) of the
      T x E input is selected if e is among a[t, :]. -1 assigns nothing.
    - `index(%i)`: the elements covered by the micro-tiles of an index.

    `background` is 0 unless given. With `assume` the caller promises that the
    input is background already wherever it is not selected. `rule` carries what
    the user insists on; `pit-plan` chooses the rest.

    Facts about the zeros that are known before the program runs help it to choose.
    `live_fraction` is the fraction of the micro-tiles of the given sizes that are live,
    anywhere, and full (single elements, if no sizes are given; `*` stands for a
    whole dimension). `label` is the name by which samples and profiles call the
    mark (`pit-label-marks` gives one to those without).

    A mark on the result of a linalg op says that only the selected outputs are
    wanted; it needs a source other than the values.

    Example:

    ```mlir
    %s = pit.sparse %x : tensor<?x?xf32>
    %p = pit.sparse %y lengths(%l : tensor<?xi32>) : tensor<?x128x64xf32>
    %q = pit.sparse %z mask(%m : tensor<8x8xi1>) background(0xFF800000 : f32)
           assume rule(#pit.rule<axis = 1>) : tensor<8x8xf32>
    %r = pit.sparse %a live_fraction(0.05 in [4, 1]) : tensor<?x?xf32>
    %t = pit.sparse %h label("hidden") : tensor<?x?xf32>
    ```

    Constraints:

    - [sparse 1] every source but the values has a selector, and the values
      have none;
    - [sparse 2] the selector of `index` is a `!pit.index`, all others are
      tensors;
    - [sparse 3] an index has the rank of the tensor;
    - [sparse 4] the rule names no operand: that belongs on the op that uses
      the mark;
    - [sparse 5] the axis of the rule is a dimension of the tensor;
    - [sparse 6] the micro-tile of the rule has the rank of the tensor;
    - [sparse 7] a live fraction is in [0, 1];
    - [sparse 8] the micro-tile of a live fraction has the rank of the tensor;
    - [sparse 9] its sizes are at least 1, or `*` for a whole dimension.
  }], Pit_SelectorConstraints.text, Pit_ElementConstraints.text);
  let arguments = (ins
    AnyRankedTensor:$input,
    DefaultValuedAttr<Pit_SourceAttr, "Source::Values">:$source,
    Optional<AnyTypeOf<[AnyRankedTensor, Pit_IndexType]>>:$selector,
    OptionalAttr<TypedAttrInterface>:$background,
    UnitAttr:$assume,
    OptionalAttr<Pit_RuleAttr>:$rule,
    OptionalAttr<F64Attr>:$liveFraction,
    OptionalAttr<DenseI64ArrayAttr>:$liveFractionTile,
    OptionalAttr<StrAttr>:$label);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `` custom<Selector>($source, $selector, type($selector))
    (`background` `(` $background^ `)`)? (`assume` $assume^)?
    (`rule` `(` $rule^ `)`)?
    (`live_fraction` `(` $liveFraction^ (`in` custom<ExtentList>($liveFractionTile)^)? `)`)?
    (`label` `(` $label^ `)`)? attr-dict `:` type($result)
  }];
  let builders = [
    // Marks the zeros among the values.
    OpBuilder<(ins "::mlir::Value":$input,
                   CArg<"::mlir::pit::RuleAttr", "{}">:$rule), [{
      build($_builder, $_state, input, Source::Values, Value(), TypedAttr(),
            /*assume=*/false, rule);
    }]>,
    OpBuilder<(ins "::mlir::Value":$input, "::mlir::pit::Source":$source,
                   "::mlir::Value":$selector,
                   "::mlir::TypedAttr":$background, "bool":$assume,
                   "::mlir::pit::RuleAttr":$rule), [{
      build($_builder, $_state, input.getType(), input, source, selector,
            background, assume, rule, FloatAttr(), DenseI64ArrayAttr(),
            StringAttr());
    }]>];
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = [{
    /// The background, 0 of the element type unless given.
    TypedAttr getBackgroundOrZero();
  }];
}

def Pit_ReorderOp : Pit_Op<"reorder", [
    Pure, AllTypesMatch<["source", "result"]>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>]> {
  let summary = "moves elements along a dimension to the places of a list";
  let description = [{
    `result[.., order[.., i], ..] = source[.., i, ..]`. `dims` says which dimensions
    of the source number those of `order`; along the last one elements move, so
    that other dimensions may have orders of their own.

    `order` has each place once. If it does not, elements of the result are not
    specified.

    It says in which order the blocks of a mask have rows and columns:
    `pit-tile-online-reductions` takes the mask as it is, and gathers by the order what
    its loops read (`pit.ids`). `pit-lower-marks` moves the elements where nothing
    else has taken the op.

    Example: the columns of 8 matrices, which have an order each.

    ```mlir
    %m = pit.reorder %x by %order dims [0, 2] : tensor<8x?x?xi1>, tensor<8x?xi32>
    ```

    Constraints:

    - [reorder 1] `dims` has a dimension of the source for each one of the order,
      none of them twice, and one at least;
    - [reorder 2] these have equal extents.
  }];
  let arguments = (ins AnyRankedTensor:$source, RankedTensorOf<[I32]>:$order,
                       DenseI64ArrayAttr:$dims);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $source `by` $order `dims` $dims attr-dict `:` type($source) `,` type($order)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Level 2: the index
//===----------------------------------------------------------------------===//

include "pit/Dialect/Pit/IR/PitIndexOps.td"

//===----------------------------------------------------------------------===//
// Levels 2 and 3: SRead and SWrite
//===----------------------------------------------------------------------===//

def Pit_SReadOp : Pit_Op<"sread", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>]> {
  let summary = "reads scattered micro-tiles into a dense tile";
  let description = !strconcat([{
    `tensor.extract_slice` in which a dimension may be gathered. There is one
    subscript for each dimension of the source. An `index` subscript is where
    the tile starts; an `!pit.ids<N>` subscript gathers N coordinates. The
    result has the source's rank and a static shape.

    Places outside of the source, and absent ids, read `pad`, which is 0
    unless given. If the result's element type is wider than the source's, values
    are extended (signed integers by sign). Tensors that are subscripted by the
    same ids, or by the same variable of a loop, have to have the same size
    there: `pit-abi-require-shapes` sees to that.

    Whole-tensor form: one subscript, an index. The dimensions `dims` of the
    source (all, if not given) stand for the dimensions of the indexed tensor.
    They are packed: those that number groups and the axis become one leading
    dimension of `pit.extent` rows. Whole dimensions and those not in `dims`
    follow in their order. Micro-tiles have to be one element wide or whole. A
    whole dimension that the source lacks is -1 in `dims`.

    On memrefs the tile is written into the destination that `into` gives.

    Example:

    ```mlir
    %t = pit.sread %b[%ids : !pit.ids<64>, %n] : tensor<?x?xf32> -> tensor<64x128xf32>
    %p = pit.sread %x[%i : !pit.index<micro_tile = [1, *], axis = 0>]
           : tensor<?x512xf32> -> tensor<?x512xf32>
    ```

    Constraints:

    - [sread 1] there is a result or a destination, not both;
    - [sread 2] a memref is read into a memref, a tensor into a result;
    - [sread 3] the tile's elements are the source's, or wider.
  }], Pit_TileConstraints.text, Pit_WholeConstraints.text, Pit_ElementConstraints.text);
  let arguments = (ins
    Pit_TensorOrMemRef:$src,
    Variadic<Pit_Subscript>:$subscripts,
    Optional<AnyStridedMemRef>:$dest,
    OptionalAttr<TypedAttrInterface>:$pad,
    OptionalAttr<DenseI64ArrayAttr>:$dims);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let builders = [
    OpBuilder<(ins "Type":$result, "Value":$src, "ValueRange":$subscripts,
                   CArg<"TypedAttr", "{}">:$pad)>
  ];
  let extraClassDeclaration = [{
    bool isWhole() {
      return getSubscripts().size() == 1 &&
             isa<SparsityIndexType>(getSubscripts().front().getType());
    }
    /// The tile: the result, or the memref that is written.
    ShapedType getTileType() {
      if (Value dest = getDest())
        return cast<ShapedType>(dest.getType());
      return cast<ShapedType>(getResult().getType());
    }
    ShapedType getSrcType() { return cast<ShapedType>(getSrc().getType()); }
    /// The pad value in the tile's element type, 0 unless given.
    TypedAttr getPadOrZero();
    /// Whole-tensor form: dimensions of the source packed by the index.
    SmallVector<int64_t> getPackedDims();
    /// The dimensions that become the leading one: not the whole ones.
    SmallVector<int64_t> getGatheredDims();
  }];
}

def Pit_SWriteOp : Pit_Op<"swrite", [
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>]> {
  let summary = "writes a dense tile back to scattered micro-tiles";
  let description = !strconcat([{
    The mirror of `pit.sread`. Elements of the tile whose coordinates lie outside
    of the destination, or belong to absent ids, are dropped. The others
    overwrite the destination or, with `combine`, are combined with it. If the
    tile's element type is wider than the destination's, values are truncated.

    Whole-tensor form: one subscript, an index; the mirror of whole-tensor SRead.

    Example:

    ```mlir
    %o = pit.swrite %t into %c[%m, %ids : !pit.ids<64>]
           : tensor<32x64xf32> into tensor<?x?xf32>
    %s = pit.swrite %u into %c[%ids : !pit.ids<64>, %n] combine(addf)
           : tensor<64x128xf32> into tensor<?x?xf32>
    ```

    Constraints:

    - [swrite 1] a tensor is written into a tensor, a memref into a memref;
    - [swrite 2] with tensors there is a result of the type of the
      destination, with memrefs there is none;
    - [swrite 3] the tile's elements are the destination's, or wider;
    - [swrite 4] elements of type i1 are not combined;
    - [swrite 5] `combine` is not `assign`, and is for floats where the
      elements are floats.
  }], Pit_TileConstraints.text, Pit_WholeConstraints.text);
  let arguments = (ins
    Pit_TensorOrMemRef:$tile,
    Pit_TensorOrMemRef:$dest,
    Variadic<Pit_Subscript>:$subscripts,
    OptionalAttr<AtomicRMWKindAttr>:$combine,
    OptionalAttr<DenseI64ArrayAttr>:$dims);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let builders = [
    OpBuilder<(ins "Value":$tile, "Value":$dest, "ValueRange":$subscripts,
                   CArg<"std::optional<arith::AtomicRMWKind>", "std::nullopt">:$combine)>
  ];
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getDestMutable(); }
    bool isWhole() {
      return getSubscripts().size() == 1 &&
             isa<SparsityIndexType>(getSubscripts().front().getType());
    }
    ShapedType getTileType() { return cast<ShapedType>(getTile().getType()); }
    ShapedType getDestType() { return cast<ShapedType>(getDest().getType()); }
    SmallVector<int64_t> getPackedDims();
    SmallVector<int64_t> getGatheredDims();
  }];
}

def Pit_ScanOp : Pit_Op<"scan", [
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>]> {
  let summary = "writes the bitmap of a tile that was just written";
  let description = !strconcat([{
    Says of each element of a tile of `source` whether it differs from the
    background (0, unless given), in one bit: NaN does, -0.0 does not. It stands
    behind what writes the tile, in the same loop, so that the elements are still
    in registers or in the nearest cache. An op that selects by the values later
    (`pit.index`, `pit.choose`) then reads bits, a 32nd of f32 values.

    `bitmap` has the source's dimensions, but for the last: there a row of n elements
    takes 8 * ceil(n / 64) bytes. Element j of a row is bit j % 8, from the least
    significant, of the row's byte j / 8; the bits past the row's end are 0. Tiles
    of rows that ids name lie where those rows are; absent ids are left out. Along
    the last dimension a tile starts at a multiple of its extent; the one that
    holds the end of a row writes the row's last bytes as well.

    Example:

    ```mlir
    %c1 = pit.swrite %t into %c[%m, %n] : tensor<32x128xf32> into tensor<?x1000xf32>
    %b1 = pit.scan %c1[%m, %n : index, index] tile [32, 128] into %b
          : tensor<?x1000xf32> into tensor<?x128xi8> -> tensor<?x128xi8>
    ```

    Constraints:

    - [scan 1] a tensor is scanned for a tensor, a memref for a memref;
    - [scan 2] with tensors there is a result of the type of `bitmap`, with memrefs
      there is none;
    - [scan 3] there are a subscript and an extent of the tile for each dimension
      of the source;
    - [scan 4] extents are positive, and the last is a multiple of 8;
    - [scan 5] along a gathered dimension the tile is as long as the chunk of ids;
    - [scan 6] no subscript is an index, and the last is no ids.
  }], Pit_BitmapConstraints.text, Pit_ElementConstraints.text);
  let arguments = (ins
    Pit_TensorOrMemRef:$source,
    Pit_TensorOrMemRef:$bitmap,
    Variadic<Pit_Subscript>:$subscripts,
    DenseI64ArrayAttr:$tile,
    OptionalAttr<TypedAttrInterface>:$background);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    $source `[` $subscripts `:` type($subscripts) `]` `tile` $tile
    (`background` `(` $background^ `)`)? `into` $bitmap
    attr-dict `:` type($source) `into` type($bitmap) (`->` type($result)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getBitmapMutable(); }
  }];
}

def Pit_IdsOp : Pit_Op<"ids", [Pure]> {
  let summary = "a chunk of ids that a tensor lists";
  let description = [{
    The ids are elements of the list's last dimension: as many as the chunk has, from
    the last subscript on. The others say which list of several it is. Ids behind the
    end of a list are absent, and all are if the last subscript is negative. Elements
    are 0 or more.

    The op only names a place. The ids are read by the ops that use them.

    Example: the rows of a matrix, in the order of a permutation.

    ```mlir
    %ids = pit.ids %order[%h, %i] : tensor<8x?xi32> -> !pit.ids<64>
    %t = pit.sread %q[%h, %ids : !pit.ids<64>, %c0] : tensor<8x?x64xf16> -> tensor<1x64x64xf16>
    ```

    Constraints:

    - [ids 1] there is one subscript for each dimension of the list, and one at
      least;
    - [ids 2] in a memref the ids of a list lie side by side.
  }];
  let arguments = (ins
    AnyTypeOf<[RankedTensorOf<[I32]>, StridedMemRefOf<[I32]>]>:$list,
    Variadic<Index>:$subscripts);
  let results = (outs Pit_IdsType:$ids);
  let assemblyFormat = [{
    $list `[` $subscripts `]` attr-dict `:` type($list) `->` qualified(type($ids))
  }];
  let hasVerifier = 1;
}

def Pit_CoordsOp : Pit_Op<"coords", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "the coordinates of a chunk of ids";
  let description = [{
    A tensor of the chunk's coordinates along the axis; absent ids are -1. Once
    bufferized, the op writes the memref that `into` gives. A `pit.mainloop` takes
    them as a vector.

    Example: `%c = pit.coords %ids : !pit.ids<64> -> tensor<64xindex>`

    Constraints:

    - [coords 1] there is a result or a destination, not both;
    - [coords 2] it has one element for each id of the chunk.
  }];
  let arguments = (ins Pit_IdsType:$ids, Optional<MemRefRankOf<[Index], [1]>>:$dest);
  let results = (outs
    Optional<AnyTypeOf<[1DTensorOf<[Index]>, VectorOfRankAndType<[1], [Index]>]>>:$result);
  let assemblyFormat = [{
    $ids (`into` $dest^ `:` type($dest))? attr-dict `:` qualified(type($ids))
    (`->` type($result)^)?
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Level 3: loops
//===----------------------------------------------------------------------===//

class Pit_LoopOp<string mnemonic, list<Trait> traits = []> : Pit_Op<mnemonic, !listconcat([
    AttrSizedOperandSegments, AutomaticAllocationScope, RecursiveMemoryEffects,
    SingleBlockImplicitTerminator<"YieldOp">,
    DeclareOpInterfaceMethods<LoopLikeOpInterface, [
      "getInitsMutable", "getRegionIterArgs", "getLoopInductionVars",
      "getLoopLowerBounds", "getLoopUpperBounds", "getLoopSteps",
      "getYieldedValuesMutable", "getLoopResults"]>,
    DeclareOpInterfaceMethods<RegionBranchOpInterface,
      ["getEntrySuccessorOperands"]>], traits)> {
  let arguments = (ins
    Variadic<Index>:$lower,
    Variadic<Index>:$upper,
    DenseI64ArrayAttr:$steps,
    Optional<Pit_IndexType>:$index,
    Variadic<Index>:$group,
    DefaultValuedAttr<I64Attr, "0">:$chunk,
    Variadic<AnyRankedTensor>:$initArgs,
    DefaultValuedAttr<Pit_ConflictsAttr, "Conflicts::None">:$conflicts);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$region);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    /// A loop over dense ranges and, if `index` is given, over chunks of one of
    /// its groups. The body builder gets the induction variables, the ids and
    /// positions if there is an index, and the iter args; it has to yield.
    OpBuilder<(ins "ValueRange":$lower, "ValueRange":$upper,
      "ArrayRef<int64_t>":$steps, "Value":$index, "ValueRange":$group,
      "int64_t":$chunk, "ValueRange":$inits,
      "function_ref<void(OpBuilder &, Location, ValueRange ivs, Value ids, Value pos, ValueRange args)>":$body)>
  ];
  code sharedDeclaration = [{
    Block *getBody() { return &getRegion().front(); }
    unsigned getNumDense() { return getSteps().size(); }
    Block::BlockArgListType getInductionVars() {
      return getBody()->getArguments().take_front(getNumDense());
    }
    /// The chunk's ids and their positions; null without an index.
    Value getIds() {
      return getIndex() ? getBody()->getArgument(getNumDense()) : Value();
    }
    Value getPositions() {
      return getIndex() ? getBody()->getArgument(getNumDense() + 1) : Value();
    }
    YieldOp getYield();
  }];
}

def Pit_ForallOp : Pit_LoopOp<"forall", [HasParallelRegion]> {
  let summary = "parallel loop over tiles";
  let description = !strconcat([{
    Runs its body for every tile of the dense ranges, in any order and in
    parallel. If an index is given, the body runs for every chunk of up to `chunk`
    ids of one of its groups. The group is named by one subscript for each
    dimension that numbers groups: the coordinate in the indexed tensor at which
    it starts.

    An iteration may read an iter_arg. It must yield it updated by one
    `pit.swrite`, or by a `pit.for` that carries it and does the same. Different
    iterations must not write the same element unless `conflicts` says how they
    are kept apart.

    Example:

    ```mlir
    %c = pit.forall (%n) = (%c0) to (%N) step (128),
           %ids at %pos in %i : !pit.index<micro_tile = [1, *], axis = 0> chunk 64
           iter_args(%o = %init) -> (tensor<?x?xf32>) {
      %t = pit.sread %x[%ids : !pit.ids<64>, %n] : tensor<?x?xf32> -> tensor<64x128xf32>
      %w = pit.swrite %t into %o[%ids : !pit.ids<64>, %n]
             : tensor<64x128xf32> into tensor<?x?xf32>
      pit.yield %w : tensor<?x?xf32>
    }
    ```

    Constraints:

    - [forall 1] each iter_arg is yielded updated by one `pit.swrite` or
      `pit.mainloop` into it, or by a `pit.for` that does so.
  }], Pit_LoopConstraints.text);
  let extraClassDeclaration = sharedDeclaration;
}

def Pit_ForOp : Pit_LoopOp<"for"> {
  let summary = "sequential loop over tiles";
  let description = !strconcat([{
    Like `pit.forall`, but iterations run one after another: dense ranges in
    row-major order and, for each of their points, the chunks of the index in
    the index's order. An iter_arg may be any tensor of unchanging type.

    Example:

    ```mlir
    %s = pit.for %ids at %pos in %i[%m] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64
           iter_args(%acc = %zero) -> (tensor<32x128xf32>) {
      %at = pit.sread %a[%m, %ids : !pit.ids<64>] : tensor<?x?xf32> -> tensor<32x64xf32>
      %bt = pit.sread %b[%ids : !pit.ids<64>, %n] : tensor<?x?xf32> -> tensor<64x128xf32>
      %r = linalg.matmul ins(%at, %bt : tensor<32x64xf32>, tensor<64x128xf32>)
             outs(%acc : tensor<32x128xf32>) -> tensor<32x128xf32>
      pit.yield %r : tensor<32x128xf32>
    }
    ```

    Constraints:

  }], Pit_LoopConstraints.text);
  let extraClassDeclaration = sharedDeclaration;
}

def Pit_YieldOp : Pit_Op<"yield", [Pure, Terminator,
    DeclareOpInterfaceMethods<RegionBranchTerminatorOpInterface>,
    NativeOpTrait<"ReturnLike">,
    ParentOneOf<["ForallOp", "ForOp", "MainloopOp", "ContractOp",
                 "PointwiseOp"]>]> {
  let summary = "ends a loop's body";
  let description = [{
    Hands the iter_args' new values to the next iteration or out of the loop.

    Example: `pit.yield %acc : tensor<32x128xf32>`
  }];
  let arguments = (ins Variadic<AnyType>:$operands);
  let builders = [OpBuilder<(ins), "(void)$_builder; (void)$_state;">];
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

include "pit/Dialect/Pit/IR/PitHostOps.td"
include "pit/Dialect/Pit/IR/PitKernelOps.td"
include "pit/Dialect/Pit/IR/PitMainloopOp.td"

#endif // PIT_DIALECT_PIT_IR_PITOPS_TD
