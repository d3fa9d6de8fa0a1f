// array: a node of the lazy graph, and after evaluation a view of a buffer.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "mlx/allocator.h"
#include "mlx/dtype.h"
#include "mlx/event.h"

namespace mlx::core {

class Primitive;

using ShapeElem = int32_t;
using Shape = std::vector<ShapeElem>;
using Strides = std::vector<int64_t>;
using Deleter = std::function<void(allocator::Buffer)>;

class array {
 public:
  // A scalar.
  template <typename T>
  explicit array(T value, Dtype dtype = TypeToDtype<T>());
  // complex64 has a constructor of its own, so that std::complex converts too.
  explicit array(const std::complex<float>& value, Dtype dtype = complex64);

  // A copy of a range of values in row-major order.
  template <typename It>
  explicit array(It data, Shape shape,
                 Dtype dtype = TypeToDtype<typename std::iterator_traits<It>::value_type>());
  template <typename T>
  explicit array(std::initializer_list<T> data, Dtype dtype = TypeToDtype<T>());
  explicit array(std::initializer_list<float> data);
  explicit array(std::initializer_list<int> data, Dtype dtype);
  template <typename T>
  explicit array(std::initializer_list<T> data, Shape shape, Dtype dtype = TypeToDtype<T>());

  // Takes over memory, which `deleter` frees, also if this throws. Host memory is copied if the
  // device cannot address it.
  explicit array(void* data, Shape shape, Dtype dtype, const std::function<void(void*)>& deleter);
  explicit array(allocator::Buffer data, Shape shape, Dtype dtype,
                 Deleter deleter = allocator::free);

  array& operator=(const array& other) & = default;
  array& operator=(array&& other) & = default;
  array& operator=(const array& other) && = delete;
  array& operator=(array&& other) && = delete;
  array(const array& other) = default;
  array(array&& other) = default;
  ~array() = default;

  size_t itemsize() const { return dtype().size(); }
  size_t size() const { return array_desc_->size; }
  size_t nbytes() const { return size() * itemsize(); }
  size_t ndim() const { return array_desc_->shape.size(); }
  const Shape& shape() const { return array_desc_->shape; }
  // Negative dimensions count from the end.
  ShapeElem shape(int dim) const { return shape().at(dim < 0 ? dim + ndim() : dim); }
  const Strides& strides() const { return array_desc_->strides; }
  int64_t strides(int dim) const { return strides().at(dim < 0 ? dim + ndim() : dim); }
  Dtype dtype() const { return array_desc_->dtype; }

  // Evaluates the array and waits for its values.
  void eval();
  // Returns the value of an array of size 1; evaluates it.
  template <typename T>
  T item();
  template <typename T>
  T item() const;

  // Iterates over the first axis.
  struct ArrayIterator {
    using iterator_category = std::random_access_iterator_tag;
    using difference_type = size_t;
    using value_type = const array;
    using reference = value_type;

    explicit ArrayIterator(const array& arr, int idx = 0);
    reference operator*() const;
    ArrayIterator& operator+(difference_type diff) {
      idx_ += diff;
      return *this;
    }
    ArrayIterator& operator++() {
      idx_++;
      return *this;
    }
    friend bool operator==(const ArrayIterator& a, const ArrayIterator& b) {
      return a.arr_.id() == b.arr_.id() && a.idx_ == b.idx_;
    }
    friend bool operator!=(const ArrayIterator& a, const ArrayIterator& b) { return !(a == b); }

   private:
    const array& arr_;
    int idx_;
  };
  ArrayIterator begin() const { return ArrayIterator(*this); }
  ArrayIterator end() const { return ArrayIterator(*this, shape(0)); }

  // ---- for operations and primitives ----

  // The output of a primitive.
  explicit array(Shape shape, Dtype dtype, std::shared_ptr<Primitive> primitive,
                 std::vector<array> inputs);
  // The outputs of a primitive that has several; they are siblings of each other.
  static std::vector<array> make_arrays(std::vector<Shape> shapes, const std::vector<Dtype>& dtypes,
                                        const std::shared_ptr<Primitive>& primitive,
                                        const std::vector<array>& inputs);

  // An evaluated array's view of its memory that does not keep the memory alive. Tasks of a stream
  // use it: the stream keeps the memory for them.
  static array unsafe_weak_copy(const array& other);

  // The same array always has the same id; copies share it.
  std::uintptr_t id() const { return reinterpret_cast<std::uintptr_t>(array_desc_.get()); }
  // The same for all outputs of one primitive.
  std::uintptr_t primitive_id() const {
    return reinterpret_cast<std::uintptr_t>(array_desc_->primitive.get());
  }

