# The layout of the package, relative to its folder: the in-place build, the wheel and plain
# `cmake --install` all use these rules.
include(CMakePackageConfigHelpers)

set_target_properties(mlx mlx_metal mlx_metal_compiler PROPERTIES INSTALL_RPATH "$ORIGIN")
set_target_properties(metalc PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
install(TARGETS mlx mlx_metal mlx_metal_compiler LIBRARY DESTINATION lib)
install(TARGETS metalc RUNTIME DESTINATION bin)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/cpp/mlx/ DESTINATION include/mlx FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/cpp/compatibility/mlx DESTINATION include FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/cpp/metal/include/ DESTINATION include)
# What MLX's matrix kernels take, for the host code that fills it in.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/cpp/metal/stdlib/mlx DESTINATION include FILES_MATCHING PATTERN "params.h")
install(DIRECTORY ${CMAKE_BINARY_DIR}/lib/metal DESTINATION lib)
install(FILES ${CMAKE_BINARY_DIR}/lib/mlx.metallib DESTINATION lib)

# For find_package(MLX CONFIG).
set(MLX_INCLUDE include)
set(MLX_LIBRARY_FOLDER lib)
set(MLX_LIBRARY lib/libmlx.so)
set(MLX_METAL_LIBRARY lib/libmlx_metal.so)
set(MLX_METALC bin/metalc)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/MLXConfig.cmake.in ${CMAKE_BINARY_DIR}/cmake/MLXConfig.cmake
  INSTALL_DESTINATION share/cmake/MLX
  PATH_VARS MLX_INCLUDE MLX_LIBRARY_FOLDER MLX_LIBRARY MLX_METAL_LIBRARY MLX_METALC)
# Packages ask for a version of MLX: that of the interface.
file(STRINGS ${PROJECT_SOURCE_DIR}/cpp/mlx/version.h MLX_VERSION REGEX "#define MLX_VERSION_(MAJOR|MINOR|PATCH) ")
list(TRANSFORM MLX_VERSION REPLACE ".* " "")
list(JOIN MLX_VERSION "." MLX_VERSION)
write_basic_package_version_file(
  ${CMAKE_BINARY_DIR}/cmake/MLXConfigVersion.cmake VERSION ${MLX_VERSION} COMPATIBILITY AnyNewerVersion)
install(
  FILES
    ${CMAKE_BINARY_DIR}/cmake/MLXConfig.cmake
    ${CMAKE_BINARY_DIR}/cmake/MLXConfigVersion.cmake
    ${PROJECT_SOURCE_DIR}/cmake/extension.cmake
  DESTINATION share/cmake/MLX)

if(MLX_STATIC_LIBRARIES)
  include(cmake/licences.cmake)
endif()

# The sample package is a neighbour of the package mlx.
install(TARGETS mlx_ext LIBRARY DESTINATION ../mlx_sample_extensions)
install(FILES ${CMAKE_BINARY_DIR}/mlx_sample_extensions/mlx_ext.metallib DESTINATION ../mlx_sample_extensions)

if(MLX_BUILD_PYTHON)
  install(TARGETS core LIBRARY DESTINATION .)
  # A folder without code beside the module core, which Python prefers to it.
  if(TARGET stubs)
    install(DIRECTORY ${CMAKE_BINARY_DIR}/stubs/core DESTINATION .)
  endif()
  install(TARGETS mlx_sample_module LIBRARY DESTINATION ../mlx_sample_extensions)
endif()
