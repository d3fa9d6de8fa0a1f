// Computes the offset of an element in a strided array from its position in row-major order.
#pragma once

#include <metal_stdlib>

// ---- any number of dimensions ----

// Strides may be any integer type. For 32-bit unsigned positions the offset is as wide as the
// strides, so that it does not wrap around for large arrays or negative strides; otherwise it has
// the type of the position.
template <typename IdxT = int64_t, typename StrideT = int64_t>
METAL_FUNC IdxT elem_to_loc(IdxT elem, constant const int* shape, constant const StrideT* strides,
                            int ndim) {
  IdxT offset = 0;
  for (int d = ndim - 1; d >= 0; --d) {
    const IdxT size = IdxT(shape[d]);
    offset += elem % size * IdxT(strides[d]);
    elem /= size;
  }
  return offset;
}

template <typename StrideT>
METAL_FUNC StrideT elem_to_loc(uint elem, constant const int* shape,
                               constant const StrideT* strides, int ndim) {
  StrideT offset = 0;
  for (int d = ndim - 1; d >= 0; --d) {
    const uint size = uint(shape[d]);
    offset += StrideT(elem % size) * strides[d];
    elem /= size;
  }
  return offset;
}

// A position in a grid: x runs along the last dimension, y along the one before, z over all others.
template <typename IdxT = int64_t, typename StrideT>
METAL_FUNC IdxT elem_to_loc(uint3 elem, constant const int* shape, constant const StrideT* strides,
                            int ndim) {
  IdxT offset = IdxT(elem.x) * IdxT(strides[ndim - 1]);
  if (ndim > 1) offset += IdxT(elem.y) * IdxT(strides[ndim - 2]);
  uint rest = elem.z;
  for (int d = ndim - 3; d >= 0; --d) {
    const uint size = uint(shape[d]);
    offset += IdxT(rest % size) * IdxT(strides[d]);
    rest /= size;
  }
  return offset;
}

// ---- one, two and three dimensions ----

template <typename IdxT = int64_t, typename StrideT>
METAL_FUNC IdxT elem_to_loc_1(uint elem, constant const StrideT& stride) {
  return IdxT(elem) * IdxT(stride);
}
template <typename IdxT = int64_t, typename StrideT>
METAL_FUNC IdxT elem_to_loc_2(uint2 elem, constant const StrideT* strides) {
  return IdxT(elem.y) * IdxT(strides[0]) + IdxT(elem.x) * IdxT(strides[1]);
}
template <typename IdxT = int64_t, typename StrideT>
METAL_FUNC IdxT elem_to_loc_3(uint3 elem, constant const StrideT* strides) {
  return IdxT(elem.z) * IdxT(strides[0]) + IdxT(elem.y) * IdxT(strides[1]) +
         IdxT(elem.x) * IdxT(strides[2]);
}

// ---- two and three arrays of one shape ----

template <typename IdxT = int64_t, typename StrideT>
METAL_FUNC metal::vec<IdxT, 2> elem_to_loc_2_nd(uint3 elem, constant const int* shape,
                                                constant const StrideT* a_strides,
                                                constant const StrideT* b_strides, int ndim) {
  return {elem_to_loc<IdxT>(elem, shape, a_strides, ndim),
          elem_to_loc<IdxT>(elem, shape, b_strides, ndim)};
}
template <typename IdxT = int64_t, typename StrideT>
METAL_FUNC metal::vec<IdxT, 3> elem_to_loc_3_nd(uint3 elem, constant const int* shape,
                                                constant const StrideT* a_strides,
                                                constant const StrideT* b_strides,
                                                constant const StrideT* c_strides, int ndim) {
  return {elem_to_loc<IdxT>(elem, shape, a_strides, ndim),
          elem_to_loc<IdxT>(elem, shape, b_strides, ndim),
          elem_to_loc<IdxT>(elem, shape, c_strides, ndim)};
}

