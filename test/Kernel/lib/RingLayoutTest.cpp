//===- RingLayoutTest.cpp - Layouts of rings, by value --------------------===//
//
// Checks the arithmetic of shared memory and fragments: the addresses that the
// emitter makes for a thread whose number is a constant fold to constants.
//
//===----------------------------------------------------------------------===//

#include "RingLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include <cstdio>
#include <map>
#include <set>

using namespace mlir;
using namespace mlir::pit;

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
static void checkFragments(Emitter &e, const RingPlan &plan) {
  std::set<std::pair<int64_t, int64_t>> elements;
  for (int64_t t = 0; t < plan.threads; ++t) {
    Fragment fragment = plan.tensorCores ? tensorCoreFragment(e, plan, e.i32(t))
                                         : scalarFragment(e, plan, e.i32(t));
    for (Value row : fragment.rows)
      for (Value col : fragment.cols)
        CHECK(elements.insert({valueOf(row), valueOf(col)}).second);
  }
  int64_t m = plan.tensorCores ? plan.warpsM * plan.perWarpM
                               : plan.threadsM * plan.perThreadM;
  int64_t n = plan.tensorCores ? plan.warpsN * plan.perWarpN
                               : plan.threadsN * plan.perThreadN;
  CHECK(static_cast<int64_t>(elements.size()) == m * n);
  CHECK(elements.rbegin()->first == m - 1);
}

int main() {
  for (int64_t bytes : {1, 2, 4, 8})
    for (int64_t chunks : {1, 2, 4, 8, 16, 3, 6})
      checkTile(32, chunks * kChunkBytes / bytes, bytes);

  MLIRContext context;
  context.loadDialect<arith::ArithDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  auto builder = OpBuilder::atBlockBegin(module->getBody());
  Emitter e(builder, module->getLoc());
  RingPlan plan;
  plan.tensorCores = true;
  plan.warpsM = 2, plan.warpsN = 4, plan.perWarpM = 64, plan.perWarpN = 32;
  plan.threads = 256;
  checkFragments(e, plan);
  for (bool kIsCol : {false, true}) {
    RingPlan scalar;
    scalar.threads = 128;
    scalar.threadsM = 8, scalar.threadsN = 16;
    scalar.perThreadM = 8, scalar.perThreadN = 4;
    for (RingOperand *operand : {&scalar.a, &scalar.b}) {
      operand->kIsCol = kIsCol;
      operand->tile = {64, 64, 4};
    }
    checkFragments(e, scalar);
  }
  if (!failures)
    std::puts("ring layouts: ok");
  return failures ? 1 : 0;
}
