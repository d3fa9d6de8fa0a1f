#include "metal/compiler/reflection.h"

#include <algorithm>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/GlobalDecl.h"
#include "clang/CodeGen/ModuleBuilder.h"
#include "clang/Frontend/CompilerInstance.h"
#include "metal/compiler/front_end.h"
#include "metal/compiler/type_names.h"

namespace metal::compiler {
namespace {

constexpr uint32_t kBufferIndices = 31;

// A Metal attribute of a declaration, with its integer or string argument.
struct Attribute {
  std::string name;
  std::optional<uint64_t> number;
  std::string text;
  clang::SourceLocation location;
};

class Reflector {
 public:
  Reflector(clang::CompilerInstance& instance, clang::CodeGenerator& generator,
            TranslationUnit& unit)
      : context_(instance.getASTContext()),
        diagnostics_(instance.getDiagnostics()),
        generator_(generator),
        unit_(unit) {}

  void run() { visit(context_.getTranslationUnitDecl()); }

 private:
  // Visits the user's own declarations only, as it would otherwise load the whole precompiled
  // library.
  void visit(clang::DeclContext* scope) {
    for (auto it = scope->noload_decls_begin(); it != scope->noload_decls_end(); ++it) {
      if (it->isFromASTFile() && !llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl>(*it))
        continue;
      visit_declaration(*it);
    }
  }

  void visit_declaration(clang::Decl* declaration) {
    if (auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration)) {
      visit_function(function);
    } else if (auto* pattern = llvm::dyn_cast<clang::FunctionTemplateDecl>(declaration)) {
      if (!pattern->isThisDeclarationADefinition()) return;
      for (clang::FunctionDecl* specialization : pattern->specializations())
        visit_function(specialization);
    } else if (auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration)) {
      visit_variable(variable);
    } else if (auto* scope = llvm::dyn_cast<clang::NamespaceDecl>(declaration)) {
      visit(scope);
    } else if (auto* linkage = llvm::dyn_cast<clang::LinkageSpecDecl>(declaration)) {
      visit(linkage);
    }
  }

  std::vector<Attribute> attributes(const clang::Decl* declaration) {
    std::vector<Attribute> found;
    for (const auto* annotation : declaration->specific_attrs<clang::AnnotateAttr>()) {
      const auto name = annotated_attribute(std::string_view(annotation->getAnnotation()));
      if (!name) continue;
      Attribute attribute{std::string(*name), std::nullopt, {}, annotation->getLocation()};
      for (const clang::Expr* argument : annotation->args()) {
        clang::Expr::EvalResult value;
        const clang::Expr* plain = argument->IgnoreParenImpCasts();
        if (const auto* constant = llvm::dyn_cast<clang::ConstantExpr>(plain))
          plain = constant->getSubExpr()->IgnoreParenImpCasts();
        if (const auto* text = llvm::dyn_cast<clang::StringLiteral>(plain)) {
          attribute.text = text->getString().str();
        } else if (argument->EvaluateAsInt(value, context_)) {
          attribute.number = value.Val.getInt().getZExtValue();
        }
      }
      found.push_back(std::move(attribute));
    }
    return found;
  }

  void visit_function(clang::FunctionDecl* function) {
    if (function->isDependentContext()) return;
    KernelDeclaration kernel;
    bool is_kernel = false;
    for (const Attribute& attribute : attributes(function)) {
      is_kernel |= attribute.name == "kernel";
      if (attribute.name == "host_name") kernel.name = attribute.text;
      if (attribute.name == "max_total_threads_per_threadgroup")
        kernel.max_total_threads = attribute.number.value_or(0);
    }
    if (!is_kernel) return;
    if (function->isTemplateInstantiation() &&
        function->getTemplateSpecializationKind() != clang::TSK_ExplicitInstantiationDefinition) {
      return;
    }
    if (!function->doesThisDeclarationHaveABody() && !function->isTemplateInstantiation()) return;
    if (!function->getReturnType()->isVoidType())
      error(function->getLocation(), "a kernel must return void");
    if (kernel.name.empty()) kernel.name = function->getNameAsString();
    kernel.symbol = generator_.GetMangledName(clang::GlobalDecl(function)).str();
    number_buffers(function, kernel);
    unit_.kernels.push_back(std::move(kernel));
  }

