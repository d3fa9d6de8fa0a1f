// Splits MSL source text into tokens, only to find the identifiers that a kernel mentions.
#include "mlx/fast/metal_kernel/lexer.h"

#include <algorithm>
#include <vector>

namespace mlx::core::fast {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_identifier_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80);
}

bool is_identifier_char(char c) { return is_identifier_start(c) || is_digit(c); }

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

bool is_string_prefix(std::string_view word) {
  return word == "L" || word == "u" || word == "U" || word == "u8" || word == "R" || word == "LR" ||
         word == "uR" || word == "UR" || word == "u8R";
}

}  // namespace

char Lexer::peek(size_t ahead) const {
  return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
}

Token Lexer::take(Token::Kind kind, size_t start) const {
  return {kind, text_.substr(start, at_ - start)};
}

// Skips one comment. A line comment continues after a backslash at the end of its line.
bool Lexer::skip_comment() {
  if (peek() != '/') return false;
  if (peek(1) == '*') {
    size_t end = text_.find("*/", at_ + 2);
    at_ = end == std::string_view::npos ? text_.size() : end + 2;
    return true;
  }
  if (peek(1) != '/') return false;
  while (at_ < text_.size() && text_[at_] != '\n') {
    if (text_[at_] == '\\') at_ += peek(1) == '\r' ? 2 : 1;
    ++at_;
  }
  return true;
}

Token Lexer::next() {
  while (at_ < text_.size()) {
    if (is_space(text_[at_])) {
      ++at_;
    } else if (!skip_comment()) {
      break;
    }
  }
  at_ = std::min(at_, text_.size());
  if (at_ == text_.size()) return {Token::Kind::End, {}};
  char c = text_[at_];
  if (is_identifier_start(c)) return identifier_or_prefixed_string();
  if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
  if (c == '"' || c == '\'') return quoted(at_);
  size_t start = at_++;
  return take(Token::Kind::Punctuation, start);
}

Token Lexer::identifier_or_prefixed_string() {
  size_t start = at_;
  while (is_identifier_char(peek())) ++at_;
  std::string_view word = text_.substr(start, at_ - start);
  if ((peek() == '"' || peek() == '\'') && is_string_prefix(word)) {
    return peek() == '"' && word.back() == 'R' ? raw_string(start) : quoted(start);
  }
  return take(Token::Kind::Identifier, start);
}

// Suffixes and digit separators belong to the number. An exponent with a sign is read as a second
// number.
Token Lexer::number() {
  size_t start = at_;
  while (is_identifier_char(peek()) || peek() == '.' ||
         (peek() == '\'' && is_identifier_char(peek(1)))) {
    ++at_;
  }
  return take(Token::Kind::Literal, start);
}

Token Lexer::quoted(size_t start) {
  char quote = text_[at_++];
  while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
    at_ += text_[at_] == '\\' ? 2 : 1;
  }
  if (peek() == quote) ++at_;
  at_ = std::min(at_, text_.size());
  return take(Token::Kind::Literal, start);
}

Token Lexer::raw_string(size_t start) {
  size_t open = text_.find('(', at_);
  if (open == std::string_view::npos) return quoted(start);
  std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
  size_t end = text_.find(close, open);
  at_ = end == std::string_view::npos ? text_.size() : end + close.size();
  return take(Token::Kind::Literal, start);
}

IdentifierSet identifiers_in(std::string_view source) {
  IdentifierSet found;
  Lexer lexer(source);
  for (Token t = lexer.next(); t.kind != Token::Kind::End; t = lexer.next()) {
    if (t.kind == Token::Kind::Identifier) found.emplace(t.text);
  }
  return found;
}

bool defines_kernel(std::string_view source) {
  Lexer lexer(source);
  std::vector<bool> braces;   // for each open brace: whether it opens a namespace
  bool in_namespace = false;  // between the word `namespace` and its brace
  int function_depth = 0;     // open braces other than a namespace's
  std::string_view before;
  for (Token t = lexer.next(); t.kind != Token::Kind::End; before = t.text, t = lexer.next()) {
    if (t.text == "namespace" || (t.kind == Token::Kind::Literal && before == "extern")) {
      in_namespace = true;
    } else if (t.text == "{") {
      braces.push_back(in_namespace);
      function_depth += !in_namespace;
      in_namespace = false;
    } else if (t.text == "}" && !braces.empty()) {
      function_depth -= !braces.back();
      braces.pop_back();
    } else if (t.text == ";") {
      in_namespace = false;
    } else if (t.text == "kernel" && function_depth == 0) {
      if (before != "." && before != ":") return true;
    }
  }
  return false;
}

}  // namespace mlx::core::fast
