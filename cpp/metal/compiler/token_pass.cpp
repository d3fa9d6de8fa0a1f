#include "metal/compiler/token_pass.h"

#include <map>
#include <set>
#include <string>

#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/IdentifierTable.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/StringSet.h"
#include "metal/compiler/attributes.h"
#include "metal/compiler/token_patterns.h"

namespace metal::compiler {
namespace {

using clang::SourceLocation;
using clang::Token;
using Kind = clang::tok::TokenKind;
namespace tok = clang::tok;

class TokenPass {
 public:
  TokenPass(clang::Preprocessor& preprocessor, const std::vector<Token>& tokens,
            const Repairs& repairs)
      : pp_(preprocessor), in_(tokens), repairs_(repairs) {
    out_.reserve(tokens.size() + tokens.size() / 8);
  }

  std::vector<Token> run() {
    for (next_ = 0; next_ < in_.size(); ++next_) {
      find_cast();
      find_swizzle();
    }
    for (next_ = 0; next_ < in_.size();) {
      end_swizzle();
      widen_operand();
      if (is_attribute_list()) {
        rewrite_attribute_list();
      } else {
        rewrite_token(in_[next_]);
        copy_operand();
        ++next_;
      }
    }
    return std::move(out_);
  }

 private:
  // ---- looking ----

  const Token* at(size_t index) const { return index < in_.size() ? &in_[index] : nullptr; }
  bool is(size_t index, Kind kind) const { return index < in_.size() && in_[index].is(kind); }

  llvm::StringRef name(const Token& token) const {
    if (token.isAnnotation() || token.isLiteral()) return {};
    const clang::IdentifierInfo* info = token.getIdentifierInfo();
    return info ? info->getName() : llvm::StringRef();
  }
  llvm::StringRef name(size_t index) const {
    return index < in_.size() ? name(in_[index]) : llvm::StringRef();
  }

  // Whether `[[` starts an attribute list, not a subscript with a lambda.
  bool is_attribute_list() const {
    if (!is(next_, tok::l_square) || !is(next_ + 1, tok::l_square)) return false;
    const Token* first = at(next_ + 2);
    return first && (first->is(tok::r_square) || !name(*first).empty());
  }

  // ---- writing ----

  void push(Kind kind, SourceLocation location, const char* identifier = nullptr) {
    Token token;
    token.startToken();
    token.setKind(kind);
    token.setLocation(location);
    token.setLength(1);
    if (identifier) token.setIdentifierInfo(&pp_.getIdentifierTable().get(identifier));
    out_.push_back(token);
  }

  // A keyword of OpenCL's or C's. It is no keyword of C++, so the identifier must be marked as one.
  void push_qualifier(Kind kind, const char* spelling, const Token& original) {
    Token token = original;
    token.setKind(kind);
    token.setIdentifierInfo(&pp_.getIdentifierTable().get(spelling, kind));
    out_.push_back(token);
  }

  void push_literal(Kind kind, const std::string& text, SourceLocation location) {
    Token token;
    token.startToken();
    token.setKind(kind);
    pp_.CreateString(text, token, location, location);
    out_.push_back(token);
  }

  // __attribute__((annotate("metal.NAME", arguments...)))
  void push_annotation(llvm::StringRef attribute, size_t first, size_t last,
                       SourceLocation location) {
    push(tok::kw___attribute, location, "__attribute__");
    push(tok::l_paren, location);
    push(tok::l_paren, location);
    push(tok::identifier, location, "annotate");
    push(tok::l_paren, location);
    push_literal(tok::string_literal, "\"" + annotation_name(attribute.str()) + "\"", location);
    if (first < last) {
      push(tok::comma, location);
      out_.insert(out_.end(), in_.begin() + first, in_.begin() + last);
    }
    for (int i = 0; i < 3; ++i) push(tok::r_paren, location);
  }

  // ---- diagnostics ----

  void report(clang::DiagnosticsEngine::Level level, const Token& token, llvm::StringRef text) {
    auto& diagnostics = pp_.getDiagnostics();
    const auto ids = diagnostics.getDiagnosticIDs();
    diagnostics.Report(token.getLocation(),
                       ids->getCustomDiagID(static_cast<clang::DiagnosticIDs::Level>(level), "%0"))
        << text;
  }
  void warn(const Token& token, llvm::StringRef text) {
    report(clang::DiagnosticsEngine::Warning, token, text);
  }

  // ---- attributes ----

