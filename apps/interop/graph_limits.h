// GraphLimits: bounds on the graphs that are read from files (robustness.md R9). Exceeding one fails with ResourceExhausted, and
// the error names the limit. A plain value.
#pragma once

#include <cstdint>

namespace troupe::interop {

struct GraphLimits {
  uint64_t bytes = uint64_t{1} << 30;       ///< the size of the binary form; at most 2^31 - 1
  uint64_t text_bytes = uint64_t{1} << 26;  ///< the size of the text form
  uint64_t fields = uint64_t{1} << 26;      ///< fields of the binary form; each may take 50 bytes of memory
  uint64_t nodes = uint64_t{1} << 21;       ///< nodes in the file, and in the graph with functions inlined
  uint64_t outputs = uint64_t{1} << 25;     ///< outputs of all nodes plus the dimensions of their shapes
  uint64_t function_bytes = uint64_t{1} << 28;  ///< the size of functions in the file, counted for each call
  uint64_t constant_bytes = uint64_t{1}
                            << 31;  ///< all constants in memory, where they may be larger than in the file
  int function_depth = 64;          ///< the depth of nested calls
};

}  // namespace troupe::interop
