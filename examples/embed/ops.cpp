// Adds an op of its own to Troupe, Swish: x * sigmoid(x), with shape function, gradient, constructor and a kernel for CPUs.
// Prints its value and its derivative at -1, 0 and 1.
#include <troupe/op.h>
#include <troupe/troupe.h>
#include <cmath>
#include <iostream>

namespace {

struct SwishArguments {
  const float* x;
  troupe::Tensor* y;  // may lie in the memory of x
};

// Runs on the host, for every type of device: validates, allocates, and returns what the compute function needs.
troupe::Result<SwishArguments> check_swish(troupe::KernelContext& context) {
  SwishArguments arguments{context.input(0).as<float>().data(), nullptr};
  TROUPE_ASSIGN(arguments.y, context.forward(0, 0, context.input(0).shape()));
  return arguments;
}

void compute_swish(const SwishArguments& arguments, troupe::DeviceContext& device) {
  float* const y = arguments.y->write<float>().data();
  const auto elements = static_cast<size_t>(arguments.y->elements());
  troupe::parallel_items(device.pool(), elements, 32, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) y[i] = arguments.x[i] / (1 + std::exp(-arguments.x[i]));
  });
}

// d(x s)/dx = s + x s (1 - s), where s = sigmoid(x), written with ops.
void swish_gradient(troupe::GradientContext& context) {
  const troupe::Scope& g = context.scope();
  const auto x = context.input(0), s = sigmoid(g, x);
  const auto slope = add(g, s, mul(g, mul(g, x, s), sub(g, ones_like(g, s), s)));
  context.set(0, mul(g, context.gradient(), slope));
}

void add_swish(troupe::OpLibrary& library) {
  library.op(troupe::OpDefBuilder("Swish")
                 .input("x: float")
                 .output("y: float")
                 .constructor("swish(x)")
                 .shape(troupe::unchanged_shape)
                 .gradient(swish_gradient));
  library.kernel(troupe::cpu_kernel("Swish", check_swish, compute_swish));
}

}  // namespace

int main() try {
  troupe::RuntimeOptions options;
  options.extensions.ops = add_swish;
  troupe::Runtime runtime(options);
  troupe::Graph graph{runtime.ops()};
  const troupe::Scope g{graph};

  const auto x = placeholder(g, troupe::f32, {-1}, "x");
  const auto y = g.call("swish", {x});
  const auto slope = troupe::dense(g, troupe::gradients(g, {y}, {x})[0], x);

  auto session = runtime.session(graph);
  for (const auto& values : session.run({{x, troupe::Tensor::vector<float>({-1, 0, 1})}}, {y, slope}))
    std::cout << values.as<float>()[0] << ' ' << values.as<float>()[1] << ' ' << values.as<float>()[2]
              << '\n';
} catch (const troupe::Error& error) {
  std::cerr << error.what() << '\n';
  return error.exit_code();
}
