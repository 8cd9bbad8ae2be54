//===- PitIndexOps.td - Ops of indices and choices ---------*- tablegen -*-===//

#ifndef PIT_DIALECT_PIT_IR_PITINDEXOPS_TD
#define PIT_DIALECT_PIT_IR_PITINDEXOPS_TD

// Included by PitOps.td, which defines what is used here.

def Pit_IndexOp : Pit_Op<"index", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "builds the index of a tensor's live micro-tiles";
  let description = !strconcat([{
    One pass over the source finds the micro-tiles that hold a selected element
    and lists them by group. Ids are ascending unless `unordered` is set, and no
    pass relies on their order. The sources are those of `pit.sparse`. For
    `lengths` and `routing` the shape of the indexed tensor does not follow
    from the source: `shape` gives one extent for each of its dimensions.

    From a vector of lengths, `shape` may have one extent more than the micro-tile.
    Then the index is of the tensor whose first two dimensions are one, and the axis is
    that one: ids number the rows of the whole batch, b * s + i, in a single group.

    The index lives until the function returns. If `seen` gives the bitmap of the
    input's values, it is built from that, and the input is read only where the
    bitmap is null. With `bitmap`, which a `pit.scan` of all of the input's values
    wrote, the input is not read at all.

    Example:

    ```mlir
    %i = pit.index %a : tensor<?x?xf32> -> !pit.index<micro_tile = [32, 1], axis = 1>
    %j = pit.index lengths %l shape(%b, %s, %h) : tensor<?xi32>
           -> !pit.index<micro_tile = [1, 1, *], axis = 1>
    %k = pit.index lengths %l shape(%b, %s, %h) : tensor<?xi32>
           -> !pit.index<micro_tile = [1, *], axis = 0>
    ```

    Constraints:

    - [index 1] an index is not built from an index;
    - [index 2] from `lengths` and `routing` there is a shape operand for
      each dimension of the micro-tile, otherwise there is none; from a vector of
      lengths there may be one more, if the axis is 0;
    - [index 3] only values have a background;
    - [index 4] only values and masks have a bitmap (`seen`);
    - [index 5] values and masks have the rank of the micro-tile;
    - [index 6] only values have bits, and then no bitmap.
  }], Pit_BitmapConstraints.text, Pit_SelectorConstraints.text,
      Pit_ElementConstraints.text);
  let arguments = (ins
    DefaultValuedAttr<Pit_SourceAttr, "Source::Values">:$source,
    Arg<Pit_TensorOrMemRef, "what the index is built from">:$input,
    Variadic<Index>:$shape,
    Optional<Pit_BitmapType>:$seen,
    Arg<Optional<Pit_TensorOrMemRef>, "which elements are selected">:$written,
    OptionalAttr<TypedAttrInterface>:$background,
    UnitAttr:$unordered);
  let results = (outs Pit_IndexType:$result);
  let assemblyFormat = [{
    `` custom<SourceKeyword>($source) `` $input (`shape` `(` $shape^ `)`)?
    (`seen` `(` $seen^ `)`)? (`bitmap` `(` $written^ `:` type($written) `)`)?
    (`background` `(` $background^ `)`)? (`unordered` $unordered^)?
    attr-dict `:` type($input) `->` qualified(type($result))
  }];
  let extraClassDeclaration = [{
    /// Are the first two dimensions of what lengths select from one, so that ids
    /// number rows of the whole batch?
    bool hasRowsOfBatch();
  }];
  let hasVerifier = 1;
}

def Pit_PackedIndexOp : Pit_Op<"packed_index", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "builds an index, and packs what its micro-tiles hold";
  let description = !strconcat([{
    Builds the index of a matrix's live values as `pit.index` does. If the
    runtime can do it in the same pass, row p of the destination becomes the
    micro-tile at position p, with zeros for what lies outside of the matrix, and
    `done` is true. Else the destination stays as it is, and `done` is false: on
    the CPU, and where pit_rt_build_packed says so (include/pit-runtime/Abi.h). The
    destination has a row for each position that there may be.

    Example:

    ```mlir
    %i, %done, %p = pit.packed_index %a into %o : tensor<?x?xf16> into tensor<?x32xf16>
                      -> !pit.index<micro_tile = [32, 1], axis = 1>, tensor<?x32xf16>
    ```

    Constraints:

    - [packed 1] a matrix's micro-tiles, [n, 1] along axis 1, follow each other in
      steps of n;
    - [packed 2] the destination is a matrix with rows of n elements of the same type;
    - [packed 3] with tensors there is a result of the type of the destination, with
      memrefs there is none, and nothing else is mixed.
  }], Pit_ElementConstraints.text);
  let arguments = (ins
    Pit_TensorOrMemRef:$input,
    Pit_TensorOrMemRef:$dest,
    OptionalAttr<TypedAttrInterface>:$background);
  let results = (outs Pit_IndexType:$index, I1:$done,
                      Optional<AnyRankedTensor>:$packed);
  let assemblyFormat = [{
    $input `into` $dest (`background` `(` $background^ `)`)? attr-dict `:`
    type($input) `into` type($dest) `->` qualified(type($index))
    (`,` type($packed)^)?
  }];
  let hasVerifier = 1;
}

