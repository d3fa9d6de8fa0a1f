#include <algorithm>

#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"
#include "clang/AST/DeclCXX.h"
#include "metal/compiler/apple/rules.h"
#include "metal/compiler/attributes.h"

namespace metal::compiler::apple {

bool is_kernel(const clang::FunctionDecl& function) {
  return llvm::any_of(function.specific_attrs<clang::AnnotateAttr>(), [](const auto* attribute) {
    return attribute->getAnnotation() == annotation_name("kernel");
  });
}

void CallRules::add(const clang::FunctionDecl& caller, const clang::FunctionDecl& callee,
                    clang::SourceLocation place) {
  if (is_kernel(callee)) {
    return reporter_.report(
        place, "'" + callee.getNameAsString() + "' is a kernel, which no function may call");
  }
  const clang::FunctionDecl* from = caller.getCanonicalDecl();
  const auto [known, is_new] = calls_.try_emplace(from);
  if (is_new && is_kernel(caller)) kernels_.push_back(from);
  // What is constexpr may end when the source is compiled.
  if (!callee.isConstexpr() && reporter_.is_users(callee.getLocation()))
    known->second.push_back({callee.getCanonicalDecl(), place});
}

// Walks from every kernel along the calls. A call of a function whose own calls are being walked is
// recursion.
void CallRules::report_recursion() const {
  struct Step {
    const clang::FunctionDecl* function;
    size_t next = 0;
  };
  enum class State { Open, Done };
  std::map<const clang::FunctionDecl*, State> states;
  for (const clang::FunctionDecl* kernel : kernels_) {
    std::vector<Step> path = {{kernel}};
    states.emplace(kernel, State::Open);
    while (!path.empty()) {
      Step& step = path.back();
      const auto calls = calls_.find(step.function);
      if (calls == calls_.end() || step.next == calls->second.size()) {
        states[step.function] = State::Done;
        path.pop_back();
        continue;
      }
      const Call& call = calls->second[step.next++];
      const auto [state, is_new] = states.emplace(call.callee, State::Open);
      if (is_new) {
        path.push_back({call.callee});
      } else if (state->second == State::Open) {
        const std::string name = "'" + call.callee->getNameAsString() + "'";
        const bool directly = call.callee == step.function;
        reporter_.report(call.place,
                         directly ? "recursion: " + name + " calls itself"
                                  : "recursion: through this call, " + name + " calls itself");
      }
    }
  }
}

}  // namespace metal::compiler::apple
