//===- FragmentLowering.cpp - Elements that threads have ------------------===//

#include "PipelineLowering.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::pitgpu;
using cuda::Emitter;

Value pitgpu::rowOf(Emitter &e, FragmentType type, const ThreadInRole &self,
                    int64_t part, int64_t half) {
  int64_t warpRows = type.getWarpRows(), perWarp = warpRows / 16;
  Value row = e.add(e.mul(e.rem(self.warp, 4), warpRows), e.div(self.lane, 4));
  return e.add(row, 4 * warpRows * (part / perWarp) + 16 * (part % perWarp) +
                        8 * half);
}

/// Have two neighbours a register?
static bool isPacked(FragmentType type) {
  return type.getElementType().getIntOrFloatBitWidth() == 16;
}

void pitgpu::addFragmentType(TypeConverter &converter) {
  converter.addConversion([](FragmentType type, SmallVectorImpl<Type> &types) {
    int64_t count = type.getParts() * type.getElementsPerPart();
    if (type.getElementType().getIntOrFloatBitWidth() == 8)
      types.append(count / 4, IntegerType::get(type.getContext(), 32));
    else if (isPacked(type))
      types.append(count / 2, VectorType::get(2, type.getElementType()));
    else
      types.append(count, type.getElementType());
    return success();
  });
}

SmallVector<Value> pitgpu::elementsOf(Emitter &e, FragmentType type,
                                      ValueRange values) {
  if (!isPacked(type))
    return llvm::to_vector(values);
  SmallVector<Value> elements;
  for (Value pair : values)
    for (int64_t i = 0; i < 2; ++i)
      elements.push_back(e.extract(pair, i));
  return elements;
}

SmallVector<Value> pitgpu::valuesOf(Emitter &e, FragmentType type,
                                    ArrayRef<Value> elements) {
  if (!isPacked(type))
    return llvm::to_vector(elements);
  SmallVector<Value> values;
  for (size_t i = 0; i < elements.size(); i += 2)
    values.push_back(e.pair(elements[i], elements[i + 1]));
  return values;
}

static Lowered lowerSplat(Emitter &e, SplatOp op, Operands<SplatOp>) {
  FragmentType type = op.getType();
  SmallVector<Value> elements(type.getParts() * type.getElementsPerPart(),
                              op.getValue());
  return {valuesOf(e, type, elements)};
}

static Lowered lowerMap(Emitter &e, MapOp op, Operands<MapOp> in) {
  FragmentType type = op.getType();
  const ThreadInRole &self = in.self(op);
  bool isColumn = type.getCols() == 1;
  Value firstCol = isColumn ? e.i32(0) : e.mul(e.rem(self.lane, 4), 2);
  int64_t perPart = type.getElementsPerPart();
  SmallVector<SmallVector<Value>> inputs;
  for (auto [input, values] : llvm::zip(op.getInputs(), in.getInputs()))
    inputs.push_back(
        elementsOf(e, cast<FragmentType>(input.getType()), values));
  SmallVector<Value> result;
  for (int64_t i = 0, n = type.getParts() * perPart; i < n; ++i) {
    // In each eight columns two neighbours of one row, then of the other.
    int64_t part = i / perPart, inPart = i % perPart;
    int64_t half = isColumn ? inPart : inPart / 2 % 2;
    int64_t col = isColumn ? 0 : inPart / 4 * 8 + inPart % 2;
    SmallVector<Value> arguments = {rowOf(e, type, self, part, half),
                                    e.add(firstCol, col)};
    for (auto [input, elements] : llvm::zip(op.getInputs(), inputs)) {
      bool isOne = cast<FragmentType>(input.getType()).getCols() == 1;
      arguments.push_back(elements[isOne ? 2 * part + half : i]);
    }
    result.push_back(e.clone(op.getBody().front(), arguments).front());
  }
  return {valuesOf(e, type, result)};
}