  struct Data {
    allocator::Buffer buffer;
    Deleter d;
    // How many references one stream holds for work in flight, and which: see kept_memory.h.
    uint32_t kept = 0;
    int kept_by = -1;
    explicit Data(allocator::Buffer buffer, Deleter d = allocator::free)
        : buffer(buffer), d(std::move(d)) {}
    Data(const Data&) = delete;
    Data& operator=(const Data&) = delete;
    ~Data() { d(buffer); }
  };

  struct Flags {
    // The data fill their part of the buffer without gaps, in some order of axes. A repeated scalar
    // counts too.
    bool contiguous : 1;
    bool row_contiguous : 1;
    bool col_contiguous : 1;
  };

  enum Status {
    unscheduled,  // not run yet
    evaluated,    // scheduled: shape, strides and buffer are known, the values maybe not yet
    available,    // the values are there
  };

  bool has_primitive() const { return array_desc_->primitive != nullptr; }
  Primitive& primitive() const { return *array_desc_->primitive; }
  const std::shared_ptr<Primitive>& primitive_ptr() const { return array_desc_->primitive; }
  // The stream on which the array will be computed; nothing if it has been, or if no primitive
  // makes it. Unlike the primitive, it may be read while other threads evaluate the array.
  std::optional<Stream> pending_stream() const;
  const std::vector<array>& inputs() const;
  std::vector<array>& inputs();

  // One id for all outputs of a node of the graph.
  std::uintptr_t node_id() const;

  // Outputs of the same primitive, with or without this one. An output that nobody holds any more
  // is returned as a new array.
  std::vector<array> outputs() const;
  std::vector<array> siblings() const;
  size_t num_siblings() const;

  // Forgets how the array and its siblings were computed.
  void detach();

  // Whether nobody else refers to the array.
  bool is_only_reference() const { return array_desc_.use_count() == 1; }
  // Whether nobody else refers to the array or to its buffer: then an operation may write its
  // output there.
  bool is_donatable() const { return is_only_reference() && array_desc_->data.use_count() == 1; }

  const Flags& flags() const { return array_desc_->flags; }
  // Number of elements in the buffer from the array's start, not counting broadcast repetitions.
  size_t data_size() const { return array_desc_->data_size; }
  allocator::Buffer& buffer() { return array_desc_->data->buffer; }
  const allocator::Buffer& buffer() const { return array_desc_->data->buffer; }
  size_t buffer_size() const { return allocator::allocator().size(buffer()); }
  // Where the array starts in its buffer, in bytes.
  int64_t offset() const { return array_desc_->offset; }
  // The bytes [first, second) of the buffer have its elements. Strides may go backwards.
  std::pair<int64_t, int64_t> extent() const;
  const std::shared_ptr<Data>& data_shared_ptr() const { return array_desc_->data; }

  // The address of the first element. A device may have memory of its own: then the const form
  // makes the elements current for reading, and the other one makes the whole buffer current for
  // reading and writing. Both hold until the array is used in a computation again; see HostView.
  template <typename T>
  T* data() {
    return reinterpret_cast<T*>(static_cast<char*>(buffer().raw_ptr()) + offset());
  }
  template <typename T>
  const T* data() const {
    return reinterpret_cast<const T*>(static_cast<const char*>(bytes_to_read()) + offset());
  }

  Status status() const;
  void set_status(Status status) const;
  bool is_available() const;
  // Waits until a scheduled array has its values.
  void wait();
  // The event that is signaled when the values are there. It is attached once, before the status
  // becomes `evaluated`, and stays: other threads may read it from then on.
  const Event& event() const { return array_desc_->event; }
  void attach_event(Event event) const { array_desc_->event = std::move(event); }

  // Tracers are the arrays that a transformation follows through a function.
  void set_tracer(bool is_tracer) { array_desc_->is_tracer = is_tracer; }
  bool is_tracer() const;
  // Whether evaluation must keep the graph, because a transformation, maybe of another thread,
  // follows it.
  bool keeps_graph() const;

  // Gives the array its memory: row-contiguous, or with the given strides.
  void set_data(allocator::Buffer buffer, Deleter d = allocator::free);
  void set_data(allocator::Buffer buffer, size_t data_size, const Strides& strides, Flags flags,
                Deleter d = allocator::free);
  // The same, from an offset in bytes on.
  void set_data(allocator::Buffer buffer, size_t data_size, const Strides& strides, Flags flags,
                int64_t offset);
  // Makes the array a view of `other`'s buffer. `offset` counts elements.
  void copy_shared_buffer(const array& other, const Strides& strides, Flags flags, size_t data_size,
                          int64_t offset = 0);
  void copy_shared_buffer(const array& other);
  // Replaces this array by the other one, for everyone who holds it.
  void overwrite_descriptor(const array& other) { array_desc_ = other.array_desc_; }

 private:
  const void* bytes_to_read() const;  // the buffer's start

  struct Group;

