// The library of all ops, which all tests share. It is made once and never changed. Any thread may use it.
#pragma once

#include "kernels/core/kernel.h"

namespace troupe::test {

std::shared_ptr<const OpLibrary> op_library();

}  // namespace troupe::test
