// The list of services that every device has. No service registers itself.
#pragma once

#include <span>

#include "actors/site/extensions.h"

namespace troupe {

std::span<const ServiceDef> all_services();

}  // namespace troupe
