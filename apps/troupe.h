// Troupe as a library, in one header: build a Graph through a Scope with the constructors, differentiate it, run it in a Session
// of a Runtime. Installed as <troupe/troupe.h>; cmake/TroupeLibrary.cmake lists the headers that go with it. Failures are
// thrown as troupe::Error. examples/embed/ has whole programs.
#pragma once

#include "actors/runtime.h"
#include "actors/step/session.h"
#include "apps/nn/initializers.h"
#include "apps/nn/optimizer.h"
#include "apps/nn/replication_strategy.h"
#include "apps/nn/variable_snapshot.h"
#include "graph/build/control_flow.h"
#include "graph/build/gradients.h"
#include "graph/build/graph.h"
#include "graph/build/scope.h"
#include "graph/build/variables.h"
#include "kernels/constructors.h"
#include "messages/values/status.h"
#include "messages/values/tensor.h"
