#include "metal/cpu/vectorizer/control/gang_places.h"

#include "metal/cpu/codegen/group_access.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/wide_entry.h"

namespace metal::cpu {

using llvm::Value;

GangPlaces::GangPlaces(llvm::IRBuilder<>& b, Value* group, Value* gangs, const Variant& variant,
                       bool backwards)
    : group_(group), gangs_(gangs), variant_(variant), backwards_(backwards), count_end_(gangs) {
  if (!counts_positions()) return;
  GroupAccess access(b, group);
  for (unsigned i = 0; i < 3; ++i) {
    Value* last = b.CreateNUWSub(access.size(i), b.getInt32(i == 0 ? variant.width : 1));
    starts_[i] = backwards ? last : b.getInt32(0);
    ends_[i] = backwards ? b.getInt32(0) : last;
  }
}

bool GangPlaces::counts_positions() const {
  return variant_.layout == ThreadLayout::Full && variant_.gangs_in_row == 0;
}

void GangPlaces::begin_iteration(llvm::IRBuilder<>& b, llvm::BasicBlock* before) {
  auto begin = [&](Value* start, const char* name) {
    llvm::PHINode* phi = b.CreatePHI(b.getInt32Ty(), 2, name);
    phi->addIncoming(start, before);
    return phi;
  };
  count_ = begin(b.getInt32(0), "count");
  if (counts_positions()) {
    constexpr const char* kNames[] = {"x", "y", "z"};
    for (unsigned i = 0; i < 3; ++i) positions_[i] = begin(starts_[i], kNames[i]);
  }
  number_ = backwards_ ? b.CreateNUWSub(b.CreateNUWSub(gangs_, b.getInt32(1)), count_) : count_;
  arguments_ = gang_arguments(b, group_, number_, variant_);
  if (!counts_positions()) return;
  arguments_[kXArgument] = positions_[0];
  arguments_[kYArgument] = positions_[1];
  arguments_[kZArgument] = positions_[2];
}

void GangPlaces::bound(llvm::IRBuilder<>& b, Value* first, Value* end) {
  count_->setIncomingValue(0, backwards_ ? b.CreateNUWSub(gangs_, end) : first);
  count_end_ = backwards_ ? b.CreateNUWSub(gangs_, first) : end;
}

Value* GangPlaces::end_iteration(llvm::IRBuilder<>& b) {
  llvm::BasicBlock* latch = b.GetInsertBlock();
  if (counts_positions()) {
    Value* moves = b.getTrue();  // whether the position changes, as those before it start again
    for (unsigned i = 0; i < 3; ++i) {
      llvm::PHINode* here = positions_[i];
      Value* step = b.getInt32(i == 0 ? variant_.width : 1);
      Value* there = backwards_ ? b.CreateSub(here, step) : b.CreateAdd(here, step);
      Value* at_end = b.CreateICmpEQ(here, ends_[i]);
      here->addIncoming(b.CreateSelect(moves, b.CreateSelect(at_end, starts_[i], there), here),
                        latch);
      moves = b.CreateAnd(moves, at_end);
    }
  }
  Value* next = b.CreateNUWAdd(count_, b.getInt32(1));
  count_->addIncoming(next, latch);
  return b.CreateICmpUGE(next, count_end_);
}

}  // namespace metal::cpu
