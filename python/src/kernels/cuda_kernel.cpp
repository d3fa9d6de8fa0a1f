// cuda_kernel and precompiled_cuda_kernel: both raise, since there is no back end for them.
#include <pybind11/stl.h>

#include "convert/arguments.h"
#include "mlx/fast.h"
#include "module.h"

using namespace pybind11::literals;

namespace {

const char* const kCudaKernelDoc =
    R"(cuda_kernel(name: str, input_names: Sequence[str], output_names: Sequence[str], source: str, header: str = '', ensure_row_contiguous: bool = True, shared_memory: int = 0) -> Any

Raises RuntimeError: kernels that are written in CUDA do not run here. Those of `metal_kernel` do.

Args:
    name: The name of the kernel.
    input_names: The names of the inputs.
    output_names: The names of the outputs.
    source: The body of the function, in CUDA.
    header: What stands before the function.
    ensure_row_contiguous: Whether inputs are made contiguous.
    shared_memory: The bytes of dynamic shared memory.

Returns:
    Nothing: it raises.)";

const char* const kPrecompiledDoc =
    R"(precompiled_cuda_kernel(*, name: str, compiled_source: bytes, inputs: Sequence[scalar | array], output_shapes: Sequence[Sequence[int]], output_dtypes: Sequence[Dtype], scalars: Sequence[Any], grid: tuple[int, int, int], threadgroup: tuple[int, int, int], shared_memory: int = 0, init_value: float | None = None, ensure_row_contiguous: bool = False, stream: StreamOrDevice = None) -> list[array]

Raises RuntimeError: compiled CUDA kernels do not run here.

Args:
    name: The name of the kernel.
    compiled_source: The kernel as PTX or machine code.
    inputs: The inputs.
    output_shapes: The shapes of the outputs.
    output_dtypes: The types of the outputs.
    scalars: Numbers that are arguments, too.
    grid: The threads along each axis.
    threadgroup: The threads of a threadgroup along each axis.
    shared_memory: The bytes of dynamic shared memory.
    init_value: What outputs hold at first.
    ensure_row_contiguous: Whether inputs are made contiguous.

Returns:
    Nothing: it raises.)";

}  // namespace

void init_fast_cuda_kernel(py::module_& fast) {
  fast.def(
      "cuda_kernel",
      [](const std::string& name, const std::vector<std::string>& input_names,
         const std::vector<std::string>& output_names, const std::string& source,
         const std::string& header, bool ensure_row_contiguous, int shared_memory) {
        mx::fast::cuda_kernel(name, input_names, output_names, source, header,
                              ensure_row_contiguous, shared_memory);
      },
      "name"_a, "input_names"_a, "output_names"_a, "source"_a, "header"_a = "",
      "ensure_row_contiguous"_a = true, "shared_memory"_a = 0, kCudaKernelDoc);
  fast.def(
      "precompiled_cuda_kernel",
      [](const std::string& name, const py::bytes& compiled_source, const py::object&,
         const py::object&, const std::vector<mx::Dtype>& output_dtypes, const py::object&,
         const mx::fast::GridSize& grid, const mx::fast::GridSize& threadgroup, int shared_memory,
         std::optional<float> init_value, bool ensure_row_contiguous, StreamArg s) {
        return to_list(mx::fast::precompiled_cuda_kernel(
            name, compiled_source, {}, {}, output_dtypes, {}, grid, threadgroup, shared_memory,
            init_value, ensure_row_contiguous, s));
      },
      py::kw_only(), "name"_a, "compiled_source"_a, "inputs"_a, "output_shapes"_a,
      "output_dtypes"_a, "scalars"_a, "grid"_a, "threadgroup"_a, "shared_memory"_a = 0,
      "init_value"_a = py::none(), "ensure_row_contiguous"_a = false, "stream"_a = py::none(),
      kPrecompiledDoc);
}
