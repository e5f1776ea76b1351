// What a reader of graphs from files accepts (robustness.md R9). Passing a limit is ResourceExhausted and names it. A plain value.
#pragma once

#include <cstdint>

namespace troupe::interop {

struct GraphLimits {
  uint64_t bytes = uint64_t{1} << 30;           ///< of the binary form; 2^31 - 1 at most
  uint64_t text_bytes = uint64_t{1} << 26;      ///< of the text form
  uint64_t fields = uint64_t{1} << 26;          ///< in the binary form: each may take some 50 bytes once read
  uint64_t nodes = uint64_t{1} << 21;           ///< in the file, and in the graph once functions are inlined
  uint64_t outputs = uint64_t{1} << 25;         ///< of all nodes together, and the dimensions of their shapes
  uint64_t function_bytes = uint64_t{1} << 28;  ///< of functions in the file, counted anew for each call
  uint64_t constant_bytes = uint64_t{1} << 31;  ///< of all constants in memory; few bytes can announce many
  int function_depth = 64;                      ///< calls inside each other
};

}  // namespace troupe::interop
