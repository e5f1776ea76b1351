#include "apps/observe/run_monitor.h"

#include <algorithm>

namespace troupe::observe {
namespace {

using namespace std::chrono_literals;
using Seconds = std::chrono::duration<double>;

/// The time over which the pace is measured, and that between two of its points.
constexpr std::chrono::milliseconds pace_window = 10s, pace_interval = 250ms;
constexpr auto look_interval = 1s;  ///< between two looks at the nodes
constexpr size_t max_scores = 1000, max_notes = 50;

double time_of_day() { return Seconds(std::chrono::system_clock::now().time_since_epoch()).count(); }

}  // namespace

const char* name(Phase phase) {
  switch (phase) {
    case Phase::Starting: return "starting";
    case Phase::Waiting: return "waiting";
    case Phase::Training: return "training";
    case Phase::Evaluating: return "evaluating";
    case Phase::Saving: return "saving";
    case Phase::Paused: return "paused";
    case Phase::Ended: return "ended";
  }
  return "";
}

std::optional<double> Pace::left() const {
  if (!last_step || steps_per_second <= 0) return {};
  return static_cast<double>(*last_step - std::min(step, *last_step)) / steps_per_second;
}

RunMonitor::RunMonitor() : started_(time_of_day()), phase_began_(Clock::now()) {}

void RunMonitor::describe(RunFacts facts) {
  const std::lock_guard lock(mutex_);
  facts_ = std::move(facts);
}

void RunMonitor::set_folder(const std::string& folder) {
  const std::lock_guard lock(mutex_);
  folder_ = folder;
}

void RunMonitor::begin(uint64_t step) {
  const std::lock_guard lock(mutex_);
  first_ = step_ = step;
  recent_.clear();
}

void RunMonitor::rounds(uint64_t step, double loss, double epoch_loss, double waited, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (step > step_) losses_.add(step, loss, step - step_);
  step_ = step;
  loss_ = loss;
  epoch_loss_ = epoch_loss;
  input_seconds_ += waited;
  if (recent_.empty() || now - recent_.back().first >= pace_interval) recent_.emplace_back(now, step);
  while (recent_.size() > 2 && now - recent_.front().first > pace_window) recent_.pop_front();
  if (now - looked_ >= look_interval) look_at_nodes();
}

void RunMonitor::scored(Scores scores) {
  const std::lock_guard lock(mutex_);
  scores.time = time_of_day();
  scores_.push_back(std::move(scores));
  if (scores_.size() < max_scores) return;
  for (size_t i = 0; 2 * i + 1 < scores_.size(); ++i) scores_[i] = std::move(scores_[2 * i + 1]);
  scores_.resize(scores_.size() / 2);
}

void RunMonitor::gradients(const GradientCounts& counts) {
  const std::lock_guard lock(mutex_);
  gradients_ = counts;
}

void RunMonitor::input(const InputQueue& queue) {
  const std::lock_guard lock(mutex_);
  input_ = queue;
}

void RunMonitor::costs(const std::vector<DeviceCosts>& devices) {
  if (devices.empty()) return;
  const std::lock_guard lock(mutex_);
  for (const DeviceCosts& device : devices) costs_.insert_or_assign(device.device, device);
}

void RunMonitor::saved(const std::string& checkpoint, uint64_t step) {
  const std::lock_guard lock(mutex_);
  checkpoint_ = checkpoint;
  checkpoint_step_ = step;
}

void RunMonitor::restarted(const std::string& task) {
  const std::lock_guard lock(mutex_);
  const auto at = std::ranges::find(restarts_, task, &std::pair<std::string, uint64_t>::first);
  if (at == restarts_.end())
    restarts_.emplace_back(task, 1);
  else
    ++at->second;
}

void RunMonitor::note(const std::string& text) {
  const std::lock_guard lock(mutex_);
  notes_.push_back({time_of_day(), text});
  if (notes_.size() > max_notes) notes_.pop_front();
}

void RunMonitor::set_drawing(std::string svg) {
  const std::lock_guard lock(mutex_);
  drawing_ = std::move(svg);
}

std::string RunMonitor::drawing() const {
  const std::lock_guard lock(mutex_);
  return drawing_;
}

void RunMonitor::spend(Clock::time_point now) {
  seconds_[static_cast<size_t>(phase_)] += Seconds(now - phase_began_).count();
  phase_began_ = now;
}

Phase RunMonitor::enter(Phase phase) {
  const std::lock_guard lock(mutex_);
  spend(Clock::now());
  if (phase_ == Phase::Paused || phase == Phase::Paused) recent_.clear();  // a pause is no part of the pace
  return std::exchange(phase_, phase);
}

void RunMonitor::ended(const std::string& ending) {
  const std::lock_guard lock(mutex_);
  spend(Clock::now());
  phase_ = Phase::Ended;
  ending_ = ending;
}

void RunMonitor::set_probe(Probe probe) {
  const std::lock_guard lock(mutex_);
  if (!probe && probe_) look_at_nodes();
  probe_ = std::move(probe);
}

/// The mutex is held.
void RunMonitor::look_at_nodes() const {
  looked_ = Clock::now();
  if (!probe_) return;
  auto seen = probe_();
  const double now = time_of_day();
  for (NodeState& node : seen) {
    const auto before = std::ranges::find(nodes_, node.task, &NodeState::task);
    node.last_seen = node.linked ? now : before == nodes_.end() ? 0 : before->last_seen;
    const auto restarts = std::ranges::find(restarts_, node.task, &std::pair<std::string, uint64_t>::first);
    if (restarts != restarts_.end()) node.restarts = restarts->second;
  }
  nodes_ = std::move(seen);
}

/// The mutex is held.
Pace RunMonitor::pace_now() const {
  Pace pace{first_, step_, facts_.last_step, 1, facts_.max_epochs, epoch_loss_, 0, 0};
  if (facts_.steps_per_epoch > 0) pace.epoch = (step_ > 0 ? step_ - 1 : 0) / facts_.steps_per_epoch + 1;
  if (recent_.size() > 1) {
    const double seconds = Seconds(recent_.back().first - recent_.front().first).count();
    pace.steps_per_second = static_cast<double>(recent_.back().second - recent_.front().second) / seconds;
    pace.samples_per_second = pace.steps_per_second * static_cast<double>(facts_.batch);
  }
  return pace;
}

Pace RunMonitor::pace() const {
  const std::lock_guard lock(mutex_);
  return pace_now();
}

RunSnapshot RunMonitor::snapshot() const {
  const std::lock_guard lock(mutex_);
  if (Clock::now() - looked_ >= look_interval || nodes_.empty()) look_at_nodes();
  RunSnapshot now;
  now.facts = facts_;
  now.folder = folder_;
  now.phase = phase_;
  now.ending = ending_;
  now.time = time_of_day();
  now.started = started_;
  now.pace = pace_now();
  now.loss = loss_;
  auto seconds = seconds_;
  if (phase_ != Phase::Ended)
    seconds[static_cast<size_t>(phase_)] += Seconds(Clock::now() - phase_began_).count();
  const auto spent = [&](Phase phase) { return seconds[static_cast<size_t>(phase)]; };
  const double input = std::min(input_seconds_, spent(Phase::Training));
  now.spent = {{"start", spent(Phase::Starting) + spent(Phase::Waiting)},
               {"input", input},
               {"steps", spent(Phase::Training) - input},
               {"evaluation", spent(Phase::Evaluating)},
               {"checkpoints", spent(Phase::Saving)},
               {"paused", spent(Phase::Paused)}};
  now.gradients = gradients_;
  now.input = input_;
  for (const auto& [name, costs] : costs_) now.costs.push_back(costs);
  now.nodes = nodes_;
  now.scores = scores_;
  now.losses = losses_.points();
  now.checkpoint = checkpoint_;
  now.checkpoint_step = checkpoint_step_;
  now.notes = {notes_.begin(), notes_.end()};
  return now;
}

}  // namespace troupe::observe
