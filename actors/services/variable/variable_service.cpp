#include "actors/services/variable/variable_service.h"

#include "kernels/runtime/apply_update.h"
#include "messages/schemas/variable.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

bool asks_if_initialized(const Node& node) {
  return node.op->allows_uninitialized_input && node.output_types.size() == 1 &&
         node.output_types[0].dtype == DType::Bool && !node.output_types[0].is_ref;
}

/// IsVariableInitialized, which needs no actor: the cell is read directly.
class InitializedNode final : public ServedNode {
 public:
  Result<ServiceCall> call(const StepRequest& request, const StepInfo&) const override {
    ServiceCall call;
    call.reply.outputs = {
        Tensor::scalar(request.inputs[0].cell->reading() != StateCell::Reading::Uninitialized)};
    return call;
  }
  StepReply reply(Result<AnyMessage> answer) const override { return {answer.status(), {}, false}; }
};

/// An op that changes variables: Assign, AssignAdd, ApplyAdam, ...
class UpdateNode final : public ServedNode {
 public:
  UpdateNode(VariableService& service, std::shared_ptr<const UpdateRule> rule)
      : service_(service), rule_(std::move(rule)), number_(service.rules().add(rule_)) {}
  ~UpdateNode() override { service_.rules().remove(number_); }
  UpdateNode(const UpdateNode&) = delete;
  UpdateNode& operator=(const UpdateNode&) = delete;

  Result<ServiceCall> call(const StepRequest& request, const StepInfo& step) const override {
    if (step.unlocked) {
      DeviceContext& device = service_.device().context();
      const auto applied = apply_unlocked_update(*rule_->kernel, *rule_->node, request.inputs, device, step);
      if (applied) return ServiceCall{{}, {}, {*applied, references()}};
    }
    Draft<wire::Update> draft;
    set_step(draft->initStep(), step.session, step.ordinal);
    draft->setUnlocked(step.unlocked.number);
    draft->setRule(number_);
    std::vector<Tensor> values;
    std::vector<StateCell*> cells;
    cells.reserve(request.inputs.size());
    for (Slot& slot : request.inputs) {
      if (slot.kind == Slot::Kind::Handle)
        cells.push_back(slot.cell);
      else
        values.push_back(std::move(slot.tensor));
    }
    if (cells.empty())
      return invalid_argument("the input that must be a variable to update was fed with a value");
    auto list = draft->initCells(static_cast<uint32_t>(cells.size()));
    for (uint32_t i = 0; i < cells.size(); ++i) list.set(i, cells[i]->id());
    TROUPE_ASSIGN(auto owner, service_.groups().owner(cells));
    return ServiceCall{std::move(owner), draft.finish(std::move(values)), {}};
  }

  StepReply reply(Result<AnyMessage> answer) const override {
    if (answer && !answer->attachments().empty())
      return {{}, {answer->attachments().begin(), answer->attachments().end()}, false};
    return {answer.status(), references(), false};
  }

 private:
  /// Returns the outputs, which are references: the step runner takes the handles from the inputs.
  std::vector<Tensor> references() const { return std::vector<Tensor>(rule_->node->output_types.size()); }

  VariableService& service_;
  const std::shared_ptr<const UpdateRule> rule_;
  const uint64_t number_;
};

}  // namespace

VariableService& VariableService::of(const DeviceSite& site) {
  return static_cast<VariableService&>(*site.services.find(name)->second);
}

Result<std::unique_ptr<const ServedNode>> VariableService::prepare(const std::shared_ptr<const Graph>& graph,
                                                                   const Node& node) {
  if (asks_if_initialized(node)) return std::unique_ptr<const ServedNode>(new InitializedNode);
  TROUPE_ASSIGN(auto rule, prepare_rule(graph, node, site_.node.library->kernels, *site_.device));
  return std::unique_ptr<const ServedNode>(new UpdateNode(*this, std::move(rule)));
}

Result<ActorRef> VariableService::owner(StateCell& cell) {
  StateCell* const cells[] = {&cell};
  return groups_.owner(cells);
}

}  // namespace troupe
