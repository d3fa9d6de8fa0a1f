// For extensions that include it by its former path: cpu::parallel_for.
#pragma once

#include "mlx/backend/host/parallel.h"
