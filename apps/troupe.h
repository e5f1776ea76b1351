// The library in one header, installed as <troupe/troupe.h>. A program builds a Graph through a Scope with the constructors of
// ops, adds gradients, and runs the graph in a Session of a Runtime. Failures are thrown as troupe::Error. Complete programs are
// in examples/embed/. cmake/TroupeLibrary.cmake lists the headers that are installed with this one.
#pragma once

#include "actors/runtime.h"
#include "actors/step/session.h"
#include "apps/nn/decoding.h"
#include "apps/nn/gradients.h"
#include "apps/nn/initializers.h"
#include "apps/nn/layers.h"
#include "apps/nn/lbfgs.h"
#include "apps/nn/network.h"
#include "apps/nn/optimizer.h"
#include "apps/nn/partitioned_variable.h"
#include "apps/nn/ragged/ragged.h"
#include "apps/nn/replication_strategy.h"
#include "apps/nn/saver.h"
#include "apps/nn/schedules.h"
#include "apps/nn/variable_snapshot.h"
#include "apps/nn/weight_averages.h"
#include "graph/build/control_flow.h"
#include "graph/build/gradients.h"
#include "graph/build/graph.h"
#include "graph/build/scope.h"
#include "graph/build/variables.h"
#include "kernels/constructors.h"
#include "messages/values/status.h"
#include "messages/values/tensor.h"
