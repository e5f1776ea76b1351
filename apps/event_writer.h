// Files for TensorBoard, installed as <troupe/event_writer.h>: what a program measures of its own training, step by step. A file
// has the results of the ops of summaries, numbers, distributions and the graph; `tensorboard --logdir FOLDER` shows all files in a
// folder. An entry is in the file, whole, when the call returns. Failures are thrown as troupe::Error. Public header; any thread.
//
//   troupe::EventWriter events("logs/first");
//   events.add_graph(graph);
//   for (uint64_t step = 0; step < 1000; ++step) events.add_scalars(step, {{"loss", train(step)}});
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/step/executor/device_profile.h"
#include "graph/build/graph.h"
#include "messages/values/tensor.h"

#pragma GCC visibility push(default)
namespace troupe {

class EventWriter {
 public:
  /// Makes a new file in the folder, and the folder if it does not exist. Throws Unavailable if the system refuses.
  explicit EventWriter(const std::string& folder);
  EventWriter(EventWriter&&) noexcept;
  EventWriter& operator=(EventWriter&&) noexcept;
  ~EventWriter();

  // These throw Unavailable, naming the file, if the system refuses; then the file stays as it was.
  /// Adds the bytes of a Summary, as the ops of summaries yield. Throws InvalidArgument if the bytes are no Summary.
  void add_summary(uint64_t step, std::string_view summary);
  /// Adds numbers by their names, which TensorBoard groups by what stands before a '/'.
  void add_scalars(uint64_t step, const std::vector<std::pair<std::string, double>>& values);
  /// Adds how the elements of tensors of float or double are distributed, by names. Elements that are not finite do not count.
  /// Throws InvalidArgument for tensors of other types.
  void add_histograms(uint64_t step, const std::vector<std::pair<std::string, Tensor>>& values);
  /// Adds the profile of a step (StepOptions::profile). TensorBoard shows it beside the graph, under the tag.
  void add_profile(uint64_t step, std::string_view tag, const std::vector<DeviceProfile>& profile);
  /// Says that a training begins, or goes on, with this step: TensorBoard leaves out what earlier files of the folder have of this
  /// step and later ones.
  void add_start(uint64_t step);
  /// Adds the graph. Throws as write_graph_def() does.
  void add_graph(const Graph& graph);

  const std::string& path() const;

 private:
  struct [[gnu::visibility("hidden")]] Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace troupe
#pragma GCC visibility pop
