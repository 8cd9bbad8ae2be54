//===- HopperExtras.cpp - What results need of other tensors --------------===//
//
// What an epilogue reads for each row and column, as the hidden values of a
// layer that its gradients are made of, comes like the results go: a warp loads
// chunks of 16 bytes of its lines, and takes from shared memory what each
// thread needs.
//
//===----------------------------------------------------------------------===//

#include "HopperStore.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

static constexpr int64_t kHalvesOfChunk = kChunkBytes / 2;

void HopperStore::prefetchExtras(HopperRows &rows) {
  // Of each row a lane has one of the pieces that are stored together.
  constexpr int64_t lanes = kLineBytes / kChunkBytes;
  int64_t pieces = plan.perN() / kStoreColumns;
  for (auto &[extra, lines] : rows.extras) {
    const TileAccess &tile = rows.epilogue.tileOfExtra(extra);
    const TileDim &along =
        tile.dims[rows.epilogue.dimOfExtra(extra, plan.nDim)];
    for (int64_t first = 0; first < pieces; first += lanes) {
      Value piece = e.add(e.rem(lane(), lanes), first);
      Value col = e.toIndex(firstColumn(e.mul(piece, kStoreColumns)));
      Value isThere = e.logicalAnd(e.lessThan(piece, e.i32(pieces)),
                                   e.lessThan(col, along.limit));
      for (auto [offset, exists] : llvm::zip(lines.offsets, lines.exist)) {
        Value at = e.add(offset, e.add(along.start, col));
        e.ifThen(e.logicalAnd(exists, isThere), [&] {
          NVVM::PrefetchOp::create(
              e.b, e.loc,
              NVVM::PrefetchCacheLevelAttr::get(e.b.getContext(),
                                                NVVM::PrefetchCacheLevel::L2),
              NVVM::CacheEvictionPriorityAttr(), elementAddress(e, tile, at),
              /*predicate=*/Value(), /*tensormap=*/UnitAttr(),
              /*uniform=*/UnitAttr(), /*in_param_space=*/UnitAttr());
        });
      }
    }
  }
}

/// Copies the lines of an extra to where results are staged.
void HopperStore::stageExtra(HopperRows &rows, size_t number, Value column) {
  unsigned extra = rows.extras[number].first;
  const HopperLines &lines = rows.extras[number].second;
  const TileAccess &tile = rows.epilogue.tileOfExtra(extra);
  const TileDim &along = tile.dims[rows.epilogue.dimOfExtra(extra, plan.nDim)];
  Value base = stagingPlace(), first = firstColumn(column);
  Value laneRow = e.div(lane(), 8), laneChunk = e.rem(lane(), 8);
  Value col = e.toIndex(e.add(first, e.mul(laneChunk, kHalvesOfChunk)));
  auto addressOf = [&](size_t i, Value col) {
    return elementAddress(e, tile,
                          e.add(lines.offsets[i], e.add(along.start, col)));
  };
  auto placeOf = [&](size_t i) {
    return chunkPlace(base, e.add(laneRow, 4 * i), laneChunk);
  };
  auto copyChunks = [&] {
    for (size_t i = 0; i < lines.offsets.size(); ++i)
      // Of a row that does not exist nothing is read.
      NVVM::CpAsyncOp::create(
          e.b, e.loc, e.sharedPointer(placeOf(i)), addressOf(i, col),
          kChunkBytes, NVVM::LoadCacheModifierKind::CG,
          e.select(lines.exist[i], e.i32(kChunkBytes), e.i32(0)));
  };
  // At the edge, or without alignment.
  auto copyElements = [&] {
    auto loop = scf::ForOp::create(e.b, e.loc, e.index(0),
                                   e.index(kHalvesOfChunk), e.index(1));
    e.keepLoop(loop);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(loop.getBody());
    Value n = loop.getInductionVar();
    Value at = e.add(col, n);
    Value isThere = e.lessThan(at, along.limit);
    for (size_t i = 0; i < lines.offsets.size(); ++i)
      e.ifThen(e.logicalAnd(isThere, lines.exist[i]), [&] {
        Value to = e.add(placeOf(i), e.mul(e.toI32(n), 2));
        LLVM::StoreOp::create(e.b, e.loc,
                              e.load(tile.element, addressOf(i, at), 2),
                              e.sharedPointer(to), 2);
      });
  };
  // All lanes go the same way.
  Value last = e.add(e.toIndex(first), kStoreColumns - 1);
  Value whole = e.logicalAnd(lines.aligned, e.lessThan(last, along.limit));
  e.ifThen(whole, copyChunks, copyElements);
  NVVM::CpAsyncCommitGroupOp::create(e.b, e.loc);
  NVVM::CpAsyncWaitGroupOp::create(e.b, e.loc, e.b.getI32IntegerAttr(0));
}

void HopperStore::takeExtras(HopperRows &rows, Value column) {
  Type i32 = e.b.getI32Type();
  auto four = LLVM::LLVMStructType::getLiteral(e.b.getContext(),
                                               SmallVector<Type>(4, i32));
  constexpr size_t pairs = kStoreColumns / 8; // of a thread and a row
  for (auto [number, extra] : llvm::enumerate(rows.extras)) {
    syncWarp(e); // what lay there has been read
    stageExtra(rows, number, column);
    syncWarp(e);
    Value from = matrixPlace(stagingPlace());
    SmallVector<Value> ofPiece(2 * pairs);
    for (size_t q = 0; q < pairs / 2; ++q) {
      Value matrices = NVVM::LdMatrixOp::create(
          e.b, e.loc, four,
          e.sharedPointer(e.bitXor(from, e.i32(2 * q * kChunkBytes))),
          /*num=*/4, NVVM::MMALayout::row,
          NVVM::LdStMatrixShapeAttr::get(e.b.getContext(), 8, 8),
          NVVM::LdStMatrixEltType::B16);
      // As stageHalves() has them.
      for (size_t matrix = 0; matrix < 4; ++matrix)
        ofPiece[matrix % 2 * pairs + 2 * q + matrix / 2] =
            LLVM::ExtractValueOp::create(e.b, e.loc, matrices,
                                         static_cast<int64_t>(matrix));
    }
    rows.epilogue.setExtra(extra.first, ofPiece);
  }
}
