#include <optional>
#include <string_view>

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/Expr.h"
#include "metal/compiler/apple/rules.h"
#include "metal/compiler/type_names.h"

namespace metal::compiler::apple {
namespace {

// atomic<T>* as an argument.
struct AtomicObject {
  clang::QualType value;
  bool in_threadgroup;
};

std::optional<AtomicObject> atomic_object(const Reporter& reporter, const clang::Expr& argument) {
  const clang::QualType pointee = argument.getType()->getPointeeType();
  if (pointee.isNull()) return std::nullopt;
  const auto* record =
      llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(pointee->getAsCXXRecordDecl());
  if (!record || library_name(reporter, *record) != "atomic") return std::nullopt;
  return AtomicObject{record->getTemplateArgs()[0].getAsType(),
                      pointee.getAddressSpace() == clang::LangAS::opencl_local};
}

bool is_one_of(llvm::StringRef name, std::initializer_list<llvm::StringRef> names) {
  return llvm::is_contained(names, name);
}

bool is_access(llvm::StringRef name) {
  return is_one_of(
      name, {"atomic_load_explicit", "atomic_store_explicit", "atomic_exchange_explicit",
             "atomic_compare_exchange_weak_explicit", "atomic_compare_exchange_strong_explicit"});
}

// Why there is no such operation; empty if there is.
std::string refusal(const Reporter& reporter, llvm::StringRef name, const AtomicObject& object) {
  const std::string type = "atomic<" + scalar_name(object.value) + ">";
  const auto* builtin = object.value->getAs<clang::BuiltinType>();
  const std::string no_types =
      "Metal has no " + type + "; atomic types are those of int, uint, bool, ulong and float";
  if (!builtin) return no_types;
  switch (builtin->getKind()) {
    case clang::BuiltinType::Int:
    case clang::BuiltinType::UInt:
      return "";
    case clang::BuiltinType::Bool:
      if (is_access(name)) return "";
      return "there is no " + name.str() + " of " + type;
    case clang::BuiltinType::ULong:
      if (!is_one_of(name, {"atomic_min_explicit", "atomic_max_explicit"}))
        return "there is no " + name.str() + " of " + type +
               ", which has only atomic_min_explicit and atomic_max_explicit";
      return object.in_threadgroup ? type + " must be in device memory" : "";
    case clang::BuiltinType::Float:
      if (reporter.dialect().language < version(3, 0)) return type + " comes with Metal 3.0";
      if (object.in_threadgroup) return type + " must be in device memory";
      if (is_access(name) ||
          is_one_of(name, {"atomic_fetch_add_explicit", "atomic_fetch_sub_explicit"}))
        return "";
      return "there is no " + name.str() + " of " + type;
    default:
      return no_types;
  }
}

// Whether an argument is a memory order that is known and not relaxed.
bool is_stronger_order(const Reporter& reporter, const clang::ASTContext& context,
                       const clang::Expr& argument) {
  const auto* type = argument.getType()->getAs<clang::EnumType>();
  if (!type || library_name(reporter, *type->getDecl()) != "memory_order") return false;
  clang::Expr::EvalResult value;
  return !argument.isValueDependent() && argument.EvaluateAsInt(value, context) &&
         value.Val.getInt() != 0;
}

}  // namespace

void check_atomics(Reporter& reporter, const clang::ASTContext& context,
                   const clang::CallExpr& call) {
  const llvm::StringRef name = library_name(reporter, *call.getDirectCallee());
  if (!name.starts_with("atomic_") || !name.ends_with("_explicit") || call.getNumArgs() == 0)
    return;
  const auto object = atomic_object(reporter, *call.getArg(0));
  if (!object) return;
  const std::string reason = refusal(reporter, name, *object);
  if (!reason.empty()) reporter.report(call.getExprLoc(), reason);
  for (const clang::Expr* argument : call.arguments()) {
    if (is_stronger_order(reporter, context, *argument)) {
      reporter.report(argument->getBeginLoc(),
                      "atomic operations take memory_order_relaxed only; atomic_thread_fence "
                      "orders other accesses");
    }
  }
}

}  // namespace metal::compiler::apple
