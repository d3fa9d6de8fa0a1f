#include "metal/compiler/type_names.h"

#include "clang/AST/DeclTemplate.h"
#include "clang/AST/PrettyPrinter.h"
#include "clang/Basic/LangOptions.h"

namespace metal::compiler {

std::optional<ScalarType> scalar_type(clang::QualType type) {
  const auto* builtin = type.getCanonicalType()->getAs<clang::BuiltinType>();
  if (!builtin) return std::nullopt;
  switch (builtin->getKind()) {
    case clang::BuiltinType::Bool:
      return ScalarType::Bool;
    case clang::BuiltinType::Char_S:
    case clang::BuiltinType::SChar:
      return ScalarType::Char;
    case clang::BuiltinType::UChar:
      return ScalarType::UChar;
    case clang::BuiltinType::Short:
      return ScalarType::Short;
    case clang::BuiltinType::UShort:
      return ScalarType::UShort;
    case clang::BuiltinType::Int:
      return ScalarType::Int;
    case clang::BuiltinType::UInt:
      return ScalarType::UInt;
    case clang::BuiltinType::Long:
      return ScalarType::Long;
    case clang::BuiltinType::ULong:
      return ScalarType::ULong;
    case clang::BuiltinType::Half:
      return ScalarType::Half;
    case clang::BuiltinType::BFloat16:
      return ScalarType::BFloat;
    case clang::BuiltinType::Float:
      return ScalarType::Float;
    default:
      return std::nullopt;
  }
}

std::string scalar_name(clang::QualType type) {
  if (const auto scalar = scalar_type(type)) return info_of(*scalar).name;
  clang::LangOptions language;
  language.CPlusPlus = true;
  return type.getCanonicalType().getUnqualifiedType().getAsString(clang::PrintingPolicy(language));
}

const clang::ClassTemplateSpecializationDecl* as_vector(clang::QualType type) {
  const auto* record = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(
      type.getNonReferenceType()->getAsCXXRecordDecl());
  if (!record || (record->getName() != "vec" && record->getName() != "packed_vec")) return nullptr;
  return record;
}

std::optional<VectorType> vector_type(clang::QualType type) {
  if (const auto scalar = scalar_type(type)) return VectorType{*scalar, 1};
  const auto* record = as_vector(type);
  if (!record || record->getName() != "vec") return std::nullopt;
  const clang::TemplateArgumentList& arguments = record->getTemplateArgs();
  const auto element = scalar_type(arguments[0].getAsType());
  if (!element) return std::nullopt;
  const uint64_t components = arguments[1].getAsIntegral().getZExtValue();
  if (components > 4) return std::nullopt;
  return VectorType{*element, static_cast<uint32_t>(components)};
}

}  // namespace metal::compiler
