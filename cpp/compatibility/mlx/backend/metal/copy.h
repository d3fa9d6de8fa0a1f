// For extensions made for MLX: older ones look for copies here.
#pragma once

#include "mlx/backend/gpu/copy.h"
