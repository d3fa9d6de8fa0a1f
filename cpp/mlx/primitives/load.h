// The primitive that reads an array from a file.
#pragma once

#include "mlx/io/section.h"
#include "mlx/primitives/primitive.h"

namespace mlx::core {

// No inputs. Reads the bytes of the output from an offset on; if `swapped`, reverses those of each
// element.
class Load : public UnaryPrimitive {
 public:
  Load(Stream stream, io::Section file, uint64_t offset, bool swapped)
      : UnaryPrimitive(stream), file_(std::move(file)), offset_(offset), swapped_(swapped) {}
  DEFINE_EVAL()
  DEFINE_NAME(Load)
  bool encodes() const override { return true; }

 private:
  io::Section file_;
  uint64_t offset_;
  bool swapped_;
};

}  // namespace mlx::core
