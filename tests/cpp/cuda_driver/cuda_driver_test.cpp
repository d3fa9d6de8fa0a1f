// Tests the driver for NVIDIA GPUs with a fake library that only records calls. What kernels
// compute is tested on a GPU.
#include "metal/cuda/driver/cuda_driver.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "cuda_driver/fake_cuda.h"
#include "cuda_driver/library_test.h"
#include "metal/compiler/compiler.h"

namespace metal::test {
namespace {

constexpr const char* kSource = R"(
    #include <metal_stdlib>
    using namespace metal;
    kernel void scale(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                      constant float& factor [[buffer(2)]],
                      threadgroup float* scratch [[threadgroup(0)]],
                      uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {
      scratch[t] = x[i];
      threadgroup_barrier(mem_flags::mem_threadgroup);
      y[i] = scratch[t] * factor;
    })";

// The fake's machine code must not get into the user's cache.
class OwnCache : public ::testing::Environment {
 public:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / "fake_cuda_XXXXXX";
    std::string name = folder_.string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    setenv("MLX_CACHE_DIR", name.c_str(), 1);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

 private:
  std::filesystem::path folder_;
};

const auto* const own_cache = ::testing::AddGlobalTestEnvironment(new OwnCache);

// Under ctest, each test has its own process, as a lost GPU stays lost.
class CudaDriverTest : public ::testing::Test {
 protected:
  void SetUp() override {
    void* library = dlopen("libcuda.so.1", RTLD_NOW);
    ASSERT_NE(library, nullptr) << dlerror();
    auto find = reinterpret_cast<FindFakeCuda>(dlsym(library, kFakeCuda));
    ASSERT_NE(find, nullptr) << "this is NVIDIA's own library";
    fake_ = &find();
    *fake_ = FakeCuda();
    program_ = compile(kSource);
    kernel_ = driver_.load(*program_, "scale", {}, "my_kernel", kNoChecks);
    stream_ = driver_.new_stream();
    memory_ = static_cast<float*>(driver_.allocator().allocate(4096));
    parameters_.buffers[0] = memory_;
    parameters_.buffers[1] = memory_ + 512;
    parameters_.buffers[2] = memory_ + 1020;
    parameters_.threadgroup_memory[0] = 400;
    parameters_.threads_per_grid[0] = 250;
    parameters_.threads_per_threadgroup[0] = 100;
  }

  void launch() { stream_->launch(*kernel_, parameters_); }

  std::string error_of_launch() {
    try {
      launch();
      stream_->wait();
    } catch (const LaunchError& error) {
      return error.what();
    } catch (const std::runtime_error& error) {
      return std::string("refused: ") + error.what();
    }
    return {};
  }

