#include "metal/compiler/define_constants.h"

#include <optional>

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Expr.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"

namespace metal::compiler {
namespace {

class DefineConstants : public clang::ASTConsumer,
                        public clang::RecursiveASTVisitor<DefineConstants> {
 public:
  void Initialize(clang::ASTContext& context) override { context_ = &context; }

  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    for (clang::Decl* declaration : group) define(declaration);
    return true;
  }
  void HandleInlineFunctionDefinition(clang::FunctionDecl* function) override { define(function); }

  // Clang has already computed the value, from the original operations.
  bool VisitVarDecl(clang::VarDecl* variable) {
    clang::EvaluatedStmt* evaluated = variable->getEvaluatedStmt();
    if (evaluated && !variable->isConstexpr()) evaluated->WasEvaluated = false;
    return true;
  }

  bool VisitBinaryOperator(clang::BinaryOperator* operation) {
    if (!operation->getType()->isIntegralOrEnumerationType()) return true;
    if (operation->isShiftOp() || operation->isShiftAssignOp()) {
      mask_shift(*operation);
    } else if (is_division(operation->getOpcode())) {
      guard_division(*operation);
    }
    return true;
  }

 private:
  // The standard library has no such operations.
  void define(clang::Decl* declaration) {
    const clang::SourceManager& sources = context_->getSourceManager();
    if (!sources.isLoadedSourceLocation(declaration->getLocation())) TraverseDecl(declaration);
  }

  static bool is_division(clang::BinaryOperatorKind kind) {
    return kind == clang::BO_Div || kind == clang::BO_Rem;
  }

  std::optional<llvm::APSInt> value_of(const clang::Expr* expression) const {
    clang::Expr::EvalResult result;
    if (expression->isValueDependent() || expression->isTypeDependent() ||
        !expression->getType()->isIntegralOrEnumerationType() ||
        !expression->EvaluateAsInt(result, *context_)) {
      return std::nullopt;
    }
    return result.Val.getInt();
  }

  // The type in which a shift is computed: `c <<= 9` shifts an int, even if c is narrower.
  static clang::QualType shifted_type(const clang::BinaryOperator& shift) {
    const auto* assignment = llvm::dyn_cast<clang::CompoundAssignOperator>(&shift);
    return assignment ? assignment->getComputationLHSType() : shift.getLHS()->getType();
  }

  // Metal takes shift amounts modulo the width.
  void mask_shift(clang::BinaryOperator& shift) const {
    const auto amount = value_of(shift.getRHS());
    const clang::QualType type = shifted_type(shift);
    const uint64_t width = context_->getIntWidth(type);
    if (!amount || (!amount->isNegative() && amount->ult(width))) return;
    replace_right(shift, amount->zextOrTrunc(64).getZExtValue() & (width - 1));
  }

  // The divisor becomes 1, as at run time.
  void guard_division(clang::BinaryOperator& division) const {
    const auto divisor = value_of(division.getRHS());
    if (!divisor) return;
    const bool is_minus_one = divisor->isSigned() && divisor->isAllOnes();
    if (!divisor->isZero() && !is_minus_one) return;
    if (is_minus_one) {
      const auto dividend = value_of(division.getLHS());
      if (!dividend || !dividend->isMinSignedValue()) return;
    }
    replace_right(division, 1);
  }

  void replace_right(clang::BinaryOperator& operation, uint64_t value) const {
    const clang::Expr* right = operation.getRHS();
    const llvm::APInt literal(context_->getIntWidth(right->getType()), value);
    operation.setRHS(
        clang::IntegerLiteral::Create(*context_, literal, right->getType(), right->getExprLoc()));
  }

  clang::ASTContext* context_ = nullptr;
};

}  // namespace

std::unique_ptr<clang::ASTConsumer> define_constants() {
  return std::make_unique<DefineConstants>();
}

}  // namespace metal::compiler
