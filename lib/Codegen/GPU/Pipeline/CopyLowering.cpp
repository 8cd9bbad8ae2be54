//===- CopyLowering.cpp - Copies into stages, and out of registers --------===//

#include "PipelineLowering.h"

#include "Codegen/GPU/Common/Fragments.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::pitgpu;
using cuda::Emitter;

/// Bytes that a thread copies at once.
static constexpr int64_t kChunk = 16;

/// Has a stage get a box of a tensor, whose coordinates are `at`; `mask` are
/// the blocks of the cluster that get it, null: this one alone.
static void issueBox(Emitter &e, Value map, ArrayRef<Value> at, Value to,
                     Value full, Value mask = {}) {
  // A block's shared memory has the same addresses in its cluster's. An
  // addrspacecast goes through a generic pointer, in five instructions.
  auto cluster = LLVM::LLVMPointerType::get(
      e.b.getContext(),
      static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster));
  Value target = LLVM::IntToPtrOp::create(e.b, e.loc, cluster, to);
  SmallVector<Value> innermostFirst(llvm::reverse(at));
  NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
      e.b, e.loc, target, map, innermostFirst, e.sharedPointer(full),
      ValueRange(), mask, Value(), NVVM::TMALoadMode::TILE,
      /*isCTAOnly=*/false, NVVM::CTAGroupKindAttr(), Value());
}

static SmallVector<Value> toI32(Emitter &e, ValueRange coords) {
  return llvm::map_to_vector(coords,
                             [&](Value coord) { return e.toI32(coord); });
}

/// The boxes of one of so many parts of the tile: this block's, for all of
/// them.
static void issueBoxes(Emitter &e, LoadOp op, Operands<LoadOp> in,
                       int64_t parts) {
  TileType tile = op.getTile();
  TensorMapType map = op.getMap().getType();
  int64_t rowDim = map.getRowDim();
  int64_t boxRows = rowDim < 0 ? tile.getRows() : map.getBox()[rowDim];
  int64_t rows = tile.getRows(), blocks = tile.getBlocks();
  Value to = e.add(in.getStage()[0],
                   op.getStage().getType().getTileOffset(op.getNumber()));
  SmallVector<Value> first = toI32(e, op.getCoords());
  Value mask;
  if (parts > 1) {
    Value block = e.blockId();
    Value rank = e.rem(block, parts);
    (op.splitsLines() ? blocks : rows) /= parts;
    to = e.add(to, e.mul(rank, op.splitsLines() ? blocks * tile.getPitch()
                                                : rows * tile.getSwizzle()));
    Value &outer = op.splitsLines() ? first.back() : first[rowDim];
    outer = e.add(
        outer,
        e.mul(rank, op.splitsLines() ? blocks * tile.getLineElements() : rows));
    mask = e.constant(e.b.getI16IntegerAttr((1 << parts) - 1));
  }
  for (int64_t block = 0; block < blocks; ++block)
    for (int64_t row = 0; row < rows; row += boxRows) {
      SmallVector<Value> at(first);
      at.back() = e.add(at.back(), block * tile.getLineElements());
      if (rowDim >= 0)
        at[rowDim] = e.add(at[rowDim], row);
      issueBox(e, in.getMap().front(), at,
               e.add(to, block * tile.getPitch() + row * tile.getSwizzle()),
               in.getStage()[1], mask);
    }
}

/// Tiles of a row's width in boxes, as TMA takes them.
static Lowered lowerLoad(Emitter &e, LoadOp op, Operands<LoadOp> in) {
  int64_t blocks = op.getMulticast();
  inOneThread(e, in.self(op), [&] {
    auto load = [&](int64_t parts) { issueBoxes(e, op, in, parts); };
    if (op.getAlone())
      e.ifThen(op.getAlone(), [&] { load(1); }, [&] { load(blocks); });
    else
      load(blocks);
  });
  return {};
}

/// A box for each row.
static Lowered lowerLoadRows(Emitter &e, LoadRowsOp op,
                             Operands<LoadRowsOp> in) {
  StageType stage = op.getStage().getType();
  int64_t line = stage.getTile(op.getNumber()).getSwizzle();
  Value to = e.add(in.getStage()[0], stage.getTileOffset(op.getNumber()));
  to = e.add(to, e.mul(op.getFirst(), line));
  SmallVector<Value> at = toI32(e, op.getCoords());
  for (auto [i, row] : llvm::enumerate(op.getRows())) {
    at[op.getDim()] = row;
    issueBox(e, in.getMap().front(), at, e.add(to, i * line), in.getStage()[1]);
  }
  return {};
}

