// The families of ops: one function each, defined in the family's own file, which adds its definitions and
// kernels. all_ops.cpp calls them all; nothing registers itself.
#pragma once

#include "kernels/kernel.h"

namespace troupe {

void add_like_ops(OpLibrary& library);

}  // namespace troupe
