// The check "apple" of a launch: what no source shows. The compiler's reports come first.
#include "mlx/fast/metal_kernel/apple_check.h"

#include <algorithm>
#include <set>

#include "mlx/fast/metal_kernel/arguments.h"
#include "mlx/fast/metal_kernel/lexer.h"
#include "mlx/fast/metal_kernel/text.h"

namespace mlx::core::fast {

namespace {

using Report = ::metal::CheckReport;

Report make_report(std::string message) {
  Report report;
  report.kind = "apple";
  report.message = std::move(message);
  report.of_thread = false;
  return report;
}

// On a Mac, the name becomes a part of the function's name as it is.
void check_name(const std::string& name, std::vector<Report>& reports) {
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (c & 0x80);
  });
  if (plain) return;
  Report report = make_report(
      "the kernel's name " + in_quotes(name) +
      " becomes a part of its function's name, so it may have letters, digits and _ only");
  report.object = name;
  reports.push_back(std::move(report));
}

std::vector<Token> tokens_of(std::string_view body) {
  std::vector<Token> tokens;
  Lexer lexer(body);
  for (Token token = lexer.next(); token.kind != Token::Kind::End; token = lexer.next())
    tokens.push_back(token);
  return tokens;
}

// Whether the body may run a statement more than once: it has loops, or functions of its own.
bool may_repeat(const std::vector<Token>& tokens) {
  static const auto& words = *new std::set<std::string_view>{
      // never destroyed
      "for", "while", "do", "goto", "struct", "class", "union", "auto", "define"};
  return std::any_of(tokens.begin(), tokens.end(), [&](const Token& token) {
    return words.contains(token.text) || token.text == "#";
  });
}

// Whether a statement can start behind a token: not in the middle of an expression.
bool ends_statement(std::string_view text) { return text == ";" || text == "{" || text == "}"; }

// The place where the body mentions an output, if it does so once, in `output[...] = ...;`.
const Token* only_write(const std::vector<Token>& tokens, const std::string& output) {
  const Token* write = nullptr;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != Token::Kind::Identifier || tokens[i].text != output) continue;
    const bool is_write = (i == 0 || ends_statement(tokens[i - 1].text)) && i + 1 < tokens.size() &&
                          tokens[i + 1].text == "[";
    if (write || !is_write) return nullptr;
    write = &tokens[i];
  }
  return write;
}

::metal::CheckPlace place_in(const std::string& body, std::string_view part,
                             const std::string& file) {
  const auto offset = static_cast<size_t>(part.data() - body.data());
  const size_t begin = offset == 0 ? 0 : body.rfind('\n', offset - 1) + 1;
  return {file, static_cast<uint32_t>(line_of(body, part)),
          static_cast<uint32_t>(offset - begin) + 1,
          body.substr(begin, body.find('\n', offset) - begin)};
}

uint64_t volume(GridSize size) {
  auto [x, y, z] = size;
  return uint64_t(x) * uint64_t(y) * uint64_t(z);
}

// A grid with too few threads, as one of threadgroups would have: nobody writes the rest of an
// output. This is certain only if a thread writes at most one element and nothing else gives the
// output its values.
void check_grid(const KernelLaunch& launch, std::vector<Report>& reports) {
  const KernelVariant& variant = *launch.variant;
  const bool has_header = variant.source.find(".header\"\n") != std::string::npos;
  if (!variant.scope || has_header || launch.init_value) return;
  const std::vector<Token> tokens = tokens_of(variant.scope->body);
  const uint64_t threads = volume(launch.grid);
  if (threads == 0 || may_repeat(tokens)) return;
  for (size_t i = 0; i < launch.output_shapes.size(); ++i) {
    uint64_t elements = 1;
    for (auto extent : launch.output_shapes[i]) elements *= static_cast<uint64_t>(extent);
    if (elements <= threads || elements > threads * volume(launch.threadgroup)) continue;
    const std::string& output = variant.scope->outputs[i];
    const Token* write = only_write(tokens, output);
    if (!write) continue;
    Report report = make_report("the grid " + as_text(launch.grid) + " has " +
                                std::to_string(threads) + " threads, each writes one element of " +
                                in_quotes(output) + ", and that has " + std::to_string(elements) +
                                ": a grid counts threads, not threadgroups");
    report.place = place_in(variant.scope->body, write->text, variant.name);
    report.object = output;
    report.size = elements;
    reports.push_back(std::move(report));
  }
}

}  // namespace

std::vector<Report> check_for_apple(const KernelLaunch& launch) {
  const KernelVariant& variant = *launch.variant;
  std::vector<Report> reports = source_reports(variant);
  if (variant.scope) check_name(variant.name, reports);
  check_grid(launch, reports);
  for (Report& report : reports) report.kernel = variant.name;
  return reports;
}

}  // namespace mlx::core::fast
