// fork(): the child gets a copy of the parent in which nothing is being scheduled or in flight, so
// that it can go on with all arrays.
#pragma once

namespace mlx::core {

// In the parent. The first waits for what is in flight, and holds back other threads' evaluations
// until the second. The C library calls both at every fork; who can wait better, as Python, calls
// them as well, around it.
void before_fork();
void after_fork();

// Makes the C library call them. Called when there is something that can be in flight.
void watch_forks();

}  // namespace mlx::core
