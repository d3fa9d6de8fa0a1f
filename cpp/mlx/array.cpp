// array: construction, memory, and the links of the graph.
#include "mlx/array.h"

#include <Metal/Metal.hpp>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "mlx/errors.h"
#include "mlx/interrupt.h"
#include "mlx/ops.h"
#include "mlx/primitives/primitive.h"
#include "mlx/transforms.h"
#include "mlx/transforms_impl.h"

namespace mlx::core {

// What the outputs of one primitive share. It does not keep the outputs alive.
struct array::Group {
  std::vector<array> inputs;
  std::vector<std::weak_ptr<ArrayDesc>> outputs;
  std::vector<Shape> shapes;
  std::vector<Dtype> dtypes;
};

// ---- descriptor ----

array::ArrayDesc::ArrayDesc(Shape shape, Dtype dtype)
    : shape(std::move(shape)), dtype(dtype), status(Status::available) {
  init();
}

array::ArrayDesc::ArrayDesc(Shape shape, Dtype dtype, std::shared_ptr<Primitive> primitive,
                            std::vector<array> inputs)
    : shape(std::move(shape)),
      dtype(dtype),
      primitive(std::move(primitive)),
      status(Status::unscheduled),
      inputs(std::move(inputs)) {
  if (this->primitive) {
    stream = this->primitive->stream();
  }
  is_tracer = std::any_of(this->inputs.begin(), this->inputs.end(),
                          [](const array& in) { return in.is_tracer(); });
  init();
}

void array::ArrayDesc::init() {
  size_t limit = std::numeric_limits<int64_t>::max() / 16;
  size = 1;
  strides.resize(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] < 0) {
      throw std::invalid_argument("[array] Negative dimensions are not allowed: shape " +
                                  text(shape) + ".");
    }
    strides[i] = size;
    if (shape[i] > 0 && size > limit / shape[i]) {
      throw std::invalid_argument("[array] Too many elements: shape " + text(shape) + ".");
    }
    size *= shape[i];
  }
}

void array::take_inputs(ArrayDesc& desc, std::vector<std::shared_ptr<ArrayDesc>>& out) {
  auto take = [&out](std::vector<array>& inputs) {
    for (auto& in : inputs) {
      out.push_back(std::move(in.array_desc_));
    }
    inputs.clear();
  };
  take(desc.inputs);
  if (desc.group && desc.group.use_count() == 1) {
    take(desc.group->inputs);
  }
  desc.group.reset();
}

// A chain of arrays is freed in a loop: recursion would run out of stack.
array::ArrayDesc::~ArrayDesc() {
  if (inputs.empty() && !group) {
    return;
  }
  std::vector<std::shared_ptr<ArrayDesc>> pending;
  take_inputs(*this, pending);
  while (!pending.empty()) {
    auto desc = std::move(pending.back());
    pending.pop_back();
    if (desc && desc.use_count() == 1) {
      take_inputs(*desc, pending);
    }
  }
}

// ---- construction ----

array::array(const std::complex<float>& value, Dtype dtype)
    : array_desc_(std::make_shared<ArrayDesc>(Shape{}, dtype)) {
  complex64_t element(value);
  init(&element);
}

array::array(std::initializer_list<float> data)
    : array_desc_(
          std::make_shared<ArrayDesc>(Shape{static_cast<ShapeElem>(data.size())}, float32)) {
  init(data.begin());
}

array::array(std::initializer_list<int> data, Dtype dtype)
    : array_desc_(std::make_shared<ArrayDesc>(Shape{static_cast<ShapeElem>(data.size())}, dtype)) {
  init(data.begin());
}

array::array(void* data, Shape shape, Dtype dtype, const std::function<void(void*)>& deleter) {
  try {
    array_desc_ = std::make_shared<ArrayDesc>(std::move(shape), dtype);
    allocator::Buffer wrapped = allocator::allocator().wrap(data, nbytes(), deleter);
    if (wrapped.ptr()) {
      set_data(wrapped);
      return;
    }
    set_data(allocator::malloc(nbytes()));
  } catch (...) {
    deleter(data);
    throw;
  }
  if (data) {
    std::memcpy(this->data<char>(), data, nbytes());
  }
  deleter(data);
}

array::array(allocator::Buffer data, Shape shape, Dtype dtype, Deleter deleter)
    : array_desc_(std::make_shared<ArrayDesc>(std::move(shape), dtype)) {
  set_data(data, std::move(deleter));
}

