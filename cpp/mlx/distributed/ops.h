// Operations of a group of processes; of all processes if no group is given. All processes must
// evaluate the same operations of a group in the same order, on arrays of the same shapes and
// types. They run on the group's own stream, in that order, whatever stream is given: `s` is there
// for MLX's programs.
#pragma once

#include <optional>

#include "mlx/distributed/distributed.h"
#include "mlx/ops/common.h"

namespace mlx::core::distributed {

// Elementwise reductions over the processes' arrays.
array all_sum(const array& x, std::optional<Group> group = std::nullopt, StreamOrDevice s = {});
array all_max(const array& x, std::optional<Group> group = std::nullopt, StreamOrDevice s = {});
array all_min(const array& x, std::optional<Group> group = std::nullopt, StreamOrDevice s = {});

// Concatenates the arrays of all processes along the first axis. Numbers without axes become the
// elements of an array.
array all_gather(const array& x, std::optional<Group> group = std::nullopt, StreamOrDevice s = {});

// Returns this process's part of the sum, split along the first axis. Throws if that cannot be
// divided equally.
array sum_scatter(const array& x, std::optional<Group> group = std::nullopt, StreamOrDevice s = {});

// Sends to or receives from the process of a rank; a group of one has no other. In a ring it must
// be a neighbour.
array send(const array& x, int dst, std::optional<Group> group = std::nullopt,
           StreamOrDevice s = {});
array recv(const Shape& shape, Dtype dtype, int src, std::optional<Group> group = std::nullopt,
           StreamOrDevice s = {});
array recv_like(const array& x, int src, std::optional<Group> group = std::nullopt,
                StreamOrDevice s = {});

}  // namespace mlx::core::distributed
