//===- PackPanels.cpp - Operands in panels that lanes read ----------------===//

#include "PackOperands.h"

#include "Codegen/Common/RuntimeCalls.h"
#include "DotOperands.h"
#include "TransposeVectors.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cpu;

/// Packing an element costs about as much as reading it in place for so many
/// rows of A does more than reading it packed (measured,
/// docs/performance/cpu-contractions.md): a panel in place hardly stays in a
/// cache from one block of rows to the next.
static constexpr int64_t kRowsToPack = 48;
/// Coming by an element costs no less than for so many rows.
static constexpr int64_t kLeastRows = 32;
/// If no more tiles of A than this meet an element of B, on average, elements
/// of another order are packed tile by tile: what nobody reads is not packed,
/// and a packed tile stays in the caches (measured,
/// docs/performance/cpu-contractions.md).
static constexpr int64_t kTilesToPack = 1;
/// Lines whose addresses differ by a multiple of this fall into the same set of
/// the first cache.
static constexpr int64_t kSetBytes = CpuTarget::l1Bytes / 8;
/// A panel in place that takes no more of the second cache than this is still
/// there for the next tile.
static constexpr int64_t kPlaceBytes = CpuTarget::l2Bytes / 2;
/// Elements that are widened are packed, all of B, if they are read for more
/// rows of A than this, on average, by tiles of so many rows at least
/// (measured, docs/performance/few-rows.md).
static constexpr int64_t kRowsToWiden = 64, kLeastRowsToWiden = 16;
/// Rows that one iteration packs.
static constexpr int64_t kRows = 64;

namespace {

class PanelPacker : OperandPacker {
public:
  PanelPacker(OpBuilder &b, const PackedMainloop &of)
      : OperandPacker(b, of, of.plan.b), map(mainloop.getMap(plan.b)),
        n(plan.lane) {}

  PackedPanels run() {
    if (!match())
      return {};
    grouped = canGroupPanels(mainloop, plan);
    extension = plan.dots ? nullptr : getExtension(mainloop, plan.b);
    element = grouped     ? plan.dots->element
              : extension ? extension->getResult(0).getType()
                          : getElementTypeOrSelf(view.getSrc());
    // Elements that are read once are widened as they are read.
    if (extension && !plan.transposeB && !isReused())
      return {};
    for (unsigned d = 0; d < map.getNumResults(); ++d)
      sizes.push_back(
          b.createOrFold<memref::DimOp>(loc, view.getSrc(), index(d)));
    // Elements of another type or order are not read in place again and again.
    bool widens = extension && !plan.transposeB;
    Value isProfitable =
        canPackTiles() ? isReadMoreThan(b, reads(), kTilesToPack)
        : widens       ? isReadMoreThan(b, reads(), kRowsToWiden,
                                        /*in=*/rows(kLeastRowsToWiden))
        : grouped || plan.transposeB
            ? constant(true)
            : logicalAnd(isSlowInPlace(),
                         isReadMoreThan(b, reads(), kRowsToPack,
                                        /*in=*/rows(kLeastRows)));
    bool keeps = mayBeConstant(view.getSrc());
    if (!keeps && matchPattern(isProfitable, m_Zero()))
      return {};
    panels = ceilDiv(sizes[n], index(plan.panel()));
    Value bytes = packedBytes();
    std::optional<KeptBytes> kept;
    Value packs = isProfitable, pointer;
    if (keeps) {
      // Panels that are kept are worth it, and are packed at most once.
      kept = keepBytes(b, loc, function, view.getSrc(), layout(), bytes,
                       isProfitable);
      pointer = kept->pointer;
      isProfitable = bitOr(isProfitable, kept->isKept);
      packs = logicalAnd(isProfitable, bitXor(kept->isReady, constant(true)));
    } else {
      pointer = allocateBytes(b, loc, function, bytes);
    }
    Value packed = panelsAt(pointer);
    ifThen(packs, [&] {
      emitLoops(packed);
      if (kept)
        publishBytes(b, loc, function, *kept);
    });
    if (grouped)
      return {packed, /*extended=*/false, /*grouped=*/true};
    packed = withStrides(packed);
    if (!extension && !plan.transposeB)
      packed = select(isProfitable, packed, inPlace());
    bool mayLack =
        (canPackTiles() || widens) && !matchPattern(isProfitable, m_One());
    return {packed, extension != nullptr, /*grouped=*/false,
            mayLack ? isProfitable : Value(), /*inPlace=*/widens};
  }

private:
  Value constant(bool value) {
    return arith::ConstantIntOp::create(b, loc, value, 1);
  }
  /// Rows of a tile of A, by what reading an element for them costs: there may
  /// be fewer than the tile has room for.
  Value rows(int64_t least) {
    if (!plan.m)
      return index(least);
    int64_t rows = std::max(mainloop.getTile()[*plan.m], least);
    Value dest = mainloop.getDest();
    std::optional<unsigned> d = findDim(mainloop.getMap(2), *plan.m);
    if (!d || isInside(dest) ||
        isa<IdsType>(mainloop.getSubscripts()[*d].getType()))
      return index(rows);
    Value all = b.createOrFold<memref::DimOp>(loc, dest, index(*d));
    all = b.createOrFold<arith::MaxUIOp>(loc, all, index(least));
    return b.createOrFold<arith::MinUIOp>(loc, all, index(rows));
  }