  void rewrite_attribute_list() {
    const size_t begin = next_ + 2;
    size_t end = begin;
    int depth = 0;
    for (; end < in_.size() && !in_[end].is(tok::eof); ++end) {
      if (depth == 0 && is(end, tok::r_square)) break;
      if (in_[end].isOneOf(tok::l_paren, tok::l_square, tok::l_brace)) ++depth;
      if (in_[end].isOneOf(tok::r_paren, tok::r_square, tok::r_brace)) --depth;
    }
    if (!is(end, tok::r_square) || !is(end + 1, tok::r_square)) {  // no attribute list
      out_.push_back(in_[next_++]);
      return;
    }
    if (is_standard_list(begin, end)) {
      out_.insert(out_.end(), in_.begin() + next_, in_.begin() + end + 2);
    } else {
      rewrite_attributes(begin, end);
    }
    next_ = end + 2;
  }

  bool is_standard_list(size_t begin, size_t end) const {
    for (size_t i = begin; i < end; ++i) {
      if (is(i, tok::coloncolon)) return true;
      if (is(i, tok::l_paren)) return false;
      if (is_standard_attribute(name(i))) return true;
    }
    return begin == end;
  }

  // [[buffer(2), function_constant(flag)]]: an argument that may stay unbound.
  bool is_argument_list(size_t begin, size_t end) const {
    for (size_t i = begin; i < end; ++i) {
      if (name(i) == "buffer" || name(i) == "threadgroup") return true;
    }
    return false;
  }

  void rewrite_attributes(size_t begin, size_t end) {
    const bool of_argument = is_argument_list(begin, end);
    for (size_t i = begin; i < end;) {
      const Token& token = in_[i];
      const llvm::StringRef attribute = name(token);
      const size_t arguments = i + 1;
      size_t after = arguments;
      if (is(arguments, tok::l_paren)) after = closing(arguments, end) + 1;
      if (attribute == "function_constant" && of_argument) {
        push_annotation("optional", 0, 0, token.getLocation());
      } else if (is_metal_attribute(attribute)) {
        if (attribute == "function_constant") mark_extern();
        if (after > arguments) {
          push_annotation(attribute, arguments + 1, after - 1, token.getLocation());
        } else {
          push_annotation(attribute, 0, 0, token.getLocation());
        }
      } else if (!attribute.empty() && !is_graphics_attribute(attribute)) {
        warn_unknown(token, attribute);
      }
      i = after;
      if (is(i, tok::comma))
        ++i;
      else if (i == arguments && i < end && attribute.empty())
        ++i;
    }
  }

  size_t closing(size_t open, size_t end, tok::TokenKind opens = tok::l_paren,
                 tok::TokenKind closes = tok::r_paren) const {
    int depth = 0;
    for (size_t i = open; i < end; ++i) {
      if (is(i, opens)) ++depth;
      if (is(i, closes) && --depth == 0) return i;
    }
    return end;
  }

  void warn_unknown(const Token& token, llvm::StringRef attribute) {
    warn(token, ("unknown attribute '" + attribute + "' ignored").str());
  }

  // A function constant is declared without a value. A const object needs `extern` for that; a
  // constexpr object cannot be declared so.
  void mark_extern() {
    constexpr size_t kNone = -1;
    size_t qualifier = kNone;
    for (size_t i = out_.size(); i-- > 0;) {
      Token& token = out_[i];
      if (token.isOneOf(tok::semi, tok::l_brace, tok::r_brace, tok::l_paren, tok::comma)) break;
      if (token.is(tok::kw_extern)) return;
      if (token.is(tok::kw___private)) qualifier = i;
      if (token.is(tok::kw_constexpr)) {
        out_.erase(out_.begin() + i);
        if (qualifier != kNone) --qualifier;
        continue;
      }
      if (token.is(tok::kw_static)) {
        token.setKind(tok::kw_extern);
        token.setIdentifierInfo(&pp_.getIdentifierTable().get("extern"));
        return;
      }
    }
    if (qualifier == kNone) return;
    Token token = out_[qualifier];
    token.setKind(tok::kw_extern);
    token.setIdentifierInfo(&pp_.getIdentifierTable().get("extern"));
    out_.insert(out_.begin() + qualifier, token);
  }

  // ---- single tokens ----

