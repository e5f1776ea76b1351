// Table spec: what a lookup table is made of, as the node that yields its handle says. A plain value.
#pragma once

#include <string>

#include "graph/build/graph.h"

namespace troupe {

enum class TableKind : uint8_t {
  Constant,  ///< initialised once (HashTable)
  Mutable,   ///< MutableHashTable, MutableHashTableOfTensors
  Dense      ///< MutableDenseHashTable
};

struct TableSpec {
  std::string name;  ///< the name of its state
  TableKind kind = TableKind::Constant;
  DType key = DType::Int64, value = DType::Int64;
  Shape value_shape;       ///< of one value
  int64_t buckets = 8;     ///< of an empty table; a power of 2
  float max_load = 0.75f;  ///< the part of the buckets that may be in use

  /// Returns "dense, int64 -> float[2]", for example.
  std::string text() const;
  /// Returns whether two nodes may share a table.
  friend bool operator==(const TableSpec& a, const TableSpec& b) {
    return a.name == b.name && a.kind == b.kind && a.key == b.key && a.value == b.value &&
           a.value_shape == b.value_shape;
  }
};

/// Returns the spec of a HashTable, MutableHashTable, MutableHashTableOfTensors, MutableDenseHashTable, or of their V2. Fails
/// with InvalidArgument if there are no tables with such keys or values, or if an attribute is out of range.
Result<TableSpec> table_spec(const Node& handle);

}  // namespace troupe
