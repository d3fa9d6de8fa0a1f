// Parses and prints the signatures of docstrings.
#include "docs/signature.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

namespace {

std::string trimmed(std::string_view text) {
  size_t first = text.find_first_not_of(" \n");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \n") - first + 1));
}

// Reads text from left to right and tracks brackets and strings.
class Nesting {
 public:
  void read(char c) {
    if (quote_) {
      if (c == quote_) quote_ = 0;
    } else if (c == '\'' || c == '"') {
      quote_ = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth_;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth_;
    }
  }
  bool outside() const { return depth_ == 0 && !quote_; }

 private:
  int depth_ = 0;
  char quote_ = 0;
};

// The first `c` outside of brackets and strings.
size_t find_outside(std::string_view text, char c) {
  Nesting nesting;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == c && nesting.outside()) return i;
    nesting.read(text[i]);
  }
  return std::string_view::npos;
}

size_t closing_bracket(std::string_view text, size_t open) {
  Nesting nesting;
  for (size_t i = open; i < text.size(); ++i) {
    nesting.read(text[i]);
    if (nesting.outside()) return i;
  }
  return std::string_view::npos;
}

Parameter parse_parameter(std::string_view text) {
  Parameter result;
  if (size_t equals = find_outside(text, '='); equals != std::string_view::npos) {
    result.value = trimmed(text.substr(equals + 1));
    text = text.substr(0, equals);
  }
  if (size_t colon = find_outside(text, ':'); colon != std::string_view::npos) {
    result.type = trimmed(text.substr(colon + 1));
    text = text.substr(0, colon);
  }
  result.name = trimmed(text);
  return result;
}

std::vector<Parameter> parse_parameters(std::string_view text) {
  std::vector<Parameter> result;
  while (!trimmed(text).empty()) {
    size_t comma = std::min(find_outside(text, ','), text.size());
    result.push_back(parse_parameter(text.substr(0, comma)));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return result;
}

std::string print(const Parameter& p, bool with_type) {
  std::string result = p.name;
  if (with_type && !p.type.empty()) result += ": " + p.type;
  if (p.value.empty()) return result;
  return result + (with_type && !p.type.empty() ? " = " : "=") + p.value;
}

std::string print(const Signature& s, bool with_types) {
  std::string result = s.name + "(";
  for (const Parameter& p : s.parameters) {
    if (&p != s.parameters.data()) result += ", ";
    result += print(p, with_types);
  }
  return result + ")";
}

// The order matters: unions come before their members.
constexpr std::pair<const char*, const char*> kTypeNames[] = {
    {"mlx.core.Stream | mlx.core.ThreadLocalStream | mlx.core.Device | mlx.core.DeviceType | None",
     "StreamOrDevice"},
    {"bool | int | float | complex | mlx.core.array", "scalar | array"},
    {"typing.SupportsInt | typing.SupportsIndex", "int"},
    {"typing.SupportsFloat | typing.SupportsIndex", "float"},
    {"mlx.core.fast.", ""},
    {"mlx.core.", ""},
    {"typing_extensions.CapsuleType", "Any"},
    {"collections.abc.", ""},
    {"typing.", ""},
};

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (size_t i = text.find(what); i != std::string::npos; i = text.find(what, i + with.size())) {
    text.replace(i, what.size(), with);
  }
}

bool allows_none(const std::string& type) {
  return type.empty() || type == "StreamOrDevice" || type == "object" ||
         type.find("None") != std::string::npos;
}

// An argument without a name in the binding is positional-only.
void mark_unnamed(Signature& s) {
  for (size_t i = s.parameters.size(); i-- > 0;) {
    const std::string& name = s.parameters[i].name;
    bool unnamed = name.size() == 4 && name.starts_with("arg") && std::isdigit(name[3]);
    if (!unnamed) continue;
    s.parameters.insert(s.parameters.begin() + static_cast<std::ptrdiff_t>(i) + 1, {"/", {}, {}});
    return;
  }
}

bool has_parameter(const Signature& s, const std::string& name) {
  return std::any_of(s.parameters.begin(), s.parameters.end(),
                     [&](const Parameter& p) { return p.name == name; });
}

}  // namespace

std::string Signature::annotated() const { return print(*this, true) + " -> " + result; }
std::string Signature::plain() const { return print(*this, false); }

bool is_signature_of(const std::string& line, const std::string& name) {
  return line.starts_with(name + "(") && line.find(") -> ") != std::string::npos;
}

Signature parse_signature(const std::string& line) {
  size_t open = line.find('(');
  size_t close = closing_bracket(line, open);
  std::string_view view = line;
  size_t arrow = view.find("->", close);
  return {trimmed(view.substr(0, open)), parse_parameters(view.substr(open + 1, close - open - 1)),
          arrow == std::string_view::npos ? "None" : trimmed(view.substr(arrow + 2))};
}

Signature merge_overloads(const std::vector<Signature>& overloads) {
  Signature merged = overloads.front();
  bool has_default = false;
  for (Parameter& p : merged.parameters) {
    if (p.name.starts_with("*")) break;
    if (p.is_mark()) continue;
    bool everywhere = std::all_of(overloads.begin(), overloads.end(),
                                  [&](const Signature& s) { return has_parameter(s, p.name); });
    if (p.value.empty() && (has_default || !everywhere)) p.value = "None";
    has_default |= !p.value.empty();
  }
  return merged;
}

Signature from_pybind11(const std::string& name, const char* signature) {
  std::string line = name + signature;
  for (const auto& [what, with] : kTypeNames) replace_all(line, what, with);
  Signature result = parse_signature(line);
  for (Parameter& p : result.parameters) {
    if (p.name == "self") p.type.clear();
    if (p.type == "tuple") p.type = "tuple[Any, ...]";
    if (p.value == "None" && !allows_none(p.type)) p.type += " | None";
  }
  mark_unnamed(result);
  // Operations return lists and tuples of arrays.
  if (result.result == "list") result.result = "list[array]";
  if (result.result == "tuple") result.result = "tuple[array, ...]";
  return result;
}
