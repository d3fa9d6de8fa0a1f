// Scratch memory for tasks of a stream.
#include "mlx/backend/host/working_memory.h"

#include <algorithm>
#include <atomic>

#include "mlx/backend/common/utils.h"
#include "mlx/backend/host/encoder.h"
#include "mlx/backend/host/parallel.h"

namespace mlx::core::cpu {

namespace {

constexpr size_t kPage = 4096;

}  // namespace

size_t whole_pages(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

char* working_memory(size_t bytes, Stream s) {
  const auto pages = static_cast<ShapeElem>(whole_pages(bytes) / kPage);
  array memory(Shape{std::max(pages, 1), kPage}, uint8, nullptr, {});
  allocate_output(memory);
  get_command_encoder(s).add_temporary(memory);
  return memory.data<char>();
}

ThreadsWithScratch::ThreadsWithScratch(size_t threads, size_t bytes_for_each, Stream s)
    : threads_(threads),
      bytes_(whole_pages(bytes_for_each)),
      scratch_(bytes_ > 0 ? working_memory(threads * bytes_, s) : nullptr) {}

ThreadsWithScratch::ThreadsWithScratch(size_t threads, size_t bytes_for_each, char* memory)
    : threads_(threads), bytes_(whole_pages(bytes_for_each)), scratch_(memory) {}

void ThreadsWithScratch::for_each(size_t count,
                                  const std::function<void(size_t, char*)>& body) const {
  std::atomic<size_t> next{0};
  parallel_for(threads_, 1, [&](size_t first, size_t last) {
    for (size_t thread = first; thread < last; ++thread) {
      for (size_t i; (i = next.fetch_add(1)) < count;) body(i, scratch_ + thread * bytes_);
    }
  });
}

}  // namespace mlx::core::cpu
