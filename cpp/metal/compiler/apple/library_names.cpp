#include "clang/AST/Decl.h"
#include "metal/compiler/apple/rules.h"

namespace metal::compiler::apple {

llvm::StringRef library_name(const Reporter& reporter, const clang::Decl& declaration) {
  const auto* named = llvm::dyn_cast<clang::NamedDecl>(&declaration);
  if (!named || !named->getIdentifier() || reporter.is_users(named->getLocation())) return {};
  const auto* scope =
      llvm::dyn_cast<clang::NamespaceDecl>(named->getDeclContext()->getRedeclContext());
  const bool is_metal = scope && scope->getName() == "metal" &&
                        scope->getDeclContext()->getRedeclContext()->isTranslationUnit();
  return is_metal ? named->getName() : llvm::StringRef();
}

}  // namespace metal::compiler::apple
