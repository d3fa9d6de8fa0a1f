// For extensions that include it by its former path: cpu::walk.
#pragma once

#include "mlx/backend/host/walk.h"
