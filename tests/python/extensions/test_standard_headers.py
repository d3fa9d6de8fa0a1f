"""Sources written for MLX include little of the standard library: its headers bring the rest."""

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
CASES = {
    "mlx/dtype.h": "",
    "mlx/backend/common/utils.h": PATHS,
    "mlx/backend/cpu/encoder.h": TASKS,
    "mlx/backend/metal/device.h": THREADS,
}


@pytest.mark.parametrize("header", CASES)
def test_headers_bring_the_standard_library(header: str, tmp_path: Path):
    source = tmp_path / "extension.cpp"
    source.write_text(f'#include "{header}"\n' + COMMON + CASES[header])
    done = subprocess.run(
        ["c++", "-std=c++20", "-fsyntax-only", f"-I{INCLUDE}", str(source)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[:4000]
