// Products of matrices and tensors.
#pragma once

#include <string>

#include "mlx/ops/common.h"

namespace mlx::core {

array matmul(const array& a, const array& b, StreamOrDevice s = {});
// alpha * a @ b + beta * c
array addmm(array c, array a, array b, const float& alpha = 1.f, const float& beta = 1.f,
            StreamOrDevice s = {});
array inner(const array& a, const array& b, StreamOrDevice s = {});
array outer(const array& a, const array& b, StreamOrDevice s = {});
array vecdot(const array& a, const array& b, int axis = -1, StreamOrDevice s = {});
array kron(const array& a, const array& b, StreamOrDevice s = {});
array tensordot(const array& a, const array& b, int axis = 2, StreamOrDevice s = {});
array tensordot(const array& a, const array& b, const std::vector<int>& axes_a,
                const std::vector<int>& axes_b, StreamOrDevice s = {});

// Products of the matrices of a and b chosen by the indices.
array gather_mm(array a, array b, std::optional<array> lhs_indices = std::nullopt,
                std::optional<array> rhs_indices = std::nullopt, bool sorted_indices = false,
                StreamOrDevice s = {});
// Masks have an element for each block of the output or of a factor: false omits the block, numbers
// are factors.
array block_masked_mm(array a, array b, int block_size,
                      std::optional<array> mask_out = std::nullopt,
                      std::optional<array> mask_lhs = std::nullopt,
                      std::optional<array> mask_rhs = std::nullopt, StreamOrDevice s = {});
// a[:, start:end] @ b[start:end] for each (start, end) of `segments`.
array segmented_mm(array a, array b, array segments, StreamOrDevice s = {});
// Along the last axis; the scale is by default 1 / sqrt(length).
array hadamard_transform(const array& a, std::optional<float> scale = std::nullopt,
                         StreamOrDevice s = {});

array einsum(const std::string& subscripts, const std::vector<array>& operands,
             StreamOrDevice s = {});
// The order of pairwise products in einsum, and its description.
std::pair<std::vector<std::vector<int>>, std::string> einsum_path(
    const std::string& subscripts, const std::vector<array>& operands);

}  // namespace mlx::core
