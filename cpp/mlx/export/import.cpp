// ImportedFunction: finds the function of a file that takes the inputs.
#include "mlx/errors.h"
#include "mlx/export.h"
#include "mlx/export/file.h"
#include "mlx/io/refusal.h"

namespace mlx::core {

struct ImportedFunction::Functions {
  std::string label;
  exported::Contents contents;
};

ImportedFunction::ImportedFunction(const std::string& file)
    : functions_(new Functions{io::in_quotes(file), exported::read_file(file)}) {}

std::vector<array> ImportedFunction::operator()(const Args& args, const Kwargs& kwargs) const {
  const auto& contents = functions_->contents;
  for (const auto& function : contents.functions) {
    if (const auto inputs = function.signature().in_order(args, kwargs)) {
      return replay(function.trace, *inputs);
    }
  }
  std::string text = "No function of " + functions_->label + " takes the inputs " +
                     exported::signature_of(args, kwargs, false).text() + ". It has functions of:";
  for (const auto& function : contents.functions) text += "\n  " + function.signature().text();
  if (contents.functions.empty()) text += " nothing.";
  invalid_argument("import_function", text);
}

const std::string& ImportedFunction::metadata() const { return functions_->contents.metadata; }

ImportedFunction import_function(const std::string& file) { return ImportedFunction(file); }

}  // namespace mlx::core
