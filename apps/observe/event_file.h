// EventFile: a file that TensorBoard reads: what a run measures, step by step, its hyperparameters and its graph. The file is a
// sequence of records, each of which holds an Event; a record appears in the file at once. Owned by the run; one thread. Source:
// tensorflow/core/util/event.proto, tensorflow/core/framework/summary.proto, tensorboard/plugins/hparams/plugin_data.proto.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "apps/observe/record_file.h"
#include "messages/values/status.h"
#include "messages/values/tensor.h"

namespace troupe::observe {

/// Hyperparameters by their names.
using Hyperparameters = std::vector<std::pair<std::string, std::variant<double, bool, std::string>>>;

class EventFile {
 public:
  /// Makes a new file in a folder. Its name has the time and the host, as TensorBoard expects, and differs from those of all other
  /// files. Fails with Unavailable if the system refuses.
  static Result<EventFile> create(const std::string& folder);

  // What cannot be written is left out; then the functions fail as RecordFile::append() does.
  /// Adds scalars by their names, which TensorBoard groups by what stands before a '/'.
  Status add_scalars(uint64_t step, std::span<const std::pair<std::string, double>> values);
  /// Adds how the elements of floating tensors are distributed, by the tensors' names. Elements that are not finite do not count.
  Status add_histograms(uint64_t step, std::span<const std::pair<std::string, Tensor>> values);
  /// Adds the bytes of a Summary, as the ops of summaries yield.
  Status add_summary(uint64_t step, std::string_view summary);
  /// Adds the hyperparameters of the run, by which TensorBoard compares runs.
  Status add_hyperparameters(const Hyperparameters& values);
  /// Adds the profile of a step, as the bytes of a RunMetadata. TensorBoard shows it beside the graph, under the tag.
  Status add_run_metadata(uint64_t step, std::string_view tag, std::string_view metadata);
  /// Says that a training begins, or goes on, with this step: TensorBoard leaves out what earlier files of the folder have of this
  /// step and later ones.
  Status add_start(uint64_t step);
  /// Adds the graph of the model, as the bytes of a GraphDef.
  Status add_graph(std::string_view graph_def);

  const std::string& path() const { return path_; }

 private:
  EventFile(std::string path, RecordFile file) : path_(std::move(path)), file_(std::move(file)) {}
  Status add(uint64_t step, uint32_t field, std::string_view value);

  std::string path_;
  RecordFile file_;
};

}  // namespace troupe::observe
