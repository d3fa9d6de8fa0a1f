// A signature as a docstring shows it: name(a: array, /, axis: int = 0) -> array
#pragma once

#include <string>
#include <vector>

struct Parameter {
  std::string name;  // "/" and "*" are the marks, "*args" and "**kwargs" as written
  std::string type;
  std::string value;  // the default; empty without one

  bool is_mark() const { return name == "/" || name == "*"; }
};

struct Signature {
  std::string name;
  std::vector<Parameter> parameters;
  std::string result;

  // With types and result.
  std::string annotated() const;
  // In CPython's form, which gives __text_signature__.
  std::string plain() const;
};

// Whether a line is the signature of a function of that name.
bool is_signature_of(const std::string& line, const std::string& name);
Signature parse_signature(const std::string& line);
// One signature for overloads: what one of them does without has a default.
Signature merge_overloads(const std::vector<Signature>& overloads);
// pybind11's line with the names that the documentation has for types.
Signature from_pybind11(const std::string& name, const char* signature);
