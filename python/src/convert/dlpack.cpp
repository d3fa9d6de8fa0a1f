// Exchange of arrays with other libraries through DLPack.
#include <algorithm>
#include <complex>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "convert/convert.h"
#include "convert/dlpack_abi.h"

namespace {

mx::Dtype type_of(dlpack::DataType t) {
  auto is = [&](uint8_t code, uint8_t bits) {
    return t.code == code && t.bits == bits && t.lanes == 1;
  };
  if (is(dlpack::kBool, 8)) return mx::bool_;
  if (is(dlpack::kBfloat, 16)) return mx::bfloat16;
  if (is(dlpack::kFloat, 16)) return mx::float16;
  if (is(dlpack::kFloat, 32)) return mx::float32;
  if (is(dlpack::kFloat, 64)) return mx::float64;
  if (is(dlpack::kComplex, 64)) return mx::complex64;
  if (is(dlpack::kInt, 8)) return mx::int8;
  if (is(dlpack::kInt, 16)) return mx::int16;
  if (is(dlpack::kInt, 32)) return mx::int32;
  if (is(dlpack::kInt, 64)) return mx::int64;
  if (is(dlpack::kUInt, 8)) return mx::uint8;
  if (is(dlpack::kUInt, 16)) return mx::uint16;
  if (is(dlpack::kUInt, 32)) return mx::uint32;
  if (is(dlpack::kUInt, 64)) return mx::uint64;
  throw std::invalid_argument("[from_dlpack] Unsupported element type: code " +
                              std::to_string(t.code) + ", " + std::to_string(t.bits) + " bits, " +
                              std::to_string(t.lanes) + " lanes.");
}

dlpack::DataType type_to_dlpack(mx::Dtype dtype) {
  uint8_t bits = static_cast<uint8_t>(dtype.size() * 8);
  if (dtype == mx::bool_) return {dlpack::kBool, bits, 1};
  if (dtype == mx::bfloat16) return {dlpack::kBfloat, bits, 1};
  if (dtype == mx::complex64) return {dlpack::kComplex, bits, 1};
  if (mx::issubdtype(dtype, mx::floating)) return {dlpack::kFloat, bits, 1};
  if (mx::issubdtype(dtype, mx::signedinteger)) return {dlpack::kInt, bits, 1};
  return {dlpack::kUInt, bits, 1};
}

// Copies elements of a strided tensor in row-major order.
void copy_strided(const char* source, const int64_t* shape, const int64_t* strides, int ndim,
                  size_t itemsize, char*& out) {
  if (ndim == 0) {
    std::memcpy(out, source, itemsize);
    out += itemsize;
    return;
  }
  for (int64_t i = 0; i < shape[0]; ++i) {
    copy_strided(source + i * strides[0] * static_cast<int64_t>(itemsize), shape + 1, strides + 1,
                 ndim - 1, itemsize, out);
  }
}

bool is_row_contiguous(const dlpack::Tensor& t) {
  int64_t expected = 1;
  for (int i = t.ndim - 1; t.strides && i >= 0; --i) {
    if (t.shape[i] != 1 && t.strides[i] != expected) return false;
    expected *= t.shape[i];
  }
  return true;
}

// Arrays have no double-precision complex numbers.
mx::array copy_double_complex(const dlpack::Tensor& t, mx::Shape shape, const char* data) {
  mx::array result = uninitialized(std::move(shape), mx::complex64);
  std::vector<std::complex<double>> values(result.size());
  char* out = reinterpret_cast<char*>(values.data());
  if (values.empty()) return result;
  if (is_row_contiguous(t)) {
    std::memcpy(out, data, values.size() * sizeof(values[0]));
  } else {
    copy_strided(data, t.shape, t.strides, t.ndim, sizeof(values[0]), out);
  }
  std::transform(values.begin(), values.end(), result.data<mx::complex64_t>(),
                 [](const std::complex<double>& v) {
                   return mx::complex64_t(static_cast<float>(v.real()),
                                          static_cast<float>(v.imag()));
                 });
  return result;
}

mx::array copy_tensor(const dlpack::Tensor& t) {
  bool host = t.device.type == dlpack::kCPU || t.device.type == dlpack::kCUDAHost ||
              t.device.type == dlpack::kCUDAManaged || t.device.type == dlpack::kMetal;
  if (!host) {
    throw std::invalid_argument("[from_dlpack] The tensor lies on a device (type " +
                                std::to_string(t.device.type) +
                                ") that the host cannot read; move it to the CPU first.");
  }
  mx::Shape shape = shape_from_outside(t.shape, t.ndim, "[from_dlpack] The tensor");
  const char* data = static_cast<const char*>(t.data) + t.byte_offset;
  if (t.dtype.code == dlpack::kComplex && t.dtype.bits == 128 && t.dtype.lanes == 1)
    return copy_double_complex(t, std::move(shape), data);
  mx::Dtype dtype = type_of(t.dtype);
  if (is_row_contiguous(t)) return array_from_bytes(data, std::move(shape), dtype);
  mx::array result = uninitialized(std::move(shape), dtype);
  char* out = result.data<char>();
  if (result.size() > 0) copy_strided(data, t.shape, t.strides, t.ndim, dtype.size(), out);
  return result;
}

// The operation of this name shares the memory of its input.
mx::array copy_in_memory(const mx::array& a) {
  const std::vector<int64_t> shape(a.shape().begin(), a.shape().end());
  mx::array result = uninitialized(a.shape(), a.dtype());
  if (result.size() == 0) return result;
  char* out = result.data<char>();
  copy_strided(a.data<char>(), shape.data(), a.strides().data(), static_cast<int>(a.ndim()),
               a.itemsize(), out);
  return result;
}

// The owner of an exported tensor.
struct Exported {
  const mx::array array;
  const mx::HostView view{array};
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;

