// The text in front of an npy file's elements: a dictionary in Python's notation.
#include "mlx/io/npy_header.h"

#include <set>

namespace mlx::core::io {

namespace {

class HeaderParser {
 public:
  HeaderParser(std::string_view text, const Refusal& refuse) : text_(text), refuse_(refuse) {}

  NpyHeader parse() {
    NpyHeader header;
    std::set<std::string> seen;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      if (!seen.insert(key).second) fail("names " + in_quotes(key) + " twice");
      expect(':');
      value(key, header);
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    for (const char* key : {"descr", "fortran_order", "shape"}) {
      if (seen.count(key) == 0) fail(std::string("does not name \"") + key + "\"");
    }
    if (next() != '\0') fail("goes on after its end");
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    refuse_("The header " + what + ": " + in_quotes(text_) + ".");
  }

  // Returns the next character that is not a space, or zero at the end.
  char next() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool accept(char wanted) {
    if (next() != wanted) return false;
    ++at_;
    return true;
  }

  bool accept_word(std::string_view word) {
    next();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) fail(std::string("lacks a '") + wanted + "'");
  }

  std::string string() {
    const char quote = next();
    if (quote != '\'' && quote != '"') fail("lacks a string");
    const size_t end = text_.find(quote, at_ + 1);
    if (end == text_.npos) fail("has a string without an end");
    const std::string_view found = text_.substr(at_ + 1, end - at_ - 1);
    if (found.find('\\') != found.npos) fail("has a string with an escape");
    at_ = end + 1;
    return std::string(found);
  }

  uint64_t integer() {
    const char first = next();
    if (first < '0' || first > '9') fail("lacks a number that is not negative");
    uint64_t number = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      if (__builtin_mul_overflow(number, 10, &number) ||
          __builtin_add_overflow(number, text_[at_] - '0', &number)) {
        fail("has a number that is too large");
      }
    }
    accept('L');  // the suffix of Python 2's long integers
    return number;
  }

  std::vector<uint64_t> tuple() {
    std::vector<uint64_t> numbers;
    expect('(');
    while (!accept(')')) {
      numbers.push_back(integer());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return numbers;
  }

  void value(const std::string& key, NpyHeader& header) {
    if (key == "descr") {
      if (next() == '[')
        refuse_("Elements with fields are not supported: " + in_quotes(text_) + ".");
      header.descr = string();
    } else if (key == "fortran_order") {
      header.fortran_order = accept_word("True");
      if (!header.fortran_order && !accept_word("False")) fail("lacks True or False");
    } else if (key == "shape") {
      header.shape = tuple();
    } else {
      fail("has an unknown key " + in_quotes(key));
    }
  }

  std::string_view text_;
  const Refusal& refuse_;
  size_t at_ = 0;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text, const Refusal& refuse) {
  return HeaderParser(text, refuse).parse();
}

}  // namespace mlx::core::io
