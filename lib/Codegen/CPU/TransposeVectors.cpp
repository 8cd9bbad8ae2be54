//===- TransposeVectors.cpp - Rows to columns, in registers ---------------===//
//
// Processors interleave elements within 128 bits of a vector by one cheap
// instruction, and move such segments by another. So the segments are
// transposed first, each for itself, and then they change places.
//
//===----------------------------------------------------------------------===//

#include "TransposeVectors.h"

#include "Codegen/Common/RuntimeCalls.h"
#include "PackOperands.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cpu;

static constexpr int64_t kSegmentBits = 128;
/// To gather an element costs as much as to transpose this many (measured,
/// docs/performance/cpu-transposed.md).
static constexpr int64_t kTransposesToGather = 6;
/// Columns that one iteration transposes.
static constexpr int64_t kColumns = 64;

SmallVector<Value> cpu::transposeVectors(OpBuilder &b, Location loc,
                                         ArrayRef<Value> from) {
  int64_t lanes = from.size();
  auto type = cast<VectorType>(from.front().getType());
  int64_t segment = std::min<int64_t>(
      lanes, kSegmentBits / type.getElementType().getIntOrFloatBitWidth());
  SmallVector<Value> rows(from);
  auto shuffle = [&](Value x, Value y, function_ref<int64_t(int64_t)> pick) {
    auto picks = llvm::map_to_vector(llvm::seq(lanes), pick);
    return vector::ShuffleOp::create(b, loc, x, y, picks).getResult();
  };
  // A round of interleaving moves one bit of the row's number to the column's.
  for (int64_t round = 1; round < segment; round *= 2) {
    SmallVector<Value> next;
    for (int64_t group = 0; group < lanes; group += segment)
      for (int64_t i = 0; i < segment / 2; ++i)
        for (int64_t half : {0, 1}) {
          Value x = rows[group + i], y = rows[group + i + segment / 2];
          next.push_back(shuffle(x, y, [&](int64_t to) {
            int64_t within = to % segment;
            return to - within + half * segment / 2 + within / 2 +
                   within % 2 * lanes;
          }));
        }
    rows = next;
  }
  for (int64_t distance = segment; distance < lanes; distance *= 2)
    for (int64_t i = 0; i < lanes; ++i) {
      if (i & distance)
        continue;
      Value x = rows[i], y = rows[i + distance];
      rows[i] = shuffle(x, y, [&](int64_t to) {
        return to & distance ? to - distance + lanes : to;
      });
      rows[i + distance] = shuffle(x, y, [&](int64_t to) {
        return to & distance ? to + lanes : to + distance;
      });
    }
  return rows;
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

namespace {

class MatrixTransposer : ArithEmitter {
public:
  MatrixTransposer(OpBuilder &b, Location loc, const Matrix &from,
                   const Matrix &to, const Transposition &how)
      : ArithEmitter(b, loc), lanes(how.lanes), from(from), to(to),
        rows(how.rows), columns(how.columns), extension(how.extension),
        type(VectorType::get(lanes, getElementTypeOrSelf(from.memref))) {}

  void run() {
    Value whole = roundDown(columns);
    auto squares = [&](Value first, Value end, bool last) {
      forLanes(first, end, [&](Value row) {
        Value left = last ? sub(rows, row) : Value();
        forLanes(index(0), whole, [&](Value column) {
          transposeSquare(row, column, left, Value());
        });
        forLanes(whole, columns, [&](Value column) {
          transposeSquare(row, column, left, sub(columns, column));
        });
      });
    };
    if (!to.exact)
      return squares(index(0), rows, /*last=*/false);
    Value end = roundDown(rows);
    squares(index(0), end, /*last=*/false);
    squares(end, rows, /*last=*/true);
  }

private:
  Value roundDown(Value value) { return sub(value, rem(value, lanes)); }
  void forLanes(Value first, Value end, function_ref<void(Value)> body) {
    emitFor(b, loc, first, end, lanes, {}, [&](Value at, ValueRange) {
      body(at);
      return SmallVector<Value>();
    });
  }
  Value mask(Value left) {
    return vector::CreateMaskOp::create(b, loc, type.clone(b.getI1Type()),
                                        left);
  }

  /// Transposes a square of lanes. Not all of its columns exist where
  /// `columnsLeft` says how many do; of its rows, those beyond the last one are
  /// the last one, and are not stored where `rowsLeft` is given.
  void transposeSquare(Value row, Value column, Value rowsLeft,
                       Value columnsLeft) {
    Value lastRow = sub(rows, index(1)), lastColumn = sub(columns, index(1));
    Value zero = ArithEmitter::zero(type),
          loaded = columnsLeft ? mask(columnsLeft) : Value(),
          stored = rowsLeft ? mask(rowsLeft) : Value();
    SmallVector<Value> square;
    for (int64_t i = 0; i < lanes; ++i) {
      SmallVector<Value> at = from.at(min(add(row, i), lastRow), column);
      if (loaded)
        square.push_back(vector::MaskedLoadOp::create(b, loc, type, from.memref,
                                                      at, loaded, zero));
      else
        square.push_back(vector::LoadOp::create(b, loc, type, from.memref, at));
    }
    for (Value &each : square)
      each = extend(b, extension, each);
    square = transposeVectors(b, loc, square);
    // Columns beyond the last one become the last one, which is stored later.
    for (int64_t i = lanes; i-- > 0;) {
      Value next = add(column, i);
      SmallVector<Value> at =
          to.at(columnsLeft ? min(next, lastColumn) : next, row);
      if (stored)
        vector::MaskedStoreOp::create(b, loc, to.memref, at, stored, square[i]);
      else
        vector::StoreOp::create(b, loc, square[i], to.memref, at);
    }
  }

  int64_t lanes;
  const Matrix &from, &to;
  Value rows, columns;
  Operation *extension;
  VectorType type; ///< of what is read
};

} // namespace

void cpu::transposeMatrix(OpBuilder &b, Location loc, const Matrix &from,
                          const Matrix &to, const Transposition &how) {
  MatrixTransposer(b, loc, from, to, how).run();
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

namespace {

/// Transposes operand A of a mainloop.
class RowsTransposer : OperandPacker {
public:
  RowsTransposer(OpBuilder &b, const PackedMainloop &of)
      : OperandPacker(b, of, of.plan.a), rank(view.getSubscripts().size()),
        element(getElementTypeOrSelf(view.getSrc())) {}

  TransposedRows run() {
    if (!match())
      return {};
    Value isProfitable = isReadMoreThan(b, reads(), /*times=*/1,
                                        /*in=*/index(kTransposesToGather));
    if (matchPattern(isProfitable, m_Zero()))
      return {};
    for (unsigned d = 0; d < rank; ++d)
      sizes.push_back(memref::DimOp::create(b, loc, view.getSrc(), d));
    allocate();
    ifThen(isProfitable, [&] { emitLoops(); });
    return {transposed, last, isProfitable};
  }

private:
  /// Ids choose elements along the last dimension, and k is another one, or m:
  /// then dot instructions, which take neighbours along k, would have to gather
  /// all the same, and a single read costs less as it is.
  bool match() {
    AffineMap map = mainloop.getMap(plan.a);
    if (!plan.packA || plan.k.empty() || !map.isProjectedPermutation() ||
        !isa<IdsType>(view.getSubscripts().back().getType()) ||
        isInside(view.getSrc()) ||
        !cast<MemRefType>(view.getSrc().getType()).getLayout().isIdentity())
      return false;
    std::optional<unsigned> found = findDim(map, plan.k.back());
    if (found && *found + 1 == rank && plan.m && !plan.dots && isReused())
      found = findDim(map, *plan.m);
    if (!found || *found + 1 == rank)
      return false;
    last = *found;
    return true;
  }

  /// Rows end with a line that is not used, so that they fall into all sets of
  /// a cache.
  void allocate() {
    int64_t line = CpuTarget::lineBytes / elementBytes(element);
    SmallVector<Value> extents;
    for (unsigned d = 0; d < rank; ++d)
      if (d != last)
        extents.push_back(sizes[d]);
    Value lines = div(add(sizes[last], index(2 * line - 1)), line);
    extents.push_back(mul(lines, line));
    Value bytes = index(elementBytes(element));
    for (Value extent : extents)
      bytes = mul(bytes, extent);
    transposed =
        memrefAt(b, loc, allocateBytes(b, loc, function, bytes),
                 MemRefType::get(
                     SmallVector<int64_t>(rank, ShapedType::kDynamic), element),
                 extents);
  }

  void emitLoops() {
    SmallVector<Value> lower(rank - 1, index(0)), upper, steps;
    for (unsigned d = 0; d < rank; ++d)
      if (d != last) {
        upper.push_back(sizes[d]);
        steps.push_back(index(d + 1 == rank ? kColumns : 1));
      }
    auto parallel = scf::ParallelOp::create(b, loc, lower, upper, steps);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(parallel.getBody());
    SmallVector<Value> others(parallel.getInductionVars());
    Value first = others.pop_back_val();
    Value length = min(sub(sizes.back(), first), index(kColumns));
    auto rowOfA = [&](Value row, Value column) {
      SmallVector<Value> at(others);
      at.insert(at.begin() + last, row);
      at.push_back(add(first, column));
      return at;
    };
    auto rowOfTransposed = [&](Value row, Value column) {
      SmallVector<Value> at(others);
      at.append({add(first, row), column});
      return at;
    };
    transposeMatrix(b, loc, {view.getSrc(), rowOfA},
                    {transposed, rowOfTransposed},
                    {sizes[last], length, plan.lanes});
  }

  unsigned rank;
  unsigned last = 0; ///< dimension of A, as in TransposedRows
  Type element;
  SmallVector<Value> sizes; ///< of A
  Value transposed;
};

} // namespace

TransposedRows cpu::transposeRows(OpBuilder &builder,
                                  const PackedMainloop &of) {
  return RowsTransposer(builder, of).run();
}
