// The functions of a program by name.
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "metal/compiler/compiler.h"
#include "metal/spelling.h"

namespace metal {
namespace {

constexpr size_t kMaxListed = 12;  // functions in a message

}  // namespace

std::vector<std::string> Program::names() const {
  std::vector<std::string> names;
  for (const FunctionInfo& function : functions) names.push_back(function.name);
  return names;
}

const FunctionInfo* Program::find(std::string_view name) const {
  for (const FunctionInfo& function : functions) {
    if (function.name == name) return &function;
  }
  return nullptr;
}

const FunctionInfo& Program::get(std::string_view name) const {
  if (const FunctionInfo* function = find(name)) return *function;
  const std::vector<std::string> all = names();
  std::string text = "no kernel named \"" + std::string(name) + "\" in ";
  text += file.empty() ? "this library" : "the library \"" + file + "\"";
  if (all.empty()) throw std::out_of_range(text + ", which has none");
  if (const auto meant = nearest_name(name, all))
    text += "; did you mean \"" + *meant + "\"?";
  else
    text += ".";
  throw std::out_of_range(text + " It has " + nearest_first(name, all, kMaxListed));
}

}  // namespace metal
