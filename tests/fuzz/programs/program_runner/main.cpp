// Reads programs, compiles each once, runs it in several forms and reports differences: see
// README.md.
#include <cstdio>
#include <cstdlib>

#include "run_form.h"

namespace metal::fuzz {
namespace {

constexpr const char* kPrelude = "#include <metal_stdlib>\nusing namespace metal;\n";

std::string source_of(const ProgramRequest& request) { return request.source + "\n"; }

// The program's translation unit, reduced to what its kernel needs. Checked kernels are compiled
// from the source again.
std::shared_ptr<Program> pick(const Program& library, const ProgramRequest& request) {
  const FunctionInfo* function = library.find(request.name);
  if (!function) throw CompileError("there is no kernel " + request.name);
  auto program = std::make_shared<Program>();
  program->functions.push_back(*function);
  program->source = kPrelude + source_of(request);
  return program;
}

void compile_one(const ProgramRequest& request, std::shared_ptr<Program>& program,
                 ProgramReply& reply) {
  try {
    program = pick(*compile(kPrelude + source_of(request)), request);
  } catch (const std::exception& error) {
    reply.front_end = error.what();
  }
}

// Compiles all programs in one translation unit, which shares the start of the front end; if that
// fails, one by one.
std::vector<std::shared_ptr<Program>> compile_all(const std::vector<ProgramRequest>& requests,
                                                  std::vector<ProgramReply>& replies) {
  std::vector<std::shared_ptr<Program>> programs(requests.size());
  std::string source = kPrelude;
  for (const ProgramRequest& request : requests) source += source_of(request);
  try {
    const auto library = compile(source);
    for (size_t i = 0; i < requests.size(); ++i) programs[i] = pick(*library, requests[i]);
  } catch (const std::exception&) {
    for (size_t i = 0; i < requests.size(); ++i) compile_one(requests[i], programs[i], replies[i]);
  }
  return programs;
}

FormReply reply_of(const ProgramRequest& request, const FormResult& result, const char* expected,
                   const char* got) {
  FormReply reply{result.outcome, result.message, result.why_scalar};
  if (reply.outcome != Outcome::Same || !expected) return reply;
  reply.message = compare(request, expected, got);
  if (!reply.message.empty()) reply.outcome = Outcome::Differs;
  return reply;
}

// What the memory of this program is compared with; null if there is nothing.
const char* base_of(const ProgramRequest& request, const Results& first, size_t program) {
  if (request.expected.size() == first.buffer_bytes(program)) return request.expected.data();
  return first[program].outcome == Outcome::Same ? first.buffers(program) : nullptr;
}

std::vector<ProgramReply> answer(const Request& request) {
  std::vector<ProgramReply> replies(request.programs.size());
  const auto programs = compile_all(request.programs, replies);
  std::vector<std::unique_ptr<Results>> results;
  for (const Form& form : request.forms) {
    results.push_back(std::make_unique<Results>(request.programs));
    run_form(form, request.programs, programs, *results.back());
  }
  for (size_t i = 0; i < replies.size(); ++i) {
    if (!programs[i]) continue;
    const char* base = base_of(request.programs[i], *results[0], i);
    for (const auto& form : results)
      replies[i].forms.push_back(reply_of(request.programs[i], (*form)[i], base, form->buffers(i)));
    if (request.wants_memory && base) replies[i].memory.assign(base, results[0]->buffer_bytes(i));
  }
  return replies;
}

}  // namespace
}  // namespace metal::fuzz

int main() {
  // The processes that run the programs choose the form and generate machine code.
  setenv("MLX_CACHE_DIR", "", 1);
  unsetenv("MLX_CPU_REFERENCE");
  unsetenv("MLX_CPU_TARGET");
  unsetenv("MLX_METAL_DEVICE");
  try {
    metal::fuzz::Request request;
    while (metal::fuzz::read_request(request)) {
      metal::fuzz::write_replies(metal::fuzz::answer(request));
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "program_runner: %s\n", error.what());
    return 1;
  }
}
