// Operations of all processes of a group together; without a group, of that of all processes.
#pragma once

#include <optional>

#include "mlx/distributed/distributed.h"
#include "mlx/ops/common.h"

namespace mlx::core::distributed {

// Elementwise over the arrays that the processes give.
array all_sum(const array& x, std::optional<Group> group = std::nullopt, StreamOrDevice s = {});
array all_max(const array& x, std::optional<Group> group = std::nullopt, StreamOrDevice s = {});
array all_min(const array& x, std::optional<Group> group = std::nullopt, StreamOrDevice s = {});

// The arrays of all processes, joined along the first axis.
array all_gather(const array& x, std::optional<Group> group = std::nullopt, StreamOrDevice s = {});

// This process's part of the sum, cut along the first axis.
array sum_scatter(const array& x, std::optional<Group> group = std::nullopt, StreamOrDevice s = {});

// To and from the process of a rank; a group of one has no other.
array send(const array& x, int dst, std::optional<Group> group = std::nullopt,
           StreamOrDevice s = {});
array recv(const Shape& shape, Dtype dtype, int src, std::optional<Group> group = std::nullopt,
           StreamOrDevice s = {});
array recv_like(const array& x, int src, std::optional<Group> group = std::nullopt,
                StreamOrDevice s = {});

}  // namespace mlx::core::distributed
