// The library of all ops that tests share: made once, never changed. Any thread.
#pragma once

#include "kernels/core/kernel.h"

namespace troupe::test {

std::shared_ptr<const OpLibrary> op_library();

}  // namespace troupe::test
