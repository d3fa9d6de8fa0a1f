// Reports what is refused by Apple's compiler in a source that this one accepts.
#pragma once

#include <memory>
#include <vector>

#include "clang/AST/ASTConsumer.h"
#include "clang/Lex/Token.h"
#include "metal/compiler/apple/reporter.h"

namespace metal::compiler::apple {

// Visits the user's declarations when the source has been parsed, and prints warnings.
class AppleCheck : public clang::ASTConsumer {
 public:
  // `reports` gets what is found.
  AppleCheck(const Dialect& dialect, std::vector<CheckReport>& reports)
      : dialect_(dialect), reports_(reports) {}

  // The preprocessed source, which must live until it has been parsed.
  void set_tokens(const std::vector<clang::Token>& tokens) { tokens_ = &tokens; }

  bool HandleTopLevelDecl(clang::DeclGroupRef group) override;
  void HandleTranslationUnit(clang::ASTContext& context) override;

 private:
  Dialect dialect_;
  std::vector<CheckReport>& reports_;
  const std::vector<clang::Token>* tokens_ = nullptr;
  std::vector<clang::Decl*> declarations_;
};

}  // namespace metal::compiler::apple
