#include "actors/step/placement_trials.h"

#include <algorithm>
#include <utility>

#include "messages/schemas/worker.capnp.h"
#include "messages/values/device_name.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

constexpr int first_steps = 3, measured_steps = 4;
constexpr int candidates = 4;  ///< the placement of DeviceChoice::EarliestFinish and three learned ones

/// Returns the median, or of an even number of values the lower one of the two in the middle.
int64_t median(std::vector<int64_t> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

/// Returns the last round in which steps are measured.
int PlacementTrials::last_round() const { return choice_ == DeviceChoice::Learned ? candidates : 0; }

StepMeasurement PlacementTrials::begins(const std::string& signature) {
  if (choice_ == DeviceChoice::FirstFeasible) return {};
  Trials& trials = trials_[signature];
  if (trials.round > last_round()) return {};
  const bool is_measured = ++trials.begun > first_steps;  // until enough of them have ended well
  return {trials.round, is_measured && trials.round == 0, is_measured && trials.round > 0};
}

void PlacementTrials::take(const AnyMessage& part) {
  for (const auto device : Message<wire::PartitionDone>(part)->getProfile()) {
    const auto name = DeviceName::parse(view(device.getDevice()));
    if (!name) continue;
    for (const auto node : device.getNodes())
      times_.add(std::string(view(node.getName())), name->type, static_cast<double>(node.getTime()) * 1e-9,
                 node.getRuns());
  }
}

bool PlacementTrials::ended(const std::string& signature, const StepMeasurement& measurement,
                            int64_t nanoseconds) {
  Trials& trials = trials_[signature];
  if (measurement.round != trials.round) return false;
  trials.durations.push_back(nanoseconds);
  return trials.durations.size() == measured_steps && next_round(trials);
}

/// Ends a round. Returns whether the signature is to be compiled anew.
bool PlacementTrials::next_round(Trials& trials) const {
  const std::vector<int64_t> durations = std::exchange(trials.durations, {});
  const int ended = trials.round++;
  trials.begun = 0;
  if (ended > 0) trials.medians.push_back(median(durations));
  const uint64_t tried = trials.candidate;
  if (trials.round <= last_round())
    trials.candidate = trials.medians.size();
  else if (!trials.medians.empty())
    trials.candidate =
        static_cast<uint64_t>(std::ranges::min_element(trials.medians) - trials.medians.begin());
  return ended == 0 || trials.candidate != tried;
}

uint64_t PlacementTrials::candidate(const std::string& signature) const {
  const auto trials = trials_.find(signature);
  return trials == trials_.end() ? 0 : trials->second.candidate;
}

}  // namespace troupe
