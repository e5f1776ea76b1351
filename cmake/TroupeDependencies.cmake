# All third-party libraries; cmake/packages.txt names the Debian packages. Each folder's CMakeLists.txt links its own.
find_package(Threads REQUIRED)
find_package(CapnProto CONFIG REQUIRED)  # messages
find_package(TBB 2021.8 CONFIG REQUIRED COMPONENTS tbb)  # devices
find_package(dnnl CONFIG REQUIRED)       # kernels
find_package(hwy CONFIG REQUIRED)
find_package(Eigen3 CONFIG REQUIRED)
find_package(GIF 5.2 REQUIRED)
find_package(ICU 67 REQUIRED COMPONENTS uc)
find_package(JPEG REQUIRED)
find_package(PNG 1.6 REQUIRED)
find_package(ZLIB REQUIRED)
find_library(RE2_LIBRARY re2 REQUIRED)
find_library(ZSTD_LIBRARY zstd REQUIRED)
find_package(CAF 0.17.6 REQUIRED)        # actors
find_package(Boost 1.74 REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(CLI11 CONFIG REQUIRED)      # apps
find_package(fmt CONFIG REQUIRED)
find_package(pegtl CONFIG REQUIRED)
find_package(simdjson CONFIG REQUIRED)
find_package(spdlog CONFIG REQUIRED)
find_package(tomlplusplus CONFIG REQUIRED)
find_package(Protobuf 3.21 REQUIRED)    # the graphs of trained models, TensorFlow's graphs
# Optional: the transport UCX (actors/net/ucx_*). Only its headers are needed here; a process that uses it loads the library.
set(TROUPE_UCX AUTO CACHE STRING "Exchange tensors through UCX: AUTO (where its headers are), ON, OFF")
set_property(CACHE TROUPE_UCX PROPERTY STRINGS AUTO ON OFF)
find_path(TROUPE_UCX_HEADERS ucp/api/ucp.h)
set(TROUPE_UCX_FOUND ${TROUPE_UCX_HEADERS})
if(TROUPE_UCX STREQUAL "OFF")
  set(TROUPE_UCX_FOUND OFF)
elseif(TROUPE_UCX STREQUAL "ON" AND NOT TROUPE_UCX_FOUND)
  message(FATAL_ERROR "TROUPE_UCX is ON, but there is no header ucp/api/ucp.h: install libucx-dev")
endif()
if(TROUPE_TESTS)
  find_package(Boost 1.74 REQUIRED COMPONENTS unit_test_framework)
  find_library(RAPIDCHECK_LIBRARY rapidcheck REQUIRED)
endif()
if(TROUPE_BENCH)
  find_package(benchmark CONFIG REQUIRED)
endif()
