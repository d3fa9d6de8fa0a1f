#include "metal/compiler/language_checks.h"

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Basic/SourceManager.h"
#include "metal/compiler/attributes.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/message_checks.h"
#include "metal/compiler/type_names.h"

namespace metal::compiler {
namespace {

unsigned components(clang::QualType type) {
  const auto* vector = as_vector(type);
  return vector ? vector->getTemplateArgs()[1].getAsIntegral().getZExtValue() : 1;
}

// The expression in the source for one element of a vector's braces, without the conversions around
// it.
const clang::Expr* written(const clang::Expr* part) {
  part = part->IgnoreImplicit();
  const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(part);
  return made && made->getNumArgs() > 0 ? made->getArg(0)->IgnoreImplicit() : part;
}

class LanguageChecks : public clang::ASTConsumer {
 public:
  explicit LanguageChecks(clang::DiagnosticsEngine& diagnostics) : diagnostics_(diagnostics) {}

  void Initialize(clang::ASTContext& context) override { context_ = &context; }

  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    for (const clang::Decl* declaration : group) check(declaration);
    return true;
  }
  void HandleInlineFunctionDefinition(clang::FunctionDecl* function) override { check(function); }

 private:
  void check(const clang::Decl* declaration) {
    // The standard library is not checked.
    if (context_->getSourceManager().isLoadedSourceLocation(declaration->getLocation())) return;
    if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration)) {
      if (!function->isDependentContext()) check_code(function->getBody());
    } else if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration)) {
      check_variable(*variable);
      if (!variable->getType()->isDependentType()) check_code(variable->getInit());
    } else if (llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl>(declaration)) {
      for (const clang::Decl* inner : checked_cast<clang::DeclContext>(declaration)->decls())
        check(inner);
    }
  }

  // Not recursive, as expressions may be deeply nested.
  void check_code(const clang::Stmt* code) {
    std::vector<const clang::Stmt*> open = {code};
    while (!open.empty()) {
      const clang::Stmt* statement = open.back();
      open.pop_back();
      if (!statement) continue;
      if (const auto* call = llvm::dyn_cast<clang::CallExpr>(statement)) check_message(*call);
      if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(statement)) {
        check_braces(*made);
      } else if (const auto* declarations = llvm::dyn_cast<clang::DeclStmt>(statement)) {
        for (const clang::Decl* declaration : declarations->decls()) {
          const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration);
          if (variable) check_variable(*variable);
        }
      }
      open.insert(open.end(), statement->child_begin(), statement->child_end());
    }
  }

  void check_message(const clang::CallExpr& call) {
    const std::string mistake = find_message_mistake(call);
    if (mistake.empty()) return;
    const unsigned id =
        diagnostics_.getDiagnosticIDs()->getCustomDiagID(clang::DiagnosticIDs::Warning, "%0");
    diagnostics_.Report(call.getBeginLoc(), id) << mistake;
  }

  void check_braces(const clang::CXXConstructExpr& made) {
    if (!as_vector(made.getType()) || made.getNumArgs() == 0) return;
    const auto* list =
        llvm::dyn_cast<clang::CXXStdInitializerListExpr>(made.getArg(0)->IgnoreImplicit());
    if (!list) return;
    const auto* parts = llvm::dyn_cast<clang::InitListExpr>(list->getSubExpr()->IgnoreImplicit());
    if (!parts) return;
    unsigned count = 0;
    for (const clang::Expr* part : parts->inits()) {
      const clang::Expr* value = written(part);
      count += components(value->getType());
      if (count <= components(made.getType())) continue;
      return error(value->getBeginLoc(), "excess elements in vector initializer");
    }
  }

  // In the braces of a class, zeros may be arguments of a constructor, or leave members to their
  // own initializers.
  bool zeros_mean_zero(clang::QualType type) const {
    const auto* record = context_->getBaseElementType(type)->getAsCXXRecordDecl();
    return !record || as_vector(context_->getBaseElementType(type)) ||
           (record->isAggregate() && record->hasTrivialDefaultConstructor() &&
            llvm::all_of(record->fields(), [this](const clang::FieldDecl* field) {
              return zeros_mean_zero(field->getType());
            }));
  }

  void check_variable(const clang::VarDecl& variable) {
    const clang::QualType type = variable.getType();
    for (const auto* attribute : variable.specific_attrs<clang::AnnotateAttr>()) {
      if (attribute->getAnnotation() == annotation_name("__zeroed") && !zeros_mean_zero(type))
        error(variable.getLocation(),
              "'threadgroup' variable of this class cannot have an initializer");
    }
    if (!variable.hasGlobalStorage() || type->isDependentType() || type->isUndeducedType()) return;
    if (context_->getBaseElementType(type).isConstQualified() || type->isReferenceType() ||
        variable.isConstexpr() || type.getAddressSpace() != clang::LangAS::Default) {
      return;
    }
    error(variable.getLocation(),
          variable.isLocalVarDecl()
              ? "a static variable must be in the constant address space"
              : "a variable outside of functions must be in the constant address space");
  }

  void error(clang::SourceLocation location, const char* message) {
    const auto level = clang::DiagnosticIDs::Error;
    diagnostics_.Report(location, diagnostics_.getDiagnosticIDs()->getCustomDiagID(level, message));
  }

  clang::DiagnosticsEngine& diagnostics_;
  clang::ASTContext* context_ = nullptr;
};

}  // namespace

std::unique_ptr<clang::ASTConsumer> check_language(clang::DiagnosticsEngine& diagnostics) {
  return std::make_unique<LanguageChecks>(diagnostics);
}

}  // namespace metal::compiler
