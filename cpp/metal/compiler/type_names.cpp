#include "metal/compiler/type_names.h"

#include <string_view>
#include <utility>

#include "clang/AST/PrettyPrinter.h"
#include "clang/Basic/LangOptions.h"

namespace metal::compiler {

std::string scalar_name(clang::QualType type) {
  static constexpr std::pair<std::string_view, const char*> kNames[] = {
      {"unsigned char", "uchar"}, {"unsigned short", "ushort"}, {"unsigned int", "uint"},
      {"unsigned long", "ulong"}, {"signed char", "char"},      {"__bf16", "bfloat"}};
  clang::LangOptions language;
  language.CPlusPlus = language.Bool = language.Half = true;
  const std::string name =
      type.getCanonicalType().getUnqualifiedType().getAsString(clang::PrintingPolicy(language));
  for (const auto& [from, to] : kNames) {
    if (name == from) return to;
  }
  return name;
}

}  // namespace metal::compiler
