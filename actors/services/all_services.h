// The services that every device has. One line each; nothing registers itself.
#pragma once

#include <span>

#include "actors/site/extensions.h"

namespace troupe {

std::span<const ServiceDef> all_services();

}  // namespace troupe
