// Calls of the library that are ambiguous among Apple's overloads. Here the library's functions
// take mixed types, so the overloads are modelled: one for each type, all of whose arguments are of
// it.
#include <algorithm>
#include <optional>

#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "metal/compiler/apple/overload_table.h"
#include "metal/compiler/apple/rules.h"
#include "metal/compiler/type_names.h"

namespace metal::compiler::apple {
namespace {

using Scalars = std::vector<ScalarType>;

const char* name_of(ScalarType type) { return info_of(type).name; }

Scalars overloads_of(const OverloadedFunction& function, const Dialect& dialect) {
  static const Scalars kWords = {ScalarType::Int, ScalarType::UInt};
  static const Scalars kIntegers = {ScalarType::Char,   ScalarType::UChar, ScalarType::Short,
                                    ScalarType::UShort, ScalarType::Int,   ScalarType::UInt,
                                    ScalarType::Long,   ScalarType::ULong};
  Scalars types;
  if (function.types == Types::Floats || function.types == Types::Numbers)
    types = {ScalarType::Half, ScalarType::Float};
  if (function.bfloat && dialect.with_utils) types.push_back(ScalarType::BFloat);
  if (function.types == Types::Integers || function.types == Types::Numbers)
    types.insert(types.end(), kIntegers.begin(), kIntegers.end());
  if (function.types == Types::Words) types = kWords;
  return types;
}

// How good a conversion of an argument is: nothing to do, a promotion, or any other one.
int rank(ScalarType from, ScalarType to) {
  if (from == to) return 0;
  const bool is_small = from == ScalarType::Bool || from == ScalarType::Char ||
                        from == ScalarType::UChar || from == ScalarType::Short ||
                        from == ScalarType::UShort;
  return is_small && to == ScalarType::Int ? 1 : 2;
}

// Whether C++ prefers one overload: it converts no argument worse, and one better.
bool is_better(ScalarType one, ScalarType other, const Scalars& arguments) {
  bool better = false;
  for (ScalarType argument : arguments) {
    const int difference = rank(argument, one) - rank(argument, other);
    if (difference > 0) return false;
    better |= difference < 0;
  }
  return better;
}

// The overloads that none is better than: C++ needs that to be one.
Scalars best_overloads(const Scalars& overloads, const Scalars& arguments) {
  Scalars best;
  for (ScalarType one : overloads) {
    if (std::ranges::none_of(overloads,
                             [&](ScalarType other) { return is_better(other, one, arguments); }))
      best.push_back(one);
  }
  return best;
}

std::string listed(const Scalars& types) {
  std::string text;
  for (ScalarType type : types) text.append(text.empty() ? "" : ", ").append(name_of(type));
  return text;
}

// The type of an argument as it is written; null for objects of classes that convert to a scalar.
std::optional<ScalarType> written_scalar(const clang::Expr& argument) {
  const clang::Expr* written = argument.IgnoreParenImpCasts();
  const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(written);
  if (call && llvm::isa_and_nonnull<clang::CXXConversionDecl>(call->getMethodDecl()))
    return std::nullopt;
  if (written->getType()->isSpecificBuiltinType(clang::BuiltinType::Double))
    return ScalarType::Float;  // a literal
  return scalar_type(written->getType());
}

// The types of the arguments; empty where the overloads are not known to be all that matter.
Scalars arguments_of(const clang::CallExpr& call, const OverloadedFunction& function,
                     const Dialect& dialect) {
  Scalars types;
  if (call.getNumArgs() < function.arguments) return {};
  for (unsigned i = 0; i < function.arguments; ++i) {
    const auto type = written_scalar(*call.getArg(i));
    if (!type) return {};
    if (type == ScalarType::BFloat && !(function.bfloat && dialect.with_utils)) return {};
    types.push_back(*type);
  }
  return types;
}

// Whether a function is called by its name in `metal`. Those of metal::fast and metal::precise have
// one overload for scalars, of float.
bool is_found_in_metal(const clang::CallExpr& call) {
  const auto* name =
      llvm::dyn_cast_or_null<clang::DeclRefExpr>(call.getCallee()->IgnoreParenImpCasts());
  if (!name || llvm::isa<clang::UsingShadowDecl>(name->getFoundDecl())) return false;
  const clang::NestedNameSpecifier* qualifier = name->getQualifier();
  if (!qualifier || qualifier->getKind() == clang::NestedNameSpecifier::Global) return true;
  const clang::NamespaceDecl* scope = qualifier->getAsNamespace();
  return scope && scope->getName() == "metal";
}

}  // namespace

void check_overloads(Reporter& reporter, const clang::CallExpr& call) {
  const std::string_view name = library_name(reporter, *call.getDirectCallee());
  const auto* function =
      std::ranges::lower_bound(kOverloadedFunctions, name, {}, &OverloadedFunction::name);
  if (function == std::end(kOverloadedFunctions) || function->name != name) return;
  if (!is_found_in_metal(call)) return;
  const Scalars arguments = arguments_of(call, *function, reporter.dialect());
  if (arguments.empty()) return;
  Scalars best = best_overloads(overloads_of(*function, reporter.dialect()), arguments);
  if (best.size() < 2) return;
  // The overloads that fit an argument say most.
  std::ranges::stable_partition(
      best, [&](ScalarType type) { return std::ranges::count(arguments, type) > 0; });
  best.resize(2);
  reporter.report(call.getExprLoc(), "the call of '" + std::string(name) + "' with (" +
                                         listed(arguments) + ") is ambiguous: its overloads of " +
                                         name_of(best[0]) + " and " + name_of(best[1]) +
                                         " are equally good");
}

}  // namespace metal::compiler::apple
