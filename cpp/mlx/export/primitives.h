// The primitives that files can hold, by the names of their classes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mlx/export.h"
#include "mlx/export/bytes.h"
#include "mlx/primitives/primitive.h"

namespace mlx::core::exported {

struct PrimitiveRow {
  std::string name;
  void (*write)(const Primitive& primitive, ByteWriter& to);
  std::shared_ptr<Primitive> (*read)(const Stream& stream, ByteReader& from);
  std::vector<StateT> (*parameters)(const Primitive& primitive);
};

// Throws std::invalid_argument for a primitive that no file can hold.
const PrimitiveRow& row_of(const Primitive& primitive);
// Null if no class has the name.
const PrimitiveRow* row_named(const std::string& name);

}  // namespace mlx::core::exported
