//===- TransposedTiles.cpp - Tiles that are copied transposed -------------===//

#include "TransposedTiles.h"

#include "Emitter.h"

#include "pit/Dialect/Pit/IR/TileExtents.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// Bytes that a thread moves at once: a piece of a row.
static constexpr int64_t kPieceBytes = 16;
/// Pieces that a thread reads before it stores the first of them.
static constexpr int64_t kPiecesAtOnce = 4;

//===----------------------------------------------------------------------===//
// Which tiles
//===----------------------------------------------------------------------===//

/// The dimension of the input that the op exchanges with the last one, if it
/// does that and nothing else.
std::optional<TransposedTiles::Exchange>
TransposedTiles::findExchange(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      !op.hasPureBufferSemantics() ||
      op.getNumParallelLoops() != op.getNumLoops())
    return std::nullopt;
  Block *body = op.getBlock();
  if (body->getTerminator()->getOperand(0) != body->getArgument(0) ||
      !llvm::hasSingleElement(*body))
    return std::nullopt;
  AffineMap from = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
  AffineMap to = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  unsigned rank = from.getNumResults();
  // The order is one of loops that are the result's places.
  bool inFragments = false;
  AffineExpr last = getAffineDimExpr(rank - 1, op.getContext());
  SmallVector<AffineExpr> places(from.getResults());
  for (AffineExpr &place : places)
    if (to.isIdentity() && place == fromFragmentOrder(last)) {
      inFragments = true;
      place = last;
    }
  from = AffineMap::get(from.getNumDims(), 0, places, op.getContext());
  if (!from.isPermutation() || !to.isPermutation() || rank < 2)
    return std::nullopt;
  std::optional<unsigned> exchanged;
  for (unsigned d = 0; d + 1 < rank; ++d)
    if (from.getResult(d) != to.getResult(d)) {
      if (exchanged)
        return std::nullopt;
      exchanged = d;
    }
  if (!exchanged)
    return std::nullopt;
  return Exchange{*exchanged, inFragments};
}

/// Does a tensor hold the elements of its rows without gaps?
static bool hasRows(Value tensor) {
  SmallVector<int64_t> strides;
  int64_t offset;
  auto type = cast<MemRefType>(tensor.getType());
  return succeeded(type.getStridesAndOffset(strides, offset)) &&
         !strides.empty() && strides.back() == 1;
}

/// Can the tile be moved in pieces that are permuted within rows?
static bool hasPieces(MemRefType tile, unsigned dim) {
  Type element = tile.getElementType();
  if (!hasVectors(element) || !tile.getLayout().isIdentity())
    return false;
  int64_t lanes = kPieceBytes / elementBytes(element);
  for (auto [d, extent] : llvm::enumerate(tile.getShape()))
    if (d != dim && d + 1 != tile.getShape().size() && extent != 1)
      return false;
  int64_t rows = tile.getDimSize(dim), columns = tile.getShape().back();
  return lanes > 1 && rows % lanes == 0 && columns % lanes == 0 &&
         llvm::isPowerOf2_64(columns / lanes);
}

/// The only op beside deallocations that uses a buffer, other than `known`.
template <typename OpTy> static OpTy findOther(Value buffer, Operation *known) {
  OpTy found;
  for (Operation *user : buffer.getUsers()) {
    if (user == known || isa<memref::DeallocOp>(user))
      continue;
    auto op = dyn_cast<OpTy>(user);
    if (!op || found || op->getBlock() != known->getBlock())
      return {};
    found = op;
  }
  return found;
}

static bool areCoordinates(ValueRange subscripts) {
  return llvm::all_of(subscripts, [](Value subscript) {
    return isa<IndexType>(subscript.getType());
  });
}

void TransposedTiles::take(RewriterBase &rewriter, func::FuncOp function) {
  SmallVector<linalg::LinalgOp> ops;
  function.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  for (linalg::LinalgOp op : ops) {
    std::optional<Exchange> exchange = findExchange(op);
    if (!exchange || !isa<ForallOp, ForOp>(op->getParentOp()))
      continue;
    Value from = op.getDpsInputs()[0], to = op.getDpsInits()[0];
    auto read = findOther<SReadOp>(from, op);
    auto write = findOther<SWriteOp>(to, op);
    if (!from.getDefiningOp<memref::AllocOp>() ||
        !to.getDefiningOp<memref::AllocOp>() || !read || !write ||
        read.getDest() != from || write.getTile() != to || write.getCombine())
      continue;
    auto tile = cast<MemRefType>(from.getType());
    auto isAlike = [&](Value other) {
      return getElementTypeOrSelf(other) == tile.getElementType();
    };
    bool isWhole =
        !exchange->inFragments || elementBytes(tile.getElementType()) == 1;
    if (!isWhole || !hasPieces(tile, exchange->dim) || !isAlike(to) ||
        !isAlike(read.getSrc()) || !isAlike(write.getDest()) ||
        !hasRows(read.getSrc()) || !hasRows(write.getDest()) ||
        !areCoordinates(read.getSubscripts()) ||
        !areCoordinates(write.getSubscripts()) || !read->isBeforeInBlock(op) ||
        !op->isBeforeInBlock(write))
      continue;
    rewriter.modifyOpInPlace(write,
                             [&] { write.getTileMutable().assign(from); });
    Operation *buffer = to.getDefiningOp();
    rewriter.eraseOp(op);
    for (Operation *user : llvm::make_early_inc_range(to.getUsers()))
      rewriter.eraseOp(user);
    rewriter.eraseOp(buffer);
    for (Operation *user : from.getUsers())
      if (isa<memref::DeallocOp>(user))
        rewriter.moveOpAfter(user, write);
    moves[read] = moves[write] = *exchange;
  }
}

