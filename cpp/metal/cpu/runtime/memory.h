// Device memory: one reserved address range with readable and writable margins, and the heap in it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "metal/driver.h"

namespace metal::cpu {

// Called with memory that the heap takes from the system, and then never gives back. False if a
// device cannot use it.
using Commit = std::function<bool(char* start, uint64_t bytes)>;

// The addresses [base, limit), of which [base, committed) can be read and written.
class ReservedRange {
 public:
  explicit ReservedRange(Commit commit = {});
  ~ReservedRange();
  ReservedRange(const ReservedRange&) = delete;
  ReservedRange& operator=(const ReservedRange&) = delete;

  char* base() const { return base_; }
  uint64_t size() const { return size_; }
  bool commit(uint64_t bytes);  // makes at least the first `bytes` usable; false: no memory
  uint64_t committed() const { return committed_; }

 private:
  char* base_ = nullptr;
  uint64_t size_ = 0;
  uint64_t committed_ = 0;
  Commit on_commit_;
};

// A heap. Small blocks come from runs of one size class, others are spans of whole pages. The heap
// stores nothing that it relies on in the memory that it hands out, as kernels may write anywhere
// in it.
class Heap : public Allocator {
 public:
  static constexpr uint64_t kPage = 16384;
  static constexpr uint64_t kMargin = uint64_t{64}
                                      << 20;  // accessible on both sides of every block
  static constexpr uint64_t kAlignment = 64;

  static Heap& instance();
  Heap();
  // For a device that has `memory_size` bytes.
  Heap(const Commit& commit, uint64_t memory_size);
  ~Heap() override;

  void* allocate(size_t bytes) override;
  void deallocate(void* memory) override;
  size_t allocated_size(const void* memory) const override;
  // Memory for what devices need themselves. The statistics do not count it.
  void* allocate_uncounted(size_t bytes);
  void deallocate_uncounted(void* memory);

  MemoryStatistics statistics() const override;
  void reset_peak() override;
  void clear_cache() override;
  uint64_t set_memory_limit(uint64_t bytes) override;
  uint64_t set_cache_limit(uint64_t bytes) override;
  uint64_t memory_limit() const override;
  bool over_limit() const override { return over_limit_.load(std::memory_order_relaxed); }

  // All blocks lie in these addresses.
  char* base() const { return range_.base(); }
  uint64_t range_size() const { return range_.size(); }

  // For fork(): without them the child could find the lock taken by a thread that it does not have.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  enum class PageKind : uint8_t { None, Span, Run };
  // There is one entry for each page of the range.
  struct Page {
    PageKind kind;       // Span: only on a used span's first page
    uint8_t size_class;  // of a run
    uint8_t run_offset;  // pages from the run's first page to this one
    uint32_t count;      // first page only: a span's pages, or a run's blocks in use
  };
  struct FreeSpan {
    uint64_t pages;
    uint64_t dirty;  // pages that are backed by memory
  };
  struct Class {
    std::vector<char*> free;
    char* next = nullptr;  // [next, end) has never been used
    char* end = nullptr;
    std::vector<uint64_t> runs;  // first pages
  };

  void* allocate_small(uint32_t size_class);
  void* allocate_span(uint64_t pages);
  bool start_run(uint32_t size_class);
  bool take_span(uint64_t pages, uint64_t* first);
  bool start_span(uint64_t pages, uint64_t* first);
  uint64_t end_span(uint64_t first);
  void free_span(uint64_t first, FreeSpan span);
  void insert_free(uint64_t first, FreeSpan span);
  FreeSpan remove_free(uint64_t first);
  void release_dirty(uint64_t limit);
  void release_empty_runs(uint32_t size_class);
  void shrink_cache(uint64_t limit);
  uint64_t used_of_run(const Page& run) const;
  void add_active(uint64_t bytes);
  void keep_limits();
  Page& run_of(const void* block) const;
  uint64_t page_of(const void* memory) const;
  char* address(uint64_t page) const { return range_.base() + page * kPage; }

  mutable std::mutex mutex_;
  ReservedRange range_;
  const bool keeps_memory_;  // it is never given back to the system
  Page* pages_ = nullptr;
  uint64_t page_count_ = 0;
  uint64_t end_page_ = 0;                            // spans and runs end before it
  std::map<uint64_t, FreeSpan> free_;                // by first page
  std::set<std::pair<uint64_t, uint64_t>> by_size_;  // (pages, first page)
  std::set<uint64_t> dirty_;                         // first pages of free spans with dirty pages
  std::vector<Class> classes_;
  MemoryStatistics statistics_;
  uint64_t memory_size_ = 0;   // of the device
  uint64_t memory_limit_ = 0;  // a soft limit
  std::atomic<bool> over_limit_{false};
  uint64_t cache_limit_ = 0;
};

}  // namespace metal::cpu
