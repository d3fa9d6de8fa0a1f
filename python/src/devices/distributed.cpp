// mlx.core.distributed.
#include <pybind11/stl.h>

#include "convert/arguments.h"
#include "mlx/distributed/ops.h"
#include "module.h"

using namespace pybind11::literals;
namespace dist = mlx::core::distributed;

namespace {

const char* const kBackendAvailableDoc =
    R"(Tells whether a back end that connects processes is available.

Args:
    backend: Its name: "mpi", "ring", "nccl" or "jaccl", or "any" for any of them.

Returns:
    Whether it is available: "ring" is, and so "any" is.)";

const char* const kInitGroupDoc =
    R"(init(strict: bool = False, backend: str = 'any', *, all_gather_factory: Callable[[int, int], Callable[[bytes, int], bytes]] | None = None) -> Group

Makes the group of all processes.

The ring is described by variables of the environment, which `mlx.launch` sets: `MLX_RANK`, the rank of this process, and
`MLX_HOSTFILE`, a JSON file with a list of addresses "host:port" for each process, where it listens. The first call connects
the processes, and waits until all have started, for `MLX_RING_TIMEOUT` seconds at the most (60). Without these variables, or
with the name of a back end that is not available, the group has this process only.

Args:
    strict: Whether it is an error if the group would have this process only for such a reason.
    backend: Its name: "mpi", "ring", "nccl" or "jaccl", or "any" for the first available one.
    all_gather_factory: Accepted for the back end "jaccl", which is not available.

Returns:
    The group.

Raises:
    ValueError: If there is no such name.
    RuntimeError: If the variables or the file make no sense, if a process does not come in time, or with `strict`.)";

const char* const kSplitGroupDoc = R"(split(self, color: int, key: int = -1) -> Group

Splits the group into smaller ones. Neither a group of one process nor a ring can be split.

Args:
    color: Processes with the same color form a group.
    key: The order of ranks in the new group; -1 keeps their order.

Returns:
    The group of this process.

Raises:
    RuntimeError: Always, as there is no group that can be split.)";

std::string collective_doc(const std::string& name, const char* what, const char* returned) {
  return name +
         "(x: array, *, group: Group | None = None, stream: StreamOrDevice = None) -> array\n\n" +
         what +
         "\n\nAll processes must evaluate the same operations in the same order, on arrays of the "
         "same "
         "shapes and types.\n\nArgs:\n    x: What this process gives.\n    group: The processes. "
         "None "
         "means all of them.\n    stream: Accepted; a group communicates on a stream of its "
         "own.\n\n"
         "Returns:\n    " +
         returned +
         "\n\nRaises:\n    RuntimeError: At evaluation, if a process is lost or does something "
         "else.";
}

const char* const kSendDoc =
    R"(send(x: array, dst: int, *, group: Group | None = None, stream: StreamOrDevice = None) -> array

Sends an array to another process, a neighbour in the ring, which has to receive it.

Args:
    x: The array.
    dst: The rank of the other process.
    group: The processes. None means all of them.
    stream: Accepted; a group communicates on a stream of its own.

Returns:
    The array; it is sent when this one is evaluated.

Raises:
    ValueError: If the group has no such rank, or one process only.
    RuntimeError: If the other process is no neighbour; at evaluation, if it is lost.)";

const char* const kRecvDoc =
    R"(recv(shape: Sequence[int], dtype: Dtype, src: int, *, group: Group | None = None, stream: StreamOrDevice = None) -> array

Receives an array from another process, a neighbour in the ring, which has to send one of this shape and type.

Args:
    shape: The shape of the array.
    dtype: The type of its elements.
    src: The rank of the other process.
    group: The processes. None means all of them.
    stream: Accepted; a group communicates on a stream of its own.

Returns:
    The array.

Raises:
    ValueError: If the group has no such rank, or one process only, or if a length is negative.
    RuntimeError: If the other process is no neighbour; at evaluation, if it is lost or sends something else.)";

