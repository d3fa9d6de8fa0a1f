#include "metal/compiler/token_patterns.h"

#include <algorithm>

#include "clang/Basic/IdentifierTable.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"

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

bool opens_attributes(const Tokens& tokens, size_t i) {
  return is(tokens, i, tok::l_square) && is(tokens, i + 1, tok::l_square);
}

// Where the first brackets of the array parameter end whose name is at `i`; 0 if it is no such
// name.
size_t first_extent_end(const Tokens& tokens, size_t i) {
  if (!tokens[i].is(tok::identifier) || !is(tokens, i + 1, tok::l_square)) return 0;
  if (opens_attributes(tokens, i + 1)) return 0;
  size_t first = 0;
  int depth = 0;
  for (size_t at = i + 1; at < tokens.size(); ++at) {
    if (tokens[at].isOneOf(tok::semi, tok::l_brace)) return 0;
    if (tokens[at].is(tok::l_square)) ++depth;
    if (!tokens[at].is(tok::r_square) || --depth > 0) continue;
    const size_t end = at + 1;
    if (first == 0) first = end;
    // A default argument is no list in braces; a variable's initializer may be one.
    const bool has_default = is(tokens, end, tok::equal) && !is(tokens, end + 1, tok::l_brace);
    const bool last = is(tokens, end, tok::comma) || is(tokens, end, tok::r_paren) || has_default;
    if (last || opens_attributes(tokens, end)) return first;
    if (!is(tokens, end, tok::l_square)) return 0;
  }
  return 0;
}

llvm::StringRef word(const Tokens& tokens, size_t i) {
  if (i >= tokens.size() || tokens[i].isAnnotation() || tokens[i].isLiteral()) return {};
  const clang::IdentifierInfo* info = tokens[i].getIdentifierInfo();
  return info ? info->getName() : llvm::StringRef();
}

bool begins_type(const Tokens& tokens, size_t i) {
  static constexpr llvm::StringLiteral kWords[] = {
      "const", "volatile", "bool",  "char",  "short",  "int",  "long",  "unsigned", "signed",
      "half",  "bfloat",   "float", "uchar", "ushort", "uint", "ulong", "thread"};
  return i < tokens.size() &&
         (is_address_space(tokens[i]) || llvm::is_contained(kWords, word(tokens, i)));
}

// Where the qualifier that begins at `i` ends: `coherent(scope)`, or `coherent` before a type.
size_t coherence_end(const Tokens& tokens, size_t i) {
  if (!is(tokens, i + 1, tok::l_paren)) return begins_type(tokens, i + 1) ? i + 1 : i;
  static constexpr llvm::StringLiteral kScopes[] = {"thread", "simdgroup", "threadgroup", "device",
                                                    "system"};
  const bool scope = llvm::is_contained(kScopes, word(tokens, i + 2));
  return scope && is(tokens, i + 3, tok::r_paren) ? i + 4 : i;
}

// The position of the parenthesis that closes the one at `open`.
size_t closing(const Tokens& tokens, size_t open) {
  int depth = 0;
  for (size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i].is(tok::l_paren)) ++depth;
    if (tokens[i].is(tok::r_paren) && --depth == 0) return i;
  }
  return tokens.size();
}

// Whether the method whose name is at `name` is for objects in a named address space:
// `f(int x) const device {`. Templates instead of defaulted methods would mean something else.
bool is_for_named_space(const Tokens& tokens, size_t name) {
  size_t open = name + 1;
  const bool is_call = word(tokens, name) == "operator" && is(tokens, open, tok::l_paren);
  if (is_call) open += 2;
  while (open < tokens.size() && !tokens[open].isOneOf(tok::l_paren, tok::semi)) ++open;
  bool named = false;
  for (size_t i = closing(tokens, open) + 1; i < tokens.size(); ++i) {
    if (tokens[i].isOneOf(tok::l_brace, tok::semi)) return named;
    if (!tokens[i].is(tok::kw_const) && !tokens[i].is(tok::identifier)) return false;
    named |= is_address_space(tokens[i]);
  }
  return false;
}

