//===- PitMainloopOp.td - The mainloop of a kernel ---------*- tablegen -*-===//

#ifndef PIT_DIALECT_PIT_IR_PITMAINLOOPOP_TD
#define PIT_DIALECT_PIT_IR_PITMAINLOOPOP_TD

// Included by PitOps.td, which defines what is used here.

def Pit_SchedulesAttr
    : TypedArrayAttrBase<AnyAttrOf<[Pit_CpuScheduleAttr, Pit_GpuScheduleAttr]>,
                         "list of #pit.cpu_schedule and #pit.gpu_schedule">;

def Pit_MainloopOp : Pit_Op<"mainloop", [AttrSizedOperandSegments,
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<RegionBranchOpInterface>]> {
  let summary = "a loop over tiles that are read as they are used";
  let description = !strconcat([{
    Computes one tile of a result from sums over steps. The steps are those of a
    `pit.for` with the same bounds and index. Between steps it carries
    accumulators: tiles of the result's shape. On a GPU the tiles of later steps
    are meanwhile on their way into stages in shared memory. On a CPU they are
    read from where they lie or from packed panels, straight into registers.

    - `load` runs for each step, with its induction variables, ids and
      positions. It yields the tiles that the step reads, as `pit.view`s.
    - `groups` is there if each step has a group of its own, and not one group for
      all steps: in a convolution each point of the filter meets another pixel. It
      takes the induction variables and yields the subscripts of the group whose
      ids come next.
    - `compute` is what a step does with them: it takes the tiles of `load` and
      the accumulators, and yields the accumulators' next values. Its ops are
      `pit.contract`s and `pit.pointwise`s.
    - `prologue` gives an element of each accumulator its first value. `epilogue` turns
      the last ones into what is stored. Both are scalar code on the elements of
      `extras`: tiles whose `extra_maps` go from the accumulators' dimensions to
      theirs. `epilogue` gets the accumulators before them.

    A mainloop is a *product* if its step has a `pit.contract` of loaded tiles for each
    accumulator, and nothing else. Several accumulators are for contractions that belong
    together, as those of the two projections of a gated layer: what both read is loaded
    once, and what both give meets in `epilogue`, in registers. Their contractions differ in
    nothing but the tiles that they read. In kernels for GPUs there are no windows.

    Any other one has a *tile body*, as an attention has that carries the largest score and
    the sum of the powers of each row. It stands in kernels for GPUs:

    - ops of `compute`, in any number, work on what was loaded, what is carried, or what was
      computed before. Carried values may have any shapes. A contraction's second operand
      is a tile that was loaded.
    - `invariants` are tiles that are the same in all steps. They are loaded before the
      first one. `compute` takes them after those of `load`.
    - `load` may yield numbers behind the tiles, such as where a step begins. `compute`
      takes them after `invariants`, and before the accumulators.
    - a tile of either may be the `pit.coords` of ids.
    - a `pit.store` of `compute` adds a tile of a step to memory that the mainloop does not
      read, where other steps and other tiles add, too.
    - `body` is the shape of the tile that is written. `sums` are maps from its dims to
      the elements of each accumulator that `epilogue` takes. Without them all accumulators
      have the tile's shape. Their first values do not depend on extras.
    - `extra_results` has further results: it takes the accumulators' last values, as tiles,
      computes by `pit.pointwise`s, and writes by `pit.store`s.

    The tile is written to `dest` as by `pit.swrite`. On tensors the result is
    `dest` with the tile in it. With `atomic`, combining is atomic. On a GPU all
    threads of the block run the op together.

    With `bitmap` it scans the tile as well, as a `pit.scan` of the same
    subscripts behind it would, but while the elements are in registers or in
    shared memory.

    `schedules` are ways to run it, the best first. A CPU takes the first `#pit.cpu_schedule`.
    A GPU takes the first `#pit.gpu_schedule` whose instructions it has. If that one has producers, a
    second kernel is made, by the first one without: TMA does not take all tensors. Passes
    decide them (`pit-schedule-mainloops`, `pit-schedule-kernels`), and obey those that are
    there already.

    Example:

    ```mlir
    pit.mainloop %k0 to %k1 step [32] extra_maps []
        into %c[%m, %n : index, index] : memref<?x?xf32>
    load {
    ^bb0(%k: index):
      %at = pit.view %a[%m, %k : index, index] pad(0.0 : f16) : memref<?x?xf16> -> vector<64x32xf16>
      %bt = pit.view %b[%k, %n : index, index] pad(0.0 : f16) : memref<?x?xf16> -> vector<32x128xf16>
      pit.yield %at, %bt : vector<64x32xf16>, vector<32x128xf16>
    } compute {
    ^bb0(%x: vector<64x32xf16>, %y: vector<32x128xf16>, %acc: vector<64x128xf32>):
      %new = pit.contract %x, %y, %acc tile [64, 128, 32]
               maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
               : vector<64x32xf16>, vector<32x128xf16>, vector<64x128xf32> {
      ^bb0(%xe: f16, %ye: f16, %sum: f32):
        %xw = arith.extf %xe : f16 to f32
        %yw = arith.extf %ye : f16 to f32
        %p = arith.mulf %xw, %yw : f32
        %s = arith.addf %sum, %p : f32
        pit.yield %s : f32
      }
      pit.yield %new : vector<64x128xf32>
    } prologue {
      %zero = arith.constant 0.0 : f32
      pit.yield %zero : f32
    } epilogue {
    ^bb0(%sum: f32):
      pit.yield %sum : f32
    }
    ```

    Example: an attention, of 64 rows of q and 32 of k and v a step, which also stores
    the logarithm of each row's sum of powers.

    ```mlir
    %qv = pit.view %q[%e, %m, %k0 : index, index, index] : memref<?x?x?xf16> -> vector<1x64x32xf16>
    pit.mainloop %k0 to %k1 step [32] invariants(%qv : vector<1x64x32xf16>) extra_maps []
        into %o[%e, %m, %k0 : index, index, index]
        body [1, 64, 32] sums [affine_map<(e, m, n) -> (m, n)>, affine_map<(e, m, n) -> (m)>, affine_map<(e, m, n) -> (m)>]
        : memref<?x?x?xf16>
    load {
    ^bb0(%j: index):
      %kt = pit.view %k[%e, %j, %k0 : index, index, index] : memref<?x?x?xf16> -> vector<1x32x32xf16>
      %vt = pit.view %v[%e, %j, %k0 : index, index, index] : memref<?x?x?xf16> -> vector<1x32x32xf16>
      pit.yield %kt, %vt, %j : vector<1x32x32xf16>, vector<1x32x32xf16>, index
    } compute {
    ^bb0(%kt: vector<1x32x32xf16>, %vt: vector<1x32x32xf16>, %qt: vector<1x64x32xf16>, %j: index,
         %acc: vector<64x32xf32>, %top: vector<64xf32>, %total: vector<64xf32>):
      %zero = pit.pointwise() tile [64, 32] maps [affine_map<(m, n) -> (m, n)>] : () -> vector<64x32xf32> {
      ^bb0(%m0: index, %n0: index):
        %z = arith.constant 0.0 : f32
        pit.yield %z : f32
      }
      %s = pit.contract %qt, %kt, %zero tile [64, 32, 32]
             maps [affine_map<(m, n, k) -> (0, m, k)>, affine_map<(m, n, k) -> (0, n, k)>, affine_map<(m, n, k) -> (m, n)>]
             : vector<1x64x32xf16>, vector<1x32x32xf16>, vector<64x32xf32> {
      ^bb0(%x: f16, %y: f16, %sum: f32):
        %xw = arith.extf %x : f16 to f32
        %yw = arith.extf %y : f16 to f32
        %p = arith.mulf %xw, %yw : f32
        %t = arith.addf %sum, %p : f32
        pit.yield %t : f32
      }
      %inside = pit.pointwise(%s) tile [64, 32]
                  maps [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>]
                  : (vector<64x32xf32>) -> vector<64x32xf32> {
      ^bb0(%m0: index, %n0: index, %x: f32):
        %low = arith.constant 0xFF800000 : f32
        %at = arith.addi %j, %n0 : index
        %is = arith.cmpi slt, %at, %k1 : index
        %y = arith.select %is, %x, %low : f32
        pit.yield %y : f32
      }
      %higher = pit.pointwise(%inside) reduces %top tile [64, 32]
                  maps [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>]
                  : (vector<64x32xf32>, vector<64xf32>) -> vector<64xf32> {
      ^bb0(%m0: index, %n0: index, %x: f32, %most: f32):
        %y = arith.maximumf %most, %x : f32
        pit.yield %y : f32
      }
      %powers = pit.pointwise(%inside, %higher) tile [64, 32]
                  maps [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>]
                  : (vector<64x32xf32>, vector<64xf32>) -> vector<64x32xf32> {
      ^bb0(%m0: index, %n0: index, %x: f32, %y: f32):
        %d = arith.subf %x, %y : f32
        %p = math.exp2 %d : f32
        pit.yield %p : f32
      }
      %scale = pit.pointwise(%top, %higher) tile [64]
                 maps [affine_map<(m) -> (m)>, affine_map<(m) -> (m)>, affine_map<(m) -> (m)>]
                 : (vector<64xf32>, vector<64xf32>) -> vector<64xf32> {
      ^bb0(%m0: index, %x: f32, %y: f32):
        %d = arith.subf %x, %y : f32
        %p = math.exp2 %d : f32
        pit.yield %p : f32
      }
      %less = pit.pointwise(%total, %scale) tile [64]
                maps [affine_map<(m) -> (m)>, affine_map<(m) -> (m)>, affine_map<(m) -> (m)>]
                : (vector<64xf32>, vector<64xf32>) -> vector<64xf32> {
      ^bb0(%m0: index, %x: f32, %y: f32):
        %p = arith.mulf %x, %y : f32
        pit.yield %p : f32
      }
      %total1 = pit.pointwise(%powers) reduces %less tile [64, 32]
                  maps [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>]
                  : (vector<64x32xf32>, vector<64xf32>) -> vector<64xf32> {
      ^bb0(%m0: index, %n0: index, %x: f32, %sum: f32):
        %y = arith.addf %sum, %x : f32
        pit.yield %y : f32
      }
      %p16 = pit.pointwise(%powers) tile [64, 32]
               maps [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>]
               : (vector<64x32xf32>) -> vector<64x32xf16> {
      ^bb0(%m0: index, %n0: index, %x: f32):
        %y = arith.truncf %x : f32 to f16
        pit.yield %y : f16
      }
      %scaled = pit.pointwise(%acc, %scale) tile [64, 32]
                  maps [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>]
                  : (vector<64x32xf32>, vector<64xf32>) -> vector<64x32xf32> {
      ^bb0(%m0: index, %n0: index, %x: f32, %y: f32):
        %p = arith.mulf %x, %y : f32
        pit.yield %p : f32
      }
      %acc1 = pit.contract %p16, %vt, %scaled tile [64, 32, 32]
                maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (0, k, n)>, affine_map<(m, n, k) -> (m, n)>]
                : vector<64x32xf16>, vector<1x32x32xf16>, vector<64x32xf32> {
      ^bb0(%x: f16, %y: f16, %sum: f32):
        %xw = arith.extf %x : f16 to f32
        %yw = arith.extf %y : f16 to f32
        %p = arith.mulf %xw, %yw : f32
        %t = arith.addf %sum, %p : f32
        pit.yield %t : f32
      }
      pit.yield %acc1, %higher, %total1 : vector<64x32xf32>, vector<64xf32>, vector<64xf32>
    } prologue {
      %zero = arith.constant 0.0 : f32
      %low = arith.constant 0xFF800000 : f32
      pit.yield %zero, %low, %zero : f32, f32, f32
    } epilogue {
    ^bb0(%sum: f32, %most: f32, %all: f32):
      %y = arith.divf %sum, %all : f32
      pit.yield %y : f32
    } extra_results {
    ^bb0(%sums: vector<64x32xf32>, %most: vector<64xf32>, %all: vector<64xf32>):
      %logs = pit.pointwise(%most, %all) tile [1, 64]
                maps [affine_map<(e, m) -> (m)>, affine_map<(e, m) -> (m)>, affine_map<(e, m) -> (e, m)>]
                : (vector<64xf32>, vector<64xf32>) -> vector<1x64xf32> {
      ^bb0(%e0: index, %m0: index, %x: f32, %y: f32):
        %log = math.log2 %y : f32
        %l = arith.addf %x, %log : f32
        pit.yield %l : f32
      }
      pit.store %logs into %lse[%e, %m : index, index] : vector<1x64xf32> into memref<?x?xf32>
      pit.yield
    }
    ```

    Constraints:

    - [mainloop 1] there are as many bounds as steps; steps and a chunk are positive;
    - [mainloop 2] there is a map for each extra;
    - [mainloop 3] it goes from the dims of the accumulators to sums of them times
      positive numbers, and has no symbols;
    - [mainloop 4] it reaches no element beyond the extra;
    - [mainloop 5] `load` yields views or `pit.coords`, and numbers behind them;
    - [mainloop 6] `compute` yields one accumulator or more, which it has carried or
      computed;
    - [mainloop 7] on tensors, for a CPU, it is a product: each accumulator is a
      `pit.contract` that adds two of the loaded tiles to it; all have the same `tile`,
      maps and region, and there is nothing else;
    - [mainloop 8] the regions take what they are said to take above;
    - [mainloop 9] each ends with a `pit.yield` of what it is said to yield;
    - [mainloop 10] `groups` stands with an index, steps, and no group for all
      of them;
    - [mainloop 11] `prologue` yields a value for each accumulator, `epilogue` one;
    - [mainloop 12] there is one subscript for each dimension of the
      destination;
    - [mainloop 13] on tensors the result has the type of the destination, on
      memrefs there is none;
    - [mainloop 14] only a memref is scanned, of which no groups add up
      elements, by tiles of whole words of bits;
    - [mainloop 15] tiles for all steps are views or `pit.coords`. `body` has as many
      positive extents as the destination has dims, and stands with a map in `sums` for
      each accumulator, which takes its dims once each, or 0; without it accumulators have
      one type, of as many dims;
    - [mainloop 16] `compute` has contractions, `pit.pointwise`s and `pit.store`s only;
    - [mainloop 17] `extra_results` has `pit.pointwise`s and `pit.store`s only;
    - [mainloop 18] in a `#pit.cpu_schedule` m, n, batch and k are the dimensions of the
      tile, each once, and `lane` is a dimension of the operand that lanes read;
    - [mainloop 19] a `#pit.gpu_schedule` of a product has producers if it has wgmma, and
      one of a tile body has nothing that it says of products alone.
  }], Pit_BitmapConstraints.text, Pit_ElementConstraints.text);
  let arguments = (ins
    Variadic<Index>:$lower,
    Variadic<Index>:$upper,
    Optional<Pit_IndexType>:$index,
    Variadic<Index>:$group,
    Variadic<AnyVectorOfAnyRank>:$invariants,
    Variadic<AnyVectorOfAnyRank>:$extras,
    Pit_TensorOrMemRef:$dest,
    Variadic<Pit_Subscript>:$subscripts,
    Optional<AnyStridedMemRef>:$bitmap,
    OptionalAttr<TypedAttrInterface>:$background,
    DenseI64ArrayAttr:$steps,
    DefaultValuedAttr<I64Attr, "0">:$chunk,
    AffineMapArrayAttr:$extra_maps,
    OptionalAttr<DenseI64ArrayAttr>:$result_tile,
    OptionalAttr<AffineMapArrayAttr>:$sum_maps,
    OptionalAttr<AtomicRMWKindAttr>:$combine,
    UnitAttr:$atomic,
    OptionalAttr<Pit_SchedulesAttr>:$schedules);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let regions = (region
    SizedRegion<1>:$load,
    SizedRegion<1>:$compute,
    SizedRegion<1>:$prologue,
    SizedRegion<1>:$epilogue,
    MaxSizedRegion<1>:$groups,
    MaxSizedRegion<1>:$extra_results);
  let assemblyFormat = [{
    ($lower^ `to` $upper)? `step` $steps
    (`in` $index^ `[` $group `]` `chunk` $chunk `:` qualified(type($index)))?
    (`invariants` `(` $invariants^ `:` type($invariants) `)`)?
    (`extras` `(` $extras^ `:` type($extras) `)` )? `extra_maps` $extra_maps
    `into` $dest `[` $subscripts `:` type($subscripts) `]`
    (`bitmap` `(` $bitmap^ `:` type($bitmap) `)`)? (`background` `(` $background^ `)`)?
    (`combine` `(` $combine^ `)`)? (`atomic` $atomic^)?
    (`body` $result_tile^ `sums` $sum_maps)?
    attr-dict `:` type($dest) (`->` type($result)^)?
    `load` $load `compute` $compute `prologue` $prologue `epilogue` $epilogue
    (`groups` $groups^)? (`extra_results` $extra_results^)?
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getDestMutable(); }
    /// How many tiles a step loads, and one of them that is a view.
    unsigned getNumLoaded();
    ViewOp getLoaded(unsigned view);
    /// Does a step add a contraction of what it loads to each accumulator, and compute
    /// nothing else? If not, what is said below of contractions is of no use.
    bool isProduct();
    /// The arguments of `compute`.
    Block::BlockArgListType getLoadedTiles();
    Block::BlockArgListType getInvariantTiles();
    Block::BlockArgListType getNumbers();
    Block::BlockArgListType getCarriedTiles();
    /// The last values of what it carries, as `extra_results` takes them.
    Block::BlockArgListType getLastTiles();
    /// The contractions, by accumulator.
    unsigned getNumAccumulators();
    ContractOp getContraction(unsigned accumulator = 0);
    /// The view that is operand 0 or 1 of a contraction, or one of its scales (3 on).
    unsigned getViewOf(unsigned accumulator, unsigned operand);
    ViewOp getOperandView(unsigned operand, unsigned accumulator = 0);
    /// The properties that all contractions share: how many scales, the iteration space, and
    /// the maps of operands 0 and 1, of the accumulator (2) and of the scales.
    unsigned getNumScales();
    ArrayRef<int64_t> getTile();
    AffineMap getMap(unsigned number);
    bool getTf32();
    /// The shape of what is written, which is an accumulator's without a `body`, and the
    /// type of the elements of a product's accumulators.
    ArrayRef<int64_t> getAccumulatorShape();
    Type getAccumulatorType();
    /// The maps from the dims of what is written to the elements of each accumulator.
    SmallVector<AffineMap> getElementMaps();
    /// The first of the schedules that is of a type, and that `takes` takes, or null.
    template <typename ScheduleT>
    ScheduleT findSchedule(llvm::function_ref<bool(ScheduleT)> takes = nullptr) {
      if (ArrayAttr schedules = getSchedulesAttr())
        for (Attribute attribute : schedules)
          if (auto schedule = llvm::dyn_cast<ScheduleT>(attribute);
              schedule && (!takes || takes(schedule)))
            return schedule;
      return {};
    }
    /// Adds a schedule that is better than all that there are, or behind them.
    void addSchedule(Attribute schedule, bool isBetter = false);
  }];
}

#endif // PIT_DIALECT_PIT_IR_PITMAINLOOPOP_TD
