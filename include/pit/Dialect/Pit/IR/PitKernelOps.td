//===- PitKernelOps.td - Ops of kernels --------------------*- tablegen -*-===//

#ifndef PIT_DIALECT_PIT_IR_PITKERNELOPS_TD
#define PIT_DIALECT_PIT_IR_PITKERNELOPS_TD

// Included by PitOps.td, which defines what is used here.

def Pit_ViewOp : Pit_Op<"view", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a tile that is read piece by piece";
  let description = !strconcat([{
    An SRead that does not happen at once: the vector stands for the tile, whose
    elements `pit.mainloop` loads when and where it needs them. Subscripts and `pad`
    are those of `pit.sread`.

    Example:

    ```mlir
    %at = pit.view %a[%m, %ids : index, !pit.ids<64>] pad(0.0 : f16)
            : memref<?x?xf16> -> vector<32x64xf16>
    ```

    Constraints:

    - [view 1] the tile, the subscripts and the source have one rank;
    - [view 2] no subscript is an index;
    - [view 3] along a gathered dimension the tile is as long as the chunk of
      ids.
  }], Pit_ElementConstraints.text);
  let arguments = (ins
    Pit_TensorOrMemRef:$src,
    Variadic<Pit_Subscript>:$subscripts,
    OptionalAttr<TypedAttrInterface>:$pad);
  let results = (outs AnyVectorOfAnyRank:$result);
  let assemblyFormat = [{
    $src `[` $subscripts `:` type($subscripts) `]` (`pad` `(` $pad^ `)`)?
    attr-dict `:` type($src) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Pit_ContractOp : Pit_Op<"contract", [Pure, SingleBlock,
    ParentOneOf<["MainloopOp"]>,
    AllTypesMatch<["acc", "result"]>]> {
  let summary = "multiplies two tiles and adds to a third";
  let description = [{
    The work of a `pit.mainloop` on the tiles of a step. At each point of the
    iteration space `tile`, the region takes an element of each of the three tiles,
    and gives the new one of the accumulator. `maps` say which elements: of
    `lhs`, `rhs` and `acc`. Several points may meet the same element of the
    accumulator, one after another, in any order.

    An operand may be read by windows. Then a result of its map is a sum of
    dimensions times positive numbers, such as `h * 2 + kh` in a convolution. Its
    tile has all elements that the windows reach.

    With `tf32`, f32 operands are rounded to tf32, 10 bits behind the point, before
    they are multiplied, so that tensor cores can. Sums stay f32.

    `scales` are tiles of the step, too, whose elements the region takes after that
    of the accumulator. Each is the same at all points that meet an element of the
    accumulator, as the scales of blocks of 8-bit floats are. So what multiplies by
    them may multiply the sum of the step's products instead.

    Example: the two products of a gated layer, which read the same tile of x.

    ```mlir
    pit.mainloop %k0 to %k1 step [32] extra_maps []
        into %c[%m, %n : index, index] : memref<?x?xf32>
    load {
    ^bb0(%k: index):
      %x = pit.view %xs[%m, %k : index, index] pad(0.0 : f32) : memref<?x?xf32> -> vector<64x32xf32>
      %a = pit.view %as[%k, %n : index, index] pad(0.0 : f32) : memref<?x?xf32> -> vector<32x64xf32>
      %b = pit.view %bs[%k, %n : index, index] pad(0.0 : f32) : memref<?x?xf32> -> vector<32x64xf32>
      pit.yield %x, %a, %b : vector<64x32xf32>, vector<32x64xf32>, vector<32x64xf32>
    } compute {
    ^bb0(%xt: vector<64x32xf32>, %at: vector<32x64xf32>, %bt: vector<32x64xf32>, %gate: vector<64x64xf32>, %up: vector<64x64xf32>):
      %gate1 = pit.contract %xt, %at, %gate tile [64, 64, 32]
                 maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
                 : vector<64x32xf32>, vector<32x64xf32>, vector<64x64xf32> {
      ^bb0(%xe: f32, %ae: f32, %sum: f32):
        %p = arith.mulf %xe, %ae : f32
        %s = arith.addf %sum, %p : f32
        pit.yield %s : f32
      }
      %up1 = pit.contract %xt, %bt, %up tile [64, 64, 32]
               maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
               : vector<64x32xf32>, vector<32x64xf32>, vector<64x64xf32> {
      ^bb0(%xe: f32, %be: f32, %sum: f32):
        %p = arith.mulf %xe, %be : f32
        %s = arith.addf %sum, %p : f32
        pit.yield %s : f32
      }
      pit.yield %gate1, %up1 : vector<64x64xf32>, vector<64x64xf32>
    } prologue {
      %zero = arith.constant 0.0 : f32
      pit.yield %zero, %zero : f32, f32
    } epilogue {
    ^bb0(%g: f32, %u: f32):
      %h = arith.mulf %g, %u : f32
      pit.yield %h : f32
    }
    ```

    Constraints:

    - [contract 1] there are three maps, of the operands and of the accumulator, and
      one for each scale;
    - [contract 2] a map goes from the dims of `tile` to sums of them times
      positive numbers, or to a multiple of 16 in the order of fragments (0 1 8 9 2 3 10
      11 4 5 12 13 6 7 14 15), and none has symbols;
    - [contract 3] it reaches no element beyond the operand's or scale's tile;
    - [contract 4] the accumulator has some of the dims, once each, and their
      extents; extents of `tile` are positive;
    - [contract 5] the region takes an element of each and yields one of the
      accumulator;
    - [contract 6] with `tf32` the elements are f32;
    - [contract 7] a scale's map has dims of the accumulator, or of extent 1, only.

    In a mainloop with a tile body the operands may be tiles that other ops of the
    body compute, and so may the accumulator.
  }];
  let arguments = (ins
    AnyVectorOfAnyRank:$lhs,
    AnyVectorOfAnyRank:$rhs,
    AnyVectorOfAnyRank:$acc,
    Variadic<AnyVectorOfAnyRank>:$scales,
    DenseI64ArrayAttr:$tile,
    AffineMapArrayAttr:$maps,
    UnitAttr:$tf32);
  let results = (outs AnyVectorOfAnyRank:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $acc (`scales` `(` $scales^ `:` type($scales) `)`)?
    `tile` $tile `maps` $maps (`tf32` $tf32^)?
    attr-dict `:` type($lhs) `,` type($rhs) `,` type($acc) $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The map of operand 0 or 1, of the accumulator (2), or of a scale (3 on).
    AffineMap getMap(unsigned number) {
      return cast<AffineMapAttr>(getMaps()[number]).getValue();
    }
  }];
}

def Pit_PointwiseOp : Pit_Op<"pointwise", [Pure, SingleBlock,
    AttrSizedOperandSegments,
    ParentOneOf<["MainloopOp"]>]> {
  let summary = "computes a tile from others, element by element";
  let description = [{
    The work of a tile body of a `pit.mainloop` on tiles, beside multiplying them.
    At each point of the iteration space `tile`, the region takes the point (an
    index for each dim), and an element of each input. It gives the element of the
    result. `maps` say which elements: of the inputs, then of the result.

    With `reduces` dims that the result does not have are summed up, or whatever
    the region does: it takes the result's element so far as its last argument. The
    first one is that of the tile that `reduces` names. Points that meet the same
    element come in any order.

    On a GPU it becomes a `pit_gpu.map` on fragments, and what it reduces a
    `pit_gpu.reduce_rows`.

    Example: the largest element of each row.

    ```mlir
    pit.mainloop %k0 to %k1 step [32] extra_maps [] into %o[%m, %k0 : index, index]
        body [64, 1] sums [affine_map<(m, n) -> (m)>] : memref<?x?xf32>
    load {
    ^bb0(%k: index):
      %v = pit.view %a[%m, %k : index, index] pad(0xFF800000 : f32) : memref<?x?xf32> -> vector<64x32xf32>
      pit.yield %v : vector<64x32xf32>
    } compute {
    ^bb0(%t: vector<64x32xf32>, %before: vector<64xf32>):
      %top = pit.pointwise(%t) reduces %before tile [64, 32]
               maps [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>]
               : (vector<64x32xf32>, vector<64xf32>) -> vector<64xf32> {
      ^bb0(%m0: index, %n0: index, %x: f32, %most: f32):
        %y = arith.maximumf %most, %x : f32
        pit.yield %y : f32
      }
      pit.yield %top : vector<64xf32>
    } prologue {
      %low = arith.constant 0xFF800000 : f32
      pit.yield %low : f32
    } epilogue {
    ^bb0(%most: f32):
      pit.yield %most : f32
    }
    ```

    Constraints:

    - [pointwise 1] there is a map for each input and one for the result;
    - [pointwise 2] the maps go from the dims of `tile` to these dims, once each, or
      to 0, and none has symbols; extents of `tile` are positive;
    - [pointwise 3] an input's map reaches no element beyond its tile, and the
      result's all of the result;
    - [pointwise 4] the result has all of the dims that are longer than 1, unless
      it is reduced;
    - [pointwise 5] what is reduced starts from a tile of the result's type;
    - [pointwise 6] the region takes an index for each dim, an element of each
      input, and that of the result if it is reduced. It yields one of the result;
    - [pointwise 7] it stands in `compute` or `extra_results` of a mainloop.
  }];
  let arguments = (ins
    Variadic<AnyVectorOfAnyRank>:$inputs,
    Optional<AnyVectorOfAnyRank>:$acc,
    DenseI64ArrayAttr:$tile,
    AffineMapArrayAttr:$maps);
  let results = (outs AnyVectorOfAnyRank:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $inputs `)` (`reduces` $acc^)? `tile` $tile `maps` $maps
    attr-dict `:` functional-type(operands, results) $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The map of an input, or of the result, which is last.
    AffineMap getMap(unsigned number) {
      return cast<AffineMapAttr>(getMaps()[number]).getValue();
    }
    AffineMap getResultMap() { return getMap(getInputs().size()); }
  }];
}

