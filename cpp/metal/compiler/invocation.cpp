#include "metal/compiler/invocation.h"

#include <stdexcept>
#include <tuple>

#include "clang/Basic/AddressSpaces.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/TargetInfo.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Lex/HeaderSearchOptions.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "metal/programs/resources.h"

namespace metal::compiler {
namespace {

constexpr const char* kUtilsHeader = "mlx/backend/metal/kernels/utils.h";
constexpr uint32_t kNewestLanguage = 3 << 16 | 2;

// Kernels are parsed for one abstract machine, which is 64-bit and little-endian like every device.
// Its calling convention passes classes in memory, which the optimiser removes. That of a CPU would
// pack vectors into other types.
constexpr const char* kTriple = "spir64-unknown-unknown";

// A source can only include files in the declared folders.
class DeclaredFiles : public llvm::vfs::ProxyFileSystem {
 public:
  DeclaredFiles(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> base,
                std::vector<std::string> roots)
      : ProxyFileSystem(std::move(base)), roots_(std::move(roots)) {}

  llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine& path) override {
    if (!allowed(path)) return std::make_error_code(std::errc::no_such_file_or_directory);
    return ProxyFileSystem::status(path);
  }

  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(
      const llvm::Twine& path) override {
    if (!allowed(path)) return std::make_error_code(std::errc::no_such_file_or_directory);
    return ProxyFileSystem::openFileForRead(path);
  }

 private:
  bool allowed(const llvm::Twine& path) const {
    llvm::SmallString<256> text;
    path.toVector(text);
    std::ignore = llvm::sys::fs::make_absolute(text);
    llvm::sys::path::remove_dots(text, /*remove_dot_dot=*/true);
    for (const std::string& root : roots_) {
      if (text.starts_with(root) && (text.size() == root.size() || text[root.size()] == '/'))
        return true;
    }
    return false;
  }

  std::vector<std::string> roots_;
};

std::string absolute(std::string_view path) {
  llvm::SmallString<256> text{llvm::StringRef(path)};
  std::ignore = llvm::sys::fs::make_absolute(text);
  llvm::sys::path::remove_dots(text, true);
  return std::string(text.str());
}

// The numbers of Clang's address spaces in the IR.
struct AddressSpaceNumbers {
  clang::LangASMap numbers = {};

