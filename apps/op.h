// What a program needs that adds ops and kernels of its own (RuntimeOptions::extensions): definitions, shape functions,
// gradients, kernels in two halves, loops over the threads of a device. Installed as <troupe/op.h>; examples/embed/ops.cpp shows
// its use.
#pragma once

#include "graph/build/gradients.h"
#include "graph/build/scope.h"
#include "graph/build/shape_context.h"
#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
