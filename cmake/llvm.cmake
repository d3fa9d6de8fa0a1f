# LLVM and Clang, as the target `llvm_clang`: Debian's shared libraries, or with MLX_STATIC_LIBRARIES its archives. The
# target `llvm_headers` is for sources that ask for LLVM's version.
find_package(LLVM 19.1 REQUIRED CONFIG HINTS /usr/lib/llvm-19 /usr/lib/llvm-19/lib/cmake/llvm)

add_library(llvm_headers INTERFACE)
target_include_directories(llvm_headers SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
add_library(llvm_clang INTERFACE)
target_link_libraries(llvm_clang INTERFACE llvm_headers)

if(NOT MLX_STATIC_LIBRARIES)
  find_library(CLANG_CPP_LIBRARY NAMES clang-cpp libclang-cpp.so.19.1 HINTS ${LLVM_LIBRARY_DIR} REQUIRED)
  target_link_libraries(llvm_clang INTERFACE ${CLANG_CPP_LIBRARY} LLVM)
  return()
endif()

# The front end, and what its libraries call. LLVM's targets bring shared libraries along that none of their code that
# we use needs (Z3, libffi), so the files are named by themselves.
set(CLANG_COMPONENTS
  Frontend Driver Serialization CodeGen Parse Sema ExtractAPI InstallAPI Index Edit Rewrite Analysis ASTMatchers
  APINotes AST Support Lex Basic)
list(TRANSFORM CLANG_COMPONENTS REPLACE "(.+)" "${LLVM_LIBRARY_DIR}/libclang\\1.a" OUTPUT_VARIABLE CLANG_ARCHIVES)
set(LLVM_COMPONENTS native nvptx passes windowsdriver irreader bitreader bitwriter ipo coverage debuginfodwarf lto option
  frontendopenmp frontendhlsl frontendoffloading frontenddriver)
execute_process(
  COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} ${LLVM_TOOLS_BINARY_DIR}/llvm-config --link-static --libfiles ${LLVM_COMPONENTS}
  OUTPUT_VARIABLE LLVM_ARCHIVES OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(LLVM_ARCHIVES UNIX_COMMAND "${LLVM_ARCHIVES}")
find_library(ZLIB_ARCHIVE libz.a REQUIRED)
find_library(ZSTD_ARCHIVE libzstd.a REQUIRED)
list(JOIN CLANG_ARCHIVES "," CLANG_ARCHIVES)
target_link_libraries(llvm_clang INTERFACE
  $<LINK_GROUP:RESCAN,${CLANG_ARCHIVES}> ${LLVM_ARCHIVES} ${ZSTD_ARCHIVE} ${ZLIB_ARCHIVE})
