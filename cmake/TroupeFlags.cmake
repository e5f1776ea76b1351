# Flags of every file. No file gets -m flags beyond the baseline: Highway and oneDNN dispatch at run time, and code
# compiled for a newer processor would leak into shared inline functions.
# nvcc gets the flags of cmake/TroupeCuda.cmake.
set(host_code $<COMPILE_LANGUAGE:C,CXX>)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  add_compile_options($<${host_code}:-march=x86-64-v2>)
endif()
# No contraction, so that results do not depend on the expressions that the compiler fuses. The prefix map keeps paths of this
# machine out of binaries.
add_compile_options("$<${host_code}:-ffp-contract=off;-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.>")
add_compile_options("$<${host_code}:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wnon-virtual-dtor;-Woverloaded-virtual>")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options("$<${host_code}:-Wconversion;-Wno-sign-conversion>")
else()
  add_compile_options($<${host_code}:-Wno-unknown-pragmas>)
endif()
