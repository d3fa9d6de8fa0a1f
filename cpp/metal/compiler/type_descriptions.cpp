#include "metal/compiler/type_descriptions.h"

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "metal/compiler/checked_cast.h"

namespace metal::compiler {
namespace {

using llvm::json::Array;
using llvm::json::Object;
namespace dwarf = llvm::dwarf;

const char* encoding_of(const llvm::DIBasicType& type) {
  switch (type.getEncoding()) {
    case dwarf::DW_ATE_float:
      return "float";
    case dwarf::DW_ATE_boolean:
      return "bool";
    case dwarf::DW_ATE_signed:
    case dwarf::DW_ATE_signed_char:
      return "signed";
    default:
      return "unsigned";
  }
}

// Without names that are given to a type, and without `const`.
const llvm::DIType* underlying(const llvm::DIType* type) {
  while (const auto* derived = llvm::dyn_cast_or_null<llvm::DIDerivedType>(type)) {
    switch (derived->getTag()) {
      case dwarf::DW_TAG_typedef:
      case dwarf::DW_TAG_const_type:
      case dwarf::DW_TAG_volatile_type:
      case dwarf::DW_TAG_restrict_type:
      case dwarf::DW_TAG_atomic_type:
        type = derived->getBaseType();
        continue;
      default:
        return type;
    }
  }
  return type;
}

uint64_t count_of(const llvm::DICompositeType& array) {
  uint64_t count = 1;
  for (const llvm::DINode* dimension : array.getElements()) {
    const auto* range = llvm::dyn_cast<llvm::DISubrange>(dimension);
    const auto length = range ? range->getCount() : llvm::DISubrange::BoundType();
    const auto* number = llvm::dyn_cast_if_present<llvm::ConstantInt*>(length);
    count *= number ? number->getZExtValue() : 0;
  }
  return count;
}

// float a[2][3] is one array with two dimensions there.
Object describe_array(const llvm::DICompositeType& array, size_t element) {
  Array dimensions;
  for (const llvm::DINode* dimension : array.getElements()) {
    const auto* range = llvm::dyn_cast<llvm::DISubrange>(dimension);
    const auto length = range ? range->getCount() : llvm::DISubrange::BoundType();
    const auto* number = llvm::dyn_cast_if_present<llvm::ConstantInt*>(length);
    dimensions.push_back(number ? number->getZExtValue() : 0);
  }
  return Object{{"kind", "array"},
                {"of", element},
                {"count", count_of(array)},
                {"dimensions", std::move(dimensions)}};
}

}  // namespace

size_t TypeDescriptions::add(const llvm::DIType* type) {
  type = underlying(type);
  const auto [known, is_new] = numbers_.try_emplace(type, types_.size());
  const size_t number = known->second;
  if (!is_new) return number;
  types_.push_back(nullptr);  // types may contain pointers to themselves
  const std::string name = type ? type->getName().str() : "void";
  Object described = type ? describe(*type, name) : Object{{"kind", "void"}};
  described["name"] = llvm::json::fixUTF8(name);
  described["bytes"] = type ? type->getSizeInBits() / 8 : 0;
  types_[number] = std::move(described);
  return number;
}

Object TypeDescriptions::describe(const llvm::DIType& type, const std::string&) {
  if (const auto* base = llvm::dyn_cast<llvm::DIBasicType>(&type))
    return Object{{"kind", "base"}, {"encoding", encoding_of(*base)}};
  if (const auto* derived = llvm::dyn_cast<llvm::DIDerivedType>(&type)) {
    const bool refers = derived->getTag() == dwarf::DW_TAG_reference_type ||
                        derived->getTag() == dwarf::DW_TAG_rvalue_reference_type;
    return Object{{"kind", refers ? "reference" : "pointer"}, {"to", add(derived->getBaseType())}};
  }
  const auto* composite = llvm::dyn_cast<llvm::DICompositeType>(&type);
  if (!composite) return Object{{"kind", "unknown"}};
  if (composite->getTag() == dwarf::DW_TAG_array_type)
    return describe_array(*composite, add(composite->getBaseType()));
  if (composite->getTag() == dwarf::DW_TAG_enumeration_type) {
    Object values;
    for (const llvm::DINode* element : composite->getElements()) {
      if (const auto* value = llvm::dyn_cast<llvm::DIEnumerator>(element))
        values[std::to_string(value->getValue().getSExtValue())] = value->getName();
    }
    const llvm::DIType* base = composite->getBaseType();
    if (!base) return Object{{"kind", "unknown"}};
    return Object{{"kind", "enum"}, {"of", add(base)}, {"values", std::move(values)}};
  }
  Array members;
  for (const llvm::DINode* element : composite->getElements()) {
    const auto* member = llvm::dyn_cast<llvm::DIDerivedType>(element);
    if (!member || member->isStaticMember() || member->isBitField()) continue;
    const bool base = member->getTag() == dwarf::DW_TAG_inheritance;
    if (!base && member->getTag() != dwarf::DW_TAG_member) continue;
    members.push_back(Array{base ? "" : member->getName(), add(member->getBaseType()),
                            member->getOffsetInBits() / 8});
  }
  return Object{{"kind", "struct"}, {"members", std::move(members)}};
}

}  // namespace metal::compiler
