//===- DotOperands.cpp - Operands of dot instructions ---------------------===//

#include "DotOperands.h"

#include "PackOperands.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cpu;

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

/// Bytes and rows of a tile register, lanes of its sums, and how many there
/// are.
static constexpr int64_t kTileBytes = 64, kTileRows = 16, kTileLanes = 16,
                         kTileRegisters = 8;

/// Is `compute` acc + ext(a) * ext(b) of elements whose sums a dot instruction
/// has?
static bool isDot(MainloopOp mainloop, Operation *extendA, Operation *extendB) {
  if (!extendA || !extendB)
    return false;
  auto types = [](Operation *op) {
    return std::pair(op->getOperand(0).getType(), op->getResult(0).getType());
  };
  for (Operation *extension : {extendA, extendB}) {
    auto [from, to] = types(extension);
    bool floats = from.isBF16() && to.isF32();
    if (!floats && !(from.isSignlessInteger(8) && to.isSignlessInteger(32)))
      return false;
  }
  Block &body = mainloop.getContraction().getBody().front();
  if (llvm::range_size(body.without_terminator()) != 4)
    return false;
  Operation *sum = body.getTerminator()->getOperand(0).getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(sum))
    return false;
  bool first = sum->getOperand(0) == body.getArgument(2);
  if (!first && sum->getOperand(1) != body.getArgument(2))
    return false;
  Operation *product = sum->getOperand(first).getDefiningOp();
  if (!isa_and_nonnull<arith::MulFOp, arith::MulIOp>(product))
    return false;
  Value x = product->getOperand(0), y = product->getOperand(1);
  Value a = extendA->getResult(0), c = extendB->getResult(0);
  return (x == a && y == c) || (x == c && y == a);
}

std::optional<DotPlan>
cpu::planDots(MainloopOp mainloop, const MainloopPlan &plan, CpuTarget target) {
  Operation *extendA = getExtension(mainloop, plan.a),
            *extendB = getExtension(mainloop, plan.b);
  if (!mainloop.getMap(plan.a).isProjectedPermutation() ||
      !mainloop.getMap(plan.b).isProjectedPermutation() || !plan.m ||
      plan.k.empty() || !isDot(mainloop, extendA, extendB))
    return std::nullopt;
  unsigned k = plan.k.back();
  if (!findDim(mainloop.getMap(plan.a), k) ||
      !findDim(mainloop.getMap(plan.b), k))
    return std::nullopt;
  DotPlan dots;
  dots.element = extendA->getOperand(0).getType();
  dots.amx = target.amx && plan.lanes == kTileLanes;
  if (!dots.amx) {
    // There are none of bf16 that are faster than to extend it, and those of i8
    // take one signed and one unsigned: pairs of i16 it is.
    if (!dots.element.isInteger(8))
      return std::nullopt;
    dots.element = IntegerType::get(mainloop.getContext(), 16);
  }
  int64_t bytes = dots.element.getIntOrFloatBitWidth() / CHAR_BIT;
  dots.group = 4 / bytes;
  dots.step = kTileBytes / bytes;
  // Half of what is computed would be zeros.
  if (dots.amx && mainloop.getTile()[k] < dots.step / 2)
    return std::nullopt;
  int64_t rows = mainloop.getTile()[*plan.m];
  dots.tiles = rows > kTileRows ? 2 : 1;
  dots.tileRows =
      std::min<int64_t>(kTileRows, llvm::divideCeil(rows, dots.tiles));
  dots.zextA = isa<arith::ExtUIOp>(extendA);
  dots.zextB = isa<arith::ExtUIOp>(extendB);
  return dots;
}

bool cpu::fitsDotTiles(const DotPlan &dots, int64_t vectors) {
  // The sums, and a row and a column of tiles of the operands.
  return dots.tiles * vectors + dots.tiles + vectors <= kTileRegisters;
}

//===----------------------------------------------------------------------===//
// A
//===----------------------------------------------------------------------===//

