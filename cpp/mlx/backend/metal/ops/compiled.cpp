// Runs groups of elementwise operations: one by one until their fused kernel is compiled.
#include "mlx/backend/metal/ops/compiled.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>

#include "mlx/backend/common/copy.h"
#include "mlx/backend/common/elementwise.h"
#include "mlx/backend/metal/compiled_kernels.h"
#include "mlx/backend/metal/ops/launch.h"

namespace mlx::core {

std::vector<const array*> walked(const std::vector<array>& inputs) {
  std::vector<const array*> out;
  for (const auto& in : inputs) {
    if (!is_scalar(in)) out.push_back(&in);
  }
  return out;
}

bool form_a_line(const std::vector<const array*>& arrays) {
  auto all = [&](auto has) { return std::all_of(arrays.begin(), arrays.end(), has); };
  if (all([](const array* a) { return a->flags().row_contiguous; })) return true;
  if (all([](const array* a) { return a->flags().col_contiguous; })) return true;
  return all([&](const array* a) {
    return a->flags().contiguous && a->strides() == arrays[0]->strides();
  });
}

namespace {

// Allocates the outputs with the strides of `like`, or row-contiguous. An input that nobody else
// needs gives its memory: a thread reads an element before it writes the output at the same place.
void allocate(const std::vector<array>& inputs, std::vector<array>& outputs, const array* like) {
  std::vector<const array*> given;
  for (auto& out : outputs) {
    auto can_give = [&](const array& in) {
      bool same_order = like || in.flags().row_contiguous;
      bool is_whole = !is_scalar(in) || out.size() == 1;
      return same_order && is_whole && in.size() == out.size() && is_donatable(in, out) &&
             std::find(given.begin(), given.end(), &in) == given.end();
    };
    auto giver = std::find_if(inputs.begin(), inputs.end(), can_give);
    if (giver != inputs.end()) {
      given.push_back(&*giver);
      out.copy_shared_buffer(*giver);
    } else if (like) {
      out.set_data(allocator::malloc(like->data_size() * out.itemsize()), like->data_size(),
                   like->strides(), like->flags());
    } else {
      allocate_output(out);
    }
  }
}

void run_line(MTL::ComputePipelineState* kernel, const std::vector<array>& inputs,
              std::vector<array>& outputs, Stream s) {
  auto& encoder = metal::get_command_encoder(s);
  dispatch_line(encoder, outputs[0].data_size(), [&](int64_t first) {
    encoder.set_compute_pipeline_state(kernel);
    int buffer = 0;
    for (const auto& in : inputs) {
      encoder.set_input_array(in, buffer++, is_scalar(in) ? 0 : first * in.itemsize());
    }
    for (auto& out : outputs) encoder.set_output_array(out, buffer++, first * out.itemsize());
  });
}

// Fills in Strides4 for any number of operands.
std::vector<char> stride_parameters(const StridedWalk& walk) {
  std::vector<std::array<int64_t, 4>> strides(walk.strides.size());
  uint32_t tail[2] = {};  // third_extent, padding
  detail::fill_strides4(walk, reinterpret_cast<int64_t(*)[4]>(strides.data()), tail[0]);
  const size_t size = strides.size() * sizeof(strides[0]);
  std::vector<char> bytes(size + sizeof(tail));
  std::memcpy(bytes.data(), strides.data(), size);
  std::memcpy(bytes.data() + size, tail, sizeof(tail));
  return bytes;
}

void run_strided(MTL::ComputePipelineState* kernel, const StridedWalk& walk,
                 const std::vector<array>& inputs, std::vector<array>& outputs, Stream s) {
  auto& encoder = metal::get_command_encoder(s);
  encoder.set_compute_pipeline_state(kernel);
  int buffer = 0;
  for (const auto& in : inputs) encoder.set_input_array(in, buffer++);
  for (auto& out : outputs) encoder.set_output_array(out, buffer++);
  encoder.set_vector_bytes(stride_parameters(walk), buffer);
  detail::dispatch_walk(walk, encoder);
}

InputLayout layout_in(const StridedWalk& walk, int operand) {
  if (walk.side_by_side(operand)) return InputLayout::Row;
  return walk.same(operand) ? InputLayout::Same : InputLayout::General;
}

}  // namespace

void run_one_by_one(const Trace& body, const std::vector<array>& inputs,
                    std::vector<array>& outputs, Stream s) {
  std::unordered_map<std::uintptr_t, array> values;
  for (size_t i = 0; i < inputs.size(); ++i) values.emplace(body.inputs[i].id(), inputs[i]);
  for (size_t i = 0; i < outputs.size(); ++i) values.emplace(body.outputs[i].id(), outputs[i]);
  auto& encoder = metal::get_command_encoder(s);
  for (const auto& node : body.nodes) {
    std::vector<array> operands;
    for (const auto& in : node.inputs) {
      auto value = values.find(in.id());
      operands.push_back(value == values.end() ? in : value->second);
    }
    Shape shape = node.primitive->output_shapes(operands).at(0);
    array fresh(std::move(shape), node.outputs[0].dtype(), nullptr, {});
    array out = values.try_emplace(node.outputs[0].id(), fresh).first->second;
    std::vector<array> results{out};
    node.primitive->eval_gpu(operands, results);
    encoder.add_temporaries(std::move(operands));
    encoder.add_temporary(out);
  }
}

MLX_EVAL_MULTI(Compiled) {
  if (outputs[0].size() == 0) {
    for (auto& out : outputs) allocate_output(out);
    return;
  }
  const auto walked_inputs = walked(inputs);
  std::string layouts(inputs.size(), static_cast<char>(InputLayout::Scalar));
  auto set_layouts = [&](auto layout_of) {
    int operand = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!is_scalar(inputs[i])) layouts[i] = static_cast<char>(layout_of(operand++));
    }
  };
  auto all_in_line = [](int) { return InputLayout::Line; };

  if (form_a_line(walked_inputs)) {
    set_layouts(all_in_line);
    auto* kernel = kernels_->find(layouts, stream().device);
    if (!kernel) return run_one_by_one(body(), inputs, outputs, stream());
    allocate(inputs, outputs, walked_inputs.empty() ? nullptr : walked_inputs[0]);
    return run_line(kernel, inputs, outputs, stream());
  }
  const Stream s = stream();
  if (std::ranges::any_of(inputs, [s](const array& in) { return reads_apart(in, s); })) {
    std::vector<array> rows;
    for (const auto& in : inputs) rows.push_back(untransposed(in, s));
    return eval_gpu(rows, outputs);
  }
  std::vector<Strides> strides;
  for (const auto* in : walked_inputs) strides.push_back(in->strides());
  StridedWalk walk(outputs[0].shape(), strides);
  if (walk.deep()) {
    set_layouts(all_in_line);
    auto* kernel = kernels_->find(layouts, stream().device);
    if (!kernel) return run_one_by_one(body(), inputs, outputs, stream());
    std::vector<array> dense;
    for (const auto& in : inputs) {
      dense.push_back(is_scalar(in) ? in : row_contiguous(in, stream()));
    }
    allocate({}, outputs, nullptr);
    return run_line(kernel, dense, outputs, stream());
  }
  set_layouts([&](int operand) { return layout_in(walk, operand); });
  auto* kernel = kernels_->find(layouts, stream().device);
  if (!kernel) return run_one_by_one(body(), inputs, outputs, stream());
  allocate(inputs, outputs, nullptr);
  run_strided(kernel, walk, inputs, outputs, stream());
}

}  // namespace mlx::core
