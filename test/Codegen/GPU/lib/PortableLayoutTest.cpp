//===- PortableLayoutTest.cpp - Layouts of mainloops, by value ------------===//
//
// Checks the arithmetic of shared memory and fragments: the addresses that the
// emitter makes for a thread whose number is a constant fold to constants. What
// tensor cores multiply is found by running a warp's code on bytes that know
// which element they are of.
//
//===----------------------------------------------------------------------===//

#include "Codegen/GPU/Portable/PortableLowering.h"

#include "pit/Dialect/PitGPU/IR/PitGPU.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <vector>

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

static int failures = 0;

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) {                                                        \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);     \
      ++failures;                                                              \
    }                                                                          \
  } while (false)

/// Elements have places of their own, chunks stay whole, and eight neighbouring
/// rows of one chunk, or eight chunks of a row, lie in different banks.
static void checkTile(int64_t rows, int64_t cols, int64_t bytes) {
  SharedTile tile{rows, cols, bytes};
  std::set<int64_t> places;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c) {
      int64_t place = tile.offsetOf(r, c);
      CHECK(place >= 0 && place + bytes <= tile.bytes());
      CHECK(places.insert(place).second);
      if (c % tile.chunkElements() != 0)
        CHECK(place == tile.offsetOf(r, c - 1) + bytes);
      else
        CHECK(place % kChunkBytes == 0);
    }
  bool powerOfTwo = (tile.chunks() & (tile.chunks() - 1)) == 0;
  for (int64_t r = 0; powerOfTwo && r + 8 <= rows; r += 8)
    for (int64_t c = 0; c < cols; c += tile.chunkElements()) {
      std::set<int64_t> banks;
      for (int64_t i = 0; i < 8; ++i)
        banks.insert(tile.offsetOf(r + i, c) % 128);
      CHECK(banks.size() == 8);
    }
}

static int64_t valueOf(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  bool foldsToConstant = false;
  CHECK(foldsToConstant);
  return -1;
}

/// Every element of the covered tile belongs to one accumulator of one thread.
static void checkFragments(Emitter &e, const PortablePlan &plan) {
  std::set<std::pair<int64_t, int64_t>> elements;
  for (int64_t t = 0; t < plan.threads(); ++t) {
    ProductThread thread{{e, plan, e.i32(t), Value()}, plan};
    Fragment fragment = plan.tensorCores() ? tensorCoreFragment(thread)
                                           : scalarFragment(thread);
    for (Value row : fragment.rows)
      for (Value col : fragment.cols)
        CHECK(elements.insert({valueOf(row), valueOf(col)}).second);
  }
  CHECK(static_cast<int64_t>(elements.size()) == plan.m * plan.n);
  CHECK(elements.rbegin()->first == plan.m - 1);
}

//===----------------------------------------------------------------------===//
// What tensor cores multiply
//===----------------------------------------------------------------------===//

/// A byte of an operand's element; outer is its position along m or n.
struct Byte {
  int64_t operand = -1, outer = -1, k = -1, number = -1;
  bool operator==(const Byte &other) const {
    return operand == other.operand && outer == other.outer && k == other.k &&
           number == other.number;
  }
};
using Register = std::array<Byte, 4>;

/// Runs the code that multiplies one stage on the 32 lanes of a warp.
class Warp {
public:
  Warp(Emitter &e, const PortablePlan &plan, int64_t number, bool conflictFree,
       std::vector<char> &products)
      : e(e), plan(plan), number(number), conflictFree(conflictFree),
        products(products) {
    place(plan.a, 0, 0);
    place(plan.b, 1, plan.a.bytes());
  }

