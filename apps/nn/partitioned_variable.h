// Partitioned variables: a large variable is cut by its rows into parts on several devices, usually those of the parameter
// servers (features.md P6). Its initial values do not depend on the number of parts, and checkpoints hold one logical tensor,
// so that a run resumes with another number of parts. Uses only the public builder and throws Error as it does. Public header;
// one thread at a time per graph.
//
//   const nn::Partitioning servers{.partitioner = nn::fixed_size(2), .devices = {"/job:ps/task:0", "/job:ps/task:1"}};
//   const auto table = nn::partitioned_variable(g, "table", {1'000'000, 128}, nn::glorot_uniform, servers);
//   const auto rows = nn::embedding_lookup(g, table, ids);
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/nn/network.h"

#pragma GCC visibility push(default)
namespace troupe::nn {

// ---- Partitioners: functions that return the number of parts of a variable, from 1 to the number of its rows.

using Partitioner = std::function<int64_t(const Shape& shape, DType dtype)>;
Partitioner fixed_size(int64_t parts);
/// Parts of at most `max_bytes_per_part`, or of one row if a row is larger. `max_parts` limits their number; 0: no limit.
Partitioner by_bytes(int64_t max_bytes_per_part, int64_t max_parts = 0);
/// At most `max_parts` parts, but fewer if they would have less than `min_bytes_per_part`.
Partitioner min_max(int64_t max_parts, int64_t min_bytes_per_part = 256 << 10);

// ---- Variables

/// How the rows are shared out. If they cannot be shared out evenly, each of the first parts has one more.
enum class PartitionStrategy : uint8_t {
  Mod,  ///< row i is in part i % parts: rows that are used often, such as those with small numbers, are in all parts
  Div,  ///< each part has rows that follow each other
};
/// Returns "mod" or "div".
std::string_view name(PartitionStrategy strategy);
/// Finds a strategy by its name. Throws InvalidArgument if there is none.
PartitionStrategy partition_strategy(std::string_view name);

/// A variable that is cut into parts, or a tensor given in parts.
struct PartitionedVariable {
  std::string name;
  PartialShape shape;  ///< of the whole; the number of rows is known
  std::vector<Output> parts;

  int64_t count() const { return static_cast<int64_t>(parts.size()); }
  PartitionStrategy strategy = PartitionStrategy::Mod;
};
/// Returns a scope on the device where a part is.
Scope beside(const Scope& scope, Output part);

struct Partitioning {
  Partitioner partitioner = fixed_size(1);
  PartitionStrategy strategy = PartitionStrategy::Mod;
  /// The parts are placed on these devices in turn. Empty: on that of the scope.
  std::vector<std::string> devices = {};
  bool trainable = true;
};
/// Adds the parts "NAME/part_0", "NAME/part_1", ... of a variable of at least one dimension and one row.
PartitionedVariable partitioned_variable(const Scope& scope, std::string_view name, const Shape& shape,
                                         const Initial& initial, const Partitioning& options = {},
                                         DType dtype = f32);
/// Returns what the parts are parts of, if they are the tensors of a list in the order of partitioned_variable(). Throws
/// InvalidArgument if the list is empty, or the tensors have no or different numbers of columns.
PartitionedVariable as_parts(const Scope& scope, std::vector<Output> parts, PartitionStrategy strategy);
/// Returns the whole: all rows in order.
Output as_tensor(const Scope& scope, const PartitionedVariable& variable);

/// Returns the rows of each of `count` parts of a variable with this name and this number of rows.
std::vector<RowSlice> cut(std::string_view name, int64_t rows, int64_t count, PartitionStrategy strategy);
/// Adds a weight of a layer in parts. If `count` is 0, the only part is an ordinary weight.
PartitionedVariable partitioned_weight(const Layer& layer, const Weight& whole, int64_t count,
                                       PartitionStrategy strategy);
/// Returns the weights that are the parts of a weight, whose variables will be in a scope with this prefix.
std::vector<Weight> parts_of(const Weight& whole, int64_t count, PartitionStrategy strategy,
                             std::string_view prefix = {});

}  // namespace troupe::nn
#pragma GCC visibility pop
