// Describes recorded functions to callbacks.
#include "mlx/export/graph.h"
#include "mlx/export/primitives.h"
#include "mlx/graph_utils.h"

namespace mlx::core::exported {

namespace {

class Reporter {
 public:
  Reporter(const RecordedFunction& function, const ExportCallback& callback)
      : function_(function), trace_(function.trace), callback_(callback) {}

  void report_all() {
    for (const auto& in : trace_.inputs) namer_.get_name(in);
    report_inputs();
    report_outputs_and_constants();
    for (const auto& node : trace_.nodes) report_node(node);
  }

 private:
  using Descriptions = std::vector<std::tuple<std::string, Shape, Dtype>>;

  Descriptions described(const std::vector<array>& values) {
    Descriptions out;
    for (const auto& value : values) {
      out.emplace_back(namer_.get_name(value), value.shape(), value.dtype());
    }
    return out;
  }

  void report_inputs() {
    callback_({{"type", std::string("inputs")}, {"inputs", described(trace_.inputs)}});
    std::vector<std::pair<std::string, std::string>> keywords;
    for (size_t i = 0; i < function_.keywords.size(); ++i) {
      const array& in = trace_.inputs[function_.num_positional() + i];
      keywords.emplace_back(function_.keywords[i], namer_.get_name(in));
    }
    callback_({{"type", std::string("keyword_inputs")}, {"keywords", keywords}});
  }

  void report_outputs_and_constants() {
    ByteWriter bytes;
    Constants constants;
    write_function(function_, constants, bytes);  // throws where writing a file would throw
    callback_({{"type", std::string("outputs")}, {"outputs", described(trace_.outputs)}});
    std::vector<std::pair<std::string, array>> named;
    for (const auto& value : constants.all()) named.emplace_back(namer_.get_name(value), value);
    callback_({{"type", std::string("constants")}, {"constants", named}});
  }

  void report_node(const TraceNode& node) {
    callback_({{"type", std::string("primitive")},
               {"name", std::string(node.primitive->name())},
               {"inputs", described(node.inputs)},
               {"outputs", described(node.outputs)},
               {"arguments", row_of(*node.primitive).parameters(*node.primitive)}});
  }

  const RecordedFunction& function_;
  const Trace& trace_;
  const ExportCallback& callback_;
  NodeNamer namer_;
};

}  // namespace

void report(const RecordedFunction& function, const ExportCallback& callback) {
  Reporter(function, callback).report_all();
}

}  // namespace mlx::core::exported
