// Evaluation, as tasks of the group's stream, and rules. Derivatives are MLX's: a program is taken
// to compute the same loss in all processes, each with the cotangent of the whole, so that nothing
// is communicated for the gradient of a sum.
#include "mlx/distributed/primitives.h"

#include "mlx/backend/common/copy.h"
#include "mlx/backend/common/utils.h"
#include "mlx/backend/host/encoder.h"
#include "mlx/backend/metal/ops/launch.h"
#include "mlx/distributed/ops.h"
#include "mlx/errors.h"
#include "mlx/ops.h"
#include "mlx/primitives/rules.h"

namespace mlx::core::distributed {

namespace {

// Calls the back end in a task of its stream. The interruptions count from here on.
template <typename F>
void communicate(const std::shared_ptr<Backend>& backend, F operation) {
  cpu::get_command_encoder(backend->stream())
      .dispatch([backend, operation, interruption = Interruption()] {
        operation(*backend, interruption);
      });
}

// Moves the mapped axis behind the first one, along which processes' arrays are joined or split.
array axis_behind_first(const array& a, int axis, StreamOrDevice s) {
  return a.ndim() == 1 ? expand_dims(a, 0, s) : moveaxis(a, axis, 1, s);
}

}  // namespace

MLX_EVAL(AllReduce) {
  const array& in = inputs[0];
  const bool in_place = in.flags().row_contiguous && is_donatable(in, out);
  in_place ? out.copy_shared_buffer(in) : allocate_output(out);
  const array whole = in_place ? out : row_contiguous(in, stream());
  communicate(shared_backend(), [reduction = reduction_, dtype = out.dtype(), count = out.size(),
                                 from = whole.data<char>(), to = out.data<char>()](
                                    Backend& backend, const Interruption& interruption) {
    backend.all_reduce(reduction, dtype, from, to, count, interruption);
  });
}

MLX_EVAL(AllGather) {
  allocate_output(out);
  const array in = row_contiguous(inputs[0], stream());
  communicate(shared_backend(),
              [dtype = out.dtype(), count = in.size(), from = in.data<char>(),
               to = out.data<char>()](Backend& backend, const Interruption& interruption) {
                backend.all_gather(dtype, from, to, count, interruption);
              });
}

MLX_EVAL(SumScatter) {
  allocate_output(out);
  const array in = row_contiguous(inputs[0], stream());
  array partial = temporary(in.shape(), in.dtype(), stream());
  communicate(shared_backend(), [dtype = out.dtype(), count = out.size(), from = in.data<char>(),
                                 partial = partial.data<char>(), to = out.data<char>()](
                                    Backend& backend, const Interruption& interruption) {
    backend.sum_scatter(dtype, from, partial, to, count, interruption);
  });
}

MLX_EVAL(Send) {
  const array in = row_contiguous(inputs[0], stream());
  out.copy_shared_buffer(in);
  communicate(shared_backend(), [dtype = in.dtype(), count = in.size(), from = in.data<char>(),
                                 to = to_](Backend& backend, const Interruption& interruption) {
    backend.send(dtype, from, count, to, interruption);
  });
}

MLX_EVAL(Recv) {
  allocate_output(out);
  communicate(shared_backend(), [dtype = out.dtype(), count = out.size(), to = out.data<char>(),
                                 from = from_](Backend& backend, const Interruption& interruption) {
    backend.receive(dtype, to, count, from, interruption);
  });
}

// ---- all_sum, all_max, all_min ----

const char* AllReduce::name() const {
  switch (reduction_) {
    case Reduction::sum:
      return "AllSum";
    case Reduction::max:
      return "AllMax";
    case Reduction::min:
      return "AllMin";
  }
  return "AllReduce";
}

array AllReduce::again(const array& x) const {
  return array(x.shape(), x.dtype(), std::make_shared<AllReduce>(shared_backend(), reduction_),
               {x});
}

std::vector<array> AllReduce::jvp(const std::vector<array>&, const std::vector<array>& tangents,
                                  const std::vector<int>&) {
  return {again(tangents[0])};
}

std::vector<array> AllReduce::vjp(const std::vector<array>&, const std::vector<array>& cotangents,
                                  const std::vector<int>&, const std::vector<array>&) {
  return cotangents;
}

VmapResult AllReduce::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  return {{again(inputs[0])}, axes};
}

// ---- all_gather ----

std::vector<Shape> AllGather::output_shapes(const std::vector<array>& inputs) {
  Shape shape = inputs[0].shape();
  if (shape.empty()) shape.push_back(1);
  shape[0] *= backend().size();
  return {shape};
}

std::vector<array> AllGather::jvp(const std::vector<array>&, const std::vector<array>& tangents,
                                  const std::vector<int>&) {
  return {all_gather(tangents[0], Group(shared_backend()))};
}

std::vector<array> AllGather::vjp(const std::vector<array>& primals,
                                  const std::vector<array>& cotangents, const std::vector<int>&,
                                  const std::vector<array>&) {
  const auto parts = split(cotangents[0], backend().size(), 0);
  return {reshape(parts[backend().rank()], primals[0].shape())};
}

VmapResult AllGather::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  if (axes[0] < 0) return {{all_gather(inputs[0], Group(shared_backend()))}, {-1}};
  return {{all_gather(axis_behind_first(inputs[0], axes[0], {}), Group(shared_backend()))}, {1}};
}

// ---- sum_scatter ----

std::vector<Shape> SumScatter::output_shapes(const std::vector<array>& inputs) {
  Shape shape = inputs[0].shape();
  const int size = backend().size();
  if (shape.empty() || shape[0] % size != 0) {
    invalid_argument("sum_scatter", message("The first axis of the shape ", shape,
                                            " cannot be divided among ", size, " processes."));
  }
  shape[0] /= size;
  return {shape};
}

std::vector<array> SumScatter::jvp(const std::vector<array>&, const std::vector<array>& tangents,
                                   const std::vector<int>&) {
  return {sum_scatter(tangents[0], Group(shared_backend()))};
}

std::vector<array> SumScatter::vjp(const std::vector<array>&, const std::vector<array>& cotangents,
                                   const std::vector<int>&, const std::vector<array>&) {
  return {all_gather(cotangents[0], Group(shared_backend()))};
}

VmapResult SumScatter::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  if (axes[0] < 0) return {{sum_scatter(inputs[0], Group(shared_backend()))}, {-1}};
  return {{sum_scatter(axis_behind_first(inputs[0], axes[0], {}), Group(shared_backend()))}, {1}};
}

// ---- send ----

VmapResult Send::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  return {{send(inputs[0], to_, Group(shared_backend()))}, axes};
}

}  // namespace mlx::core::distributed