array::array(Shape shape, Dtype dtype, std::shared_ptr<Primitive> primitive,
             std::vector<array> inputs)
    : array_desc_(std::make_shared<ArrayDesc>(std::move(shape), dtype, std::move(primitive),
                                              std::move(inputs))) {
  if (has_primitive() && dtype == float64 && this->primitive().device().type == Device::gpu) {
    throw std::invalid_argument(
        "float64 is not supported on the GPU: use stream=mx.cpu or another type.");
  }
}

std::vector<array> array::make_arrays(std::vector<Shape> shapes, const std::vector<Dtype>& dtypes,
                                      const std::shared_ptr<Primitive>& primitive,
                                      const std::vector<array>& inputs) {
  if (shapes.size() == 1) {
    return {array(std::move(shapes[0]), dtypes[0], primitive, inputs)};
  }
  auto group = std::make_shared<Group>();
  group->inputs = inputs;
  group->shapes = std::move(shapes);
  group->dtypes = dtypes;
  group->outputs.resize(group->shapes.size());
  std::vector<array> outputs;
  for (size_t i = 0; i < group->shapes.size(); ++i) {
    array out(group->shapes[i], dtypes[i], primitive, {});
    out.array_desc_->group = group;
    out.array_desc_->is_tracer =
        std::any_of(inputs.begin(), inputs.end(), [](const array& in) { return in.is_tracer(); });
    group->outputs[i] = out.array_desc_;
    outputs.push_back(std::move(out));
  }
  return outputs;
}

void throw_initializer_size(size_t given, const Shape& shape) {
  invalid_argument(
      "array", message("An initializer of ", given, " values does not fill shape ", shape, "."));
}

// ---- graph ----

const std::vector<array>& array::inputs() const {
  return array_desc_->group ? array_desc_->group->inputs : array_desc_->inputs;
}

std::vector<array>& array::inputs() {
  return array_desc_->group ? array_desc_->group->inputs : array_desc_->inputs;
}

std::uintptr_t array::node_id() const {
  return array_desc_->group ? reinterpret_cast<std::uintptr_t>(array_desc_->group.get()) : id();
}

std::vector<array> array::outputs() const {
  auto& group = array_desc_->group;
  if (!group) {
    return std::vector<array>(1, *this);  // a list would be copied
  }
  std::vector<array> outputs;
  outputs.reserve(group->outputs.size());
  for (size_t i = 0; i < group->outputs.size(); ++i) {
    auto desc = group->outputs[i].lock();
    if (!desc) {
      desc = std::make_shared<ArrayDesc>(group->shapes[i], group->dtypes[i], primitive_ptr(),
                                         std::vector<array>{});
      desc->group = group;
      desc->is_tracer = array_desc_->is_tracer;
      group->outputs[i] = desc;
    }
    outputs.push_back(array(std::move(desc)));
  }
  return outputs;
}

std::vector<array> array::siblings() const {
  auto all = outputs();
  std::erase_if(all, [this](const array& a) { return a.id() == id(); });
  return all;
}

size_t array::num_siblings() const {
  return array_desc_->group ? array_desc_->group->outputs.size() - 1 : 0;
}

void array::detach() {
  if (auto group = array_desc_->group) {
    for (auto& output : group->outputs) {
      if (auto desc = output.lock()) {
        desc->primitive.reset();
        desc->group.reset();
      }
    }
    return;
  }
  array_desc_->primitive.reset();
  array_desc_->inputs.clear();
}

bool array::is_tracer() const {
  return (array_desc_->is_tracer && detail::in_tracing()) || detail::retain_graph();
}

bool array::keeps_graph() const {
  return (array_desc_->is_tracer && detail::tracing_anywhere()) || detail::retained_anywhere();
}

std::optional<Stream> array::pending_stream() const {
  bool pending = status() == Status::unscheduled || is_tracer();
  return pending ? array_desc_->stream : std::nullopt;
}

// ---- evaluation ----

void array::eval() {
  if (status() == Status::unscheduled) {
    mlx::core::eval({*this});
  } else {
    wait();
  }
}

// A thread that reads a status also sees what was written before it: shape, strides, memory, event.
array::Status array::status() const { return array_desc_->status.load(std::memory_order_acquire); }

void array::set_status(Status status) const {
  array_desc_->status.store(status, std::memory_order_release);
}

