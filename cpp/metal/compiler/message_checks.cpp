#include "metal/compiler/message_checks.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include "metal/compiler/type_names.h"
#include "metal/message.h"

namespace metal::compiler {
namespace {

// The literal, which may have been placed in the constant address space: see `__metal_text` in the
// standard library.
class TextFinder {
 public:
  static std::optional<std::string> find(const clang::Expr* expression) {
    std::vector<const clang::Stmt*> open = {expression};
    while (!open.empty()) {
      const clang::Stmt* part = open.back();
      open.pop_back();
      if (const auto* literal = llvm::dyn_cast<clang::StringLiteral>(part))
        return literal->getString().str();
      if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(part)) {
        if (auto text = of_variable(name->getDecl())) return text;
      }
      for (const clang::Stmt* child : part->children())
        if (child) open.push_back(child);
    }
    return std::nullopt;
  }

 private:
  static std::optional<std::string> of_variable(const clang::ValueDecl* declaration) {
    const auto* text = llvm::dyn_cast<clang::VarTemplateSpecializationDecl>(declaration);
    if (!text || text->getName() != "__metal_text" || text->getTemplateArgs().size() != 1)
      return std::nullopt;
    const clang::TemplateArgument& argument = text->getTemplateArgs()[0];
    if (argument.getKind() != clang::TemplateArgument::Declaration) return std::nullopt;
    const auto* object = llvm::dyn_cast<clang::TemplateParamObjectDecl>(argument.getAsDecl());
    if (!object || !object->getValue().isStruct()) return std::nullopt;
    const clang::APValue& letters = object->getValue().getStructField(0);
    std::string result;
    for (unsigned i = 0; i + 1 < letters.getArraySize(); ++i) {
      const clang::APValue& letter = i < letters.getArrayInitializedElts()
                                         ? letters.getArrayInitializedElt(i)
                                         : letters.getArrayFiller();
      result += static_cast<char>(letter.getInt().getExtValue());
    }
    return result;
  }
};

// A value as a conversion sees it.
struct ValueType {
  explicit ValueType(clang::QualType given) : type(given.getNonReferenceType()) {
    const auto* vector = as_vector(type);
    if (!vector) return;
    elements = static_cast<int>(vector->getTemplateArgs()[1].getAsIntegral().getZExtValue());
    type = vector->getTemplateArgs()[0].getAsType();
  }

  clang::QualType type;  // of an element
  int elements = 0;      // of a vector
};

const char* expected_by(char letter) {
  if (!letter) return nullptr;
  constexpr std::pair<std::string_view, const char*> kLetters[] = {
      {"diouxXc", "an integer"},
      {"aAeEfFgG", "a floating-point number"},
      {"s", "a string literal"},
      {"p", "a pointer"}};
  for (const auto& [letters, what] : kLetters) {
    if (letters.find(letter) != std::string_view::npos) return what;
  }
  return nullptr;
}

bool fits(char letter, const clang::QualType& type) {
  const bool text = (type->isPointerType() || type->isArrayType()) &&
                    type->getPointeeOrArrayElementType()->isCharType();
  switch (letter) {
    case 's':
      return text;
    case 'p':
      return type->isPointerType();
    default:
      return std::string_view("aAeEfFgG").find(letter) != std::string_view::npos
                 ? type->isRealFloatingType()
                 : type->isIntegralOrEnumerationType();
  }
}

std::string mistake(const MessageConversion& c, const clang::Expr& value) {
  const clang::QualType written = value.getType().getNonReferenceType().getUnqualifiedType();
  const ValueType given(written);
  const std::string start = "'" + c.spelling + "' in a message ";
  const std::string has = ", but its value has the type '" + written.getAsString() + "'";
  const char* expected = expected_by(c.letter);
  if (!expected) return start + "is no conversion";
  if (c.elements && (c.elements < 2 || c.elements > 4)) return start + "needs 2, 3 or 4 elements";
  if (c.elements != given.elements) {
    return start + "needs " +
           (c.elements ? "a vector of " + std::to_string(c.elements) + " elements"
                       : "a scalar: '%v" + std::to_string(given.elements) + c.letter +
                             "' prints a vector") +
           has;
  }
  if (!fits(c.letter, given.type)) return start + "needs " + expected + has;
  const bool integer = std::string_view("diouxX").find(c.letter) != std::string_view::npos;
  if (!integer || c.elements || !given.type->isBuiltinType()) return "";
  using Builtin = clang::BuiltinType;
  const bool wide =
      llvm::is_contained({Builtin::Long, Builtin::ULong, Builtin::LongLong, Builtin::ULongLong},
                         given.type->castAs<Builtin>()->getKind());
  const bool for_wide = c.length.starts_with('l') || c.length.find_first_of("jzt") == 0;
  if (wide == for_wide) return "";
  return start + "needs an integer of " + (for_wide ? "64" : "32") + " bits" + has;
}

// The arguments from the format on; none if the call logs nothing.
llvm::ArrayRef<const clang::Expr*> message_of(const clang::CallExpr& call) {
  const clang::FunctionDecl* callee = call.getDirectCallee();
  if (!callee || !callee->getIdentifier()) return {};
  const llvm::StringRef name = callee->getName();
  const llvm::ArrayRef<const clang::Expr*> arguments(call.getArgs(), call.getNumArgs());
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(callee);
  const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(
      method ? method->getParent()->getDeclContext() : callee->getDeclContext());
  if (!space || space->getName() != "metal") return {};
  if (!method) return name == "printf" ? arguments : llvm::ArrayRef<const clang::Expr*>();
  if (method->getParent()->getName() != "os_log" || !name.starts_with("log")) return {};
  return arguments.drop_front(name == "log_with_type" && !arguments.empty());
}

}  // namespace

std::string find_message_mistake(const clang::CallExpr& call) {
  llvm::ArrayRef<const clang::Expr*> values = message_of(call);
  if (values.empty()) return "";
  const auto format = TextFinder::find(values.front());
  if (!format) return "a message needs a string literal as its format";
  values = values.drop_front();
  std::string_view rest = *format;
  std::string before;
  MessageConversion conversion;
  while (next_conversion(rest, before, conversion)) {
    if (!expected_by(conversion.letter))
      return "'" + conversion.spelling + "' in a message is no conversion";
    if (values.empty()) return "no value for '" + conversion.spelling + "' in a message";
    if (std::string wrong = mistake(conversion, *values.front()->IgnoreParenImpCasts());
        !wrong.empty())
      return wrong;
    values = values.drop_front();
  }
  return values.empty() ? "" : "a message does not print all of its values";
}

}  // namespace metal::compiler