  void rewrite_token(const Token& token) {
    if (token.is(tok::numeric_constant)) return rewrite_number(token);
    if (token.isOneOf(tok::annot_pragma_fp, tok::annot_pragma_float_control) &&
        !may_set_arithmetic()) {
      return warn(token, "pragma ignored: it belongs at the start of a block or outside functions");
    }
    if (token.is(tok::l_brace)) blocks_.push_back(!is_namespace(next_));
    if (token.is(tok::r_brace) && !blocks_.empty()) blocks_.pop_back();
    if (token.isAnnotation() || token.isLiteral()) return out_.push_back(token);
    if (token.isOneOf(tok::kw_double, tok::kw_asm)) report_missing(token);
    if (token.is(tok::kw_alignas) && follows_address_space()) {
      return push_qualifier(tok::kw__Alignas, "_Alignas", token);
    }
    if (!token.is(tok::identifier)) return out_.push_back(token);
    const llvm::StringRef word = name(token);
    if (word == "device") {
      push_qualifier(tok::kw___global, "__global", token);
    } else if (word == "threadgroup") {
      make_static_if_variable(token);
      push_qualifier(tok::kw___local, "__local", token);
    } else if (word == "constant") {
      make_static_if_variable(token);
      if (!qualifies_constructor(in_, next_)) push(tok::kw_const, token.getLocation(), "const");
      push_qualifier(tok::kw___private, "__private", token);
    } else if (word == "__metal_generic") {
      push_qualifier(tok::kw___generic, "__generic", token);
    } else if (word == "bfloat") {
      push_qualifier(tok::kw___bf16, "__bf16", token);
    } else if (word == "kernel") {
      push_annotation("kernel", 0, 0, token.getLocation());
    } else if (word != "thread") {  // thread is the default address space
      out_.push_back(token);
    }
  }

  // `threadgroup alignas(16) float x[4];`: C++ has `alignas` only where a declaration starts, and
  // C has it among the specifiers.
  bool follows_address_space() const { return next_ > 0 && is_address_space(in_[next_ - 1]); }

  // 1.5h is ((half)0x1.8p+0f), and 1.5bf likewise.
  void rewrite_number(const Token& token) {
    const auto number = narrow_number(pp_.getSpelling(token));
    if (!number) return out_.push_back(token);
    const SourceLocation location = token.getLocation();
    push(tok::l_paren, location);
    push(tok::l_paren, location);
    push(number->half ? tok::kw_half : tok::kw___bf16, location, number->half ? "half" : "__bf16");
    push(tok::r_paren, location);
    push_literal(tok::numeric_constant, number->text, location);
    push(tok::r_paren, location);
  }

  void report_missing(const Token& token) {
    report(clang::DiagnosticsEngine::Error, token,
           ("'" + name(token) + "' is not supported in Metal").str());
  }

  // ---- pragmas ----

  // Clang accepts floating-point pragmas at the start of a block and between the declarations of a
  // file or namespace.
  bool may_set_arithmetic() const {
    size_t before = next_;
    while (before > 0 && in_[before - 1].isAnnotation()) --before;
    if (before == 0) return true;
    const bool in_block = !blocks_.empty() && blocks_.back();
    return is(before - 1, tok::l_brace) ||
           (!in_block && in_[before - 1].isOneOf(tok::semi, tok::r_brace));
  }

  // Whether the brace opens a namespace or extern "C".
  bool is_namespace(size_t brace) const {
    size_t i = brace;
    while (i > 0 && in_[i - 1].isOneOf(tok::identifier, tok::coloncolon)) --i;
    return i > 0 && (is(i - 1, tok::kw_namespace) ||
                     (i > 1 && is(i - 1, tok::string_literal) && is(i - 2, tok::kw_extern)));
  }

  // ---- conditional operators ----

  // `c ? a : b` becomes `c ? __metal_value->*a : __metal_value->*b`. The library's operator returns
  // a copy, and that of __metal_unpacked returns a vector.
  void copy_operand() {
    const Token& token = in_[next_];
    const char* operation = operations_.contains(next_) ? operations_[next_] : nullptr;
    if (token.is(tok::question)) {
      const unsigned place = token.getLocation().getRawEncoding();
      if (repairs_.packed.contains(place)) {
        operation = "__metal_unpacked";
      } else if (repairs_.operands.contains(place)) {
        operation = "__metal_value";
      }
      if (operation) operations_[matching_colon(next_)] = operation;
    }
    if (!operation) return;
    push(tok::identifier, token.getLocation(), operation);
    push(tok::arrowstar, token.getLocation());
  }

