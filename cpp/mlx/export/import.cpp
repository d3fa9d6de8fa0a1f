// ImportedFunction: finds the function of a file that takes the inputs.
#include <algorithm>

#include "mlx/errors.h"
#include "mlx/export.h"
#include "mlx/export/file.h"
#include "mlx/io/refusal.h"

namespace mlx::core {

struct ImportedFunction::Functions {
  std::string label;
  exported::Contents contents;
};

namespace {

using exported::RecordedFunction;

std::vector<std::string> sorted_keywords(const Kwargs& kwargs) {
  std::vector<std::string> keywords;
  for (const auto& [keyword, value] : kwargs) keywords.push_back(keyword);
  std::sort(keywords.begin(), keywords.end());
  return keywords;
}

bool takes(const RecordedFunction& function, const std::vector<array>& inputs,
           const std::vector<std::string>& keywords) {
  const Trace& trace = function.trace;
  if (inputs.size() != trace.inputs.size() || keywords != function.keywords) return false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const array& given = inputs[i];
    const array& wanted = trace.inputs[i];
    const bool fits =
        trace.shapeless ? given.ndim() == wanted.ndim() : given.shape() == wanted.shape();
    if (!fits || given.dtype() != wanted.dtype()) return false;
  }
  return true;
}

}  // namespace

std::string exported::signature(const std::vector<array>& inputs,
                                const std::vector<std::string>& keywords, bool shapeless) {
  std::string out = "(";
  const size_t num_positional = inputs.size() - keywords.size();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (i > 0) out += ", ";
    if (i >= num_positional) out += keywords[i - num_positional] + ": ";
    out += message(inputs[i].dtype(), " ");
    out +=
        shapeless ? message("with ", inputs[i].ndim(), " dimensions") : message(inputs[i].shape());
  }
  return out + ")";
}

ImportedFunction::ImportedFunction(const std::string& file)
    : functions_(new Functions{io::in_quotes(file), exported::read_file(file)}) {}

std::vector<array> ImportedFunction::operator()(const Args& args, const Kwargs& kwargs) const {
  const auto& contents = functions_->contents;
  const auto keywords = sorted_keywords(kwargs);
  std::vector<array> inputs = args;
  for (const auto& keyword : keywords) inputs.push_back(kwargs.at(keyword));
  for (const auto& function : contents.functions) {
    if (takes(function, inputs, keywords)) return replay(function.trace, inputs);
  }
  std::string text = "No function of " + functions_->label + " takes the inputs " +
                     exported::signature(inputs, keywords, false) + ". It has functions of:";
  for (const auto& function : contents.functions) {
    text +=
        "\n  " + exported::signature(function.trace.inputs, function.keywords, contents.shapeless);
  }
  if (contents.functions.empty()) text += " nothing.";
  invalid_argument("import_function", text);
}

const std::string& ImportedFunction::metadata() const { return functions_->contents.metadata; }

ImportedFunction import_function(const std::string& file) { return ImportedFunction(file); }

}  // namespace mlx::core
