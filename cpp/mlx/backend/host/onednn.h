// oneDNN, on our own threads.
#pragma once

#include <dnnl.hpp>
#include <unordered_map>

#include "mlx/dtype.h"

namespace mlx::core::cpu {

// The CPU.
const dnnl::engine& onednn_engine();

// float32 or bfloat16.
dnnl::memory::data_type onednn_type(Dtype dtype);

// Whether this CPU has instructions that multiply numbers of the type.
bool multiplies_natively(Dtype dtype);

// Until the end of the scope oneDNN works on the calling thread alone. Its own threads would come
// to ours, one set for each of them, and a child of fork() would wait for them forever.
class OnThisThread {
 public:
  OnThisThread();
  ~OnThisThread();
  OnThisThread(const OnThisThread&) = delete;
  OnThisThread& operator=(const OnThisThread&) = delete;

 private:
  int threads_;
};

using OnednnArguments = std::unordered_map<int, dnnl::memory>;

// Has run when it returns.
void execute(const dnnl::primitive& primitive, const OnednnArguments& arguments);

// The bytes at `data`, as they are described. oneDNN takes what it only reads as writable, too.
dnnl::memory onednn_memory(const dnnl::memory::desc& description, const void* data);

// What primitives are created with: the caller gives them the memory that they work in.
dnnl::primitive_attr with_scratch_of_caller();

}  // namespace mlx::core::cpu
