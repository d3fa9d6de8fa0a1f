#include "metal/cpu/runtime/shadow_buffers.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "metal/cpu/runtime/memory.h"

namespace metal::cpu {
namespace {

// The first byte from `place` on that is not 0; `end` if there is none.
const char* find_set(const char* place, const char* end) {
  while (place < end && reinterpret_cast<uintptr_t>(place) % sizeof(uint64_t) != 0 && !*place)
    ++place;
  uint64_t word;
  while (end - place >= static_cast<int64_t>(sizeof word) && !*place) {
    std::memcpy(&word, place, sizeof word);
    if (word) break;
    place += sizeof word;
  }
  while (place < end && !*place) ++place;
  return std::min(place, end);
}

}  // namespace

ShadowBuffers::ShadowBuffers(const FunctionInfo& kernel, const LaunchParameters& parameters,
                             std::vector<CheckedMemory>& memory) {
  for (const ArgumentInfo& argument : kernel.arguments) {
    if (argument.kind != ArgumentKind::Buffer) continue;
    const CheckedLaunch::Extent& extent = parameters.checked->buffers[argument.index];
    const auto* address = static_cast<const char*>(parameters.buffers[argument.index]);
    if (!address || !extent.bytes) continue;
    if (argument.writable) {
      add(argument, extent, address, memory[argument.index]);
    } else {
      map(extent, address, memory[argument.index]);
    }
  }
}

ShadowBuffers::~ShadowBuffers() {
  for (const Shadow& shadow : shadows_) Heap::instance().deallocate(shadow.block);
  for (const Mapping& mapping : mappings_) munmap(mapping.memory, mapping.bytes);
}

// In the heap, around which vector code may read. Aligned as the buffer is.
void ShadowBuffers::add(const ArgumentInfo& argument, const CheckedLaunch::Extent& extent,
                        const char* address, CheckedMemory& memory) {
  const uint64_t shift = reinterpret_cast<uintptr_t>(extent.begin) % Heap::kAlignment;
  auto* block = static_cast<char*>(Heap::instance().allocate(extent.bytes + shift));
  if (!block) throw std::bad_alloc();
  char* begin = block + shift;
  std::memset(begin, extent.unwritten ? UINT8_MAX : 0, extent.bytes);
  const CheckObject object = {argument.name.c_str(), ObjectKind::Buffer,
                              std::max<uint32_t>(argument.element_size, 1)};
  shadows_.push_back({block, begin, extent.bytes, extent.begin, object});
  memory.undefined = begin + (address - extent.begin);
}

// Pages that nobody writes are zeros which take no memory.
void ShadowBuffers::map(const CheckedLaunch::Extent& extent, const char* address,
                        CheckedMemory& memory) {
  void* pages = mmap(nullptr, extent.bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  mappings_.push_back({pages, extent.bytes});
  memory.undefined = static_cast<char*>(pages) + (address - extent.begin);
}

void ShadowBuffers::note_store(const Finding& finding, const Finding* origin, uint64_t address,
                               uint64_t bytes) {
  const uint64_t element = finding.object->element_bytes;
  Finding stored = finding;
  stored.bytes = element;
  stored.more = " with a value that nobody has given it";
  if (origin) {
    stored.more = " with a value that comes from " + describe_origin(*origin);
    stored.other_site = origin->site;
    stored.note = origin->bytes ? "it is read here" : "it is declared here";
  }
  const std::lock_guard lock(mutex_);
  // Elements count from the begin of the object.
  const uint64_t into = static_cast<uint64_t>(finding.offset) % element;
  for (uint64_t place = 0; place < bytes + into; place += element) {
    stored.offset = finding.offset - static_cast<int64_t>(into) + static_cast<int64_t>(place);
    if (stores_.size() < kMaxStores) stores_.insert_or_assign(address - into + place, stored);
  }
}

bool ShadowBuffers::all_written() const {
  return forgotten_ || std::ranges::all_of(shadows_, [](const Shadow& shadow) {
           const char* end = shadow.begin + shadow.bytes;
           return find_set(shadow.begin, end) == end;
         });
}

void ShadowBuffers::report(Findings& findings) const {
  if (forgotten_) return;
  for (const Shadow& shadow : shadows_) report(shadow, findings);
}

// Elements that got an undefined value one by one, and in one report those that nobody has written.
void ShadowBuffers::report(const Shadow& shadow, Findings& findings) const {
  const uint64_t element = shadow.object.element_bytes;
  const char* const end = shadow.begin + shadow.bytes;
  Finding unwritten{.kind = FindingKind::Uninitialised,
                    .site = &kNoSite,
                    .object = &shadow.object,
                    .access = AccessKind::Write,
                    .size = shadow.bytes,
                    .of_thread = false};
  uint64_t others = 0;
  for (const char* place = find_set(shadow.begin, end); place < end; place = find_set(place, end)) {
    const uint64_t offset = (place - shadow.begin) / element * element;
    place = std::min(shadow.begin + offset + element, end);
    const auto store = stores_.find(reinterpret_cast<uint64_t>(shadow.buffer) + offset);
    if (store != stores_.end()) {
      findings.add(store->second);
    } else if (unwritten.bytes == 0 ||
               static_cast<uint64_t>(unwritten.offset) + unwritten.bytes == offset) {
      if (unwritten.bytes == 0) unwritten.offset = static_cast<int64_t>(offset);
      unwritten.bytes += place - (shadow.begin + offset);
    } else {
      ++others;
    }
  }
  if (unwritten.bytes == 0 || stores_.size() == kMaxStores) return;
  if (others)
    unwritten.more = ", nor " + std::to_string(others) + (others == 1 ? " other" : " others");
  findings.add(unwritten);
}

}  // namespace metal::cpu
