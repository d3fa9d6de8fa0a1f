#include "clang/AST/Attr.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprConcepts.h"
#include "clang/AST/Stmt.h"
#include "clang/AST/TypeLoc.h"
#include "metal/compiler/apple/rules.h"

namespace metal::compiler::apple {
namespace {

// Metal is based on C++14, from version 4 on C++17.
std::string newer(const char* what) {
  return std::string(what) + " are of C++20, which no version of Metal is based on";
}

bool has_constraints(const clang::TemplateDecl& pattern) {
  const clang::TemplateParameterList* parameters = pattern.getTemplateParameters();
  return parameters && parameters->hasAssociatedConstraints();
}

// `auto` as the type of a parameter, where no parameter list of a template is written.
bool has_auto_parameters(const clang::FunctionTemplateDecl& pattern) {
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(pattern.getTemplatedDecl());
  return pattern.isAbbreviated() && !(method && method->getParent()->isLambda());
}

}  // namespace

void check_statement(Reporter& reporter, const clang::Stmt& statement) {
  if (llvm::isa<clang::GotoStmt, clang::IndirectGotoStmt>(statement)) {
    reporter.report(statement.getBeginLoc(), "Metal has no goto");
  } else if (llvm::isa<clang::RequiresExpr>(statement)) {
    reporter.report(statement.getBeginLoc(), newer("requires-expressions"));
  } else if (const auto* branch = llvm::dyn_cast<clang::IfStmt>(&statement)) {
    if (branch->isConsteval())
      reporter.report(branch->getIfLoc(),
                      "'if consteval' is of C++23, which no version of Metal is based on");
  }
}

void check_declaration(Reporter& reporter, const clang::Decl& declaration) {
  const clang::SourceLocation place = declaration.getLocation();
  if (llvm::isa<clang::ConceptDecl>(declaration)) return reporter.report(place, newer("concepts"));
  if (const auto* pattern = llvm::dyn_cast<clang::FunctionTemplateDecl>(&declaration)) {
    if (has_auto_parameters(*pattern))
      return reporter.report(place, newer("parameters of type 'auto'"));
    if (has_constraints(*pattern) || pattern->getTemplatedDecl()->getTrailingRequiresClause())
      reporter.report(place, newer("constraints of templates"));
  } else if (const auto* of_class = llvm::dyn_cast<clang::ClassTemplateDecl>(&declaration)) {
    if (has_constraints(*of_class)) reporter.report(place, newer("constraints of templates"));
  } else if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(&declaration)) {
    if (function->getConstexprKind() == clang::ConstexprSpecKind::Consteval)
      reporter.report(place, newer("consteval functions"));
  } else if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(&declaration)) {
    if (variable->hasAttr<clang::ConstInitAttr>())
      reporter.report(place, newer("constinit variables"));
  }
}

void check_type(Reporter& reporter, const clang::TypeLoc& type) {
  const auto builtin = type.getAs<clang::BuiltinTypeLoc>();
  if (!builtin) return;
  const auto kind = builtin.getTypePtr()->getKind();
  if (kind == clang::BuiltinType::LongLong || kind == clang::BuiltinType::ULongLong)
    reporter.report(type.getBeginLoc(), "Metal has no type 'long long'; 'long' has 64 bits");
}

}  // namespace metal::compiler::apple
