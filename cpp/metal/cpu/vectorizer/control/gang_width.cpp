#include "metal/cpu/vectorizer/control/gang_width.h"

#include <cstdint>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "metal/cpu/vectorizer/control/live_vectors.h"
#include "metal/cpu/vectorizer/shapes/shape_analysis.h"

namespace metal::cpu {

namespace {

constexpr uint64_t kLongCode = 4000;  // vector instructions

}  // namespace

bool is_long(const llvm::Function& body, uint32_t width, const llvm::TargetTransformInfo& costs) {
  const uint64_t registers = uint64_t{32} * width / vector_registers(body, costs).bits;
  return registers > 1 && registers * body.getInstructionCount() > kLongCode;
}

bool exceeds_registers(llvm::Function& body, const BodyShapes& shapes,
                       const llvm::TargetTransformInfo& costs) {
  const llvm::DominatorTree dominators(body);
  const llvm::PostDominatorTree post_dominators(body);
  const llvm::LoopInfo loops(dominators);
  const ShapeAnalysis analysis(body, shapes, post_dominators, loops);
  const VectorRegisters registers = vector_registers(body, costs);
  const uint64_t bits = uint64_t{registers.count} * registers.bits;
  // Each element becomes a vector with those of all lanes.
  auto bits_of = [&](const llvm::Value& value) -> unsigned {
    if (analysis.shape(&value).is_uniform()) return 0;
    return static_cast<unsigned>(value.getType()->getPrimitiveSizeInBits().getFixedValue());
  };
  // Not all elements are used, and a few registers that are spilled cost less than narrow gangs. In
  // loops, wide gangs have more to do while they wait for results.
  const LiveVectors live(body);
  return llvm::any_of(body, [&](const llvm::BasicBlock& block) {
    if (loops.getLoopFor(&block)) return false;
    const uint64_t most = live.most(block.front(), block.back(), bits_of);
    return 2 * most * shapes.width > 3 * bits;
  });
}

}  // namespace metal::cpu