/// The value of the lane at that distance.
static Value exchange(Emitter &e, Value value, int64_t distance) {
  Type type = value.getType(), i32 = e.b.getI32Type();
  Type bits = e.b.getIntegerType(type.getIntOrFloatBitWidth());
  Value word = arith::BitcastOp::create(e.b, e.loc, bits, value);
  if (bits != i32)
    word = arith::ExtUIOp::create(e.b, e.loc, i32, word);
  word = NVVM::ShflOp::create(e.b, e.loc, i32, e.i32(-1), word, e.i32(distance),
                              e.i32(31), NVVM::ShflKind::bfly, UnitAttr());
  if (bits != i32)
    word = arith::TruncIOp::create(e.b, e.loc, bits, word);
  return arith::BitcastOp::create(e.b, e.loc, type, word);
}

/// Each thread combines what it has of a row, then the four lanes of the row
/// exchange that.
static Lowered lowerReduceRows(Emitter &e, ReduceRowsOp op,
                               Operands<ReduceRowsOp> in) {
  FragmentType type = op.getInput().getType();
  if (type.getCols() == 1) {
    return {llvm::to_vector(in.getInput())};
  }
  int64_t perPart = type.getElementsPerPart();
  SmallVector<Value> elements = elementsOf(e, type, in.getInput());
  SmallVector<Value> result;
  for (int64_t part = 0; part < type.getParts(); ++part)
    for (int64_t half = 0; half < 2; ++half) {
      Value all;
      for (int64_t i = 0; i < perPart; ++i) {
        if (i / 2 % 2 != half)
          continue;
        Value next = elements[part * perPart + i];
        all = all ? e.clone(op.getBody().front(), {all, next}).front() : next;
      }
      for (int64_t distance : {1, 2})
        all = e.clone(op.getBody().front(), {all, exchange(e, all, distance)})
                  .front();
      result.push_back(all);
    }
  return {valuesOf(e, op.getType(), result)};
}

/// The place of a column (a constant) of a row in a tile, from that of column 0
/// or of a few further ones on: `at`. Within a line it is exclusive-ored.
static Value placeOfCol(Emitter &e, TileType tile, Value at, int64_t col) {
  int64_t line = tile.getLineElements();
  at = e.add(at, col / line * tile.getPitch());
  return e.bitXor(at, e.i32(col % line * tile.getElementBytes()));
}

static NVVM::LdStMatrixShapeAttr shapeOfMatrix(Emitter &e) {
  return NVVM::LdStMatrixShapeAttr::get(e.b.getContext(), 8, 8);
}

/// A lane's words of four matrices.
static SmallVector<Value> loadMatrices(Emitter &e, Value row, bool transposed) {
  auto type = LLVM::LLVMStructType::getLiteral(
      e.b.getContext(), SmallVector<Type>(4, e.b.getI32Type()));
  Value four = NVVM::LdMatrixOp::create(
      e.b, e.loc, type, e.sharedPointer(row), /*num=*/4,
      transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
      shapeOfMatrix(e), NVVM::LdStMatrixEltType::B16);
  SmallVector<Value> words;
  for (int64_t i = 0; i < 4; ++i)
    words.push_back(LLVM::ExtractValueOp::create(e.b, e.loc, four, i));
  return words;
}

/// The place of a lane's row in the four 8 x 8 matrices of 16 rows and columns:
/// rows of the first eight columns, then of the others.
static Value matrixRow(Emitter &e, TileType tile, Value place,
                       const ThreadInRole &self, int64_t part) {
  Value row = e.add(e.mul(e.rem(self.warp, 4), 16), e.rem(self.lane, 16));
  row = e.add(row, 64 * part);
  return e.add(place, offsetOf(e, tile, row, e.mul(e.div(self.lane, 16), 8)));
}

/// The same, of the transposed: rows of the tile are columns of the fragment.
static Value matrixCol(Emitter &e, TileType tile, Value place,
                       const ThreadInRole &self, int64_t part) {
  Value matrix = e.div(self.lane, 8);
  Value row = e.add(e.mul(e.div(matrix, 2), 8), e.rem(self.lane, 8));
  Value col = e.add(e.mul(e.rem(self.warp, 4), 16), e.mul(e.rem(matrix, 2), 8));
  return e.add(place, offsetOf(e, tile, row, e.add(col, 64 * part)));
}

