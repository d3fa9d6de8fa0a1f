# mlx_build_metallib: a target that compiles .metal files into one library. Included by find_package(MLX CONFIG).
#
# mlx_build_metallib(
#   TARGET            name of the target
#   TITLE             name of the library: TITLE.metallib
#   SOURCES           .metal files
#   INCLUDE_DIRS      folders that they include headers from
#   OUTPUT_DIRECTORY  where the library goes
#   DEBUG             ON defines MLX_METAL_DEBUG in the kernels and gives them line tables; by default what the
#                     variable MLX_METAL_DEBUG says
#   COMPILE_OPTIONS   further options of metalc
#   DEPS              further files that the library depends on; headers that are included are found
# )
function(mlx_build_metallib)
  cmake_parse_arguments(PARSE_ARGV 0 LIB
    "" "TARGET;TITLE;OUTPUT_DIRECTORY;DEBUG;DEPLOYMENT_TARGET" "SOURCES;INCLUDE_DIRS;DEPS;COMPILE_OPTIONS")
  foreach(argument IN ITEMS TARGET TITLE OUTPUT_DIRECTORY SOURCES)
    if(NOT LIB_${argument})
      message(FATAL_ERROR "mlx_build_metallib: ${argument} is missing")
    endif()
  endforeach()
  if(LIB_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "mlx_build_metallib: unknown arguments ${LIB_UNPARSED_ARGUMENTS}")
  endif()

  set(sources)
  foreach(source IN LISTS LIB_SOURCES)
    get_filename_component(source ${source} ABSOLUTE)
    list(APPEND sources ${source})
  endforeach()
  set(flags -fno-fast-math)
  if(NOT DEFINED LIB_DEBUG)
    set(LIB_DEBUG ${MLX_METAL_DEBUG})
  endif()
  if(LIB_DEBUG)
    list(APPEND flags -g -DMLX_METAL_DEBUG=1)
  endif()
  foreach(folder IN LISTS LIB_INCLUDE_DIRS)
    list(APPEND flags -I${folder})
  endforeach()
  list(APPEND flags ${LIB_COMPILE_OPTIONS})

  # Inside this project the compiler is a target, and needs its headers precompiled.
  if(TARGET metalc)
    set(compiler ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:metalc>)
    set(compiler_files metalc metal_stdlib_pch)
  else()
    set(compiler ${MLX_METALC})
    set(compiler_files ${MLX_METALC})
  endif()
  get_filename_component(folder ${LIB_OUTPUT_DIRECTORY} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_BINARY_DIR})
  set(library ${folder}/${LIB_TITLE}.metallib)
  set(depfile ${CMAKE_CURRENT_BINARY_DIR}/${LIB_TARGET}.d)
  add_custom_command(
    OUTPUT ${library}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND ${compiler} ${flags} -MD -MF ${depfile} -o ${library} ${sources}
    DEPENDS ${sources} ${LIB_DEPS} ${compiler_files}
    DEPFILE ${depfile}
    COMMENT "Building ${LIB_TITLE}.metallib"
    VERBATIM)
  add_custom_target(${LIB_TARGET} ALL DEPENDS ${library})
endfunction()