const char* const kRecvLikeDoc =
    R"(recv_like(x: array, src: int, *, group: Group | None = None, stream: StreamOrDevice = None) -> array

Receives an array with the shape and the type of another, see `recv`.

Args:
    x: An array of that shape and type.
    src: The rank of the other process.
    group: The processes. None means all of them.
    stream: Accepted; a group communicates on a stream of its own.

Returns:
    The array.

Raises:
    ValueError, RuntimeError: As `recv`.)";

using OptionalGroup = std::optional<dist::Group>;
using Collective = mx::array (*)(const mx::array&, OptionalGroup, mx::StreamOrDevice);

void define_group(py::module_& m) {
  py::class_<dist::Group>(m, "Group", "Processes that compute together.")
      .def("rank", &dist::Group::rank,
           "Tells which process of the group this is.\n\nReturns:\n    A number from 0 on.")
      .def("size", &dist::Group::size,
           "Counts the processes of the group.\n\nReturns:\n    Their number.")
      .def("split", &dist::Group::split, "color"_a, "key"_a = -1, kSplitGroupDoc);
  m.def("is_available", &dist::is_available, "backend"_a = "any", kBackendAvailableDoc);
  m.def(
      "init",
      [](bool strict, const std::string& backend, const py::object&) {
        return dist::init(strict, backend);
      },
      "strict"_a = false, "backend"_a = "any", py::kw_only(), "all_gather_factory"_a = py::none(),
      kInitGroupDoc);
}

void define_collectives(py::module_& m) {
  auto define = [&](const char* name, Collective function, const char* what, const char* returned) {
    m.def(
        name,
        [function](const ArrayLike& x, const OptionalGroup& group, StreamArg s) {
          return function(to_array(x), group, s);
        },
        "x"_a, py::kw_only(), "group"_a = py::none(), "stream"_a = py::none(),
        collective_doc(name, what, returned).c_str());
  };
  define("all_sum", &dist::all_sum,
         "Adds the arrays of all processes. Of truth values it is the disjunction.", "The sum.");
  define("all_max", &dist::all_max, "Finds the largest elements of the arrays of all processes.",
         "The maxima.");
  define("all_min", &dist::all_min, "Finds the smallest elements of the arrays of all processes.",
         "The minima.");
  define("all_gather", &dist::all_gather, "Joins the arrays of all processes.",
         "The arrays, one after the other along the first axis. Numbers without axes become the "
         "elements of "
         "an array.");
  define("sum_scatter", &dist::sum_scatter,
         "Adds the arrays of all processes and gives each a part of the sum.",
         "This process's part along the first axis, which must be divisible by the number of "
         "processes.");
}

void define_messages(py::module_& m) {
  m.def(
      "send",
      [](const ArrayLike& x, int dst, const OptionalGroup& group, StreamArg s) {
        return dist::send(to_array(x), dst, group, s);
      },
      "x"_a, "dst"_a, py::kw_only(), "group"_a = py::none(), "stream"_a = py::none(), kSendDoc);
  m.def(
      "recv",
      [](const Ints& shape, mx::Dtype dtype, int src, const OptionalGroup& group, StreamArg s) {
        return dist::recv(to_shape(shape, "[recv] shape"), dtype, src, group, s);
      },
      "shape"_a, "dtype"_a, "src"_a, py::kw_only(), "group"_a = py::none(), "stream"_a = py::none(),
      kRecvDoc);
  m.def(
      "recv_like",
      [](const ArrayLike& x, int src, const OptionalGroup& group, StreamArg s) {
        return dist::recv_like(to_array(x), src, group, s);
      },
      "x"_a, "src"_a, py::kw_only(), "group"_a = py::none(), "stream"_a = py::none(), kRecvLikeDoc);
}

}  // namespace

void init_distributed(py::module_& parent) {
  py::module_ m = parent.def_submodule("distributed", "Processes that compute together.");
  define_group(m);
  define_collectives(m);
  define_messages(m);
}