  constexpr AddressSpaceNumbers() {
    using clang::LangAS;
    numbers[static_cast<unsigned>(LangAS::opencl_global)] = 1;
    // The token pass writes `constant` in this way.
    numbers[static_cast<unsigned>(LangAS::opencl_private)] = 2;
    numbers[static_cast<unsigned>(LangAS::opencl_local)] = 3;
    numbers[static_cast<unsigned>(LangAS::opencl_generic)] = 4;
  }
};
constexpr AddressSpaceNumbers kAddressSpaces;

// Sets what the options of cc1 cannot.
void set_language(clang::LangOptions& language) {
  language.DeclSpecKeyword = true;  // properties, which swizzles of vectors use
  language.Half = true;
  language.NativeHalfType = true;
  language.NativeHalfArgsAndReturns = true;
  language.setFloat16ExcessPrecision(
      clang::LangOptions::FPP_None);  // half and bfloat round after each operation
  language.setBFloat16ExcessPrecision(clang::LangOptions::FPP_None);
  language.SinglePrecisionConstants = true;
  language.ConvergentFunctions = true;
}

void set_math(clang::LangOptions& language, MathMode mode) {
  language.setDefaultFPContractMode(clang::LangOptions::FPM_On);
  if (mode == MathMode::Safe) return;
  language.setDefaultFPContractMode(clang::LangOptions::FPM_FastHonorPragmas);
  language.AllowFPReassoc = language.NoSignedZero = language.AllowRecip = language.ApproxFunc =
      true;
  if (mode == MathMode::Fast) {
    language.NoHonorInfs = language.NoHonorNaNs = true;
    language.FastMath = true;
  }
}

std::shared_ptr<clang::CompilerInvocation> base_options() {
  static constexpr const char* kArguments[] = {
      "-triple", kTriple, "-x", "c++", "-std=c++23", "-O2", "-disable-llvm-passes",
      "-ffreestanding", "-fno-builtin", "-nostdsysteminc", "-nobuiltininc", "-nostdinc++",
      "-fno-rtti", "-fno-threadsafe-statics", "-fwrapv", "-relaxed-aliasing", "-fno-finite-loops",
      "-fno-strict-return", "-fno-delete-null-pointer-checks", "-fno-strict-float-cast-overflow",
      "-fbracket-depth", "512", "-ferror-limit", "20",
      // Kernels are written for a compiler that does not warn of these; they do not change their
      // meaning.
      "-Wno-duplicate-decl-specifier", "-Wno-unknown-pragmas", "-Wno-unused-value",
      "-Wno-ignored-attributes", "-Wno-psabi", "-Wno-shift-count-overflow",
      "-Wno-shift-count-negative", "-Wno-reserved-user-defined-literal", "-Wno-undefined-internal",
      "-Wno-undefined-inline", "-Wno-pass-failed", "-Wno-literal-range",
      "-Wno-tautological-constant-out-of-range-compare", "-Wno-vla-cxx-extension",
      "-Wno-c++20-compat", "-Wno-gnu-anonymous-struct", "-Wno-nested-anon-types",
      "-Wno-extern-initializer", "-Werror=writable-strings", "kernel.metal"};
  auto options = std::make_shared<clang::CompilerInvocation>();
  auto ids = llvm::makeIntrusiveRefCnt<clang::DiagnosticIDs>();
  clang::DiagnosticsEngine ignored(ids, llvm::makeIntrusiveRefCnt<clang::DiagnosticOptions>(),
                                   new clang::IgnoringDiagConsumer());
  clang::CompilerInvocation::CreateFromArgs(*options, kArguments, ignored);
  set_language(options->getLangOpts());
  options->getFrontendOpts().DisableFree = false;
  options->getFrontendOpts().Inputs.clear();
  auto& headers = options->getHeaderSearchOpts();
  headers.AddPath(stdlib_directory(), clang::frontend::System, false, /*IgnoreSysRoot=*/true);
  headers.Sysroot = resource_directory();  // precompiled headers contain paths relative to it
  return options;
}

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> visible_files(std::vector<std::string> roots) {
  return llvm::makeIntrusiveRefCnt<DeclaredFiles>(llvm::vfs::getRealFileSystem(), std::move(roots));
}

void add_line_tables(clang::CodeGenOptions& code, bool variables) {
  code.setDebugInfo(variables ? llvm::codegenoptions::FullDebugInfo
                              : llvm::codegenoptions::DebugLineTablesOnly);
  code.DwarfVersion = 5;
}

std::string version_macro(uint32_t version) {
  return std::to_string((version >> 16) * 100 + (version & 0xffff) * 10);
}

void define_macros(clang::PreprocessorOptions& preprocessor, const CompileOptions& options) {
  preprocessor.addMacroDef("__METAL__=1");
  preprocessor.addMacroDef("__METAL_MACOS__=1");
  preprocessor.addMacroDef("__HAVE_BFLOAT__=1");
  preprocessor.addMacroDef("__METAL_VERSION__=" + version_macro(language_version(options)));
  // Set here, as the precompiled headers were made without it.
  if (options.math_mode == MathMode::Fast) {
    preprocessor.addMacroDef("__FAST_MATH__=1");
  } else {
    preprocessor.addMacroUndef("__FAST_MATH__");
  }
  for (const auto& [name, value] : options.macros) preprocessor.addMacroDef(name + "=" + value);
}

void use_standard_library(clang::PreprocessorOptions& preprocessor, bool with_utils) {
  const std::string whole = stdlib_directory() + "/metal_stdlib";
  if (!llvm::sys::fs::exists(whole)) {
    throw std::runtime_error("the headers of Metal's standard library are missing: there is no " +
                             whole + " (MLX_METAL_RESOURCES may name another folder)");
  }
  const std::string precompiled = precompiled_header(with_utils);
  if (llvm::sys::fs::exists(precompiled)) {
    preprocessor.ImplicitPCHInclude = precompiled;
    preprocessor.DisablePCHOrModuleValidation = clang::DisableValidationForModuleKind::All;
  } else {
    preprocessor.Includes.push_back(whole);
  }
}

// Whether a declared folder has MLX's helpers, and they are not those of the standard library.
bool has_other_utils(const CompileOptions& options) {
  std::vector<std::string> folders = options.include_directories;
  if (!options.path.empty())
    folders.emplace_back(llvm::sys::path::parent_path(absolute(options.path)));
  return llvm::any_of(folders, [](const std::string& folder) {
    const std::string own = folder + "/" + kUtilsHeader;
    return llvm::sys::fs::exists(own) &&
           !llvm::sys::fs::equivalent(own, stdlib_directory() + "/" + kUtilsHeader);
  });
}

}  // namespace

