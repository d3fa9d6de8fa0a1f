#include "metal/cpu/runtime/code_image.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "metal/cpu/runtime/load_error.h"
#include "metal/cpu/runtime/object_file.h"
#include "metal/cpu/runtime/relocations.h"
#include "metal/cpu/runtime/system.h"

namespace metal::cpu {
namespace {

constexpr uint64_t kNone = UINT64_MAX;
constexpr uint64_t kSlotBytes = 8;

// Pages with one protection.
struct Segment {
  int protection = PROT_READ;
  uint64_t begin = 0;  // in the image
  uint64_t end = 0;
};

int protection_of(const ObjectSection& section) {
  if (section.header.sh_flags & SHF_EXECINSTR) return PROT_READ | PROT_EXEC;
  return section.header.sh_flags & SHF_WRITE ? PROT_READ | PROT_WRITE : PROT_READ;
}

// Where everything is, in bytes from the start of the image. Code is followed by stubs, as what it
// calls may be further away than a call reaches, and constants by slots with addresses.
class Layout {
 public:
  explicit Layout(const ObjectFile& file)
      : sections(file.sections.size(), kNone),
        stubs(file.symbols.size(), kNone),
        slots(file.symbols.size(), kNone) {
    begin_segment(PROT_READ | PROT_EXEC);
    place_sections(file);
    place_for_each(file, Reference::Call, stubs, kStubBytes);
    begin_segment(PROT_READ);
    place_sections(file);
    place_for_each(file, Reference::Slot, slots, kSlotBytes);
    begin_segment(PROT_READ | PROT_WRITE);
    place_sections(file);
  }

  uint64_t bytes() const { return segments.back().end; }

  std::vector<uint64_t> sections;  // kNone for those that are not in memory
  std::vector<uint64_t> stubs;     // of each symbol; kNone for those without
  std::vector<uint64_t> slots;     // likewise
  std::vector<Segment> segments;

 private:
  void begin_segment(int protection) {
    const uint64_t begin = segments.empty() ? 0 : round_up(bytes(), page_size());
    segments.push_back({protection, begin, begin});
  }

  uint64_t place(uint64_t bytes, uint64_t alignment) {
    uint64_t& end = segments.back().end;
    const uint64_t begin = round_up(end, std::max<uint64_t>(alignment, 1));
    end = begin + bytes;
    return begin;
  }

  void place_sections(const ObjectFile& file) {
    for (size_t i = 0; i < sections.size(); ++i) {
      const ObjectSection& section = file.sections[i];
      if (is_loaded(section) && protection_of(section) == segments.back().protection)
        sections[i] = place(section.header.sh_size, section.header.sh_addralign);
    }
  }

  // For the symbols that a relocation refers to in this way. Calls reach what is in the same image.
  void place_for_each(const ObjectFile& file, Reference kind, std::vector<uint64_t>& places,
                      uint64_t bytes) {
    for (const Relocation& relocation : file.relocations) {
      if (host::reference_of(relocation.type) != kind) continue;
      const bool defined = file.symbols.at(relocation.symbol).section != SHN_UNDEF;
      if (kind == Reference::Call && defined) continue;
      uint64_t& symbol = places.at(relocation.symbol);
      if (symbol == kNone) symbol = place(bytes, bytes);
    }
  }
};

// Loads an object file into memory that is mapped for it.
class Loader {
 public:
  Loader(const ObjectFile& file, const Layout& layout, char* memory)
      : file_(file), layout_(layout), memory_(memory) {}

  void copy_sections() {
    for (size_t i = 0; i < file_.sections.size(); ++i) {
      const std::string_view contents = file_.sections[i].contents;
      if (layout_.sections[i] != kNone && !contents.empty())
        std::memcpy(memory_ + layout_.sections[i], contents.data(), contents.size());
    }
  }

