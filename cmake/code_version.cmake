# cmake -DROOT=cpp/metal -DOUTPUT=code_version.inc -P code_version.cmake: a hash of the sources that generate code, as a
# string in C++. What is cached on disk is found under it.
file(GLOB_RECURSE sources LIST_DIRECTORIES false RELATIVE ${ROOT}
  ${ROOT}/compiler/* ${ROOT}/cpu/* ${ROOT}/cuda/* ${ROOT}/stdlib/*)
set(hashes)
foreach(source IN LISTS sources)
  file(SHA256 ${ROOT}/${source} hash)
  string(APPEND hashes "${source} ${hash}\n")
endforeach()
string(SHA256 version "${hashes}")
file(WRITE ${OUTPUT}.new "\"${version}\"\n")
file(COPY_FILE ${OUTPUT}.new ${OUTPUT} ONLY_IF_DIFFERENT)