/// Boxes of a tile, of which each warp adds its own.
static Lowered lowerAdd(Emitter &e, AddOp op, Operands<AddOp> in) {
  TileType tile = op.getTile();
  TensorMapType map = op.getMap().getType();
  int64_t rowDim = map.getRowDim(), boxRows = map.getBox()[rowDim];
  int64_t inBlock = tile.getRows() / boxRows;
  int64_t boxes = tile.getBlocks() * inBlock;
  const ThreadInRole &self = in.self(op);
  Value from = e.add(in.getStage()[0],
                     op.getStage().getType().getTileOffset(op.getNumber()));
  SmallVector<Value> first = toI32(e, op.getCoords());
  auto add = [&](Value number) {
    Value block = e.div(number, inBlock), box = e.rem(number, inBlock);
    Value row = e.mul(box, boxRows);
    SmallVector<Value> at(first);
    at.back() = e.add(at.back(), e.mul(block, tile.getLineElements()));
    at[rowDim] = e.add(at[rowDim], row);
    Value place = e.add(e.add(from, e.mul(block, tile.getPitch())),
                        e.mul(row, tile.getSwizzle()));
    SmallVector<Value> innermostFirst(llvm::reverse(at));
    NVVM::CpAsyncBulkTensorReduceOp::create(
        e.b, e.loc, in.getMap().front(), e.sharedPointer(place),
        NVVM::TMAReduxKind::ADD, NVVM::TMAStoreMode::TILE, innermostFirst,
        Value());
  };
  inOneThreadOfEachWarp(e, [&] {
    for (int64_t i = 0; i < boxes; i += self.warps) {
      Value number = e.add(self.warp, i);
      if (i + self.warps <= boxes)
        add(number);
      else
        e.ifThen(e.lessThan(number, e.i32(boxes)), [&] { add(number); });
    }
    NVVM::CpAsyncBulkCommitGroupOp::create(e.b, e.loc);
    NVVM::CpAsyncBulkWaitGroupOp::create(e.b, e.loc, e.b.getI32IntegerAttr(0),
                                         /*read=*/e.b.getUnitAttr());
  });
  // Another thread of the warp may give the stage back.
  NVVM::SyncWarpOp::create(e.b, e.loc, e.i32(-1));
  return {};
}

/// Boxes of the rows of each warp. The thread that is elected is the same one
/// each time: it waits for what it has started.
static Lowered lowerAddRows(Emitter &e, AddRowsOp op, Operands<AddRowsOp> in) {
  TileType tile = op.getTile().getType();
  TensorMapType map = op.getMap().getType();
  const ThreadInRole &self = in.self(op);
  Value row = e.mul(e.rem(self.warp, 4), 16);
  Value from = e.add(in.getTile().front(), e.mul(row, tile.getSwizzle()));
  SmallVector<Value> first = toI32(e, op.getCoords());
  first[map.getRowDim()] = e.add(first[map.getRowDim()], row);
  // What lanes have written is read through the other proxy.
  e.asyncProxyFence();
  NVVM::SyncWarpOp::create(e.b, e.loc, e.i32(-1));
  inOneThreadOfEachWarp(e, [&] {
    for (int64_t block = 0; block < tile.getBlocks(); ++block) {
      SmallVector<Value> at(first);
      at.back() = e.add(at.back(), block * tile.getLineElements());
      SmallVector<Value> innermostFirst(llvm::reverse(at));
      NVVM::CpAsyncBulkTensorReduceOp::create(
          e.b, e.loc, in.getMap().front(),
          e.sharedPointer(e.add(from, block * tile.getPitch())),
          NVVM::TMAReduxKind::ADD, NVVM::TMAStoreMode::TILE, innermostFirst,
          Value());
    }
    NVVM::CpAsyncBulkCommitGroupOp::create(e.b, e.loc);
  });
  return {};
}