  size_t matching_colon(size_t question) const {
    int brackets = 0, questions = 0;
    for (size_t i = question; i < in_.size(); ++i) {
      if (in_[i].isOneOf(tok::l_paren, tok::l_square, tok::l_brace)) ++brackets;
      if (in_[i].isOneOf(tok::r_paren, tok::r_square, tok::r_brace)) --brackets;
      if (brackets == 0 && is(i, tok::question)) ++questions;
      if (brackets == 0 && is(i, tok::colon) && --questions == 0) return i;
    }
    return in_.size();
  }

  // ---- casts between half and bfloat ----

  // (T)x, T(x), static_cast<T>(x) and `T name(x)`: records where the operand begins and ends.
  void find_cast() {
    const Token& token = in_[next_];
    if (token.is(tok::question) ||
        !repairs_.operands.contains(token.getLocation().getRawEncoding()))
      return;
    if (token.is(tok::l_paren)) {
      const size_t begin = closing(next_, in_.size()) + 1;
      return note_operand(begin, operand_end(begin));
    }
    size_t open = next_ + 1;
    while (open < in_.size() &&
           !in_[open].isOneOf(tok::l_paren, tok::l_brace, tok::semi, tok::equal)) {
      open = is(open, tok::less) ? closing_angle(open) + 1 : open + 1;
    }
    if (is(open, tok::l_paren)) note_operand(open + 1, closing(open, in_.size()));
  }

  void note_operand(size_t begin, size_t end) {
    if (begin < end) operands_.emplace(begin, end);
  }

  // The end of a unary expression: prefixes and casts, a primary expression, and its postfix
  // operators.
  size_t operand_end(size_t i) const {
    while (i < in_.size()) {
      if (in_[i].isOneOf(tok::minus, tok::plus, tok::star, tok::amp, tok::tilde, tok::exclaim,
                         tok::plusplus, tok::minusminus)) {
        ++i;
      } else if (is(i, tok::l_paren)) {
        i = closing(i, in_.size()) + 1;
        // What follows a cast: after another expression in parentheses this cannot be.
        if (!is(i, tok::identifier) && !is(i, tok::numeric_constant)) break;
      } else {
        ++i;
        break;
      }
    }
    for (; i < in_.size(); ++i) {
      if (is(i, tok::l_paren)) {
        i = closing(i, in_.size());
      } else if (is(i, tok::l_square)) {
        i = closing(i, in_.size(), tok::l_square, tok::r_square);
      } else if (in_[i].isOneOf(tok::period, tok::arrow, tok::coloncolon)) {
        ++i;
      } else if (!in_[i].isOneOf(tok::plusplus, tok::minusminus)) {
        break;
      }
    }
    return i;
  }

  // __metal_widen(operand). This name has no `::`: Clang finds the first token of a name that it
  // has parsed by its place, and all these tokens have one.
  void widen_operand() {
    for (auto end = ends_.find(next_); end != ends_.end(); end = ends_.find(next_)) {
      push(tok::r_paren, in_[next_].getLocation());
      ends_.erase(end);
    }
    const auto operand = operands_.find(next_);
    if (operand == operands_.end()) return;
    const SourceLocation location = in_[next_].getLocation();
    push(tok::identifier, location, "__metal_widen");
    push(tok::l_paren, location);
    ends_.insert(operand->second);
  }

  // ---- swizzles as operands in templates ----

  // Records where a swizzle ends that is the operand of this operator, or what to write before it.
  void find_swizzle() {
    const unsigned place = in_[next_].getLocation().getRawEncoding();
    if (repairs_.left_swizzles.contains(place)) note_swizzle(next_);
    if (repairs_.only_swizzles.contains(place)) note_swizzle(operand_end(next_ + 1));
    if (repairs_.right_swizzles.contains(place)) operations_[next_] = "__metal_value";
  }

  void note_swizzle(size_t end) {
    const bool is_member = end > 1 && in_[end - 2].isOneOf(tok::period, tok::arrow);
    if (is_member || (end > 0 && is(end - 1, tok::r_paren))) swizzles_.insert(end);
  }

  // v.xy.__value(), which binds more tightly than any operator before it
  void end_swizzle() {
    if (!swizzles_.contains(next_)) return;
    const SourceLocation location = in_[next_].getLocation();
    push(tok::period, location);
    push(tok::identifier, location, "__value");
    push(tok::l_paren, location);
    push(tok::r_paren, location);
  }

  // ---- threadgroup and constant variables in functions ----

  // A local variable in another address space than `thread` exists as long as the threadgroup or
  // the program, so it becomes static. Pointers and references *to* such memory do not.
  void make_static_if_variable(const Token& token) {
    if (starts_declaration() && declares_object(next_ + 1)) {
      push(tok::kw_static, token.getLocation(), "static");
    }
  }

