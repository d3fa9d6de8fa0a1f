// Docstrings of bound functions: parses their sections, adds common descriptions, installs them.
#include "docs/docs.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <set>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "docs/signature.h"

namespace {

// Default descriptions of arguments that mean the same everywhere.
const std::map<std::string, const char*> kCommonArguments = {
    {"a", "The input array."},
    {"b", "The second input."},
    {"stream", "Where to run. None means the default stream of the default device."},
    {"key", "A random key. None takes the next key of the implicit sequence."},
    {"dtype", "The type of the elements."},
    {"decimals",
     "The number of decimal places to keep; a negative one rounds to tens, hundreds, ..."},
    {"nan", "What replaces NaN."},
    {"posinf", "What replaces infinity. None means the largest finite value."},
    {"neginf", "What replaces negative infinity. None means the smallest finite value."},
    {"rtol", "The allowed difference relative to the second operand."},
    {"atol", "The allowed absolute difference."},
    {"equal_nan", "Whether NaN counts as equal to NaN."},
    {"keepdims", "Whether reduced axes stay, with length 1."},
};

constexpr const char* kSections[] = {"Args:", "Returns:", "Raises:", "Example:"};

bool is_section(const std::string& line) {
  for (const char* section : kSections)
    if (line == section) return true;
  return false;
}

// The parts of a docstring. Sections are indented by four.
struct DocText {
  std::vector<Signature> signatures;
  std::map<std::string, std::string> sections;   // the text before the first section has no name
  std::map<std::string, std::string> arguments;  // the items of "Args:"
};

std::string without_end(std::string text) {
  size_t last = text.find_last_not_of(" \n");
  text.resize(last == std::string::npos ? 0 : last + 1);
  return text;
}

// "    axis: The axis." begins an item; lines that are indented further continue it.
void add_argument_line(DocText& doc, std::string& current, const std::string& line) {
  size_t colon = line.find(": ");
  bool is_item = line.size() > 4 && line[4] != ' ' && colon != std::string::npos;
  if (is_item) {
    current = line.substr(4, colon - 4);
    doc.arguments[current] = line.substr(colon + 2);
  } else if (!current.empty() && !line.empty()) {
    doc.arguments[current] += "\n" + line;
  }
}

DocText parse_doc(const std::string& name, const char* text) {
  DocText doc;
  std::istringstream lines(text);
  std::string section, argument;
  for (std::string line; std::getline(lines, line);) {
    if (is_section(line)) {
      section = line;
    } else if (section == "Args:") {
      add_argument_line(doc, argument, line);
    } else if (section.empty() && doc.sections[""].empty() && is_signature_of(line, name)) {
      doc.signatures.push_back(parse_signature(line));
    } else if (!line.empty() || !doc.sections[section].empty()) {
      doc.sections[section] += line + "\n";
    }
  }
  for (auto& [_, content] : doc.sections) content = without_end(content);
  return doc;
}

std::string describe(const Parameter& p, const std::string& text) {
  std::string type = p.type;
  if (!p.value.empty()) type += type.empty() ? "optional" : ", optional";
  return "    " + p.name + (type.empty() ? "" : " (" + type + ")") + ": " + without_end(text) +
         "\n";
}

// Describes the items of "Args:" that are not `described` yet, in the order of the signature.
std::string print_arguments(const Signature& signature, DocText& doc,
                            std::set<std::string>& described) {
  std::string result;
  for (const Parameter& p : signature.parameters) {
    if (!described.insert(p.name).second) continue;
    auto written = doc.arguments.find(p.name);
    auto common = kCommonArguments.find(p.name);
    if (written != doc.arguments.end()) {
      result += describe(p, written->second);
      doc.arguments.erase(written);
    } else if (common != kCommonArguments.end()) {
      result += describe(p, common->second);
    }
  }
  return result;
}

void add_section(std::string& out, const char* title, const std::string& content) {
  if (!content.empty()) out += std::string("\n\n") + title + "\n" + content;
}

std::string finished_doc(const std::string& text_name, DocText doc) {
  Signature shown = merge_overloads(doc.signatures);
  Signature text_signature = shown;
  text_signature.name = text_name;  // CPython looks for this one
  std::string out = text_signature.plain() + "\n--\n\n";
  std::string arguments;
  std::set<std::string> described;
  for (const Signature& s : doc.signatures) {
    out += (&s == doc.signatures.data() ? "" : "\n") + s.annotated();
    arguments += print_arguments(s, doc, described);
  }
  if (!doc.arguments.empty()) {
    throw std::logic_error("The docstring of " + shown.name + " describes " +
                           doc.arguments.begin()->first + ", which is no argument.");
  }
  if (!doc.sections[""].empty()) out += "\n\n" + doc.sections[""];
  add_section(out, "Args:", without_end(arguments));
  std::string returns = doc.sections["Returns:"];
  if (!returns.empty()) returns = "    " + shown.result + ": " + returns.substr(4);
  add_section(out, "Returns:", returns);
  add_section(out, "Raises:", doc.sections["Raises:"]);
  add_section(out, "Example:", doc.sections["Example:"]);
  return out;
}

// pybind11's record of a function, or null for other functions.
const py::detail::function_record* record_of(PyObject* function) {
  if (!PyCFunction_Check(function)) return nullptr;
  PyObject* self = PyCFunction_GET_SELF(function);
  return self ? py::detail::function_record_ptr_from_PyObject(self) : nullptr;
}

bool is_finished(const char* doc) { return doc && std::strstr(doc, "\n--\n\n"); }

// `name` is the name that users call.
void finish_doc(PyObject* function, const std::string& name) {
  const auto* record = record_of(function);
  if (!record) return;
  auto* definition = reinterpret_cast<PyCFunctionObject*>(function)->m_ml;
  if (is_finished(definition->ml_doc)) return;
  DocText doc = parse_doc(name, definition->ml_doc ? definition->ml_doc : "");
  if (doc.signatures.empty()) doc.signatures = {from_pybind11(name, record->signature)};
  std::string text = finished_doc(definition->ml_name, std::move(doc));
  char* copy = strdup(text.c_str());
  if (!copy) throw std::bad_alloc();
  std::free(const_cast<char*>(definition->ml_doc));  // as pybind11 does
  definition->ml_doc = copy;
}

void finish_class(py::handle type) {
  for (auto [key, value] : py::dict(type.attr("__dict__"))) {
    auto name = key.cast<std::string>();
    bool is_internal = name.starts_with("_pybind11");
    if (PyInstanceMethod_Check(value.ptr()) && !is_internal) {
      finish_doc(PyInstanceMethod_GET_FUNCTION(value.ptr()), name);
    }
  }
}

}  // namespace

void finish_docs(const py::module_& m) {
  for (auto [key, value] : py::dict(m.attr("__dict__"))) {
    if (PyModule_Check(value.ptr())) {
      finish_docs(py::reinterpret_borrow<py::module_>(value));
    } else if (PyType_Check(value.ptr())) {
      finish_class(value);
    } else if (PyCFunction_Check(value.ptr())) {
      // An alias keeps the name of the original function.
      finish_doc(value.ptr(), reinterpret_cast<PyCFunctionObject*>(value.ptr())->m_ml->ml_name);
    }
  }
}

std::string unary_doc(const char* sentence) {
  return std::string(sentence) + R"(

Returns:
    The results, in an array of the same shape.)";
}

std::string binary_doc(const char* sentence) {
  return std::string(sentence) + R"(

Args:
    a: The first operand.
    b: The second operand. Both are broadcast to one shape and converted to one type.

Returns:
    The results, in an array of the common shape.)";
}
