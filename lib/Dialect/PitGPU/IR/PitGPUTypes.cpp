//===- PitGPUTypes.cpp - Types of the pit_gpu dialect ---------------------===//

#include "pit/Dialect/PitGPU/IR/PitGPU.h"

#include "Verify.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pit::pitgpu;

/// A list of tiles, which may be empty, and whether they are the block's.
static ParseResult parseTiles(AsmParser &parser, SmallVectorImpl<Type> &tiles,
                              bool &ofBlock) {
  auto parseOne = [&] {
    Type type;
    if (OptionalParseResult full = parser.parseOptionalType(type);
        full.has_value()) {
      tiles.push_back(type);
      return *full;
    }
    FailureOr<TileType> tile = FieldParser<TileType>::parse(parser);
    if (succeeded(tile))
      tiles.push_back(*tile);
    return ParseResult(tile);
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  ofBlock = succeeded(parser.parseOptionalComma());
  return ofBlock ? parser.parseKeyword("block") : success();
}
static void printTiles(AsmPrinter &printer, ArrayRef<Type> tiles,
                       bool ofBlock) {
  printer << "[";
  llvm::interleaveComma(tiles, printer, [&](Type tile) {
    if (auto matrix = dyn_cast<TileType>(tile))
      printer.printStrippedAttrOrType(matrix);
    else
      printer << tile;
  });
  printer << (ofBlock ? "], block" : "]");
}

#define GET_TYPEDEF_CLASSES
#include "pit/Dialect/PitGPU/IR/PitGPUTypes.cpp.inc"

void PitGPUDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "pit/Dialect/PitGPU/IR/PitGPUTypes.cpp.inc"
      >();
}

using EmitError = function_ref<InFlightDiagnostic()>;

/// Tiles are at most so large along each dimension, and so far apart in bytes,
/// that no sum of their bytes overflows.
static constexpr int64_t kMaxExtent = 65536, kMaxPitch = 1 << 24;

/// Does wgmma know the type?
static bool isFactor(Type type) {
  return isa<Float16Type, BFloat16Type, Float32Type, Float8E4M3FNType,
             Float8E5M2Type>(type);
}

static LogicalResult verifySwizzle(EmitError emitError, StringRef constraint,
                                   int64_t swizzle) {
  if (swizzle == 32 || swizzle == 64 || swizzle == 128)
    return success();
  return emitError() << '[' << constraint << "] swizzle is " << swizzle
                     << " bytes; 32, 64 or 128 is right";
}

/// Parses "<64x256xf32", and whatever follows stays.
static FailureOr<std::pair<SmallVector<int64_t>, Type>>
parseExtents(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape;
  Type element;
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(element))
    return failure();
  if (shape.size() != 2)
    return parser.emitError(loc)
           << "two extents are right, not " << shape.size();
  return std::make_pair(shape, element);
}

template <typename SumsType>
static void printExtents(SumsType type, AsmPrinter &printer) {
  printer << "<" << type.getRows() << "x" << type.getCols() << "x"
          << type.getElementType();
}

//===----------------------------------------------------------------------===//
// TileType
//===----------------------------------------------------------------------===//

int64_t TileType::getElementBytes() const {
  return getElementType().getIntOrFloatBitWidth() / 8;
}

int64_t TileType::getBlocks() const {
  return llvm::divideCeil(getCols(), getLineElements());
}

int64_t TileType::getBytes() const {
  return llvm::alignTo((getBlocks() - 1) * getPitch() +
                           getRows() * getSwizzle(),
                       kSwizzleRepeat);
}

int64_t TileType::getCopiedBytes() const {
  return getBlocks() * getRows() * getSwizzle();
}

LogicalResult TileType::verify(EmitError emitError, int64_t rows, int64_t cols,
                               Type element, int64_t swizzle, int64_t pitch) {
  if (!isFactor(element))
    return violates(emitError, "tile_type 3")
           << "elements of a tile are " << element
           << "; f16, bf16, f32, f8E4M3FN or f8E5M2 is right";
  if (failed(verifySwizzle(emitError, "tile_type 2", swizzle)))
    return failure();
  int64_t line = swizzle * 8 / element.getIntOrFloatBitWidth();
  if (rows <= 0 || cols <= 0 || rows > kMaxExtent || cols > kMaxExtent ||
      rows % 8 || (cols % line && line % cols))
    return violates(emitError, "tile_type 1")
           << "a tile of " << rows << "x" << cols
           << "; rows are a multiple of 8, columns a multiple or a part of a "
              "line's "
           << line << ", and both at most " << kMaxExtent;
  if (pitch % (8 * swizzle) || pitch < rows * swizzle || pitch > kMaxPitch)
    return violates(emitError, "tile_type 4")
           << "blocks of " << rows * swizzle << " bytes with a pitch of "
           << pitch << "; a multiple of " << 8 * swizzle
           << " that holds a block, at most " << kMaxPitch << ", is right";
  return success();
}

