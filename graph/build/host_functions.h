// The host functions of this process (host_function.h), for the kernel and the gradient of PyFunc. Any thread.
#pragma once

#include <memory>
#include <string>

#include "graph/build/host_function.h"
#include "graph/build/program_functions.h"

namespace troupe {

struct RegisteredHostFunction {
  HostFunction compute;
  std::string gradient;  ///< the token of the function that computes the gradients; empty: there is none
  std::shared_ptr<const void> holder;  ///< keeps that function
};

ProgramFunctions<RegisteredHostFunction>& host_functions();

}  // namespace troupe