  void find_symbols(const CodeImage::FindSymbol& find_symbol) {
    addresses_.resize(file_.symbols.size());
    for (const Relocation& relocation : file_.relocations) {
      uint64_t& address = addresses_.at(relocation.symbol);
      const ObjectSymbol& symbol = file_.symbols[relocation.symbol];
      if (!address) address = reinterpret_cast<uint64_t>(address_of(symbol, find_symbol));
    }
    for (size_t i = 0; i < addresses_.size(); ++i) {
      if (layout_.stubs[i] != kNone) host::write_stub(memory_ + layout_.stubs[i], addresses_[i]);
      if (layout_.slots[i] != kNone)
        std::memcpy(memory_ + layout_.slots[i], &addresses_[i], kSlotBytes);
    }
  }

  void relocate() {
    for (const Relocation& relocation : file_.relocations) {
      const uint64_t size = file_.sections[relocation.section].header.sh_size;
      if (size < sizeof(uint64_t) / 2 || relocation.offset > size - sizeof(uint64_t) / 2)
        refuse_code("a relocation is outside of its section");
      host::relocate(relocation.type,
                     memory_ + layout_.sections[relocation.section] + relocation.offset,
                     referred(relocation) + static_cast<uint64_t>(relocation.addend));
    }
  }

  void protect() {
    for (const Segment& segment : layout_.segments) {
      char* const begin = memory_ + segment.begin;
      const uint64_t bytes = segment.end - segment.begin;
      if (bytes == 0) continue;
      if (segment.protection & PROT_EXEC) __builtin___clear_cache(begin, begin + bytes);
      if (mprotect(begin, bytes, segment.protection) != 0) refuse_code("mprotect failed");
    }
  }

  void* defined(std::string_view name) const {
    for (const ObjectSymbol& symbol : file_.symbols) {
      if (symbol.name == name && is_defined(symbol)) return place_of(symbol);
    }
    refuse_code("it does not define " + std::string(name));
  }

 private:
  bool is_defined(const ObjectSymbol& symbol) const {
    return symbol.section != SHN_UNDEF && symbol.section < layout_.sections.size() &&
           layout_.sections[symbol.section] != kNone;
  }

  void* place_of(const ObjectSymbol& symbol) const {
    return memory_ + layout_.sections[symbol.section] + symbol.value;
  }

  // Null for those of sections that are not in memory.
  const void* address_of(const ObjectSymbol& symbol, const CodeImage::FindSymbol& find_symbol) {
    if (is_defined(symbol)) return place_of(symbol);
    if (symbol.section != SHN_UNDEF || symbol.name.empty()) return nullptr;
    if (const void* address = find_symbol(symbol.name)) return address;
    refuse_code("it needs the unknown symbol " + std::string(symbol.name));
  }

  uint64_t referred(const Relocation& relocation) const {
    const uint64_t memory = reinterpret_cast<uint64_t>(memory_);
    const Reference kind = host::reference_of(relocation.type);
    if (kind == Reference::Slot) return memory + layout_.slots[relocation.symbol];
    if (kind == Reference::Call && layout_.stubs[relocation.symbol] != kNone)
      return memory + layout_.stubs[relocation.symbol];
    const uint64_t address = addresses_.at(relocation.symbol);
    if (address == 0) refuse_code("it refers to a symbol that is not in memory");
    return address;
  }

  const ObjectFile& file_;
  const Layout& layout_;
  char* memory_;
  std::vector<uint64_t> addresses_;  // of each symbol that a relocation refers to; otherwise 0
};

}  // namespace

CodeImage::CodeImage(std::string_view object, std::string_view entry,
                     const FindSymbol& find_symbol) {
  const ObjectFile file(object);
  const Layout layout(file);
  bytes_ = layout.bytes();
  void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) refuse_code("there is no memory for it");
  memory_ = static_cast<char*>(memory);
  try {
    Loader loader(file, layout, memory_);
    loader.copy_sections();
    loader.find_symbols(find_symbol);
    loader.relocate();
    loader.protect();
    entry_ = loader.defined(entry);
  } catch (...) {
    munmap(memory_, bytes_);
    throw;
  }
}

CodeImage::~CodeImage() { munmap(memory_, bytes_); }

}  // namespace metal::cpu
