#include "metal/compiler/apple/check_for_apple.h"

#include "clang/AST/ASTContext.h"
// GCC takes an object that Clang's headers never use without a test for null.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnonnull"
#include "clang/AST/RecursiveASTVisitor.h"
#pragma GCC diagnostic pop
#include "clang/Basic/Diagnostic.h"
#include "metal/compiler/apple/rules.h"

namespace metal::compiler::apple {
namespace {

// Hands every node to the rules that are about it, those of instantiated templates included.
class Walker : public clang::RecursiveASTVisitor<Walker> {
 public:
  Walker(Reporter& reporter, const clang::ASTContext& context,
         const std::vector<clang::Token>& tokens)
      : reporter_(reporter),
        context_(context),
        address_spaces_(reporter, context, tokens),
        memory_(reporter, context),
        calls_(reporter) {}

  bool shouldVisitTemplateInstantiations() const { return true; }

  bool TraverseDecl(clang::Decl* declaration) {
    const auto* function = llvm::dyn_cast_or_null<clang::FunctionDecl>(declaration);
    const auto* const outer = function_;
    if (function) function_ = function;
    const bool goes_on = RecursiveASTVisitor::TraverseDecl(declaration);
    function_ = outer;
    return goes_on;
  }

  bool VisitDecl(clang::Decl* declaration) {
    if (declaration->isImplicit()) return true;
    check_declaration(reporter_, *declaration);
    if (const auto* declarator = llvm::dyn_cast<clang::DeclaratorDecl>(declaration))
      address_spaces_.check_declarator(*declarator);
    if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration)) {
      address_spaces_.check_variable(*variable);
      memory_.add(*variable);
    }
    return true;
  }

  bool VisitStmt(clang::Stmt* statement) {
    check_statement(reporter_, *statement);
    return true;
  }

  bool VisitExplicitCastExpr(clang::ExplicitCastExpr* cast) {
    address_spaces_.check_cast(*cast);
    return true;
  }

  bool VisitTypeLoc(clang::TypeLoc type) {
    check_type(reporter_, type);
    check_version(reporter_, type);
    return true;
  }

  bool VisitCallExpr(clang::CallExpr* call) {
    const clang::FunctionDecl* callee = call->getDirectCallee();
    if (!callee || call->isTypeDependent()) return true;
    if (!library_name(reporter_, *callee).empty()) {
      check_overloads(reporter_, *call);
      check_atomics(reporter_, context_, *call);
    }
    check_version(reporter_, *call);
    if (function_ && !function_->isDependentContext())
      calls_.add(*function_, *callee, call->getBeginLoc());
    return true;
  }

  bool VisitCXXConstructExpr(clang::CXXConstructExpr* made) {
    if (function_ && !function_->isDependentContext())
      calls_.add(*function_, *made->getConstructor(), made->getBeginLoc());
    return true;
  }

  void finish() { calls_.report_recursion(); }

 private:
  Reporter& reporter_;
  const clang::ASTContext& context_;
  AddressSpaceRules address_spaces_;
  ThreadgroupMemory memory_;
  CallRules calls_;
  const clang::FunctionDecl* function_ = nullptr;  // whose code is visited
};

}  // namespace

bool AppleCheck::HandleTopLevelDecl(clang::DeclGroupRef group) {
  declarations_.insert(declarations_.end(), group.begin(), group.end());
  return true;
}

void AppleCheck::HandleTranslationUnit(clang::ASTContext& context) {
  if (context.getDiagnostics().hasErrorOccurred()) return;
  Reporter reporter(dialect_, context.getSourceManager());
  Walker walker(reporter, context, *tokens_);
  for (clang::Decl* declaration : declarations_) {
    // Instantiations are visited with their templates.
    const auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration);
    if (function && function->isTemplateInstantiation()) continue;
    if (reporter.is_users(declaration->getLocation()) ||
        llvm::isa<clang::LinkageSpecDecl>(declaration))
      walker.TraverseDecl(declaration);
  }
  walker.finish();
  reporter.print(context.getDiagnostics());
  reports_ = reporter.reports();
}

}  // namespace metal::compiler::apple