/// Parses "<128x64xbf16, swizzle = 128", and whatever follows stays.
static FailureOr<std::tuple<SmallVector<int64_t>, Type, int64_t>>
parseSwizzled(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  int64_t swizzle;
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(element) || parser.parseComma() ||
      parser.parseKeyword("swizzle") || parser.parseEqual() ||
      parser.parseInteger(swizzle))
    return failure();
  return std::make_tuple(shape, element, swizzle);
}

Type TileType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  auto parsed = parseSwizzled(parser);
  if (failed(parsed))
    return {};
  auto [shape, element, swizzle] = *parsed;
  if (shape.size() != 2) {
    parser.emitError(loc) << "a tile has two extents, not " << shape.size();
    return {};
  }
  int64_t pitch = shape[0] * swizzle;
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("pitch") || parser.parseEqual() ||
       parser.parseInteger(pitch)))
    return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    shape[0], shape[1], element, swizzle, pitch);
}

void TileType::print(AsmPrinter &printer) const {
  printer << "<" << getRows() << "x" << getCols() << "x" << getElementType()
          << ", swizzle = " << getSwizzle();
  if (getPitch() != getRows() * getSwizzle())
    printer << ", pitch = " << getPitch();
  printer << ">";
}

//===----------------------------------------------------------------------===//
// RowTileType
//===----------------------------------------------------------------------===//

/// Bytes that stay together.
static constexpr int64_t kChunk = 16;

static int64_t bytesOfRow(int64_t cols, Type element) {
  return cols * llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

int64_t RowTileType::getBytes() const {
  return getRows() * bytesOfRow(getCols(), getElementType());
}

LogicalResult RowTileType::verify(EmitError emitError, int64_t rows,
                                  int64_t cols, Type element, int64_t shift) {
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() > 64)
    return violates(emitError, "row_tile_type 2")
           << "elements of a tile are " << element
           << "; integers or floats of at most 8 bytes are right";
  if (rows <= 0 || cols <= 0 || rows > kMaxExtent || cols > kMaxExtent ||
      bytesOfRow(cols, element) % kChunk)
    return violates(emitError, "row_tile_type 1")
           << "a tile of " << rows << "x" << cols << " elements of " << element
           << "; rows of a multiple of " << kChunk
           << " bytes, and extents of at most " << kMaxExtent << ", are right";
  if (shift != 1 && shift != 2 && shift != 4 && shift != 8)
    return violates(emitError, "row_tile_type 3")
           << "chunks are shifted by " << shift << "; 1, 2, 4 or 8 is right";
  return success();
}

Type RowTileType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  auto extents = parseExtents(parser);
  if (failed(extents))
    return {};
  int64_t shift = 1;
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("shift") || parser.parseEqual() ||
       parser.parseInteger(shift)))
    return {};
  if (parser.parseGreater())
    return {};
  auto [shape, element] = *extents;
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    shape[0], shape[1], element, shift);
}

void RowTileType::print(AsmPrinter &printer) const {
  printExtents(*this, printer);
  if (getShift() != 1)
    printer << ", shift = " << getShift();
  printer << ">";
}

//===----------------------------------------------------------------------===//
// RingType
//===----------------------------------------------------------------------===//

/// Bytes of a matrix in shared memory, or columns of sums in tensor memory.
static int64_t sizeOf(Type tile) {
  if (auto sums = dyn_cast<AccumulatorType>(tile))
    return sums.getCols();
  if (auto rows = dyn_cast<RowTileType>(tile))
    return rows.getBytes();
  return cast<TileType>(tile).getBytes();
}

static bool areInTensorMemory(ArrayRef<Type> tiles) {
  return !tiles.empty() && isa<AccumulatorType>(tiles.front());
}

bool StageType::isInTensorMemory() const {
  return areInTensorMemory(getTiles());
}

TileType StageType::getTile(unsigned tile) const {
  return cast<TileType>(getTiles()[tile]);
}

int64_t StageType::getTileOffset(unsigned tile) const {
  int64_t offset = 0;
  for (Type before : getTiles().take_front(tile))
    offset += sizeOf(before);
  return offset;
}

