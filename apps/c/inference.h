// The part of the C interface that computes with trained models, in one header, installed as <troupe/c/inference.h>. The inference
// library has it: a program that needs nothing else of Troupe links that alone. A complete program is examples/embed/classify.c.
// Public header, C11 and C++.
#pragma once

#include "apps/c/model.h"
#include "apps/c/status.h"
#include "apps/c/tensor.h"
