// Offsets of segments.
#include "segments/offsets.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "counting_sort.h"
#include "evaluation.h"
#include "mlx/primitives.h"
#include "mlx/utils.h"
#include "rules.h"

namespace mlx_sample {

namespace {

mx::Stream host() { return mx::to_stream(mx::Device(mx::Device::cpu)); }

void check_form(const mx::array& lengths, const char* operation, const char* name) {
  auto dtype = lengths.dtype();
  if (dtype != mx::int32 && dtype != mx::uint32 && dtype != mx::int64) {
    refuse(operation, std::string(name) + " must be int32, uint32 or int64, but it is " +
                          mx::dtype_to_string(dtype) + ".");
  }
  if (lengths.ndim() != 1) {
    refuse(operation, std::string(name) + " must have one dimension, but it has shape " +
                          mx::shape_to_string(lengths.shape()) + ".");
  }
}

[[noreturn]] void refuse_value(const char* operation, const char* name, int64_t value, int64_t at) {
  refuse(operation, "Invalid " + std::string(name) + ": it holds " + std::to_string(value) +
                        " at position " + std::to_string(at) +
                        ", but its values must not be negative.");
}

// Throws the error about wrong lengths, if they are not trusted. Otherwise, makes offsets that are
// sorted and in range.
template <typename T>
void fill_from_wrong(const T* values, int count, int64_t stride, const LengthsArgument& argument,
                     int32_t* offsets) {
  int64_t sum = 0;
  for (int i = 0; i < count; ++i) {
    int64_t length = values[i * stride];
    if (!argument.trusted && length < 0) {
      refuse_value(argument.operation, argument.name, length, i);
    }
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    sum = std::clamp(sum + std::min(length, kMost), int64_t{offsets[i]}, kMost);
    offsets[i + 1] = static_cast<int32_t>(std::min(sum, argument.total));
  }
  if (!argument.trusted) {
    refuse(argument.operation, "Invalid " + std::string(argument.name) + ": its sum is " +
                                   std::to_string(sum) + ", but there are " +
                                   std::to_string(argument.total) + " " + argument.what + ".");
  }
}

// Running sums of the lengths.
void fill_offsets(const mx::array& lengths, const LengthsArgument& argument, int32_t* offsets) {
  offsets[0] = 0;
  with_index_type(lengths.dtype(), [&]<typename T>(T) {
    const T* values = lengths.data<T>();
    const int64_t stride = lengths.strides(0);
    const int count = lengths.shape(0);
    uint64_t sum = 0, signs = 0;
    for (int i = 0; i < count; ++i) {
      const int64_t length = values[i * stride];
      sum += static_cast<uint64_t>(length);
      signs |= static_cast<uint64_t>(length) | sum;
      offsets[i + 1] = static_cast<int32_t>(sum);
    }
    // If neither a length nor a sum is negative, no sum has wrapped, and the last is the largest.
    const bool are_right =
        static_cast<int64_t>(signs) >= 0 && sum == static_cast<uint64_t>(argument.total);
    if (!are_right) fill_from_wrong(values, count, stride, argument, offsets);
  });
}

// Lengths that are known only at evaluation.
class SegmentOffsets : public mx::UnaryPrimitive {
 public:
  explicit SegmentOffsets(const LengthsArgument& argument)
      : mx::UnaryPrimitive(host()), argument_(argument) {}

