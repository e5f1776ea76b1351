#include "apps/train/rounds/stall_watch.h"

#include <algorithm>

#include "apps/services/trainer.h"
#include "messages/env/env.h"
#include "messages/schemas/trainer.capnp.h"
#include "messages/wire/message_reader.h"

namespace troupe::train {
namespace {

/// A process that uses less than this share of one processor does nothing. One that only sends heartbeats uses a thousandth.
constexpr double idle_share = 0.02;

}  // namespace

/// Returns what each task has done so far; nothing if one works or does not answer.
std::optional<StallWatch::AllDone> StallWatch::ask(const std::vector<std::string>& tasks) {
  std::vector<AddressedRequest> requests;
  for (const std::string& task : tasks) {
    const auto address = services_.address(services::trainer_role, task);
    const auto trainer = address ? services_.find(*address) : address.status();
    if (!trainer) return {};
    requests.push_back({*trainer, Draft<wire::ReportActivity>().finish()});
  }
  const Answers answers = services_.call_all(std::move(requests));
  AllDone done;
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (!answers[i]) return {};
    const Message<wire::Activity> activity(*answers[i]);
    if (activity->getWorks()) return {};
    done[tasks[i]] = {activity->getCpu(), activity->getSteps()};
  }
  return done;
}

std::chrono::nanoseconds StallWatch::still_for(const std::vector<std::string>& tasks) {
  auto done = ask(tasks);
  const int64_t now = services_.clock().now();
  const auto allowed = static_cast<uint64_t>(idle_share * static_cast<double>(now - asked_));
  const auto is_idle = [&](const auto& task) {
    const auto before = done_.find(task.first);
    return before != done_.end() && task.second.steps == before->second.steps &&
           task.second.cpu - before->second.cpu <= allowed;
  };
  if (!done || !std::ranges::all_of(*done, is_idle))
    still_since_.reset();
  else if (!still_since_)
    still_since_ = asked_;
  done_ = done ? std::move(*done) : AllDone();
  asked_ = now;
  return std::chrono::nanoseconds(still_since_ ? now - *still_since_ : 0);
}

}  // namespace troupe::train