/// A stage has tiles of one kind.
static LogicalResult verifyTiles(EmitError emitError, StringRef constraint,
                                 ArrayRef<Type> tiles) {
  for (Type tile : tiles) {
    Type first = tiles.front();
    auto sums = dyn_cast<AccumulatorType>(tile);
    if (tile.getTypeID() != first.getTypeID() ||
        !(sums ? sums.getInTensorMemory() : isa<TileType, RowTileType>(tile)))
      return violates(emitError, constraint)
             << "a stage with a " << tile
             << "; matrices of one kind alone, or accumulators in tensor "
                "memory "
                "alone, are right";
  }
  return success();
}

LogicalResult StageType::verify(EmitError emitError, ArrayRef<Type> tiles,
                                bool ofBlock) {
  if (failed(verifyTiles(emitError, "stage_type 1", tiles)))
    return failure();
  if (ofBlock && areInTensorMemory(tiles))
    return violates(emitError, "stage_type 2")
           << "a stage of the block with a " << tiles.front()
           << "; threads fill shared memory";
  return success();
}

bool RingType::isInTensorMemory() const {
  return areInTensorMemory(getTiles());
}

int64_t RingType::getStageSize() const {
  return cast<StageType>(getStage()).getSize();
}

Type RingType::getStage() const {
  return StageType::get(getContext(), getTiles(), getOfBlock());
}

LogicalResult RingType::verify(EmitError emitError, int64_t stages,
                               ArrayRef<Type> tiles, bool ofBlock) {
  if (stages < 1 || stages > 32)
    return violates(emitError, "ring_type 1")
           << "a ring of " << stages << " stages; 1 to 32 is right";
  if (failed(verifyTiles(emitError, "ring_type 2", tiles)))
    return failure();
  if (ofBlock && (stages < 2 || areInTensorMemory(tiles)))
    return violates(emitError, "ring_type 3")
           << "a ring of the block of " << stages << " stages in "
           << (areInTensorMemory(tiles) ? "tensor" : "shared")
           << " memory; 2 or more of matrices are right";
  int64_t columns = 0;
  if (areInTensorMemory(tiles))
    for (Type tile : tiles)
      columns += stages * sizeOf(tile);
  if (columns > kTensorColumns)
    return violates(emitError, "ring_type 2")
           << stages << " stages of " << columns / stages
           << " columns of tensor memory; " << kTensorColumns
           << " columns together are the most";
  return success();
}

//===----------------------------------------------------------------------===//
// TensorMapType
//===----------------------------------------------------------------------===//

LogicalResult TensorMapType::verify(EmitError emitError, ArrayRef<int64_t> box,
                                    Type element, int64_t swizzle) {
  if (box.size() < 2 || box.size() > 5)
    return violates(emitError, "tensor_map_type 1")
           << "a box of " << box.size() << " dimensions; 2 to 5 is right";
  for (int64_t extent : box)
    if (extent < 1 || extent > 256)
      return violates(emitError, "tensor_map_type 1")
             << "a box with an extent of " << extent << "; 1 to 256 is right";
  if (failed(verifySwizzle(emitError, "tensor_map_type 2", swizzle)))
    return failure();
  if (!isFactor(element))
    return violates(emitError, "tensor_map_type 3")
           << "elements of a tensor are " << element
           << "; f16, bf16, f32, f8E4M3FN or f8E5M2 is right";
  if (box.back() * element.getIntOrFloatBitWidth() != swizzle * 8)
    return violates(emitError, "tensor_map_type 2")
           << "a box of " << box.back() << " elements of " << element
           << " is not as wide as its swizzle of " << swizzle << " bytes";
  return success();
}

int64_t TensorMapType::getRowDim() const {
  ArrayRef<int64_t> box = getBox();
  int64_t last = static_cast<int64_t>(box.size()) - 1;
  for (int64_t d = 0; d < last; ++d)
    if (box[d] > 1)
      return d;
  return last - 1;
}

Type TensorMapType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  auto parsed = parseSwizzled(parser);
  if (failed(parsed) || parser.parseGreater())
    return {};
  auto [box, element, swizzle] = *parsed;
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    box, element, swizzle);
}

void TensorMapType::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printDimensionList(getBox());
  printer << "x" << getElementType() << ", swizzle = " << getSwizzle() << ">";
}

//===----------------------------------------------------------------------===//
// AccumulatorType and FragmentType
//===----------------------------------------------------------------------===//

/// Elements that a thread may have of one matrix: sums of wgmma, and others.
static constexpr int64_t kMaxSums = 192, kMaxElements = 256;

static bool hasExtents(int64_t rows, int64_t cols) {
  return rows > 0 && rows % 64 == 0 && cols % 8 == 0 && cols >= 8 &&
         cols <= 256;
}

