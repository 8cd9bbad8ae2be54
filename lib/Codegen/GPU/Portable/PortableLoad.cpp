//===- PortableLoad.cpp - Tiles from global into shared memory ------------===//
//
// HopperLoad.cpp gathers rows, too. What is the same lies in TileAccess.h:
// where a row is, whether it exists, and an element's address. The loops
// differ. Here a tile has any number of rows and threads, so what a thread
// copies is divided when it runs; an edge may cut through a chunk; and what is
// not aligned, padded with 0 or in one piece is copied element by element.
// There a thread has one place in each line, known to the instructions, and
// chunks exist or do not, because TMA describes no other tensors.
//

#include "PortableLowering.h"

#include "pit/Dialect/PitGPU/IR/PitGPU.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

Value cuda::swizzleOf(Emitter &e, const SharedTile &tile, Value row) {
  Value line = e.mul(e.div(row, tile.rowsPerLine()), tile.swizzleStep);
  return e.bitAnd(line, tile.swizzleMask());
}

Type cuda::tileType(const PortableOperand &operand) {
  const SharedTile &tile = operand.tile;
  if (tile.hasLines)
    return pitgpu::TileType::get(tile.rows, tile.cols, operand.element,
                                 tile.lineBytes);
  return pitgpu::RowTileType::get(operand.element.getContext(), tile.rows,
                                  tile.cols, operand.element, tile.swizzleStep);
}

namespace {

/// Copies one tile. Rows and columns are those of shared memory.
class StageLoader {
public:
  StageLoader(const PortableThread &self, const PortableOperand &operand,
              const TileAccess &access, const LocatedRows &rows, Value to)
      : e(self.e), threads(self.common.loaders()), tile(operand.tile),
        operand(operand), access(access), rows(rows), to(to),
        thread(self.number) {
    bytes = tile.elementBytes;
    // Dimensions of one element: where the tile is along them.
    fixedOffset = e.index(0);
    fixedExists = Value();
    for (auto [d, dim] : llvm::enumerate(access.dims)) {
      if (static_cast<int>(d) == operand.rowDim ||
          static_cast<int>(d) == operand.colDim)
        continue;
      auto [at, exists] = locate(e, dim, e.index(0));
      fixedOffset = e.add(fixedOffset, e.mul(at, dim.stride));
      fixedExists = fixedExists ? e.logicalAnd(fixedExists, exists) : exists;
    }
    if (operand.rowDim >= 0)
      row = access.dims[operand.rowDim];
    else
      row = {e.index(0), e.index(1), Value(), e.index(1), e.index(0)};
    if (operand.colDim >= 0)
      col = access.dims[operand.colDim];
    else
      col = {e.index(0), e.index(1), Value(), e.index(1), e.index(1)};
    if (fixedExists)
      row.limit = e.select(fixedExists, row.limit, e.index(0));
  }

  void run() {
    if (operand.isTransposed)
      return turned();
    bool zero = isZero(access.pad);
    APInt stride;
    bool contiguous = matchPattern(col.stride, m_ConstantInt(&stride))
                          ? stride.isOne()
                          : operand.colDim < 0;
    if (!zero || col.ids || !contiguous)
      return elements(zero);
    // Whole chunks only if each of them is aligned.
    Value first = e.mul(e.add(fixedOffset, col.start), bytes);
    Value aligned = e.toIndex(access.start);
    aligned = e.bitOr(e.add(aligned, first), e.mul(row.stride, bytes));
    aligned = e.equal(e.bitAnd(aligned, kChunkBytes - 1), e.index(0));
    e.ifThen(aligned, [&] { chunks(); });
    // Not an else: ptxas would run it, predicated off, beside every chunk. A
    // loop that is not entered costs a branch.
    skipElements = aligned;
    elements(zero);
  }

private:
  /// Byte in shared memory of chunk `chunk` of row `r`.
  Value place(Value r, Value chunk) {
    if (tile.hasLines) {
      int64_t chunks = tile.chunksInLine();
      Value line = e.add(e.mul(e.div(chunk, chunks), tile.blockBytes()),
                         e.mul(r, tile.lineBytes));
      Value at = e.bitXor(e.rem(chunk, chunks),
                          e.rem(e.div(r, tile.rowsOfSwizzle()), chunks));
      return e.add(e.add(to, line), e.mul(at, kChunkBytes));
    }
    return e.add(e.add(to, e.mul(r, tile.pitch())),
                 e.mul(e.bitXor(chunk, swizzleOf(e, tile, r)), kChunkBytes));
  }

