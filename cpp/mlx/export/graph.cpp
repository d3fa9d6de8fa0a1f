// Recorded functions as bytes. Inputs and then nodes' outputs are numbered from 0 on; constants
// likewise. A value is stored as twice its number, plus one for a constant.
#include "mlx/export/graph.h"

#include "mlx/compile/fits.h"
#include "mlx/errors.h"
#include "mlx/export/primitives.h"
#include "mlx/io/stored_array.h"
#include "mlx/primitives/elementwise.h"
#include "mlx/utils.h"

namespace mlx::core::exported {

namespace {

void put_description(const array& value, ByteWriter& to) {
  put(to, value.dtype());
  put(to, value.shape());
}

array get_description(ByteReader& from) {
  const Dtype dtype = get<Dtype>(from);
  const auto lengths = get<std::vector<int>>(from);
  std::vector<uint64_t> extents;
  for (int length : lengths) {
    if (length < 0) from.refuse(message("The file is damaged: an axis has the length ", length));
    extents.push_back(static_cast<uint64_t>(length));
  }
  Shape shape = io::checked_shape(extents, dtype, UINT64_MAX, from.refusal());
  return array(std::move(shape), dtype, nullptr, {});
}

// The values of a function that is being written.
class Numbering {
 public:
  explicit Numbering(Constants& constants) : constants_(constants) {}

  void add(const array& value) { numbers_.emplace(value.id(), numbers_.size()); }
  void put_uses(const std::vector<array>& values, ByteWriter& to) {
    put(to, uint64_t{values.size()});
    for (const auto& value : values) {
      const auto found = numbers_.find(value.id());
      const bool is_constant = found == numbers_.end();
      const uint64_t number = is_constant ? constants_.number(value) : found->second;
      put(to, 2 * number + is_constant);
    }
  }

 private:
  Constants& constants_;
  std::unordered_map<std::uintptr_t, uint64_t> numbers_;
};

// The values of a function that is being read.
class Values {
 public:
  explicit Values(const std::vector<array>& constants) : constants_(constants) {}

  void add(const array& value) { values_.push_back(value); }
  std::vector<array> get_uses(ByteReader& from) const {
    std::vector<array> uses;
    const auto count = get<uint64_t>(from);
    for (uint64_t i = 0; i < count; ++i) {
      const auto use = get<uint64_t>(from);
      const auto& list = use % 2 ? constants_ : values_;
      if (use / 2 >= list.size()) {
        from.refuse("The file is damaged: a value is used before it is there.");
      }
      uses.push_back(list[use / 2]);
    }
    return uses;
  }

 private:
  const std::vector<array>& constants_;
  std::vector<array> values_;
};

void put_primitive(const Primitive& primitive, ByteWriter& to) {
  const PrimitiveRow& row = row_of(primitive);
  put(to, row.name);
  put(to, primitive.stream().device.type == Device::gpu);
  ByteWriter parameters;
  row.write(primitive, parameters);
  put(to, parameters.bytes);
}

std::shared_ptr<Primitive> get_primitive(ByteReader& from) {
  const auto name = get<std::string>(from);
  const Device device = get<bool>(from) ? Device::gpu : Device::cpu;
  const auto parameters = get<std::string>(from);
  const PrimitiveRow* row = row_named(name);
  if (!row) from.refuse("The operation " + io::in_quotes(name) + " is unknown.");
  ByteReader reader(parameters, from.refusal());
  auto primitive = row->read(default_stream(device), reader);
  if (reader.left() > 0) {
    from.refuse("The file is damaged: " + name + " has too many parameters.");
  }
  return primitive;
}

// Returns nothing if the primitive rejects the inputs.
std::vector<Shape> shapes_of(const TraceNode& node) {
  try {
    return node.primitive->output_shapes(node.inputs);
  } catch (const std::invalid_argument&) {
    return {};
  }
}

// Whether the outputs' shapes are those that the primitive computes from its inputs'.
bool is_sound(const TraceNode& node) {
  if (node.outputs.empty() || !fits(*node.primitive, node.inputs)) return false;
  if (dynamic_cast<const Elementwise*>(node.primitive.get()) && !is_same_shape(node.inputs)) {
    return false;
  }
  const auto shapes = shapes_of(node);
  if (shapes.size() < node.outputs.size()) return false;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].shape() != shapes[i]) return false;
  }
  return true;
}

TraceNode get_node(ByteReader& from, Values& values) {
  TraceNode node;
  node.primitive = get_primitive(from);
  node.inputs = values.get_uses(from);
  const auto count = get<uint64_t>(from);
  for (uint64_t i = 0; i < count; ++i) {
    node.outputs.push_back(get_description(from));
    values.add(node.outputs.back());
  }
  if (!is_sound(node)) {
    from.refuse(message("The file is damaged: the inputs and outputs of ", node.primitive->name(),
                        " do not belong together."));
  }
  return node;
}

}  // namespace

size_t Constants::number(const array& value) {
  if (value.status() == array::Status::unscheduled && !value.has_primitive()) {
    invalid_argument("export_function",
                     "The function uses an array of a transformation that runs around it, whose "
                     "values are not known: pass it as an input.");
  }
  const auto [found, is_new] = numbers_.try_emplace(value.id(), all_.size());
  if (is_new) all_.push_back(value);
  return found->second;
}

void write_function(const RecordedFunction& function, Constants& constants, ByteWriter& to) {
  const Trace& trace = function.trace;
  Numbering numbering(constants);
  put(to, uint64_t{trace.inputs.size()});
  for (const auto& in : trace.inputs) {
    put_description(in, to);
    numbering.add(in);
  }
  put(to, function.keywords);
  put(to, uint64_t{trace.nodes.size()});
  for (const auto& node : trace.nodes) {
    put_primitive(*node.primitive, to);
    numbering.put_uses(node.inputs, to);
    put(to, uint64_t{node.outputs.size()});
    for (const auto& out : node.outputs) {
      put_description(out, to);
      numbering.add(out);
    }
  }
  numbering.put_uses(trace.outputs, to);
}

RecordedFunction read_function(ByteReader& from, const std::vector<array>& constants,
                               bool shapeless) {
  RecordedFunction function;
  Trace& trace = function.trace;
  trace.shapeless = shapeless;
  Values values(constants);
  const auto inputs = get<uint64_t>(from);
  for (uint64_t i = 0; i < inputs; ++i) {
    trace.inputs.push_back(get_description(from));
    values.add(trace.inputs.back());
  }
  function.keywords = get<std::vector<std::string>>(from);
  if (function.keywords.size() > trace.inputs.size()) {
    from.refuse("The file is damaged: there are more keywords than inputs.");
  }
  const auto nodes = get<uint64_t>(from);
  for (uint64_t i = 0; i < nodes; ++i) trace.nodes.push_back(get_node(from, values));
  trace.outputs = values.get_uses(from);
  return function;
}

}  // namespace mlx::core::exported
