# A toolchain: Debian's cross compiler for AArch64, with the libraries that tools/install_aarch64.sh fetched, and an
# emulator that runs what it builds. By default its processor has all features; QEMU_CPU in the environment names another.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

set(CMAKE_SYSROOT ${CMAKE_CURRENT_LIST_DIR}/../build/aarch64/sysroot)
cmake_path(NORMAL_PATH CMAKE_SYSROOT)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# The emulator keeps some bytes for each page, so it should not reserve a terabyte for device memory.
set(CMAKE_CROSSCOMPILING_EMULATOR prlimit --as=137438953472 qemu-aarch64 -L ${CMAKE_SYSROOT})
