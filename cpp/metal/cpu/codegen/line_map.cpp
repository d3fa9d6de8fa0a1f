#include "metal/cpu/codegen/line_map.h"

#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"

namespace metal::cpu {
namespace {

using llvm::object::ObjectFile;
using llvm::object::SectionedAddress;

// Code that was loaded. Its bytes are only read once a profile asks for lines.
class Code {
 public:
  // Instructions that belong to no line count for the one before them, within so many bytes.
  static constexpr uint64_t kFarthest = 512;

  Code(std::string_view object, std::string_view symbol, uint64_t address)
      : bytes_(object), symbol_(symbol), address_(address) {}

  CodeLine line(uint64_t address) {
    if (!read_) read();
    using Kind = llvm::DILineInfoSpecifier::FileLineInfoKind;
    for (uint64_t before = 0; before < kFarthest; ++before) {
      const std::optional<SectionedAddress> place = place_of(address - before);
      if (!place) break;
      const llvm::DILineInfo info = lines_->getLineInfoForAddress(*place, {Kind::RawValue});
      if (info.Line) return {info.FileName, info.Line};
    }
    return {};
  }

 private:
  void read() {
    read_ = true;
    auto object = ObjectFile::createObjectFile(llvm::MemoryBufferRef(bytes_, "code"));
    if (!object) return llvm::consumeError(object.takeError());
    object_ = std::move(*object);
    for (const llvm::object::SymbolRef& symbol : object_->symbols()) find_entry(symbol);
    lines_ = llvm::DWARFContext::create(*object_);
  }

  void find_entry(const llvm::object::SymbolRef& symbol) {
    auto name = symbol.getName();
    auto offset = symbol.getAddress();
    auto section = symbol.getSection();
    const bool known = name && offset && section;
    if (known && *name == symbol_ && *section != object_->section_end()) {
      section_ = (*section)->getIndex();
      bytes_before_ = *offset - (*section)->getAddress();
      section_begin_ = (*section)->getAddress();
      section_bytes_ = (*section)->getSize();
    }
    if (!name) llvm::consumeError(name.takeError());
    if (!offset) llvm::consumeError(offset.takeError());
    if (!section) llvm::consumeError(section.takeError());
  }

  // Its place in the object file. The section of the entry is in one piece.
  std::optional<SectionedAddress> place_of(uint64_t address) const {
    const uint64_t offset = address - (address_ - bytes_before_);
    if (!lines_ || offset >= section_bytes_) return {};
    return SectionedAddress{section_begin_ + offset, section_};
  }

  std::string bytes_;
  std::string symbol_;
  uint64_t address_;
  bool read_ = false;
  std::unique_ptr<ObjectFile> object_;
  std::unique_ptr<llvm::DWARFContext> lines_;
  uint64_t section_ = 0;
  uint64_t section_begin_ = 0;
  uint64_t section_bytes_ = 0;
  uint64_t bytes_before_ = 0;  // the entry, in the section
};

struct Codes {
  std::mutex mutex;
  std::map<uint64_t, Code> by_address;  // later code may have taken the place of code that is gone
};

Codes& codes() {
  static auto& codes = *new Codes;  // kernels may be loaded until the process ends
  return codes;
}

}  // namespace

void remember_code(std::string_view object, std::string_view symbol, const void* address) {
  const auto place = reinterpret_cast<uint64_t>(address);
  const std::lock_guard lock(codes().mutex);
  codes().by_address.erase(place);
  codes().by_address.try_emplace(place, object, symbol, place);
}

CodeLine line_at(uint64_t address) {
  const std::lock_guard lock(codes().mutex);
  auto& known = codes().by_address;
  // The entry need not be the first function of its section.
  auto next = known.upper_bound(address);
  if (next != known.begin()) {
    const CodeLine found = std::prev(next)->second.line(address);
    if (found.line) return found;
  }
  return next == known.end() ? CodeLine{} : next->second.line(address);
}

}  // namespace metal::cpu
