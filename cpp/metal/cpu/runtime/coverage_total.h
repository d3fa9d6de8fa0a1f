// What all launches with coverage have counted.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "metal/coverage.h"
#include "metal/cpu/checks/check_abi.h"
#include "metal/cpu/runtime/access_pattern.h"

namespace metal::cpu {

class CoverageTotal {
 public:
  struct Line {
    uint64_t count = 0;
    uint64_t issues = 0;  // how often a SIMD-group ran it
    uint64_t read = 0;    // bytes
    uint64_t written = 0;
    std::vector<AccessPattern> reads, writes;  // by place in the line
  };
  struct File {
    std::map<std::string, uint64_t> kernels;
    std::map<uint32_t, Line> lines;
    std::map<std::pair<uint32_t, uint32_t>, std::vector<uint64_t>> branches;  // by line and column
  };

  static CoverageTotal& instance();

  std::vector<FileCoverage> files();
  void reset();

  // What one launch adds. Others wait while it exists.
  class Addition {
   public:
    Addition(const std::string& kernel, const std::string& source);
    void line(const CheckSite& site, uint64_t count, uint64_t issues);
    void edge(const CheckSite& site, uint32_t successor, uint64_t count);
    void access(const CheckSite& site, bool writes, uint64_t bytes, const AccessPattern& pattern);

   private:
    File& file(const CheckSite& site);

    const std::string& kernel_;
    const std::string& source_;
    std::lock_guard<std::mutex> lock_;
    std::map<std::string, File*> files_;
    std::map<std::pair<const Line*, bool>, size_t> places_;  // that the line has so far
  };

 private:
  using Key = std::pair<std::string, std::string>;  // name and text

  std::mutex mutex_;
  std::map<Key, File> files_;
};

}  // namespace metal::cpu
