#include "apps/interop/dialect.h"

#include <algorithm>
#include <iterator>

namespace troupe::interop {
namespace {

/// Which values of an attribute can be passed over.
enum class Passed : uint8_t {
  Any,    ///< a hint: it changes no result
  Empty,  ///< the default: as Troupe's op does
};
struct Attr {
  std::string_view op, attr;
  Passed passed;
};
constexpr Attr passed_over[] = {
    {"BatchMatMul", "grad_x", Passed::Any},
    {"BatchMatMul", "grad_y", Passed::Any},
    {"BatchMatMulV2", "grad_x", Passed::Any},
    {"BatchMatMulV2", "grad_y", Passed::Any},
    {"GatherNd", "bad_indices_policy", Passed::Empty},
    {"MatMul", "grad_a", Passed::Any},
    {"MatMul", "grad_b", Passed::Any},
    {"ResourceScatterNdAdd", "bad_indices_policy", Passed::Empty},
    {"ResourceScatterNdSub", "bad_indices_policy", Passed::Empty},
    {"ResourceScatterNdUpdate", "bad_indices_policy", Passed::Empty},
    {"ScatterNd", "bad_indices_policy", Passed::Empty},
    {"ScatterNdAdd", "bad_indices_policy", Passed::Empty},
    {"ScatterNdSub", "bad_indices_policy", Passed::Empty},
    {"ScatterNdUpdate", "bad_indices_policy", Passed::Empty},
    {"VarHandleOp", "allowed_devices", Passed::Empty},
    {"VarHandleOp", "debug_name", Passed::Any},
};

bool passes(Passed passed, const AttrValue& value) {
  switch (passed) {
    case Passed::Any: return true;
    case Passed::Empty:
      return value.has_list() ? value.list().s_size() == 0 : value.has_s() && value.s().empty();
  }
  return false;
}

}  // namespace

bool changes_nothing(std::string_view op, std::string_view attr, const AttrValue& value) {
  return std::any_of(std::begin(passed_over), std::end(passed_over), [&](const Attr& row) {
    return row.op == op && row.attr == attr && passes(row.passed, value);
  });
}

std::string_view only_value(std::string_view op, std::string_view attr) {
  const auto* const row =
      std::ranges::find_if(passed_over, [&](const Attr& r) { return r.op == op && r.attr == attr; });
  if (row == std::end(passed_over)) return {};
  return row->passed == Passed::Empty ? "an empty one" : "";
}

std::optional<AttrKind> internal_attr(std::string_view name) {
  if (name == "_trainable" || name == "_initializer") return AttrKind::Bool;
  if (name == "_feed") return AttrKind::String;
  return std::nullopt;
}

}  // namespace troupe::interop
