// For extensions that include it by its former path: operations of float64.
#pragma once

#include "mlx/backend/host/float64.h"