  /// Calls `body` for each of `count` pieces that are this thread's.
  /// With `skip`, only if it is false.
  void forMine(int64_t count, int64_t unroll, Value skip,
               function_ref<void(ArrayRef<Value>)> body) {
    int64_t rounds = llvm::divideCeil(count, threads);
    auto run = [&](Value mine, Value first, int64_t n) {
      SmallVector<Value> pieces;
      for (int64_t i = 0; i < n; ++i)
        pieces.push_back(e.add(e.mul(e.add(first, i), threads), mine));
      body(pieces);
    };
    if (rounds <= unroll && !skip)
      return run(thread, e.i32(0), rounds);
    // Pieces past the end lie beyond the last row; they are left out there.
    unroll = std::min(rounds, unroll);
    Value upper = e.i32(rounds);
    if (skip)
      upper = e.select(skip, e.i32(0), upper);
    e.forEach(e.i32(0), upper, e.i32(unroll), [&](Value first) {
      run(skip ? e.hideFromOptimizer(thread) : thread, first, unroll);
    });
  }

  void ifPiece(Value piece, int64_t count, function_ref<void()> body) {
    if (count % threads == 0 && (count / threads <= kUnrolledPieces ||
                                 count / threads % kUnrolledPieces == 0))
      return body();
    e.ifThen(e.lessThan(piece, e.i32(count)), body);
  }

  /// Bytes (i32) that exist of the chunk of column `c`.
  Value bytesOfChunk(Value limit, Value c) {
    Value elements = e.sub(limit, e.mul(c, tile.chunkElements()));
    elements = e.max(elements, e.i32(0));
    return e.mul(e.min(elements, e.i32(tile.chunkElements())), bytes);
  }
  void copyChunk(Value at, Value from, Value size) {
    pitgpu::CopyOp::create(e.b, e.loc, from, /*exists=*/Value(), at,
                           kChunkBytes, /*limit=*/size);
  }

  /// Copies chunks, if a thread has the same column of all of its rows and
  /// these come in whole swizzles: then places in shared memory are those of
  /// the row before plus a constant, and so are addresses, unless ids choose
  /// the rows.
  bool copyColumn() {
    int64_t perRow = tile.chunks(), apart = threads / perRow;
    bool follow = rows.empty();
    if ((follow && row.ids) || !tile.hasLines || threads % perRow ||
        apart % kSwizzleLines || tile.rows % apart)
      return false;
    Value r = e.div(thread, perRow), c = e.rem(thread, perRow);
    Value size = bytesOfChunk(e.toI32(col.limit), c);
    Value limit = e.sub(e.toI32(row.limit), r);
    Value first = follow ? e.add(row.start, e.toIndex(r)) : e.index(0);
    Value offset = e.add(fixedOffset, e.mul(first, row.stride));
    offset = e.add(offset,
                   e.add(col.start, e.toIndex(e.mul(c, tile.chunkElements()))));
    Value from = elementAddress(e, access, offset);
    auto after = [&](Value from, Value rows) {
      return e.elementAfter(from, access.element, e.mul(row.stride, rows));
    };
    Value to = place(r, c);
    for (int64_t i = 0; i < tile.rows; i += apart) {
      Value source = from, exists = e.lessThan(e.i32(i), limit);
      if (follow) {
        from = after(from, e.index(apart));
      } else {
        auto [at, isThere] = rows[i / apart];
        source = after(from, at);
        exists = fixedExists ? e.logicalAnd(isThere, fixedExists) : isThere;
      }
      copyChunk(e.add(to, i * tile.lineBytes), source,
                e.select(exists, size, e.i32(0)));
    }
    return true;
  }

