// The GPU on which tests run kernels, if the machine has one and Troupe was built with CUDA.
#pragma once

#include "devices/device.h"

namespace troupe::test {

/// Returns the first GPU of the machine, or null. The same device at each call. Any thread.
Device* test_gpu();

}  // namespace troupe::test
