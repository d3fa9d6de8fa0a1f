// Arrays whose bytes lie in a file.
#include "mlx/io/stored_array.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "mlx/ops.h"
#include "mlx/primitives/load.h"
#include "mlx/transforms.h"

namespace mlx::core::io {

static_assert(std::endian::native == std::endian::little,
              "Files are written as memory holds them.");

namespace {

void reverse_each(char* bytes, size_t count, size_t width) {
  for (char* end = bytes + count; bytes < end; bytes += width) std::reverse(bytes, bytes + width);
}

}  // namespace

Shape checked_shape(const std::vector<uint64_t>& extents, Dtype dtype, uint64_t available,
                    const Refusal& refuse) {
  constexpr uint64_t kMax = std::numeric_limits<ShapeElem>::max();
  for (uint64_t extent : extents) {
    if (extent > kMax) {
      refuse(message("An axis of ", extent, " elements is too long: at most ", kMax,
                     " are possible."));
    }
  }
  Shape shape(extents.begin(), extents.end());
  // The lengths of empty arrays are replaced, so that the product of lengths cannot overflow.
  int64_t elements = 1;
  for (uint64_t extent : extents)
    elements = saturated_product(elements, std::max<int64_t>(1, static_cast<int64_t>(extent)));
  if (elements > std::numeric_limits<int64_t>::max() / 16)
    refuse(message("An array of shape ", shape, " has too many elements."));
  const bool empty = std::find(extents.begin(), extents.end(), 0) != extents.end();
  const uint64_t bytes = empty ? 0 : static_cast<uint64_t>(elements) * dtype.size();
  if (bytes > available) {
    refuse(message("An array of shape ", shape, " and type ", dtype, " needs ", bytes,
                   " bytes, but ", available, " are there."));
  }
  return shape;
}

array stored_array(const Section& file, uint64_t offset, Shape shape, Dtype dtype, bool swapped,
                   const Stream& s) {
  if (file.reads_later()) {
    return array(std::move(shape), dtype, std::make_shared<Load>(s, file, offset, swapped), {});
  }
  array out = unwritten_array(std::move(shape), dtype);
  read_elements(file, out.data<char>(), out.nbytes(), offset, dtype, swapped);
  return out;
}

array unwritten_array(Shape shape, Dtype dtype) {
  array out(std::move(shape), dtype, nullptr, {});
  out.set_data(allocator::malloc(out.nbytes()));
  out.set_status(array::Status::available);
  return out;
}

void make_bools(void* bytes, size_t count) {
  auto* first = static_cast<unsigned char*>(bytes);
  std::transform(first, first + count, first, [](unsigned char byte) { return byte != 0; });
}

void read_elements(const Section& file, void* to, size_t bytes, uint64_t offset, Dtype dtype,
                   bool swapped) {
  file.read(to, bytes, offset);
  if (swapped) reverse_each(static_cast<char*>(to), bytes, dtype == complex64 ? 4 : dtype.size());
  if (dtype == bool_) make_bools(to, bytes);
}

std::vector<array> arrays_to_write(std::vector<array> arrays) {
  for (array& a : arrays) a = contiguous(a, false, Device::cpu);
  eval(arrays);
  return arrays;
}

void write_elements(Writer& writer, const array& a) {
  if (a.nbytes() > 0) write_bytes(writer, a.data<char>(), a.nbytes());
}

}  // namespace mlx::core::io
