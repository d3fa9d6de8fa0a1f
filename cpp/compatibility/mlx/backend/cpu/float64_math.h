// For extensions that include it by its former path: functions on double.
#pragma once

#include "mlx/backend/host/float64_math.h"