Type AccumulatorType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  auto extents = parseExtents(parser);
  if (failed(extents))
    return {};
  bool inTensorMemory = succeeded(parser.parseOptionalComma());
  if ((inTensorMemory && parser.parseKeyword("tensor_memory")) ||
      parser.parseGreater())
    return {};
  auto [shape, element] = *extents;
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    shape[0], shape[1], element, inTensorMemory);
}

void AccumulatorType::print(AsmPrinter &printer) const {
  printExtents(*this, printer);
  printer << (getInTensorMemory() ? ", tensor_memory>" : ">");
}

LogicalResult AccumulatorType::verify(EmitError emitError, int64_t rows,
                                      int64_t cols, Type element,
                                      bool inTensorMemory) {
  if (!hasExtents(rows, cols))
    return violates(emitError, "accumulator_type 1")
           << "an accumulator of " << rows << "x" << cols
           << "; rows are a multiple of 64, and columns one of 8 up to 256";
  if (!element.isF32())
    return violates(emitError, "accumulator_type 2")
           << "an accumulator of " << element << "; f32 is right";
  if (inTensorMemory && (rows != kTensorLanes || cols % 16))
    return violates(emitError, "accumulator_type 4")
           << "an accumulator of " << rows << "x" << cols
           << " in tensor memory; " << kTensorLanes
           << " rows, and a multiple of 16 columns, are right";
  if (!inTensorMemory && rows > 128 * kMaxSums / cols)
    return violates(emitError, "accumulator_type 3")
           << "an accumulator of " << rows << "x" << cols << " takes more than "
           << kMaxSums << " registers of a thread";
  return success();
}

Type FragmentType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  auto extents = parseExtents(parser);
  if (failed(extents))
    return {};
  int64_t warpRows = kWarpRows;
  bool spread = false;
  if (succeeded(parser.parseOptionalComma())) {
    spread = succeeded(parser.parseOptionalKeyword("spread"));
    if (!spread && (parser.parseKeyword("warp_rows") || parser.parseEqual() ||
                    parser.parseInteger(warpRows)))
      return {};
  }
  if (parser.parseGreater())
    return {};
  auto [shape, element] = *extents;
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    shape[0], shape[1], element, warpRows, spread);
}

void FragmentType::print(AsmPrinter &printer) const {
  printExtents(*this, printer);
  if (getWarpRows() != kWarpRows)
    printer << ", warp_rows = " << getWarpRows();
  printer << (getSpread() ? ", spread>" : ">");
}

LogicalResult FragmentType::verify(EmitError emitError, int64_t rows,
                                   int64_t cols, Type element, int64_t warpRows,
                                   bool spread) {
  bool isOfWarp = rows == warpRows && rows > 0 && rows % kWarpRows == 0;
  if (!hasExtents(isOfWarp || rows == 1 ? 64 : rows, cols == 1 ? 8 : cols))
    return violates(emitError, "fragment_type 1")
           << "a fragment of " << rows << "x" << cols
           << "; rows are 1, those of a warp or a multiple of 64, and columns "
              "one of 8 up to 256, or 1";
  bool isSmall =
      isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 16;
  if (!element.isIntOrIndexOrFloat() ||
      (isSmall && (!isa<Float8E4M3FNType, Float8E5M2Type>(element) ||
                   cols % 32 || isOfWarp || rows == 1)))
    return violates(emitError, "fragment_type 2")
           << "a fragment of " << rows << "x" << cols << " elements of "
           << element
           << "; integers, index and floats, or floats of 8 bits in a multiple "
              "of 64 rows and of 32 columns, are right";
  int64_t perPart = cols == 1 ? 2 : cols / 2;
  if (rows / (isOfWarp ? kWarpRows : 64) > kMaxElements / perPart)
    return violates(emitError, "fragment_type 3")
           << "a fragment of " << rows << "x" << cols << " gives a thread more "
           << "than " << kMaxElements << " elements";
  bool isWide = warpRows == 2 * kWarpRows;
  if (!isOfWarp &&
      ((!isWide && warpRows != kWarpRows) || (isWide && rows % kTensorLanes)))
    return violates(emitError, "fragment_type 4")
           << "a fragment of " << rows << " rows with " << warpRows
           << " in a warp; " << kWarpRows << ", or " << 2 * kWarpRows
           << " of a multiple of " << kTensorLanes
           << " rows, or all, are right";
  if (spread && (rows != 1 || cols < kSpread / 2 || element.isIndex() ||
                 element.getIntOrFloatBitWidth() > 32))
    return violates(emitError, "fragment_type 5")
           << "a fragment of " << rows << "x" << cols << " elements of "
           << element << " is spread; one row of " << kSpread / 2
           << " columns or more, of at most 32 bits, is right";
  return success();
}