MemRefType cpu::getPackedRowsType(MainloopOp mainloop, const MainloopPlan &plan,
                                  unsigned last) {
  if (!plan.dots)
    return getPackedTileType(mainloop, plan, plan.a, last);
  AffineMap map = mainloop.getMap(plan.a);
  SmallVector<int64_t> shape;
  for (AffineExpr result : map.getResults()) {
    unsigned dim = cast<AffineDimExpr>(result).getPosition();
    if (dim != *plan.m && dim != plan.k.back())
      shape.push_back(mainloop.getTile()[dim]);
  }
  int64_t m = llvm::alignTo(mainloop.getTile()[*plan.m], plan.dotRows());
  int64_t k = llvm::alignTo(mainloop.getTile()[plan.k.back()], plan.dots->step);
  int64_t rows = plan.dots->amx ? plan.dotRows() : m;
  int64_t block = plan.dots->amx ? plan.dots->step : k;
  shape.append({m / rows, k / block, rows, block});
  return MemRefType::get(shape, plan.dots->element);
}

/// Elements as they are packed.
static Value widen(OpBuilder &b, Location loc, Value value, Type element,
                   bool isUnsigned) {
  if (getElementTypeOrSelf(value) == element)
    return value;
  Type type = element;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(element);
  if (isUnsigned)
    return arith::ExtUIOp::create(b, loc, type, value);
  return arith::ExtSIOp::create(b, loc, type, value);
}

namespace {

/// Packs a tile of A for dot instructions.
class RowsPacker : ArithEmitter {
public:
  RowsPacker(OpBuilder &b, Location loc, const RowsTile &rowsTile,
             const MainloopPlan &plan, Value packed)
      : ArithEmitter(b, loc), tile(rowsTile.access),
        m(*findDim(rowsTile.map, *plan.m)),
        k(*findDim(rowsTile.map, plan.k.back())), dots(*plan.dots),
        packed(packed),
        rows(cast<MemRefType>(packed.getType()).getShape().end()[-2]),
        block(cast<MemRefType>(packed.getType()).getShape().back()),
        element(getElementTypeOrSelf(tile.memref)),
        coordinates(tile.dims.size()) {}

  void run() { nest(0); }

private:
  void forRange(Value to, int64_t step, function_ref<void(Value)> body) {
    emitFor(b, loc, index(0), to, step, {}, [&](Value at, ValueRange) {
      body(at);
      return SmallVector<Value>();
    });
  }

  /// Loops over the dimensions but m and k.
  void nest(unsigned d) {
    if (d == tile.dims.size())
      return packMatrix();
    if (d == m || d == k)
      return nest(d + 1);
    forRange(tile.dims[d].limit, 1, [&](Value at) {
      coordinates[d] = coordinateInTensor(b, loc, tile.dims[d], at);
      position.push_back(at);
      nest(d + 1);
      position.pop_back();
    });
  }

