// MSL source to compiled programs: LLVM IR with a description of every kernel in it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "metal/api.h"

namespace metal {

enum class MathMode : uint32_t { Safe, Relaxed, Fast };

struct CompileOptions {
  MathMode math_mode = MathMode::Safe;
  uint32_t language_version = 0;                 // major << 16 | minor; 0: the newest
  std::map<std::string, std::string> macros;     // preprocessor macros, name to text
  std::vector<std::string> include_directories;  // folders that #include "..." may reach
  std::string path;          // of the source, for diagnostics and relative includes
  bool line_tables = false;  // the IR says which line of the source an instruction comes from

  bool operator==(const CompileOptions&) const = default;
};

// what() holds the diagnostics, located in the user's source.
class METAL_API CompileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class ArgumentKind : uint32_t { Buffer, ThreadgroupMemory, Attribute };
enum class AddressSpace : uint32_t { Thread = 0, Device = 1, Constant = 2, Threadgroup = 3 };

struct ArgumentInfo {
  ArgumentKind kind = ArgumentKind::Buffer;
  uint32_t index = 0;  // [[buffer(n)]] or [[threadgroup(n)]]
  std::string name;    // the parameter's; for attributes also `attribute`
  std::string attribute;
  bool writable = false;
  bool optional = false;  // there only with a [[function_constant(n)]]: may stay unbound
  AddressSpace address_space = AddressSpace::Device;
  uint32_t element_size = 0;  // bytes of the pointee or referee; 0 where unknown
  std::string
      element_type;  // its type as Metal spells it: "float", "uint", "half4", "atomic<float>"
};

enum class ConstantType : uint32_t {
  Bool,
  Char,
  UChar,
  Short,
  UShort,
  Int,
  UInt,
  Long,
  ULong,
  Half,
  BFloat,
  Float
};

struct FunctionConstantInfo {
  std::string name;
  uint32_t index = 0;
  ConstantType type = ConstantType::Int;
  bool required = false;
};

struct FunctionInfo {
  std::string name;     // host name
  std::string bitcode;  // LLVM IR of this kernel alone, in the form of kernel_form.h
  std::vector<ArgumentInfo> arguments;
  std::vector<FunctionConstantInfo> constants;
  uint32_t max_total_threads = 0;  // [[max_total_threads_per_threadgroup]]; 0: none given
};

struct Program {
  virtual ~Program() = default;

  CompileOptions options;
  std::vector<FunctionInfo> functions;  // empty where they are read one by one: see open_library
  std::string warnings;                 // of the front end, as Clang prints them
  std::vector<std::string> inputs;      // files that the source was read from
  std::string file;                     // that it was read from as a library, if it was

  virtual std::vector<std::string> names() const;
  virtual bool contains(std::string_view name) const { return find(name) != nullptr; }
  // Null if there is none of that name.
  virtual const FunctionInfo* find(std::string_view name) const;
  // Throws std::out_of_range, whose text lists what there is, if there is none of that name.
  const FunctionInfo& get(std::string_view name) const;
};

// The value of one function constant: the bytes of a ConstantType, zero-extended.
struct ConstantValue {
  ConstantType type = ConstantType::Int;
  uint64_t bits = 0;

  bool operator==(const ConstantValue&) const = default;
};

// By [[function_constant(n)]]'s index.
using ConstantValues = std::map<uint32_t, ConstantValue>;

// Throws CompileError. Thread-safe.
METAL_API std::shared_ptr<Program> compile(std::string_view source,
                                           const CompileOptions& options = {});

// Precompiles a header of the standard library, so that later compilations start from it.
void precompile(const std::string& header, const std::string& output);

// The bytes of a .metallib; load_library throws std::runtime_error for bytes that are none.
std::string save_library(const Program& program);
std::shared_ptr<Program> load_library(std::string_view bytes);

// A .metallib whose functions are read when they are asked for. Throws std::runtime_error if there
// is no such file or it is not a whole .metallib; find() throws it for a damaged function.
// Thread-safe.
std::shared_ptr<const Program> open_library(const std::string& path);

}  // namespace metal
