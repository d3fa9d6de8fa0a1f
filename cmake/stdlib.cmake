# The standard library that kernels include: its headers beside the libraries, and their precompiled forms.
file(GLOB_RECURSE METAL_STDLIB_HEADERS CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/stdlib
  ${CMAKE_CURRENT_SOURCE_DIR}/stdlib/*)

set(METAL_STDLIB_COPIES)
foreach(header IN LISTS METAL_STDLIB_HEADERS)
  set(copy ${METAL_RESOURCE_DIRECTORY}/stdlib/${header})
  add_custom_command(OUTPUT ${copy}
    COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_CURRENT_SOURCE_DIR}/stdlib/${header} ${copy}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/stdlib/${header} VERBATIM)
  list(APPEND METAL_STDLIB_COPIES ${copy})
endforeach()

set(METAL_PRECOMPILED)
function(metal_precompile header output)
  add_custom_command(OUTPUT ${METAL_RESOURCE_DIRECTORY}/${output}
    COMMAND ${CMAKE_COMMAND} -E env MLX_METAL_RESOURCES=${METAL_RESOURCE_DIRECTORY}
      ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:metalc> --precompile ${METAL_RESOURCE_DIRECTORY}/stdlib/${header} -o ${METAL_RESOURCE_DIRECTORY}/${output}
    DEPENDS metalc mlx_metal_compiler ${METAL_STDLIB_COPIES}
    COMMENT "Precompiling ${header}" VERBATIM)
  set(METAL_PRECOMPILED ${METAL_PRECOMPILED} ${METAL_RESOURCE_DIRECTORY}/${output} PARENT_SCOPE)
endfunction()
metal_precompile(metal_stdlib metal_stdlib.pch)
metal_precompile(mlx/backend/metal/kernels/utils.h mlx_utils.pch)

add_custom_target(metal_stdlib_pch ALL DEPENDS ${METAL_STDLIB_COPIES} ${METAL_PRECOMPILED})