  void run(Type accumulator) {
    for (int64_t lane = 0; lane < 32; ++lane) {
      Fragment fragment = tensorCoreFragment(thread(lane));
      for (Value row : fragment.rows)
        rows[lane].push_back(valueOf(row));
      for (Value col : fragment.cols)
        cols[lane].push_back(valueOf(col));
    }
    int64_t steps = plan.depth / (2 * plan.a.tile.chunkElements());
    for (int64_t k = 0; k < steps; ++k) {
      Block blocks[32];
      SmallVector<Operation *> code[32];
      for (int64_t lane = 0; lane < 32; ++lane) {
        emit(blocks[lane], accumulator, lane, k);
        for (Operation &op : blocks[lane])
          if (!isa<arith::ConstantOp, LLVM::IntToPtrOp>(op))
            code[lane].push_back(&op);
      }
      registers.clear();
      for (size_t i = 0; i < code[0].size(); ++i) {
        Operation *ops[32];
        for (int64_t lane = 0; lane < 32; ++lane)
          ops[lane] = code[lane][i];
        execute(ops);
      }
    }
  }

private:
  ProductThread thread(int64_t lane) {
    return {{e, plan, e.i32(32 * number + lane), Value()}, plan};
  }

  void place(const PortableOperand &operand, int64_t which, int64_t start) {
    const SharedTile &tile = operand.tile;
    for (int64_t r = 0; r < tile.rows; ++r)
      for (int64_t c = 0; c < tile.cols; ++c)
        for (int64_t b = 0; b < tile.elementBytes; ++b)
          memory[start + tile.offsetOf(r, c) + b] =
              operand.kIsCol ? Byte{which, r, c, b} : Byte{which, c, r, b};
  }

  void emit(Block &block, Type accumulator, int64_t lane, int64_t k) {
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(&block);
    SmallVector<Value> accumulators;
    for (size_t i = 0; i < rows[lane].size() * cols[lane].size(); ++i)
      accumulators.push_back(block.addArgument(accumulator, e.loc));
    SmallVector<Value> a = loadTensorCoreBlocks(thread(lane), /*isB=*/false,
                                                e.i32(0), k),
                       b = loadTensorCoreBlocks(thread(lane), /*isB=*/true,
                                                e.i32(plan.a.bytes()), k);
    multiplyTensorCores(thread(lane), a, b, accumulators);
  }

  int64_t address(Value pointer) {
    return valueOf(pointer.getDefiningOp<LLVM::IntToPtrOp>().getArg());
  }

  Register word(int64_t from) {
    Register bytes;
    for (int64_t b = 0; b < 4; ++b)
      bytes[b] = memory[from + b];
    return bytes;
  }

  /// What is accessed at once lies in different banks.
  void checkBanks(ArrayRef<int64_t> addresses, int64_t bytes) {
    std::set<int64_t> banks;
    for (int64_t at : addresses) {
      CHECK(at % bytes == 0);
      banks.insert(at % 128);
    }
    CHECK(!conflictFree || banks.size() == addresses.size());
  }

  void execute(ArrayRef<Operation *> ops) {
    if (auto load = dyn_cast<pitgpu::LoadMatricesOp>(ops[0]))
      return loadMatrices(ops, load.getTransposed());
    if (isa<LLVM::LoadOp>(ops[0]))
      return loadPairs(ops);
    if (isa<pitgpu::MmaSyncOp>(ops[0]))
      return multiply(ops);
    for (Operation *op : ops) {
      SmallVector<Register> &to = registers[op->getResult(0)];
      const SmallVector<Register> from = registers[op->getOperand(0)];
      if (auto extract = dyn_cast<LLVM::ExtractElementOp>(op)) {
        to = {from[valueOf(extract.getPosition())]};
      } else if (isa<LLVM::BitcastOp, NVVM::ConvertFloatToTF32Op>(op)) {
        to = from;
      } else if (auto permute = dyn_cast<NVVM::PermuteOp>(op)) {
        permuteBytes(permute);
      } else {
        bool known = false;
        CHECK(known);
      }
    }
  }

