// Arrays from the buffer protocol, and the exported buffers of arrays.
#include "convert/buffer.h"

#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "convert/convert.h"
#include "devices/device.h"
#include "mlx/backend/metal/checks.h"

namespace {

struct BufferView {
  Py_buffer view{};
  explicit BufferView(py::handle h) {
    if (PyObject_GetBuffer(h.ptr(), &view, PyBUF_FULL_RO) != 0) throw py::error_already_set();
  }
  ~BufferView() { PyBuffer_Release(&view); }
  BufferView(const BufferView&) = delete;
  BufferView& operator=(const BufferView&) = delete;
};

std::optional<mx::Dtype> integer_type(bool is_signed, size_t size) {
  switch (size) {
    case 1:
      return is_signed ? mx::int8 : mx::uint8;
    case 2:
      return is_signed ? mx::int16 : mx::uint16;
    case 4:
      return is_signed ? mx::int32 : mx::uint32;
    case 8:
      return is_signed ? mx::int64 : mx::uint64;
    default:
      return std::nullopt;
  }
}

// The type of a format of the struct module; nullopt for types that arrays lack, and for foreign
// byte order.
std::optional<mx::Dtype> type_of_format(std::string format, size_t itemsize) {
  if (!format.empty() && (format[0] == '@' || format[0] == '=' || format[0] == '<'))
    format.erase(0, 1);
  if (format == "?") return mx::bool_;
  if (format == "e") return mx::float16;
  if (format == "f") return mx::float32;
  if (format == "d") return mx::float64;
  if (format == "Zf") return mx::complex64;
  if (format == "bfloat16") return mx::bfloat16;
  if (format.size() != 1) return std::nullopt;
  if (std::strchr("bhilqn", format[0])) return integer_type(true, itemsize);
  if (std::strchr("BHILQN", format[0])) return integer_type(false, itemsize);
  return std::nullopt;
}

// NumPy converts foreign byte order and double-precision complex numbers.
std::optional<py::object> converted_by_numpy(const py::object& value, const std::string& format) {
  if (format.empty()) return std::nullopt;
  bool double_complex = format.ends_with("Zd");
  bool swapped = format[0] == '>' || format[0] == '!';
  if (!double_complex && !swapped) return std::nullopt;
  py::object source = py::module_::import("numpy").attr("asarray")(value);
  py::object type = double_complex ? py::object(py::str("complex64"))
                                   : source.attr("dtype").attr("newbyteorder")("=");
  return source.attr("astype")(type);
}

const char* format_of(mx::Dtype dtype) {
  switch (dtype.val()) {
    case mx::Dtype::Val::bool_:
      return "?";
    case mx::Dtype::Val::uint8:
      return "B";
    case mx::Dtype::Val::uint16:
      return "H";
    case mx::Dtype::Val::uint32:
      return "I";
    case mx::Dtype::Val::uint64:
      return "Q";
    case mx::Dtype::Val::int8:
      return "b";
    case mx::Dtype::Val::int16:
      return "h";
    case mx::Dtype::Val::int32:
      return "i";
    case mx::Dtype::Val::int64:
      return "q";
    case mx::Dtype::Val::float16:
      return "e";
    case mx::Dtype::Val::float32:
      return "f";
    case mx::Dtype::Val::float64:
      return "d";
    case mx::Dtype::Val::complex64:
      return "Zf";
    default:
      return "bfloat16";  // the struct module has no such format: consumers that do not know it
                          // raise
  }
}

// The owner of an exported buffer: the array, which stays even if its Python object changes.
struct Export {
  mx::array array;
  mx::HostView view{array};
  std::vector<Py_ssize_t> shape{};
  std::vector<Py_ssize_t> strides{};
};

int fail(Py_buffer* view, const char* message, PyObject* type = PyExc_BufferError) {
  view->obj = nullptr;
  PyErr_SetString(type, message);
  return -1;
}

int fill_view(py::handle self, Py_buffer* view, int flags) {
  mx::array a = self.cast<mx::array&>();
  const char* format = format_of(a.dtype());
  ensure_available(a);
  bool wants_strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
  if (!wants_strides && !a.flags().row_contiguous)
    return fail(view, "The array is not contiguous.");
  auto* data = new Export{a};
  for (size_t i = 0; i < a.ndim(); ++i) {
    data->shape.push_back(a.shape()[i]);
    data->strides.push_back(static_cast<Py_ssize_t>(a.strides()[i]) *
                            static_cast<Py_ssize_t>(a.itemsize()));
  }
  view->obj = self.inc_ref().ptr();
  view->internal = data;
  view->buf =
      a.nbytes() ? const_cast<void*>(std::as_const(a).data<void>()) : static_cast<void*>(data);
  view->len = static_cast<Py_ssize_t>(a.nbytes());
  view->itemsize = static_cast<Py_ssize_t>(a.itemsize());
  view->readonly = 0;
  view->ndim = static_cast<int>(a.ndim());
  view->format = (flags & PyBUF_FORMAT) == PyBUF_FORMAT ? const_cast<char*>(format) : nullptr;
  view->shape = (flags & PyBUF_ND) == PyBUF_ND ? data->shape.data() : nullptr;
  view->strides = wants_strides ? data->strides.data() : nullptr;
  view->suboffsets = nullptr;
  return 0;
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  try {
    return fill_view(self, view, flags);
  } catch (py::error_already_set& e) {
    e.restore();
    view->obj = nullptr;
    return -1;
  } catch (const mx::metal::KernelCheckError& e) {
    raise_check_error(e);
    view->obj = nullptr;
    return -1;
  } catch (const std::invalid_argument& e) {
    return fail(view, e.what(), PyExc_ValueError);
  } catch (const std::exception& e) {
    return fail(view, e.what(), PyExc_RuntimeError);  // like eval()
  }
}

void release_buffer(PyObject*, Py_buffer* view) { delete static_cast<Export*>(view->internal); }

}  // namespace

void install_buffer_protocol(PyHeapTypeObject* type) {
  type->as_buffer.bf_getbuffer = &get_buffer;
  type->as_buffer.bf_releasebuffer = &release_buffer;
  type->ht_type.tp_as_buffer = &type->as_buffer;
}

bool exports_buffer(py::handle value) {
  if (!PyObject_CheckBuffer(value.ptr())) return false;
  Py_buffer view;
  if (PyObject_GetBuffer(value.ptr(), &view, PyBUF_FULL_RO) != 0) {
    PyErr_Clear();
    return false;
  }
  PyBuffer_Release(&view);
  return true;
}

mx::array array_from_buffer(const py::object& value) {
  BufferView buffer(value);
  const Py_buffer& view = buffer.view;
  std::string format = view.format ? view.format : "B";
  if (auto converted = converted_by_numpy(value, format)) return array_from_buffer(*converted);
  auto dtype = type_of_format(format, view.itemsize);
  if (!dtype) {
    throw std::invalid_argument("[array] Cannot hold elements of the buffer format '" + format +
                                "'.");
  }
  mx::array result =
      uninitialized(shape_from_outside(view.shape, view.ndim, "[array] The buffer"), *dtype);
  if (view.len > 0 && PyBuffer_ToContiguous(result.data<char>(), &view, view.len, 'C') != 0) {
    throw py::error_already_set();
  }
  return result;
}
