# Language level, warnings, sanitizers and compiler cache for every target of the tree.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# What must be fast is compiled at run time, by us: -O3 would only make the build slower.
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

# GCC collects garbage only beyond a gigabyte: the usual limit of 128 MB costs 8 % of its time on LLVM's headers.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=1048576>)
endif()

# Folders of sources become one source for the compiler, as it spends most of its time on headers and on the templates
# in them: three groups of the vectoriser took 80 s, and take 48 s as one. (Precompiled headers would add little: those
# of LLVM take 20 s and 254 MB, and save 4 to 6 s in each of a dozen groups.) A build from nothing takes less than half
# the time. One after a change of a single source takes up to a minute: CMAKE_UNITY_BUILD=OFF makes that some seconds.
# A helper that two sources of a group define under one name, each for itself, does not compile in a group.
option(CMAKE_UNITY_BUILD "Compile the sources of a folder in groups" ON)

function(compile_in_groups target)
  # Names without the folder of the tree: the compiler cache serves all trees.
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP UNITY_BUILD_RELOCATABLE ON)
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP "${folder}")
  endforeach()
endfunction()

# The sources of these small folders, or these single sources, become one group.
function(compile_together name)
  foreach(path ${ARGN})
    set(sources ${CMAKE_CURRENT_SOURCE_DIR}/${path})
    if(NOT path MATCHES "[.]cpp$")
      file(GLOB sources ${CMAKE_CURRENT_SOURCE_DIR}/${path}/*.cpp)
    endif()
    set_source_files_properties(${sources} PROPERTIES UNITY_GROUP ${name})
  endforeach()
endfunction()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # It learns from the compiler which headers a source includes, and need not preprocess everything first. No source
  # uses __TIME__: a header of Clang only names it. Trees in other folders share results with debug information, too.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_DEPEND=1 CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=time_macros ${CCACHE})
endif()

# A quicker linker where one is installed; the default otherwise. Cross compilers look for linkers under other names.
find_program(MOLD mold)
if(MOLD AND NOT CMAKE_CROSSCOMPILING AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12.1)
  add_link_options(-fuse-ld=mold)
endif()

# A shared library shows only the names in the version script `map`. What nothing reaches from there goes, which of
# static libraries is most of their code. Its functions call each other directly: nothing may replace one of them by
# another of the same name, and small array operations spent 5 % of their time in the tables for that. (The addresses
# of an inline function may differ between two libraries, so ours compare none. Variables and types stay shared.)
function(export_only target map)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-semantic-interposition>)
  target_link_options(${target} PRIVATE -Wl,--version-script=${map} -Wl,--as-needed -Wl,-Bsymbolic-functions)
  if(MLX_STATIC_LIBRARIES)
    target_link_options(${target} PRIVATE -Wl,--gc-sections)
  endif()
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${map})
endfunction()

if(MLX_SANITIZE)
  # LLVM's own libraries carry no type information that -fsanitize=vptr could look at.
  add_compile_options(-fsanitize=${MLX_SANITIZE} -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${MLX_SANITIZE})
  if(MLX_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize=vptr -fno-sanitize-recover=undefined)
  endif()
endif()

if(MLX_COVERAGE)
  add_compile_options(--coverage -fprofile-update=atomic)
  add_link_options(--coverage)
endif()
