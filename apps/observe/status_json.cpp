#include "apps/observe/status_json.h"

#include <nlohmann/json.hpp>

#include "apps/observe/costs_json.h"

namespace troupe::observe {
namespace {

using Json = nlohmann::ordered_json;

Json nodes_of(const RunSnapshot& run) {
  Json nodes = Json::array();
  for (const NodeState& node : run.nodes) {
    Json one = {{"task", node.task}, {"linked", node.linked}};
    if (!node.linked) one["problem"] = node.problem;
    if (!node.transport.empty()) one["transport"] = node.transport;
    if (node.last_seen > 0) one["last_seen"] = node.last_seen;
    one["restarts"] = node.restarts;
    one["cores"] = node.cores;
    one["sent_bytes"] = node.traffic.sent;
    one["received_bytes"] = node.traffic.received;
    one["unsent_bytes"] = node.traffic.unsent;
    one["sent_bytes_per_second"] = node.traffic.sent_per_second;
    one["received_bytes_per_second"] = node.traffic.received_per_second;
    nodes.push_back(std::move(one));
  }
  return nodes;
}

Json scores_of(const RunSnapshot& run) {
  Json all = Json::array();
  for (const Scores& scores : run.scores) {
    Json one = {{"step", scores.step}, {"epoch", scores.epoch}, {"time", scores.time}};
    for (const auto& [name, value] : scores.values) one[name] = value;
    all.push_back(std::move(one));
  }
  return all;
}

Json gradients_of(const GradientCounts& counts) {
  Json json = {{"dropped", counts.dropped}};
  if (counts.steps == 0) return json;
  json["applied"] = counts.steps;
  json["mean_staleness"] = static_cast<double>(counts.staleness) / static_cast<double>(counts.steps);
  json["most_stale"] = counts.most_stale;
  return json;
}

}  // namespace

Json status_json(const RunSnapshot& run) {
  Json json = {{"name", run.facts.name}, {"phase", name(run.phase)}};
  if (!run.ending.empty()) json["ending"] = run.ending;
  json["folder"] = run.folder;
  json["time"] = run.time;
  json["started"] = run.started;
  json["epoch"] = run.pace.epoch;
  if (run.pace.max_epochs) json["max_epochs"] = *run.pace.max_epochs;
  json["step"] = run.pace.step;
  if (run.pace.last_step) json["last_step"] = *run.pace.last_step;
  json["steps_per_epoch"] = run.facts.steps_per_epoch;
  json["batch"] = run.facts.batch;
  json["samples"] = run.facts.samples;
  json["parameters"] = run.facts.parameters;
  json["loss"] = run.loss;
  json["epoch_loss"] = run.pace.epoch_loss;
  json["steps_per_second"] = run.pace.steps_per_second;
  json["samples_per_second"] = run.pace.samples_per_second;
  if (const auto left = run.pace.left()) json["seconds_left"] = *left;
  for (const auto& [what, seconds] : run.spent) json["spent"][what] = seconds;
  if (run.gradients.steps > 0 || run.gradients.dropped > 0) json["gradients"] = gradients_of(run.gradients);
  if (run.input) json["input"] = {{"batches_ready", run.input->ready}, {"batches_most", run.input->most}};
  if (!run.costs.empty()) json["devices"] = Json::array();
  for (const DeviceCosts& device : run.costs) json["devices"].push_back(costs_json(device));
  if (!run.checkpoint.empty())
    json["checkpoint"] = {{"folder", run.checkpoint}, {"step", run.checkpoint_step}};
  json["nodes"] = nodes_of(run);
  json["losses"] = run.losses;
  json["scores"] = scores_of(run);
  json["notes"] = Json::array();
  for (const Note& note : run.notes) json["notes"].push_back({{"time", note.time}, {"text", note.text}});
  return json;
}

}  // namespace troupe::observe
