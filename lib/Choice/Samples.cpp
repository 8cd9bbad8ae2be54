//===- Samples.cpp - The live fraction of arrays --------------------------===//

#include "Support/Npy.h"
#include "ZeroFacts.h"
#include "pit-runtime/Context.h"
#include "pit-runtime/LiveFractions.h"

#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::pit;

namespace {
struct DestroyContext {
  void operator()(pit_context *context) const { pit_context_destroy(context); }
};
struct DestroyBuilder {
  void operator()(pit_index_builder *builder) const {
    pit_index_builder_destroy(builder);
  }
};

/// An array of a file, and its bitmap.
struct Sample {
  std::string path;
  std::unique_ptr<llvm::MemoryBuffer> file;
  pit_npy array;
  SmallVector<int64_t> shape; ///< of the mark's value
  std::vector<char> aligned;  ///< the data, if the file's is not
  std::unique_ptr<pit_index_builder, DestroyBuilder> builder;
  const pit_bitmap *bitmap = nullptr;
};

class Samples : public MarkFacts {
public:
  Samples(ArrayRef<std::string> files) {
    for (const std::string &file : files)
      samples.emplace_back().path = file;
  }

  std::string describe() const override {
    std::string text = samples.size() == 1 ? "sample" : "samples";
    for (const Sample &sample : samples)
      text += (&sample == &samples.front() ? " '" : ", '") + sample.path + "'";
    return text;
  }

  FailureOr<SmallVector<Observation>> count(SparseOp mark,
                                            ArrayRef<SparsityIndexType> indices,
                                            std::string &error) override {
    if (!context) {
      pit_context *made;
      if (pit_context_create(nullptr, &made) != PIT_OK) {
        error = "out of memory for samples";
        return failure();
      }
      context.reset(made);
    }
    SmallVector<Observation> seen;
    for (Sample &sample : samples) {
      if (!sample.bitmap && failed(read(sample, mark, error))) {
        error = "sample '" + sample.path + "' " + error;
        return failure();
      }
      seen.push_back({sample.shape, 1, {}});
      if (failed(countOne(sample, indices, seen.back(), error)))
        return failure();
    }
    return seen;
  }

private:
  LogicalResult failByRuntime(std::string &error) {
    char message[512];
    pit_context_message(context.get(), message, sizeof(message));
    error = std::string("cannot be counted: ") + message;
    return failure();
  }

