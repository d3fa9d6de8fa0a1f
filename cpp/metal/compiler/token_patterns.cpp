#include "metal/compiler/token_patterns.h"

#include "clang/Basic/IdentifierTable.h"
#include "clang/Lex/Preprocessor.h"

namespace metal::compiler {
namespace {

using clang::Token;
namespace tok = clang::tok;
using Tokens = std::vector<Token>;

bool is(const Tokens& tokens, size_t i, tok::TokenKind kind) {
  return i < tokens.size() && tokens[i].is(kind);
}

// The position of the bracket that the one at `close` closes; 0 if there is none.
size_t opening(const Tokens& tokens, size_t close, tok::TokenKind open_kind) {
  const tok::TokenKind close_kind = tokens[close].getKind();
  int depth = 0;
  for (size_t i = close + 1; i-- > 0;) {
    if (tokens[i].is(close_kind)) ++depth;
    if (tokens[i].is(open_kind) && --depth == 0) return i;
    if (tokens[i].isOneOf(tok::semi, tok::l_brace, tok::r_brace)) return 0;
  }
  return 0;
}

bool is_address_space(const Token& token) {
  if (!token.is(tok::identifier)) return false;
  const llvm::StringRef word = token.getIdentifierInfo()->getName();
  return word == "device" || word == "constant" || word == "threadgroup";
}

// Where the brackets of an array parameter end whose name is at `i`; 0 if it is none.
size_t array_end(const Tokens& tokens, size_t i) {
  if (!tokens[i].is(tok::identifier) || !is(tokens, i + 1, tok::l_square)) return 0;
  if (is(tokens, i + 2, tok::l_square)) return 0;  // an attribute
  int depth = 0;
  for (size_t end = i + 1; end < tokens.size(); ++end) {
    if (tokens[end].isOneOf(tok::semi, tok::l_brace)) return 0;
    if (tokens[end].is(tok::l_square)) ++depth;
    if (!tokens[end].is(tok::r_square) || --depth > 0) continue;
    const bool attribute = is(tokens, end + 1, tok::l_square) && is(tokens, end + 2, tok::l_square);
    const bool last = is(tokens, end + 1, tok::comma) || is(tokens, end + 1, tok::r_paren);
    return attribute || last ? end + 1 : 0;
  }
  return 0;
}

}  // namespace

bool qualifies_constructor(const std::vector<Token>& tokens, size_t position) {
  if (position == 0 || !tokens[position - 1].is(tok::r_paren)) return false;
  const size_t open = opening(tokens, position - 1, tok::l_paren);
  if (open < 2 || !tokens[open - 1].is(tok::identifier)) return false;
  // A function's name follows its result type, a constructor's whatever may begin a declaration.
  const size_t before = open - 2;
  if (tokens[before].isOneOf(tok::semi, tok::l_brace, tok::r_brace, tok::colon, tok::r_square,
                             tok::kw_constexpr, tok::kw_inline, tok::kw_explicit)) {
    return true;
  }
  if (tokens[before].is(tok::greater)) {
    const size_t less = opening(tokens, before, tok::less);
    return less > 0 && tokens[less - 1].is(tok::kw_template);
  }
  if (tokens[before].is(tok::r_paren)) {
    const size_t attribute = opening(tokens, before, tok::l_paren);
    return attribute > 0 && tokens[attribute - 1].is(tok::kw___attribute);
  }
  return false;
}

std::vector<Token> decay_array_parameters(const std::vector<Token>& tokens) {
  std::vector<Token> out;
  out.reserve(tokens.size());
  // For each open parenthesis, whether an address space was named since it or the last comma.
  std::vector<bool> named;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.is(tok::l_paren)) {
      named.push_back(false);
    } else if (token.is(tok::r_paren)) {
      if (!named.empty()) named.pop_back();
    } else if (token.isOneOf(tok::semi, tok::l_brace, tok::r_brace)) {
      named.clear();
    } else if (!named.empty() && token.is(tok::comma)) {
      named.back() = false;
    } else if (!named.empty() && is_address_space(token)) {
      named.back() = true;
    } else if (!named.empty() && named.back()) {
      if (const size_t end = array_end(tokens, i)) {
        Token star = token;
        star.setKind(tok::star);
        star.setIdentifierInfo(nullptr);
        out.push_back(star);
        out.push_back(token);
        i = end - 1;
        continue;
      }
    }
    out.push_back(token);
  }
  return out;
}

std::vector<Token> place_texts(clang::Preprocessor& preprocessor, const std::vector<Token>& tokens,
                               const std::set<unsigned>& places) {
  std::vector<Token> out;
  bool inside = false;
  auto push = [&](tok::TokenKind kind, const Token& place, const char* identifier = nullptr) {
    Token token;
    token.startToken();
    token.setKind(kind);
    token.setLocation(place.getLocation());
    token.setLength(1);
    if (identifier) token.setIdentifierInfo(&preprocessor.getIdentifierTable().get(identifier));
    out.push_back(token);
  };
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (places.contains(token.getLocation().getRawEncoding())) inside = true;
    if (token.is(tok::semi)) inside = false;
    if (!inside || !token.is(tok::string_literal)) {
      out.push_back(token);
      continue;
    }
    push(tok::l_paren, token);
    push(tok::identifier, token, "metal");
    push(tok::coloncolon, token);
    push(tok::identifier, token, "__text");
    push(tok::less, token);
    while (is(tokens, i, tok::string_literal)) out.push_back(tokens[i++]);
    --i;
    push(tok::greater, token);
    push(tok::period, token);
    push(tok::identifier, token, "at");
    push(tok::r_paren, token);
  }
  return out;
}

}  // namespace metal::compiler
