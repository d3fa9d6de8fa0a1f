// Tests of what calls pass to NVIDIA's libraries start with a fake of the library.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <memory>

#include "metal/cuda/driver/cuda_driver.h"
#include "metal/driver.h"

namespace metal::test {

// The fake library shows two GPUs.
inline Driver& fake_gpu(size_t number) {
  static Driver* gpus[2] = {};
  if (!gpus[number]) gpus[number] = &cuda::open_gpu(number);
  return *gpus[number];
}

template <typename Fake>
class LibraryTest : public ::testing::Test {
 protected:
  // `function`: of the fake, returns its state.
  LibraryTest(const char* library, const char* function) : library_(library), function_(function) {}

  void SetUp() override {
    void* library = dlopen(library_, RTLD_NOW);
    ASSERT_NE(library, nullptr) << dlerror();
    auto find = reinterpret_cast<Fake& (*)()>(dlsym(library, function_));
    ASSERT_NE(find, nullptr) << "this is NVIDIA's own library";
    fake_ = &find();
    *fake_ = Fake();
    stream_ = driver_.new_stream();
  }

  // Memory of the GPU, which the host can access, as the GPU is a fake one, too.
  template <typename T>
  T* new_buffer(size_t bytes) {
    auto* host = driver_.allocator().allocate(bytes);
    return static_cast<T*>(driver_.device_memory()->counterpart(host));
  }

  Fake* fake_ = nullptr;
  Driver& driver_ = fake_gpu(0);
  std::unique_ptr<Stream> stream_;

 private:
  const char* const library_;
  const char* const function_;
};

}  // namespace metal::test
