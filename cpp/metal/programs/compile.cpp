// compile(): a program from the disk cache, or from the compiler.
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "metal/compiler/compiler.h"
#include "metal/compiler_library.h"
#include "metal/process_end.h"
#include "metal/programs/code_version.h"
#include "metal/programs/disk_cache.h"
#include "metal/programs/resources.h"

namespace metal {
namespace {

// The options that the program depends on, as text.
std::string describe_options(const CompileOptions& options) {
  std::string text = std::to_string(static_cast<uint32_t>(options.math_mode)) + ";" +
                     std::to_string(options.language_version) + ";" + options.path + ";" +
                     std::to_string(options.line_tables) + std::to_string(options.mark_undefined) +
                     std::to_string(options.for_apple) + std::to_string(options.coverage) +
                     std::to_string(options.mark_numbers) + std::to_string(options.debug) + ";";
  for (const auto& [name, value] : options.macros) text += name + "=" + value + ";";
  for (const std::string& directory : options.include_directories) text += directory + ";";
  return text;
}

// Null if there is none, or if another version has written it.
std::shared_ptr<Program> load_cached(const std::string& key) {
  const auto entry = compiler::cache_load(key);
  if (!entry) return nullptr;
  try {
    return load_library(*entry);
  } catch (const std::runtime_error&) {
    return nullptr;
  }
}

// A source that includes the user's files, or tests whether files exist, is compiled every time, as
// the files may have changed.
bool is_self_contained(const Program& program, std::string_view source) {
  return program.inputs.size() <= 1 && source.find("__has_include") == std::string_view::npos;
}

}  // namespace

std::shared_ptr<Program> compile(std::string_view source, const CompileOptions& options) {
  const InUse in_use;
  InUse::check();
  const std::string key =
      compiler::cache_key({"msl", compiler::code_version(), compiler::stdlib_fingerprint(),
                           describe_options(options), source});
  if (auto program = load_cached(key)) {
    program->options = options;
    program->source = source;
    return program;
  }
  const std::shared_ptr<Program> program = compiler_library().compile(source, options);
  if (is_self_contained(*program, source) && program->warnings.empty())
    compiler::cache_store(key, save_library(*program));
  program->source = source;
  return program;
}

void precompile(const std::string& header, const std::string& output) {
  compiler_library().precompile(header, output);
}

}  // namespace metal