  void packMatrix() {
    const TileDimension &along = tile.dims[k];
    bool last = k + 1 == tile.dims.size();
    auto type = cast<MemRefType>(tile.memref.getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    bool unit = last && succeeded(type.getStridesAndOffset(strides, offset)) &&
                strides.back() == 1;
    if (unit && !along.ids)
      return packRuns();
    if (!unit || !along.ids)
      return packElements();
    // A gather takes words: it needs as many elements in a row.
    int64_t inWord = 32 / element.getIntOrFloatBitWidth();
    Value enough =
        compare(arith::CmpIPredicate::sge, along.size, index(inWord));
    if (std::optional<int64_t> known = getConstantIntValue(enough))
      return *known ? packGathers(inWord) : packElements();
    ifThen(enough, [&] { packGathers(inWord); }, [&] { packElements(); });
  }

  void forRows(function_ref<void(Value)> body) {
    forRange(tile.dims[m].limit, 1, [&](Value row) {
      coordinates[m] = coordinateInTensor(b, loc, tile.dims[m], row);
      body(row);
    });
  }

  void store(Value value, Value at, Value row) {
    SmallVector<Value> to(position);
    to.append({div(row, rows), div(at, block), rem(row, rows), rem(at, block)});
    value = widen(b, loc, value, dots.element, dots.zextA);
    if (isa<VectorType>(value.getType()))
      vector::StoreOp::create(b, loc, value, packed, to);
    else
      memref::StoreOp::create(b, loc, value, packed, to);
  }
  Value maskFrom(Value at, int64_t lanes) {
    Value left = sub(tile.dims[k].limit, at);
    return vector::CreateMaskOp::create(
        b, loc, VectorType::get(lanes, b.getI1Type()), left);
  }

  /// Elements along k are neighbours.
  void packRuns() {
    auto type = VectorType::get(dots.step, element);
    forRows([&](Value row) {
      forRange(tile.dims[k].limit, dots.step, [&](Value at) {
        SmallVector<Value> from(coordinates);
        from[k] = add(tile.dims[k].start, at);
        Value value =
            vector::MaskedLoadOp::create(b, loc, type, tile.memref, from,
                                         maskFrom(at, dots.step), zero(type));
        store(value, at, row);
      });
    });
  }

  /// Elements of a row that ids choose. A gather of words takes an element and
  /// its neighbours to the right; at the end of the row, those to the left.
  void packGathers(int64_t inWord) {
    const TileDimension &along = tile.dims[k];
    constexpr int64_t lanes = 16;
    auto idType = VectorType::get(lanes, b.getI32Type());
    int64_t bits = element.getIntOrFloatBitWidth();
    Type narrow = b.getIntegerType(bits);
    auto splat = [&](Value value) -> Value {
      value = toI32(value);
      return vector::BroadcastOp::create(b, loc, idType, value);
    };
    Value size = splat(along.size),
          lastWord = splat(sub(along.size, index(inWord)));
    Value width = arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(idType, b.getI32IntegerAttr(bits)));
    forRange(along.limit, dots.step, [&](Value at) {
      SmallVector<Value> offsets, masks, shifts;
      for (int64_t v = 0; v < dots.step; v += lanes) {
        Value here = add(at, v);
        Value mask = maskFrom(here, lanes);
        Value ids = vector::MaskedLoadOp::create(b, loc, idType, along.ids,
                                                 add(along.start, here), mask,
                                                 zero(idType));
        Value inside = lessThan(ids, size);
        masks.push_back(logicalAnd(mask, inside));
        offsets.push_back(min(ids, lastWord));
        Value beyond = sub(ids, offsets.back());
        shifts.push_back(mul(beyond, width));
      }
      forRows([&](Value row) {
        Value base = addressOfRow();
        for (auto [v, offset] : llvm::enumerate(offsets)) {
          auto pointers = LLVM::GEPOp::create(
              b, loc, VectorType::get(lanes, base.getType()), narrow, base,
              ValueRange{offset});
          Value words = LLVM::masked_gather::create(
              b, loc, idType, pointers, masks[v], ValueRange{zero(idType)},
              bits / CHAR_BIT);
          words = arith::ShRUIOp::create(b, loc, words, shifts[v]);
          Value value = arith::TruncIOp::create(
              b, loc, VectorType::get(lanes, narrow), words);
          if (narrow != element)
            value = vector::BitCastOp::create(
                b, loc, VectorType::get(lanes, element), value);
          store(value, add(at, v * lanes), row);
        }
      });
    });
  }

  /// The place at which the row of `coordinates` begins.
  Value addressOfRow() {
    auto metadata =
        memref::ExtractStridedMetadataOp::create(b, loc, tile.memref);
    Value offset = metadata.getOffset();
    for (unsigned d = 0; d + 1 < tile.dims.size(); ++d)
      offset = add(offset, mul(coordinates[d], metadata.getStrides()[d]));
    offset = mul(offset, elementBytes(element));
    Value address =
        memref::ExtractAlignedPointerAsIndexOp::create(b, loc, tile.memref);
    address = arith::IndexCastOp::create(b, loc, b.getI64Type(),
                                         add(address, offset));
    return LLVM::IntToPtrOp::create(
        b, loc, LLVM::LLVMPointerType::get(b.getContext()), address);
  }

  void packElements() {
    const TileDimension &along = tile.dims[k];
    Value whole = mul(ceilDiv(along.limit, index(dots.step)), dots.step);
    Value end = sub(along.limit, index(1));
    forRange(whole, 1, [&](Value at) {
      // Elements beyond the last one, and absent ids, read as 0.
      Value exists = lessThan(at, along.limit);
      Value inside;
      coordinates[k] = coordinateInTensor(b, loc, along, min(at, end), &inside);
      if (inside)
        exists = logicalAnd(exists, inside);
      forRows([&](Value row) {
        Value value = memref::LoadOp::create(b, loc, tile.memref, coordinates);
        value = select(exists, value, zero(element));
        store(value, at, row);
      });
    });
  }