def Pit_StoreOp : Pit_Op<"store", [
    ParentOneOf<["MainloopOp"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "writes a tile that a mainloop has computed";
  let description = [{
    An SWrite of a tile in registers: a further result of a `pit.mainloop`, or what a step
    adds to memory. Subscripts are those of `pit.swrite`. Elements are converted to the type
    of the destination's. With `combine` they are combined with what is there, atomically.

    Example: sums of products, and the largest of each row.

    ```mlir
    pit.mainloop %k0 to %k1 step [32] extra_maps []
        into %c[%m, %n : index, index] body [64, 64] sums [affine_map<(m, n) -> (m, n)>] : memref<?x?xf32>
    load {
    ^bb0(%k: index):
      %at = pit.view %a[%m, %k : index, index] pad(0.0 : f16) : memref<?x?xf16> -> vector<64x32xf16>
      %bt = pit.view %b[%k, %n : index, index] pad(0.0 : f16) : memref<?x?xf16> -> vector<32x64xf16>
      pit.yield %at, %bt : vector<64x32xf16>, vector<32x64xf16>
    } compute {
    ^bb0(%x: vector<64x32xf16>, %y: vector<32x64xf16>, %acc: vector<64x64xf32>):
      %new = pit.contract %x, %y, %acc tile [64, 64, 32]
               maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
               : vector<64x32xf16>, vector<32x64xf16>, vector<64x64xf32> {
      ^bb0(%xe: f16, %ye: f16, %sum: f32):
        %xw = arith.extf %xe : f16 to f32
        %yw = arith.extf %ye : f16 to f32
        %p = arith.mulf %xw, %yw : f32
        %s = arith.addf %sum, %p : f32
        pit.yield %s : f32
      }
      pit.yield %new : vector<64x64xf32>
    } prologue {
      %zero = arith.constant 0.0 : f32
      pit.yield %zero : f32
    } epilogue {
    ^bb0(%sum: f32):
      pit.yield %sum : f32
    } extra_results {
    ^bb0(%last: vector<64x64xf32>):
      %none = pit.pointwise() tile [64] maps [affine_map<(m) -> (m)>] : () -> vector<64xf32> {
      ^bb0(%m0: index):
        %low = arith.constant 0xFF800000 : f32
        pit.yield %low : f32
      }
      %most = pit.pointwise(%last) reduces %none tile [64, 64]
                maps [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>]
                : (vector<64x64xf32>, vector<64xf32>) -> vector<64xf32> {
      ^bb0(%m0: index, %n0: index, %v: f32, %before: f32):
        %z = arith.maximumf %before, %v : f32
        pit.yield %z : f32
      }
      pit.store %most into %largest[%m : index] : vector<64xf32> into memref<?xf32>
      pit.yield
    }
    ```

    Constraints:

    - [store 1] the tile, the subscripts and the destination have one rank;
    - [store 2] no subscript is an index;
    - [store 3] along a gathered dimension the tile is as long as the chunk of
      ids;
    - [store 4] a step combines with what is there, a further result does not.
  }];
  let arguments = (ins
    AnyVectorOfAnyRank:$tile,
    AnyStridedMemRef:$dest,
    Variadic<Pit_Subscript>:$subscripts,
    OptionalAttr<AtomicRMWKindAttr>:$combine);
  let assemblyFormat = [{
    $tile `into` $dest `[` $subscripts `:` type($subscripts) `]`
    (`combine` `(` $combine^ `)`)? attr-dict `:` type($tile) `into` type($dest)
  }];
  let hasVerifier = 1;
}

#endif // PIT_DIALECT_PIT_IR_PITKERNELOPS_TD
