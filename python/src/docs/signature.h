// A signature as a docstring shows it: name(a: array, /, axis: int = 0) -> array
#pragma once

#include <string>
#include <vector>

struct Parameter {
  std::string name;  // "/" and "*" are the separators, "*args" and "**kwargs" as written
  std::string type;
  std::string value;  // the default; empty without one

  bool is_mark() const { return name == "/" || name == "*"; }
};

struct Signature {
  std::string name;
  std::vector<Parameter> parameters;
  std::string result;

  // Prints it with types and result.
  std::string annotated() const;
  // Prints it in CPython's form, for __text_signature__.
  std::string plain() const;
};

// Whether a line is the signature of the function with that name.
bool is_signature_of(const std::string& line, const std::string& name);
Signature parse_signature(const std::string& line);
// Merges overloads: a parameter that one of them lacks gets a default.
Signature merge_overloads(const std::vector<Signature>& overloads);
// Parses pybind11's line and replaces its names of types by those of the documentation.
Signature from_pybind11(const std::string& name, const char* signature);
