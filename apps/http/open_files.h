// How many connections the system lets a process have: each is an open file. Any thread, but the limit is that of the process.
#pragma once

#include <cstddef>

namespace troupe::http {

/// Returns how many connections a server may have that wants so many: as many, or three quarters of the files that this process may
/// have open if that is less, since its other files need the rest. Raises the soft limit as far as this takes and the hard limit
/// allows.
size_t connections_within_limit(size_t wanted);

}  // namespace troupe::http