// Where the declaration of the method whose name is at `name` begins.
size_t declaration_begin(const Tokens& tokens, size_t name) {
  size_t begin = name;
  while (begin > 0 &&
         !tokens[begin - 1].isOneOf(tok::semi, tok::l_brace, tok::r_brace, tok::colon)) {
    --begin;
  }
  return begin;
}

// Where an initializer that consists of zeros ends; 0 if the one at `begin` has other values.
size_t zeros_end(clang::Preprocessor& preprocessor, const Tokens& tokens, size_t begin) {
  int depth = 0;
  for (size_t i = begin; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (depth == 0 && token.isOneOf(tok::comma, tok::semi)) return i > begin ? i : 0;
    if (token.is(tok::l_brace)) ++depth;
    if (token.is(tok::r_brace)) --depth;
    if (token.isOneOf(tok::l_brace, tok::r_brace, tok::comma, tok::kw_false)) continue;
    if (i == begin && token.is(tok::equal)) continue;
    if (!token.is(tok::numeric_constant)) return 0;
    // The value is 0 if no digit of the mantissa differs from 0.
    const std::string number = llvm::StringRef(preprocessor.getSpelling(token)).lower();
    const bool hexadecimal = llvm::StringRef(number).starts_with("0x");
    const size_t end = number.find_first_of(hexadecimal ? "p" : "e");
    if (number.substr(0, end).find_first_of(hexadecimal ? "123456789abcdef" : "123456789") !=
        std::string::npos) {
      return 0;
    }
  }
  return 0;
}

Token make_token(clang::Preprocessor& preprocessor, tok::TokenKind kind, const Token& place,
                 const char* identifier = nullptr) {
  Token token;
  token.startToken();
  token.setKind(kind);
  token.setLocation(place.getLocation());
  token.setLength(1);
  if (identifier) token.setIdentifierInfo(&preprocessor.getIdentifierTable().get(identifier));
  return token;
}

}  // namespace

bool is_address_space(const Token& token) {
  if (!token.is(tok::identifier)) return false;
  const llvm::StringRef word = token.getIdentifierInfo()->getName();
  return word == "device" || word == "constant" || word == "threadgroup";
}

void drop_coherence(std::vector<Token>& tokens) {
  size_t kept = 0;
  for (size_t i = 0; i < tokens.size();) {
    const size_t end = word(tokens, i) == "coherent" ? coherence_end(tokens, i) : i;
    if (end == i) tokens[kept++] = tokens[i++];
    i = std::max(i, end);
  }
  tokens.resize(kept);
}

bool is_qualified_name(const std::vector<Token>& tokens, size_t end) {
  return end >= 2 && is(tokens, end - 1, tok::identifier) && is(tokens, end - 2, tok::coloncolon);
}

std::vector<Token> annotate_zeroed(clang::Preprocessor& preprocessor,
                                   const std::vector<Token>& tokens,
                                   const std::set<unsigned>& places) {
  std::vector<Token> out;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token& name = tokens[i];
    out.push_back(name);
    if (!name.is(tok::identifier) || !places.contains(name.getLocation().getRawEncoding()))
      continue;
    size_t begin = i + 1;
    for (int depth = 0; begin < tokens.size(); ++begin) {
      if (is(tokens, begin, tok::l_square)) ++depth;
      if (depth == 0) break;
      if (is(tokens, begin, tok::r_square)) --depth;
    }
    const size_t end = zeros_end(preprocessor, tokens, begin);
    if (end == 0) continue;
    out.insert(out.end(), tokens.begin() + i + 1, tokens.begin() + begin);
    for (const tok::TokenKind kind :
         {tok::l_square, tok::l_square, tok::identifier, tok::r_square, tok::r_square}) {
      out.push_back(
          make_token(preprocessor, kind, name, kind == tok::identifier ? "__zeroed" : nullptr));
    }
    i = end - 1;
  }
  return out;
}

