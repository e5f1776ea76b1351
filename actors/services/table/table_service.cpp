#include "actors/services/table/table_service.h"

#include "actors/services/table/table.h"
#include "actors/services/table/table_requests.h"

namespace troupe {
namespace {

class TableNode final : public ServedNode {
 public:
  TableNode(const StateActors<TableSpec>& tables, TableOp op) : tables_(tables), op_(op) {}

  Result<ServiceCall> call(const StepRequest& request, const StepInfo&) const override {
    TROUPE_ASSIGN(const auto table,
                  request.cell ? tables_.find(request.cell) : tables_.find(request.inputs[0]));
    TROUPE_ASSIGN(auto message, table_message(op_, request, table->spec));
    return ServiceCall{table->actor.get(), std::move(message)};
  }
  StepReply reply(Result<AnyMessage> answer) const override { return table_reply(op_, std::move(answer)); }

 private:
  const StateActors<TableSpec>& tables_;
  const TableOp op_;
};

}  // namespace

Result<std::unique_ptr<const ServedNode>> TableService::prepare(const std::shared_ptr<const Graph>&,
                                                                const Node& node) {
  const auto op = table_op(node.type());
  if (!op) return unimplemented("the table service does not know this op");
  return std::unique_ptr<const ServedNode>(new TableNode(states_, *op));
}

Status TableService::open(const Node& handle, const std::shared_ptr<StateCell>& cell) {
  TROUPE_RETURN_IF_FAILED(check_host("a table keeps its contents"));
  TROUPE_ASSIGN(TableSpec spec, table_spec(handle));
  return states_.open(cell, std::move(spec),
                      [&](const TableSpec& made) { return make_table(site_.node, made, site_.device); });
}

}  // namespace troupe
