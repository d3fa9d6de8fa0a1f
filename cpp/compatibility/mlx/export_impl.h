// For programs made for MLX: FunctionExporter and ImportedFunction.
#pragma once

#include "mlx/export.h"
