// The C interface of Troupe in one header, installed as <troupe/c/troupe.h>. examples/embed/digits.c is a program. Public header,
// C11 and C++.
#pragma once

#include "apps/c/checkpoint.h"
#include "apps/c/cluster.h"
#include "apps/c/graph.h"
#include "apps/c/model.h"
#include "apps/c/model_export.h"
#include "apps/c/partial_run.h"
#include "apps/c/runtime.h"
#include "apps/c/session.h"
#include "apps/c/status.h"
#include "apps/c/tensor.h"
#include "apps/c/training.h"
