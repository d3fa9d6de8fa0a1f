// The .metallib container: a header, one record a function, and a checksum over all of it.
#include <cstring>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/CRC.h"
#include "metal/compiler/compiler.h"

namespace metal {
namespace {

constexpr std::string_view kMagic = "MLXAMTL3";

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
  // A count of records, none of which is shorter than a number.
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
    writer.number(constant.required);
  }
  writer.text(function.bitcode);
}

FunctionInfo read_function(Reader& reader) {
  FunctionInfo function;
  function.name = reader.text();
  function.max_total_threads = reader.number();
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
    constant.type = static_cast<ConstantType>(reader.number());
    constant.required = reader.number() != 0;
  }
  function.bitcode = reader.text();
  return function;
}

uint32_t checksum(std::string_view bytes) {
  return llvm::crc32(llvm::ArrayRef(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
}

}  // namespace

std::string save_library(const Program& program) {
  Writer writer;
  writer.number(static_cast<uint64_t>(program.options.math_mode));
  writer.number(program.options.language_version);
  writer.number(program.functions.size());
  for (const FunctionInfo& function : program.functions) write_function(writer, function);
  const std::string body = writer.take();
  Writer header;
  header.number(checksum(body));
  header.text(body);
  return std::string(kMagic) + header.take();
}

std::shared_ptr<Program> load_library(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) {
    throw std::runtime_error(
        "not a .metallib of this compiler (build it with metalc from its .metal files)");
  }
  Reader file(bytes.substr(kMagic.size()));
  const uint64_t expected = file.number();
  const std::string body = file.text();
  if (checksum(body) != expected)
    throw std::runtime_error("damaged .metallib: its checksum does not match");
  Reader reader(body);
  auto program = std::make_shared<Program>();
  program->options.math_mode = static_cast<MathMode>(reader.number());
  program->options.language_version = reader.number();
  program->functions.resize(reader.count());
  for (FunctionInfo& function : program->functions) function = read_function(reader);
  return program;
}

}  // namespace metal