  /// Can tiles be packed where they are read, and found as panels are? If lanes
  /// are transposed in C, too, ids choose columns: many tiles, each of a few of
  /// them, meet an element (0.93 of the speed with B along k at 99 %).
  bool canPackTiles() {
    return plan.transposeB && !plan.transposeC && !plan.dots &&
           llvm::none_of(view.getSubscripts().getTypes(),
                         llvm::IsaPred<IdsType>);
  }

  /// Is a panel read slowly where it lies? An i1. So it is if its rows all meet
  /// in the same sets of the first cache, or leave the second one before the
  /// next tile reads them: rows that are a multiple of a power of two apart
  /// reach only as many sets as if each took all of that. Else a packed panel
  /// is not read faster, however often (measured,
  /// docs/performance/cpu-contractions.md).
  Value isSlowInPlace() {
    int64_t bytes = elementBytes(element);
    Value apart = index(bytes);
    for (unsigned d = k + 1; d < sizes.size(); ++d)
      apart = mul(apart, sizes[d]);
    Value negative = sub(index(0), apart);
    Value power = logicalAnd(apart, negative);
    Value meet = compare(arith::CmpIPredicate::uge, power, index(kSetBytes));
    power =
        b.createOrFold<arith::MaxUIOp>(loc, power, index(plan.panel() * bytes));
    Value leave = compare(arith::CmpIPredicate::ugt, mul(power, sizes[k]),
                          index(kPlaceBytes));
    return bitOr(meet, leave);
  }

  /// The operand lies outside of the loop, and is cut into panels by its tiles.
  bool match() {
    Value src = view.getSrc();
    auto type = cast<MemRefType>(src.getType());
    if (plan.lanes == 1 || plan.k.empty() || plan.packB ||
        !findDim(map, plan.k.back()) || isInside(src) ||
        !type.getLayout().isIdentity())
      return false;
    k = *findDim(map, plan.k.back());
    Value columns = view.getSubscripts()[n];
    if (matchPattern(columns, m_Zero()))
      return true;
    auto iv = dyn_cast<BlockArgument>(columns);
    auto around =
        iv ? dyn_cast<ForallOp>(iv.getOwner()->getParentOp()) : ForallOp();
    if (!around || iv.getArgNumber() >= around.getSteps().size())
      return false;
    return matchPattern(around.getLower()[iv.getArgNumber()], m_Zero()) &&
           around.getSteps()[iv.getArgNumber()] % plan.panel() == 0;
  }

  /// So many rows, and in groups those up to the end of a step.
  Value padded(Value rows) {
    if (!grouped)
      return rows;
    Value steps = ceilDiv(rows, index(plan.dots->step));
    return mul(steps, plan.dots->step);
  }

  int64_t group() { return grouped ? plan.dots->group : 1; }

  /// The sizes of [others of B][panels][k / group][columns * group], all but
  /// the last one.
  SmallVector<Value> packedSizes() {
    SmallVector<Value> packed;
    for (unsigned d : others())
      packed.push_back(sizes[d]);
    packed.append({panels, div(padded(sizes[k]), group())});
    return packed;
  }

  Value packedBytes() {
    Value bytes = index(plan.panel() * group() * elementBytes(element));
    for (Value size : packedSizes())
      bytes = mul(bytes, size);
    return bytes;
  }

