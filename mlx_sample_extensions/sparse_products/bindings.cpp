// Python functions of the sums of indexed products.
#include "mlx/python/casters.h"
#include "sparse_products/sparse_products.h"

namespace py = pybind11;
using namespace pybind11::literals;
using namespace mlx_sample;

void bind_sparse_products(py::module_& m) {
  m.def("sparse_matrix_vector_multiplication_reduction",
        &sparse_matrix_vector_multiplication_reduction, "a"_a, "a_idx"_a, "b"_a, "b_idx"_a,
        "o_idx"_a, "n_o"_a, py::kw_only(), "transpose"_a = false, "check"_a = true,
        "stream"_a = py::none(),
        R"(Multiplies indexed matrices with indexed vectors and adds the products up by row.

``o[o_idx[t], g, m] += sum over c of a[a_idx[t], g, m, c] * b[b_idx[t], g, c]`` for each entry t.
Sums are made in float32, in an order that depends on the arguments alone. Rows that no entry names
are zero. ``mvmr`` is a short name of the function.

Args:
    a (array): Matrices, of shape (K, G, M, C).
    a_idx (array, optional): The matrix of each entry, of shape (T,): int32, uint32 or int64. Without
        it, entry t has matrix t.
    b (array): Vectors, of shape (N, G, C).
    b_idx (array, optional): The vector of each entry; without it, entry t has vector t.
    o_idx (array, optional): The row of the result that each entry adds to; without it, row t.
    n_o (int): Number of rows of the result.
    transpose (bool): Whether a has shape (K, G, C, M).
    check (bool): Whether the values of indices are checked; wrong ones that are not read and write
        anywhere.
    stream (Stream or Device, optional): Where to run.

Returns:
    array: Sums, of shape (n_o, G, M).

Raises:
    ValueError: For shapes that do not fit, types that are no floats of up to 32 bits or integers,
        and indices out of range: when the function is called, or when its result is evaluated if
        the indices were not known before.)");
  m.def("sparse_vector_vector_outer_product_reduction",
        &sparse_vector_vector_outer_product_reduction, "a"_a, "a_idx"_a, "b"_a, "b_idx"_a,
        "o_idx"_a, "n_o"_a, py::kw_only(), "check"_a = true, "stream"_a = py::none(),
        R"(Adds outer products of indexed vectors up by row.

``o[o_idx[t], g, m, c] += a[a_idx[t], g, m] * b[b_idx[t], g, c]`` for each entry t. Sums are made in
float32, in an order that depends on the arguments alone. Rows that no entry names are zero.
``vvor`` is a short name of the function.

Args:
    a (array): Vectors, of shape (N, G, M).
    a_idx (array, optional): The row of a of each entry, of shape (T,): int32, uint32 or int64.
        Without it, entry t has row t.
    b (array): Vectors, of shape (N', G, C).
    b_idx (array, optional): The row of b of each entry; without it, row t.
    o_idx (array, optional): The row of the result that each entry adds to; without it, row t.
    n_o (int): Number of rows of the result.
    check (bool): Whether the values of indices are checked; wrong ones that are not read and write
        anywhere.
    stream (Stream or Device, optional): Where to run.

Returns:
    array: Sums, of shape (n_o, G, M, C).

Raises:
    ValueError: As for sparse_matrix_vector_multiplication_reduction.)");
}
