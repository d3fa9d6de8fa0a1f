// Recorded functions, ready for export, and their form as bytes.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "mlx/compile/trace.h"
#include "mlx/export.h"
#include "mlx/export/bytes.h"
#include "mlx/export/signature.h"

namespace mlx::core::exported {

struct RecordedFunction {
  Trace trace;
  std::vector<std::string> keywords;  // of the last inputs, in alphabetic order

  Signature signature() const { return {trace.inputs, keywords, trace.shapeless}; }
  size_t num_positional() const { return trace.inputs.size() - keywords.size(); }
};

// Records the function on placeholders. All nodes are primitives that files can hold: compiled
// functions and functions with custom rules are replaced by their operations, and arrays that are
// to be read from files have been read.
RecordedFunction record(const FunctionExporter::Function& fun, const Args& args,
                        const Kwargs& kwargs, bool shapeless);

// Arrays that functions captured, each of them once.
class Constants {
 public:
  // Throws std::invalid_argument for an array that has no values.
  size_t number(const array& value);
  const std::vector<array>& all() const { return all_; }

 private:
  std::vector<array> all_;
  std::unordered_map<std::uintptr_t, size_t> numbers_;
};

void write_function(const RecordedFunction& function, Constants& constants, ByteWriter& to);
RecordedFunction read_function(ByteReader& from, const std::vector<array>& constants,
                               bool shapeless);

// Describes the function to the callback, as a sequence of events.
void report(const RecordedFunction& function, const ExportCallback& callback);

}  // namespace mlx::core::exported
