#include "apps/interop/dialect.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "graph/build/gradient_attrs.h"
#include "graph/build/noted_attrs.h"
#include "graph/build/recomputation.h"
#include "graph/build/row_slice.h"

namespace troupe::interop {
namespace {

/// The values with which an attribute can be ignored.
enum class Ignorable : uint8_t {
  Any,    ///< the attribute is a hint that changes no result
  Empty,  ///< the default, with which the op does what Troupe's op does
  False,  ///< the same for a bool
};
struct IgnorableAttr {
  std::string_view op, attr;
  Ignorable values;
};
constexpr IgnorableAttr ignorable_attrs[] = {
    {"BatchMatMul", "grad_x", Ignorable::Any},
    {"BatchMatMul", "grad_y", Ignorable::Any},
    {"BatchMatMulV2", "grad_x", Ignorable::Any},
    {"BatchMatMulV2", "grad_y", Ignorable::Any},
    {"GatherNd", "bad_indices_policy", Ignorable::Empty},
    {"MatMul", "grad_a", Ignorable::Any},
    {"MatMul", "grad_b", Ignorable::Any},
    {"ResourceScatterNdAdd", "bad_indices_policy", Ignorable::Empty},
    {"ResourceScatterNdSub", "bad_indices_policy", Ignorable::Empty},
    {"ResourceScatterNdUpdate", "bad_indices_policy", Ignorable::Empty},
    {"ScatterNd", "bad_indices_policy", Ignorable::Empty},
    {"ScatterNdAdd", "bad_indices_policy", Ignorable::Empty},
    {"ScatterNdNonAliasingAdd", "bad_indices_policy", Ignorable::Empty},
    {"ScatterNdSub", "bad_indices_policy", Ignorable::Empty},
    {"ScatterNdUpdate", "bad_indices_policy", Ignorable::Empty},
    {"SparseSegmentMean", "sparse_gradient", Ignorable::Any},
    {"SparseSegmentMeanWithNumSegments", "sparse_gradient", Ignorable::Any},
    {"SparseSegmentSqrtN", "sparse_gradient", Ignorable::Any},
    {"SparseSegmentSqrtNWithNumSegments", "sparse_gradient", Ignorable::Any},
    {"SparseSegmentSum", "sparse_gradient", Ignorable::Any},
    {"SparseSegmentSumWithNumSegments", "sparse_gradient", Ignorable::Any},
    {"TensorScatterAdd", "bad_indices_policy", Ignorable::Empty},
    {"TensorScatterMax", "bad_indices_policy", Ignorable::Empty},
    {"TensorScatterMin", "bad_indices_policy", Ignorable::Empty},
    {"TensorScatterSub", "bad_indices_policy", Ignorable::Empty},
    {"TensorScatterUpdate", "bad_indices_policy", Ignorable::Empty},
    {"TridiagonalSolve", "perturb_singular", Ignorable::False},
    {"VarHandleOp", "allowed_devices", Ignorable::Empty},
    {"VarHandleOp", "debug_name", Ignorable::Any},
};

bool is_one_of(Ignorable values, const AttrValue& value) {
  switch (values) {
    case Ignorable::Any: return true;
    case Ignorable::Empty:
      return value.has_list() ? value.list().s_size() == 0 : value.has_s() && value.s().empty();
    case Ignorable::False: return value.has_b() && !value.b();
  }
  return false;
}

}  // namespace

bool can_ignore(std::string_view op, std::string_view attr, const AttrValue& value) {
  return std::any_of(std::begin(ignorable_attrs), std::end(ignorable_attrs), [&](const IgnorableAttr& row) {
    return row.op == op && row.attr == attr && is_one_of(row.values, value);
  });
}

std::string_view supported_value(std::string_view op, std::string_view attr) {
  const auto* const row = std::ranges::find_if(
      ignorable_attrs, [&](const IgnorableAttr& r) { return r.op == op && r.attr == attr; });
  if (row == std::end(ignorable_attrs) || row->values == Ignorable::Any) return {};
  return row->values == Ignorable::Empty ? "an empty value" : "false";
}

std::optional<AttrKind> internal_attr(std::string_view name) {
  static const std::map<std::string_view, AttrKind> kinds = {
      {"_feed", AttrKind::String},
      {distinct_attr, AttrKind::Bool},
      {own_gradient_device_attr, AttrKind::Bool},
      {segment_attr, AttrKind::String},
      {original_attr, AttrKind::String},
      {copy_attr, AttrKind::Bool},
      {initializer_attr, AttrKind::Bool},
      {local_attr, AttrKind::Bool},
      {queue_cancel_attr, AttrKind::String},
      {queue_close_attr, AttrKind::String},
      {queue_ends_attr, AttrKind::Ints},
      {queue_enqueue_attr, AttrKind::Strings},
      {slice_attr, AttrKind::Ints},
      {slice_of_attr, AttrKind::String},
      {trainable_attr, AttrKind::Bool},
  };
  const auto kind = kinds.find(name);
  return kind == kinds.end() ? std::nullopt : std::optional(kind->second);
}

}  // namespace troupe::interop
