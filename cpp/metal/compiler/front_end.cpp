#include "metal/compiler/front_end.h"

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ASTMutationListener.h"
#include "clang/Basic/DiagnosticSema.h"
#include "clang/Basic/FileManager.h"
#include "clang/CodeGen/ModuleBuilder.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Frontend/MultiplexConsumer.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include "clang/Parse/ParseAST.h"
#include "clang/Parse/Parser.h"
#include "clang/Sema/Sema.h"
#include "clang/Sema/SemaConsumer.h"
#include "llvm/Support/raw_ostream.h"
#include "metal/compiler/apple/check_for_apple.h"
#include "metal/compiler/contract_vectors.h"
#include "metal/compiler/define_constants.h"
#include "metal/compiler/invocation.h"
#include "metal/compiler/language_checks.h"
#include "metal/compiler/limits.h"
#include "metal/compiler/pragmas.h"
#include "metal/compiler/reflection.h"
#include "metal/compiler/token_pass.h"
#include "metal/programs/resources.h"

namespace metal::compiler {
namespace {

// Lets objects be copied between all address spaces. In C++ for OpenCL, the implicit copy and move
// members of classes take generic references; here they are declared as soon as a class is
// complete, before the bodies of its methods, which may need them, are parsed.
class ImplicitMembers : public clang::SemaConsumer, public clang::ASTMutationListener {
 public:
  void InitializeSema(clang::Sema& sema) override { sema_ = &sema; }
  void ForgetSema() override { sema_ = nullptr; }
  clang::ASTMutationListener* GetASTMutationListener() override { return this; }

  void CompletedTagDefinition(const clang::TagDecl* tag) override {
    auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(const_cast<clang::TagDecl*>(tag));
    if (!record || !sema_ || record->isInvalidDecl() || record->isDependentContext()) return;
    auto& language = const_cast<clang::LangOptions&>(sema_->getLangOpts());
    language.OpenCL = true;
    sema_->ForceDeclarationOfImplicitMembers(record);
    language.OpenCL = false;
  }

 private:
  clang::Sema* sema_ = nullptr;
};

class InstantiationCounter : public clang::ASTConsumer, public clang::ASTMutationListener {
 public:
  explicit InstantiationCounter(Limits& limits) : limits_(limits) {}
  clang::ASTMutationListener* GetASTMutationListener() override { return this; }

  void CompletedTagDefinition(const clang::TagDecl* tag) override {
    limits_.instantiate(tag->getLocation());
  }
  void FunctionDefinitionInstantiated(const clang::FunctionDecl* function) override {
    limits_.instantiate(function->getLocation());
  }
  void VariableDefinitionInstantiated(const clang::VarDecl* variable) override {
    limits_.instantiate(variable->getLocation());
  }