  Value panelsAt(Value pointer) {
    SmallVector<int64_t> shape(sizes.size() + 1, ShapedType::kDynamic);
    shape.back() = plan.panel() * group();
    return memrefAt(b, loc, pointer, MemRefType::get(shape, element),
                    packedSizes());
  }

  /// All that panels depend on.
  SmallVector<Value> layout() {
    // A number for each layout that some pass packs.
    constexpr int64_t kPanels = 1;
    auto word = [&](int64_t value) -> Value {
      return arith::ConstantIntOp::create(b, loc, b.getI64Type(), value);
    };
    int64_t how = !extension ? 0 : isa<arith::ExtUIOp>(extension) ? 2 : 1;
    if (grouped && element != getElementTypeOrSelf(view.getSrc()))
      how = plan.dots->zextB ? 2 : 1;
    SmallVector<Value> words = {
        word(kPanels),
        word(dtypeWord(getElementTypeOrSelf(view.getSrc()))),
        word(dtypeWord(element)),
        word(how),
        word(plan.panel()),
        word(group()),
        word(grouped ? plan.dots->step : 1),
        word(k),
        word(n)};
    for (Value size : sizes)
      words.push_back(arith::IndexCastOp::create(b, loc, b.getI64Type(), size));
    return words;
  }

  /// The same with a type that leaves strides open.
  Value asPanels(Value memref, ArrayRef<OpFoldResult> strides) {
    SmallVector<OpFoldResult> extents;
    for (unsigned d : others())
      extents.push_back(sizes[d]);
    extents.append({panels, sizes[k], b.getIndexAttr(plan.panel())});
    SmallVector<int64_t> shape(extents.size(), ShapedType::kDynamic),
        open(extents.size(), ShapedType::kDynamic);
    shape.back() = plan.panel();
    open.back() = 1;
    auto type = MemRefType::get(
        shape, element, StridedLayoutAttr::get(b.getContext(), 0, open));
    return memref::ReinterpretCastOp::create(
        b, loc, type, memref, b.getIndexAttr(0), extents, strides);
  }

  Value withStrides(Value packed) {
    auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, packed);
    SmallVector<OpFoldResult> strides(metadata.getStrides());
    strides.back() = b.getIndexAttr(1);
    return asPanels(packed, strides);
  }

  Value inPlace() {
    auto metadata =
        memref::ExtractStridedMetadataOp::create(b, loc, view.getSrc());
    SmallVector<OpFoldResult> strides;
    for (unsigned d : others())
      strides.push_back(metadata.getStrides()[d]);
    strides.append({b.getIndexAttr(plan.panel()),
                    OpFoldResult(metadata.getStrides()[k]), b.getIndexAttr(1)});
    return asPanels(view.getSrc(), strides);
  }

  /// One panel, at a point of the other dimensions of B.
  struct PanelPart {
    ValueRange others; ///< the point
    Value panel;       ///< its number
    Value column;      ///< its first one in B
    Value left;        ///< columns that exist, perhaps more than it has
  };

  void emitLoops(Value packed) {
    SmallVector<Value> lower, upper, steps;
    auto dimension = [&](Value size, int64_t step) {
      lower.push_back(index(0));
      upper.push_back(size);
      steps.push_back(index(step));
    };
    for (unsigned d : others())
      dimension(sizes[d], 1);
    // All panels of some rows in transpose: their pages stay known.
    dimension(sizes[k], kRows);
    dimension(panels, 1);
    auto parallel = scf::ParallelOp::create(b, loc, lower, upper, steps);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(parallel.getBody());
    SmallVector<Value> ivs(parallel.getInductionVars());
    Value panel = ivs.pop_back_val(), first = ivs.pop_back_val();
    Value end = add(first, kRows);
    end = min(end, sizes[k]);
    Value column = mul(panel, plan.panel());
    Value left = sub(sizes[n], column);
    PanelPart part{ivs, panel, column, left};
    if (plan.transposeB || grouped) {
      Value length = sub(end, first);
      return plan.transposeB ? moveTransposed(packed, part, first, length)
                             : moveGroups(packed, part, first, length);
    }
    auto rows = [&](bool whole) {
      forEach(first, end, index(1), [&](Value row) {
        for (int64_t v = 0; v < plan.vectors; ++v)
          move(packed, part, row, v, whole);
      });
    };
    Value isWhole =
        compare(arith::CmpIPredicate::sge, left, index(plan.panel()));
    ifThen(isWhole, [&] { rows(true); }, [&] { rows(false); });
  }