static void storeMatrices(Emitter &e, LocalStoreOp op, const ThreadInRole &self,
                          Value place, ValueRange values, int64_t part) {
  TileType tile = op.getTile().getType();
  bool transposed = op.getTransposed();
  Value first = transposed ? matrixCol(e, tile, place, self, part)
                           : matrixRow(e, tile, place, self, part);
  for (int64_t i = 0, n = values.size(); i < n; i += 4) {
    SmallVector<Value> words;
    for (Value pair : values.slice(i, std::min<int64_t>(4, n - i)))
      words.push_back(e.bitcast(e.b.getI32Type(), pair));
    int64_t col = static_cast<int64_t>(op.getCols()) + 4 * i;
    Value to = transposed ? e.add(first, col * tile.getSwizzle())
                          : placeOfCol(e, tile, first, col);
    NVVM::StMatrixOp::create(e.b, e.loc, e.sharedPointer(to), words,
                             transposed ? NVVM::MMALayout::col
                                        : NVVM::MMALayout::row,
                             shapeOfMatrix(e), NVVM::LdStMatrixEltType::B16);
  }
}

/// A thread has two neighbours of every eight columns, of each of two rows.
static void storePairs(Emitter &e, LocalStoreOp op, const ThreadInRole &self,
                       Value place, ValueRange values, int64_t part) {
  TileType tile = op.getTile().getType();
  FragmentType type = op.getFragment().getType();
  Value own = e.mul(e.rem(self.lane, 4), 2);
  for (int64_t half = 0; half < 2; ++half) {
    Value row = rowOf(e, type, self, part, half);
    Value first = e.add(place, offsetOf(e, tile, row, own));
    for (size_t i = 2 * half; i < values.size(); i += 4) {
      Value to =
          placeOfCol(e, tile, first,
                     static_cast<int64_t>(op.getCols() + 2 * (i - 2 * half)));
      e.store(e.pair(values[i], values[i + 1]), e.sharedPointer(to),
              2 * tile.getElementBytes());
    }
  }
}

/// Words of a thread's values, of two elements of 16 bits each.
static Lowered lowerLocalStore(Emitter &e, LocalStoreOp op,
                               Operands<LocalStoreOp> in) {
  FragmentType type = op.getFragment().getType();
  for (int64_t part = 0; part < type.getParts(); ++part) {
    size_t count = in.getFragment().size() / type.getParts();
    ValueRange values = in.getFragment().slice(part * count, count);
    if (isPacked(type))
      storeMatrices(e, op, in.self(op), in.getTile().front(), values, part);
    else
      storePairs(e, op, in.self(op), in.getTile().front(), values, part);
  }
  return {};
}

static Lowered lowerLoadMatrices(Emitter &e, LoadMatricesOp op,
                                 Operands<LoadMatricesOp> in) {
  SmallVector<SmallVector<Value>> words;
  for (Value word : loadMatrices(e, in.getRow().front(), op.getTransposed()))
    words.push_back({word});
  return words;
}

static Lowered lowerLocalLoad(Emitter &e, LocalLoadOp op,
                              Operands<LocalLoadOp> in) {
  TileType tile = op.getTile().getType();
  FragmentType type = op.getType();
  SmallVector<Value> values;
  for (int64_t part = 0; part < type.getParts(); ++part) {
    Value first = matrixRow(e, tile, in.getTile().front(), in.self(op), part);
    for (int64_t col = 0; col < type.getCols(); col += 16)
      for (Value word : loadMatrices(e, placeOfCol(e, tile, first, col),
                                     /*transposed=*/false))
        values.push_back(
            e.bitcast(VectorType::get(2, type.getElementType()), word));
  }
  return {values};
}

void pitgpu::populateFragmentPatterns(PipelinePatterns &patterns) {
  patterns.add(lowerSplat, lowerMap, lowerReduceRows, lowerLocalStore,
               lowerLocalLoad, lowerLoadMatrices);
}
