// Scaled dot-product attention: with a library, or a threadgroup for each block of queries of a
// head.
#include "mlx/primitives/attention.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <numbers>
#include <string>
#include <vector>

#include "metal/attention.h"
#include "metal/driver.h"
#include "mlx/backend/common/copy.h"
#include "mlx/backend/metal/kernels/attention_params.h"
#include "mlx/backend/metal/ops/launch.h"
#include "mlx/backend/metal/ops/library.h"
#include "mlx/bounded_cache.h"

namespace mlx::core {

namespace {

// Below this number, most rows of a block would be empty.
constexpr int kFewQueries = 16;

constexpr int64_t kVector = 8;  // elements that the kernel reads at once

// Whether all rows begin at multiples of a vector, and those of a head are within 31 bits.
bool is_readable(const array& x) {
  const auto is_multiple = [](int64_t step) { return step % kVector == 0; };
  const int64_t step = x.strides(2) / kVector;
  return x.strides(-1) == 1 && is_multiple(x.offset() / int64_t(x.itemsize())) &&
         std::all_of(x.strides().begin(), x.strides().end() - 1, is_multiple) && step >= 0 &&
         step * x.shape(2) <= INT32_MAX;
}

// ---- with a library ----

::metal::Attention::Steps steps_of(const array& x) {
  return {x.strides(0), x.strides(1), x.strides(2)};
}

std::vector<int64_t> numbers_of(const ::metal::Attention& a) {
  std::vector<int64_t> numbers{
      static_cast<int64_t>(a.type),    a.batches, a.heads, a.sharing, a.queries, a.keys, a.depth,
      std::bit_cast<int32_t>(a.scale), a.causal};
  for (const auto& steps : {a.query_steps, a.key_steps, a.value_steps, a.output_steps})
    numbers.insert(numbers.end(), {steps.batch, steps.head, steps.position});
  return numbers;
}

// A library takes 50 ms to plan each kind of attention, and up to a second for some of them. So it
// plans where a call has at least kLargeWork multiplications, which are about 0.5 ms of our kernel,
// and once calls of the same kind had kOftenWork.
constexpr double kLargeWork = 0x1p36, kOftenWork = 0x1p42;

// Counts the call.
bool is_worth_a_plan(const ::metal::Attention& a, const std::vector<int64_t>& numbers) {
  constexpr size_t kMaxKinds = 1024;
  static std::mutex mutex;
  static auto& work = *new BoundedCache<std::string, double>(kMaxKinds);
  const double added = 2.0 * static_cast<double>(a.batches * a.heads) *
                       static_cast<double>(a.queries) * static_cast<double>(a.keys) *
                       static_cast<double>(a.depth);
  if (added >= kLargeWork) return true;
  const std::lock_guard lock(mutex);
  double& sum = work.get(plan_key(numbers), [] { return 0.0; });
  sum += added;
  return sum >= kOftenWork;
}

// Returns false, and has done nothing, if no library computes this.
bool attend_with_library(const ::metal::Attention& a, const std::vector<array>& operands,
                         const array& out, Stream s) {
  const std::vector<int64_t> numbers = numbers_of(a);
  if (!is_worth_a_plan(a, numbers)) return false;
  const auto plan = library_plan<::metal::AttentionPlan>(a, numbers, s);
  if (!plan) return false;
  auto& encoder = metal::get_command_encoder(s);
  std::vector<MTL::LibraryBuffer> buffers;
  for (const array& x : operands) buffers.push_back(encoder.library_input(x));
  buffers.push_back(encoder.library_output(out));
  buffers.push_back(library_workspace(plan->workspace_bytes(), s));
  auto start = [plan](void* queue, void* const* addresses) { plan->start(queue, addresses); };
  encoder.add_library_call({"attention", std::move(start)}, buffers);
  return true;
}

// ---- with a kernel ----

uint32_t set_steps(const array& x, int64_t (&steps)[2]) {
  for (int i = 0; i < 2; ++i) steps[i] = x.strides(i) / kVector;
  return static_cast<uint32_t>(x.strides(2) / kVector);
}

void attend_with_kernel(const ::metal::Attention& a, const std::vector<array>& operands, array& out,
                        Stream s) {
  static KernelTable table(4 * kDtypes);
  const int form = a.causal * 2 + (a.depth == 128);
  auto* kernel = table.get(form * kDtypes + dtype_index(out.dtype()), [&] {
    return kernel_name(a.causal ? "CausalAttention" : "Attention", type_name(out.dtype()),
                       std::to_string(a.depth));
  });
  AttentionParams params{};
  params.q_step = set_steps(operands[0], params.q_steps);
  params.k_step = set_steps(operands[1], params.k_steps);
  params.v_step = set_steps(operands[2], params.v_steps);
  params.heads = static_cast<uint32_t>(a.heads);
  params.sharing = static_cast<uint32_t>(a.sharing);
  params.queries = static_cast<uint32_t>(a.queries);
  params.keys = static_cast<uint32_t>(a.keys);
  params.scale = a.scale * std::numbers::log2e_v<float>;
  auto& encoder = metal::get_command_encoder(s);
  encoder.set_compute_pipeline_state(kernel);
  for (int i = 0; i < 3; ++i) encoder.set_input_array(operands[i], i);
  encoder.set_output_array(out, 3);
  encoder.set_bytes(params, 4);
  const auto dispatch = [&](size_t queries, size_t threads) {
    const size_t blocks = (params.queries + queries - 1) / queries;
    encoder.dispatch_threadgroups(MTL::Size(blocks, params.heads, size_t(a.batches)),
                                  MTL::Size(threads, 1, 1));
  };
  using Of64 = AttentionTiles<64>;
  using Of128 = AttentionTiles<128>;
  a.depth == 64 ? dispatch(Of64::kBlockQueries, Of64::kThreads)
                : dispatch(Of128::kBlockQueries, Of128::kThreads);
}

}  // namespace

bool Attention::has_kernel(const std::vector<array>& inputs, bool causal, const Stream& s) {
  return runs_on_gpu(s) && fits(inputs, causal) && inputs[0].shape(2) >= kFewQueries;
}

int Attention::queries_at_once(size_t bytes, const Stream& s) {
  constexpr size_t kLeast = 256;
  constexpr size_t kFewBytes = size_t{64} << 20;  // take a GPU less time than more launches
  constexpr size_t kMost = std::numeric_limits<int>::max();
  const size_t fit = runs_on_gpu(s) ? kFewBytes / std::max<size_t>(bytes, 1) : 0;
  return static_cast<int>(std::clamp(fit, kLeast, kMost));
}

MLX_EVAL(Attention) {
  const Stream s = stream();
  allocate_output(out);
  if (out.size() == 0) return;
  std::vector<array> operands;
  for (const array& x : inputs) operands.push_back(is_readable(x) ? x : contiguous_copy(x, s));
  const ::metal::Attention attention{.type = library_type(out.dtype()),
                                     .batches = out.shape(0),
                                     .heads = out.shape(1),
                                     .sharing = out.shape(1) / inputs[1].shape(1),
                                     .queries = out.shape(2),
                                     .keys = inputs[1].shape(2),
                                     .depth = out.shape(3),
                                     .scale = scale_,
                                     .causal = causal_,
                                     .query_steps = steps_of(operands[0]),
                                     .key_steps = steps_of(operands[1]),
                                     .value_steps = steps_of(operands[2]),
                                     .output_steps = steps_of(out)};
  if (!attend_with_library(attention, operands, out, s))
    attend_with_kernel(attention, operands, out, s);
}

}  // namespace mlx::core