  void chunks() {
    if (copyColumn())
      return;
    int64_t perRow = tile.chunks(), count = tile.rows * perRow;
    Value limit = e.toI32(col.limit);
    int64_t unroll = rows.empty() ? kUnrolledPieces : rows.size();
    forMine(count, unroll, Value(), [&](ArrayRef<Value> pieces) {
      for (size_t n = 0; n < pieces.size(); ++n)
        ifPiece(pieces[n], count, [&] {
          Value piece = pieces[n];
          Value r = e.div(piece, perRow), c = e.rem(piece, perRow);
          auto [at, exists] =
              rows.empty() ? locate(e, row, e.toIndex(r)) : rows[n];
          if (!rows.empty() && fixedExists)
            exists = e.logicalAnd(exists, fixedExists);
          // A copy of no bytes may have any address.
          Value size = e.select(exists, bytesOfChunk(limit, c), e.i32(0));
          Value offset = e.add(fixedOffset, e.mul(at, row.stride));
          offset =
              e.add(offset, e.add(col.start,
                                  e.toIndex(e.mul(c, tile.chunkElements()))));
          copyChunk(place(r, c), elementAddress(e, access, offset), size);
        });
    });
  }

  /// Copies elements of rows along k to rows along m or n. A thread has one
  /// place along k, if it can, of several rows.
  void turned() {
    int64_t depth = tile.rows, outer = tile.cols, apart = threads / depth;
    bool isOnePlace = threads % depth == 0;
    int64_t wholeSwizzle = (tile.swizzleMask() + 1) * tile.chunkElements();
    bool isShifted = isOnePlace && apart % wholeSwizzle == 0;
    Value k, kAt, kExists, r, to, from, limit;
    auto takePlace = [&](Value piece) {
      k = e.rem(piece, depth);
      r = e.div(piece, depth);
      std::tie(kAt, kExists) = locate(e, col, e.toIndex(k));
      if (fixedExists)
        kExists = e.logicalAnd(kExists, fixedExists);
    };
    auto placeOf = [&](Value row) {
      Value byte = e.mul(row, bytes);
      return e.add(place(k, e.div(byte, kChunkBytes)),
                   e.bitAnd(byte, kChunkBytes - 1));
    };
    for (int64_t i = 0; i * threads < depth * outer; ++i) {
      if (i == 0 || !isOnePlace) {
        takePlace(e.add(thread, i * threads));
        to = placeOf(r);
        Value offset = e.add(fixedOffset, e.mul(kAt, col.stride));
        if (!row.ids && rows.empty())
          offset =
              e.add(offset, e.mul(e.add(row.start, e.toIndex(r)), row.stride));
        from = elementAddress(e, access, offset);
        limit = e.select(kExists, e.sub(e.toI32(row.limit), r), e.i32(0));
      } else if (!isShifted) {
        to = placeOf(e.add(r, i * apart));
      }
      int64_t after = isOnePlace ? i * apart : 0;
      Value at = e.index(after), exists = e.lessThan(e.i32(after), limit);
      if (!rows.empty() || row.ids) {
        Value isThere;
        std::tie(at, isThere) =
            rows.empty() ? locate(e, row, e.toIndex(e.add(r, after))) : rows[i];
        exists = e.logicalAnd(isThere, kExists);
      }
      // Pieces past the end lie beyond the last row.
      if ((i + 1) * threads > depth * outer)
        exists =
            e.logicalAnd(exists, e.lessThan(e.add(r, after), e.i32(outer)));
      Value source =
          e.elementAfter(from, access.element, e.mul(at, row.stride));
      auto copy = [&] {
        pitgpu::CopyOp::create(e.b, e.loc, source, exists,
                               isShifted ? e.add(to, after * bytes) : to,
                               bytes);
      };
      ifPiece(e.add(thread, i * threads), depth * outer, copy);
    }
  }

