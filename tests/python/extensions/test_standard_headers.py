"""Sources written for MLX include few standard headers: MLX's headers include the rest."""

import subprocess
from pathlib import Path

import mlx.core as mx
import pytest

INCLUDE = Path(mx.__file__).resolve().parent / "include"
COMMON = """
inline void check(bool condition) { assert(condition); }
std::string summary(const std::vector<int>& values) {
  std::map<std::string, std::array<double, 2>> ordered;
  std::unordered_map<int, std::function<int(int)>> functions;
  std::set<int64_t> distinct(values.begin(), values.end());
  std::unordered_set<uint8_t> bytes;
  std::variant<int, std::string> either = 3;
  std::optional<std::tuple<int, float>> maybe = std::make_tuple(1, 2.0f);
  std::shared_ptr<int> shared = std::make_shared<int>(std::accumulate(values.begin(), values.end(), 0));
  std::complex<float> z(0, std::sqrt(2.0f));
  std::ostringstream text;
  std::sort(ordered["x"].begin(), ordered["x"].end());
  if (values.size() > std::numeric_limits<int32_t>::max()) throw std::invalid_argument("too many");
  std::cerr << std::get<0>(*maybe) << std::strlen("x") << std::abs(z);
  text << *shared << functions.size() << distinct.size() << bytes.size() << either.index();
  return text.str() + std::string(std::string_view("x"));
}
"""
PATHS = (
    "std::string parent(const std::string& p) { return std::filesystem::path(p).parent_path(); }"
)
THREADS = """
std::mutex lock; std::shared_mutex shared_lock; std::atomic<int> count{0};
std::unordered_set<const void*> seen;
"""
TASKS = """
std::queue<std::packaged_task<void()>> tasks; std::condition_variable ready; std::thread worker;
std::mutex lock; std::atomic<int> count{0}; std::future<void> done;
"""
# What sources use of the standard library, besides COMMON.
STANDARD = {
    "mlx/backend/common/utils.h": PATHS,
    "mlx/backend/cpu/encoder.h": TASKS,
    "mlx/backend/metal/device.h": THREADS,
    "mlx/dtype.h": "",
}
# The headers that extensions made for MLX include, and something of each that they use.
USED = {
    "mlx/backend/common/binary.h": "get_binary_op_type(array(1), array(2))",
    "mlx/backend/common/broadcasting.h": "broadcast",
    "mlx/backend/common/copy.h": "CopyType::General",
    "mlx/backend/common/matmul.h": "collapse_batches(array(1), array(2))",
    "mlx/backend/common/slicing.h": "prepare_slice(array(1), {}, {})",
    "mlx/backend/common/unary.h": "set_unary_output_data",
    "mlx/backend/common/utils.h": "elem_to_loc(0, array(1))",
    "mlx/backend/cpu/copy.h": "contiguous_copy_cpu(array(1), default_stream(Device::cpu))",
    "mlx/backend/cpu/device_info.h": "cpu::device_info()",
    "mlx/backend/cpu/encoder.h": "cpu::get_command_encoder(default_stream(Device::cpu))",
    "mlx/backend/cpu/eval.h": "cpu::synchronize(default_stream(Device::cpu))",
    "mlx/backend/cpu/parallel.h": "cpu::parallel_for(1, 1, [](size_t, size_t) {})",
    "mlx/backend/gpu/copy.h": "contiguous_copy_gpu(array(1), default_stream(Device::gpu))",
    "mlx/backend/gpu/device_info.h": "gpu::device_count()",
    "mlx/backend/gpu/eval.h": "gpu::is_available()",
    "mlx/backend/gpu/slicing.h": "concatenate_gpu",
    "mlx/backend/metal/allocator.h": "metal::allocator()",
    "mlx/backend/metal/copy.h": "fill_gpu",
    "mlx/backend/metal/device.h": "metal::device(Device::gpu)",
    "mlx/backend/metal/kernels/steel/attn/params.h": "sizeof(mlx::steel::AttnParams)",
    "mlx/backend/metal/kernels/steel/gemm/params.h": "sizeof(mlx::steel::GEMMParams)",
    "mlx/backend/metal/utils.h": "type_to_name(float32)",
    "mlx/compile_impl.h": "detail::compile_cache()",
    "mlx/dtype.h": "float32",
    "mlx/export_impl.h": "&FunctionExporter::close",
    "mlx/fast_primitives.h": "&fast::Custom::vmap",
    "mlx/io/load.h": 'io::ParallelFileReader("x").is_open()',
    "mlx/types/bf16.h": "bfloat16_t(1)",
    "mlx/types/fp16.h": "float16_t(1)",
}


@pytest.mark.parametrize("header", USED)
def test_headers(header: str, tmp_path: Path):
    """They are where MLX has them, and bring the standard library."""
    standard = COMMON + STANDARD[header] if header in STANDARD else ""
    use = f"namespace mlx::core {{ void use() {{ (void)({USED[header]}); }} }}\n"
    source = tmp_path / "extension.cpp"
    source.write_text(f'#include "{header}"\n{standard}{use}')
    done = subprocess.run(
        ["c++", "-std=c++20", "-fsyntax-only", f"-I{INCLUDE}", str(source)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[:4000]