  const TileAccess &tile;
  unsigned m, k; ///< dimensions of the tile
  const DotPlan &dots;
  Value packed;
  int64_t rows, block; ///< of m and k, in `packed`
  Type element;
  SmallVector<Value> coordinates; ///< in the tensor
  SmallVector<Value> position;    ///< in `packed`, before [m / rows]
};

} // namespace

void cpu::packRows(OpBuilder &b, MainloopOp mainloop, const MainloopPlan &plan,
                   const RowsTile &tile, Value packed) {
  if (!plan.dots)
    return packTile(b, mainloop.getLoc(), tile.access,
                    describeTile(mainloop, plan, plan.a, tile.last), packed);
  RowsPacker(b, mainloop.getLoc(), tile, plan, packed).run();
}

//===----------------------------------------------------------------------===//
// B
//===----------------------------------------------------------------------===//

bool cpu::canGroupPanels(MainloopOp mainloop, const MainloopPlan &plan) {
  if (!plan.dots || plan.transposeB)
    return false;
  ViewOp view = mainloop.getOperandView(plan.b, plan.accumulator);
  unsigned dim = plan.k.back(), d = *findDim(mainloop.getMap(plan.b), dim);
  int64_t extent = mainloop.getTile()[dim], step = plan.dots->step,
          size = cast<MemRefType>(view.getSrc().getType()).getDimSize(d);
  Value k = view.getSubscripts()[d];
  bool aligned = extent % step == 0;
  if (matchPattern(k, m_Zero()))
    return aligned || (!ShapedType::isDynamic(size) && size <= extent);
  auto iv = dyn_cast<BlockArgument>(k);
  if (!iv || iv.getOwner() != &mainloop.getLoad().front() ||
      iv.getArgNumber() >= mainloop.getSteps().size())
    return false;
  unsigned i = iv.getArgNumber();
  return aligned && mainloop.getSteps()[i] % step == 0 &&
         matchPattern(mainloop.getLower()[i], m_Zero());
}

/// Vectors of one row each to one that has their elements in transposes.
static Value interleaveRows(OpBuilder &b, Location loc, ArrayRef<Value> rows) {
  if (rows.size() == 1)
    return rows.front();
  SmallVector<Value> even, odd;
  for (auto [i, row] : llvm::enumerate(rows))
    (i % 2 ? odd : even).push_back(row);
  return vector::InterleaveOp::create(b, loc, interleaveRows(b, loc, even),
                                      interleaveRows(b, loc, odd));
}

void cpu::packGroups(OpBuilder &b, Location loc, const DotPlan &dots,
                     const ColumnsPart &part,
                     function_ref<Value(Value row, Value mask)> load,
                     function_ref<void(Value number, Value elements)> store) {
  ArithEmitter e(b, loc);
  auto groupsOf = [&](Value rows) { return e.div(rows, dots.group); };
  Value last = e.sub(part.length, e.index(1));
  auto forGroups = [&](Value from, Value to, bool whole) {
    e.forEach(from, to, e.index(1), [&](Value number) {
      Value first = e.mul(number, dots.group);
      SmallVector<Value> rows;
      for (int64_t i = 0; i < dots.group; ++i) {
        Value row = e.add(first, i), mask;
        if (!whole) {
          // None of a row that does not exist.
          Value exists = e.lessThan(row, part.length);
          Value lanes = e.select(exists, part.width, e.index(0));
          mask = vector::CreateMaskOp::create(
              b, loc, VectorType::get(part.type.getShape(), b.getI1Type()),
              lanes);
          row = e.min(row, last);
        }
        rows.push_back(
            widen(b, loc, load(row, mask), dots.element, dots.zextB));
      }
      store(number, interleaveRows(b, loc, rows));
    });
  };
  Value isWhole = e.compare(arith::CmpIPredicate::sge, part.width,
                            e.index(part.type.getNumElements()));
  Value whole = e.select(isWhole, groupsOf(part.length), e.index(0));
  forGroups(e.index(0), whole, /*whole=*/true);
  forGroups(whole, groupsOf(part.padded), /*whole=*/false);
}
