#include "apps/trace/trace_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "messages/values/device_name.h"
#include "messages/values/json_text.h"

namespace troupe::trace {
namespace {

using std::chrono::nanoseconds;
using Json = nlohmann::ordered_json;

/// Returns "/job:ps/task:0" of "/job:ps/replica:0/task:0/device:CPU:0", and what is left.
std::pair<std::string, std::string> split_device(const std::string& device) {
  const size_t at = device.find("/device:");
  return {device.substr(0, at), at == std::string::npos ? device : device.substr(at + 1)};
}

/// Returns "ps/0 CPU:0" of "/job:ps/replica:0/task:0/device:CPU:0"; another text as it is.
std::string short_device(const std::string& device) {
  const auto name = DeviceName::parse(device);
  return name ? fmt::format("{}/{} {}:{}", name->job, name->task, name->type, name->id) : device;
}

struct Slice {
  std::string name;
  nanoseconds begin{0}, end{0};
  Json details;
  /// For a Send that ran, or a Recv that has waited: what names the edge in this step.
  std::string flow;
  bool is_flow_end = false;
};

/// Writes the events. Slices of a track that overlap go to further tracks of the same name.
class Writer {
 public:
  explicit Writer(const std::vector<TracedStep>& steps) : steps_(steps), offsets_(clock_offsets(steps)) {}

  std::string write() && {
    if (!steps_.empty()) start_ = steps_.front().begin;
    for (size_t i = 0; i < steps_.size(); ++i) {
      add("master", "steps", {fmt::format("step {}", i + 1), steps_[i].begin, steps_[i].end, {}, {}});
      for (const DeviceProfile& device : steps_[i].devices) add_device(i, device);
    }
    for (auto& [place, slices] : tracks_) write_track(place, slices);
    add_flows();
    Json clocks = Json::object();
    for (const auto& [task, clock] : offsets_)
      clocks[task] = {{"offset_us", micro(clock.offset)}, {"round_trip_us", micro(clock.round_trip)}};
    return json_line({{"traceEvents", std::move(events_)},
                      {"displayTimeUnit", "ns"},
                      {"otherData", {{"clocks", std::move(clocks)}}}}) +
           "\n";
  }

 private:
  using Place = std::pair<std::string, std::string>;  ///< a task and the name of a track

  static double micro(nanoseconds time) { return static_cast<double>(time.count()) / 1e3; }

  void add(const std::string& task, const std::string& track, Slice slice) {
    tracks_[{task, track}].push_back(std::move(slice));
  }

  void add_device(size_t step, const DeviceProfile& device) {
    const auto [task, name] = split_device(device.device);
    const nanoseconds offset = offsets_[task].offset;
    add(task, name,
        {fmt::format("step {}", step + 1),
         device.begin - offset,
         device.begin + device.elapsed - offset,
         {},
         {}});
    for (const NodeProfile& node : device.nodes)
      for (const NodeSpan& span : node.spans) {
        Slice slice{node.op,
                    span.begin - offset,
                    span.end - offset,
                    {{"node", node.name}, {"step", step + 1}, {"bytes", span.bytes}},
                    {}};
        const bool is_recv = node.op.ends_with("Recv");
        if (!node.edge.empty()) {
          slice.details["peer"] = node.peer;
          slice.is_flow_end = is_recv;
          if (is_recv == span.waited) slice.flow = fmt::format("{} {}", step, node.edge);
        }
        const std::string track = !span.waited        ? name + " nodes"
                                  : node.edge.empty() ? name + " requests"
                                                      : fmt::format("{} {} {}", name, is_recv ? "from" : "to",
                                                                    short_device(node.peer));
        add(task, track, std::move(slice));
      }
  }

  int process_of(const std::string& task) {
    const auto [at, is_new] = processes_.try_emplace(task, static_cast<int>(processes_.size()) + 1);
    if (is_new)
      events_.push_back({{"ph", "M"},
                         {"name", "process_name"},
                         {"pid", at->second},
                         {"tid", 0},
                         {"args", {{"name", task}}}});
    return at->second;
  }

