//===- HopperExtras.cpp - What results need of other tensors --------------===//
//
// An epilogue's operand with a value for each row and column, as the hidden
// values of a layer that its gradients are made of, comes like the results go:
// a warp loads chunks of 16 bytes of its lines, and takes from shared memory
// what each thread needs.
//
//===----------------------------------------------------------------------===//

#include "HopperStore.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

static constexpr int64_t kHalvesOfChunk = kChunkBytes / 2;

void HopperStore::prefetchExtras(HopperRows &rows) {
  // A lane has one of the pieces of each row that are stored together.
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
  Value staged = stagingTile(tile.element), first = firstColumn(column);
  Value laneRow = e.div(lane(), 8), laneChunk = e.rem(lane(), 8);
  Value col = e.toIndex(e.add(first, e.mul(laneChunk, kHalvesOfChunk)));
  auto addressOf = [&](size_t i, Value col) {
    return elementAddress(e, tile,
                          e.add(lines.offsets[i], e.add(along.start, col)));
  };
  Value staging = e.mul(laneChunk, kHalvesOfChunk);
  auto copyChunks = [&] {
    for (size_t i = 0; i < lines.offsets.size(); ++i)
      // Nothing is read for a row that does not exist.
      pitgpu::CopyOp::create(
          e.b, e.loc, addressOf(i, col), lines.exist[i], staged,
          e.add(e.mul(self.warp, kWarpRows), e.add(laneRow, 4 * i)), staging);
  };
  // At the edge, or without alignment.
  auto copyElements = [&] {
    auto copyElement = [&](Value n) {
      Value at = e.add(col, n);
      Value isThere = e.lessThan(at, along.limit);
      for (size_t i = 0; i < lines.offsets.size(); ++i)
        e.ifThen(e.logicalAnd(isThere, lines.exist[i]), [&] {
          Value to = stagedPlace(staged, e.add(laneRow, 4 * i),
                                 e.add(staging, e.toI32(n)));
          e.store(e.load(tile.element, addressOf(i, at), 2),
                  e.sharedPointer(to), 2);
        });
    };
    e.keepLoop(e.forEach(e.index(0), e.index(kHalvesOfChunk), e.index(1),
                         copyElement));
  };
  // All lanes go the same way.
  Value last = e.add(e.toIndex(first), kStoreColumns - 1);
  Value whole = e.logicalAnd(lines.aligned, e.lessThan(last, along.limit));
  e.ifThen(whole, copyChunks, copyElements);
  pitgpu::CopyGroupOp::create(e.b, e.loc);
  pitgpu::CopyWaitOp::create(e.b, e.loc, /*pending=*/0);
}

void HopperStore::takeExtras(HopperRows &rows, Value column) {
  constexpr size_t pairs = kStoreColumns / 8; // of a thread and a row
  for (auto [number, extra] : llvm::enumerate(rows.extras)) {
    syncWarp(e); // what lay there has been read
    stageExtra(rows, number, column);
    syncWarp(e);
    Type element = rows.epilogue.tileOfExtra(extra.first).element;
    auto type = pitgpu::FragmentType::get(e.b.getContext(), kWgmmaRows,
                                          kStoreColumns, element);
    Value fragment =
        pitgpu::LocalLoadOp::create(e.b, e.loc, type, stagingTile(element));
    SmallVector<Type> types(2 * pairs, VectorType::get(2, element));
    auto values =
        UnrealizedConversionCastOp::create(e.b, e.loc, types, fragment);
    // It has a row's values of each eight columns, then the other row's.
    SmallVector<Value> ofPiece(2 * pairs);
    for (size_t i = 0; i < 2 * pairs; ++i)
      ofPiece[i % 2 * pairs + i / 2] =
          e.bitcast(e.b.getI32Type(), values.getResult(i));
    rows.epilogue.setExtra(extra.first, ofPiece);
  }
}