  // Buffers without an index get the first unused ones, in order.
  void number_buffers(clang::FunctionDecl* function, KernelDeclaration& kernel) {
    std::vector<bool> numbered;
    for (const clang::ParmVarDecl* parameter : function->parameters()) {
      bool has_index = true;
      for (const KernelArgument& part : parts(argument(parameter, has_index), has_index)) {
        kernel.arguments.push_back(part);
        numbered.push_back(has_index);
        if (has_index) refuse_index_in_use(parameter, kernel.arguments, numbered);
      }
    }
    auto taken = [&](ArgumentKind kind, uint32_t index) {
      for (size_t i = 0; i < kernel.arguments.size(); ++i) {
        const ArgumentInfo& info = kernel.arguments[i].info;
        if (numbered[i] && info.kind == kind && info.index == index) return true;
      }
      return false;
    };
    for (size_t i = 0; i < kernel.arguments.size(); ++i) {
      ArgumentInfo& info = kernel.arguments[i].info;
      if (numbered[i] || info.kind == ArgumentKind::Attribute) continue;
      const uint32_t count = std::max(1u, kernel.arguments[i].array_elements);
      for (uint32_t free = 0; free < count; ++info.index)
        free = taken(info.kind, info.index) ? 0 : free + 1;
      info.index -= count;
      for (uint32_t part = 0; part < count; ++part) {
        kernel.arguments[i + part].info.index = info.index + part;
        numbered[i + part] = true;
      }
    }
  }

  // The elements of an array of buffers are arguments with consecutive indices.
  static std::vector<KernelArgument> parts(KernelArgument argument, bool has_index) {
    if (argument.array_elements == 0) return {argument};
    std::vector<KernelArgument> elements(argument.array_elements, argument);
    for (uint32_t i = 0; i < elements.size(); ++i) {
      elements[i].info.name += "[" + std::to_string(i) + "]";
      if (has_index) elements[i].info.index += i;
      if (i > 0) elements[i].array_elements = 0;
    }
    return elements;
  }

  // The last argument may share its index only if a function constant tells whether it exists.
  void refuse_index_in_use(const clang::ParmVarDecl* parameter,
                           const std::vector<KernelArgument>& arguments,
                           const std::vector<bool>& numbered) {
    const ArgumentInfo& last = arguments.back().info;
    for (size_t i = 0; i + 1 < arguments.size(); ++i) {
      const ArgumentInfo& other = arguments[i].info;
      const bool same = numbered[i] && other.kind == last.kind && other.index == last.index;
      if (!same || other.optional || last.optional) continue;
      error(parameter->getLocation(), "'" + other.name + "' has this " + index_name(last.kind) +
                                          " index, " + std::to_string(last.index) + ", already");
      return;
    }
  }

  static std::string index_name(ArgumentKind kind) {
    return kind == ArgumentKind::Buffer ? "buffer" : "threadgroup";
  }

  KernelArgument argument(const clang::ParmVarDecl* parameter, bool& has_index) {
    KernelArgument result;
    ArgumentInfo& info = result.info;
    info.name = parameter->getNameAsString();
    const clang::QualType type = parameter->getType();
    result.bytes = context_.getTypeSizeInChars(type.getNonReferenceType()).getQuantity();
    has_index = false;
    bool known = false;
    for (const Attribute& attribute : attributes(parameter)) {
      if (attribute.name == "buffer" || attribute.name == "threadgroup") {
        info.kind =
            attribute.name == "buffer" ? ArgumentKind::Buffer : ArgumentKind::ThreadgroupMemory;
        info.index = attribute.number.value_or(0);
        has_index = known = true;
        if (info.index >= kBufferIndices) {
          error(attribute.location,
                index_name(info.kind) + " index must be below " + std::to_string(kBufferIndices));
        }
      } else if (attribute.name == "optional") {
        info.optional = true;
      } else if (const auto builtin = find_builtin(attribute.name)) {
        info.kind = ArgumentKind::Attribute;
        info.attribute = attribute.name;
        result.builtin = builtin_type(parameter, *builtin);
        known = true;
      }
    }
    if (const auto [element, count] = array_of_pointers(type); count > 0) {
      describe_memory(parameter, element, result);
      result.array_elements = count;
      result.bytes *= count;
      check_last_index(parameter, info, count);
    } else if (!type->isPointerType() && !type->isReferenceType()) {
      if (!known || info.kind != ArgumentKind::Attribute) {
        error(parameter->getLocation(),
              "a kernel's argument must be a pointer or reference with an address space, or have "
              "one of Metal's input attributes");
      }
    } else {
      describe_memory(parameter, type, result);
    }
    return result;
  }

  // The element type and length of array<T*, N>.
  static std::pair<clang::QualType, uint32_t> array_of_pointers(clang::QualType type) {
    const auto* record =
        llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(type->getAsCXXRecordDecl());
    if (!record || record->getName() != "array") return {};
    const clang::TemplateArgumentList& arguments = record->getTemplateArgs();
    if (arguments.size() != 2 || arguments[0].getKind() != clang::TemplateArgument::Type ||
        !arguments[0].getAsType()->isPointerType() ||
        arguments[1].getKind() != clang::TemplateArgument::Integral) {
      return {};
    }
    const uint64_t count = arguments[1].getAsIntegral().getLimitedValue(kBufferIndices + 1);
    return {arguments[0].getAsType(), static_cast<uint32_t>(count)};
  }

