#include "messages/env/descriptor.h"

#include <unistd.h>

namespace troupe {

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

}  // namespace troupe
