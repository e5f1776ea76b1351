#include "apps/cluster/descriptor.h"

#include <unistd.h>

namespace troupe::cluster {

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

}  // namespace troupe::cluster