  /// The place of element [others][row][column] of B.
  SmallVector<Value> positionOf(ValueRange others, Value row, Value column) {
    SmallVector<Value> from;
    for (unsigned d = 0, other = 0; d < sizes.size(); ++d)
      from.push_back(d == k ? row : d == n ? column : others[other++]);
    return from;
  }

  /// Dimensions of B but k and n.
  SmallVector<unsigned> others() {
    SmallVector<unsigned> result;
    for (unsigned d = 0; d < map.getNumResults(); ++d)
      if (d != k && d != n)
        result.push_back(d);
    return result;
  }

  /// Moves `length` rows of a panel whose columns are no neighbours. If each of
  /// them is in one piece, squares of lanes are transposed.
  void moveTransposed(Value packed, const PanelPart &part, Value first,
                      Value length) {
    Value width = min(part.left, index(plan.panel()));
    auto inColumns = [&](Value at, Value row) {
      return positionOf(part.others, add(first, row), add(part.column, at));
    };
    auto inPanel = [&](Value row, Value at) {
      SmallVector<Value> to(part.others);
      to.append({part.panel, add(first, row), at});
      return to;
    };
    if (k + 1 == sizes.size())
      return transposeMatrix(b, loc, {view.getSrc(), inColumns},
                             {packed, inPanel},
                             {width, length, plan.lanes, extension});
    emitFor(b, loc, index(0), length, 1, {}, [&](Value row, ValueRange) {
      emitFor(b, loc, index(0), width, 1, {}, [&](Value at, ValueRange) {
        Value value =
            memref::LoadOp::create(b, loc, view.getSrc(), inColumns(at, row));
        memref::StoreOp::create(b, loc, extend(b, extension, value), packed,
                                inPanel(row, at));
        return SmallVector<Value>();
      });
      return SmallVector<Value>();
    });
  }

  /// Moves `length` rows of a panel in groups.
  void moveGroups(Value packed, const PanelPart &part, Value first,
                  Value length) {
    auto type =
        VectorType::get(plan.panel(), getElementTypeOrSelf(view.getSrc()));
    Value group = index(plan.dots->group);
    Value firstGroup = div(first, group);
    packGroups(
        b, loc, *plan.dots, {type, part.left, length, padded(length)},
        [&](Value row, Value mask) -> Value {
          row = add(first, row);
          SmallVector<Value> from = positionOf(part.others, row, part.column);
          if (!mask)
            return vector::LoadOp::create(b, loc, type, view.getSrc(), from);
          return vector::MaskedLoadOp::create(b, loc, type, view.getSrc(), from,
                                              mask, zero(type));
        },
        [&](Value number, Value elements) {
          SmallVector<Value> to(part.others);
          to.append({part.panel, add(firstGroup, number), index(0)});
          vector::StoreOp::create(b, loc, elements, packed, to);
        });
  }

  /// Moves vector `v` of a row of a panel, all of whose columns exist if it is
  /// `whole`.
  void move(Value packed, const PanelPart &part, Value row, int64_t v,
            bool whole) {
    SmallVector<Value> to(part.others),
        from = positionOf(part.others, row, add(part.column, v * plan.lanes));
    to.append({part.panel, row, index(v * plan.lanes)});
    auto type =
        VectorType::get(plan.lanes, getElementTypeOrSelf(view.getSrc()));
    Value value;
    if (!whole) {
      Value rest = sub(part.left, index(v * plan.lanes));
      Value mask =
          vector::CreateMaskOp::create(b, loc, type.clone(b.getI1Type()), rest);
      value = vector::MaskedLoadOp::create(b, loc, type, view.getSrc(), from,
                                           mask, zero(type));
    } else {
      value = vector::LoadOp::create(b, loc, type, view.getSrc(), from);
    }
    vector::StoreOp::create(b, loc, extend(b, extension, value), packed, to);
  }

  AffineMap map;

  unsigned k = 0, n;              ///< dimensions of B
  bool grouped = false;           ///< rows as dot instructions need them
  Operation *extension = nullptr; ///< of B's elements, if there is one
  Type element;                   ///< of what is packed
  SmallVector<Value> sizes;       ///< of B
  Value panels;                   ///< how many
};

} // namespace

PackedPanels cpu::packPanels(OpBuilder &builder, const PackedMainloop &of) {
  return PanelPacker(builder, of).run();
}
