// For extensions made for MLX: cpu::CommandEncoder.
#pragma once

#include "mlx/backend/host/encoder.h"
