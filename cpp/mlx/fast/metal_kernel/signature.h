// Generates the complete MSL source of a kernel around a user's body: prelude, header, signature,
// body and explicit instantiation. It does not depend on arrays.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mlx/fast/metal_kernel/lexer.h"

namespace mlx::core::fast {

// How an input is passed: of rank 0, with fewer than eight elements, or any other.
enum class InputKind : char { Reference, Constant, Device };

// Which of NAME_shape, NAME_strides and NAME_ndim accompany an input.
struct Companions {
  bool shape = false;
  bool strides = false;
  bool ndim = false;
};

struct InputParameter {
  std::string_view name;
  std::string_view type;
  InputKind kind;
  Companions companions;
};

struct OutputParameter {
  std::string_view name;
  std::string_view type;
};

struct TemplateParameter {
  std::string_view name;
  std::string_view kind;  // "typename", "int" or "bool"
  std::string value;
};

// The user's texts and names.
struct KernelText {
  std::string name;
  std::string header;
  std::string body;
};

struct Signature {
  std::vector<InputParameter> inputs;
  std::vector<OutputParameter> outputs;
  std::vector<TemplateParameter> templates;
  std::vector<std::string_view> attributes;  // names in table 5.8
  bool atomic_outputs = false;

  // The number of [[buffer(n)]] indices that the parameters use.
  size_t buffer_count() const;
};

struct GeneratedSource {
  std::string function;  // the function's host name, unique to this text, these types and values
  std::string source;
};

// The companions of input `name` that the body mentions and that are not parameters of the user's.
Companions companions_of(std::string_view name, const IdentifierSet& mentioned,
                         const IdentifierSet& declared);

// The attributes that the body mentions and that are not parameters of the user's.
std::vector<std::string_view> attributes_of(const IdentifierSet& mentioned,
                                            const IdentifierSet& declared);

GeneratedSource generate_source(const KernelText& text, const Signature& signature);

// The source of a complete kernel, after the same prelude.
std::string with_prelude(const KernelText& text);

// Returns why `name` cannot name a parameter; empty if it can.
std::string reason_against_name(std::string_view name);

}  // namespace mlx::core::fast