  void eval_cpu(const std::vector<mx::array>& inputs, mx::array& out) override {
    allocate(out);
    fill_offsets(inputs[0], argument_, out.data<int32_t>());
  }
  void eval_gpu(const std::vector<mx::array>&, mx::array&) override {
    throw std::logic_error("[SegmentOffsets::eval_gpu] The stream is one of the host.");
  }
  std::vector<mx::array> vjp(const std::vector<mx::array>& primals, const std::vector<mx::array>&,
                             const std::vector<int>&, const std::vector<mx::array>&) override {
    return {mx::zeros_like(primals[0], stream())};
  }
  std::vector<mx::array> jvp(const std::vector<mx::array>& primals, const std::vector<mx::array>&,
                             const std::vector<int>&) override {
    return {mx::zeros({primals[0].shape(0) + 1}, mx::int32, stream())};
  }
  std::pair<std::vector<mx::array>, std::vector<int>> vmap(const std::vector<mx::array>& inputs,
                                                           const std::vector<int>& axes) override {
    auto all = mx::moveaxis(inputs[0], axes[0], 0, stream());
    std::vector<mx::array> each;
    for (int i = 0; i < all.shape(0); ++i) {
      each.push_back(segment_offsets(mx::take(all, i, 0, stream()), argument_));
    }
    return {{mx::stack(each, 0, stream())}, {0}};
  }
  const char* name() const override { return "SegmentOffsets"; }
  bool is_equivalent(const mx::Primitive& other) const override {
    auto& o = static_cast<const SegmentOffsets&>(other).argument_;
    return argument_.total == o.total && argument_.trusted == o.trusted &&
           argument_.operation == o.operation;
  }
  std::vector<mx::Shape> output_shapes(const std::vector<mx::array>& inputs) override {
    return {{inputs[0].shape(0) + 1}};
  }

 private:
  LengthsArgument argument_;
};

// (index) -> (order, offsets), computed on the host like all sorting.
class GroupRows : public mx::Primitive {
 public:
  explicit GroupRows(int count) : mx::Primitive(host()), count_(count) {}

  void eval_cpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) override {
    allocate(outputs);
    int rows = inputs[0].shape(0);
    auto* order = outputs[0].data<int32_t>();
    auto key = [index = inputs[0].data<int32_t>()](int32_t t) { return index[t]; };
    auto put = [order](int32_t t, int32_t place) { order[place] = t; };
    if (!counting_sort(rows, count_, key, outputs[1].data<int32_t>(), put)) {
      std::iota(order, order + rows, 0);
    }
  }
  void eval_gpu(const std::vector<mx::array>&, std::vector<mx::array>&) override {
    throw std::logic_error("[GroupRows::eval_gpu] The stream is one of the host.");
  }
  std::vector<mx::array> vjp(const std::vector<mx::array>& primals, const std::vector<mx::array>&,
                             const std::vector<int>&, const std::vector<mx::array>&) override {
    return {mx::zeros_like(primals[0], stream())};
  }
  std::vector<mx::array> jvp(const std::vector<mx::array>& primals, const std::vector<mx::array>&,
                             const std::vector<int>&) override {
    return {mx::zeros_like(primals[0], stream()), mx::zeros({count_ + 1}, mx::int32, stream())};
  }
  std::pair<std::vector<mx::array>, std::vector<int>> vmap(const std::vector<mx::array>& inputs,
                                                           const std::vector<int>& axes) override {
    auto all = mx::moveaxis(inputs[0], axes[0], 0, stream());
    std::vector<mx::array> orders;
    std::vector<mx::array> offsets;
    for (int i = 0; i < all.shape(0); ++i) {
      auto [order, offset] = group_rows(mx::take(all, i, 0, stream()), count_, stream());
      orders.push_back(order);
      offsets.push_back(offset);
    }
    return {{mx::stack(orders, 0, stream()), mx::stack(offsets, 0, stream())}, {0, 0}};
  }
  const char* name() const override { return "GroupRows"; }
  bool is_equivalent(const mx::Primitive& other) const override {
    return count_ == static_cast<const GroupRows&>(other).count_;
  }
  std::vector<mx::Shape> output_shapes(const std::vector<mx::array>& inputs) override {
    return {inputs[0].shape(), {count_ + 1}};
  }

 private:
  int count_;
};

// (index, order) -> offsets, where `order` sorts the index.
class SortedOffsets : public mx::UnaryPrimitive {
 public:
  SortedOffsets(mx::Stream stream, int count) : mx::UnaryPrimitive(stream), count_(count) {}