  void check_last_index(const clang::ParmVarDecl* parameter, const ArgumentInfo& info,
                        uint32_t count) {
    if (info.index < kBufferIndices && info.index + count > kBufferIndices) {
      error(parameter->getLocation(), "the last " + index_name(info.kind) +
                                          " index of an array must be below " +
                                          std::to_string(kBufferIndices));
    }
  }

  void describe_memory(const clang::ParmVarDecl* parameter, clang::QualType type,
                       KernelArgument& result) {
    ArgumentInfo& info = result.info;
    const clang::QualType pointee = type->getPointeeType();
    const clang::LangAS space = pointee.getAddressSpace();
    const unsigned number = context_.getTargetAddressSpace(space);
    info.address_space = static_cast<AddressSpace>(number);
    info.writable = info.address_space == AddressSpace::Device && !pointee.isConstQualified();
    if (!pointee->isIncompleteType() && !pointee->isVoidType()) {
      info.element_size = context_.getTypeSizeInChars(pointee).getQuantity();
    }
    info.element_type = type_name(pointee.getUnqualifiedType());
    result.bytes = 8;
    if (info.address_space == AddressSpace::Threadgroup) {
      info.kind = ArgumentKind::ThreadgroupMemory;
    } else if (info.address_space == AddressSpace::Device ||
               info.address_space == AddressSpace::Constant) {
      info.kind = ArgumentKind::Buffer;
    } else {
      error(parameter->getLocation(),
            "a kernel's pointer argument must be in the device, constant or threadgroup address "
            "space");
    }
  }

  // Spells a type as Metal does: Clang has resolved Metal's names, which are aliases.
  std::string type_name(clang::QualType type) {
    type = type.getCanonicalType().getUnqualifiedType();
    const auto* record =
        llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(type->getAsCXXRecordDecl());
    if (record && record->getTemplateArgs().size() >= 1 &&
        record->getTemplateArgs()[0].getKind() == clang::TemplateArgument::Type) {
      const std::string element = type_name(record->getTemplateArgs()[0].getAsType());
      const llvm::StringRef name = record->getName();
      if (name == "vec" || name == "packed_vec") {
        const std::string size =
            std::to_string(record->getTemplateArgs()[1].getAsIntegral().getZExtValue());
        return (name == "vec" ? "" : "packed_") + element + size;
      }
      if (record->getTemplateArgs().size() == 1) return name.str() + "<" + element + ">";
    }
    return scalar_name(type);
  }

  BuiltinType builtin_type(const clang::ParmVarDecl* parameter, Builtin builtin) {
    BuiltinType result{builtin, 4, 1};
    clang::QualType type = parameter->getType().getNonReferenceType().getCanonicalType();
    if (const auto* record = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(
            type->getAsCXXRecordDecl());
        record && record->getName() == "vec") {
      result.components = record->getTemplateArgs()[1].getAsIntegral().getZExtValue();
      type = record->getTemplateArgs()[0].getAsType();
    }
    if (!type->isIntegerType() || context_.getTypeSize(type) < 16 ||
        context_.getTypeSize(type) > 32) {
      error(parameter->getLocation(),
            "an input attribute needs a 16- or 32-bit integer or a vector of them");
    } else {
      result.element_bytes = context_.getTypeSize(type) / 8;
    }
    if (result.components > component_count(builtin))
      error(parameter->getLocation(), "this input attribute has fewer components");
    return result;
  }

  void visit_variable(clang::VarDecl* variable) {
    for (const Attribute& attribute : attributes(variable)) {
      if (attribute.name != "function_constant") continue;
      FunctionConstantInfo constant;
      constant.name = generator_.GetMangledName(clang::GlobalDecl(variable)).str();
      constant.index = attribute.number.value_or(0);
      if (const auto type = vector_type(variable->getType())) {
        constant.type = type->element;
        constant.components = type->components;
        unit_.constants.push_back(constant);
      } else {
        error(variable->getLocation(), "a function constant must be a scalar or a vector");
      }
    }
  }

  void error(clang::SourceLocation location, llvm::StringRef message) {
    diagnostics_.Report(location, diagnostics_.getDiagnosticIDs()->getCustomDiagID(
                                      clang::DiagnosticIDs::Error, message));
  }

  clang::ASTContext& context_;
  clang::DiagnosticsEngine& diagnostics_;
  clang::CodeGenerator& generator_;
  TranslationUnit& unit_;
};

}  // namespace

void reflect(clang::CompilerInstance& instance, clang::CodeGenerator& generator,
             TranslationUnit& unit) {
  Reflector(instance, generator, unit).run();
}

}  // namespace metal::compiler
