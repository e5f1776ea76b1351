#include "apps/nn/partitioned_variable.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "apps/nn/initial_rows.h"
#include "kernels/constructors.h"

namespace troupe::nn {
namespace {

int64_t checked(const char* partitioner, const char* what, int64_t number) {
  if (number >= 1) return number;
  throw Error(invalid_argument(std::string(partitioner) + ": " + what + " is " + std::to_string(number) +
                               "; it must be at least 1"));
}

int64_t divided_up(int64_t number, int64_t divisor) {
  return number / divisor + (number % divisor != 0 ? 1 : 0);
}

int64_t within(int64_t parts, const Shape& shape) { return std::max<int64_t>(1, std::min(parts, shape[0])); }

/// Returns an initializer of each part that takes its rows from the same nodes, which the first one adds. Their names are those of
/// a variable that is not cut, and so are their random numbers.
Initial initial_of_part(const Weight& whole, const RowSlice& slice,
                        const std::shared_ptr<std::optional<Output>>& values) {
  return [=, initial = whole.initial, shape = whole.shape](const Scope& scope, const PartialShape&,
                                                           DType dtype) {
    if (!*values) *values = initial(Scope(scope.graph()).with_prefix(slice.of), shape, dtype);
    return initial_rows(scope, **values, slice);
  };
}

}  // namespace

Partitioner fixed_size(int64_t parts) {
  checked("fixed_size", "the number of parts", parts);
  return [parts](const Shape& shape, DType) { return within(parts, shape); };
}

Partitioner by_bytes(int64_t max_bytes_per_part, int64_t max_parts) {
  checked("by_bytes", "max_bytes_per_part", max_bytes_per_part);
  if (max_parts != 0) checked("by_bytes", "max_parts", max_parts);
  return [=](const Shape& shape, DType dtype) {
    const int64_t row =
        shape.elements() / std::max<int64_t>(shape[0], 1) * static_cast<int64_t>(size_of(dtype));
    const int64_t rows = std::max<int64_t>(1, max_bytes_per_part / std::max<int64_t>(row, 1));
    const int64_t parts = divided_up(shape[0], rows);
    return within(max_parts == 0 ? parts : std::min(parts, max_parts), shape);
  };
}

Partitioner min_max(int64_t max_parts, int64_t min_bytes_per_part) {
  checked("min_max", "max_parts", max_parts);
  checked("min_max", "min_bytes_per_part", min_bytes_per_part);
  return [=](const Shape& shape, DType dtype) {
    const int64_t bytes = shape.elements() * static_cast<int64_t>(size_of(dtype));
    return within(std::min(divided_up(bytes, min_bytes_per_part), max_parts), shape);
  };
}

std::string_view name(PartitionStrategy strategy) {
  return strategy == PartitionStrategy::Mod ? "mod" : "div";
}

PartitionStrategy partition_strategy(std::string_view name) {
  if (name == "mod") return PartitionStrategy::Mod;
  if (name == "div") return PartitionStrategy::Div;
  throw Error(invalid_argument("there is no partition strategy '" + std::string(name) +
                               "'; it must be 'mod' or 'div'"));
}

std::vector<RowSlice> cut(std::string_view name, int64_t rows, int64_t count, PartitionStrategy strategy) {
  const int64_t each = rows / count, extras = rows % count;
  std::vector<RowSlice> slices;
  for (int64_t part = 0, next = 0; part < count; ++part) {
    RowSlice slice{std::string(name), rows, next, 1, each + (part < extras ? 1 : 0)};
    next += slice.count;
    if (strategy == PartitionStrategy::Mod) {
      slice.first = part;
      slice.stride = count;
    }
    slices.push_back(std::move(slice));
  }
  return slices;
}

std::vector<Weight> parts_of(const Weight& whole, int64_t count, PartitionStrategy strategy,
                             std::string_view prefix) {
  if (!whole.shape.known_rank() || whole.shape.rank() == 0 || whole.shape[0] < count || count < 1)
    throw Error(invalid_argument("variable '" + whole.name + "' has shape " + whole.shape.text() +
                                 "; it cannot be cut by its rows into " + std::to_string(count) +
                                 " parts of at least one row"));
  const auto values = std::make_shared<std::optional<Output>>();
  std::vector<Weight> parts;
  for (RowSlice& slice : cut(std::string(prefix) + whole.name, whole.shape[0], count, strategy)) {
    std::vector<int64_t> dims(whole.shape.dims().begin(), whole.shape.dims().end());
    dims[0] = slice.count;
    Weight part = whole;
    part.name += "/part_" + std::to_string(parts.size());
    part.shape = PartialShape(std::move(dims));
    part.initial = initial_of_part(whole, slice, values);
    part.slice = std::move(slice);
    parts.push_back(std::move(part));
  }
  return parts;
}

PartitionedVariable partitioned_weight(const Layer& layer, const Weight& whole, int64_t count,
                                       PartitionStrategy strategy) {
  const Network& network = layer.network();
  PartitionedVariable result{whole.name, whole.shape, {}, strategy};
  if (count == 0)
    result.parts.push_back(network.weight(whole));
  else
    for (const Weight& part : parts_of(whole, count, strategy)) result.parts.push_back(network.weight(part));
  return result;
}

PartitionedVariable partitioned_variable(const Scope& scope, std::string_view name, const Shape& shape,
                                         const Initial& initial, const Partitioning& options, DType dtype) {
  const Weight whole{std::string(name), shape, dtype, initial, options.trainable};
  const int64_t count = shape.rank() == 0 ? 1 : options.partitioner(shape, dtype);
  PartitionedVariable result{scope.prefix() + whole.name, shape, {}, options.strategy};
  for (const Weight& part : parts_of(whole, count, options.strategy, scope.prefix())) {
    const size_t i = result.parts.size();
    const Scope here =
        options.devices.empty() ? scope : scope.with_device(options.devices[i % options.devices.size()]);
    result.parts.push_back(add_variable(here, part));
  }
  return result;
}

PartitionedVariable as_parts(const Scope& scope, std::vector<Output> parts, PartitionStrategy strategy) {
  if (parts.empty()) throw Error(invalid_argument("a partitioned tensor has at least one part"));
  std::vector<int64_t> dims;
  for (const Output& part : parts) {
    const PartialShape& shape = scope.shape(part);
    if (!shape.fully_known() || shape.rank() == 0)
      throw Error(invalid_argument("a part of a partitioned tensor has shape " + shape.text() +
                                   "; it must be fully known and have at least one dimension"));
    if (!dims.empty() && !std::ranges::equal(shape.dims().subspan(1), std::span(dims).subspan(1)))
      throw Error(invalid_argument("the parts of a partitioned tensor have rows of different shapes: " +
                                   PartialShape(dims).text() + " and " + shape.text()));
    if (dims.empty())
      dims.assign(shape.dims().begin(), shape.dims().end());
    else
      dims[0] += shape[0];
  }
  const auto slices = cut({}, dims[0], static_cast<int64_t>(parts.size()), strategy);
  for (size_t i = 0; i < parts.size(); ++i)
    if (scope.shape(parts[i])[0] != slices[i].count)
      throw Error(invalid_argument("part " + std::to_string(i) + " of a tensor of " +
                                   std::to_string(dims[0]) + " rows has " +
                                   std::to_string(scope.shape(parts[i])[0]) + " of them; it must have " +
                                   std::to_string(slices[i].count)));
  return {{}, PartialShape(std::move(dims)), std::move(parts), strategy};
}

Scope beside(const Scope& scope, Output part) {
  return scope.with_device(requested_device(scope.graph(), scope.checked(part).node));
}

Output as_tensor(const Scope& scope, const PartitionedVariable& variable) {
  if (variable.parts.size() == 1) return identity(scope, variable.parts[0]);
  if (variable.strategy == PartitionStrategy::Div) return concat(scope, variable.parts, 0);
  std::vector<Output> rows;
  for (const RowSlice& slice : cut(variable.name, variable.shape[0], variable.count(), variable.strategy))
    rows.push_back(range(scope, slice.first, slice.rows, slice.stride));
  return dynamic_stitch(scope, rows, variable.parts);
}

}  // namespace troupe::nn