 private:
  Limits& limits_;
};

// All tokens of the preprocessed source.
std::vector<clang::Token> lex(clang::Preprocessor& preprocessor, Limits& limits) {
  std::vector<clang::Token> tokens;
  do {
    preprocessor.Lex(tokens.emplace_back());
    limits.lex(tokens.back().getLocation());
  } while (tokens.back().isNot(clang::tok::eof));
  return tokens;
}

// Does what Clang's ParseAST does, with the token pass between the preprocessor and the parser.
void parse_tokens(clang::CompilerInstance& instance, const Repairs& repairs, Limits& limits,
                  apple::AppleCheck* check = nullptr) {
  clang::Sema& sema = instance.getSema();
  clang::Preprocessor& preprocessor = instance.getPreprocessor();
  clang::ASTConsumer& consumer = sema.getASTConsumer();
  allow_address_spaces(instance.getLangOpts());

  auto parser = std::make_unique<clang::Parser>(preprocessor, sema, /*SkipFunctionBodies=*/false);
  add_metal_pragmas(preprocessor);
  preprocessor.EnterMainSourceFile();
  const std::vector<clang::Token> tokens = lex(preprocessor, limits);
  if (check) check->set_tokens(tokens);
  const std::vector<clang::Token> rewritten = rewrite_tokens(preprocessor, tokens, repairs);
  preprocessor.EnterTokenStream(rewritten, /*DisableMacroExpansion=*/true, /*IsReinject=*/false);

  if (clang::ExternalASTSource* external = sema.getASTContext().getExternalSource()) {
    external->StartTranslationUnit(&consumer);
  }
  parser->Initialize();
  clang::Parser::DeclGroupPtrTy group;
  clang::Sema::ModuleImportState import_state;
  for (bool at_eof = parser->ParseFirstTopLevelDecl(group, import_state); !at_eof;
       at_eof = parser->ParseTopLevelDecl(group, import_state)) {
    limits.check_time(parser->getCurToken().getLocation());
    if (group && !consumer.HandleTopLevelDecl(group.get())) return;
  }
  for (clang::Decl* declaration : sema.WeakTopLevelDecls()) {
    consumer.HandleTopLevelDecl(clang::DeclGroupRef(declaration));
  }
  consumer.HandleTranslationUnit(sema.getASTContext());
}

std::unique_ptr<clang::ASTConsumer> with_implicit_members(
    std::unique_ptr<clang::ASTConsumer> consumer, Limits& limits) {
  std::vector<std::unique_ptr<clang::ASTConsumer>> consumers;
  consumers.push_back(std::make_unique<InstantiationCounter>(limits));
  consumers.push_back(std::make_unique<ImplicitMembers>());
  consumers.push_back(std::move(consumer));
  return std::make_unique<clang::MultiplexConsumer>(std::move(consumers));
}

// Gives the AST its own language options, which are not those of C++ for OpenCL. There, temporaries
// would be in `__private`, where constructors without a qualifier cannot make objects.
void use_own_context(clang::CompilerInstance& instance, clang::LangOptions& language) {
  language = instance.getLangOpts();
  language.OpenCLGenericAddressSpace = true;
  describe_device(instance.getTarget());
  clang::Preprocessor& preprocessor = instance.getPreprocessor();
  auto* context = new clang::ASTContext(
      language, preprocessor.getSourceManager(), preprocessor.getIdentifierTable(),
      preprocessor.getSelectorTable(), preprocessor.getBuiltinInfo(), preprocessor.TUKind);
  context->InitBuiltinTypes(instance.getTarget(), instance.getAuxTarget());
  instance.setASTContext(context);
}

class EmitAction : public clang::ASTFrontendAction {
 public:
  EmitAction(llvm::LLVMContext& context, TranslationUnit& unit, const Repairs& repairs,
             const Limits& limits, std::unique_ptr<apple::AppleCheck> check)
      : context_(context),
        unit_(unit),
        repairs_(repairs),
        limits_(limits),
        check_(std::move(check)) {}

 protected:
  bool BeginInvocation(clang::CompilerInstance& instance) override {
    describe_device(instance.getTarget());
    return true;
  }

  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& instance,
                                                        llvm::StringRef) override {
    use_own_context(instance, language_);
    generator_ = clang::CreateLLVMCodeGen(
        instance.getDiagnostics(), "kernels", &instance.getVirtualFileSystem(),
        instance.getHeaderSearchOpts(), instance.getPreprocessorOpts(), instance.getCodeGenOpts(),
        context_);
    limits_.watch(instance.getPreprocessor());
    std::vector<std::unique_ptr<clang::ASTConsumer>> consumers;
    consumers.push_back(check_language(instance.getDiagnostics()));
    running_check_ = check_.get();
    if (check_) consumers.push_back(std::move(check_));
    consumers.push_back(define_constants());
    consumers.push_back(contract_vectors());
    consumers.emplace_back(generator_);
    return with_implicit_members(std::make_unique<clang::MultiplexConsumer>(std::move(consumers)),
                                 limits_);
  }

  void ExecuteAction() override {
    clang::CompilerInstance& instance = getCompilerInstance();
    instance.createSema(getTranslationUnitKind(), nullptr);
    parse_tokens(instance, repairs_, limits_, running_check_);
    if (instance.getDiagnostics().hasErrorOccurred()) return;
    reflect(instance, *generator_, unit_);
    list_inputs(instance);
    unit_.module.reset(generator_->ReleaseModule());
  }

 private:
  void list_inputs(clang::CompilerInstance& instance) {
    clang::SourceManager& sources = instance.getSourceManager();
    for (auto it = sources.fileinfo_begin(); it != sources.fileinfo_end(); ++it) {
      const std::string path = it->first.getName().str();
      if (!path.starts_with(resource_directory())) unit_.inputs.push_back(path);
    }
  }

