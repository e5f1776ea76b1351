#include "apps/event_writer.h"

#include <mutex>

#include "apps/inference/graph_def.h"
#include "apps/observe/event_file.h"
#include "apps/observe/step_stats.h"
#include "messages/env/disk.h"
#include "messages/env/real_disk.h"
#include "messages/protobuf/fields.h"
#include "messages/values/held_by.h"

namespace troupe {
namespace {

observe::EventFile new_file(const std::string& folder) {
  RealDisk disk;
  throw_if_failed(make_folders(disk, folder));
  return value_or_throw(observe::EventFile::create(folder));
}

/// Returns whether the bytes are a Summary: fields with the number 1, each a message.
bool is_summary(std::string_view bytes) {
  protobuf::FieldReader reader(bytes);
  while (const auto field = reader.next())
    if (field->number != 1 || field->kind != protobuf::FieldKind::Bytes) return false;
  return !reader.damaged();
}

}  // namespace

struct EventWriter::Impl {
  std::mutex lock;
  observe::EventFile file;  ///< guarded by the lock
};

EventWriter::EventWriter(const std::string& folder) : impl_(new Impl{{}, new_file(folder)}) {}
EventWriter::EventWriter(EventWriter&&) noexcept = default;
EventWriter& EventWriter::operator=(EventWriter&&) noexcept = default;
EventWriter::~EventWriter() = default;

void EventWriter::add_summary(uint64_t step, std::string_view summary) {
  if (!is_summary(summary))
    throw Error(
        invalid_argument("the " + std::to_string(summary.size()) +
                         " bytes are no Summary; ops of summaries, such as ScalarSummary, yield one"));
  Impl& writer = held_by(impl_, "event writer");
  const std::lock_guard guard(writer.lock);
  throw_if_failed(writer.file.add_summary(step, summary));
}

void EventWriter::add_scalars(uint64_t step, const std::vector<std::pair<std::string, double>>& values) {
  Impl& writer = held_by(impl_, "event writer");
  const std::lock_guard guard(writer.lock);
  throw_if_failed(writer.file.add_scalars(step, values));
}

void EventWriter::add_histograms(uint64_t step, const std::vector<std::pair<std::string, Tensor>>& values) {
  for (const auto& [name, tensor] : values)
    if (tensor.dtype() != DType::Float && tensor.dtype() != DType::Double)
      throw Error(invalid_argument("the histogram '" + name + "' is of a tensor " + tensor.signature() +
                                   "; it must be float or double"));
  Impl& writer = held_by(impl_, "event writer");
  const std::lock_guard guard(writer.lock);
  throw_if_failed(writer.file.add_histograms(step, values));
}

void EventWriter::add_profile(uint64_t step, std::string_view tag,
                              const std::vector<DeviceProfile>& profile) {
  const std::string metadata = observe::run_metadata(profile);
  Impl& writer = held_by(impl_, "event writer");
  const std::lock_guard guard(writer.lock);
  throw_if_failed(writer.file.add_run_metadata(step, tag, metadata));
}

void EventWriter::add_start(uint64_t step) {
  Impl& writer = held_by(impl_, "event writer");
  const std::lock_guard guard(writer.lock);
  throw_if_failed(writer.file.add_start(step));
}

void EventWriter::add_graph(const Graph& graph) {
  const std::string bytes = write_graph_def(graph);
  Impl& writer = held_by(impl_, "event writer");
  const std::lock_guard guard(writer.lock);
  throw_if_failed(writer.file.add_graph(bytes));
}

const std::string& EventWriter::path() const { return held_by(impl_, "event writer").file.path(); }

}  // namespace troupe
