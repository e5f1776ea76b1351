// RunMonitor: what is known of a run while it trains. The trainer feeds it, at most once per round; readers on any thread take
// snapshots. Made by who starts the trainer, and lives longer than both. Times of day are seconds since 1970.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/observe/loss_curve.h"
#include "apps/observe/step_costs.h"

namespace troupe::observe {

/// What a run does at the moment.
enum class Phase : uint8_t { Starting, Waiting, Training, Evaluating, Saving, Paused, Ended };
constexpr size_t phases = 7;
/// Returns "starting", "waiting" (for nodes) and so on.
const char* name(Phase phase);

/// What does not change while the run trains.
struct RunFacts {
  std::string name;
  int64_t samples = 0, parameters = 0, batch = 0;
  uint64_t steps_per_epoch = 0;
  std::optional<uint64_t> last_step;   ///< the run ends after this step at the latest
  std::optional<uint64_t> max_epochs;  ///< if the run file says it
};

/// The bytes of the messages of a node, how many of them wait to be sent, and how many there were per second lately.
struct NodeTraffic {
  uint64_t sent = 0, received = 0, unsent = 0;
  double sent_per_second = 0, received_per_second = 0;
};

struct NodeState {
  std::string task;  ///< the full name
  bool linked = false;
  std::string problem = {};    ///< why it is not linked
  std::string transport = {};  ///< how frames travel to it, if it is linked
  double last_seen = 0;        ///< when it was linked for the last time, as far as it was looked at; 0: never
  uint64_t restarts = 0;       ///< how often it was started anew in this run
  NodeTraffic traffic = {};
  double cores = 0;  ///< how many processors its threads used lately, in the mean
};

/// What is counted of the gradients that do not come in time.
struct GradientCounts {
  uint64_t steps = 0;  ///< asynchronous modes: how many gradients were applied
  /// How many updates by others came between their values and their own updates, in sum and at most.
  uint64_t staleness = 0, most_stale = 0;
  uint64_t dropped = 0;  ///< with backup workers: how many came too late for their round; known at the end
};

/// The batches that wait to be used.
struct InputQueue {
  size_t ready = 0, most = 0;
};

/// What an evaluation has yielded.
struct Scores {
  uint64_t step = 0;
  double epoch = 0, time = 0;
  std::vector<std::pair<std::string, double>> values;  ///< "train/loss", "valid/accuracy", ...
};

/// How far a run is, for a line of text.
struct Pace {
  uint64_t first = 0, step = 0;  ///< the step at which this process began, and the last one
  std::optional<uint64_t> last_step;
  uint64_t epoch = 1;  ///< from 1
  std::optional<uint64_t> max_epochs;
  double epoch_loss = 0;        ///< the mean of the present epoch
  double steps_per_second = 0;  ///< 0: not known yet
  double samples_per_second = 0;
  /// Returns the seconds until the last step; nothing if they are not known.
  std::optional<double> left() const;
};

struct Note {
  double time = 0;
  std::string text;
};

struct RunSnapshot {
  RunFacts facts;
  std::string folder;
  Phase phase = Phase::Starting;
  std::string ending;  ///< in the phase Ended: "completed", ...
  double time = 0, started = 0;
  Pace pace;
  double loss = 0;  ///< of the last step
  /// How many seconds of the run were spent on what, in the order of a day; the sum is the time since the start.
  std::vector<std::pair<std::string, double>> spent;
  GradientCounts gradients;
  std::optional<InputQueue> input;  ///< of this process, if batches are made ahead
  std::vector<DeviceCosts> costs;   ///< where the time of steps goes on the devices that compute them
  std::vector<NodeState> nodes;
  std::vector<Scores> scores;                       ///< the oldest first; thinned out if there are many
  std::vector<std::pair<uint64_t, double>> losses;  ///< the mean loss of some steps up to this one
  std::string checkpoint;                           ///< the folder of the last one; empty: none
  uint64_t checkpoint_step = 0;
  std::vector<Note> notes;  ///< the last lines for the user
};

class RunMonitor {
 public:
  using Clock = std::chrono::steady_clock;
  /// Returns the state of the nodes. Called by any thread while the mutex of the monitor is held.
  using Probe = std::function<std::vector<NodeState>()>;

  RunMonitor();
  RunMonitor(const RunMonitor&) = delete;
  RunMonitor& operator=(const RunMonitor&) = delete;

  // For the trainer.
  void describe(RunFacts facts);
  void set_folder(const std::string& folder);
  /// The run begins after this step, or goes on there.
  void begin(uint64_t step);
  /// Rounds have been run, the last one of which is `step`. `waited`: for how many seconds they waited for batches.
  void rounds(uint64_t step, double loss, double epoch_loss, double waited,
              Clock::time_point now = Clock::now());
  void scored(Scores scores);
  void gradients(const GradientCounts& counts);
  void input(const InputQueue& queue);
  /// Replaces what is known of these devices.
  void costs(const std::vector<DeviceCosts>& devices);
  void saved(const std::string& checkpoint, uint64_t step);
  void restarted(const std::string& task);
  void note(const std::string& text);
  void set_drawing(std::string svg);
  /// Returns the phase before.
  Phase enter(Phase phase);
  void ended(const std::string& ending);
  /// Sets or, with an empty function, removes the function that looks at the nodes.
  void set_probe(Probe probe);

  // For readers.
  Pace pace() const;
  RunSnapshot snapshot() const;
  /// Returns the drawing of the model; empty if there is none.
  std::string drawing() const;

 private:
  Pace pace_now() const;
  void look_at_nodes() const;
  void spend(Clock::time_point now);

  mutable std::mutex mutex_;  ///< guards the members below
  RunFacts facts_;
  std::string folder_, ending_;
  const double started_;
  Phase phase_ = Phase::Starting;
  Clock::time_point phase_began_;
  std::array<double, phases> seconds_{};  ///< by phase, up to phase_began_
  double input_seconds_ = 0;              ///< the part of Phase::Training that was spent waiting for batches
  uint64_t first_ = 0, step_ = 0;
  double loss_ = 0, epoch_loss_ = 0;
  std::deque<std::pair<Clock::time_point, uint64_t>> recent_;  ///< steps by time, of the last seconds
  LossCurve losses_;
  std::vector<Scores> scores_;
  GradientCounts gradients_;
  std::optional<InputQueue> input_;
  std::map<std::string, DeviceCosts> costs_;  ///< by device
  std::string checkpoint_;
  uint64_t checkpoint_step_ = 0;
  std::deque<Note> notes_;
  std::string drawing_;
  Probe probe_;
  mutable std::vector<NodeState> nodes_;
  mutable Clock::time_point looked_;
  std::vector<std::pair<std::string, uint64_t>> restarts_;  ///< by task
};

/// Enters a phase for as long as the object lives.
class PhaseScope {
 public:
  PhaseScope(RunMonitor& monitor, Phase phase) : monitor_(monitor), before_(monitor.enter(phase)) {}
  ~PhaseScope() { monitor_.enter(before_); }
  PhaseScope(const PhaseScope&) = delete;
  PhaseScope& operator=(const PhaseScope&) = delete;

 private:
  RunMonitor& monitor_;
  const Phase before_;
};

}  // namespace troupe::observe