std::vector<Token> make_templates(clang::Preprocessor& preprocessor,
                                  const std::vector<Token>& tokens,
                                  const std::set<unsigned>& places) {
  std::set<size_t> begins;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!places.contains(tokens[i].getLocation().getRawEncoding())) continue;
    const size_t begin = declaration_begin(tokens, i);
    if (is_for_named_space(tokens, i) && !is(tokens, begin, tok::kw_template)) begins.insert(begin);
  }
  std::vector<Token> out;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (begins.contains(i)) {
      for (const tok::TokenKind kind : {tok::kw_template, tok::less, tok::kw_typename, tok::equal,
                                        tok::kw_void, tok::greater}) {
        out.push_back(make_token(preprocessor, kind, tokens[i], tok::getKeywordSpelling(kind)));
      }
    }
    out.push_back(tokens[i]);
  }
  return out;
}

std::optional<NarrowNumber> narrow_number(llvm::StringRef spelling) {
  std::string text = spelling.lower();
  const bool half = llvm::StringRef(text).ends_with("h");
  // The last letters of a hexadecimal integer are digits, not a suffix.
  const bool integer =
      llvm::StringRef(text).starts_with("0x") && !llvm::StringRef(text).contains('p');
  if (integer || (!half && !llvm::StringRef(text).ends_with("bf"))) return std::nullopt;
  text.resize(text.size() - (half ? 1 : 2));
  std::erase(text, '\'');
  if (text.empty() || !(llvm::isDigit(text.back()) || text.back() == '.')) return std::nullopt;
  // Rounds once. Rounding to float first could round a value to the middle between two numbers, and
  // then to the wrong one.
  llvm::APFloat value(half ? llvm::APFloat::IEEEhalf() : llvm::APFloat::BFloat());
  auto status = value.convertFromString(text, llvm::APFloat::rmNearestTiesToEven);
  if (!status) {
    llvm::consumeError(status.takeError());
    return std::nullopt;
  }
  if (value.isInfinity()) return NarrowNumber{half, "1e39f"};
  char hexadecimal[64];
  value.convertToHexString(hexadecimal, 0, false, llvm::APFloat::rmNearestTiesToEven);
  return NarrowNumber{half, std::string(hexadecimal) + "f"};
}

bool qualifies_constructor(const std::vector<Token>& tokens, size_t position) {
  if (position == 0 || !tokens[position - 1].is(tok::r_paren)) return false;
  const size_t open = opening(tokens, position - 1, tok::l_paren);
  if (open < 2 || !tokens[open - 1].is(tok::identifier)) return false;
  // The name of a function follows its result type. The name of a constructor follows what may
  // begin a declaration.
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

std::vector<Token> decay_array_parameters(clang::Preprocessor& preprocessor,
                                          const std::vector<Token>& tokens) {
  std::vector<Token> out;
  out.reserve(tokens.size());
  // For each open parenthesis: whether an address space follows it or the last comma.
  std::vector<bool> named;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.is(tok::l_paren)) {
      named.push_back(false);
    } else if (token.is(tok::r_paren)) {
      if (!named.empty()) named.pop_back();
    } else if (token.isOneOf(tok::semi, tok::l_brace, tok::r_brace)) {
      named.clear();
    } else if (!named.empty() && token.isOneOf(tok::comma, tok::equal)) {
      named.back() = false;
    } else if (!named.empty() && is_address_space(token)) {
      named.back() = true;
    } else if (!named.empty() && named.back()) {
      if (const size_t end = first_extent_end(tokens, i)) {
        auto push = [&](tok::TokenKind kind) {
          out.push_back(make_token(preprocessor, kind, token));
        };
        // It is a pointer to arrays if more brackets follow.
        const bool nested = is(tokens, end, tok::l_square) && !opens_attributes(tokens, end);
        if (nested) push(tok::l_paren);
        push(tok::star);
        out.push_back(token);
        if (nested) push(tok::r_paren);
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
    out.push_back(make_token(preprocessor, kind, place, identifier));
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
    push(tok::identifier, token, "__metal_text");
    // Clang finds the first token of a name that it has parsed by its place, so no other one may
    // have it. The literal is at least two characters long.
    out.back().setLocation(token.getLocation().getLocWithOffset(1));
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
