#include "metal/compiler/pragmas.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "clang/Basic/Diagnostic.h"
#include "clang/Lex/Pragma.h"
#include "clang/Lex/Preprocessor.h"

namespace metal::compiler {
namespace {

using clang::Token;
namespace tok = clang::tok;

struct Setting {
  const char* option;
  const char* value;
  std::vector<const char*> pragmas;  // Clang's pragmas for it
};

const Setting kSettings[] = {
    {"contract", "off", {"clang fp contract(off)"}},
    {"contract", "on", {"clang fp contract(on)"}},
    {"contract", "fast", {"clang fp contract(fast)"}},
    {"math_mode", "safe", {"float_control(precise, on)"}},
    {"math_mode",
     "relaxed",
     {"float_control(precise, on)", "clang fp reassociate(on) reciprocal(on) contract(fast)"}},
    {"math_mode", "fast", {"float_control(precise, off)"}},
};

class FloatingPointPragma : public clang::PragmaHandler {
 public:
  FloatingPointPragma() : PragmaHandler("fp") {}

  void HandlePragma(clang::Preprocessor& preprocessor, clang::PragmaIntroducer introducer,
                    Token& token) override {
    std::vector<Token> result;
    for (preprocessor.LexUnexpandedToken(token); token.isNot(tok::eod);) {
      const Setting* setting = parse(preprocessor, token);
      if (!setting) return warn(preprocessor, introducer.Loc);
      for (const char* pragma : setting->pragmas) {
        append(preprocessor, introducer.Loc, pragma, result);
      }
    }
    auto owned = std::make_unique<Token[]>(result.size());
    std::copy(result.begin(), result.end(), owned.get());
    preprocessor.EnterTokenStream(std::move(owned), result.size(), /*DisableMacroExpansion=*/false,
                                  /*IsReinject=*/false);
  }

 private:
  // Reads one `option(value)` and leaves the token after it in `token`. Null if there is none.
  static const Setting* parse(clang::Preprocessor& preprocessor, Token& token) {
    const std::string option = preprocessor.getSpelling(token);
    preprocessor.LexUnexpandedToken(token);
    if (token.isNot(tok::l_paren)) return nullptr;
    preprocessor.LexUnexpandedToken(token);
    const std::string value = preprocessor.getSpelling(token);
    preprocessor.LexUnexpandedToken(token);
    if (token.isNot(tok::r_paren)) return nullptr;
    preprocessor.LexUnexpandedToken(token);
    for (const Setting& setting : kSettings) {
      if (option == setting.option && value == setting.value) return &setting;
    }
    return nullptr;
  }

  // _Pragma("text")
  static void append(clang::Preprocessor& preprocessor, clang::SourceLocation location,
                     const std::string& text, std::vector<Token>& result) {
    auto push = [&](clang::tok::TokenKind kind) -> Token& {
      Token& token = result.emplace_back();
      token.startToken();
      token.setKind(kind);
      token.setLocation(location);
      token.setLength(1);
      return token;
    };
    push(tok::identifier).setIdentifierInfo(preprocessor.getIdentifierInfo("_Pragma"));
    push(tok::l_paren);
    preprocessor.CreateString("\"" + text + "\"", push(tok::string_literal), location, location);
    push(tok::r_paren);
  }

  static void warn(clang::Preprocessor& preprocessor, clang::SourceLocation location) {
    auto& diagnostics = preprocessor.getDiagnostics();
    const unsigned id = diagnostics.getCustomDiagID(
        clang::DiagnosticsEngine::Warning,
        "pragma ignored: expected 'math_mode(safe)', 'math_mode(relaxed)', 'math_mode(fast)', "
        "'contract(off)', 'contract(on)' or 'contract(fast)' after '#pragma METAL fp'");
    diagnostics.Report(location, id);
  }
};

}  // namespace

void add_metal_pragmas(clang::Preprocessor& preprocessor) {
  preprocessor.AddPragmaHandler("METAL", new FloatingPointPragma);  // takes ownership
}

}  // namespace metal::compiler
