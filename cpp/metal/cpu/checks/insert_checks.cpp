#include "metal/cpu/checks/insert_checks.h"

#include <optional>

#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/matrix_calls.h"
#include "metal/cpu/checks/accesses.h"
#include "metal/cpu/checks/barriers.h"
#include "metal/cpu/checks/bounds.h"
#include "metal/cpu/checks/coverage.h"
#include "metal/cpu/checks/debug_stops.h"
#include "metal/cpu/checks/index_overflow.h"
#include "metal/cpu/checks/matrix_elements.h"
#include "metal/cpu/checks/numbers.h"
#include "metal/cpu/checks/order.h"
#include "metal/cpu/checks/races.h"
#include "metal/cpu/checks/rounding.h"
#include "metal/cpu/checks/uninitialised.h"
#include "metal/cpu/markers.h"

namespace metal::cpu {

void insert_checks(llvm::Module& module, const FunctionInfo& kernel, Checks checks) {
  std::vector<compiler::MatrixAccess> matrices = compiler::inline_matrix_accesses(module);
  type_matrix_elements(matrices);
  llvm::Function& function = *module.getFunction(kernel.name);
  CheckBuilder builder(function);
  Provenances provenances(builder, kernel);
  const std::vector<Access> accesses = find_accesses(function);
  const MathCalls math_calls = take_math_calls(function);
  std::optional<NumbersCheck> numbers;
  if (checks & kCheckNumbers) numbers.emplace(builder, accesses, math_calls);
  std::optional<RoundingCheck> rounding;
  if (checks & kCheckRounding) rounding.emplace(builder, accesses, math_calls);
  // Before checks add branches of their own.
  if (checks & kCoverage) count_coverage(builder, accesses);
  if (checks & kDebug) place_debug_stops(builder);
  std::optional<UninitialisedCheck> undefined;
  if (checks & kCheckUninitialised) undefined.emplace(builder, kernel, accesses);
  // Races need to know barriers, too.
  if (checks & (kCheckBarriers | kCheckRaces)) check_barriers(builder);
  std::vector<DeferredRead> reads;
  // What lies outside is no access to an object, for other checks neither.
  if (checks & (kCheckBounds | kCheckRaces | kCheckUninitialised | kCheckNumbers))
    reads = check_bounds(builder, provenances, accesses, !(checks & kCheckStrict));
  if (checks & kCheckRaces) check_races(builder, provenances, accesses);
  if (checks & kCheckOrder) check_order(builder, accesses);
  report_used_reads(builder, reads);
  // Their tests are no uses of what is read.
  if (numbers) {
    check_indices(builder, provenances, accesses);
    numbers->report(provenances);
  }
  if (rounding) rounding->report(provenances);
  if (undefined) undefined->report(provenances);
  llvm::StripDebugInfo(module);
}

void place_group(llvm::Function& body) {
  llvm::Function* marker = body.getParent()->getFunction(kGroupMarker);
  for (llvm::User* user : llvm::make_early_inc_range(marker->users())) {
    auto* call = checked_cast<llvm::CallInst>(user);
    call->replaceAllUsesWith(body.getArg(kGroupArgument));
    call->eraseFromParent();
  }
  marker->eraseFromParent();
}

}  // namespace metal::cpu
