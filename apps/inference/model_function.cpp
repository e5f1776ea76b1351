#include "apps/inference/model_function.h"

#include <algorithm>
#include <cassert>
#include <condition_variable>
#include <mutex>

#include "apps/inference/model_tables.h"
#include "graph/passes/fuse/fuse.h"
#include "graph/passes/partition/partition.h"
#include "kernels/ops/images/codecs.h"
#include "kernels/runtime/cancelled_by.h"
#include "kernels/runtime/simplify_step.h"
#include "kernels/runtime/step_runner.h"

namespace troupe::inference {
namespace {

/// A call of a function: the host of its step. The threads that help keep it alive until they have returned.
class Call final : public StepHost, public std::enable_shared_from_this<Call> {
 public:
  Call(const std::shared_ptr<const PreparedPlan>& plan, const ModelTables& tables)
      : pool_(plan->device().context().pool()), tables_(tables), runner_(plan, *this) {}

  Result<std::vector<Tensor>> run(const StepInfo& info, std::vector<Tensor> feeds,
                                  const Cancellation* cancellation) {
    runner_.start(info, feeds);
    const CancelledBy cancelled_by(cancellation, [this] { cancel(); });
    runner_.drive();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_.has_value(); });
    if (!ended_->ok()) return *ended_;
    const auto fetched = runner_.fetched();
    return std::vector<Tensor>(std::move_iterator(fetched.begin()), std::move_iterator(fetched.end()));
  }

  void request(StepRequest request) override {
    (void)runner_.arrived(request.activation, tables_.answer(request));
  }
  void read(Activation activation, uint32_t input, StateCell& cell) override {
    (void)runner_.value_arrived(activation, input,
                                internal("variable " + cell.name() + " of a loaded model changes"));
  }
  void failing(const Status&) override {}
  bool invite_helper() override {
    return pool_.try_submit([self = shared_from_this()] { self->runner_.help(); });
  }
  /// The device computes at once, so no work ends later.
  void wake() override {}
  void ended(Status status) override {
    const std::lock_guard guard(mutex_);
    ended_ = std::move(status);
    changed_.notify_one();
  }

 private:
  /// Any thread. A step that nobody drives at the moment, because a helper computes, is driven here: it only ends then.
  void cancel() {
    if (runner_.cancel(cancelled("the call of the model was cancelled"))) runner_.drive();
  }

  Pool& pool_;
  const ModelTables& tables_;
  StepRunner runner_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Status> ended_;
};

/// Has the ops that decode images refuse those with more elements.
void limit_images(Graph& graph, int64_t elements) {
  Graph limited = graph.empty();
  for (Node& node : std::move(graph).release()) {
    if (node.type().starts_with("Decode")) node.attrs.set(image_elements_attr, elements);
    limited.append(std::move(node));
  }
  graph = std::move(limited);
}

/// Fails for a node that only an actor could carry out.
Status check_needs_no_session(const PreparedPlan& plan) {
  for (const PreparedNode& node : plan.nodes())
    if (node.action == Action::Request && !ModelTables::carries_out(*node.node))
      return unimplemented(
                 "the op changes state, calls a function of this process or waits for other steps, which "
                 "takes a session; a loaded model only computes. Where the graph is in a GraphDef or a .meta "
                 "file, `troupe run` runs it in one")
          .at_node(node.node->type(), node.node->name);
  return {};
}

}  // namespace

Result<ModelFunction> ModelFunction::make(const Graph& graph, const std::vector<Output>& inputs,
                                          const std::vector<Output>& outputs, const OpLibrary& library,
                                          Device& device, StateTable& state, const ModelTables& tables,
                                          int64_t image_elements) {
  ModelFunction function;
  function.tables_ = &tables;
  RunSignature signature{inputs, {}, {}, false};
  for (const Output& output : outputs) {
    const auto same = std::ranges::find(inputs, output);
    if (same == inputs.end()) signature.fetches.push_back(output);
    function.same_as_.push_back(
        same == inputs.end() ? std::nullopt : std::optional(static_cast<size_t>(same - inputs.begin())));
  }
  if (signature.fetches.empty()) return function;
  TROUPE_ASSIGN(Subgraph subgraph, cut_subgraph(graph, signature));
  for (NodeId id = 0; id < subgraph.graph.size(); ++id) subgraph.graph.set_device(id, {});
  if (image_elements > 0) limit_images(subgraph.graph, image_elements);
  TROUPE_RETURN_IF_FAILED(simplify_step(subgraph, library));
  std::vector<DeviceId> devices(subgraph.graph.size(), 0);
  const CanRun can_run = [&](const Node& node, DeviceId) { return library.kernels.has(node, device.type()); };
  TROUPE_RETURN_IF_FAILED(fuse(subgraph.graph, devices, can_run).status());
  const DeviceInfo only{device.name(), device.incarnation()};
  TROUPE_ASSIGN(auto partitions, partition(subgraph.graph, std::move(devices), {&only, 1}));
  Partition& part = partitions.at(0);
  std::vector<Output> feeds, fetches;
  for (const PartitionEnd& end : part.feeds) {
    feeds.push_back(end.output);
    function.feeds_.push_back(end.position);
  }
  for (const PartitionEnd& end : part.fetches) fetches.push_back(end.output);
  TROUPE_ASSIGN(auto plan, Plan::make(std::make_shared<const Graph>(std::move(part.graph)), feeds, fetches));
  TROUPE_ASSIGN(function.plan_,
                PreparedPlan::make(std::move(plan), library.kernels, device,
                                   [&state](const Node& node) { return state.require("", node); }));
  TROUPE_RETURN_IF_FAILED(check_needs_no_session(*function.plan_));
  for (const PreparedNode& node : function.plan_->nodes())
    if (has_own_seeds(*node.node)) function.seeded_.push_back(node.node->name);
  return function;
}

StepInfo ModelFunction::next_call() const {
  StepInfo info;
  info.ordinal = calls_->fetch_add(1);
  if (seeded_.empty()) return info;
  auto earlier = std::make_shared<EarlierRuns>();
  for (const std::string& name : seeded_) earlier->emplace(name, info.ordinal);
  info.earlier_runs = std::move(earlier);
  return info;
}

Result<std::vector<Tensor>> ModelFunction::run(std::span<const Tensor> inputs,
                                               const Cancellation* cancellation) const {
  std::vector<Tensor> computed;
  if (plan_) {
    std::vector<Tensor> feeds;
    feeds.reserve(feeds_.size());
    for (const size_t position : feeds_) feeds.push_back(inputs[position]);
    TROUPE_ASSIGN(computed,
                  std::make_shared<Call>(plan_, *tables_)->run(next_call(), std::move(feeds), cancellation));
  }
  std::vector<Tensor> outputs;
  outputs.reserve(same_as_.size());
  auto next = computed.begin();
  for (const auto& input : same_as_) {
    if (input)
      outputs.push_back(inputs[*input]);
    else
      outputs.push_back(std::move(*next++));
  }
  return outputs;
}

}  // namespace troupe::inference