// With the number of dimensions as a template argument.
template <int NDIM, typename StrideT>
METAL_FUNC StrideT elem_to_loc_nd(uint elem, constant const int* shape,
                                  constant const StrideT* strides) {
  return elem_to_loc(elem, shape, strides, NDIM);
}
template <int NDIM, typename StrideT>
METAL_FUNC StrideT elem_to_loc_nd(uint3 elem, constant const int* shape,
                                  constant const StrideT* strides) {
  return elem_to_loc<StrideT>(elem, shape, strides, NDIM);
}
template <int NDIM, typename StrideT>
METAL_FUNC metal::vec<StrideT, 2> elem_to_loc_2_nd(uint3 elem, constant const int* shape,
                                                   constant const StrideT* a_strides,
                                                   constant const StrideT* b_strides) {
  return elem_to_loc_2_nd<StrideT>(elem, shape, a_strides, b_strides, NDIM);
}
template <int NDIM, typename StrideT>
METAL_FUNC metal::vec<StrideT, 3> elem_to_loc_3_nd(uint3 elem, constant const int* shape,
                                                   constant const StrideT* a_strides,
                                                   constant const StrideT* b_strides,
                                                   constant const StrideT* c_strides) {
  return elem_to_loc_3_nd<StrideT>(elem, shape, a_strides, b_strides, c_strides, NDIM);
}

// ---- walking along ----

// The offset of an element that moves through the first `dim` dimensions in row-major order,
// without divisions in the common case. DIM is the number of dimensions if it is known, else 0;
// OffsetT the offset's type.
template <int DIM, typename OffsetT = size_t, bool General = true>
struct LoopedElemToLoc {
  int dim;
  OffsetT offset;
  int position;
  LoopedElemToLoc<DIM - 1, OffsetT, General> inner;  // the dimensions before the last

  METAL_FUNC LoopedElemToLoc(int ndim) : dim(ndim), offset(0), position(0), inner(ndim - 1) {}

  template <typename StrideT>
  METAL_FUNC void next(constant const int* shape, constant const StrideT* strides) {
    if (dim <= 0) return;
    ++position;
    offset += OffsetT(strides[dim - 1]);
    if (position >= shape[dim - 1]) carry(1, shape, strides);
  }
  template <typename StrideT>
  METAL_FUNC void next(int n, constant const int* shape, constant const StrideT* strides) {
    if (dim <= 0) return;
    position += n;
    offset += OffsetT(n) * OffsetT(strides[dim - 1]);
    if (position >= shape[dim - 1]) carry(position / shape[dim - 1], shape, strides);
  }
  METAL_FUNC OffsetT location() { return offset; }

 private:
  template <typename StrideT>
  METAL_FUNC void carry(int rows, constant const int* shape, constant const StrideT* strides) {
    inner.next(rows, shape, strides);
    position -= rows * shape[dim - 1];
    offset = inner.location() + OffsetT(position) * OffsetT(strides[dim - 1]);
  }
};

// The first dimension: it never carries.
template <typename OffsetT, bool General>
struct LoopedElemToLoc<1, OffsetT, General> {
  int dim;
  OffsetT offset;
  uint position;

  METAL_FUNC LoopedElemToLoc(int ndim) : dim(ndim), offset(0), position(0) {}

  template <typename StrideT>
  METAL_FUNC void next(constant const int* shape, constant const StrideT* strides) {
    next(1, shape, strides);
  }
  // If there are more dimensions than DIM, the position in all of them.
  template <typename StrideT>
  METAL_FUNC void next(int n, constant const int* shape, constant const StrideT* strides) {
    if (dim <= 0) return;
    position += n;
    if (General && dim > 1) {
      offset = OffsetT(elem_to_loc(position, shape, strides, dim));
    } else {
      offset += OffsetT(n) * OffsetT(strides[0]);
    }
  }
  METAL_FUNC OffsetT location() { return offset; }
};

// Any number of dimensions.
template <typename OffsetT, bool General>
struct LoopedElemToLoc<0, OffsetT, General> : LoopedElemToLoc<1, OffsetT, true> {
  using LoopedElemToLoc<1, OffsetT, true>::LoopedElemToLoc;
};