  int new_track(int process, const std::string& name) {
    events_.push_back({{"ph", "M"},
                       {"name", "thread_name"},
                       {"pid", process},
                       {"tid", ++last_track_},
                       {"args", {{"name", name}}}});
    return last_track_;
  }

  void write_track(const Place& place, std::vector<Slice>& slices) {
    std::ranges::stable_sort(slices, {}, &Slice::begin);
    const int process = process_of(place.first);
    std::vector<std::pair<int, nanoseconds>> lanes;  // the tracks, and when the last slice of each ends
    for (const Slice& slice : slices) {
      auto lane = std::ranges::find_if(lanes, [&](const auto& one) { return one.second <= slice.begin; });
      if (lane == lanes.end()) {
        const std::string name =
            lanes.empty() ? place.second : fmt::format("{} ({})", place.second, lanes.size() + 1);
        lane = lanes.insert(lanes.end(), {new_track(process, name), {}});
      }
      lane->second = slice.end;
      Json event = {{"ph", "X"},
                    {"name", slice.name},
                    {"cat", "step"},
                    {"pid", process},
                    {"tid", lane->first},
                    {"ts", micro(slice.begin - start_)},
                    {"dur", micro(slice.end - slice.begin)}};
      if (!slice.details.is_null()) event["args"] = slice.details;
      events_.push_back(std::move(event));
      if (!slice.flow.empty()) note_flow(slice, process, lane->first);
    }
  }

  struct End {
    int process = 0, track = 0;
    nanoseconds time{0};
  };
  /// An arrow begins where the Send begins and ends where the Recv has its tensor.
  void note_flow(const Slice& slice, int process, int track) {
    auto& [from, to] = flows_[slice.flow];
    (slice.is_flow_end ? to : from) = End{process, track, slice.is_flow_end ? slice.end : slice.begin};
  }

  void add_flows() {
    int number = 0;
    for (const auto& [name, ends] : flows_) {
      if (!ends.first || !ends.second) continue;
      ++number;
      const auto event = [&](const char* phase, const End& end) {
        return Json{{"ph", phase},
                    {"name", "tensor"},
                    {"cat", "transfer"},
                    {"id", number},
                    {"pid", end.process},
                    {"tid", end.track},
                    {"ts", micro(end.time - start_)}};
      };
      events_.push_back(event("s", *ends.first));
      events_.push_back(event("f", *ends.second));
      events_.back()["bp"] = "e";
    }
  }

  const std::vector<TracedStep>& steps_;
  std::map<std::string, ClockOffset> offsets_;
  nanoseconds start_{0};
  std::map<Place, std::vector<Slice>> tracks_;
  std::map<std::string, int> processes_;
  std::map<std::string, std::pair<std::optional<End>, std::optional<End>>> flows_;  ///< by edge and step
  int last_track_ = 0;
  Json events_ = Json::array();
};

}  // namespace

std::map<std::string, ClockOffset> clock_offsets(const std::vector<TracedStep>& steps) {
  std::map<std::string, ClockOffset> best;
  for (const TracedStep& step : steps) {
    // What a task did in the step: from the start of its first part to the end of its last one.
    struct Part {
      nanoseconds begin, end, asked, answered;
    };
    std::map<std::string, Part> parts;
    for (const DeviceProfile& device : step.devices) {
      const nanoseconds end = device.begin + device.elapsed;
      const auto [at, is_new] = parts.try_emplace(split_device(device.device).first,
                                                  Part{device.begin, end, device.asked, device.answered});
      at->second.begin = std::min(at->second.begin, device.begin);
      at->second.end = std::max(at->second.end, end);
    }
    for (const auto& [task, part] : parts) {
      const nanoseconds trip = (part.answered - part.asked) - (part.end - part.begin);
      const auto [at, is_new] = best.try_emplace(task);
      if (!is_new && at->second.round_trip <= trip) continue;
      const nanoseconds offset = ((part.begin - part.asked) + (part.end - part.answered)) / 2;
      const bool may_be_same = std::chrono::abs(offset) <= trip / 2 + std::chrono::microseconds(1);
      at->second = {may_be_same ? nanoseconds(0) : offset, trip};
    }
  }
  return best;
}

std::string trace_json(const std::vector<TracedStep>& steps) { return Writer(steps).write(); }

}  // namespace troupe::trace
