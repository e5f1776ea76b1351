#include "apps/observe/step_stats.h"

#include "messages/protobuf/fields.h"

namespace troupe::observe {
namespace {

using std::chrono::microseconds;

// The numbers of fields, by message.
constexpr uint32_t metadata_stats = 1, stats_device = 1, device_name = 1, device_node = 2;
constexpr uint32_t node_name = 1, node_start = 2, node_op_start = 3, node_op_end = 4, node_end = 5,
                   node_label = 8;

uint64_t micros(std::chrono::nanoseconds time) {
  return static_cast<uint64_t>(std::chrono::duration_cast<microseconds>(time).count());
}

/// Returns a NodeExecStats.
std::string run_of(const NodeProfile& node, const NodeSpan& span) {
  const uint64_t length = micros(span.end - span.begin);
  std::string bytes;
  protobuf::append_bytes_field(bytes, node_name, node.name);
  protobuf::append_varint_field(bytes, node_start, micros(span.begin));
  protobuf::append_varint_field(bytes, node_op_start, 0);
  protobuf::append_varint_field(bytes, node_op_end, length);
  protobuf::append_varint_field(bytes, node_end, length);
  protobuf::append_bytes_field(bytes, node_label,
                               node.name + " = " + node.op + (span.waited ? ", until its reply" : ""));
  return bytes;
}

/// Returns a DeviceStepStats.
std::string stats_of(const DeviceProfile& device) {
  std::string bytes;
  protobuf::append_bytes_field(bytes, device_name, device.device);
  for (const NodeProfile& node : device.nodes)
    for (const NodeSpan& span : node.spans)
      protobuf::append_bytes_field(bytes, device_node, run_of(node, span));
  return bytes;
}

}  // namespace

std::string run_metadata(std::span<const DeviceProfile> profile) {
  std::string stats, bytes;
  for (const DeviceProfile& device : profile)
    protobuf::append_bytes_field(stats, stats_device, stats_of(device));
  protobuf::append_bytes_field(bytes, metadata_stats, stats);
  return bytes;
}

}  // namespace troupe::observe
