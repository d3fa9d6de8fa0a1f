// fork(): the child gets a copy of the parent while nothing is being scheduled or in flight, so
// that it can go on with all arrays.
#pragma once

namespace mlx::core {

// For the parent. The first waits for the work in flight, and stops other threads' evaluations
// until the second. The C library calls both at every fork. A language that must release a lock
// while it waits, such as Python, calls them around the fork as well.
void before_fork();
void after_fork();

// Registers both with the C library. Called before the first work can be in flight.
void watch_forks();

}  // namespace mlx::core
