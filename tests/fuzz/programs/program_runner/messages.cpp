#include "messages.h"

#include <cstdio>

namespace metal::fuzz {
namespace {

bool read_bytes(void* to, size_t size) { return std::fread(to, 1, size, stdin) == size; }

class Reader {
 public:
  explicit Reader(std::string bytes) : bytes_(std::move(bytes)) {}

  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)), sizeof(T));
    return value;
  }
  std::string text() {
    const auto size = number<uint32_t>();
    return std::string(take(size), size);
  }
  template <class F>
  void repeat(F read_one) {
    for (auto left = number<uint32_t>(); left > 0; --left) read_one();
  }

 private:
  const char* take(size_t size) {
    if (bytes_.size() - place_ < size) throw std::runtime_error("a request ends too early");
    const char* at = bytes_.data() + place_;
    place_ += size;
    return at;
  }

  std::string bytes_;
  size_t place_ = 0;
};

BufferRequest read_buffer(Reader& reader) {
  BufferRequest buffer;
  buffer.comparison = reader.number<Comparison>();
  buffer.tolerance = reader.number<double>();
  buffer.offset = reader.number<uint32_t>();
  buffer.bytes = reader.text();
  return buffer;
}

ProgramRequest read_program(Reader& reader) {
  ProgramRequest program;
  program.name = reader.text();
  program.source = reader.text();
  for (uint32_t& size : program.grid) size = reader.number<uint32_t>();
  for (uint32_t& size : program.threadgroup) size = reader.number<uint32_t>();
  reader.repeat([&] { program.buffers.push_back(read_buffer(reader)); });
  reader.repeat([&] { program.threadgroup_memory.push_back(reader.number<uint32_t>()); });
  reader.repeat([&] {
    const auto index = reader.number<uint32_t>();
    const auto type = reader.number<ScalarType>();
    program.constants[index] = {type, reader.number<uint64_t>()};
  });
  program.expected = reader.text();
  return program;
}

void append(std::string& to, uint32_t number) {
  to.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

void append(std::string& to, const std::string& text) {
  append(to, static_cast<uint32_t>(text.size()));
  to += text;
}

}  // namespace

bool read_request(Request& request) {
  uint32_t size;
  if (!read_bytes(&size, sizeof(size))) return false;
  std::string bytes(size, '\0');
  if (!read_bytes(bytes.data(), size)) throw std::runtime_error("a request ends too early");
  Reader reader(std::move(bytes));
  request = {};
  request.wants_memory = reader.number<uint32_t>() != 0;
  reader.repeat([&] { request.forms.push_back(reader.text()); });
  reader.repeat([&] { request.programs.push_back(read_program(reader)); });
  return true;
}

void write_replies(const std::vector<ProgramReply>& replies) {
  std::string bytes;
  for (const ProgramReply& reply : replies) {
    append(bytes, reply.front_end);
    append(bytes, static_cast<uint32_t>(reply.forms.size()));
    for (const FormReply& form : reply.forms) {
      append(bytes, static_cast<uint32_t>(form.outcome));
      append(bytes, form.message);
      append(bytes, form.why_scalar);
    }
    append(bytes, reply.memory);
  }
  std::string head;
  append(head, static_cast<uint32_t>(bytes.size()));
  std::fwrite(head.data(), 1, head.size(), stdout);
  std::fwrite(bytes.data(), 1, bytes.size(), stdout);
  std::fflush(stdout);
}

}  // namespace metal::fuzz
