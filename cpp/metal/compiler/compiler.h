// Compiles MSL source to programs: LLVM IR with a description of every kernel in it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "metal/api.h"
#include "metal/checks.h"
#include "metal/compiler/scalar_types.h"

namespace metal {

enum class MathMode : uint32_t { Safe, Relaxed, Fast };

struct CompileOptions {
  MathMode math_mode = MathMode::Safe;
  uint32_t language_version = 0;                 // major << 16 | minor; 0: the newest
  std::map<std::string, std::string> macros;     // preprocessor macros, name to text
  std::vector<std::string> include_directories;  // folders in which #include "..." may find files
  std::string path;          // of the source; for diagnostics and relative includes
  bool line_tables = false;  // the IR has the source line of each instruction
  bool coverage = false;     // and every branch of the source: launches count what runs
  bool debug = false;        // and calls that tell a debugger where a thread is: see mark_stops.h
  bool for_apple = false;    // finds what Apple's compiler refuses: Program::apple_reports
  // The IR has calls in the place of the values that variables without an initializer have, see
  // undefined_variables.h.
  bool mark_undefined = false;
  // It keeps the branches of the source, and has calls beside those of the math library, see
  // math_calls.h.
  bool mark_numbers = false;

  bool operator==(const CompileOptions&) const = default;
};

// what() has the diagnostics, with positions in the user's source.
class METAL_API CompileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class ArgumentKind : uint32_t { Buffer, ThreadgroupMemory, Attribute };
enum class AddressSpace : uint32_t { Thread = 0, Device = 1, Constant = 2, Threadgroup = 3 };

struct ArgumentInfo {
  ArgumentKind kind = ArgumentKind::Buffer;
  uint32_t index = 0;  // [[buffer(n)]] or [[threadgroup(n)]]
  std::string name;    // of the parameter; for attributes see also `attribute`
  std::string attribute;
  bool writable = false;
  bool optional = false;  // it has a [[function_constant(n)]] and may stay unbound
  AddressSpace address_space = AddressSpace::Device;
  uint32_t element_size = 0;  // bytes of the type that it points to; 0 if unknown
  // Its type as Metal spells it: "float", "uint", "half4", "atomic<float>".
  std::string element_type;
};

struct FunctionConstantInfo {
  std::string name;
  uint32_t index = 0;
  ScalarType type = ScalarType::Int;
  uint32_t components = 1;  // more than one for a vector
  bool required = false;
};

struct FunctionInfo {
  std::string name;     // host name
  std::string bitcode;  // LLVM IR of this kernel alone, in the form of kernel_form.h
  std::vector<ArgumentInfo> arguments;
  std::vector<FunctionConstantInfo> constants;
  uint32_t max_total_threads = 0;  // [[max_total_threads_per_threadgroup]]; 0 if there is none
  bool covered = false;            // compiled for coverage
};

struct METAL_API Program {
  virtual ~Program() = default;

  CompileOptions options;
  std::string source;                      // empty if the program was read from a library
  std::vector<FunctionInfo> functions;     // empty if they are read on demand: see open_library
  std::string warnings;                    // of the front end, as Clang prints them
  std::vector<std::string> inputs;         // files that the source was read from
  std::vector<CheckReport> apple_reports;  // also in the warnings
  std::string file;                        // the library file that it was read from, if any

  virtual std::vector<std::string> names() const;
  virtual bool contains(std::string_view name) const { return find(name) != nullptr; }
  // Null if there is no function with this name.
  virtual const FunctionInfo* find(std::string_view name) const;
  // Throws std::out_of_range if there is no function with this name; the message lists the
  // functions.
  const FunctionInfo& get(std::string_view name) const;
};

// The value of one function constant: for each component the bytes of a ScalarType, zero-extended.
struct ConstantValue {
  ScalarType type = ScalarType::Int;
  std::array<uint64_t, 4> bits = {};
  uint32_t components = 1;

  bool operator==(const ConstantValue&) const = default;
};

// By the index in [[function_constant(n)]].
using ConstantValues = std::map<uint32_t, ConstantValue>;

// Throws CompileError. Thread-safe.
METAL_API std::shared_ptr<Program> compile(std::string_view source,
                                           const CompileOptions& options = {});

// Precompiles a header of the standard library, so that later compilations start from it.
void precompile(const std::string& header, const std::string& output);

// The bytes of a .metallib. load_library throws std::runtime_error if its bytes are no .metallib.
std::string save_library(const Program& program);
std::shared_ptr<Program> load_library(std::string_view bytes);

// Opens a .metallib and reads functions on demand. Throws std::runtime_error if the file does not
// exist or is not a complete .metallib; find() throws it for a damaged function. Thread-safe.
std::shared_ptr<const Program> open_library(const std::string& path);

}  // namespace metal
