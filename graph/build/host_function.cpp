#include "graph/build/host_function.h"

#include <utility>

#include "graph/build/host_functions.h"

namespace troupe {

ProgramFunctions<RegisteredHostFunction>& host_functions() {
  static auto* const functions = new ProgramFunctions<RegisteredHostFunction>("function");
  return *functions;
}

HostCall call_host(const Scope& scope, HostFunction function, const std::vector<Output>& inputs,
                   const std::vector<DType>& dtypes, HostFunctionOptions options) {
  if (!function) throw Error(invalid_argument("call_host() is given no function"));
  RegisteredHostFunction registered{std::move(function), {}, {}};
  if (options.gradient) {
    const auto gradient = host_functions().add({std::move(options.gradient), {}, {}});
    registered.gradient = gradient->token;
    registered.holder = gradient;
  }
  const auto entry = host_functions().add(std::move(registered));
  HostCall call;
  call.node = scope.add(options.has_state ? "PyFunc" : "PyFuncStateless", inputs,
                        {{"token", entry->token}, {"Tout", dtypes}});
  for (uint32_t i = 0; i < dtypes.size(); ++i) call.outputs.push_back(scope.graph().output(call.node, i));
  call.function = entry;
  return call;
}

}  // namespace troupe
