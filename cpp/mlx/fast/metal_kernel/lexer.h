// Splits MSL source text into tokens, only to find the identifiers that a kernel mentions.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace mlx::core::fast {

struct Token {
  enum class Kind { Identifier, Punctuation, Literal, End };
  Kind kind;
  std::string_view text;
};

// Comments, string and character literals, and numbers contain no identifiers. A malformed text
// ends the current token at the end of its line; it is never an error.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  Token next();

 private:
  bool skip_comment();
  Token identifier_or_prefixed_string();
  Token number();
  Token quoted(size_t start);
  Token raw_string(size_t start);
  Token take(Token::Kind kind, size_t start) const;
  char peek(size_t ahead = 0) const;

  std::string_view text_;
  size_t at_ = 0;
};

using IdentifierSet = std::set<std::string, std::less<>>;

// Every identifier that `source` mentions outside comments and literals.
IdentifierSet identifiers_in(std::string_view source);

// Whether `source` defines kernel functions itself (`kernel void f(...)` or `[[kernel]] void
// f(...)` at namespace scope) rather than being the body of one.
bool defines_kernel(std::string_view source);

}  // namespace mlx::core::fast
