// For extensions: cpu::parallel_for, beside what MLX has for the host.
#pragma once

#include "mlx/backend/host/parallel.h"
