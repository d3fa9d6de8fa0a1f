// Reads arrays from files, on the host.
#include "mlx/primitives/load.h"

#include "mlx/backend/host/encoder.h"
#include "mlx/backend/metal/ops/launch.h"
#include "mlx/io/stored_array.h"

namespace mlx::core {

MLX_EVAL(Load) {
  allocate_output(out);
  if (out.size() == 0) return;
  cpu::get_command_encoder(stream()).dispatch(
      [file = file_, offset = offset_, swapped = swapped_, dtype = out.dtype(),
       bytes = out.nbytes(),
       to = out.data<char>()] { io::read_elements(file, to, bytes, offset, dtype, swapped); });
}

}  // namespace mlx::core
