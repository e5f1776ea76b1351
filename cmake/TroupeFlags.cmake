# Flags of every file. No file gets -m flags beyond the baseline: Highway and oneDNN dispatch at run time, and code
# compiled for a newer processor would leak into shared inline functions.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  add_compile_options(-march=x86-64-v2)
endif()
# No contraction: bits must not depend on which expressions the compiler fuses. Prefix map: no path of this machine in a binary.
add_compile_options(-ffp-contract=off -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-Wconversion -Wno-sign-conversion)
else()
  add_compile_options(-Wno-unknown-pragmas)
endif()
