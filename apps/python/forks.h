// Forks of the process. A child has the memory of its parent, but none of its threads.
#pragma once

#include <cstdint>

namespace troupe::python {

/// Returns how many forks lie between the first process that called this and this one. Any thread.
uint64_t forks_so_far();

}  // namespace troupe::python
