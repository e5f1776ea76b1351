// The inference library in one header, installed as <troupe/inference.h>: loads trained models and computes with them. It has
// neither actors nor sockets. A complete program is examples/embed/predict.cpp.
#pragma once

#include "apps/inference/graph_def.h"
#include "apps/inference/model.h"
#include "messages/values/status.h"
#include "messages/values/tensor.h"
