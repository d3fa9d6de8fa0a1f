#pragma once

#define MAX_SIMDGROUPS 8