def Pit_TransposeIndexOp : Pit_Op<"transpose_index", [Pure]> {
  let summary = "where the ids of an index lie";
  let description = [{
    The transpose of an index lists, for each coordinate along the axis, the
    positions that it has as an id, in the order of the groups. It is as CSC is to
    CSR: the index of a matrix whose element (i, p) is selected if position p holds
    id i. So what groups write by position can be read, and added up, by id.

    With `if` it is made only if a `pit.choose` that chooses on the device has
    taken that variant, whose index this is (`pit-predicate-variants`).

    Example:

    ```mlir
    %t = pit.transpose_index %i : !pit.index<micro_tile = [1, 1], axis = 0>
           -> !pit.index<micro_tile = [1, 1], axis = 1>
    ```

    Constraints:

    - [transpose 1] the result has the type in the example;
    - [transpose 2] the choice is the bitmap of a `pit.choose`, and with it there
      is the number of a variant, 0 or more.
  }];
  let arguments = (ins Pit_IndexType:$index, Optional<Pit_BitmapType>:$choice,
                       OptionalAttr<I64Attr>:$variant);
  let results = (outs Pit_IndexType:$result);
  let assemblyFormat = [{
    $index (`if` `(` $choice^ `is` $variant `)`)? attr-dict `:`
    qualified(type($index)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$index)>];
  let extraClassDeclaration = [{
    /// The type of a transpose.
    static SparsityIndexType getTransposedType(::mlir::MLIRContext *context);
  }];
}

def Pit_ChooseOp : Pit_Op<"choose", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "picks the variant of an op that suits the zeros of this call";
  let description = !strconcat([{
    Variant 0 skips nothing and takes the time `dense`. Variant i skips by an
    index of type `candidates[i - 1]`, and takes `fixed[i - 1]` and, for each live
    micro-tile of that index, `live[i - 1]`. Times are in nanoseconds; only how
    they compare counts. The result is the variant of the least time, the first
    one of equal ones, and the bitmap that the live fraction was counted from.

    With `mask` the tensor says itself what is selected, by what is not 0.

    A scan of the tensor costs a read. If variant 0 has won, the next calls
    take it without a scan, 1, then 2, 4, ... up to 64 of them, and the bitmap is
    null; the context keeps that, for each place of a program. `deterministic`
    scans in every call.

    With `bitmap`, which a `pit.scan` of all of the tensor's values wrote, the
    live fraction is counted from them, and the tensor is not read.

    With `seen`, the bitmap of an earlier choice by the same values, the live fraction
    is counted from what that one has found, if it has scanned; each choice
    decides for itself whether a scan is due (`pit-share-scans`). On a device the
    earlier choice has to have the candidates of this one among its own;
    otherwise both scan.

    With `on_device` the choice stays in the device's memory: then the variant
    must not be used. The launches of all variants ask the bitmap's word there
    whether it is their turn, and so does what builds their indices. A choice
    `after` another one is made where that took variant 0; else it takes none.

    Example:

    ```mlir
    %v, %bitmap = pit.choose %a of [!pit.index<micro_tile = [1, 1], axis = 1>]
                  dense(%d) fixed(%f) live(%l) : tensor<?x?xf32>
    ```

    Constraints:

    - [choose 1] there is at least one candidate;
    - [choose 2] nothing uses the variant if the choice is made on the device;
    - [choose 3] there are as many fixed times, and times of live micro-tiles,
      as candidates;
    - [choose 4] candidates are types of indices;
    - [choose 5] the micro-tile of a candidate has the rank of the input;
    - [choose 6] a mask has no background;
    - [choose 7] a mask has no bits;
    - [choose 8] a choice that comes after another one is made on the device;
    - [choose 9] what was seen is the bitmap of another `pit.choose`, by values if
      this one scans values, or a mask if it scans that, and then there are
      no bits.
  }], Pit_BitmapConstraints.text, Pit_SelectorConstraints.text,
      Pit_ElementConstraints.text);
  let arguments = (ins
    Arg<Pit_TensorOrMemRef, "what is scanned">:$input,
    Arg<Optional<Pit_TensorOrMemRef>, "which elements are selected">:$written,
    UnitAttr:$mask,
    TypeArrayAttr:$candidates,
    F64:$dense,
    Variadic<F64>:$fixed,
    Variadic<F64>:$live,
    Optional<Pit_BitmapType>:$after,
    Optional<Pit_BitmapType>:$seen,
    OptionalAttr<TypedAttrInterface>:$background,
    UnitAttr:$deterministic,
    UnitAttr:$on_device);
  let results = (outs Index:$variant, Pit_BitmapType:$bitmap);
  let assemblyFormat = [{
    $input (`mask` $mask^)? (`seen` `(` $seen^ `)`)?
    (`bitmap` `(` $written^ `:` type($written) `)`)?
    `of` $candidates `dense` `(` $dense `)` `fixed` `(` $fixed `)`
    `live` `(` $live `)` (`background` `(` $background^ `)`)?
    (`deterministic` $deterministic^)? (`on_device` $on_device^)?
    (`after` `(` $after^ `)`)? attr-dict `:` type($input)
  }];
  let hasVerifier = 1;
}