//===----------------------------------------------------------------------===//
// Moving one
//===----------------------------------------------------------------------===//

namespace {

/// Moves a tile between a tensor and shared memory. `row` and `column` are of
/// the tile as it lies in shared memory, which is that of the source.
class TransposedMove {
public:
  /// Moves the place in the tensor whose dimension `dim` is along the rows of
  /// `tile`.
  TransposedMove(OpBuilder &b, Location loc, const TilePlace &place, Value tile,
                 unsigned dim, bool inFragments, const ChunkMap &chunks,
                 const Workers &block)
      : b(b), e(b, loc), tensor(place.memref), tile(tile), dim(dim),
        inFragments(inFragments), block(block),
        dims(tileDimensions(b, loc, place, chunks)) {
    auto type = cast<MemRefType>(tile.getType());
    element = type.getElementType();
    rows = type.getDimSize(dim);
    columns = type.getShape().back();
    lanes = kPieceBytes / elementBytes(element);
  }

  void read(TypedAttr pad);
  void write();

private:
  void share(int64_t count, function_ref<void(Value)> each) {
    block.share(b, e.loc, e.index(count), each);
  }
  /// Whether all pieces of the tensor's rows lie where 16 bytes are moved at
  /// once, and none is at an edge.
  Value hasWholePieces();
  /// The place of an element of the tensor's tile, and whether it exists; null:
  /// it does.
  SmallVector<Value> coordinates(Value outer, Value inner);
  Value exists(Value outer, Value inner);
  /// The place of `column` of row `row` in shared memory; `column` is the first
  /// one of a piece, or any with `within` to add.
  SmallVector<Value> slot(Value row, Value piece, Value within);
  /// The row of a group of `lanes` whose element is the i-th one of a piece.
  int64_t sourceOf(int64_t i) const {
    AffineExpr place = b.getAffineConstantExpr(i);
    return inFragments
               ? cast<AffineConstantExpr>(fromFragmentOrder(place)).getValue()
               : i;
  }
  void readPieces(Value padding);
  void readElements(Value padding);
  void writePieces();
  void writeElements();

  OpBuilder &b;
  Emitter e;
  Value tensor, tile;
  unsigned dim;
  bool inFragments;
  const Workers &block;
  Type element;
  int64_t rows, columns, lanes;
  SmallVector<TileDimension> dims; ///< of the tensor
};

} // namespace

Value TransposedMove::hasWholePieces() {
  const TileDimension &last = dims.back();
  return e.isAligned(tensor, last.start, last.isFull() ? Value() : last.limit,
                     kPieceBytes);
}

SmallVector<Value> TransposedMove::coordinates(Value outer, Value inner) {
  SmallVector<Value> at;
  for (const TileDimension &each : dims)
    at.push_back(each.start);
  at[dim] = e.add(at[dim], outer);
  at.back() = e.add(at.back(), inner);
  return at;
}

Value TransposedMove::exists(Value outer, Value inner) {
  Value all;
  auto require = [&](Value condition) {
    all = all ? e.logicalAnd(all, condition) : condition;
  };
  for (auto [d, each] : llvm::enumerate(dims))
    if (!each.isFull())
      require(e.lessThan(d == dim               ? outer
                         : d + 1 == dims.size() ? inner
                                                : e.index(0),
                         each.limit));
  return all;
}

SmallVector<Value> TransposedMove::slot(Value row, Value piece, Value within) {
  Value group = e.bitAnd(e.div(row, lanes), columns / lanes - 1);
  Value at = e.mul(e.bitXor(piece, group), lanes);
  SmallVector<Value> place(dims.size(), e.index(0));
  place[dim] = row;
  place.back() = within ? e.add(at, within) : at;
  return place;
}

