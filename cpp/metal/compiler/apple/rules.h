// The rules of Apple's compiler that this one does not have. Each family is a file.
//
// A rule reports only what Apple's compiler certainly refuses: what the specification of the
// language says is no part of it, or what no overload of Apple's library can be chosen for.
#pragma once

#include <map>
#include <vector>

#include "clang/Lex/Token.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"
#include "metal/compiler/apple/reporter.h"

namespace clang {
class ASTContext;
class CallExpr;
class Decl;
class DeclaratorDecl;
class ExplicitCastExpr;
class FunctionDecl;
class Stmt;
class TypeLoc;
class VarDecl;
}  // namespace clang

namespace metal::compiler::apple {

// language.cpp: statements, declarations and types that are not in the language.
void check_statement(Reporter& reporter, const clang::Stmt& statement);
void check_declaration(Reporter& reporter, const clang::Decl& declaration);
void check_type(Reporter& reporter, const clang::TypeLoc& type);

// overloads.cpp: calls of the library for which several of Apple's overloads are equally good.
void check_overloads(Reporter& reporter, const clang::CallExpr& call);

// atomics.cpp: operations on types, in memory or with orders that have no atomics.
void check_atomics(Reporter& reporter, const clang::ASTContext& context,
                   const clang::CallExpr& call);

// versions.cpp: functions and types that a later version of the language brings.
void check_version(Reporter& reporter, const clang::CallExpr& call);
void check_version(Reporter& reporter, const clang::TypeLoc& type);

// address_spaces.cpp
class AddressSpaceRules {
 public:
  // The preprocessed source: `thread` is in it, but not in the AST.
  AddressSpaceRules(Reporter& reporter, const clang::ASTContext& context,
                    const std::vector<clang::Token>& tokens);
  void check_declarator(const clang::DeclaratorDecl& declaration) const;
  void check_cast(const clang::ExplicitCastExpr& cast) const;
  void check_variable(const clang::VarDecl& variable) const;

 private:
  void check_pointers(clang::TypeLoc type) const;
  void check_pointee(clang::SourceLocation star, const char* what, clang::TypeLoc pointee) const;
  bool is_in_thread(clang::TypeLoc pointee, size_t star) const;

  Reporter& reporter_;
  const clang::ASTContext& context_;
  const std::vector<clang::Token>& tokens_;
  llvm::DenseMap<unsigned, size_t> places_;  // index of the token at a location
};

// threadgroup_memory.cpp: threadgroup variables of one kernel that need more memory than there is.
class ThreadgroupMemory {
 public:
  ThreadgroupMemory(Reporter& reporter, const clang::ASTContext& context)
      : reporter_(reporter), context_(context) {}
  void add(const clang::VarDecl& variable);

 private:
  Reporter& reporter_;
  const clang::ASTContext& context_;
  std::map<const clang::FunctionDecl*, uint64_t> bytes_;
};

// calls.cpp: recursion, and calls of kernels.
class CallRules {
 public:
  explicit CallRules(Reporter& reporter) : reporter_(reporter) {}
  void add(const clang::FunctionDecl& caller, const clang::FunctionDecl& callee,
           clang::SourceLocation place);
  void report_recursion() const;

 private:
  struct Call {
    const clang::FunctionDecl* callee;
    clang::SourceLocation place;
  };

  Reporter& reporter_;
  std::map<const clang::FunctionDecl*, std::vector<Call>> calls_;
  std::vector<const clang::FunctionDecl*> kernels_;
};

bool is_kernel(const clang::FunctionDecl& function);
// The name of a function or class of the library, in namespace metal; empty for others.
llvm::StringRef library_name(const Reporter& reporter, const clang::Decl& declaration);

}  // namespace metal::compiler::apple
