#include "metal/compiler/contract_vectors.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Sema/Lookup.h"
#include "clang/Sema/Sema.h"
#include "clang/Sema/SemaConsumer.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/type_names.h"

namespace metal::compiler {
namespace {

using clang::CXXOperatorCallExpr;
using clang::Expr;
using clang::FunctionDecl;

bool is_vector_of_floats(clang::QualType type) {
  const auto* vector = as_vector(type);
  return vector && vector->getTemplateArgs()[0].getAsType()->isRealFloatingType();
}

// Whether the standard library declares the operator, for vectors and scalars and not for matrices.
bool is_elementwise(const CXXOperatorCallExpr& call) {
  const FunctionDecl* callee = call.getDirectCallee();
  if (!callee || !callee->isTemplateInstantiation() || !is_vector_of_floats(call.getType()))
    return false;
  const auto* scope = llvm::dyn_cast<clang::NamespaceDecl>(callee->getEnclosingNamespaceContext());
  return scope && scope->getName() == "metal" &&
         llvm::all_of(callee->parameters(), [](const clang::ParmVarDecl* parameter) {
           const clang::QualType type = parameter->getType();
           return type->isRealFloatingType() || is_vector_of_floats(type);
         });
}

bool is_elementwise(const CXXOperatorCallExpr& call, clang::OverloadedOperatorKind kind,
                    unsigned operands) {
  return call.getOperator() == kind && call.getNumArgs() == operands && is_elementwise(call);
}

// What an expression only passes on, as parentheses, casts to its own type and unary plus do; null
// for other expressions.
Expr* passed_on(Expr* expression) {
  if (auto* parentheses = llvm::dyn_cast<clang::ParenExpr>(expression))
    return parentheses->getSubExpr();
  if (auto* plus = llvm::dyn_cast<CXXOperatorCallExpr>(expression))
    return is_elementwise(*plus, clang::OO_Plus, 1) ? plus->getArg(0) : nullptr;
  auto* cast = llvm::dyn_cast<clang::ExplicitCastExpr>(expression);
  Expr* value = cast ? cast->getSubExpr() : nullptr;
  const bool is_same = value && value->isPRValue() &&
                       value->getType().getCanonicalType() == cast->getType().getCanonicalType();
  return is_same ? value : nullptr;
}

CXXOperatorCallExpr* operation_in(Expr* operand) {
  while (Expr* inner = passed_on(operand)) operand = inner;
  return llvm::dyn_cast<CXXOperatorCallExpr>(operand);
}

class ContractVectors : public clang::SemaConsumer,
                        public clang::RecursiveASTVisitor<ContractVectors> {
 public:
  void Initialize(clang::ASTContext& context) override { context_ = &context; }
  void InitializeSema(clang::Sema& sema) override { sema_ = &sema; }
  void ForgetSema() override { sema_ = nullptr; }

  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    for (clang::Decl* declaration : group) contract(declaration);
    return true;
  }
  void HandleInlineFunctionDefinition(FunctionDecl* function) override { contract(function); }

  // Templates are only a pattern, in which Clang looks for operators once more when it makes the
  // functions. Those come as declarations of their own.
  bool TraverseDecl(clang::Decl* declaration) {
    if (llvm::isa_and_nonnull<clang::TemplateDecl>(declaration)) return true;
    const auto* scope = llvm::dyn_cast_or_null<clang::DeclContext>(declaration);
    return (scope && scope->isDependentContext()) || RecursiveASTVisitor::TraverseDecl(declaration);
  }
  bool TraverseLambdaExpr(clang::LambdaExpr* lambda) {
    return lambda->getCallOperator()->isDependentContext() ||
           RecursiveASTVisitor::TraverseLambdaExpr(lambda);
  }