static Lowered lowerAddWait(Emitter &e, AddWaitOp, Operands<AddWaitOp>) {
  // Nothing waits in threads that have started nothing.
  NVVM::CpAsyncBulkWaitGroupOp::create(e.b, e.loc, e.b.getI32IntegerAttr(0),
                                       /*read=*/e.b.getUnitAttr());
  NVVM::SyncWarpOp::create(e.b, e.loc, e.i32(-1));
  return {};
}

namespace {
/// A matrix in memory: where it starts, its extents and the distance of rows
/// (i64; bytes, elements).
struct Matrix {
  Matrix(Emitter &e, Value memref) {
    auto metadata =
        memref::ExtractStridedMetadataOp::create(e.b, e.loc, memref);
    Value pointer = e.addressOf(memref);
    element = cast<MemRefType>(memref.getType()).getElementType();
    bytes = element.getIntOrFloatBitWidth() / 8;
    start = e.add(pointer, e.mul(metadata.getOffset(), bytes));
    rows = metadata.getSizes().front();
    cols = metadata.getSizes().back();
    pitch = metadata.getStrides().front();
  }
  /// The address of an element, as a pointer into global memory.
  Value pointer(Emitter &e, Value row, Value col) const {
    Value offset = e.mul(e.add(e.mul(row, pitch), col), bytes);
    return e.globalPointer(e.toI64(e.add(start, offset)));
  }

  Type element;
  int64_t bytes;
  Value start, rows, cols, pitch; ///< index
};
} // namespace

/// The id at `at`, where that is one of the list; else -1.
static Value loadId(Emitter &e, Value ids, Value at, Value listed) {
  return e.choose(
      listed, [&] { return e.toIndex(e.loadAt(ids, at)); },
      [&] { return e.index(-1); });
}

/// Rows that ids select, 16 bytes at a time; neighbouring threads copy
/// neighbouring chunks.
static Lowered lowerGather(Emitter &e, GatherOp op, Operands<GatherOp> in) {
  StageType stage = op.getStage().getType();
  TileType tile = stage.getTile(op.getNumber());
  const ThreadInRole &self = in.self(op);
  Matrix source(e, op.getSource());
  Value count = memref::DimOp::create(e.b, e.loc, op.getIds(), 0);
  Value to = e.add(in.getStage()[0], stage.getTileOffset(op.getNumber()));
  int64_t rowChunks = tile.getBlocks() * tile.getSwizzle() / kChunk;
  int64_t perChunk = kChunk / source.bytes;
  int64_t chunks = tile.getRows() * rowChunks, threads = 32 * self.warps;
  for (int64_t first = 0; first < chunks; first += threads) {
    auto copy = [&] {
      Value number = e.add(self.thread, first);
      Value row = e.div(number, rowChunks), inRow = e.rem(number, rowChunks);
      Value at = e.add(op.getFirst(), e.toIndex(row));
      Value listed = e.inRange(at, count);
      Value id = loadId(e, op.getIds(), at, listed);
      Value exists = e.logicalAnd(listed, e.inRange(id, source.rows));
      Value col = e.add(op.getCol(), e.toIndex(e.mul(inRow, perChunk)));
      Value left = e.mul(e.sub(source.cols, col), source.bytes);
      Value bytes = e.toI32(e.min(e.max(left, e.index(0)), e.index(kChunk)));
      bytes = e.select(exists, bytes, e.i32(0));
      Value any = e.lessThan(e.i32(0), bytes);
      Value from = source.pointer(e, e.select(any, id, e.index(0)),
                                  e.select(any, col, e.index(0)));
      Value place = offsetOf(e, tile, row, e.mul(inRow, perChunk));
      NVVM::CpAsyncOp::create(e.b, e.loc, e.sharedPointer(e.add(to, place)),
                              from, kChunk, NVVM::LoadCacheModifierKind::CG,
                              bytes);
    };
    if (first + threads <= chunks)
      copy();
    else
      e.ifThen(e.lessThan(self.thread, e.i32(chunks - first)), copy);
  }
  return {};
}

