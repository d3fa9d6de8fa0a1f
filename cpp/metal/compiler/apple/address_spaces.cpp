// Which memory pointers and variables are in.
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/TypeLoc.h"
#include "clang/Basic/IdentifierTable.h"
#include "metal/compiler/apple/rules.h"

namespace metal::compiler::apple {
namespace {

namespace tok = clang::tok;

bool is_word(const clang::Token& token, llvm::StringRef word) {
  return token.is(tok::identifier) && token.getIdentifierInfo()->getName() == word;
}

// What may stand between an address space and the name of the type.
bool may_precede_type(const clang::Token& token) {
  return token.isOneOf(tok::kw_const, tok::kw_volatile, tok::kw_unsigned, tok::kw_signed,
                       tok::kw_short, tok::kw_long, tok::kw_int, tok::kw_struct, tok::kw_class,
                       tok::kw_typename, tok::kw_static, tok::kw_inline, tok::kw_constexpr,
                       tok::coloncolon);
}

// The type that is written, without qualifiers and parentheses.
clang::TypeLoc bare(clang::TypeLoc type) {
  for (;;) {
    type = type.getUnqualifiedLoc();
    if (const auto parens = type.getAs<clang::ParenTypeLoc>()) {
      type = parens.getInnerLoc();
    } else if (const auto attributed = type.getAs<clang::AttributedTypeLoc>()) {
      type = attributed.getModifiedLoc();
    } else {
      return type;
    }
  }
}

// Types whose address space somebody else decides, or that have none.
bool is_deduced(clang::TypeLoc pointee) {
  const clang::TypeLoc type = bare(pointee);
  return pointee.getType()->isDependentType() || pointee.getType()->isFunctionType() ||
         type.getAs<clang::AutoTypeLoc>() || type.getAs<clang::DecltypeTypeLoc>() ||
         type.getAs<clang::TypeOfExprTypeLoc>() ||
         type.getAs<clang::SubstTemplateTypeParmTypeLoc>();
}

const char* name_of(clang::LangAS space) {
  switch (space) {
    case clang::LangAS::Default:
      return "thread";
    case clang::LangAS::opencl_global:
      return "device";
    case clang::LangAS::opencl_private:  // as the token pass writes it
      return "constant";
    case clang::LangAS::opencl_local:
      return "threadgroup";
    default:
      return nullptr;
  }
}

}  // namespace

AddressSpaceRules::AddressSpaceRules(Reporter& reporter, const clang::ASTContext& context,
                                     const std::vector<clang::Token>& tokens)
    : reporter_(reporter), context_(context), tokens_(tokens) {
  places_.reserve(tokens.size());
  for (size_t i = 0; i < tokens.size(); ++i)
    places_.try_emplace(tokens[i].getLocation().getRawEncoding(), i);
}

void AddressSpaceRules::check_declarator(const clang::DeclaratorDecl& declaration) const {
  const clang::TypeSourceInfo* written = declaration.getTypeSourceInfo();
  if (!written) return;
  clang::TypeLoc type = written->getTypeLoc();
  if (const auto function = bare(type).getAs<clang::FunctionTypeLoc>();
      function && llvm::isa<clang::FunctionDecl>(declaration))
    type = function.getReturnLoc();
  check_pointers(type);
}

// Goes from the declared name towards the type at the front.
void AddressSpaceRules::check_pointers(clang::TypeLoc type) const {
  for (;;) {
    type = bare(type);
    if (const auto pointer = type.getAs<clang::PointerTypeLoc>()) {
      type = pointer.getPointeeLoc();
      check_pointee(pointer.getStarLoc(), "pointer", type);
    } else if (const auto reference = type.getAs<clang::ReferenceTypeLoc>()) {
      type = reference.getPointeeLoc();
      check_pointee(reference.getSigilLoc(), "reference", type);
    } else if (const auto array = type.getAs<clang::ArrayTypeLoc>()) {
      type = array.getElementLoc();
    } else {
      return;
    }
  }
}

void AddressSpaceRules::check_pointee(clang::SourceLocation star, const char* what,
                                      clang::TypeLoc pointee) const {
  if (is_deduced(pointee)) return;
  const clang::QualType type = context_.getBaseElementType(pointee.getType());
  if (type.getAddressSpace() != clang::LangAS::Default) return;
  const auto place = places_.find(star.getRawEncoding());
  if (place == places_.end() || is_in_thread(pointee, place->second)) return;
  reporter_.report(star, std::string("a ") + what +
                             " needs an address space: write 'thread', 'device', 'constant' or "
                             "'threadgroup' before the type");
}

// Whether `thread` qualifies a pointee, which ends before a star. It is before the name of the
// type, or between that and the star.
bool AddressSpaceRules::is_in_thread(clang::TypeLoc pointee, size_t star) const {
  clang::TypeLoc type = bare(pointee);
  while (const auto array = type.getAs<clang::ArrayTypeLoc>()) type = bare(array.getElementLoc());
  const bool is_pointer = !type.getAs<clang::PointerTypeLoc>().isNull();
  const clang::SourceLocation begin =
      is_pointer ? type.castAs<clang::PointerTypeLoc>().getStarLoc() : type.getBeginLoc();
  const auto place = places_.find(begin.getRawEncoding());
  if (place == places_.end()) return true;  // the type comes from nowhere that is known
  for (size_t i = place->second; i < star; ++i) {
    if (is_word(tokens_[i], "thread")) return true;
  }
  if (is_pointer) return false;
  for (size_t i = place->second; i-- > 0;) {
    if (is_word(tokens_[i], "thread")) return true;
    if (!may_precede_type(tokens_[i])) return false;
  }
  return false;
}

void AddressSpaceRules::check_cast(const clang::ExplicitCastExpr& cast) const {
  if (cast.isTypeDependent() || cast.getSubExpr()->isTypeDependent()) return;
  const clang::TypeSourceInfo* written = cast.getTypeInfoAsWritten();
  if (written) check_pointers(written->getTypeLoc());
  clang::QualType from = cast.getSubExprAsWritten()->getType();
  if (from->isArrayType()) from = context_.getArrayDecayedType(from);
  const clang::QualType to = cast.getTypeAsWritten();
  if (!from->isPointerType() || !to->isPointerType()) return;
  const char* from_space = name_of(from->getPointeeType().getAddressSpace());
  const char* to_space = name_of(to->getPointeeType().getAddressSpace());
  if (!from_space || !to_space || from_space == to_space) return;
  reporter_.report(cast.getBeginLoc(), std::string("a pointer to ") + from_space +
                                           " memory cannot be cast to one to " + to_space +
                                           " memory");
}

void AddressSpaceRules::check_variable(const clang::VarDecl& variable) const {
  const clang::QualType type = variable.getType();
  const std::string name = "'" + variable.getNameAsString() + "'";
  const bool in_threadgroup =
      context_.getBaseElementType(type).getAddressSpace() == clang::LangAS::opencl_local;
  if (variable.isFileVarDecl() && !variable.isStaticDataMember()) {
    if (in_threadgroup ||
        (!type->isDependentType() && !type->isReferenceType() &&
         context_.getBaseElementType(type).getAddressSpace() == clang::LangAS::Default))
      reporter_.report(
          variable.getLocation(),
          "the variable " + name + " outside of functions must be in the constant address space");
  } else if (in_threadgroup && variable.isStaticLocal()) {
    const auto* function = llvm::dyn_cast<clang::FunctionDecl>(variable.getDeclContext());
    const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(function);
    if (!function || function->isDependentContext() || is_kernel(*function) ||
        (method && method->getParent()->isLambda()))
      return;
    reporter_.report(variable.getLocation(),
                     "the threadgroup variable " + name + " is declared in '" +
                         function->getNameAsString() +
                         "', which is no kernel: declare it in the kernel and pass a pointer");
  }
}

}  // namespace metal::compiler::apple