  void loadMatrices(ArrayRef<Operation *> ops, bool transposed) {
    SmallVector<int64_t> at;
    for (Operation *op : ops)
      at.push_back(valueOf(op->getOperand(0)));
    for (int64_t matrix = 0; matrix < 4; ++matrix) {
      ArrayRef<int64_t> rowsAt = ArrayRef(at).slice(8 * matrix, 8);
      checkBanks(rowsAt, 16);
      for (int64_t lane = 0; lane < 32; ++lane) {
        int64_t row = lane / 4, pair = lane % 4 * 2;
        Register bytes = word(rowsAt[row] + 2 * pair);
        if (transposed) {
          Register upper = word(rowsAt[pair + 1] + row / 2 * 4);
          bytes = word(rowsAt[pair] + row / 2 * 4);
          int64_t half = row % 2 * 2;
          bytes = {bytes[half], bytes[half + 1], upper[half], upper[half + 1]};
        }
        registers[ops[lane]->getResult(matrix)] = {bytes};
      }
    }
  }

  void loadPairs(ArrayRef<Operation *> ops) {
    SmallVector<int64_t> at;
    for (Operation *op : ops) {
      at.push_back(address(op->getOperand(0)));
      registers[op->getResult(0)] = {word(at.back()), word(at.back() + 4)};
    }
    checkBanks(ArrayRef(at).take_front(16), 8);
    checkBanks(ArrayRef(at).drop_front(16), 8);
  }

  void permuteBytes(NVVM::PermuteOp op) {
    Register lo = registers[op.getLo()][0], hi = registers[op.getHi()][0], to;
    int64_t selector = valueOf(op.getSelector());
    for (int64_t b = 0; b < 4; ++b) {
      int64_t from = selector >> (4 * b) & 15;
      to[b] = from < 4 ? lo[from] : hi[from - 4];
    }
    registers[op.getResult()] = {to};
  }

  /// The element whose bytes these are.
  Byte element(const Register &bytes, int64_t number) {
    int64_t size = plan.a.tile.elementBytes;
    Byte first = bytes[number * size];
    for (int64_t b = 0; b < size; ++b)
      CHECK((bytes[number * size + b] ==
             Byte{first.operand, first.outer, first.k, b}));
    return first;
  }

  void multiply(ArrayRef<Operation *> ops) {
    auto first = cast<pitgpu::MmaSyncOp>(ops[0]);
    int64_t blocksM = first.getA().size() / 4,
            blocksN = first.getB().size() / 2;
    for (int64_t i = 0; i < blocksM; ++i)
      for (int64_t j = 0; j < blocksN; ++j)
        multiplyBlock(ops, i, j, 4 * (i * blocksN + j));
  }

  /// The product of 16 rows and 8 columns, whose sums begin at `sum`.
  void multiplyBlock(ArrayRef<Operation *> ops, int64_t i, int64_t j,
                     int64_t sum) {
    // Elements by their place in the instruction's matrices.
    int64_t perRegister = 4 / plan.a.tile.elementBytes, k = 8 * perRegister;
    std::map<std::pair<int64_t, int64_t>, Byte> as, bs;
    for (int64_t lane = 0; lane < 32; ++lane) {
      auto mma = cast<pitgpu::MmaSyncOp>(ops[lane]);
      for (auto [matrix, operands, high] :
           {std::tuple(&as, ValueRange(mma.getA().slice(4 * i, 4)), 2),
            std::tuple(&bs, ValueRange(mma.getB().slice(2 * j, 2)), 1)})
        for (auto [r, value] : llvm::enumerate(operands))
          for (int64_t n = 0; n < perRegister; ++n) {
            int64_t slot = (r / high * 4 + lane % 4) * perRegister + n;
            int64_t outer = lane / 4 + (high == 2 ? r % 2 * 8 : 0);
            (*matrix)[{outer, slot}] = element(registers[value][0], n);
          }
    }
    for (int64_t lane = 0; lane < 32; ++lane) {
      auto mma = cast<pitgpu::MmaSyncOp>(ops[lane]);
      for (auto [c, value] : llvm::enumerate(mma.getSums().slice(sum, 4))) {
        size_t place = cast<BlockArgument>(value).getArgNumber();
        int64_t m = rows[lane][place / cols[lane].size()];
        int64_t n = cols[lane][place % cols[lane].size()];
        for (int64_t slot = 0; slot < k; ++slot) {
          Byte a = as[{lane / 4 + c / 2 * 8, slot}];
          Byte b = bs[{lane % 4 * 2 + c % 2, slot}];
          CHECK(a.operand == 0 && b.operand == 1);
          CHECK(a.outer == m && b.outer == n && a.k == b.k);
          ++products[(m * plan.n + n) * plan.depth + a.k];
        }
      }
    }
  }