void TransposedMove::readPieces(Value padding) {
  int64_t perRow = columns / lanes, count = rows * perRow;
  int64_t atOnce = std::min(llvm::divideCeil(count, block.threads),
                            static_cast<uint64_t>(kPiecesAtOnce));
  auto type = VectorType::get(lanes, element);
  Value none = vector::BroadcastOp::create(b, e.loc, type, padding);
  auto loop = scf::ForOp::create(b, e.loc, block.thread, e.index(count),
                                 e.index(block.threads * atOnce));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  struct Piece {
    Value row, number, isMine, value;
  };
  SmallVector<Piece> pieces(atOnce);
  for (int64_t i = 0; i < atOnce; ++i) {
    Piece &piece = pieces[i];
    Value number = e.add(loop.getInductionVar(), i * block.threads);
    // The loop's condition is about the first one.
    if (i && count % (block.threads * atOnce))
      piece.isMine = e.lessThan(number, e.index(count));
    piece.row = e.div(number, perRow);
    piece.number = e.rem(number, perRow);
    Value column = e.mul(piece.number, lanes);
    Value isThere = exists(piece.row, column);
    if (piece.isMine)
      isThere = isThere ? e.logicalAnd(isThere, piece.isMine) : piece.isMine;
    auto load = [&]() -> Value {
      return e.loadVector(type, tensor, coordinates(piece.row, column),
                          kPieceBytes);
    };
    piece.value =
        isThere ? e.choose(isThere, load, [&] { return none; }) : load();
  }
  for (const Piece &piece : pieces) {
    auto store = [&] {
      e.storeVector(piece.value, tile, slot(piece.row, piece.number, Value()),
                    kPieceBytes);
    };
    if (piece.isMine)
      e.ifThen(piece.isMine, store);
    else
      store();
  }
}

void TransposedMove::readElements(Value padding) {
  share(rows * columns, [&](Value number) {
    Value row = e.div(number, columns), column = e.rem(number, columns);
    auto load = [&]() -> Value {
      return e.loadAt(tensor, coordinates(row, column));
    };
    Value isThere = exists(row, column);
    Value value =
        isThere ? e.choose(isThere, load, [&] { return padding; }) : load();
    e.storeAt(value, tile,
              slot(row, e.div(column, lanes), e.rem(column, lanes)));
  });
}

void TransposedMove::writePieces() {
  int64_t perRow = rows / lanes;
  share(columns * perRow, [&](Value number) {
    Value column = e.div(number, perRow), piece = e.rem(number, perRow);
    Value first = e.mul(piece, lanes);
    auto move = [&] {
      SmallVector<Value> values;
      Value from = e.div(column, lanes), within = e.rem(column, lanes);
      for (int64_t i = 0; i < lanes; ++i)
        values.push_back(
            e.loadAt(tile, slot(e.add(first, sourceOf(i)), from, within)));
      Value vector = vector::FromElementsOp::create(
          b, e.loc, VectorType::get(lanes, element), values);
      e.storeVector(vector, tensor, coordinates(column, first), kPieceBytes);
    };
    if (Value isThere = exists(column, first))
      e.ifThen(isThere, move);
    else
      move();
  });
}

void TransposedMove::writeElements() {
  share(rows * columns, [&](Value number) {
    Value column = e.div(number, rows), row = e.rem(number, rows);
    auto move = [&] {
      Value from = row;
      if (inFragments)
        from = affine::AffineApplyOp::create(
            b, e.loc, fromFragmentOrder(b.getAffineDimExpr(0)), row);
      Value value = e.loadAt(
          tile, slot(from, e.div(column, lanes), e.rem(column, lanes)));
      e.storeAt(value, tensor, coordinates(column, row));
    };
    if (Value isThere = exists(column, row))
      e.ifThen(isThere, move);
    else
      move();
  });
}

void TransposedMove::read(TypedAttr pad) {
  Value padding = e.constant(pad);
  e.ifThen(
      hasWholePieces(), [&] { readPieces(padding); },
      [&] { readElements(padding); });
}

void TransposedMove::write() {
  e.ifThen(hasWholePieces(), [&] { writePieces(); }, [&] { writeElements(); });
}

bool TransposedTiles::lower(OpBuilder &builder, Operation *op,
                            const ChunkMap &chunks,
                            const Workers &block) const {
  auto found = moves.find(op);
  if (found == moves.end())
    return false;
  auto move = [&](Value tensor, ValueRange subscripts, ArrayRef<int64_t> shape,
                  Value tile) {
    return TransposedMove(builder, op->getLoc(), {tensor, subscripts, shape},
                          tile, found->second.dim, found->second.inFragments,
                          chunks, block);
  };
  if (auto read = dyn_cast<SReadOp>(op)) {
    auto type = cast<MemRefType>(read.getDest().getType());
    move(read.getSrc(), read.getSubscripts(), type.getShape(), read.getDest())
        .read(read.getPadOrZero());
  } else if (auto write = dyn_cast<SWriteOp>(op)) {
    SmallVector<int64_t> shape(
        cast<MemRefType>(write.getTile().getType()).getShape());
    std::swap(shape[found->second.dim], shape.back());
    move(write.getDest(), write.getSubscripts(), shape, write.getTile())
        .write();
  }
  return true;
}
