#include "metal/tools/command_line.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "metal/driver.h"

namespace metal::tools {
namespace {

constexpr const char* kUsage =
    "usage: metalc [options] FILE.metal ... -o OUT.metallib   compile into a library\n"
    "       metalc --emit llvm [options] FILE.metal           print the kernels' IR; also of a "
    "library\n"
    "       metalc --list FILE.metallib                       list the functions of a library\n"
    "options:\n"
    "  -o FILE              the library to write, or the text that --emit prints\n"
    "  -I DIR               look for headers in DIR\n"
    "  -D NAME[=VALUE]      define a macro\n"
    "  -std=metalX.Y        version of the language\n"
    "  -ffast-math, -fno-fast-math (the default)\n"
    "  -MD [-MF FILE]       write what the library depends on, for Make and Ninja, to FILE or\n"
    "                       OUT.metallib.d\n"
    "  --emit llvm-opt|asm  the same after the optimiser, or for this CPU\n"
    "  --emit ptx           the same for NVIDIA GPUs\n"
    "  --arch sm_XX         which of them: sm_80 (the default) or newer\n"
    "  --function NAME      print only this kernel; may be given several times\n"
    "  -g                   add line tables: which line of the source an instruction comes from\n"
    "  --coverage           kernels count what they run, one thread at a time; a program that ran\n"
    "                       some writes coverage.info, or the file that MLX_COVERAGE names\n"
    "  -Wno-apple           do not warn of what Apple's compiler refuses\n"
    "  -Werror=apple        fail for it\n"
    "  other -W..., -O..., -c are accepted and change nothing\n";

enum class Mode { Build, Emit, List, Precompile, Help };

struct Command {
  Mode mode = Mode::Build;
  std::string emit;
  std::string architecture;
  std::vector<std::string> functions;
  std::string output;
  bool dependencies = false;
  std::string dependency_file;
  std::vector<std::string> files;
  bool apple_errors = false;
  CompileOptions options;
};

uint32_t language_version(const std::string& name) {
  unsigned major = 0, minor = 0;
  // Older names include the system: macos-metal2.3.
  const size_t start = name.find("metal");
  if (start == std::string::npos ||
      std::sscanf(name.c_str() + start, "metal%u.%u", &major, &minor) != 2) {
    throw std::invalid_argument("-std=" + name + ": expected metalX.Y, for example metal3.1");
  }
  return major << 16 | minor;
}

void define(CompileOptions& options, const std::string& definition) {
  const size_t equals = definition.find('=');
  options.macros[definition.substr(0, equals)] =
      equals == std::string::npos ? "1" : definition.substr(equals + 1);
}

// Options of Apple's compiler that have no effect here.
bool is_ignored(const std::string& option) {
  return option.starts_with("-W") || option.starts_with("-O") || option == "-c" ||
         option == "-frecord-sources";
}

Command parse(const std::vector<std::string>& arguments) {
  Command command;
  command.options.for_apple = true;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    auto next = [&]() -> const std::string& {
      if (++i == arguments.size()) throw std::invalid_argument(word + " needs a value");
      return arguments[i];
    };
    if (word == "-o")
      command.output = next();
    else if (word == "--emit")
      command.mode = Mode::Emit, command.emit = next();
    else if (word == "--arch")
      command.architecture = next();
    else if (word.starts_with("--arch="))
      command.architecture = word.substr(7);
    else if (word == "--function")
      command.functions.push_back(next());
    else if (word.starts_with("--function="))
      command.functions.push_back(word.substr(11));
    else if (word == "--list")
      command.mode = Mode::List;
    else if (word == "--help")
      command.mode = Mode::Help;
    else if (word == "--precompile")
      command.mode = Mode::Precompile;
    else if (word == "-I")
      command.options.include_directories.push_back(next());
    else if (word.starts_with("-I"))
      command.options.include_directories.push_back(word.substr(2));
    else if (word == "-D")
      define(command.options, next());
    else if (word.starts_with("-D"))
      define(command.options, word.substr(2));
    else if (word.starts_with("-std="))
      command.options.language_version = language_version(word.substr(5));
    else if (word == "-ffast-math")
      command.options.math_mode = MathMode::Fast;
    else if (word == "-fno-fast-math")
      command.options.math_mode = MathMode::Safe;
    else if (word == "-Wapple" || word == "-Wno-apple")
      command.options.for_apple = word == "-Wapple";
    else if (word == "-Werror=apple")
      command.options.for_apple = command.apple_errors = true;
    else if (word.starts_with("-g"))
      command.options.line_tables = word != "-g0";
    else if (word == "--coverage")
      command.options.coverage = true;
    else if (word == "-MD")
      command.dependencies = true;
    else if (word == "-MF")
      command.dependencies = true, command.dependency_file = next();
    else if (is_ignored(word))
      continue;
    else if (word.starts_with("-"))
      throw std::invalid_argument("unknown option " + word);
    else
      command.files.push_back(word);
  }
  if (!command.architecture.empty() && command.emit != "ptx")
    throw std::invalid_argument("--arch goes with --emit ptx");
  if (!command.functions.empty() && command.mode != Mode::Emit)
    throw std::invalid_argument("--function goes with --emit");
  if (command.files.empty() && command.mode != Mode::Help)
    throw std::invalid_argument("no input file");
  return command;
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  if (!file) throw std::runtime_error("cannot write " + path);
}

std::shared_ptr<Program> compile_file(const Command& command, const std::string& path,
                                      std::FILE* err) {
  CompileOptions options = command.options;
  // Programs that run the kernels, anywhere, name the file.
  options.path = options.coverage ? std::filesystem::absolute(path).string() : path;
  auto program = compile(read(path), options);
  std::fputs(program->warnings.c_str(), err);
  if (command.apple_errors && !program->apple_reports.empty())
    throw std::runtime_error(path + ": Apple's compiler refuses this");
  return program;
}

const char* kind_name(ArgumentKind kind) {
  switch (kind) {
    case ArgumentKind::Buffer:
      return "buffer";
    case ArgumentKind::ThreadgroupMemory:
      return "threadgroup";
    case ArgumentKind::Attribute:
      return "attribute";
  }
  return "";
}

void list(const Program& program, std::FILE* out) {
  for (const FunctionInfo& function : program.functions) {
    std::string line = function.name + "(";
    for (const ArgumentInfo& argument : function.arguments) {
      if (line.back() != '(') line += ", ";
      line += argument.name + " [[";
      line +=
          argument.kind == ArgumentKind::Attribute
              ? argument.attribute
              : std::string(kind_name(argument.kind)) + "(" + std::to_string(argument.index) + ")";
      line += "]]";
    }
    std::fprintf(out, "%s)\n", line.c_str());
  }
}

// Escapes a path for Make and Ninja.
std::string escaped(const std::string& path) {
  std::string text;
  for (char c : path) {
    if (c == ' ' || c == '#') text += '\\';
    if (c == '$') text += '$';
    text += c;
  }
  return text;
}

void write_dependencies(const Command& command, const std::string& inputs) {
  const std::string path =
      command.dependency_file.empty() ? command.output + ".d" : command.dependency_file;
  write(path, escaped(command.output) + ":" + inputs + "\n");
}

void add_functions(Program& library, Program& program) {
  for (FunctionInfo& function : program.functions) {
    if (library.find(function.name))
      throw std::runtime_error("function " + function.name + " is defined twice");
    library.functions.push_back(std::move(function));
  }
}

void build(const Command& command, std::FILE* err) {
  if (command.output.empty()) throw std::invalid_argument("-o OUT.metallib is missing");
  Program library;
  library.options = command.options;
  std::string inputs;
  for (const std::string& path : command.files) {
    auto program = compile_file(command, path, err);
    add_functions(library, *program);
    for (const std::string& input : program->inputs) inputs += " \\\n  " + escaped(input);
  }
  write(command.output, save_library(library));
  if (command.dependencies) write_dependencies(command, inputs);
}

// Keeps the functions with these names, in this order.
void select(Program& program, const std::vector<std::string>& names) {
  std::vector<FunctionInfo> selected;
  for (const std::string& name : names) selected.push_back(program.get(name));
  program.functions = std::move(selected);
}

void print_code(const Command& command, std::FILE* out, std::FILE* err) {
  Program program;
  for (const std::string& file : command.files) {
    add_functions(program, file.ends_with(".metallib") ? *load_library(read(file))
                                                       : *compile_file(command, file, err));
  }
  if (!command.functions.empty()) select(program, command.functions);
  const std::string text = emit(program, command.emit, command.architecture);
  if (command.output.empty()) {
    std::fputs(text.c_str(), out);
  } else {
    write(command.output, text);
  }
}

void run(const Command& command, std::FILE* out, std::FILE* err) {
  switch (command.mode) {
    case Mode::Help:
      std::fputs(kUsage, out);
      return;
    case Mode::Build:
      return build(command, err);
    case Mode::List:
      for (const std::string& file : command.files) list(*load_library(read(file)), out);
      return;
    case Mode::Precompile:
      return precompile(command.files[0], command.output);
    case Mode::Emit:
      return print_code(command, out, err);
  }
}

}  // namespace

int metalc(const std::vector<std::string>& arguments, std::FILE* out, std::FILE* err) {
  try {
    run(parse(arguments), out, err);
    return 0;
  } catch (const CompileError& error) {
    std::fputs(error.what(), err);
    return 1;
  } catch (const std::invalid_argument& error) {
    std::fprintf(err, "metalc: %s\n%s", error.what(), kUsage);
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(err, "metalc: %s\n", error.what());
    return 1;
  }
}

}  // namespace metal::tools