  bool VisitCXXOperatorCallExpr(CXXOperatorCallExpr* sum) {
    const clang::FPOptions options = sum->getFPFeaturesInEffect(context_->getLangOpts());
    if (options.getFPContractMode() == clang::LangOptions::FPM_Off || !is_elementwise(*sum))
      return true;
    switch (sum->getOperator()) {
      case clang::OO_Plus:
        contract_sum(*sum, "__add");
        break;
      case clang::OO_Minus:
        contract_sum(*sum, "__subtract");
        break;
      case clang::OO_PlusEqual:
        contract_assignment(*sum, "__add_product");
        break;
      case clang::OO_MinusEqual:
        contract_assignment(*sum, "__subtract_product");
        break;
      default:
        break;
    }
    return true;
  }

 private:
  // The standard library says itself what it contracts. Code with errors may lack what is needed.
  void contract(clang::Decl* declaration) {
    const clang::SourceManager& sources = context_->getSourceManager();
    if (sources.isLoadedSourceLocation(declaration->getLocation()) ||
        context_->getDiagnostics().hasErrorOccurred())
      return;
    TraverseDecl(declaration);
  }

  // Of two products, the left one is contracted, as Clang does it.
  void contract_sum(CXXOperatorCallExpr& sum, llvm::StringRef name) {
    if (sum.getNumArgs() != 2) return;
    for (unsigned i = 0; i < 2; ++i) {
      Expr* product = factors_of(sum.getArg(i));
      if (!product) continue;
      Expr* operands[] = {sum.getArg(0), sum.getArg(1)};
      operands[i] = product;
      auto* call = call_library(name, operands, sum.getOperatorLoc());
      sum.setCallee(call->getCallee());
      for (unsigned k = 0; k < 2; ++k) sum.setArg(k, call->getArg(k));
      return;
    }
  }

  void contract_assignment(CXXOperatorCallExpr& assignment, llvm::StringRef name) {
    Expr* product = factors_of(assignment.getArg(1));
    if (!product) return;
    const auto* method = checked_cast<clang::CXXMethodDecl>(assignment.getDirectCallee());
    auto* other = checked_cast<clang::CXXMethodDecl>(
        method->getParent()->lookup(&context_->Idents.get(name)).front());
    Expr* callee = sema_->BuildDeclRefExpr(other, other->getType(), clang::VK_LValue,
                                           assignment.getOperatorLoc());
    assignment.setCallee(sema_->DefaultFunctionArrayConversion(callee).get());
    assignment.setArg(1, product);
  }

  // The call of metal::__multiply for an operand that is a product, negated or not; null for
  // others.
  Expr* factors_of(Expr* operand) {
    CXXOperatorCallExpr* product = operation_in(operand);
    const bool is_negated = product && is_elementwise(*product, clang::OO_Minus, 1);
    if (is_negated) product = operation_in(product->getArg(0));
    if (!product || !is_elementwise(*product, clang::OO_Star, 2)) return nullptr;
    const clang::SourceLocation place = product->getOperatorLoc();
    Expr* factors[] = {product->getArg(0), product->getArg(1)};
    Expr* call = call_library("__multiply", factors, place);
    return is_negated ? call_library("__negate", call, place) : call;
  }

  clang::CallExpr* call_library(llvm::StringRef name, llvm::MutableArrayRef<Expr*> arguments,
                                clang::SourceLocation place) {
    clang::LookupResult found(*sema_, clang::DeclarationName(&context_->Idents.get(name)), place,
                              clang::Sema::LookupOrdinaryName);
    sema_->LookupQualifiedName(found, library());
    Expr* callee =
        sema_->BuildDeclarationNameExpr(clang::CXXScopeSpec(), found, /*NeedsADL=*/false).get();
    return checked_cast<clang::CallExpr>(
        sema_->BuildCallExpr(/*S=*/nullptr, callee, place, arguments, place).get());
  }

  clang::NamespaceDecl* library() const {
    return context_->getTranslationUnitDecl()
        ->lookup(&context_->Idents.get("metal"))
        .find_first<clang::NamespaceDecl>();
  }

  clang::ASTContext* context_ = nullptr;
  clang::Sema* sema_ = nullptr;
};

}  // namespace

std::unique_ptr<clang::ASTConsumer> contract_vectors() {
  return std::make_unique<ContractVectors>();
}

}  // namespace metal::compiler
