// The session tensors service: carries out GetSessionHandle, GetSessionTensor and DeleteSessionTensor. A tensor is kept by the
// actor of the device on which its handle was made; the other two ops ask that actor, from any device. One per device; may be
// used from any thread.
#pragma once

#include <atomic>

#include "actors/site/actor_place.h"
#include "actors/site/device_site.h"

namespace troupe {

class SessionTensorsService final : public Service {
 public:
  static constexpr std::string_view name = "session_tensors";

  explicit SessionTensorsService(DeviceSite& site) : site_(site) {}

  Result<std::unique_ptr<const ServedNode>> prepare(const std::shared_ptr<const Graph>& graph,
                                                    const Node& node) override;
  std::vector<ChildSpec> actors(const TaskSites& task) override;

  // For its nodes:
  DeviceSite& site() const { return site_; }
  ActorRef actor() const { return actor_.get(); }
  uint64_t incarnation() const { return incarnation_; }
  uint64_t next_number() { return ++last_number_; }

 private:
  DeviceSite& site_;
  ActorPlace actor_;
  uint64_t incarnation_ = 0;  ///< of the task
  std::atomic<uint64_t> last_number_{0};
};

}  // namespace troupe
