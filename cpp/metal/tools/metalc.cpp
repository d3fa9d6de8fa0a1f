// metalc compiles .metal files into a .metallib, and prints the code of kernels.
#include <cstdio>
#include <string>
#include <vector>

#include "metal/tools/command_line.h"

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return metal::tools::metalc(arguments, stdout, stderr);
}
