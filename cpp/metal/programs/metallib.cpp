// The .metallib container: a header, an index, and a record for each function, each with a
// checksum.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>

#include "metal/compiler/compiler.h"
#include "metal/programs/hash.h"

namespace metal {
namespace {

constexpr std::string_view kMagic = "MLXAMTL5";

class Writer {
 public:
  void number(uint64_t value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void text(std::string_view value) {
    number(value.size());
    bytes_.append(value);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  uint64_t number() {
    uint64_t value;
    std::memcpy(&value, raw(sizeof(value)).data(), sizeof(value));
    return value;
  }
  std::string text() { return std::string(raw(number())); }
  // A number of records. Each is at least as long as a number, which bounds it.
  size_t count() {
    const uint64_t value = number();
    if (value > rest_.size() / sizeof(uint64_t)) fail();
    return value;
  }

  [[noreturn]] static void fail() {
    throw std::runtime_error("damaged .metallib: a record is cut short");
  }

 private:
  std::string_view raw(uint64_t size) {
    if (size > rest_.size()) fail();
    const std::string_view part = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return part;
  }

  std::string_view rest_;
};

void write_function(Writer& writer, const FunctionInfo& function) {
  writer.text(function.name);
  writer.number(function.max_total_threads);
  writer.number(function.covered);
  writer.number(function.arguments.size());
  for (const ArgumentInfo& argument : function.arguments) {
    writer.number(static_cast<uint64_t>(argument.kind));
    writer.number(argument.index);
    writer.text(argument.name);
    writer.text(argument.attribute);
    writer.number(argument.writable);
    writer.number(argument.optional);
    writer.number(static_cast<uint64_t>(argument.address_space));
    writer.number(argument.element_size);
    writer.text(argument.element_type);
  }
  writer.number(function.constants.size());
  for (const FunctionConstantInfo& constant : function.constants) {
    writer.text(constant.name);
    writer.number(constant.index);
    writer.number(static_cast<uint64_t>(constant.type));
    writer.number(constant.components);
    writer.number(constant.required);
  }
  writer.text(function.bitcode);
}

FunctionInfo read_function(Reader& reader) {
  FunctionInfo function;
  function.name = reader.text();
  function.max_total_threads = reader.number();
  function.covered = reader.number() != 0;
  function.arguments.resize(reader.count());
  for (ArgumentInfo& argument : function.arguments) {
    argument.kind = static_cast<ArgumentKind>(reader.number());
    argument.index = reader.number();
    argument.name = reader.text();
    argument.attribute = reader.text();
    argument.writable = reader.number() != 0;
    argument.optional = reader.number() != 0;
    argument.address_space = static_cast<AddressSpace>(reader.number());
    argument.element_size = reader.number();
    argument.element_type = reader.text();
  }
  function.constants.resize(reader.count());
  for (FunctionConstantInfo& constant : function.constants) {
    constant.name = reader.text();
    constant.index = reader.number();
    constant.type = static_cast<ScalarType>(reader.number());
    constant.components = reader.number();
    constant.required = reader.number() != 0;
  }
  function.bitcode = reader.text();
  return function;
}

uint64_t checksum(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

[[noreturn]] void refuse_foreign() {
  throw std::runtime_error(
      "not a .metallib of this compiler (build it with metalc from its .metal files)");
}

void check(std::string_view bytes, uint64_t expected, const std::string& what) {
  if (checksum(bytes) != expected)
    throw std::runtime_error("damaged .metallib: the checksum of " + what + " does not match");
}

// The position of a function's record, from the end of the index.
struct Entry {
  std::string name;
  uint64_t offset = 0;
  uint64_t size = 0;
  uint64_t checksum = 0;
};

struct Index {
  MathMode math_mode = MathMode::Safe;
  uint32_t language_version = 0;
  std::vector<Entry> entries;
};

constexpr size_t kHeaderSize = kMagic.size() + 2 * sizeof(uint64_t);

struct Header {
  uint64_t index_checksum = 0;
  uint64_t index_size = 0;

  explicit Header(std::string_view bytes) {
    if (!bytes.starts_with(kMagic)) refuse_foreign();
    Reader reader(bytes.substr(kMagic.size()));
    index_checksum = reader.number();
    index_size = reader.number();
  }
};

Index read_index(std::string_view bytes, const Header& header) {
  check(bytes, header.index_checksum, "its index");
  Reader reader(bytes);
  Index index;
  index.math_mode = static_cast<MathMode>(reader.number());
  index.language_version = reader.number();
  index.entries.resize(reader.count());
  for (Entry& entry : index.entries) {
    entry.name = reader.text();
    entry.offset = reader.number();
    entry.size = reader.number();
    entry.checksum = reader.number();
  }
  return index;
}

void check_extent(const Entry& entry, uint64_t size) {
  if (entry.size > size || entry.offset > size - entry.size) Reader::fail();
}

FunctionInfo read_record(std::string_view bytes, const Entry& entry) {
  check(bytes, entry.checksum, "function " + entry.name);
  Reader reader(bytes);
  return read_function(reader);
}

// A file that others may replace or truncate while it is open. So it is read, not mapped.
class File {
 public:
  explicit File(const std::string& path) : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) {
      throw std::runtime_error("cannot open the library \"" + path + "\": " + std::strerror(errno));
    }
  }
  ~File() { close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  uint64_t size() const {
    struct stat status;
    return fstat(descriptor_, &status) == 0 ? status.st_size : 0;
  }

  std::string read(uint64_t offset, uint64_t size) const {
    if (size > this->size()) Reader::fail();
    std::string bytes(size, '\0');
    for (uint64_t done = 0; done < size;) {
      const ssize_t count = pread(descriptor_, &bytes[done], size - done, offset + done);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) throw std::runtime_error(std::strerror(errno));
      if (count == 0) Reader::fail();
      done += count;
    }
    return bytes;
  }

 private:
  int descriptor_;
};

class LibraryFile : public Program {
 public:
  explicit LibraryFile(const std::string& path) : file_(path) {
    file = path;
    const Header header(file_.read(0, std::min<uint64_t>(kHeaderSize, file_.size())));
    Index index = read_index(file_.read(kHeaderSize, header.index_size), header);
    options.math_mode = index.math_mode;
    options.language_version = index.language_version;
    records_ = kHeaderSize + header.index_size;
    for (Entry& entry : index.entries) {
      check_extent(entry, file_.size() - records_);
      names_.push_back(entry.name);
      entries_.emplace(entry.name, std::move(entry));
    }
  }

