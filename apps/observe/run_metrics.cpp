#include "apps/observe/run_metrics.h"

#include "apps/text/prometheus.h"

namespace troupe::observe {
namespace {

/// Collects the metrics of one run.
class Metrics {
 public:
  explicit Metrics(const std::string& run) : run_("run=" + quoted_label(run)) {}

  void one(const char* name, const char* kind, const char* help, double value) {
    append_kind(text_, name, kind, help);
    append_sample(text_, name, value, run_);
  }
  void counter(const char* name, const char* help, double value) { one(name, "counter", help, value); }
  void gauge(const char* name, const char* help, double value) { one(name, "gauge", help, value); }
  /// Adds a metric with a sample for each of `items`, which `sample` turns into (label, value).
  template <class Items, class Sample>
  void each(const char* name, const char* kind, const char* help, const char* label, const Items& items,
            Sample sample) {
    if (items.empty()) return;
    append_kind(text_, name, kind, help);
    for (const auto& item : items) {
      const auto [value_of_label, value] = sample(item);
      append_sample(text_, name, value, run_ + ',' + label + '=' + quoted_label(value_of_label));
    }
  }
  std::string take() { return std::move(text_); }

 private:
  const std::string run_;
  std::string text_;
};

using Sample = std::pair<std::string, double>;

void add_nodes(Metrics& metrics, const std::vector<NodeState>& nodes) {
  metrics.each("troupe_node_up", "gauge", "Whether the trainer is linked to the node.", "task", nodes,
               [](const NodeState& node) { return Sample(node.task, node.linked ? 1 : 0); });
  metrics.each("troupe_node_last_seen_timestamp_seconds", "gauge",
               "When the trainer was linked to the node for the last time; 0: never.", "task", nodes,
               [](const NodeState& node) { return Sample(node.task, node.last_seen); });
  metrics.each("troupe_node_restarts_total", "counter", "How often the node was started anew.", "task", nodes,
               [](const NodeState& node) { return Sample(node.task, static_cast<double>(node.restarts)); });
  metrics.each("troupe_node_cores", "gauge", "How many processors the node used lately, in the mean.", "task",
               nodes, [](const NodeState& node) { return Sample(node.task, node.cores); });
  metrics.each(
      "troupe_node_sent_bytes_total", "counter", "Bytes of the messages that the node has sent.", "task",
      nodes, [](const NodeState& node) { return Sample(node.task, static_cast<double>(node.traffic.sent)); });
  metrics.each("troupe_node_received_bytes_total", "counter", "Bytes of the messages that the node has got.",
               "task", nodes, [](const NodeState& node) {
                 return Sample(node.task, static_cast<double>(node.traffic.received));
               });
  metrics.each("troupe_node_unsent_bytes", "gauge", "Bytes of the messages that wait to be sent by the node.",
               "task", nodes, [](const NodeState& node) {
                 return Sample(node.task, static_cast<double>(node.traffic.unsent));
               });
}

void add_costs(Metrics& metrics, const std::vector<DeviceCosts>& devices) {
  metrics.each("troupe_step_waiting_ratio", "gauge",
               "The part of a step in which the device waits for others.", "device", devices,
               [](const DeviceCosts& device) { return Sample(device.device, device.idle() / device.step); });
  metrics.each("troupe_step_computing_ratio", "gauge", "The part of a step in which the device computes.",
               "device", devices, [](const DeviceCosts& device) {
                 return Sample(device.device, device.computing() / device.step);
               });
}

void add_gradients(Metrics& metrics, const GradientCounts& counts) {
  if (counts.dropped > 0)
    metrics.counter("troupe_gradients_dropped_total", "Gradients that came too late for their round.",
                    static_cast<double>(counts.dropped));
  if (counts.steps == 0) return;
  metrics.counter("troupe_gradients_applied_total", "Gradients that were applied one by one.",
                  static_cast<double>(counts.steps));
  metrics.counter("troupe_gradient_staleness_updates_total",
                  "Updates that came between the values of gradients and their own updates.",
                  static_cast<double>(counts.staleness));
  metrics.gauge("troupe_gradient_staleness_most_updates",
                "The largest number of such updates for a gradient.", static_cast<double>(counts.most_stale));
}

}  // namespace

std::string run_metrics(const RunSnapshot& run) {
  Metrics metrics(run.facts.name);
  metrics.counter("troupe_steps_total", "Training steps since the beginning of the run.",
                  static_cast<double>(run.pace.step));
  metrics.gauge("troupe_epoch", "The present epoch, counted from 1.", static_cast<double>(run.pace.epoch));
  if (run.pace.last_step)
    metrics.gauge("troupe_last_step", "The step after which the run ends at the latest.",
                  static_cast<double>(*run.pace.last_step));
  if (run.input)
    metrics.gauge("troupe_input_batches_ready", "Batches that are made and wait to be used.",
                  static_cast<double>(run.input->ready));
  metrics.gauge("troupe_loss", "The loss of the last step.", run.loss);
  metrics.gauge("troupe_epoch_loss", "The mean loss of the present epoch.", run.pace.epoch_loss);
  metrics.gauge("troupe_steps_per_second", "Training steps per second, lately.", run.pace.steps_per_second);
  metrics.gauge("troupe_samples_per_second", "Samples per second, lately.", run.pace.samples_per_second);
  if (!run.scores.empty())
    metrics.each("troupe_score", "gauge", "What the last evaluation has yielded.", "metric",
                 run.scores.back().values, [](const Sample& score) { return score; });
  metrics.each("troupe_spent_seconds_total", "counter", "The time of the run, by what it was spent on.",
               "what", run.spent, [](const Sample& spent) { return spent; });
  const std::vector<Phase> all = {Phase::Starting,   Phase::Waiting, Phase::Training,
                                  Phase::Evaluating, Phase::Saving,  Phase::Paused};
  metrics.each("troupe_phase", "gauge", "1 for what the run does at the moment.", "phase", all,
               [&](Phase phase) { return Sample(name(phase), phase == run.phase ? 1 : 0); });
  metrics.gauge("troupe_start_timestamp_seconds", "When this process began the run.", run.started);
  if (!run.checkpoint.empty())
    metrics.gauge("troupe_checkpoint_step", "The step of the last checkpoint.",
                  static_cast<double>(run.checkpoint_step));
  add_gradients(metrics, run.gradients);
  add_nodes(metrics, run.nodes);
  add_costs(metrics, run.costs);
  return metrics.take();
}

}  // namespace troupe::observe
