#include "apps/interop/saver_nodes.h"

#include <algorithm>

#include "apps/interop/body.h"
#include "apps/interop/dialect.h"
#include "apps/interop/function_library.h"

namespace troupe::interop {
namespace {

using Marks = std::vector<bool>;  // of a body's nodes

/// Those whose ops are missing, and those that come after one.
Marks not_to_be_run(const Body& body, const FunctionLibrary& library, const OpTable& ops) {
  Marks marks(body.size());
  for (const uint32_t i : body.order()) {
    const std::string& op = body.node(i).op();
    const auto controls = body.controls(i);
    const auto inputs = body.inputs(i);
    marks[i] = (!translate(op, ops).op && !library.find(op) && call_kind(op) == CallKind::None) ||
               std::ranges::any_of(controls, [&](uint32_t source) { return marks[source]; }) ||
               std::ranges::any_of(inputs, [&](const Body::Input& input) { return marks[input.source]; });
  }
  return marks;
}

/// "save/" of "save/restore_all".
std::string_view scope_of(std::string_view name) {
  const size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? name : name.substr(0, slash + 1);
}

}  // namespace

Result<bool> leave_out_saver(const SaverDef& saver, const OpTable& ops, GraphDef& def) {
  TROUPE_ASSIGN(const FunctionLibrary library, FunctionLibrary::make(def.library()));
  TROUPE_ASSIGN(const Body body, Body::make(def.node()));
  const Marks out = not_to_be_run(body, library, ops);
  const std::string_view scope = scope_of(saver.restore_op_name());
  for (uint32_t i = 0; i < body.size(); ++i)
    if (out[i] && !body.node(i).name().starts_with(scope)) return false;
  auto& nodes = *def.mutable_node();
  int kept = 0;
  for (int i = 0; i < nodes.size(); ++i)
    if (!out[static_cast<size_t>(i)]) nodes.SwapElements(kept++, i);
  const bool any = kept != nodes.size();
  nodes.DeleteSubrange(kept, nodes.size() - kept);
  return any;
}

}  // namespace troupe::interop
