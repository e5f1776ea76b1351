#include "apps/observe/event_file.h"

#include <unistd.h>

#include <array>
#include <chrono>

#include "messages/protobuf/fields.h"
#include "messages/records/tf_record.h"

namespace troupe::observe {
namespace {

// The numbers of fields, by message.
constexpr uint32_t event_time = 1, event_step = 2, event_version = 3, event_graph = 4, event_summary = 5;
constexpr uint32_t summary_value = 1, value_tag = 1, value_number = 2;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "host";
}

}  // namespace

Result<EventFile> EventFile::create(const std::string& folder) {
  std::string path = folder + "/events.out.tfevents." + std::to_string(static_cast<uint64_t>(seconds_now())) +
                     '.' + host_name() + '.' + std::to_string(::getpid());
  std::ofstream file(path, std::ios::binary | std::ios::app);
  if (!file) return unavailable("cannot write " + path);
  EventFile events(std::move(path), std::move(file));
  events.add(0, event_version, "brain.Event:2");
  return events;
}

void EventFile::add_scalars(uint64_t step, std::span<const std::pair<std::string, double>> values) {
  std::string summary;
  for (const auto& [name, number] : values) {
    std::string value;
    protobuf::append_bytes_field(value, value_tag, name);
    protobuf::append_fixed_field(value, value_number, static_cast<float>(number));
    protobuf::append_bytes_field(summary, summary_value, value);
  }
  add(step, event_summary, summary);
}

void EventFile::add_graph(std::string_view graph_def) { add(0, event_graph, graph_def); }

void EventFile::add(uint64_t step, uint32_t field, std::string_view value) {
  std::string event, record;
  protobuf::append_fixed_field(event, event_time, seconds_now());
  protobuf::append_varint_field(event, event_step, step);
  protobuf::append_bytes_field(event, field, value);
  append_tf_record(record, event);
  file_ << record << std::flush;
}

}  // namespace troupe::observe
