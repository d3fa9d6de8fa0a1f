// Reads and writes files of arrays: NumPy's npy and npz, safetensors and GGUF.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "mlx/array.h"
#include "mlx/io/load.h"
#include "mlx/utils.h"

namespace mlx::core {

// Arrays from a path are read when they are evaluated, on the CPU's stream if none is given: the
// file must not change before that. Files that do not follow their format raise std::runtime_error.

// One array, in NumPy's format npy. A path without ".npy" gets it when it is saved to.
void save(const std::shared_ptr<io::Writer>& file, array a);
void save(std::string file, array a);
array load(const std::shared_ptr<io::Reader>& file, StreamOrDevice s = {});
array load(const std::string& file, StreamOrDevice s = {});

// Arrays with names, in NumPy's format npz; the elements are deflated if `compressed`.
void save_npz(const std::shared_ptr<io::Writer>& file,
              const std::unordered_map<std::string, array>& arrays, bool compressed = false);
void save_npz(std::string file, const std::unordered_map<std::string, array>& arrays,
              bool compressed = false);
std::unordered_map<std::string, array> load_npz(const std::shared_ptr<io::Reader>& file,
                                                StreamOrDevice s = {});
std::unordered_map<std::string, array> load_npz(const std::string& file, StreamOrDevice s = {});

// Arrays and metadata.
using SafetensorsLoad =
    std::pair<std::unordered_map<std::string, array>, std::unordered_map<std::string, std::string>>;

void save_safetensors(const std::shared_ptr<io::Writer>& file,
                      const std::unordered_map<std::string, array>& arrays,
                      const std::unordered_map<std::string, std::string>& metadata = {});
void save_safetensors(std::string file, const std::unordered_map<std::string, array>& arrays,
                      const std::unordered_map<std::string, std::string>& metadata = {});
SafetensorsLoad load_safetensors(const std::shared_ptr<io::Reader>& file, StreamOrDevice s = {});
SafetensorsLoad load_safetensors(const std::string& file, StreamOrDevice s = {});

// Numbers are arrays: without axes, or with one axis if the file has an array.
using GGUFMetaData = std::variant<std::monostate, array, std::string, std::vector<std::string>>;
using GGUFLoad = std::pair<std::unordered_map<std::string, array>,
                           std::unordered_map<std::string, GGUFMetaData>>;

// An array "x.weight" of type Q4_0, Q4_1 or Q8_0 becomes three: "x.weight" with packed integers in
// uint32, and "x.scales" and "x.biases" in float16 for groups of 32.
GGUFLoad load_gguf(const std::string& file, StreamOrDevice s = {});
void save_gguf(std::string file, const std::unordered_map<std::string, array>& arrays,
               const std::unordered_map<std::string, GGUFMetaData>& metadata = {});

}  // namespace mlx::core