  struct ArrayDesc {
    Shape shape;
    Strides strides;
    size_t size;
    Dtype dtype;
    std::shared_ptr<Primitive> primitive;
    std::optional<Stream> stream;  // of the primitive; evaluation resets it
    std::atomic<Status> status;
    bool is_tracer{false};
    Flags flags{true, true, true};
    Event event;
    std::shared_ptr<Data> data;
    int64_t offset{0};
    size_t data_size{0};
    std::vector<array> inputs;
    // Set for arrays with siblings: the inputs live there.
    std::shared_ptr<Group> group;

    ArrayDesc(Shape shape, Dtype dtype);
    ArrayDesc(Shape shape, Dtype dtype, std::shared_ptr<Primitive> primitive,
              std::vector<array> inputs);
    ~ArrayDesc();

   private:
    void init();
  };

  explicit array(std::shared_ptr<ArrayDesc> desc) : array_desc_(std::move(desc)) {}
  template <typename It>
  void init(It source);
  void check_item() const;
  static void take_inputs(ArrayDesc& desc, std::vector<std::shared_ptr<ArrayDesc>>& out);

  std::shared_ptr<ArrayDesc> array_desc_;
};

// ---- templates ----

namespace detail {
// Calls f(pointer) where pointer has the C++ type of `dtype`; defined here for array's constructors
// only.
template <typename T, typename U>
U convert_element(const T& value) {
  if constexpr (std::is_same_v<U, bool>) {
    return value != T(0);
  } else {
    return static_cast<U>(value);
  }
}
}  // namespace detail

template <typename T>
array::array(T value, Dtype dtype) : array_desc_(std::make_shared<ArrayDesc>(Shape{}, dtype)) {
  init(&value);
}

template <typename It>
array::array(It data, Shape shape, Dtype dtype)
    : array_desc_(std::make_shared<ArrayDesc>(std::move(shape), dtype)) {
  init(data);
}

template <typename T>
array::array(std::initializer_list<T> data, Dtype dtype)
    : array_desc_(std::make_shared<ArrayDesc>(Shape{static_cast<ShapeElem>(data.size())}, dtype)) {
  init(data.begin());
}

void throw_initializer_size(size_t given, const Shape& shape);

template <typename T>
array::array(std::initializer_list<T> data, Shape shape, Dtype dtype)
    : array_desc_(std::make_shared<ArrayDesc>(std::move(shape), dtype)) {
  if (data.size() != size()) {
    throw_initializer_size(data.size(), this->shape());
  }
  init(data.begin());
}

template <typename It>
void array::init(It source) {
  using T = std::remove_cv_t<typename std::iterator_traits<It>::value_type>;
  set_data(allocator::malloc(nbytes()));
  auto fill = [&]<typename U>(U* out) {
    It it = source;
    for (size_t i = 0; i < size(); ++i, ++it) {
      out[i] = detail::convert_element<T, U>(*it);
    }
  };
  switch (dtype().val()) {
    case Dtype::Val::bool_:
      return fill(data<bool>());
    case Dtype::Val::uint8:
      return fill(data<uint8_t>());
    case Dtype::Val::uint16:
      return fill(data<uint16_t>());
    case Dtype::Val::uint32:
      return fill(data<uint32_t>());
    case Dtype::Val::uint64:
      return fill(data<uint64_t>());
    case Dtype::Val::int8:
      return fill(data<int8_t>());
    case Dtype::Val::int16:
      return fill(data<int16_t>());
    case Dtype::Val::int32:
      return fill(data<int32_t>());
    case Dtype::Val::int64:
      return fill(data<int64_t>());
    case Dtype::Val::float16:
      return fill(data<float16_t>());
    case Dtype::Val::bfloat16:
      return fill(data<bfloat16_t>());
    case Dtype::Val::float32:
      return fill(data<float>());
    case Dtype::Val::float64:
      return fill(data<double>());
    case Dtype::Val::complex64:
      return fill(data<complex64_t>());
  }
}

template <typename T>
T array::item() {
  return std::as_const(*this).item<T>();
}

template <typename T>
T array::item() const {
  check_item();
  const_cast<array*>(this)->eval();
  return *data<T>();
}

// While it exists, the host may access an array's memory at any time at which no computation does,
// as another library does that was given the address. A device that has memory of its own copies
// the buffer at each use.
class HostView {
 public:
  explicit HostView(const array& a);
  ~HostView();
  HostView(const HostView&) = delete;
  HostView& operator=(const HostView&) = delete;

 private:
  std::shared_ptr<array::Data> data_;
};

template <typename T>
inline constexpr bool is_array_v = std::is_same_v<std::remove_cvref_t<T>, array>;

template <typename T>
inline constexpr bool is_arrays_v = std::is_same_v<std::remove_cvref_t<T>, std::vector<array>>;

// For functions that take any number of arrays.
template <typename... T>
using enable_for_arrays_t = std::enable_if_t<(is_array_v<T> && ...)>;

}  // namespace mlx::core