bool array::is_available() const {
  if (status() == Status::available) {
    return true;
  }
  if (status() != Status::evaluated) {
    return false;
  }
  // If the value could not be computed, waiting for it must rethrow the error.
  return !event().valid() || (event().is_signaled() && !event().error());
}

void array::wait() {
  if (status() == Status::evaluated) {
    if (event().valid() && !(event().is_signaled() && !event().error())) {
      wait_unlocked([this] { event().wait(); });
    }
    set_status(Status::available);
  }
}

// ---- memory ----

namespace {

// A row-contiguous array is column-contiguous too if at most one axis is longer than 1.
bool has_one_long_axis(const Shape& shape) {
  return std::count_if(shape.begin(), shape.end(), [](int n) { return n != 1; }) <= 1;
}

}  // namespace

array array::unsafe_weak_copy(const array& other) {
  array copy(other.shape(), other.dtype(), nullptr, {});
  copy.set_data(other.buffer(), other.data_size(), other.strides(), other.flags(),
                [](allocator::Buffer) {});
  copy.array_desc_->offset = other.offset();
  return copy;
}

std::pair<int64_t, int64_t> array::extent() const {
  int64_t first = 0;
  int64_t last = size() ? 0 : -1;
  for (size_t i = 0; i < ndim() && size(); ++i) {
    const int64_t reach = (shape()[i] - 1) * strides()[i];
    (reach < 0 ? first : last) += reach;
  }
  const auto item = static_cast<int64_t>(itemsize());
  return {offset() + first * item, offset() + (last + 1) * item};
}

const void* array::bytes_to_read() const {
  const auto [first, end] = extent();
  return buffer().read_ptr(static_cast<size_t>(first), static_cast<size_t>(end - first));
}

HostView::HostView(const array& a) : data_(a.data_shared_ptr()) {
  if (data_ && data_->buffer.ptr()) static_cast<MTL::Buffer*>(data_->buffer.ptr())->beginSharing();
}

HostView::~HostView() {
  if (data_ && data_->buffer.ptr()) static_cast<MTL::Buffer*>(data_->buffer.ptr())->endSharing();
}

void array::set_data(allocator::Buffer buffer, Deleter d) {
  array_desc_->data = std::make_shared<Data>(buffer, std::move(d));
  array_desc_->offset = 0;
  array_desc_->data_size = size();
  int64_t step = 1;
  for (size_t i = ndim(); i-- > 0;) {
    array_desc_->strides[i] = step;
    step *= shape()[i];
  }
  array_desc_->flags = {true, true, has_one_long_axis(shape())};
}

void array::set_data(allocator::Buffer buffer, size_t data_size, const Strides& strides,
                     Flags flags, Deleter d) {
  array_desc_->data = std::make_shared<Data>(buffer, std::move(d));
  array_desc_->offset = 0;
  array_desc_->data_size = data_size;
  array_desc_->strides = strides;
  array_desc_->flags = flags;
}

void array::set_data(allocator::Buffer buffer, size_t data_size, const Strides& strides,
                     Flags flags, int64_t offset) {
  set_data(buffer, data_size, strides, flags);
  array_desc_->offset = offset;
}

void array::copy_shared_buffer(const array& other, const Strides& strides, Flags flags,
                               size_t data_size, int64_t offset) {
  array_desc_->data = other.array_desc_->data;
  array_desc_->strides = strides;
  array_desc_->flags = flags;
  array_desc_->data_size = data_size;
  array_desc_->offset = other.array_desc_->offset + offset * static_cast<int64_t>(other.itemsize());
}

void array::copy_shared_buffer(const array& other) {
  copy_shared_buffer(other, other.strides(), other.flags(), other.data_size());
}

// ---- access ----

void array::check_item() const {
  if (size() != 1) {
    throw std::invalid_argument(
        "[item] Only arrays of size 1 have a single value; this one has shape " + text(shape()) +
        ".");
  }
}

array::ArrayIterator::ArrayIterator(const array& arr, int idx) : arr_(arr), idx_(idx) {
  if (arr.ndim() == 0) {
    throw std::invalid_argument("[array] A 0-dimensional array cannot be iterated over.");
  }
}

array::ArrayIterator::reference array::ArrayIterator::operator*() const {
  return take(arr_, idx_, 0);
}

}  // namespace mlx::core