  FakeCuda* fake_ = nullptr;
  Driver& driver_ = fake_gpu(0);
  std::shared_ptr<const Program> program_;
  std::shared_ptr<const Kernel> kernel_;
  std::unique_ptr<Stream> stream_;
  float* memory_ = nullptr;
  LaunchParameters parameters_;
};

template <typename T>
T value_at(const std::string& bytes, size_t offset) {
  T value;
  std::memcpy(&value, &bytes.at(offset), sizeof(value));
  return value;
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

TEST_F(CudaDriverTest, TellsWhatItDrives) {
  EXPECT_EQ(driver_.info().name, "Fake GPU");
  EXPECT_EQ(driver_.info().architecture, "sm_90");
  EXPECT_EQ(driver_.info().memory_size, uint64_t{1} << 30);
}

TEST_F(CudaDriverTest, LaunchesBlocksThatCoverTheGrid) {
  launch();
  stream_->wait();
  ASSERT_EQ(fake_->launches.size(), 1u);
  const FakeLaunch& launched = fake_->launches[0];
  EXPECT_EQ(launched.entry, "scale");
  EXPECT_EQ(launched.blocks, (std::array<unsigned, 3>{3, 1, 1}));
  EXPECT_EQ(launched.threads, (std::array<unsigned, 3>{100, 1, 1}));
  EXPECT_EQ(launched.shared_bytes, 400u);
  EXPECT_EQ(value_at<float*>(launched.parameters, 0), memory_);
  EXPECT_EQ(value_at<float*>(launched.parameters, 8), memory_ + 512);
  EXPECT_EQ(value_at<float*>(launched.parameters, 16), memory_ + 1020);
  EXPECT_EQ(value_at<uint32_t>(launched.parameters, 24), 0u);    // offset of `scratch`
  EXPECT_EQ(value_at<uint32_t>(launched.parameters, 28), 250u);  // threads of the grid
}

TEST_F(CudaDriverTest, LaunchesTakeSmallConstantsByValue) {
  const auto program = compile(R"(
    struct Sizes { int rows; float scale; };
    kernel void sized(constant const Sizes& sizes [[buffer(0)]], device float* out [[buffer(1)]],
                      constant const int* shape [[buffer(2)]],
                      uint i [[thread_position_in_grid]]) {
      out[i] = shape[sizes.rows] * sizes.scale;
    })");
  const auto kernel = driver_.load(*program, "sized", {}, "sized", kNoChecks);
  const int sizes[] = {7, 8}, shape[32] = {9};
  parameters_.buffers[0] = const_cast<int*>(sizes);
  parameters_.buffer_bytes[0] = sizeof(sizes);
  parameters_.buffers[2] = const_cast<int*>(shape);
  parameters_.buffer_bytes[2] = sizeof(shape);
  // Only constants that fit.
  EXPECT_EQ(kernel->taken_by_value(0b111, parameters_), 0b101u);
  EXPECT_EQ(kernel->taken_by_value(0b011, parameters_), 0b001u);
  parameters_.buffer_bytes[2] = 257;
  EXPECT_EQ(kernel->taken_by_value(0b111, parameters_), 0b001u);
  parameters_.buffer_bytes[2] = sizeof(shape);
  parameters_.by_value = 0b101;
  stream_->launch(*kernel, parameters_);
  const std::string& passed = fake_->launches.back().parameters;
  EXPECT_EQ(value_at<int>(passed, 0), 7);
  EXPECT_EQ(value_at<int>(passed, 4), 8);
  EXPECT_EQ(value_at<float*>(passed, 64), memory_ + 512);
  EXPECT_EQ(value_at<int>(passed, 80), 9);
  EXPECT_EQ(value_at<uint32_t>(passed, 336), 250u);  // threads of the grid
  // In buffers, both are addresses.
  parameters_.by_value = 0;
  stream_->launch(*kernel, parameters_);
  EXPECT_EQ(value_at<const int*>(fake_->launches.back().parameters, 0), sizes);
}

TEST_F(CudaDriverTest, GridsBeyondTheLimitsAreLaunchedInParts) {
  parameters_.threads_per_grid[1] = 150000;
  parameters_.threads_per_threadgroup[1] = 1;
  launch();
  ASSERT_EQ(fake_->launches.size(), 3u);
  uint32_t covered = 0;
  for (const FakeLaunch& part : fake_->launches) {
    EXPECT_EQ(value_at<uint32_t>(part.parameters, 44), covered);  // the first block's row
    EXPECT_EQ(part.blocks[0], 3u);
    covered += part.blocks[1];
  }
  EXPECT_EQ(covered, 150000u);
}

TEST_F(CudaDriverTest, DeepThreadgroupsBecomeFlatBlocks) {
  parameters_.threads_per_grid[0] = 1;
  parameters_.threads_per_threadgroup[0] = 1;
  parameters_.threads_per_grid[2] = parameters_.threads_per_threadgroup[2] = 128;
  launch();
  ASSERT_EQ(fake_->launches.size(), 1u);
  EXPECT_EQ(fake_->launches[0].threads, (std::array<unsigned, 3>{128, 1, 1}));
}

TEST_F(CudaDriverTest, AThreadRunsSeveralOfALargeGrid) {
  const auto program = compile(
      "kernel void f(device const half* x [[buffer(0)]], device half* y [[buffer(1)]],"
      "              uint i [[thread_position_in_grid]]) { y[i] = x[i]; }");
  kernel_ = driver_.load(*program, "f", {}, "halves", kNoChecks);
  parameters_.threads_per_threadgroup[0] = 256;
  const auto blocks_of = [&](uint32_t threads, int buffer_offset) {
    parameters_.threads_per_grid[0] = threads;
    parameters_.buffers[1] = memory_ + 512 + buffer_offset;
    launch();
    return fake_->launches.back().blocks[0];
  };
  EXPECT_EQ(blocks_of(256 * 100, 0), 100u);
  EXPECT_EQ(blocks_of(1 << 20, 0), 512u);
  EXPECT_EQ(value_at<uint32_t>(fake_->launches.back().parameters, 16), 1u << 20);
  EXPECT_EQ(blocks_of((1 << 20) + 1, 0), 513u);
  EXPECT_EQ(blocks_of(1 << 20, 1), 512u);  // tests the alignment
  stream_->wait();                         // for the kernel
  // As many as make a vector of the larger elements.
  const auto mixed = compile(
      "kernel void f(device const uchar* x [[buffer(0)]], device float* y [[buffer(1)]],"
      "              uint i [[thread_position_in_grid]]) { y[i] = x[i]; }");
  kernel_ = driver_.load(*mixed, "f", {}, "mixed", kNoChecks);
  EXPECT_EQ(blocks_of(1 << 20, 0), 1024u);
}

TEST_F(CudaDriverTest, LoopsReadAheadOfBuffersThatAreApart) {
  const auto program = compile(
      "kernel void f(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],"
      "              constant uint& n [[buffer(2)]], uint i [[thread_position_in_grid]],"
      "              uint g [[threads_per_grid]]) {"
      "  for (uint k = i; k < n; k += g) y[k] = x[k];"
      "}");
  kernel_ = driver_.load(*program, "f", {}, "copy", kNoChecks);
  const auto reads_ahead = [&](bool apart) {
    parameters_.apart = apart;
    fake_->ptx.clear();
    launch();
    return contains(fake_->ptx, "ld.global.nc.f32");
  };
  EXPECT_FALSE(reads_ahead(false));
  EXPECT_TRUE(reads_ahead(true));
  const int before = fake_->assembled;
  launch();
  parameters_.apart = false;
  launch();
  EXPECT_EQ(fake_->assembled, before);
}

TEST_F(CudaDriverTest, FlatBlocksAreWholeWarps) {
  const auto program = compile(
      "#include <metal_simdgroup_matrix>\nusing namespace metal;\n"
      "kernel void f(device float* x [[buffer(0)]]) {"
      "  simdgroup_float8x8 m;"
      "  simdgroup_load(m, x);"
      "  simdgroup_multiply(m, m, m);"
      "  simdgroup_store(m, x);"
      "}");
  kernel_ = driver_.load(*program, "f", {}, "product", kNoChecks);
  parameters_.threads_per_threadgroup[0] = 10;
  parameters_.threads_per_threadgroup[1] = 5;
  launch();
  EXPECT_EQ(fake_->launches.back().threads, (std::array<unsigned, 3>{64, 1, 1}));
}

TEST_F(CudaDriverTest, MachineCodeIsMadeOnceForEachFormOfLaunch) {
  launch();
  const int before = fake_->assembled;
  launch();
  EXPECT_EQ(fake_->assembled, before);
  EXPECT_TRUE(contains(fake_->ptx, ".maxntid 256"));
  parameters_.threads_per_threadgroup[0] = 512;
  launch();
  EXPECT_EQ(fake_->assembled, before + 1);
  EXPECT_TRUE(contains(fake_->ptx, ".maxntid 512"));
  // A second kernel of the same source is found in the cache on disk.
  const auto again = driver_.load(*program_, "scale", {}, "again", kNoChecks);
  stream_->launch(*again, parameters_);
  EXPECT_EQ(fake_->assembled, before + 1);
}

TEST_F(CudaDriverTest, TheGpuHasACounterpartOfAllMemory) {
  DeviceMemory* device = driver_.device_memory();
  ASSERT_NE(device, nullptr);
  auto* counterpart = static_cast<float*>(device->counterpart(memory_));
  EXPECT_EQ(device->counterpart(memory_ + 100), counterpart + 100);
  memory_[3] = 5;
  stream_->upload(memory_, 64);
  EXPECT_EQ(counterpart[3], 5);
  memory_[3] = counterpart[4] = 7;
  device->download(memory_ + 4, 4);
  EXPECT_EQ(memory_[3], 7);
  EXPECT_EQ(memory_[4], 7);
  EXPECT_GE(fake_->memory_bytes, 4096);
  auto* large = static_cast<char*>(driver_.allocator().allocate(size_t{200} << 20));
  static_cast<char*>(device->counterpart(large))[(size_t{200} << 20) - 1] = 1;
  EXPECT_GE(fake_->memory_bytes, size_t{200} << 20);
  EXPECT_EQ(driver_.allocator().allocate(size_t{2} << 30), nullptr);
  driver_.allocator().deallocate(large);
}

TEST_F(CudaDriverTest, ConstantsAreCopiedOnce) {
  const auto copy = [&](float value, float second) {
    const float values[] = {value, second};
    const ConstantCopy made = stream_->copy_constant(values, sizeof(values));
    const auto* copied = static_cast<const float*>(made.address);
    EXPECT_EQ(copied[0], value);
    EXPECT_EQ(copied[1], second);
    return made;
  };
  const ConstantCopy first = copy(3, 4);
  EXPECT_TRUE(first.is_new);
  EXPECT_TRUE(copy(4, 3).is_new);
  launch();
  const ConstantCopy again = copy(3, 4);
  EXPECT_FALSE(again.is_new);
  EXPECT_EQ(again.address, first.address);
  EXPECT_EQ(fake_->copies.size(), 2u);
  const auto other_stream = driver_.new_stream();
  const float values[] = {3, 4};
  EXPECT_TRUE(other_stream->copy_constant(values, sizeof(values)).is_new);
  EXPECT_EQ(stream_->copy_constant(memory_, 1025).address, nullptr);
}

// Sizes around those of the pinned parts.
TEST_F(CudaDriverTest, LargeCopiesGoThroughPinnedMemoryAndDoNotWaitForKernels) {
  constexpr size_t kPart = size_t{4} << 20;
  DeviceMemory* device = driver_.device_memory();
  auto* host = static_cast<unsigned char*>(driver_.allocator().allocate(9 * kPart));
  auto* on_device = static_cast<unsigned char*>(device->counterpart(host));
  for (const size_t bytes : {size_t{1}, kPart / 256, kPart / 256 + 1, kPart - 1, kPart, kPart + 1,
                             4 * kPart + 3, 8 * kPart + 77}) {
    launch();
    fake_->copies.clear();
    fake_->waits.clear();
    for (size_t i = 0; i < bytes; ++i) host[i] = static_cast<unsigned char>(i * 31 + bytes);
    stream_->upload(host, bytes);
    EXPECT_EQ(std::memcmp(on_device, host, bytes), 0) << bytes;
    size_t copied = 0;
    for (const FakeCopy& copy : fake_->copies) copied += copy.bytes;
    EXPECT_EQ(copied, bytes);
    EXPECT_EQ(fake_->waits.size(), bytes > kPart / 256 ? 1u : 0u);
    if (!fake_->waits.empty()) EXPECT_NE(fake_->waits[0], fake_->copies[0].stream);
    for (size_t i = 0; i < bytes; ++i) on_device[i] = static_cast<unsigned char>(i * 17 + bytes);
    device->download(host, bytes);
    EXPECT_EQ(std::memcmp(on_device, host, bytes), 0) << bytes;
  }
  driver_.allocator().deallocate(host);
}

TEST_F(CudaDriverTest, EachGpuHasMemoryAndCounterpartsOfTheOthers) {
  EXPECT_EQ(cuda::gpu_count(), 2u);
  Driver& second = fake_gpu(1);
  DeviceMemory& here = *driver_.device_memory();
  DeviceMemory& there = *second.device_memory();
  EXPECT_THROW(there.counterpart(memory_), std::logic_error);
  fake_->memory_bytes = 0;
  there.prepare(memory_, 4096);
  EXPECT_GE(fake_->memory_bytes, 4096);
  const size_t taken = std::exchange(fake_->memory_bytes, 0);
  there.prepare(memory_, 4096);
  EXPECT_EQ(fake_->memory_bytes, 0u);
  EXPECT_LE(taken, size_t{192} << 20);
  EXPECT_NE(there.counterpart(memory_), here.counterpart(memory_));
  auto* own = static_cast<float*>(second.allocator().allocate(4096));
  fake_->memory_bytes = 0;
  there.prepare(own, 4096);
  EXPECT_EQ(fake_->memory_bytes, 0u);
  EXPECT_EQ(second.allocator().statistics().active, 4096u);

  const auto stream = second.new_stream();
  static_cast<float*>(here.counterpart(memory_))[7] = 3;
  stream->copy_from(here, memory_, 4096);
  EXPECT_EQ(static_cast<float*>(there.counterpart(memory_))[7], 3);
  EXPECT_EQ(fake_->copies.back().kind, FakeCopy::Peer);
  EXPECT_TRUE(fake_->admitted.contains(0) && fake_->admitted.contains(1));
  second.allocator().deallocate(own);
}

TEST_F(CudaDriverTest, CopiesOfAnotherGpusMemoryMayNotFit) {
  auto* large = static_cast<char*>(driver_.allocator().allocate(size_t{500} << 20));
  fake_->free_memory = size_t{300} << 20;
  EXPECT_THROW(fake_gpu(1).device_memory()->prepare(large, size_t{500} << 20), std::runtime_error);
  fake_gpu(1).device_memory()->prepare(large, size_t{10} << 20);
  driver_.allocator().deallocate(large);
}

TEST_F(CudaDriverTest, ChecksAreRefused) {
  EXPECT_THROW(driver_.load(*program_, "scale", {}, "checked", kCheckBounds),
               std::invalid_argument);
}

TEST_F(CudaDriverTest, AFaultNamesTheKernelAndLosesTheGpu) {
  fake_->kernels_end = false;
  fake_->stream_state = cuda::Result::IllegalAddress;
  const std::string error = error_of_launch();
  EXPECT_TRUE(contains(error, "[my_kernel]")) << error;
  EXPECT_TRUE(contains(error, "CUDA_ERROR_ILLEGAL_ADDRESS")) << error;
  EXPECT_TRUE(contains(error, "is lost to this process")) << error;
  const std::string next = error_of_launch();
  EXPECT_TRUE(contains(next, "refused: The NVIDIA GPU is lost to this process")) << next;
  EXPECT_TRUE(contains(next, "[my_kernel]")) << next;
}

TEST_F(CudaDriverTest, AFaultNamesTheUsersKernelAmongTrustedOnes) {
  const auto trusted = driver_.load(*program_, "scale", {}, "trusted", kNoChecks);
  LaunchParameters of_trusted = parameters_;
  of_trusted.trusted = true;
  fake_->kernels_end = false;
  fake_->stream_state = cuda::Result::IllegalAddress;
  stream_->launch(*trusted, of_trusted);
  launch();
  stream_->launch(*trusted, of_trusted);
  try {
    stream_->wait();
    FAIL() << "no error";
  } catch (const LaunchError& error) {
    EXPECT_TRUE(contains(error.what(), "[my_kernel]")) << error.what();
  }
}

// The stream must not look at the kernel any more.
TEST_F(CudaDriverTest, AKernelMayBeDestroyedAfterItsLaunchFailed) {
  auto failing = driver_.load(*program_, "scale", {}, "failing", kNoChecks);
  fake_->launch_result = cuda::Result::OutOfResources;
  EXPECT_THROW(stream_->launch(*failing, parameters_), std::runtime_error);
  failing.reset();
  fake_->launch_result = cuda::Result::Success;
  EXPECT_EQ(error_of_launch(), "");
}

TEST_F(CudaDriverTest, KernelsThatNeverEndRunIntoTheTimeLimit) {
  fake_->kernels_end = false;
  parameters_.time_limit = 0.05;
  const std::string error = error_of_launch();
  EXPECT_TRUE(contains(error, "longer than the time limit of 0.05 seconds")) << error;
}

TEST_F(CudaDriverTest, TooFewRegistersAreAnErrorOfTheLaunchAlone) {
  fake_->launch_result = cuda::Result::OutOfResources;
  EXPECT_TRUE(contains(error_of_launch(), "too few registers"));
  fake_->launch_result = cuda::Result::Success;
  EXPECT_EQ(error_of_launch(), "");
}

}  // namespace
}  // namespace metal::test
