#include "apps/interop/dialect.h"

#include <algorithm>
#include <iterator>

namespace troupe::interop {
namespace {

struct Alias {
  std::string_view written, known;
  int zero_input = -1;
};
constexpr Alias aliases[] = {
    {"AddV2", "Add"},           // which takes strings, too
    {"GatherV2", "Gather", 2},  // along axis 0
    {"PlaceholderV2", "Placeholder"},
    {"Snapshot", "Identity"},
};

/// Which values of an attribute can be passed over.
enum class Passed : uint8_t {
  Any,    ///< a hint: it changes no result
  False,  ///< the default: as Troupe's op does
  True,
  Int32,
  Zero,
  Empty,
};
struct Attr {
  std::string_view op, attr;
  Passed passed;
};
constexpr Attr passed_over[] = {
    {"AssignVariableOp", "validate_shape",
     Passed::Any},  // a variable keeps its declared shape here in any case
    {"BatchMatMul", "grad_x", Passed::Any},
    {"BatchMatMul", "grad_y", Passed::Any},
    {"BatchMatMulV2", "grad_x", Passed::Any},
    {"BatchMatMulV2", "grad_y", Passed::Any},
    {"Cast", "Truncate", Passed::False},
    {"ConcatOffset", "shape_type", Passed::Int32},
    {"Equal", "incompatible_shape_error", Passed::True},
    {"Fill", "index_type", Passed::Int32},
    {"GatherNd", "bad_indices_policy", Passed::Empty},
    {"GatherV2", "Taxis", Passed::Any},
    {"GatherV2", "batch_dims", Passed::Zero},
    {"MatMul", "grad_a", Passed::Any},
    {"MatMul", "grad_b", Passed::Any},
    {"NotEqual", "incompatible_shape_error", Passed::True},
    {"ResourceGather", "batch_dims", Passed::Zero},
    {"ResourceScatterNdAdd", "bad_indices_policy", Passed::Empty},
    {"ResourceScatterNdSub", "bad_indices_policy", Passed::Empty},
    {"ResourceScatterNdUpdate", "bad_indices_policy", Passed::Empty},
    {"ScatterNd", "bad_indices_policy", Passed::Empty},
    {"ScatterNdAdd", "bad_indices_policy", Passed::Empty},
    {"ScatterNdSub", "bad_indices_policy", Passed::Empty},
    {"ScatterNdUpdate", "bad_indices_policy", Passed::Empty},
    {"UnsortedSegmentSum", "Tnumsegments", Passed::Int32},
    {"VarHandleOp", "allowed_devices", Passed::Empty},
    {"VarHandleOp", "debug_name", Passed::Any},
};

bool passes(Passed passed, const AttrValue& value) {
  switch (passed) {
    case Passed::Any: return true;
    case Passed::False: return value.has_b() && !value.b();
    case Passed::True: return value.has_b() && value.b();
    case Passed::Int32: return value.has_type() && value.type() == DT_INT32;
    case Passed::Zero: return value.has_i() && value.i() == 0;
    case Passed::Empty:
      return value.has_list() ? value.list().s_size() == 0 : value.has_s() && value.s().empty();
  }
  return false;
}

}  // namespace

Translation translate(std::string_view op, const OpTable& table) {
  if (const troupe::OpDef* known = table.find(op)) return {known};
  const auto* alias = std::find_if(std::begin(aliases), std::end(aliases),
                                   [&](const Alias& row) { return row.written == op; });
  if (alias == std::end(aliases)) return {};
  return {table.find(alias->known), alias->zero_input};
}

bool changes_nothing(std::string_view op, std::string_view attr, const AttrValue& value) {
  return std::any_of(std::begin(passed_over), std::end(passed_over), [&](const Attr& row) {
    return row.op == op && row.attr == attr && passes(row.passed, value);
  });
}

std::optional<AttrKind> internal_attr(std::string_view name) {
  if (name == "_trainable" || name == "_initializer") return AttrKind::Bool;
  if (name == "_feed") return AttrKind::String;
  return std::nullopt;
}

}  // namespace troupe::interop
