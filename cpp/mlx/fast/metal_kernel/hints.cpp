#include "mlx/fast/metal_kernel/hints.h"

#include <algorithm>
#include <map>

#include "metal/spelling.h"
#include "mlx/fast/metal_kernel/attributes.h"
#include "mlx/fast/metal_kernel/lexer.h"
#include "mlx/fast/metal_kernel/text.h"

namespace mlx::core::fast {

namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::vector<std::string> names_of(const BodyScope& scope) {
  std::vector<std::string> names;
  for (const auto& input : scope.inputs) {
    for (const char* suffix : {"", "_shape", "_strides", "_ndim"}) names.push_back(input + suffix);
  }
  names.insert(names.end(), scope.outputs.begin(), scope.outputs.end());
  names.insert(names.end(), scope.templates.begin(), scope.templates.end());
  for (const auto& attribute : kKernelAttributes) names.emplace_back(attribute.name);
  return names;
}

std::string list_of(const char* what, const std::vector<std::string>& names) {
  return names.empty() ? "" : std::string(what) + " " + joined(names);
}

std::string offer(const BodyScope& scope) {
  std::string text = list_of("inputs", scope.inputs);
  for (const std::string& part :
       {list_of("outputs", scope.outputs), list_of("template arguments", scope.templates)}) {
    if (!part.empty()) text += (text.empty() ? "" : "; ") + part;
  }
  return text + "; and Metal's attributes, such as thread_position_in_grid";
}

// Returns the names that Clang quotes after `message`, and whether Clang proposes another name.
std::map<std::string, bool> quoted_after(std::string_view diagnostics, std::string_view message) {
  std::map<std::string, bool> found;
  for (size_t at = 0; (at = diagnostics.find(message, at)) != std::string_view::npos;) {
    at += message.size();
    size_t end = diagnostics.find('\'', at);
    if (end == std::string_view::npos) break;
    found[std::string(diagnostics.substr(at, end - at))] =
        diagnostics.substr(end).starts_with("'; did you mean");
  }
  return found;
}

std::string about_names(std::string_view diagnostics, const BodyScope& scope) {
  auto unknown = quoted_after(diagnostics, "use of undeclared identifier '");
  unknown.merge(quoted_after(diagnostics, "unknown type name '"));
  std::string hints;
  bool has_stranger = false;  // a name that resembles no known name
  for (const auto& [name, has_proposal] : unknown) {
    const auto meant = ::metal::nearest_name(name, names_of(scope));
    if (meant == name) {
      hints += "hint: a kernel has '" + name +
               "' if its body names it; the text of the header does not count.\n";
    } else if (meant) {
      hints += "hint: did you mean '" + *meant + "' instead of '" + name + "'?\n";
    } else {
      has_stranger |= !has_proposal;
    }
  }
  return has_stranger ? hints + "hint: the body knows " + offer(scope) + ".\n" : hints;
}

std::string about_address_spaces(std::string_view diagnostics, const BodyScope& scope) {
  if (scope.constant_inputs.empty() || !contains(diagnostics, "'const device ") ||
      !contains(diagnostics, "'constant ")) {
    return "";
  }
  return "hint: arrays of fewer than 8 elements are passed as constant, not as device (" +
         list_of("here", scope.constant_inputs) + "); `auto p = ...` takes both.\n";
}

std::string about_atomics(std::string_view diagnostics, const BodyScope& scope) {
  if (!scope.atomic_outputs && contains(diagnostics, "no matching function for call to 'atomic_")) {
    return "hint: outputs are atomic if the kernel is made with atomic_outputs=True.\n";
  }
  bool plain_access = contains(diagnostics, "no viable overloaded '") ||
                      (contains(diagnostics, "atomic<") &&
                       (contains(diagnostics, "no viable conversion") ||
                        contains(diagnostics, "invalid operands to binary expression")));
  if (scope.atomic_outputs && plain_access) {
    return "hint: with atomic_outputs=True outputs are atomic; write them with "
           "atomic_store_explicit(&" +
           scope.outputs[0] +
           "[i], value, memory_order_relaxed) or atomic_fetch_add_explicit, and the like.\n";
  }
  return "";
}

// A body ends at the first closing brace that it has not opened.
std::string about_braces(const BodyScope& scope) {
  std::vector<std::string_view> open;
  Lexer lexer(scope.body);
  for (Token token = lexer.next(); token.kind != Token::Kind::End; token = lexer.next()) {
    if (token.text == "{") open.push_back(token.text);
    if (token.text != "}") continue;
    if (open.empty()) {
      return "hint: the '}' in line " + std::to_string(line_of(scope.body, token.text)) +
             " of the body closes nothing that the body has opened.\n";
    }
    open.pop_back();
  }
  if (open.empty()) return "";
  return "hint: the '{' in line " + std::to_string(line_of(scope.body, open.back())) +
         " of the body is not closed.\n";
}

}  // namespace

std::string hints_for(std::string_view diagnostics, const BodyScope& scope) {
  return about_braces(scope) + about_names(diagnostics, scope) +
         about_address_spaces(diagnostics, scope) + about_atomics(diagnostics, scope);
}

}  // namespace mlx::core::fast