def Pit_RecordOp : Pit_Op<"record", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "records how many micro-tiles of a mark are live";
  let description = !strconcat([{
    Counts the live micro-tiles of each candidate (`pit_live_fraction_candidates`) of
    what a mark selects, and adds them to the context's profile, under the label
    of the mark and the shape. Source, input, shape and background are those of
    `pit.index`. `signature` and `location` tell a later compilation whether the
    mark is still the same, and a reader where it was.

    Example:

    ```mlir
    pit.record %a label("f:0") signature("values of tensor<?x?xf32>") location("f.mlir:2:8") : tensor<?x?xf32>
    ```

    Constraints:

    - [record 1] an index is not counted;
    - [record 2] `lengths` and `routing` have a shape, other sources have
      none.
  }], Pit_ElementConstraints.text);
  let arguments = (ins
    DefaultValuedAttr<Pit_SourceAttr, "Source::Values">:$source,
    Arg<Pit_TensorOrMemRef, "what is counted">:$input,
    Variadic<Index>:$shape,
    OptionalAttr<TypedAttrInterface>:$background,
    StrAttr:$label,
    StrAttr:$signature,
    StrAttr:$location);
  let assemblyFormat = [{
    `` custom<SourceKeyword>($source) `` $input (`shape` `(` $shape^ `)`)?
    (`background` `(` $background^ `)`)? `label` `(` $label `)`
    `signature` `(` $signature `)` `location` `(` $location `)`
    attr-dict `:` type($input)
  }];
  let hasVerifier = 1;
}

def Pit_CountOp : Pit_Op<"count", [Pure]> {
  let summary = "number of live micro-tiles of an index, or of one group";
  let description = [{
    Without subscripts, the number of ids of all groups together. With them, the
    number of ids of one group; the subscripts are as in `pit.for`.

    Example:

    ```mlir
    %all = pit.count %i : !pit.index<micro_tile = [32, 1], axis = 1>
    %one = pit.count %i[%m] : !pit.index<micro_tile = [32, 1], axis = 1>
    ```

    Constraints:

    - [count 1] there is no subscript, or one for each dimension that numbers
      the groups of the index.
  }];
  let arguments = (ins Pit_IndexType:$index, Variadic<Index>:$group);
  let results = (outs Index:$result);
  let assemblyFormat = "$index (`[` $group^ `]`)? attr-dict `:` qualified(type($index))";
  let hasVerifier = 1;
}

def Pit_LiveFractionOp : Pit_Op<"live_fraction", [Pure]> {
  let summary = "fraction of an index's micro-tiles that are live";
  let description = [{
    Live micro-tiles divided by all micro-tiles; 0 if there are none.

    Example: `%c = pit.live_fraction %i : !pit.index<micro_tile = [32, 1], axis = 1>`
  }];
  let arguments = (ins Pit_IndexType:$index);
  let results = (outs F64:$result);
  let assemblyFormat = "$index attr-dict `:` qualified(type($index))";
}

def Pit_ExtentOp : Pit_Op<"extent", [Pure]> {
  let summary = "size of the packed dimension of a tensor packed by an index";
  let description = [{
    One more than the largest position of the index: its number of ids, unless
    the index is the caller's and leaves gaps between groups. For an index that
    `pit.index routing` builds, it is a bound that shapes tell, the number of
    elements of the routing: so callers know the size of a packed result. For
    the rows of a batch, one list of them by lengths, it is that of all rows.

    Example: `%e = pit.extent %i : !pit.index<micro_tile = [1, *], axis = 0>`
  }];
  let arguments = (ins Pit_IndexType:$index);
  let results = (outs Index:$result);
  let hasCanonicalizeMethod = 1;
  let assemblyFormat = "$index attr-dict `:` qualified(type($index))";
}

#endif // PIT_DIALECT_PIT_IR_PITINDEXOPS_TD