  // Looks back over specifiers for the start of the statement.
  bool starts_declaration() const {
    for (size_t i = next_; i-- > 0;) {
      const Token& token = in_[i];
      if (token.isOneOf(tok::semi, tok::l_brace, tok::r_brace, tok::colon)) return true;
      if (token.isAnnotation()) return true;
      if (token.isOneOf(tok::kw_static, tok::kw_extern)) return false;
      if (token.isOneOf(tok::kw_const, tok::kw_volatile, tok::kw_constexpr)) continue;
      if (token.is(tok::r_square) && i > 0 && is(i - 1, tok::r_square)) return true;
      if (token.is(tok::r_paren)) {  // alignas(...) or the end of an if (...)
        size_t open = i;
        int depth = 0;
        do {
          if (is(open, tok::r_paren)) ++depth;
          if (is(open, tok::l_paren)) --depth;
        } while (depth > 0 && open-- > 0);
        if (open > 0 && open < i && is(open - 1, tok::kw_alignas)) {
          i = open - 1;
          continue;
        }
        return false;
      }
      // `float threadgroup x[4];`: a type before the address space
      if (!name(token).empty() && i > 0 &&
          in_[i - 1].isOneOf(tok::semi, tok::l_brace, tok::r_brace)) {
        return !token.isOneOf(tok::kw_using, tok::kw_typedef, tok::kw_return, tok::kw_template);
      }
      return false;
    }
    return true;
  }

  // Looks ahead over the type: whether the declarator is an object, not a pointer or reference.
  bool declares_object(size_t index) const {
    bool seen_type = false;
    for (size_t i = index; i < in_.size(); ++i) {
      const Token& token = in_[i];
      if (token.isOneOf(tok::star, tok::amp, tok::ampamp, tok::eof)) return false;
      if (token.isOneOf(tok::kw_static, tok::kw_extern)) return false;  // it has a storage class
      // The definition of a static member outside its class must not repeat `static`.
      if (token.isOneOf(tok::semi, tok::equal, tok::l_square, tok::l_brace, tok::comma))
        return seen_type && !is_qualified_name(in_, i);
      if (token.is(tok::less)) {
        i = closing_angle(i);
      } else if (token.is(tok::l_paren)) {
        const bool of_specifier =
            in_[i - 1].isOneOf(tok::kw_decltype, tok::kw_alignas) || name(in_[i - 1]) == "typeof";
        if (!of_specifier) return false;  // a function, or (*pointer)[N]
        i = closing(i, in_.size());
      } else if (token.isOneOf(tok::r_paren, tok::greater)) {
        return false;
      }
      seen_type = true;
    }
    return false;
  }

  size_t closing_angle(size_t open) const {
    int depth = 0;
    for (size_t i = open; i < in_.size(); ++i) {
      if (is(i, tok::less)) ++depth;
      if (is(i, tok::greater)) --depth;
      if (is(i, tok::greatergreater)) depth -= 2;
      if (is(i, tok::l_paren)) i = closing(i, in_.size());
      if (depth <= 0 || is(i, tok::semi)) return i;
    }
    return in_.size() - 1;
  }

  clang::Preprocessor& pp_;
  const std::vector<Token>& in_;
  const Repairs& repairs_;
  std::map<size_t, size_t> operands_;         // of casts to repair: begin and end
  std::multiset<size_t> ends_;                // of operands that are being written
  std::set<size_t> swizzles_;                 // the ends of those to make values of
  std::map<size_t, const char*> operations_;  // by the token after which they are written
  std::vector<bool> blocks_;  // for each open brace, whether it is a block's, not a namespace's
  std::vector<Token> out_;
  size_t next_ = 0;
};

}  // namespace

std::vector<Token> rewrite_tokens(clang::Preprocessor& preprocessor,
                                  const std::vector<Token>& tokens, const Repairs& repairs) {
  std::vector<Token> rewritten = tokens;
  drop_coherence(rewritten);
  rewritten = decay_array_parameters(preprocessor, rewritten);
  if (!repairs.methods.empty())
    rewritten = make_templates(preprocessor, rewritten, repairs.methods);
  if (!repairs.texts.empty()) rewritten = place_texts(preprocessor, rewritten, repairs.texts);
  if (!repairs.initializers.empty())
    rewritten = annotate_zeroed(preprocessor, rewritten, repairs.initializers);
  return TokenPass(preprocessor, rewritten, repairs).run();
}

}  // namespace metal::compiler
