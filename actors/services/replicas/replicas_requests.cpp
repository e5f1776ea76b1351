#include "actors/services/replicas/replicas_requests.h"

#include <algorithm>

#include "actors/services/replicas/combined_gradients.h"
#include "messages/schemas/replicas.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

constexpr int64_t max_shards = 1 << 20;

bool takes_handle(const ArgDef& input) { return input.is_ref || input.type == DType::Resource; }

Status check_shard(int64_t shard, int64_t shards, int64_t least) {
  if (shard >= least && shard < shards && shards <= max_shards) return {};
  return invalid_argument("shard is " + std::to_string(shard) + ", shards " + std::to_string(shards) +
                          "; allowed: " + std::to_string(least) +
                          " <= shard < shards <= " + std::to_string(max_shards));
}

Status check_training(const StepInfo& step) {
  if (step.training && step.round > 0) return {};
  return failed_precondition(
      "gradients can only be pushed in a training step: StepOptions::training must be true and round at "
      "least 1");
}

/// Returns the attributes of the rule: the bool attributes in the node's `options` are true.
Result<Attributes> rule_attributes(const Node& node, const OpDef& rule) {
  Attributes attrs;
  for (const std::string& option : node.attrs.get<std::vector<std::string>>("options")) {
    const AttrDef* attr = rule.find_attr(option);
    if (!attr || attr->kind != AttrKind::Bool)
      return invalid_argument(rule.name + " has no bool attribute '" + option + "'");
    attrs.set(option, true);
  }
  return attrs;
}

/// Returns the index of the value input of the rule that the attribute names; -1 if it names none.
Result<int32_t> value_input(const Node& node, std::string_view attr, const OpDef& rule, size_t handles) {
  const auto& name = node.attrs.get<std::string>(attr);
  if (name.empty()) return -1;
  const auto index = rule.find_input(name);
  if (!index || *index < handles)
    return invalid_argument(rule.name + " has no value input '" + name + "', which the attribute " +
                            std::string(attr) + " names");
  return static_cast<int32_t>(*index - handles);
}

Result<AveragedInputs> averaged_inputs(const Node& node, const OpDef& rule, size_t handles) {
  AveragedInputs result;
  TROUPE_ASSIGN(result.gradient, value_input(node, "gradient", rule, handles));
  TROUPE_ASSIGN(result.indices, value_input(node, "indices", rule, handles));
  if (result.indices >= 0 && (result.gradient < 0 || result.gradient == result.indices))
    return invalid_argument("indices is '" + node.attrs.get<std::string>("indices") + "' and gradient is '" +
                            node.attrs.get<std::string>("gradient") +
                            "'; indices need a gradient that is another input");
  return result;
}

Result<std::optional<PureFunction>> combination_of(const Graph& graph, const Node& node,
                                                   const AveragedInputs& averaged, const OpLibrary& library,
                                                   const Device& device) {
  const auto& name = node.attrs.get<FunctionName>("combine").name;
  if (name.empty()) return std::optional<PureFunction>();
  if (averaged.gradient < 0 || averaged.indices >= 0)
    return invalid_argument("combine is '" + name + "', but the rule has " +
                            (averaged.gradient < 0 ? "no gradient" : "a gradient that is rows") +
                            "; only dense gradients can be combined");
  if (device.memory_kind() != MemoryKind::Host)
    return unimplemented("combine is '" + name + "', but the variables are on " + device.name().text() +
                         "; gradients can be combined on CPUs only");
  TROUPE_ASSIGN(auto function, prepare_combination(graph, name, library));
  return std::optional<PureFunction>(std::move(function));
}

Status check_rule(const OpDef& rule, size_t variables, size_t values) {
  const auto plain = [](const ArgDef& input) {
    return input.number_attr.empty() && input.type_list_attr.empty();
  };
  const auto first_value = std::ranges::find_if_not(rule.inputs, takes_handle);
  const bool handles_first = std::none_of(first_value, rule.inputs.end(), takes_handle);
  if (!rule.is_of_service(variable_service) || !handles_first || !std::ranges::all_of(rule.inputs, plain))
    return invalid_argument("the op " + rule.name + " is not a rule that updates variables");
  const auto handles = static_cast<size_t>(first_value - rule.inputs.begin());
  if (handles == variables && rule.inputs.size() == variables + values) return {};
  return invalid_argument(rule.name + " takes " + std::to_string(handles) + " variables and " +
                          std::to_string(rule.inputs.size() - handles) + " values, but is given " +
                          std::to_string(variables) + " variables and " + std::to_string(values) + " values");
}

}  // namespace

