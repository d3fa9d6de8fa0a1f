// oneDNN, called from our own threads.
#pragma once

#include <dnnl.hpp>
#include <unordered_map>

#include "mlx/dtype.h"

namespace mlx::core::cpu {

// The engine of the CPU.
const dnnl::engine& onednn_engine();

// oneDNN's type for float32 or bfloat16.
dnnl::memory::data_type onednn_type(Dtype dtype);

// Whether this CPU has instructions that multiply elements of the type.
bool multiplies_natively(Dtype dtype);

// Until the end of the scope oneDNN works on the calling thread alone. Otherwise it would start a
// set of threads for each of ours, and a child of fork() would wait for them forever.
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

// Blocks until the primitive has run.
void execute(const dnnl::primitive& primitive, const OnednnArguments& arguments);

// The bytes at `data` with the given description. oneDNN takes even what it only reads as writable.
dnnl::memory onednn_memory(const dnnl::memory::desc& description, const void* data);

// Attributes for creating primitives: the caller provides the scratch memory.
dnnl::primitive_attr with_scratch_of_caller();

}  // namespace mlx::core::cpu
