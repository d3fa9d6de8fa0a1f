# Finds the interpreter to build for, and pybind11 where that interpreter has it.
macro(mlx_find_python)
  find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
  execute_process(
    COMMAND ${Python_EXECUTABLE} -m pybind11 --cmakedir
    OUTPUT_VARIABLE MLX_PYBIND11_DIR OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  # The build environment of `pip install` lies in a new folder each time: never trust the cache here.
  if(MLX_PYBIND11_DIR)
    set(pybind11_DIR ${MLX_PYBIND11_DIR} CACHE PATH "pybind11's CMake files" FORCE)
  endif()
  set(PYBIND11_FINDPYTHON ON)
  find_package(pybind11 2.12 CONFIG REQUIRED)
endmacro()