/// A piece of each thread.
static Lowered lowerCopy(Emitter &e, CopyOp op, Operands<CopyOp> in) {
  // One address for all pieces of a thread: the rest is part of the
  // instructions.
  Value to = in.getInto().front();
  if (auto stage = dyn_cast<StageType>(op.getInto().getType()))
    to = e.add(to, stage.getTileOffset(*op.getNumber()));
  TileType tile = op.getTile();
  if (tile)
    to = e.add(to, offsetOf(e, tile, op.getRow(), op.getCol()));
  if (std::optional<ArrayRef<int64_t>> plus = op.getPlus())
    to = e.add(to, (*plus)[0] * tile.getSwizzle() +
                       (*plus)[1] / tile.getLineElements() * tile.getPitch());
  int64_t bytes = op.getBytes();
  Value size = op.getLimit();
  if (Value exists = op.getExists())
    size = e.select(exists, e.i32(bytes), e.i32(0));
  NVVM::CpAsyncOp::create(e.b, e.loc, e.sharedPointer(to), op.getFrom(), bytes,
                          bytes == kChunk ? NVVM::LoadCacheModifierKind::CG
                                          : NVVM::LoadCacheModifierKind::CA,
                          size);
  return {};
}

static Lowered lowerCopyGroup(Emitter &e, CopyGroupOp, Operands<CopyGroupOp>) {
  NVVM::CpAsyncCommitGroupOp::create(e.b, e.loc);
  return {};
}

static Lowered lowerCopyWait(Emitter &e, CopyWaitOp op, Operands<CopyWaitOp>) {
  NVVM::CpAsyncWaitGroupOp::create(e.b, e.loc, op.getPending());
  return {};
}

static void storeOne(Emitter &e, const Matrix &dest, Value row, Value col,
                     Value value, Value exists) {
  e.ifThen(exists,
           [&] { e.store(value, dest.pointer(e, row, col), dest.bytes); });
}

/// Elements that exist go to memory, two neighbours at once where they lie at a
/// multiple of their size.
static Lowered lowerStore(Emitter &e, StoreOp op, Operands<StoreOp> in) {
  FragmentType fragment = op.getFragment().getType();
  const ThreadInRole &self = in.self(op);
  Matrix dest(e, op.getDest());
  SmallVector<Value> values = cuda::elementsOf(e, fragment, in.getFragment());
  bool isPair = fragment.getCols() > 1;
  // Every lane of a row has the element of a fragment of one column.
  int64_t cols = isPair ? fragment.getCols() / 8 : 1;
  Value firstCol =
      e.add(op.getCol(),
            e.toIndex(isPair ? e.mul(e.rem(self.lane, 4), 2) : e.i32(0)));
  Value mask = e.bitAnd(
      e.add(dest.start, e.mul(e.add(firstCol, e.index(0)), dest.bytes)),
      2 * dest.bytes - 1);
  Value pitchMask = e.bitAnd(dest.pitch, 1);
  Value aligned = e.equal(e.bitOr(mask, pitchMask), e.index(0));
  size_t number = 0;
  for (int64_t part = 0; part < fragment.getParts(); ++part)
    for (int64_t col = 0; col < cols; ++col)
      for (int64_t half = 0; half < 2; ++half) {
        Value row =
            e.add(op.getRow(), e.toIndex(rowOf(e, fragment, self, part, half)));
        Value at = e.add(firstCol, e.index(8 * col));
        Value exists = e.inRange(row, dest.rows);
        Value first = e.logicalAnd(exists, e.inRange(at, dest.cols));
        if (!isPair) {
          Value speaks = e.lessThan(e.rem(self.lane, 4), e.i32(1));
          storeOne(e, dest, row, at, values[number++],
                   e.logicalAnd(first, speaks));
          continue;
        }
        Value next = e.add(at, e.index(1));
        Value second = e.logicalAnd(exists, e.inRange(next, dest.cols));
        Value x = values[number], y = values[number + 1];
        number += 2;
        Value both = e.logicalAnd(aligned, e.logicalAnd(first, second));
        e.ifThen(
            both,
            [&] {
              e.store(e.pair(x, y), dest.pointer(e, row, at), 2 * dest.bytes);
            },
            [&] {
              storeOne(e, dest, row, at, x, first);
              storeOne(e, dest, row, next, y, second);
            });
      }
  return {};
}

void pitgpu::populateCopyPatterns(PipelinePatterns &patterns) {
  patterns.add(lowerLoad, lowerLoadRows, lowerAdd, lowerAddRows, lowerAddWait,
               lowerGather, lowerCopy, lowerCopyGroup, lowerCopyWait,
               lowerStore);
}