// The first include decides which precompiled header is used.
bool starts_with_utils(std::string_view source) {
  const std::string include = std::string("#include \"") + kUtilsHeader + "\"";
  return source.substr(0, source.find('\n')).find(include) == 0;
}

uint32_t language_version(const CompileOptions& options) {
  return options.language_version ? options.language_version : kNewestLanguage;
}

Invocation kernel_invocation(std::string_view source, const CompileOptions& options) {
  auto invocation = base_options();
  set_math(invocation->getLangOpts(), options.math_mode);
  if (options.line_tables || options.coverage || options.debug)
    add_line_tables(invocation->getCodeGenOpts(), options.debug);
  // Then the names of files are whole.
  if (options.coverage || options.debug) invocation->getCodeGenOpts().DebugCompilationDir = "/";
  if (options.mark_undefined) {  // mark_undefined() finds what Clang stores
    invocation->getLangOpts().setTrivialAutoVarInit(
        clang::LangOptions::TrivialAutoVarInitKind::Pattern);
  }
  define_macros(invocation->getPreprocessorOpts(), options);
  use_standard_library(invocation->getPreprocessorOpts(),
                       starts_with_utils(source) && !has_other_utils(options));

  const std::string path = options.path.empty() ? "kernel.metal" : options.path;
  std::vector<std::string> roots = {resource_directory(), stdlib_directory()};
  invocation->getHeaderSearchOpts().AddPath(preferred_directory(), clang::frontend::Angled, false,
                                            true);
  for (const std::string& directory : options.include_directories) {
    roots.push_back(absolute(directory));
    invocation->getHeaderSearchOpts().AddPath(roots.back(), clang::frontend::Angled, false, true);
  }
  if (!options.path.empty())
    roots.push_back(absolute(llvm::sys::path::parent_path(absolute(path))));

  // The buffer outlives this invocation. Diagnostics print its name.
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(source), path);
  auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  auto files =
      llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(visible_files(std::move(roots)));
  if (auto folder = files->getCurrentWorkingDirectory())
    std::ignore = memory->setCurrentWorkingDirectory(*folder);
  memory->addFile(path, 0, std::move(buffer));
  files->pushOverlay(memory);
  invocation->getFrontendOpts().Inputs.emplace_back(path, clang::InputKind(clang::Language::CXX));
  return {std::move(invocation), std::move(files)};
}

Invocation precompile_invocation(const std::string& header, const std::string& output) {
  auto invocation = base_options();
  set_math(invocation->getLangOpts(), MathMode::Safe);
  invocation->getFrontendOpts().ProgramAction = clang::frontend::GeneratePCH;
  invocation->getFrontendOpts().OutputFile = output;
  invocation->getFrontendOpts().RelocatablePCH = true;
  // Templates that the headers use are instantiated once, not for every kernel.
  invocation->getLangOpts().PCHInstantiateTemplates = true;
  // Headers are identified by path and size, as installed copies have other times.
  invocation->getFrontendOpts().IncludeTimestamps = false;
  invocation->getFrontendOpts().Inputs.emplace_back(
      absolute(header), clang::InputKind(clang::Language::CXX, clang::InputKind::Source, false,
                                         clang::InputKind::HeaderUnit_None, true));
  return {std::move(invocation),
          visible_files({absolute(stdlib_directory()),
                         absolute(llvm::sys::path::parent_path(absolute(output)))})};
}

void allow_address_spaces(clang::LangOptions& language) {
  language.OpenCLCPlusPlus = true;
  language.OpenCLGenericAddressSpace = true;
}

void describe_device(clang::TargetInfo& target) {
  // These members are protected: Clang's targets set them in their constructors.
  struct Device : clang::TargetInfo {
    static void describe(clang::TargetInfo& target) {
      target.*(&Device::AddrSpaceMap) = &kAddressSpaces.numbers;
      target.*(&Device::HasBFloat16) = true;
      target.*(&Device::HasFullBFloat16) = true;
      target.*(&Device::BFloat16Width) = 16;
      target.*(&Device::BFloat16Align) = 16;
      target.*(&Device::BFloat16Format) = &llvm::APFloat::BFloat();
      target.*(&Device::HasStrictFP) = true;
      target.*(&Device::MaxAtomicPromoteWidth) = 64;
      target.*(&Device::MaxAtomicInlineWidth) = 64;
    }
  };
  Device::describe(target);
}

}  // namespace metal::compiler
