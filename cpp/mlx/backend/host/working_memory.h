// Scratch memory for tasks of a stream.
#pragma once

#include <cstddef>
#include <functional>

#include "mlx/stream.h"

namespace mlx::core::cpu {

// Rounds up to pages: parts of the memory that lie this far apart share no cache line.
size_t whole_pages(size_t bytes);

// Memory that lives until the stream has used it.
char* working_memory(size_t bytes, Stream s);

// Threads that each take the next of a number of tasks until none is left, and have scratch memory
// of their own.
class ThreadsWithScratch {
 public:
  // With memory that lives until the stream has used it: construct it before the work is scheduled.
  ThreadsWithScratch(size_t threads, size_t bytes_for_each, Stream s);
  // With the caller's memory: whole pages for each thread.
  ThreadsWithScratch(size_t threads, size_t bytes_for_each, char* memory);
  // Calls body(i, scratch) for each i below count, and returns when all have ended.
  void for_each(size_t count, const std::function<void(size_t, char*)>& body) const;

 private:
  size_t threads_, bytes_;
  char* scratch_;
};

}  // namespace mlx::core::cpu