  llvm::LLVMContext& context_;
  TranslationUnit& unit_;
  const Repairs& repairs_;
  Limits limits_;
  std::unique_ptr<apple::AppleCheck> check_;  // until it is given to Clang; may be null
  apple::AppleCheck* running_check_ = nullptr;
  clang::CodeGenerator* generator_ = nullptr;
  clang::LangOptions language_;
};

class PrecompileAction : public clang::GeneratePCHAction {
 protected:
  bool BeginInvocation(clang::CompilerInstance& instance) override {
    describe_device(instance.getTarget());
    return GeneratePCHAction::BeginInvocation(instance);
  }

  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& instance,
                                                        llvm::StringRef file) override {
    use_own_context(instance, language_);
    auto consumer = GeneratePCHAction::CreateASTConsumer(instance, file);
    limits_.watch(instance.getPreprocessor());
    return consumer ? with_implicit_members(std::move(consumer), limits_) : nullptr;
  }

  void ExecuteAction() override {
    clang::CompilerInstance& instance = getCompilerInstance();
    instance.createSema(getTranslationUnitKind(), nullptr);
    parse_tokens(instance, {}, limits_);
  }

 private:
  Limits limits_{Limits::Allowance::File, Limits::deadline(Limits::Allowance::File)};
  clang::LangOptions language_;
};

// Clang names address spaces as OpenCL does. This puts Metal's names in their place.
std::string in_metal_terms(std::string text) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"const __private ", "constant "}, {"__private", "constant"}, {"__global", "device"},
      {"__local", "threadgroup"},        {"__generic ", ""},        {"__bf16", "bfloat"},
      {"C++ for OpenCL", "Metal"}};
  for (const auto& [from, to] : kNames) {
    for (size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
    }
  }
  return text;
}

// Prints diagnostics, and records the errors that the token pass can repair.
class DiagnosticPrinter : public clang::TextDiagnosticPrinter {
 public:
  DiagnosticPrinter(llvm::raw_ostream& stream, clang::DiagnosticOptions* options, Repairs& missing)
      : TextDiagnosticPrinter(stream, options), missing_(missing) {}

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                        const clang::Diagnostic& diagnostic) override {
    const unsigned place = diagnostic.getLocation().getRawEncoding();
    if (diagnostic.getID() == clang::diag::err_typecheck_cond_incompatible_operands ||
        diagnostic.getID() == clang::diag::err_bad_cxx_cast_generic ||
        is_narrow_component(diagnostic) || is_narrow_object(diagnostic)) {
      missing_.operands.insert(place);
    } else if (diagnostic.getID() == clang::diag::err_conditional_ambiguous) {
      missing_.packed.insert(place);
    } else if (diagnostic.getID() == clang::diag::err_local_cant_init) {
      missing_.initializers.insert(place);
    } else if (diagnostic.getID() == clang::diag::err_typecheck_unary_expr) {
      if (is_vector(diagnostic, 0)) missing_.only_swizzles.insert(place);
    } else if (diagnostic.getID() == clang::diag::err_typecheck_invalid_operands) {
      if (is_vector(diagnostic, 0)) {
        missing_.left_swizzles.insert(place);
      } else if (is_vector(diagnostic, 1)) {
        missing_.right_swizzles.insert(place);
      }
    }
    // A note may name the argument that does not fit: it says why no function could be called.
    if (level >= clang::DiagnosticsEngine::Error) {
      last_error_ = place;
      is_ambiguous_ = is_ambiguous(diagnostic.getID());
    } else if (is_ambiguous_ && diagnostic.getID() == clang::diag::note_ovl_candidate) {
      missing_.methods.insert(place);
    }
    if (level != clang::DiagnosticsEngine::Warning && mentions_text(diagnostic))
      missing_.texts.insert(last_error_);
    TextDiagnosticPrinter::HandleDiagnostic(level, diagnostic);
  }

 private:
  static bool is_ambiguous(unsigned id) {
    return id == clang::diag::err_ovl_ambiguous_member_call ||
           id == clang::diag::err_ovl_ambiguous_oper_unary ||
           id == clang::diag::err_ovl_ambiguous_oper_binary ||
           id == clang::diag::err_ovl_ambiguous_subscript_call ||
           id == clang::diag::err_ovl_ambiguous_object_call;
  }

  // Whether `half3(b)` was refused where b is bfloat, or the other way round.
  static bool is_narrow_component(const clang::Diagnostic& diagnostic) {
    if (diagnostic.getID() != clang::diag::err_ovl_no_viable_conversion_in_cast) return false;
    llvm::SmallString<128> message;
    diagnostic.FormatDiagnostic(message);
    const llvm::StringRef text = message.str();
    return (text.contains("'__bf16'") && text.contains("vec<half,")) ||
           (text.contains("'half'") && text.contains("vec<__bf16,"));
  }

  // Whether `bfloat b(h)` was refused where h is half, or the other way round.
  static bool is_narrow_object(const clang::Diagnostic& diagnostic) {
    if (diagnostic.getID() != clang::diag::err_init_conversion_failed) return false;
    llvm::SmallString<128> message;
    diagnostic.FormatDiagnostic(message);
    const llvm::StringRef text = message.str();
    return text.contains("'__bf16'") && text.contains("'half'");
  }

  // Whether the type that a diagnostic names is a vector.
  static bool is_vector(const clang::Diagnostic& diagnostic, unsigned argument) {
    if (diagnostic.getArgKind(argument) != clang::DiagnosticsEngine::ak_qualtype) return false;
    const auto type = clang::QualType::getFromOpaquePtr(
        reinterpret_cast<void*>(diagnostic.getRawArg(argument)));  // NOLINT: Clang's own encoding
    const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl();
    return record && record->getDeclName().isIdentifier() && record->getName() == "vec";
  }

  static bool mentions_text(const clang::Diagnostic& diagnostic) {
    llvm::SmallString<128> message;
    diagnostic.FormatDiagnostic(message);
    // Notes about parameters name no type: "cannot pass pointer to generic address space as a
    // pointer to address space 'constant' in 1st argument".
    return message.str().contains("'const char[") || message.str().contains("'const char *'") ||
           message.str().contains("as a pointer to address space '");
  }

  Repairs& missing_;
  unsigned last_error_ = 0;
  bool is_ambiguous_ = false;  // whether it says that there are several functions to call
};

