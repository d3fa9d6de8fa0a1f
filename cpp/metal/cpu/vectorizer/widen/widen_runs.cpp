// Widens accesses whose lanes have neighbouring elements, but where a row ends.

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "metal/cpu/vectorizer/widen/blocks.h"
#include "metal/cpu/vectorizer/widen/widen_memory.h"

namespace metal::cpu {
namespace {

using llvm::Value;

constexpr uint64_t kPartBytes = 64;
constexpr size_t kMostRuns = 3;  // of a part, and no more than blocks: those would be as fast

}  // namespace

unsigned MemoryWidener::lanes_of_part(const Access& access) const {
  return std::min(static_cast<unsigned>(kPartBytes / access.size), w_.width());
}

MemoryWidener::MaskedRuns MemoryWidener::masked_runs(const Access& access,
                                                     const Shape& shape) const {
  const unsigned lanes = lanes_of_part(access);
  llvm::Type* type = llvm::FixedVectorType::get(access.type, lanes);
  if (access.is_volatile || !w_.costs().isLegalMaskedLoad(type, access.align)) return {};
  const auto size = static_cast<int64_t>(access.size);
  MaskedRuns runs;
  for (unsigned lane = 0; lane < w_.width(); ++lane) {
    const unsigned part = lane - lane % lanes;
    const int64_t distance = shape.offset(lane) - (lane - part) * size;
    if (lane > part && runs.back().distance == distance) {
      runs.back().end = lane + 1;
    } else {
      runs.push_back({lane, lane + 1, part, distance});
    }
  }
  const unsigned even = run_of_lanes(shape, access.size);
  size_t most =
      std::min<size_t>(kMostRuns * (w_.width() / lanes), w_.width() * access.size / kBlockBytes);
  if (even) most = std::min<size_t>(most, w_.width() / even - 1);
  return runs.size() <= most ? runs : MaskedRuns();
}

Value* MemoryWidener::mask_of(const MaskedRun& run, unsigned lanes, bool of_active) {
  llvm::SmallVector<llvm::Constant*> bits;
  for (unsigned lane = run.part; lane < run.part + lanes; ++lane)
    bits.push_back(b_.getInt1(run.lane <= lane && lane < run.end));
  Value* mask = llvm::ConstantVector::get(bits);
  if (!of_active || !w_.mask()) return mask;
  return b_.CreateAnd(part_of(w_.mask(), run, lanes), mask);
}

Value* MemoryWidener::part_of(Value* vector, const MaskedRun& run, unsigned lanes) {
  return lanes == w_.width()
             ? vector
             : b_.CreateShuffleVector(vector, llvm::createSequentialMask(run.part, lanes, 0));
}

// If inactive lanes may read, only the second run of a part needs a mask.
Value* MemoryWidener::load_masked_runs(const Access& access, Value* pointer, const Shape& shape,
                                       const MaskedRuns& runs) {
  const unsigned lanes = lanes_of_part(access);
  llvm::Type* type = llvm::FixedVectorType::get(access.type, lanes);
  const auto bytes = static_cast<int64_t>(lanes * access.size);
  Span span = span_of(shape, static_cast<int64_t>(access.size));
  span = {span.lowest - bytes, span.end + bytes};
  const bool reads_all = may_read(pointer, shape, span);
  Value* first = w_.first(pointer);
  llvm::SmallVector<Value*> parts;
  for (const MaskedRun& run : runs) {
    Value* from = b_.CreateConstGEP1_64(b_.getInt8Ty(), first, run.distance);
    if (run.lane == run.part && reads_all) {
      parts.push_back(b_.CreateAlignedLoad(type, from, access.align));
    } else {
      Value* others = run.lane == run.part ? nullptr : parts.pop_back_val();
      Value* mask = mask_of(run, lanes, !reads_all);
      parts.push_back(b_.CreateMaskedLoad(type, from, access.align, mask, others));
    }
  }
  return llvm::concatenateVectors(b_, parts);
}

}  // namespace metal::cpu
