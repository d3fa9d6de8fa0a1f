#include "metal/cpu/checks/screen.h"

#include <optional>

#include "llvm/IR/CFG.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Local.h"
#include "metal/compiler/matrix_calls.h"
#include "metal/cpu/checks/accesses.h"
#include "metal/cpu/checks/discarded_reads.h"
#include "metal/cpu/checks/index_overflow.h"
#include "metal/cpu/checks/matrix_elements.h"
#include "metal/cpu/checks/numbers.h"
#include "metal/cpu/checks/provenance.h"
#include "metal/cpu/checks/screen_barriers.h"
#include "metal/cpu/checks/screen_races.h"
#include "metal/cpu/checks/uninitialised.h"
#include "metal/cpu/codegen/lower.h"

namespace metal::cpu {
namespace {

using llvm::Value;

// Each is a branch of its own, for which vector code takes long to compile. More than these take
// longer than exact checks, which kernels of this size get at once.
constexpr uint64_t kMaxTests = 400;

class BoundsScreen {
 public:
  BoundsScreen(CheckBuilder& builder, Provenances& provenances)
      : builder_(builder), provenances_(provenances) {}

  // Whether the access lies outside of its object; null where that is certainly not so.
  Value* outside(const Access& access) {
    if (!access.length && provenances_.is_inside(access.written, access.bytes)) return nullptr;
    const Provenance object = provenances_.of(access.written);
    if (llvm::isa<llvm::ConstantPointerNull>(object.object)) return nullptr;
    llvm::IRBuilder<> b(access.instruction);
    Value* offset = provenances_.offset(b, access.written);
    if (!access.length) return b.CreateICmpUGE(offset, end_for(object, access));
    return is_outside(b, access, offset, object.bytes);
  }

 private:
  // Behind the last offset at which so many bytes are inside.
  Value* end_for(const Provenance& object, const Access& access) {
    const auto* size = llvm::dyn_cast<llvm::Instruction>(object.bytes);
    const bool early = !size || size->getParent() == builder_.start()->getParent();
    llvm::IRBuilder<> b(early ? builder_.start() : access.instruction);
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat,
                                   b.CreateAdd(object.bytes, b.getInt64(1)),
                                   b.getInt64(access.bytes));
  }

  CheckBuilder& builder_;
  Provenances& provenances_;
};

// Instead of all that the kernel does.
void suspect_at_once(CheckBuilder& builder) {
  llvm::Instruction* rest = builder.start();
  llvm::IRBuilder<> b(rest);
  builder.suspect_if(b.getTrue(), *rest);
  llvm::BasicBlock* block = rest->getParent();
  for (llvm::BasicBlock* next : llvm::successors(block)) next->removePredecessor(block);
  b.SetInsertPoint(rest);
  b.CreateRetVoid();
  rest->eraseFromParent();
  llvm::removeUnreachableBlocks(builder.kernel());
  llvm::StripDebugInfo(*builder.kernel().getParent());
}

}  // namespace

void insert_screen(llvm::Module& module, const FunctionInfo& kernel, Checks checks) {
  std::vector<compiler::MatrixAccess> matrices = compiler::inline_matrix_accesses(module);
  type_matrix_elements(matrices);
  // Whole matrices are tested by functions of SIMD-groups, for which other kernels are not
  // prepared.
  if (find_cooperation(module) != Cooperation::SimdGroups) matrices.clear();
  llvm::Function& function = *module.getFunction(kernel.name);
  CheckBuilder builder(function);
  Provenances provenances(builder, kernel);
  const std::vector<Access> accesses = find_accesses(function);
  const MathCalls math_calls = take_math_calls(function);
  std::optional<NumbersCheck> numbers;
  if (checks & kCheckNumbers) numbers.emplace(builder, accesses, math_calls);
  std::optional<UninitialisedCheck> undefined;
  if (checks & kCheckUninitialised) undefined.emplace(builder, kernel, accesses);
  if (checks & kCheckBarriers) screen_barriers(builder);
  BoundsScreen bounds(builder, provenances);
  RaceScreen races(builder, provenances, accesses, matrices, checks & kCheckRaces);
  uint64_t tests = (undefined ? undefined->tests() : 0) + (numbers ? numbers->tests() : 0);
  for (const Access& access : accesses)
    tests += 1 + (races.tracks(access) ? races.tests_of(access) : 0);
  if (tests > kMaxTests) {
    suspect_at_once(builder);
    drop_marks(module);
    return;
  }
  if (numbers) {
    screen_indices(builder, accesses);
    numbers->screen();
  }
  std::vector<DeferredRead> reads;
  for (const Access& access : accesses) {
    const bool tracked = races.tracks(access);
    Value* outside = bounds.outside(access);
    const bool deferred = !tracked && !(checks & kCheckStrict) && access.kind == AccessKind::Read &&
                          llvm::isa<llvm::LoadInst>(access.instruction);
    if (outside && deferred) {
      reads.push_back({access.instruction, outside});
    } else if (outside) {
      builder.suspect_if(outside, *access.instruction);
    }
    if (tracked) races.add(access);
  }
  report_used_reads(builder, reads);
  if (undefined) undefined->screen();
  llvm::StripDebugInfo(module);
}

}  // namespace metal::cpu
