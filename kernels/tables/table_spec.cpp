#include "kernels/tables/table_spec.h"

#include <algorithm>

#include "kernels/core/state.h"

namespace troupe {
namespace {

constexpr DType key_types[] = {DType::Int32, DType::Int64, DType::String};
constexpr DType value_types[] = {DType::Bool,  DType::Int32,  DType::Int64,
                                 DType::Float, DType::Double, DType::String};

Status check_types(const TableSpec& spec) {
  if (std::ranges::count(key_types, spec.key) == 0)
    return invalid_argument("key_dtype is " + std::string(name(spec.key)) +
                            ", but keys are int32, int64 or string");
  if (std::ranges::count(value_types, spec.value) == 0)
    return invalid_argument("value_dtype is " + std::string(name(spec.value)) +
                            ", but values are bool, int32, int64, float, double or string");
  const bool is_bool = spec.value == DType::Bool;
  if ((spec.key == DType::Int32 && (is_bool || spec.value == DType::Int64)) ||
      (spec.key == DType::Int64 && is_bool && spec.kind != TableKind::Dense))
    return invalid_argument("there are no such tables: " + spec.text());
  return {};
}

Status read_dense(const Node& handle, TableSpec& spec) {
  spec.buckets = handle.attrs.get<int64_t>("initial_num_buckets");
  spec.max_load = handle.attrs.get<float>("max_load_factor");
  if (spec.buckets < 4 || (spec.buckets & (spec.buckets - 1)) != 0)
    return invalid_argument(
        "Number of buckets must be at least 4 and a power of 2, but initial_num_buckets is " +
        std::to_string(spec.buckets));
  if (!(spec.max_load > 0 && spec.max_load < 1))
    return invalid_argument("max_load_factor is " + std::to_string(spec.max_load) +
                            ", but must be between 0 and 1");
  return {};
}

}  // namespace

std::string TableSpec::text() const {
  const char* const kinds[] = {"constant, ", "mutable, ", "dense, "};
  return kinds[static_cast<size_t>(kind)] + std::string(troupe::name(key)) + " -> " +
         std::string(troupe::name(value)) + value_shape.text();
}

Result<TableSpec> table_spec(const Node& handle) {
  TableSpec spec;
  spec.name = state_name(handle);
  spec.key = handle.attrs.get<DType>("key_dtype");
  spec.value = handle.attrs.get<DType>("value_dtype");
  const std::string_view type = handle.type();
  if (!type.starts_with("HashTable")) spec.kind = TableKind::Mutable;
  if (type.starts_with("MutableDenseHashTable")) spec.kind = TableKind::Dense;
  TROUPE_RETURN_IF_FAILED(check_types(spec));
  if (const AttrDef* const shape = handle.op->find_attr("value_shape")) {
    TROUPE_ASSIGN(spec.value_shape, handle.attrs.get<PartialShape>(shape->name).to_shape(spec.value));
    const bool fits =
        spec.kind == TableKind::Dense ? spec.value_shape.rank() <= 1 : spec.value_shape.rank() == 1;
    if (!fits)
      return invalid_argument("Default value must be a vector" +
                              std::string(spec.kind == TableKind::Dense ? " or a scalar" : "") +
                              ", but value_shape is " + spec.value_shape.text());
  }
  if (spec.kind == TableKind::Dense) TROUPE_RETURN_IF_FAILED(read_dense(handle, spec));
  return spec;
}

}  // namespace troupe
