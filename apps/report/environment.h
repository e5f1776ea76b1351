// What a report says of the program that made it and of its machine. A function that reads the files of the system; any thread.
#pragma once

#include "apps/report/sections.h"

namespace troupe::report {

/// Returns the version of the program, the model of the processor, the number of its threads, the memory and the time.
Facts environment(const std::string& version);

}  // namespace troupe::report
