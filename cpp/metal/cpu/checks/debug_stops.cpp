#include "metal/cpu/checks/debug_stops.h"

#include "llvm/IR/Module.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/mark_stops.h"

namespace metal::cpu {
namespace {

constexpr std::pair<const char*, const char*> kCalls[] = {
    {compiler::kDebugEnter, "metal_cpu_check_debug_enter"},
    {compiler::kDebugVariable, "metal_cpu_check_debug_variable"},
    {compiler::kDebugLine, "metal_cpu_check_debug_line"},
    {compiler::kDebugLeave, "metal_cpu_check_debug_leave"}};

}  // namespace

void place_debug_stops(CheckBuilder& builder) {
  for (const auto& [marker, name] : kCalls) {
    llvm::Function* function = builder.kernel().getParent()->getFunction(marker);
    if (!function) continue;
    for (llvm::User* user : llvm::make_early_inc_range(function->users())) {
      auto* call = checked_cast<llvm::CallInst>(user);
      if (call->getFunction() == &builder.kernel()) {
        llvm::IRBuilder<> b(call);
        llvm::SmallVector<llvm::Value*> arguments(call->args());
        if (marker == compiler::kDebugLine)
          arguments.insert(arguments.begin(), builder.site(call->getDebugLoc()));
        builder.call(b, name, b.getVoidTy(), arguments);
      }
      call->eraseFromParent();
    }
    function->eraseFromParent();
  }
}

}  // namespace metal::cpu
