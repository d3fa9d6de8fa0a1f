// The words of MSL that cannot name a kernel parameter.
#include <set>

#include "mlx/fast/metal_kernel/signature.h"

namespace mlx::core::fast {

namespace {

const std::set<std::string_view>& keywords() {
  static const auto& words = *new std::set<std::string_view>{
      // never destroyed
      "alignas",
      "alignof",
      "and",
      "and_eq",
      "asm",
      "auto",
      "bitand",
      "bitor",
      "bool",
      "break",
      "case",
      "catch",
      "char",
      "class",
      "compl",
      "concept",
      "const",
      "const_cast",
      "consteval",
      "constexpr",
      "constinit",
      "continue",
      "decltype",
      "default",
      "delete",
      "do",
      "double",
      "dynamic_cast",
      "else",
      "enum",
      "explicit",
      "export",
      "extern",
      "false",
      "float",
      "for",
      "friend",
      "goto",
      "if",
      "inline",
      "int",
      "long",
      "mutable",
      "namespace",
      "new",
      "noexcept",
      "not",
      "not_eq",
      "nullptr",
      "operator",
      "or",
      "or_eq",
      "private",
      "protected",
      "public",
      "register",
      "requires",
      "return",
      "short",
      "signed",
      "sizeof",
      "static",
      "static_assert",
      "static_cast",
      "struct",
      "switch",
      "template",
      "this",
      "thread_local",
      "throw",
      "true",
      "try",
      "typedef",
      "typeid",
      "typename",
      "union",
      "unsigned",
      "using",
      "virtual",
      "void",
      "volatile",
      "while",
      "wchar_t",
      "xor",
      "xor_eq",
      "reinterpret_cast",
      // Metal's own
      "device",
      "constant",
      "threadgroup",
      "thread",
      "kernel",
      "half",
      "bfloat",
      "fragment",
      "vertex",
      "threadgroup_imageblock",
  };
  return words;
}

}  // namespace

std::string reason_against_name(std::string_view name) {
  if (name.empty()) return "it is empty";
  Lexer lexer(name);
  Token token = lexer.next();
  if (token.kind != Token::Kind::Identifier || token.text.size() != name.size()) {
    return "it is not an identifier";
  }
  if (keywords().contains(name)) return "it is a keyword of the Metal Shading Language";
  return "";
}

}  // namespace mlx::core::fast
