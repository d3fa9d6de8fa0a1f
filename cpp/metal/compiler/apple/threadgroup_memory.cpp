#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "metal/compiler/apple/rules.h"

namespace metal::compiler::apple {
namespace {

constexpr uint64_t kMaxBytes = 32768;  // of every GPU family since Apple4

}  // namespace

void ThreadgroupMemory::add(const clang::VarDecl& variable) {
  if (variable.getType()->isDependentType() || !variable.isStaticLocal() ||
      !variable.isReferenced() ||
      variable.getType().getAddressSpace() != clang::LangAS::opencl_local)
    return;
  const auto* function = llvm::dyn_cast<clang::FunctionDecl>(variable.getDeclContext());
  if (!function || !is_kernel(*function) || function->isDependentContext()) return;
  uint64_t& bytes = bytes_[function];
  const uint64_t before = bytes;
  bytes += context_.getTypeSizeInChars(variable.getType()).getQuantity();
  if (before <= kMaxBytes && bytes > kMaxBytes) {
    reporter_.report(
        variable.getLocation(),
        "with '" + variable.getNameAsString() + "', the threadgroup variables of the kernel take " +
            std::to_string(bytes) + " bytes, and there are " + std::to_string(kMaxBytes));
  }
}

}  // namespace metal::compiler::apple
