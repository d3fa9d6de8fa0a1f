// The lines of a source that says with `#line 5 "file"` what comes from where.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace metal::cpu {

// Those of a file, by their numbers. What comes before the first such line is "kernel.metal".
std::map<uint32_t, std::string> lines_of(const std::string& source, const std::string& file);

}  // namespace metal::cpu