// Runs an action for a configured invocation. Returns the warnings and throws the errors.
std::string execute(const Invocation& invocation, clang::FrontendAction& action, Repairs& missing) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  clang::CompilerInstance instance;
  instance.setVerboseOutputStream(llvm::nulls());  // otherwise it counts errors on stderr
  instance.setInvocation(invocation.options);
  instance.createDiagnostics(new DiagnosticPrinter(stream, &instance.getDiagnosticOpts(), missing));
  instance.setFileManager(new clang::FileManager(instance.getFileSystemOpts(), invocation.files));
  const bool ok = instance.ExecuteAction(action);
  stream.flush();
  text = in_metal_terms(std::move(text));
  if (!ok || instance.getDiagnostics().hasErrorOccurred()) throw CompileError(text);
  return text;
}

std::unique_ptr<apple::AppleCheck> apple_check(std::string_view source,
                                               const CompileOptions& options,
                                               TranslationUnit& unit) {
  if (!options.for_apple) return nullptr;
  const apple::Dialect dialect{language_version(options), starts_with_utils(source)};
  return std::make_unique<apple::AppleCheck>(dialect, unit.apple_reports);
}

}  // namespace

TranslationUnit parse(std::string_view source, const CompileOptions& options,
                      llvm::LLVMContext& context) {
  Repairs repairs;
  const auto allowance = options.path.empty() ? Limits::Allowance::Kernel : Limits::Allowance::File;
  const Limits limits(allowance, Limits::deadline(allowance));
  for (;;) {
    TranslationUnit unit;
    EmitAction action(context, unit, repairs, limits, apple_check(source, options, unit));
    Repairs missing;
    try {
      const std::string warnings = execute(kernel_invocation(source, options), action, missing);
      unit.warnings = warnings;
      unit.keeps_branches = options.coverage || options.mark_numbers || options.debug;
      unit.marks_lines = options.coverage || options.debug;
      unit.marks_stops = options.debug;
      unit.marks_math = options.mark_numbers;
      return unit;
    } catch (const CompileError&) {
      const size_t known = repairs.size();
      repairs.merge(missing);
      if (repairs.size() == known) throw;
    }
  }
}

void precompile_header(const std::string& header, const std::string& output) {
  PrecompileAction action;
  Repairs missing;
  execute(precompile_invocation(header, output), action, missing);
}

}  // namespace metal::compiler