  std::vector<std::string> names() const override { return names_; }
  bool contains(std::string_view name) const override { return entries_.contains(name); }

  const FunctionInfo* find(std::string_view name) const override {
    const auto found = entries_.find(name);
    if (found == entries_.end()) return nullptr;
    const std::lock_guard lock(mutex_);
    const Entry& entry = found->second;
    auto& function = functions_[entry.name];
    if (!function) {
      const std::string bytes = file_.read(records_ + entry.offset, entry.size);
      function = std::make_unique<const FunctionInfo>(read_record(bytes, entry));
    }
    return function.get();
  }

 private:
  File file_;
  uint64_t records_ = 0;  // where the records begin
  std::vector<std::string> names_;
  std::map<std::string, Entry, std::less<>> entries_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::unique_ptr<const FunctionInfo>> functions_;  // read so far
};

}  // namespace

std::string save_library(const Program& program) {
  Writer index;
  index.number(static_cast<uint64_t>(program.options.math_mode));
  index.number(program.options.language_version);
  index.number(program.functions.size());
  std::string records;
  for (const FunctionInfo& function : program.functions) {
    Writer writer;
    write_function(writer, function);
    const std::string record = writer.take();
    index.text(function.name);
    index.number(records.size());
    index.number(record.size());
    index.number(checksum(record));
    records += record;
  }
  const std::string index_bytes = index.take();
  Writer header;
  header.number(checksum(index_bytes));
  header.number(index_bytes.size());
  return std::string(kMagic) + header.take() + index_bytes + records;
}

std::shared_ptr<Program> load_library(std::string_view bytes) {
  const Header header(bytes);
  if (header.index_size > bytes.size() - kHeaderSize) Reader::fail();
  const Index index = read_index(bytes.substr(kHeaderSize, header.index_size), header);
  const std::string_view records = bytes.substr(kHeaderSize + header.index_size);
  auto program = std::make_shared<Program>();
  program->options.math_mode = index.math_mode;
  program->options.language_version = index.language_version;
  for (const Entry& entry : index.entries) {
    check_extent(entry, records.size());
    program->functions.push_back(read_record(records.substr(entry.offset, entry.size), entry));
  }
  return program;
}

std::shared_ptr<const Program> open_library(const std::string& path) {
  return std::make_shared<LibraryFile>(path);
}

}  // namespace metal