  Emitter &e;
  const PortablePlan &plan;
  int64_t number;
  bool conflictFree;
  std::vector<char> &products; ///< how often each was added
  std::map<int64_t, Byte> memory;
  SmallVector<int64_t> rows[32], cols[32];
  DenseMap<Value, SmallVector<Register>> registers;
};

/// Each element of the result gets each product of its row and column once.
static void checkProducts(Emitter &e, Type element, bool aIsCol, bool bIsCol,
                          int64_t perWarpM, int64_t perWarpN) {
  PortablePlan plan;
  plan.tf32Nearest = true;
  plan.multiply = Multiply::MmaSync;
  plan.share(1, perWarpM, 2, perWarpN);
  for (auto [operand, kIsCol] :
       {std::pair(&plan.a, aIsCol), std::pair(&plan.b, bIsCol)}) {
    operand->views = {0};
    operand->element = element;
    operand->kIsCol = kIsCol;
    operand->tile.elementBytes = element.getIntOrFloatBitWidth() / 8;
  }
  plan.depth = 64 / plan.a.tile.elementBytes;
  layOutTiles(plan);
  checkFragments(e, plan);
  Type accumulator =
      element.isInteger() ? Type(e.b.getI32Type()) : Type(e.b.getF32Type());
  bool conflictFree =
      llvm::isPowerOf2_64(plan.m) && llvm::isPowerOf2_64(plan.n);
  std::vector<char> products(plan.m * plan.n * plan.depth);
  for (int64_t warp = 0; warp < 2; ++warp)
    Warp(e, plan, warp, conflictFree, products).run(accumulator);
  CHECK(llvm::all_of(products, [](char times) { return times == 1; }));
}

int main() {
  for (int64_t bytes : {1, 2, 4, 8})
    for (int64_t chunks : {1, 2, 4, 8, 16, 3, 6})
      checkTile(32, chunks * kChunkBytes / bytes, bytes);

  MLIRContext context;
  context.loadDialect<arith::ArithDialect, LLVM::LLVMDialect, NVVM::NVVMDialect,
                      pitgpu::PitGPUDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  auto builder = OpBuilder::atBlockBegin(module->getBody());
  Emitter e(builder, module->getLoc());
  PortablePlan plan;
  plan.multiply = Multiply::MmaSync;
  plan.share(2, 64, 4, 32);
  checkFragments(e, plan);
  for (bool kIsCol : {false, true}) {
    PortablePlan scalar;
    scalar.share(8, 8, 16, 4);
    for (PortableOperand *operand : {&scalar.a, &scalar.b}) {
      operand->kIsCol = kIsCol;
      operand->tile = {64, 64, 4};
    }
    checkFragments(e, scalar);
  }
  for (Type element : {Type(builder.getF16Type()), Type(builder.getF32Type()),
                       Type(builder.getI8Type())})
    for (bool aIsCol : {false, true})
      for (bool bIsCol : {false, true}) {
        checkProducts(e, element, aIsCol, bIsCol, 64, 64);
        checkProducts(e, element, aIsCol, bIsCol, 16, 16);
        checkProducts(e, element, aIsCol, bIsCol, 48, 80);
      }
  if (!failures)
    std::puts("mainloop layouts: ok");
  return failures ? 1 : 0;
}
