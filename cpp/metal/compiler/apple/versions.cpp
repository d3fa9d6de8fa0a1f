
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/TypeLoc.h"
#include "metal/compiler/apple/rules.h"

namespace metal::compiler::apple {
namespace {

struct Feature {
  llvm::StringRef name;
  uint32_t since;
};

// Functions of the library, and classes with methods, that are younger than Metal 3.0.
constexpr Feature kFeatures[] = {
    {"atomic_thread_fence", version(3, 2)},
    {"os_log", version(3, 2)},
};

constexpr uint32_t kBfloat = version(3, 1);
constexpr llvm::StringRef kBfloatTypes[] = {"bfloat2",
                                            "bfloat3",
                                            "bfloat4",
                                            "packed_bfloat2",
                                            "packed_bfloat3",
                                            "packed_bfloat4",
                                            "simdgroup_bfloat8x8"};

void report_version(Reporter& reporter, clang::SourceLocation place, llvm::StringRef name,
                    uint32_t since) {
  const auto text = [](uint32_t number) {
    return "Metal " + std::to_string(number >> 16) + "." + std::to_string(number & 0xffff);
  };
  if (reporter.dialect().language < since) {
    reporter.report(place, "'" + name.str() + "' comes with " + text(since) +
                               ", and this is compiled as " + text(reporter.dialect().language));
  }
}

}  // namespace

void check_version(Reporter& reporter, const clang::CallExpr& call) {
  const clang::FunctionDecl* callee = call.getDirectCallee();
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(callee);
  const llvm::StringRef name =
      method ? library_name(reporter, *method->getParent()) : library_name(reporter, *callee);
  if (name == "printf")
    reporter.report(call.getExprLoc(),
                    "Metal has no 'printf': os_log, of Metal 3.2, prints messages");
  for (const Feature& feature : kFeatures) {
    if (name == feature.name) report_version(reporter, call.getExprLoc(), name, feature.since);
  }
}

void check_version(Reporter& reporter, const clang::TypeLoc& type) {
  if (reporter.dialect().language >= kBfloat) return;
  if (const auto builtin = type.getAs<clang::BuiltinTypeLoc>()) {
    if (builtin.getTypePtr()->getKind() == clang::BuiltinType::BFloat16)
      report_version(reporter, type.getBeginLoc(), "bfloat", kBfloat);
    return;
  }
  const clang::NamedDecl* alias = nullptr;
  if (const auto name = type.getAs<clang::TypedefTypeLoc>()) alias = name.getTypedefNameDecl();
  if (const auto name = type.getAs<clang::UsingTypeLoc>())
    alias = name.getFoundDecl()->getTargetDecl();
  if (alias) {
    const llvm::StringRef text = library_name(reporter, *alias);
    if (llvm::is_contained(kBfloatTypes, text))
      report_version(reporter, type.getBeginLoc(), text, kBfloat);
  }
}

}  // namespace metal::compiler::apple
