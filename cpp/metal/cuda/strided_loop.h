// Loops over numbers or addresses a stride apart, whose sums may wrap around.
#pragma once

#include <cstdint>
#include <optional>

#include "llvm/IR/InstrTypes.h"

namespace llvm {
class DominatorTree;
class Loop;
class LoopInfo;
class Value;
}  // namespace llvm

namespace metal::cuda {

// `do { ... sum = k + stride; k = sum; } while (sum < end)`, or `sum <= end`, of which numbers may
// have signs. Because sums may wrap around, LLVM does not know how often the loop runs. If they are
// addresses, the stride counts elements of `size` bytes, and `size` is 1 otherwise.
struct StridedLoop {
  llvm::Loop* loop;
  llvm::Instruction* sum;
  llvm::Value *first, *stride, *end;
  llvm::CmpInst::Predicate goes_on;
  uint64_t size = 1;
};

// How often a loop of numbers without sign runs whose stride and end are constants, if it starts
// below the stride and the end is a multiple of it. That holds for lanes that share a row. Nothing
// otherwise.
std::optional<uint64_t> known_iterations(const StridedLoop& strided);

// Makes the loop end after so many iterations, instead of by its own condition.
void end_after(llvm::Loop& loop, llvm::Value* count);

// Finds such a loop in LLVM's simplified form.
std::optional<StridedLoop> find_strided_loop(llvm::Loop& loop);

// Makes a copy of the loop for the case that the stride is positive and no sum wraps around, which
// is tested before. The copy counts its iterations. Returns it. The loop is in LCSSA form.
llvm::Loop* split_off_wrapping(const StridedLoop& strided, llvm::LoopInfo& loops,
                               llvm::DominatorTree& dominators);

}  // namespace metal::cuda
