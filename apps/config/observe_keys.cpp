#include "apps/config/observe_keys.h"

namespace troupe::config {

Observe read_observe(const Reader& observe) {
  return {.tensorboard = observe.get<bool>("tensorboard"),
          .histograms = observe.get<bool>("histograms"),
          .images = {},
          .page = observe.list<std::string>("page"),
          .metrics = observe.list<std::string>("metrics"),
          .hosts = observe.list<std::string>("hosts")};
}

}  // namespace troupe::config
