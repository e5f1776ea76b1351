// Loops over the elements of string tensors. Functions without state; any thread may call them.
#pragma once

#include <string>

#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/core/text.h"

namespace troupe {

/// The cost of reading a short string or making one, in bytes moved (kernels/core/parallel.h): it may need memory of its own.
inline constexpr size_t string_cost = 128;

/// The arguments of an op whose output has one element for each element of input 0.
struct ElementsArguments {
  const Tensor& x;
  Tensor& y;
};
Result<ElementsArguments> check_elements(KernelContext& context);

/// Calls compute(i) for every i in [0, n), in blocks over the pool.
template <class Compute>
void for_each_element(Pool& pool, size_t n, size_t cost, const Compute& compute) {
  parallel_items(pool, n, cost, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) compute(i);
  });
}

/// Computes each element from a string: f(const std::string& x, Y& y).
template <class Y, class F>
void map_strings(const ElementsArguments& arguments, DeviceContext& device, const F& f) {
  const auto x = arguments.x.as<std::string>();
  const auto y = arguments.y.write<Y>();
  for_each_element(device.pool(), x.size(), string_cost, [&](size_t i) { f(x[i], y[i]); });
}

/// Returns the CPU kernel of an op that computes each element of type Y from a string: Function(const PrepareContext&) makes
/// the function of a node.
template <class Y, class Function>
KernelDef string_map_kernel(const char* op) {
  return kernel_on("CPU", op, [](const PrepareContext& context) -> Result<std::unique_ptr<Kernel>> {
    const auto compute = [function = Function(context)](const ElementsArguments& arguments,
                                                        DeviceContext& device) {
      map_strings<Y>(arguments, device, function);
    };
    return make_kernel(check_elements, compute);
  });
}

/// Returns whether a byte is not the first of a character in UTF-8.
constexpr bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace troupe
