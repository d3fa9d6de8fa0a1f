#include "metal/cpu/checks/screen_barriers.h"

#include <vector>

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "metal/cpu/checks/barriers.h"
#include "metal/cpu/codegen/group_access.h"

namespace metal::cpu {
namespace {

using llvm::Value;

// The barriers of one scope.
class History {
 public:
  History(CheckBuilder& builder, const std::vector<const Barrier*>& barriers) : builder_(builder) {
    llvm::IRBuilder<> b(builder.start());
    passed_ = builder.local("passed", b.getInt32(0));
    for (uint32_t i = 0; i < barriers.size(); ++i) {
      b.SetInsertPoint(barriers[i]->call);
      Value* before = b.CreateLoad(b.getInt32Ty(), passed_);
      // A sum of products: which barriers, and in which order.
      b.CreateStore(b.CreateAdd(b.CreateMul(before, b.getInt32(0x01000193)), b.getInt32(i + 1)),
                    passed_);
    }
  }

  // `place`: of the number that the first thread left, 0 until then.
  void compare(llvm::Instruction& end, Value* place) {
    llvm::IRBuilder<> b(&end);
    Value* mine = b.CreateOr(b.CreateLoad(b.getInt32Ty(), passed_), b.getInt32(1U << 31));
    Value* slots = GroupAccess(b, builder_.group()).histories();
    Value* known = b.CreateLoad(b.getInt32Ty(), b.CreateGEP(b.getInt32Ty(), slots, place));
    b.SetInsertPoint(builder_.unlikely_if(b.CreateICmpNE(known, mine), end));
    builder_.call(b, "metal_cpu_check_history", b.getVoidTy(), {place, mine});
  }

 private:
  CheckBuilder& builder_;
  llvm::AllocaInst* passed_;
};

}  // namespace

void screen_barriers(CheckBuilder& builder) {
  const std::vector<Barrier> barriers = find_barriers(builder.kernel());
  std::vector<const Barrier*> of_group, of_lanes;
  for (const Barrier& barrier : barriers)
    (barrier.of_lanes() ? of_lanes : of_group).push_back(&barrier);
  std::vector<llvm::Instruction*> ends;
  for (llvm::Instruction& instruction : llvm::instructions(builder.kernel())) {
    if (llvm::isa<llvm::ReturnInst>(instruction)) ends.push_back(&instruction);
  }
  llvm::IRBuilder<> b(builder.start());
  if (!of_group.empty()) {
    History history(builder, of_group);
    for (llvm::Instruction* end : ends) history.compare(*end, b.getInt32(0));
  }
  if (!of_lanes.empty()) {
    Value* simdgroup = b.CreateUDiv(builder.thread(), b.getInt32(kSimdWidth));
    Value* place = b.CreateAdd(simdgroup, b.getInt32(1));
    History history(builder, of_lanes);
    for (llvm::Instruction* end : ends) history.compare(*end, place);
  }
}

}  // namespace metal::cpu