  void elements(bool zero) {
    int64_t count = tile.rows * tile.cols;
    bool async = zero && (bytes == 4 || bytes == 8);
    forMine(count, kUnrolledPieces, skipElements, [&](ArrayRef<Value> pieces) {
      struct Element {
        Value piece, to, value;
      };
      SmallVector<Element> loaded;
      for (Value piece : pieces) {
        Value r = e.div(piece, tile.cols), c = e.rem(piece, tile.cols);
        auto [rowAt, rowExists] = locate(e, row, e.toIndex(r));
        auto [colAt, colExists] = locate(e, col, e.toIndex(c));
        Value exists = e.logicalAnd(rowExists, colExists);
        exists = e.logicalAnd(exists, e.lessThan(piece, e.i32(count)));
        Value offset = e.add(fixedOffset, e.add(e.mul(rowAt, row.stride),
                                                e.mul(colAt, col.stride)));
        Value byte = e.mul(c, bytes);
        Value target = e.add(place(r, e.div(byte, kChunkBytes)),
                             e.bitAnd(byte, kChunkBytes - 1));
        if (async) {
          ifPiece(piece, count, [&] {
            Value size = e.select(exists, e.i32(bytes), e.i32(0));
            pitgpu::CopyOp::create(e.b, e.loc,
                                   elementAddress(e, access, offset),
                                   /*exists=*/Value(), target, bytes, size);
          });
          continue;
        }
        Value value = e.choose(
            exists,
            [&] {
              return e.load(access.element, elementAddress(e, access, offset),
                            bytes);
            },
            [&] { return e.constant(access.pad); });
        loaded.push_back({piece, target, value});
      }
      for (Element &element : loaded)
        ifPiece(element.piece, count, [&] {
          e.store(element.value, e.sharedPointer(element.to), bytes);
        });
    });
  }

  Emitter &e;
  int64_t threads; ///< that load
  const SharedTile &tile;
  const PortableOperand &operand;
  const TileAccess &access;
  const LocatedRows &rows;
  Value to, thread;
  int64_t bytes;
  Value fixedOffset, fixedExists;
  Value skipElements; ///< true: chunks were copied; null if they cannot be
  TileDim row, col;
};

} // namespace

LocatedRows cuda::locateRows(const PortableThread &self,
                             const PortableOperand &operand,
                             const TileDim &row) {
  Emitter &e = self.e;
  const SharedTile &tile = operand.tile;
  int64_t perRow = operand.isTransposed ? tile.rows : tile.chunks(),
          rowsOfTile = operand.isTransposed ? tile.cols : tile.rows,
          threads = self.common.loaders();
  int64_t rounds = llvm::divideCeil(rowsOfTile * perRow, threads);
  LocatedRows rows;
  for (int64_t i = 0; rounds <= kUnrolledPieces && i < rounds; ++i)
    rows.push_back(locate(
        e, row, e.toIndex(e.div(e.add(self.number, i * threads), perRow))));
  return rows;
}

TileAccess cuda::accessStage(const ProductThread &self,
                             const PortableOperand &operand, TileAccess access,
                             Value first) {
  Emitter &e = self.e;
  int k = operand.kIsCol ? operand.colDim : operand.rowDim;
  if (k < 0 || self.plan.subSteps() == 1)
    return access;
  TileDim &dim = access.dims[k];
  Value skipped = e.toIndex(first);
  dim.start = e.add(dim.start, skipped);
  dim.limit = e.sub(dim.limit, skipped);
  dim.limit = e.max(dim.limit, e.index(0));
  dim.limit = e.min(dim.limit, e.index(self.plan.depth));
  return access;
}

void cuda::loadStage(const PortableThread &self, const PortableOperand &operand,
                     const TileAccess &access, const LocatedRows &rows,
                     Value to) {
  StageLoader(self, operand, access, rows, to).run();
}
