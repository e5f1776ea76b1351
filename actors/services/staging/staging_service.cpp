#include "actors/services/staging/staging_service.h"

#include "actors/services/staging/staging.h"
#include "actors/services/staging/staging_requests.h"
#include "actors/site/waiting_role.h"

namespace troupe {
namespace {

class StagingNode final : public ServedNode {
 public:
  StagingNode(const StateActors<StagingSpec>& areas, StagingOp op) : areas_(areas), op_(op) {}

  Result<ServiceCall> call(const StepRequest& request, const StepInfo& step) const override {
    TROUPE_ASSIGN(const auto area, areas_.find(request.cell));
    TROUPE_ASSIGN(auto message, staging_message(op_, request, step));
    return ServiceCall{area->actor.get(), std::move(message), {}, may_wait(op_)};
  }
  StepReply reply(Result<AnyMessage> answer) const override { return staging_reply(op_, std::move(answer)); }
  AnyMessage cancellation(const StepInfo& step) const override { return cancellation_of(step); }

 private:
  const StateActors<StagingSpec>& areas_;
  const StagingOp op_;
};

}  // namespace

Result<std::unique_ptr<const ServedNode>> StagingService::prepare(const std::shared_ptr<const Graph>&,
                                                                  const Node& node) {
  const auto op = staging_op(node.type());
  if (!op) return unimplemented("the staging service does not know this op");
  return std::unique_ptr<const ServedNode>(new StagingNode(states_, *op));
}

Status StagingService::open(const Node& node, const std::shared_ptr<StateCell>& cell) {
  TROUPE_RETURN_IF_FAILED(check_host("a staging area keeps its tuples"));
  return states_.open(cell, staging_spec(node),
                      [&](const StagingSpec& made) { return make_staging(site_.node, made); });
}

}  // namespace troupe
