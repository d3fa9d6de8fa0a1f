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

array einsum(const std::string& subscripts, const std::vector<array>& operands,
             StreamOrDevice s = {});
// The order of pairwise products that einsum takes, and its description.
std::pair<std::vector<std::vector<int>>, std::string> einsum_path(
    const std::string& subscripts, const std::vector<array>& operands);

}  // namespace mlx::core