  void eval_cpu(const std::vector<mx::array>& inputs, mx::array& out) override {
    eval_gpu(inputs, out);
  }
  void eval_gpu(const std::vector<mx::array>& inputs, mx::array& out) override {
    allocate(out);
    const int rows = inputs[0].shape(0);
    KernelCall(find_kernel("segment_sorted_offsets", stream()), stream())
        .bytes(rows)
        .bytes(count_)
        .in(inputs[0])
        .in(inputs[1])
        .out(out)
        .run(size_t(rows) + 1);
  }
  bool encodes() const override { return true; }
  std::vector<mx::array> vjp(const std::vector<mx::array>& primals, const std::vector<mx::array>&,
                             const std::vector<int>& argnums,
                             const std::vector<mx::array>&) override {
    std::vector<mx::array> zeros;
    for (int input : argnums) zeros.push_back(mx::zeros_like(primals[input], stream()));
    return zeros;
  }
  std::vector<mx::array> jvp(const std::vector<mx::array>&, const std::vector<mx::array>&,
                             const std::vector<int>&) override {
    return {mx::zeros({count_ + 1}, mx::int32, stream())};
  }
  std::pair<std::vector<mx::array>, std::vector<int>> vmap(const std::vector<mx::array>& inputs,
                                                           const std::vector<int>& axes) override {
    const int batch = mapped_length(inputs, axes);
    const auto index = in_front(inputs[0], axes[0], batch, stream());
    const auto order = in_front(inputs[1], axes[1], batch, stream());
    std::vector<mx::array> offsets;
    for (int i = 0; i < batch; ++i) {
      offsets.push_back(sorted_offsets(mx::take(index, i, 0, stream()),
                                       mx::take(order, i, 0, stream()), count_, stream()));
    }
    return {{mx::stack(offsets, 0, stream())}, {0}};
  }
  const char* name() const override { return "SortedOffsets"; }
  bool is_equivalent(const mx::Primitive& other) const override {
    return count_ == static_cast<const SortedOffsets&>(other).count_;
  }
  std::vector<mx::Shape> output_shapes(const std::vector<mx::array>&) override {
    return {{count_ + 1}};
  }

  static mx::array sorted_offsets(const mx::array& index, const mx::array& order, int count,
                                  mx::Stream s) {
    return mx::array({count + 1}, mx::int32, std::make_shared<SortedOffsets>(s, count),
                     {dense(index, s), dense(order, s)});
  }

 private:
  int count_;
};

// Sorts on a device that has memory of its own: the index would have to be copied to the host, and
// the order back. Sorting takes a pass for each byte of the keys.
Groups group_rows_on_device(const mx::array& index, int count, mx::Stream s) {
  const auto type = count <= 1 << 8 ? mx::uint8 : count <= 1 << 16 ? mx::uint16 : mx::int32;
  const auto order = mx::view(mx::argsort(mx::astype(index, type, s), 0, s), mx::int32, s);
  return {order, SortedOffsets::sorted_offsets(mx::astype(index, mx::int32, s), order, count, s)};
}

}  // namespace

mx::array segment_offsets(const mx::array& lengths, const LengthsArgument& argument) {
  check_form(lengths, argument.operation, argument.name);
  mx::Shape shape{lengths.shape(0) + 1};
  if (lengths.status() == mx::array::Status::unscheduled) {
    return mx::array(std::move(shape), mx::int32, std::make_shared<SegmentOffsets>(argument),
                     {lengths});
  }
  auto known = lengths;
  known.wait();
  auto buffer = mx::allocator::malloc(shape[0] * sizeof(int32_t));
  mx::array offsets(buffer, std::move(shape), mx::int32);
  fill_offsets(known, argument, offsets.data<int32_t>());
  return offsets;
}

int64_t sum_of_lengths(const mx::array& lengths, const char* operation, const char* name,
                       bool trusted) {
  check_form(lengths, operation, name);
  auto known = lengths;
  known.eval();
  return with_index_type(lengths.dtype(), [&]<typename T>(T) {
    const T* values = known.data<T>();
    int64_t sum = 0;
    for (int i = 0; i < known.shape(0); ++i) {
      int64_t length = values[i * known.strides(0)];
      if (!trusted && length < 0) {
        refuse_value(operation, name, length, i);
      }
      sum += length;
    }
    return sum;
  });
}

Groups group_rows(const mx::array& index, int count, mx::Stream stream) {
  if (has_own_memory(stream.device)) return group_rows_on_device(index, count, stream);
  auto s = host();
  auto dense = mx::contiguous(mx::astype(index, mx::int32, s), false, s);
  auto outputs = mx::array::make_arrays({dense.shape(), {count + 1}}, {mx::int32, mx::int32},
                                        std::make_shared<GroupRows>(count), {dense});
  return {outputs[0], outputs[1]};
}

}  // namespace mlx_sample
