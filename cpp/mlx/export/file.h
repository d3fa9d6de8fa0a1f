// The format of files of exported functions.
//
// A header of 40 bytes: the magic text, the version, zero, how many bytes the file and its
// description have, and a checksum of all behind the header. Then the description: metadata,
// whether shapes may differ, the constants' types and shapes, the functions. Then the constants'
// elements without gaps. Numbers are little-endian.
#pragma once

#include <string>
#include <vector>

#include "mlx/export/graph.h"

namespace mlx::core::exported {

struct Contents {
  std::string metadata;
  bool shapeless = false;
  std::vector<RecordedFunction> functions;
};

// `functions` were written by write_function, one after the other.
void write_file(const std::string& path, const std::string& metadata, bool shapeless,
                size_t num_functions, const std::string& functions,
                const std::vector<array>& constants);
Contents read_file(const std::string& path);

}  // namespace mlx::core::exported