  /// Reads a sample once, and makes its bitmap.
  LogicalResult read(Sample &sample, SparseOp mark, std::string &error) {
    auto file = llvm::MemoryBuffer::getFile(sample.path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
    if (!file) {
      error = "cannot be read: " + file.getError().message();
      return failure();
    }
    sample.file = std::move(*file);
    Type element = getElementTypeOrSelf(
        mark.getSelector() ? mark.getSelector().getType() : mark.getType());
    char message[PIT_NPY_MESSAGE_SIZE];
    if (!pit_npy_parse(sample.file->getBufferStart(),
                       sample.file->getBufferSize(), getDtype(element),
                       &sample.array, message)) {
      error = message;
      return failure();
    }
    if (failed(checkElement(sample.array.dtype, element, error)) ||
        failed(findShape(sample, mark, error)))
      return failure();
    return makeBitmap(sample, mark, error);
  }

  /// An integer may have any of the codes of integers.
  static DLDataType getDtype(Type element) {
    uint8_t code = element.isBF16()                 ? PIT_DTYPE_BFLOAT
                   : isa<Float8E4M3FNType>(element) ? PIT_DTYPE_FLOAT8_E4M3FN
                   : isa<Float8E5M2Type>(element)   ? PIT_DTYPE_FLOAT8_E5M2
                   : isa<FloatType>(element)        ? PIT_DTYPE_FLOAT
                                                    : PIT_DTYPE_INT;
    unsigned bits = element.isIntOrFloat()
                        ? std::max(8u, element.getIntOrFloatBitWidth())
                        : 0;
    return {code, static_cast<uint8_t>(bits), 1};
  }

  static LogicalResult checkElement(DLDataType dtype, Type element,
                                    std::string &error) {
    DLDataType wanted = getDtype(element);
    bool isInteger = dtype.code == PIT_DTYPE_INT ||
                     dtype.code == PIT_DTYPE_UINT ||
                     dtype.code == PIT_DTYPE_BOOL;
    bool fits =
        wanted.code == PIT_DTYPE_INT ? isInteger : dtype.code == wanted.code;
    if (fits && wanted.bits == dtype.bits)
      return success();
    llvm::raw_string_ostream os(error);
    os << "has elements of numpy's type " << pit_npy_descr(dtype)
       << "; the mark's are " << element;
    return failure();
  }

  /// The shape that the mark's value has. An array of another rank is one that
  /// was reshaped on the way to the mark.
  static LogicalResult findShape(Sample &sample, SparseOp mark,
                                 std::string &error) {
    ArrayRef<int64_t> type = mark.getType().getShape();
    ArrayRef<int64_t> has(sample.array.shape, sample.array.rank);
    bool isWhole =
        mark.getSource() == Source::Values || mark.getSource() == Source::Mask;
    sample.shape.assign(type.begin(), type.end());
    if (!isWhole) {
      // Lengths and routings have its first dimensions.
      size_t known = mark.getSource() == Source::Routing ? 1 : has.size();
      for (size_t d = 0; d < std::min(known, type.size()); ++d)
        if (ShapedType::isDynamic(type[d]))
          sample.shape[d] = has[d];
    } else if (has.size() == type.size()) {
      sample.shape.assign(has.begin(), has.end());
    } else {
      int64_t elements = 1, given = 1, unknown = 0;
      for (int64_t size : has)
        elements *= size;
      for (int64_t size : type)
        if (ShapedType::isDynamic(size))
          ++unknown;
        else
          given *= size;
      for (int64_t &size : sample.shape)
        if (ShapedType::isDynamic(size) && unknown == 1 && given > 0)
          size = elements / given;
    }
    int64_t elements = 1, needed = 1;
    bool fits = true;
    for (int64_t size : has)
      elements *= size;
    for (auto [is, wanted] : llvm::zip(sample.shape, type)) {
      fits &= !ShapedType::isDynamic(is) &&
              (ShapedType::isDynamic(wanted) || is == wanted);
      needed *= is;
    }
    if (fits && (!isWhole || needed == elements))
      return success();
    llvm::raw_string_ostream os(error);
    os << "has shape ";
    llvm::interleave(has, os, "x");
    os << (has.empty() ? "of a scalar" : "") << "; the mark's type is "
       << mark.getType();
    return failure();
  }

  LogicalResult makeBitmap(Sample &sample, SparseOp mark, std::string &error) {
    pit_index_builder *builder;
    if (pit_index_builder_create(context.get(), &builder) != PIT_OK)
      return failByRuntime(error);
    sample.builder.reset(builder);
    const char *data = sample.array.data;
    if (reinterpret_cast<uintptr_t>(data) % (sample.array.dtype.bits / 8)) {
      sample.aligned.assign(data, data + sample.array.bytes);
      data = sample.aligned.data();
    }
    bool isWhole =
        mark.getSource() == Source::Values || mark.getSource() == Source::Mask;
    DLTensor tensor = {};
    tensor.data = const_cast<char *>(data);
    tensor.device.device_type = kDLCPU;
    tensor.dtype = sample.array.dtype;
    tensor.ndim =
        isWhole ? static_cast<int32_t>(sample.shape.size()) : sample.array.rank;
    tensor.shape = isWhole ? sample.shape.data() : sample.array.shape;
    uint64_t bits = 0;
    TypedAttr background = mark.getBackgroundOrZero();
    if (auto number = dyn_cast<FloatAttr>(background))
      bits = number.getValue().bitcastToAPInt().getZExtValue();
    else if (auto number = dyn_cast<IntegerAttr>(background))
      bits = number.getValue().getZExtValue();
    bool isValues = mark.getSource() == Source::Values;
    if (pit_bitmap_build(builder, static_cast<int32_t>(sample.shape.size()),
                         sample.shape.data(),
                         static_cast<pit_source>(mark.getSource()), &tensor,
                         isValues ? &bits : nullptr, &sample.bitmap) != PIT_OK)
      return failByRuntime(error);
    return success();
  }

  /// All indices at once: the bitmaps of their micro-tiles are made of one
  /// another.
  LogicalResult countOne(Sample &sample, ArrayRef<SparsityIndexType> indices,
                         Observation &seen, std::string &error) {
    SmallVector<pit_index_spec> specs;
    for (SparsityIndexType index : indices) {
      pit_index_spec spec = {};
      spec.rank = static_cast<int32_t>(sample.shape.size());
      spec.axis = static_cast<int32_t>(index.getAxis());
      for (int32_t d = 0; d < spec.rank; ++d) {
        spec.shape[d] = sample.shape[d];
        bool whole = index.isWhole(d);
        spec.micro_tile[d] = whole ? 0 : index.getMicroTile()[d];
        spec.step[d] = whole ? 0 : index.getStep()[d];
      }
      specs.push_back(spec);
    }
    SmallVector<pit_live_fraction> liveFractions(specs.size());
    if (!specs.empty() &&
        pit_bitmap_live_fractions(
            sample.builder.get(), sample.bitmap, specs.data(),
            static_cast<int32_t>(specs.size()), liveFractions.data()) != PIT_OK)
      return failByRuntime(error);
    for (const pit_live_fraction &liveFraction : liveFractions)
      seen.counts.push_back(
          MicroTileCount{static_cast<double>(liveFraction.live),
                         static_cast<double>(liveFraction.micro_tiles)});
    return success();
  }

  std::unique_ptr<pit_context, DestroyContext> context;
  std::vector<Sample> samples;
};
} // namespace

std::unique_ptr<MarkFacts> mlir::pit::makeSamples(ArrayRef<std::string> files) {
  return std::make_unique<Samples>(files);
}