  explicit Exported(const mx::array& a)
      : array(a),
        shape(a.shape().begin(), a.shape().end()),
        strides(a.strides().begin(), a.strides().end()) {}

  dlpack::Tensor tensor() {
    return {array.nbytes() ? const_cast<void*>(array.data<void>()) : nullptr,
            {dlpack::kCPU, 0},
            static_cast<int32_t>(shape.size()),
            type_to_dlpack(array.dtype()),
            shape.data(),
            strides.data(),
            0};
  }
};

template <typename Managed>
void delete_managed(Managed* managed) {
  delete static_cast<Exported*>(managed->context);
  delete managed;
}

// Frees a tensor that nobody has consumed; a consumer renames the capsule.
template <typename Managed>
void destroy_capsule(PyObject* capsule, const char* name) {
  if (!PyCapsule_IsValid(capsule, name)) return;
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  managed->deleter(managed);
}

constexpr const char* kName = "dltensor";
constexpr const char* kVersionedName = "dltensor_versioned";

template <typename Managed>
py::capsule wrap(Managed* managed, const char* name, PyCapsule_Destructor destructor) {
  PyObject* capsule = PyCapsule_New(managed, name, destructor);
  if (!capsule) {
    managed->deleter(managed);
    throw py::error_already_set();
  }
  return py::reinterpret_steal<py::capsule>(capsule);
}

py::object ask_for_capsule(const py::object& value) {
  py::object method = value.attr("__dlpack__");
  try {
    return method(py::arg("max_version") = py::make_tuple(1, 0));
  } catch (py::error_already_set& e) {
    if (!e.matches(PyExc_TypeError)) throw;
  }
  return method();
}

template <typename Managed>
mx::array consume(PyObject* capsule, const char* name, const char* used_name) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  mx::array result = copy_tensor(managed->tensor);
  PyCapsule_SetName(capsule, used_name);
  if (managed->deleter) managed->deleter(managed);
  return result;
}

}  // namespace

mx::array array_from_dlpack(const py::object& value) {
  if (!py::hasattr(value, "__dlpack__")) {
    throw py::type_error("[from_dlpack] A " + type_name(value) + " has no __dlpack__.");
  }
  py::object capsule = ask_for_capsule(value);
  if (PyCapsule_IsValid(capsule.ptr(), kVersionedName)) {
    return consume<dlpack::ManagedTensorVersioned>(capsule.ptr(), kVersionedName,
                                                   "used_dltensor_versioned");
  }
  if (PyCapsule_IsValid(capsule.ptr(), kName)) {
    return consume<dlpack::ManagedTensor>(capsule.ptr(), kName, "used_dltensor");
  }
  throw std::invalid_argument("[from_dlpack] __dlpack__ returned no usable capsule.");
}

py::capsule to_dlpack(const mx::array& source, bool versioned, bool copy) {
  mx::array a = source;
  ensure_available(a);
  if (copy) a = copy_in_memory(a);
  auto* exported = new Exported(a);
  if (versioned) {
    auto* managed =
        new dlpack::ManagedTensorVersioned{{1, 0},
                                           exported,
                                           &delete_managed<dlpack::ManagedTensorVersioned>,
                                           copy ? dlpack::kIsCopied : 0,
                                           exported->tensor()};
    return wrap(managed, kVersionedName, [](PyObject* c) {
      destroy_capsule<dlpack::ManagedTensorVersioned>(c, kVersionedName);
    });
  }
  auto* managed = new dlpack::ManagedTensor{exported->tensor(), exported,
                                            &delete_managed<dlpack::ManagedTensor>};
  return wrap(managed, kName,
              [](PyObject* c) { destroy_capsule<dlpack::ManagedTensor>(c, kName); });
}
