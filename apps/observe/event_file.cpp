#include "apps/observe/event_file.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>

#include "messages/protobuf/fields.h"
#include "messages/records/tf_record.h"

namespace troupe::observe {
namespace {

// The numbers of fields, by message.
constexpr uint32_t event_time = 1, event_step = 2, event_version = 3, event_graph = 4, event_summary = 5,
                   event_session = 7, event_metadata = 8;
constexpr uint32_t session_status = 1, session_start = 1, tagged_name = 1, tagged_metadata = 2;
constexpr uint32_t summary_value = 1, value_tag = 1, value_number = 2, value_histogram = 5, value_tensor = 8,
                   value_metadata = 9;
constexpr uint32_t histogram_min = 1, histogram_max = 2, histogram_count = 3, histogram_sum = 4,
                   histogram_sum_of_squares = 5, histogram_limits = 6, histogram_buckets = 7;
constexpr uint32_t metadata_plugin = 1, plugin_name = 1, plugin_content = 2;
constexpr uint32_t hparams_start = 3, start_values = 1, start_group = 4, start_time = 5;
constexpr uint32_t map_key = 1, map_value = 2, any_number = 2, any_string = 3, any_truth = 4;
constexpr uint32_t tensor_dtype = 1, tensor_shape = 2, shape_dim = 2, dim_size = 1;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string message(uint32_t field, std::string_view value) {
  std::string bytes;
  protobuf::append_bytes_field(bytes, field, value);
  return bytes;
}

std::vector<double> finite_elements(const Tensor& values) {
  std::vector<double> elements;
  const auto add = [&](const auto& all) {
    for (const auto one : all)
      if (std::isfinite(static_cast<double>(one))) elements.push_back(static_cast<double>(one));
  };
  if (values.dtype() == DType::Float) add(values.as<float>());
  if (values.dtype() == DType::Double) add(values.as<double>());
  return elements;
}

/// Returns a HistogramProto with buckets of equal width.
std::string histogram_of(const std::vector<double>& elements) {
  constexpr size_t buckets = 40;
  const auto [low, high] = std::ranges::minmax(elements);
  const double width = high > low ? (high - low) / static_cast<double>(buckets) : 1;
  std::vector<double> counts(buckets);
  double sum = 0, squares = 0;
  for (const double one : elements) {
    sum += one;
    squares += one * one;
    counts[std::min(static_cast<size_t>((one - low) / width), buckets - 1)] += 1;
  }
  std::string limits, packed, bytes;
  for (size_t i = 0; i < buckets; ++i) {
    const double limit = low + width * static_cast<double>(i + 1);
    limits.append(reinterpret_cast<const char*>(&limit), sizeof limit);
    packed.append(reinterpret_cast<const char*>(&counts[i]), sizeof(double));
  }
  protobuf::append_fixed_field(bytes, histogram_min, low);
  protobuf::append_fixed_field(bytes, histogram_max, high);
  protobuf::append_fixed_field(bytes, histogram_count, static_cast<double>(elements.size()));
  protobuf::append_fixed_field(bytes, histogram_sum, sum);
  protobuf::append_fixed_field(bytes, histogram_sum_of_squares, squares);
  return bytes + message(histogram_limits, limits) + message(histogram_buckets, packed);
}

/// Returns an entry of a map from names to google.protobuf.Value.
std::string hyperparameter(const Hyperparameters::value_type& given) {
  std::string value;
  if (const auto* const number = std::get_if<double>(&given.second))
    protobuf::append_fixed_field(value, any_number, *number);
  else if (const auto* const text = std::get_if<std::string>(&given.second))
    protobuf::append_bytes_field(value, any_string, *text);
  else
    protobuf::append_varint_field(value, any_truth, std::get<bool>(given.second) ? 1 : 0);
  return message(map_key, given.first) + message(map_value, value);
}

/// Returns a TensorProto without elements.
std::string empty_tensor() {
  std::string dim, bytes;
  protobuf::append_varint_field(dim, dim_size, 0);
  protobuf::append_varint_field(bytes, tensor_dtype, 1);  // DT_FLOAT
  return bytes + message(tensor_shape, message(shape_dim, dim));
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "host";
}

}  // namespace

Result<EventFile> EventFile::create(const std::string& folder) {
  static std::atomic<uint64_t> files{0};  // of this process
  std::string path = folder + "/events.out.tfevents." + std::to_string(static_cast<uint64_t>(seconds_now())) +
                     '.' + host_name() + '.' + std::to_string(::getpid()) + '.' + std::to_string(files++);
  TROUPE_ASSIGN(auto file, RecordFile::open(path));
  EventFile events(std::move(path), std::move(file));
  TROUPE_RETURN_IF_FAILED(events.add(0, event_version, "brain.Event:2"));
  return events;
}

Status EventFile::add_scalars(uint64_t step, std::span<const std::pair<std::string, double>> values) {
  std::string summary;
  for (const auto& [name, number] : values) {
    std::string value;
    protobuf::append_bytes_field(value, value_tag, name);
    protobuf::append_fixed_field(value, value_number, static_cast<float>(number));
    protobuf::append_bytes_field(summary, summary_value, value);
  }
  return add(step, event_summary, summary);
}

Status EventFile::add_histograms(uint64_t step, std::span<const std::pair<std::string, Tensor>> values) {
  std::string summary;
  for (const auto& [name, tensor] : values)
    if (const auto elements = finite_elements(tensor); !elements.empty())
      summary +=
          message(summary_value, message(value_tag, name) + message(value_histogram, histogram_of(elements)));
  return summary.empty() ? Status() : add(step, event_summary, summary);
}

Status EventFile::add_summary(uint64_t step, std::string_view summary) {
  return add(step, event_summary, summary);
}

Status EventFile::add_hyperparameters(const Hyperparameters& values) {
  std::string start;
  for (const auto& value : values) start += message(start_values, hyperparameter(value));
  start += message(start_group, path_.substr(0, path_.rfind('/')));
  protobuf::append_fixed_field(start, start_time, seconds_now());
  const std::string plugin =
      message(plugin_name, "hparams") + message(plugin_content, message(hparams_start, start));
  return add(0, event_summary,
             message(summary_value, message(value_tag, "_hparams_/session_start_info") +
                                        message(value_tensor, empty_tensor()) +
                                        message(value_metadata, message(metadata_plugin, plugin))));
}

Status EventFile::add_run_metadata(uint64_t step, std::string_view tag, std::string_view metadata) {
  return add(step, event_metadata, message(tagged_name, tag) + message(tagged_metadata, metadata));
}

Status EventFile::add_start(uint64_t step) {
  std::string session;
  protobuf::append_varint_field(session, session_status, session_start);
  return add(step, event_session, session);
}

Status EventFile::add_graph(std::string_view graph_def) { return add(0, event_graph, graph_def); }

Status EventFile::add(uint64_t step, uint32_t field, std::string_view value) {
  std::string event, record;
  protobuf::append_fixed_field(event, event_time, seconds_now());
  protobuf::append_varint_field(event, event_step, step);
  protobuf::append_bytes_field(event, field, value);
  append_tf_record(record, event);
  return file_.append(record);
}

}  // namespace troupe::observe
