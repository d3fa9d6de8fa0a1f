# The licences of the libraries that a wheel has inside, as Debian has them. (Boost asks for none with machine code.)
foreach(package IN ITEMS
    gemmi-dev libbz2-1.0 libdnnl-dev libgfortran-12-dev libgomp1 libhwy-dev liblapacke-dev
    libopenblas-pthread-dev libpolly-19-dev libssl3 libtbb-dev libxxhash-dev libzip-dev libzstd-dev llvm-19-dev
    nlohmann-json3-dev ocl-icd-libopencl1 zlib1g-dev)
  file(REAL_PATH /usr/share/doc/${package}/copyright licence)
  install(FILES ${licence} DESTINATION share/licences RENAME ${package}.txt)
endforeach()
