// Generates the complete MSL source of a kernel around a user's body.
#include "mlx/fast/metal_kernel/signature.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "mlx/fast/metal_kernel/attributes.h"

namespace mlx::core::fast {

namespace {

constexpr std::string_view kPrelude =
    "#include \"mlx/backend/metal/kernels/utils.h\"\n"
    "using namespace metal;\n";

// Diagnostics refer to the user's text as NAME for the body and NAME.header for the header.
std::string line_marker(int line, std::string_view kernel_name, std::string_view suffix = "") {
  std::string marker = "#line " + std::to_string(line) + " \"";
  for (char c : kernel_name) {
    if (static_cast<unsigned char>(c) < ' ') continue;
    if (c == '"' || c == '\\') marker += '\\';
    marker += c;
  }
  return marker.append(suffix).append("\"\n");
}

void append_text(std::string& out, std::string_view text) {
  out += text;
  if (text.empty() || text.back() != '\n') out += '\n';
}

std::string prelude_and_header(const KernelText& text) {
  std::string out(kPrelude);
  if (!text.header.empty()) {
    out += line_marker(1, text.name, ".header");
    append_text(out, text.header);
  }
  return out;
}

// Collects the parameters of a signature, numbering the buffers.
class ParameterList {
 public:
  void buffer(std::string_view type, std::string_view name, std::string_view suffix = "") {
    std::string parameter(type);
    parameter.append(" ").append(name).append(suffix);
    parameter.append(" [[buffer(").append(std::to_string(buffers_++)).append(")]]");
    add(parameter);
  }
  void attribute(const KernelAttribute& a) {
    std::string parameter(a.type);
    parameter.append(" ").append(a.name).append(" [[").append(a.name).append("]]");
    add(parameter);
  }
  const std::string& text() const { return text_; }

 private:
  void add(const std::string& parameter) {
    text_ += (text_.empty() ? "\n    " : ",\n    ") + parameter;
  }
  int buffers_ = 0;
  std::string text_;
};

std::string input_type(const InputParameter& input) {
  std::string type = input.kind == InputKind::Device ? "const device " : "const constant ";
  type += input.type;
  return type + (input.kind == InputKind::Reference ? "&" : "*");
}

std::string parameters_of(const Signature& signature) {
  ParameterList list;
  for (const auto& input : signature.inputs) {
    list.buffer(input_type(input), input.name);
    if (input.companions.shape) list.buffer("const constant int*", input.name, "_shape");
    if (input.companions.strides) list.buffer("const constant int64_t*", input.name, "_strides");
    if (input.companions.ndim) list.buffer("const constant int&", input.name, "_ndim");
  }
  for (const auto& output : signature.outputs) {
    std::string type(output.type);
    list.buffer(signature.atomic_outputs ? "device atomic<" + type + ">*" : "device " + type + "*",
                output.name);
  }
  for (const auto& attribute : kKernelAttributes) {
    const auto& wanted = signature.attributes;
    if (std::find(wanted.begin(), wanted.end(), attribute.name) != wanted.end()) {
      list.attribute(attribute);
    }
  }
  return list.text();
}

std::string template_head(const std::vector<TemplateParameter>& templates) {
  if (templates.empty()) return "";
  std::string head = "template <";
  for (const auto& t : templates) {
    if (&t != &templates.front()) head += ", ";
    head.append(t.kind).append(" ").append(t.name);
  }
  return head + ">\n";
}

std::string template_values(const std::vector<TemplateParameter>& templates) {
  std::string values;
  for (const auto& t : templates) {
    values += (values.empty() ? "" : ", ") + t.value;
  }
  return values;
}

// FNV-1a gives the same value in every process, so that the compiler's disk cache finds the kernel.
uint64_t hash_of(std::initializer_list<std::string_view> parts) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (std::string_view part : parts) {
    for (unsigned char c : part) hash = (hash ^ c) * 0x100000001b3u;
    hash = (hash ^ 0xff) * 0x100000001b3u;
  }
  return hash;
}

std::string function_name(const KernelText& text, std::string_view head, std::string_view values,
                          std::string_view parameters) {
  std::string name = "custom_kernel_";
  for (char c : text.name) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    name += plain ? c : '_';
  }
  char digits[20];
  uint64_t hash = hash_of({text.name, text.header, text.body, head, values, parameters});
  std::snprintf(digits, sizeof digits, "_%016llx", static_cast<unsigned long long>(hash));
  return name + digits;
}

}  // namespace

size_t Signature::buffer_count() const {
  size_t count = inputs.size() + outputs.size();
  for (const auto& input : inputs) {
    count += input.companions.shape + input.companions.strides + input.companions.ndim;
  }
  return count;
}

Companions companions_of(std::string_view name, const IdentifierSet& mentioned,
                         const IdentifierSet& declared) {
  auto wanted = [&](std::string_view suffix) {
    std::string companion = std::string(name).append(suffix);
    return mentioned.contains(companion) && !declared.contains(companion);
  };
  return {wanted("_shape"), wanted("_strides"), wanted("_ndim")};
}

std::vector<std::string_view> attributes_of(const IdentifierSet& mentioned,
                                            const IdentifierSet& declared) {
  std::vector<std::string_view> found;
  for (const auto& attribute : kKernelAttributes) {
    if (mentioned.contains(attribute.name) && !declared.contains(attribute.name)) {
      found.push_back(attribute.name);
    }
  }
  return found;
}

GeneratedSource generate_source(const KernelText& text, const Signature& signature) {
  std::string head = template_head(signature.templates);
  std::string values = template_values(signature.templates);
  std::string parameters = parameters_of(signature);
  std::string function = function_name(text, head, values, parameters);

  std::string out = prelude_and_header(text);
  out += line_marker(1, text.name, ".signature");
  std::string opening = head + "[[kernel]] void " + function + "(" + parameters + ") {\n";
  out += opening;
  out += line_marker(1, text.name);
  append_text(out, text.body);
  auto opening_lines = std::count(opening.begin(), opening.end(), '\n');
  out += line_marker(static_cast<int>(opening_lines) + 1, text.name, ".signature");
  out += "}\n";
  if (!signature.templates.empty()) {
    std::string instance = function + "<" + values + ">";
    out += "\ntemplate [[host_name(\"" + function + "\")]] [[kernel]] decltype(" + instance + ") " +
           instance + ";\n";
  }
  return {std::move(function), std::move(out)};
}

std::string with_prelude(const KernelText& text) {
  std::string out = prelude_and_header(text);
  out += line_marker(1, text.name);
  append_text(out, text.body);
  return out;
}

}  // namespace mlx::core::fast
