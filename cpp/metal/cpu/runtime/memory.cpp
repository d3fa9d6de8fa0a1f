// Device memory: one reserved address range with readable and writable margins, and the heap in it.
#include "metal/cpu/runtime/memory.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "metal/cpu/runtime/system.h"

namespace metal::cpu {
namespace {

constexpr uint64_t kLargestRange = uint64_t{1} << 40;
constexpr uint64_t kSmallestRange = uint64_t{1} << 30;
constexpr uint64_t kCommitStep = uint64_t{64} << 20;
constexpr uint64_t kRunPages = 16;
constexpr uint64_t kLargestSmall = 32768;

void* reserve(uint64_t bytes, int protection) {
  void* memory =
      mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

// Size classes: multiples of 64 bytes up to 256, then four classes for each doubling.
constexpr uint32_t class_of(uint64_t bytes) {
  if (bytes <= 256) return bytes == 0 ? 0 : static_cast<uint32_t>((bytes - 1) / 64);
  uint32_t doubling = static_cast<uint32_t>(std::bit_width(bytes - 1)) - 9;  // 0: (256, 512]
  uint64_t step = uint64_t{64} << doubling;
  return 4 + doubling * 4 + static_cast<uint32_t>((bytes - 1 - (uint64_t{256} << doubling)) / step);
}

constexpr uint64_t class_size(uint32_t size_class) {
  if (size_class < 4) return (size_class + 1) * uint64_t{64};
  uint32_t doubling = (size_class - 4) / 4;
  return (uint64_t{256} + (size_class % 4 + 1) * uint64_t{64}) << doubling;
}

constexpr uint32_t kClasses = class_of(kLargestSmall) + 1;
static_assert(class_size(class_of(257)) == 320 && class_size(class_of(512)) == 512);
static_assert(class_size(kClasses - 1) == kLargestSmall);

}  // namespace

ReservedRange::ReservedRange(Commit commit) : on_commit_(std::move(commit)) {
  for (size_ = kLargestRange; size_ >= kSmallestRange; size_ /= 2) {
    // As much again must be left: where a process may not have many addresses, others need some,
    // too.
    base_ = static_cast<char*>(reserve(2 * size_, PROT_NONE));
    if (!base_) continue;
    munmap(base_ + size_, size_);
    return;
  }
  throw std::runtime_error(
      "[metal] no address range of 1 GiB or more can be reserved for device memory");
}

ReservedRange::~ReservedRange() { munmap(base_, size_); }

bool ReservedRange::commit(uint64_t bytes) {
  if (bytes <= committed_) return true;
  uint64_t target = round_up(bytes, kCommitStep);
  if (target > size_) return false;
  char* start = base_ + committed_;
  if (mprotect(start, target - committed_, PROT_READ | PROT_WRITE) != 0) return false;
  madvise(start, target - committed_, MADV_HUGEPAGE);
  if (on_commit_ && !on_commit_(start, target - committed_)) return false;
  committed_ = target;
  return true;
}

Heap& Heap::instance() {
  static Heap& heap = []() -> Heap& {
    pthread_atfork([] { instance().lock(); }, [] { instance().unlock(); },
                   [] { instance().unlock(); });
    return *new Heap;  // never destroyed, as threads may free memory until they end
  }();
  return heap;
}

Heap::Heap() : Heap({}, physical_memory()) {}

Heap::Heap(const Commit& commit, uint64_t memory_size)
    : range_(commit),
      keeps_memory_(commit != nullptr),
      classes_(kClasses),
      memory_size_(memory_size),
      memory_limit_(memory_size) {
  page_count_ = range_.size() / kPage;
  pages_ = static_cast<Page*>(reserve(page_count_ * sizeof(Page), PROT_READ | PROT_WRITE));
  if (!pages_) throw std::runtime_error("[metal] no memory for the tables of device memory");
  end_page_ = kMargin / kPage;
  cache_limit_ = memory_size_ / 4;
}

Heap::~Heap() { munmap(pages_, page_count_ * sizeof(Page)); }

void* Heap::allocate(size_t bytes) {
  std::lock_guard lock(mutex_);
  if (bytes > memory_size_ || statistics_.active + bytes > memory_size_) return nullptr;
  void* memory = bytes <= kLargestSmall ? allocate_small(class_of(bytes))
                                        : allocate_span((bytes + kPage - 1) / kPage);
  keep_limits();
  return memory;
}

void* Heap::allocate_small(uint32_t size_class) {
  Class& blocks = classes_[size_class];
  uint64_t size = class_size(size_class);
  char* block;
  if (!blocks.free.empty()) {
    block = blocks.free.back();
    blocks.free.pop_back();
  } else {
    if (static_cast<uint64_t>(blocks.end - blocks.next) < size && !start_run(size_class)) {
      return nullptr;
    }
    block = blocks.next;
  }
  Page& run = run_of(block);
  if (run.count++ == 0) statistics_.cache -= used_of_run(run);
  if (block == blocks.next) blocks.next += size;
  add_active(size);
  return block;
}

// The bytes of a run's blocks that have been in use.
uint64_t Heap::used_of_run(const Page& run) const {
  const Class& blocks = classes_[run.size_class];
  const auto first = static_cast<uint64_t>(&run - pages_);
  if (blocks.end == address(first + kRunPages))
    return static_cast<uint64_t>(blocks.next - address(first));
  const uint64_t size = class_size(run.size_class);
  return kRunPages * kPage / size * size;
}

bool Heap::start_run(uint32_t size_class) {
  uint64_t first;
  if (!take_span(kRunPages, &first)) return false;
  for (uint64_t i = 0; i < kRunPages; ++i) {
    pages_[first + i] = {PageKind::Run, static_cast<uint8_t>(size_class), static_cast<uint8_t>(i),
                         0};
  }
  Class& blocks = classes_[size_class];
  blocks.next = address(first);
  blocks.end = address(first + kRunPages);
  blocks.runs.push_back(first);
  return true;
}

void* Heap::allocate_span(uint64_t pages) {
  uint64_t first;
  if (!start_span(pages, &first)) return nullptr;
  add_active(pages * kPage);
  return address(first);
}

void* Heap::allocate_uncounted(size_t bytes) {
  std::lock_guard lock(mutex_);
  uint64_t first;
  return start_span((bytes + kPage - 1) / kPage, &first) ? address(first) : nullptr;
}

void Heap::deallocate_uncounted(void* memory) {
  if (!memory) return;
  std::lock_guard lock(mutex_);
  end_span(page_of(memory));
  keep_limits();
}

bool Heap::start_span(uint64_t pages, uint64_t* first) {
  if (pages > UINT32_MAX || !take_span(pages, first)) return false;
  pages_[*first] = {PageKind::Span, 0, 0, static_cast<uint32_t>(pages)};
  return true;
}

// Returns how many pages it had.
uint64_t Heap::end_span(uint64_t first) {
  const uint64_t pages = pages_[first].count;
  pages_[first].kind = PageKind::None;
  free_span(first, {pages, pages});
  return pages;
}

// Takes the best fit among the free spans, or else fresh pages at the end.
bool Heap::take_span(uint64_t pages, uint64_t* first) {
  auto fit = by_size_.lower_bound({pages, 0});
  if (fit == by_size_.end()) {
    uint64_t end = end_page_ + pages;
    if (end > page_count_ || !range_.commit(end * kPage + kMargin)) return false;
    *first = std::exchange(end_page_, end);
    return true;
  }
  *first = fit->second;
  FreeSpan span = remove_free(*first);
  if (span.pages > pages) {
    uint64_t used = std::min(span.dirty, pages);
    insert_free(*first + pages, {span.pages - pages, span.dirty - used});
  }
  return true;
}

void Heap::deallocate(void* memory) {
  if (!memory) return;
  std::lock_guard lock(mutex_);
  uint64_t page = page_of(memory);
  if (pages_[page].kind == PageKind::Run) {
    Class& blocks = classes_[pages_[page].size_class];
    uint64_t size = class_size(pages_[page].size_class);
    blocks.free.push_back(static_cast<char*>(memory));
    statistics_.active -= size;
    Page& run = run_of(memory);
    if (--run.count == 0) {
      statistics_.cache += used_of_run(run);
    }
    keep_limits();
    return;
  }
  if (pages_[page].kind != PageKind::Span) {
    throw std::logic_error("[Heap::deallocate] not an address of this heap");
  }
  statistics_.active -= end_span(page) * kPage;
  keep_limits();
}

// Keeps no memory for reuse beyond the limits.
void Heap::keep_limits() {
  if (statistics_.cache > cache_limit_) shrink_cache(cache_limit_ / 2);
  over_limit_.store(statistics_.active > memory_limit_, std::memory_order_relaxed);
  if (statistics_.active + statistics_.cache <= memory_limit_) return;
  release_dirty(memory_limit_ - std::min(memory_limit_, statistics_.active));
}

// Merges the span with its free neighbours.
void Heap::free_span(uint64_t first, FreeSpan span) {
  auto after = free_.find(first + span.pages);
  if (after != free_.end()) {
    FreeSpan joined = remove_free(after->first);
    span = {span.pages + joined.pages, span.dirty + joined.dirty};
  }
  auto before = free_.lower_bound(first);
  if (before != free_.begin()) {
    --before;
    if (before->first + before->second.pages == first) {
      first = before->first;
      FreeSpan joined = remove_free(first);
      span = {span.pages + joined.pages, span.dirty + joined.dirty};
    }
  }
  insert_free(first, span);
}

void Heap::insert_free(uint64_t first, FreeSpan span) {
  free_.emplace(first, span);
  by_size_.emplace(span.pages, first);
  if (span.dirty) dirty_.insert(first);
  statistics_.cache += span.dirty * kPage;
}

Heap::FreeSpan Heap::remove_free(uint64_t first) {
  auto found = free_.find(first);
  FreeSpan span = found->second;
  free_.erase(found);
  by_size_.erase({span.pages, first});
  dirty_.erase(first);
  statistics_.cache -= span.dirty * kPage;
  return span;
}

// Gives free spans' memory back to the system until the cache is no larger than `limit`.
void Heap::release_dirty(uint64_t limit) {
  while (!keeps_memory_ && statistics_.cache > limit && !dirty_.empty()) {
    uint64_t first = *dirty_.begin();
    FreeSpan span = remove_free(first);
    madvise(address(first), span.pages * kPage, MADV_DONTNEED);
    insert_free(first, {span.pages, 0});
  }
}

void Heap::shrink_cache(uint64_t limit) {
  if (keeps_memory_) return;
  for (uint32_t i = 0; i < kClasses; ++i) release_empty_runs(i);
  release_dirty(limit);
}

void Heap::release_empty_runs(uint32_t size_class) {
  Class& blocks = classes_[size_class];
  uint64_t size = class_size(size_class);
  size_t freed = std::erase_if(blocks.free, [&](char* block) { return run_of(block).count == 0; });
  statistics_.cache -= freed * size;
  if (blocks.next && run_of(blocks.end - 1).count == 0) blocks.next = blocks.end = nullptr;
  std::vector<uint64_t> empty;
  std::erase_if(blocks.runs, [&](uint64_t first) {
    if (pages_[first].count != 0) return false;
    empty.push_back(first);
    return true;
  });
  for (uint64_t first : empty) {
    std::fill_n(&pages_[first], kRunPages, Page{});
    free_span(first, {kRunPages, kRunPages});
  }
}

size_t Heap::allocated_size(const void* memory) const {
  std::lock_guard lock(mutex_);
  const Page& page = pages_[page_of(memory)];
  return page.kind == PageKind::Run ? class_size(page.size_class) : page.count * kPage;
}

MemoryStatistics Heap::statistics() const {
  std::lock_guard lock(mutex_);
  return statistics_;
}

void Heap::reset_peak() {
  std::lock_guard lock(mutex_);
  statistics_.peak = 0;  // until the next allocation
}

void Heap::clear_cache() {
  std::lock_guard lock(mutex_);
  for (uint32_t i = 0; i < kClasses; ++i) release_empty_runs(i);
  release_dirty(0);
}

uint64_t Heap::set_memory_limit(uint64_t bytes) {
  std::lock_guard lock(mutex_);
  const uint64_t before = std::exchange(memory_limit_, bytes);
  keep_limits();
  return before;
}

uint64_t Heap::set_cache_limit(uint64_t bytes) {
  std::lock_guard lock(mutex_);
  uint64_t before = std::exchange(cache_limit_, bytes);
  if (statistics_.cache > bytes) shrink_cache(bytes);
  return before;
}

uint64_t Heap::memory_limit() const {
  std::lock_guard lock(mutex_);
  return memory_limit_;
}

void Heap::add_active(uint64_t bytes) {
  statistics_.active += bytes;
  statistics_.peak = std::max(statistics_.peak, statistics_.active);
}

uint64_t Heap::page_of(const void* memory) const {
  auto offset = static_cast<uint64_t>(static_cast<const char*>(memory) - range_.base());
  if (offset >= range_.size()) throw std::logic_error("[Heap] not an address of this heap");
  return offset / kPage;
}

Heap::Page& Heap::run_of(const void* block) const {
  uint64_t page = page_of(block);
  return pages_[page - pages_[page].run_offset];
}

}  // namespace metal::cpu
