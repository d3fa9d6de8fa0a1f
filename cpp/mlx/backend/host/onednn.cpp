// Runs oneDNN on our own threads.
#include "mlx/backend/host/onednn.h"

#include "mlx/errors.h"

// Declared here, because the compiler's own OpenMP runtime may be another than oneDNN's.
extern "C" {
int omp_get_max_threads(void);
void omp_set_num_threads(int count);
}

namespace mlx::core::cpu {

const dnnl::engine& onednn_engine() {
  // Never destroyed: threads may use it until the process ends.
  static const auto* engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

dnnl::memory::data_type onednn_type(Dtype dtype) {
  switch (dtype.val()) {
    case Dtype::Val::float32:
      return dnnl::memory::data_type::f32;
    case Dtype::Val::bfloat16:
      return dnnl::memory::data_type::bf16;
    default:
      internal_error("onednn_type", "a type that it is not used for");
  }
}

bool multiplies_natively(Dtype dtype) {
  static const bool bfloat16s = [] {
    const auto needed = static_cast<int>(dnnl::cpu_isa::avx512_core_bf16);
    return (static_cast<int>(dnnl::get_effective_cpu_isa()) & needed) == needed;
  }();
  return dtype == float32 || (dtype == bfloat16 && bfloat16s);
}

OnThisThread::OnThisThread() : threads_(omp_get_max_threads()) { omp_set_num_threads(1); }

OnThisThread::~OnThisThread() { omp_set_num_threads(threads_); }

void execute(const dnnl::primitive& primitive, const OnednnArguments& arguments) {
  const OnThisThread alone;
  dnnl::stream stream(onednn_engine());
  primitive.execute(stream, arguments);
  stream.wait();
}

dnnl::memory onednn_memory(const dnnl::memory::desc& description, const void* data) {
  return {description, onednn_engine(), const_cast<void*>(data)};
}

dnnl::primitive_attr with_scratch_of_caller() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

}  // namespace mlx::core::cpu
