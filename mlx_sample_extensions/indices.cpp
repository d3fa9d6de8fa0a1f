// Checks of index arguments.
#include "indices.h"

#include "evaluation.h"
#include "mlx/primitives.h"
#include "mlx/utils.h"

namespace mlx_sample {

namespace {

// The position of the first value outside [0, size), or -1. Blocks are checked without branches.
template <typename T>
int64_t find_outside(const T* values, int64_t count, int64_t stride, int64_t size) {
  constexpr int64_t kBlock = 1 << 14;
  using U = std::make_unsigned_t<T>;
  // As unsigned integers, negative values are large ones.
  auto outside = [size](T value) { return static_cast<U>(value) >= static_cast<uint64_t>(size); };
  for (int64_t first = 0; first < count; first += kBlock) {
    int64_t last = std::min(first + kBlock, count);
    U largest = 0;
    if (stride == 1) {
      for (int64_t i = first; i < last; ++i) {
        largest = std::max(largest, static_cast<U>(values[i]));
      }
    } else {
      for (int64_t i = first; i < last; ++i) {
        largest = std::max(largest, static_cast<U>(values[i * stride]));
      }
    }
    if (outside(static_cast<T>(largest))) {
      while (!outside(values[first * stride])) {
        ++first;
      }
      return first;
    }
  }
  return -1;
}

void check_values(const mx::array& indices, const IndexArgument& argument) {
  with_index_type(indices.dtype(), [&]<typename T>(T) {
    const T* values = indices.data<T>();
    int64_t stride = indices.strides(0);
    int64_t at = find_outside(values, indices.shape(0), stride, argument.size);
    if (at >= 0) {
      refuse(argument.operation, "Invalid " + std::string(argument.name) + ": it holds " +
                                     std::to_string(values[at * stride]) + " at position " +
                                     std::to_string(at) + ", but its values must be in [0, " +
                                     std::to_string(argument.size) + ").");
    }
  });
}

// Whether the device finds all values in [0, size), in a stream of its own, so that it need not
// wait for other work.
bool are_inside_on_device(const mx::array& indices, int64_t size) {
  static const mx::Stream s = mx::new_process_stream(mx::Device::gpu);
  // As unsigned integers, negative values are large ones.
  const auto values = mx::view(indices, indices.itemsize() == 8 ? mx::uint64 : mx::uint32, s);
  const auto largest = mx::astype(mx::max(values, false, s), mx::uint64, s);
  return mx::array(largest).item<uint64_t>() < static_cast<uint64_t>(size);
}

// Checks indices that are known. The device reads many faster than the host, but does not tell
// where a wrong one is.
void check_known(const mx::array& indices, const IndexArgument& argument) {
  constexpr size_t kMany = 1 << 15;
  const bool on_device = indices.size() >= kMany && has_own_memory(mx::Device::gpu);
  if (!on_device || !are_inside_on_device(indices, argument.size)) {
    check_values(indices, argument);
  }
}

// Checks indices that are known only at evaluation. It reads them on the host, and returns them.
class CheckedIndices : public mx::UnaryPrimitive {
 public:
  explicit CheckedIndices(const IndexArgument& argument)
      : mx::UnaryPrimitive(mx::to_stream(mx::Device(mx::Device::cpu))), argument_(argument) {}

  void eval_cpu(const std::vector<mx::array>& inputs, mx::array& out) override {
    check_values(inputs[0], argument_);
    out.copy_shared_buffer(inputs[0]);
  }
  void eval_gpu(const std::vector<mx::array>&, mx::array&) override {
    throw std::logic_error("[CheckedIndices::eval_gpu] The stream is one of the host.");
  }
  // Indices have no derivatives, but may be computed from arrays that are differentiated.
  std::vector<mx::array> jvp(const std::vector<mx::array>&, const std::vector<mx::array>& tangents,
                             const std::vector<int>&) override {
    return {mx::zeros_like(tangents[0], stream())};
  }
  std::vector<mx::array> vjp(const std::vector<mx::array>& primals, const std::vector<mx::array>&,
                             const std::vector<int>&, const std::vector<mx::array>&) override {
    return {mx::zeros_like(primals[0], stream())};
  }
  std::pair<std::vector<mx::array>, std::vector<int>> vmap(const std::vector<mx::array>& inputs,
                                                           const std::vector<int>& axes) override {
    // All values have the same range.
    auto flat = mx::flatten(inputs[0], stream());
    auto checked = checked_indices(flat, argument_);
    return {{mx::reshape(checked, inputs[0].shape(), stream())}, axes};
  }
  const char* name() const override { return "CheckedIndices"; }
  bool is_equivalent(const mx::Primitive& other) const override {
    auto& o = static_cast<const CheckedIndices&>(other).argument_;
    return argument_.operation == o.operation && argument_.name == o.name &&
           argument_.size == o.size;
  }
  std::vector<mx::Shape> output_shapes(const std::vector<mx::array>& inputs) override {
    return {inputs[0].shape()};
  }

 private:
  IndexArgument argument_;
};

}  // namespace

void refuse(const char* operation, const std::string& message) {
  throw std::invalid_argument("[" + std::string(operation) + "] " + message);
}

mx::array checked_indices(const mx::array& indices, const IndexArgument& argument) {
  auto dtype = indices.dtype();
  if (dtype != mx::int32 && dtype != mx::uint32 && dtype != mx::int64) {
    refuse(argument.operation, std::string(argument.name) +
                                   " must be int32, uint32 or int64, but it is " +
                                   mx::dtype_to_string(dtype) + ".");
  }
  if (indices.ndim() != 1) {
    refuse(argument.operation, std::string(argument.name) +
                                   " must have one dimension, but it has shape " +
                                   mx::shape_to_string(indices.shape()) + ".");
  }
  if (argument.trusted || indices.size() == 0) {
    return indices;
  }
  if (indices.status() == mx::array::Status::unscheduled) {
    return mx::array(indices.shape(), dtype, std::make_shared<CheckedIndices>(argument), {indices});
  }
  auto known = indices;
  known.wait();
  check_known(known, argument);
  return indices;
}

void check_length(const char* operation, const char* name, const mx::array& a, int64_t length,
                  const std::string& why) {
  if (a.ndim() == 0 || a.shape(0) != length) {
    refuse(operation, std::string(name) + " must have length " + std::to_string(length) +
                          " along its first axis (" + why + "), but it has shape " +
                          mx::shape_to_string(a.shape()) + ".");
  }
}

}  // namespace mlx_sample
