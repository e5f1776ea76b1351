// Troupe as a library, in one header: build a Graph through a Scope with the constructors, differentiate it, run it in a Session
// of a Runtime. Installed as <troupe/troupe.h>; cmake/TroupeLibrary.cmake lists the headers that go with it. Failures are
// thrown as troupe::Error. examples/embed/ has whole programs.
#pragma once

#include "actors/runtime.h"
#include "actors/session.h"
#include "apps/nn/initializers.h"
#include "apps/nn/kept_values.h"
#include "apps/nn/optimizer.h"
#include "apps/nn/updates.h"
#include "graph/control_flow.h"
#include "graph/gradients.h"
#include "graph/graph.h"
#include "graph/scope.h"
#include "graph/variables.h"
#include "kernels/constructors.h"
#include "messages/status.h"
#include "messages/tensor.h"
