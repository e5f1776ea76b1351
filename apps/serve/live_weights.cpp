#include "apps/serve/live_weights.h"

#include <utility>

namespace troupe::serve {

LiveWeights::LiveWeights(std::vector<std::string> paths, std::chrono::nanoseconds every, Save save,
                         std::function<void(const std::string&)> report)
    : every_(every), save_(std::move(save)), report_(std::move(report)) {
  for (std::string& path : paths) runs_.push_back({std::move(path), {}});
  save_all();
  thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

LiveWeights::~LiveWeights() = default;

void LiveWeights::save_all() {
  for (Run& run : runs_) {
    const Status status = save_(run.path);
    const bool has_failed = !status.ok() && status.code() != Code::NotFound;
    const std::string failure = has_failed ? status.message() : std::string();
    if (!failure.empty() && failure != run.failure) report_(failure);
    run.failure = failure;
  }
}

void LiveWeights::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait_for(lock, stop, every_, [] { return false; });
    if (stop.stop_requested()) return;
    save_all();
  }
}

}  // namespace troupe::serve