Result<ReplicatedRule> prepare_replicated_rule(const Graph& graph, const Node& node, const OpLibrary& library,
                                               Device& device) {
  TROUPE_ASSIGN(const OpDef* op, library.ops->require(node.attrs.get<std::string>("rule")));
  const auto variables = static_cast<size_t>(node.attrs.get<int64_t>("N"));
  const auto after = static_cast<size_t>(node.attrs.get<int64_t>("M"));
  const size_t values =
      node.inputs.size() - variables - after - 2;  // the other two are the round and the samples
  TROUPE_RETURN_IF_FAILED(check_rule(*op, variables, values));
  const int64_t shard = node.attrs.get<int64_t>("shard"), shards = node.attrs.get<int64_t>("shards");
  TROUPE_RETURN_IF_FAILED(check_shard(shard, shards, -1));
  ReplicatedRule result;
  TROUPE_ASSIGN(result.averaged, averaged_inputs(node, *op, variables));
  TROUPE_ASSIGN(auto attrs, rule_attributes(node, *op));
  const std::span<const Output> inputs(node.inputs);
  TROUPE_ASSIGN(auto rule, rule_graph(graph, node.name, op->name, std::move(attrs),
                                      inputs.subspan(1, variables + values), variables));
  TROUPE_ASSIGN(auto prepared, prepare_rule(std::move(rule.graph), *rule.node, library.kernels, device));
  TROUPE_ASSIGN(prepared->combination, combination_of(graph, node, result.averaged, library, device));
  result.rule = std::move(prepared);
  return result;
}

Result<AnyMessage> push_message(const StepRequest& request, const StepInfo& step, uint64_t rule,
                                AveragedInputs averaged) {
  TROUPE_RETURN_IF_FAILED(check_training(step));
  const Attributes& attrs = request.node.attrs;
  const auto variables = static_cast<uint32_t>(attrs.get<int64_t>("N")),
             after = static_cast<uint32_t>(attrs.get<int64_t>("M"));
  for (const auto handles : {request.inputs.first(1 + variables), request.inputs.last(after)})
    for (const Slot& slot : handles)
      if (slot.kind != Slot::Kind::Handle)
        return invalid_argument("an input that must be a variable to update was fed with a value");
  const Tensor& samples = request.inputs[request.inputs.size() - after - 1].tensor;
  if (samples.dtype() != DType::Int64 || !samples.shape().is_scalar())
    return invalid_argument("samples is " + samples.signature() + ", but must be int64[]");
  Draft<wire::PushGradient> draft;
  set_step(draft->initStep(), step.session, step.ordinal);
  draft->setRound(step.round);
  draft->setWorker(static_cast<uint32_t>(attrs.get<int64_t>("worker")));
  const int64_t fixed_shard = attrs.get<int64_t>("shard"), shards = attrs.get<int64_t>("shards");
  const int64_t shard = fixed_shard < 0 ? step.shard : fixed_shard;
  TROUPE_RETURN_IF_FAILED(check_shard(shard, shards, 0));
  draft->setShard(static_cast<uint32_t>(shard));
  draft->setShards(static_cast<uint32_t>(shards));
  draft->setTraining(static_cast<uint64_t>(attrs.get<int64_t>("training")));
  draft->setWait(attrs.get<bool>("wait"));
  draft->setSamples(samples.as<int64_t>()[0]);
  draft->setRoundCell(request.inputs[0].cell->id());
  auto cells = draft->initCells(variables);
  for (uint32_t i = 0; i < variables; ++i) cells.set(i, request.inputs[1 + i].cell->id());
  auto counters = draft->initAfter(after);
  for (uint32_t i = 0; i < after; ++i) counters.set(i, request.inputs.last(after)[i].cell->id());
  draft->setRule(rule);
  draft->setGradient(averaged.gradient);
  draft->setIndices(averaged.indices);
  std::vector<Tensor> values;
  for (Slot& slot : request.inputs.subspan(1 + variables, request.inputs.size() - variables - after - 2))
    values.push_back(std::move(slot.tensor));
  return AnyMessage(draft.finish(std::move(values)));
}

Result<AnyMessage> await_message(const StepRequest& request, const StepInfo& step) {
  TROUPE_RETURN_IF_FAILED(check_training(step));
  if (request.inputs[0].kind != Slot::Kind::Handle)
    return invalid_argument("an input that must be a variable was fed with a value");
  Draft<wire::AwaitRound> draft;
  set_step(draft->initStep(), step.session, step.ordinal);
  draft->setRound(step.round);
  draft->setRoundCell(request.inputs[0].cell->id());
  draft->setTraining(static_cast<uint64_t>(request.node.attrs.get<int64_t>("training")));
  return AnyMessage(draft.finish());
}

}  // namespace troupe
