#include "metal/coverage.h"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "metal/cpu/runtime/coverage_total.h"

namespace metal {
namespace {

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file) throw std::runtime_error("[coverage] Cannot write " + path.string());
}

// A file's name for a text that is none: `used` tells texts with one name apart.
std::string file_name(const std::string& name, std::map<std::string, int>& used) {
  std::string safe;
  for (const char c : name) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-';
    safe += plain ? c : '_';
  }
  const int number = ++used[safe];
  return number == 1 ? safe : safe + "." + std::to_string(number);
}

std::string record(const FileCoverage& file, const std::string& path) {
  std::ostringstream out;
  out << "TN:\nSF:" << path << "\n";
  const uint32_t first = file.lines.empty() ? 1 : file.lines.front().line;
  for (const auto& [kernel, launches] : file.kernels)
    out << "FN:" << first << "," << kernel << "\n";
  for (const auto& [kernel, launches] : file.kernels)
    out << "FNDA:" << launches << "," << kernel << "\n";
  out << "FNF:" << file.kernels.size() << "\nFNH:" << file.kernels.size() << "\n";
  size_t successors = 0, taken = 0, block = 0;
  for (const BranchCoverage& branch : file.branches) {
    uint64_t all = 0;
    for (const uint64_t count : branch.taken) all += count;
    for (size_t i = 0; i < branch.taken.size(); ++i) {
      out << "BRDA:" << branch.line << "," << block << "," << i << ",";
      out << (all ? std::to_string(branch.taken[i]) : "-") << "\n";
      ++successors;
      taken += branch.taken[i] != 0;
    }
    ++block;
  }
  out << "BRF:" << successors << "\nBRH:" << taken << "\n";
  size_t run = 0;
  for (const LineCoverage& line : file.lines) {
    out << "DA:" << line.line << "," << line.count << "\n";
    run += line.count != 0;
  }
  out << "LF:" << file.lines.size() << "\nLH:" << run << "\nend_of_record\n";
  return out.str();
}

}  // namespace

std::vector<FileCoverage> coverage() { return cpu::CoverageTotal::instance().files(); }

void reset_coverage() { cpu::CoverageTotal::instance().reset(); }

void write_coverage(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path info(path);
  fs::path folder = info;
  folder.replace_extension();
  folder += "_sources";
  std::string text;
  std::map<std::string, int> used;
  for (const FileCoverage& file : coverage()) {
    std::error_code error;
    fs::path source = file.file;
    if (!fs::is_regular_file(source, error)) {
      fs::create_directories(folder, error);
      source = folder / file_name(file.file, used);
      write_file(source, file.text);
    }
    text += record(file, fs::absolute(source, error).string());
  }
  write_file(info, text);
}

void write_coverage_at_exit(bool always) {
  const char* given = std::getenv("MLX_COVERAGE");
  if (!always && (!given || !*given)) return;
  static const std::string& path = *new std::string(given && *given ? given : "coverage.info");
  static const int once = std::atexit([] {
    try {
      write_coverage(path);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
  });
  (void)once;
}

std::string annotate(const FileCoverage& file) {
  std::map<uint32_t, const LineCoverage*> lines;
  for (const LineCoverage& line : file.lines) lines[line.line] = &line;
  std::string text =
      "     count  lanes  bytes read     written  device memory                     source";
  std::istringstream source(file.text);
  std::string words;
  for (uint32_t number = 1; std::getline(source, words); ++number) {
    char columns[160] = "";
    const auto found = lines.find(number);
    if (found != lines.end()) {
      const LineCoverage& line = *found->second;
      std::snprintf(columns, sizeof(columns), "%10llu %6.1f %11llu %11llu  %s",
                    static_cast<unsigned long long>(line.count), line.lanes,
                    static_cast<unsigned long long>(line.read),
                    static_cast<unsigned long long>(line.written), line.access.c_str());
    }
    char row[192];
    std::snprintf(row, sizeof(row), "%-76s", columns);
    text += std::string("\n") + row + words;
  }
  return text;
}

}  // namespace metal
