// Activation functions, element by element, and the gradient ops with TensorFlow's names.
//   Relu, Relu6      max(x, 0), min(max(x, 0), 6)         real; ReluGrad, Relu6Grad (gradients, features)
//   Elu              exp(x) - 1 below 0, x above           floating; EluGrad (gradients, outputs)
//   Selu             scale x, below 0 scale alpha (exp(x) - 1)    floating; SeluGrad (gradients, outputs)
//   Softplus         log(1 + exp(x))                       floating; SoftplusGrad (gradients, features)
//   Softsign         x / (1 + |x|)                         floating; SoftsignGrad (gradients, features)
//   Sigmoid, Tanh                                          floating and complex; SigmoidGrad, TanhGrad (y, dy)
// NaN gives NaN.
#include <cmath>

#include "graph/build/shape_context.h"
#include "kernels/constructors.h"
#include "kernels/loops/elementwise.h"
#include "kernels/ops/broadcast_gradients.h"

namespace troupe {
namespace {

// ---- Functions of an element without vector code: integers, complex numbers

struct Relu {
  template <class T>
  static T apply(T x) {
    return x < 0 ? T{0} : x;
  }
};
struct Relu6 {
  template <class T>
  static T apply(T x) {
    return x < 0 ? T{0} : x > 6 ? T{6} : x;
  }
};
struct ReluGrad {
  template <class T>
  static T apply(T dy, T x) {
    return x > 0 ? dy : T{0};
  }
};
struct Relu6Grad {
  template <class T>
  static T apply(T dy, T x) {
    return x > 0 && x < 6 ? dy : T{0};
  }
};
struct Sigmoid {
  template <class T>
  static T apply(T x) {
    return T(1) / (T(1) + std::exp(-x));
  }
};
struct Tanh {
  template <class T>
  static T apply(T x) {
    return std::tanh(x);
  }
};
struct SigmoidGrad {
  template <class T>
  static T apply(T y, T dy) {
    return dy * y * (T(1) - y);
  }
};
struct TanhGrad {
  template <class T>
  static T apply(T y, T dy) {
    return dy * (T(1) - y * y);
  }
};

// ---- Gradients

void relu_gradient(GradientContext& context) {
  context.set(0, context.scope().add_one("ReluGrad", {context.gradient(), context.output(0)}));
}
void relu6_gradient(GradientContext& context) {
  context.set(0, context.scope().add_one("Relu6Grad", {context.gradient(), context.output(0)}));
}
void elu_gradient(GradientContext& context) {
  context.set(0, context.scope().add_one("EluGrad", {context.gradient(), context.output(0)}));
}
void selu_gradient(GradientContext& context) {
  context.set(0, context.scope().add_one("SeluGrad", {context.gradient(), context.output(0)}));
}
void softplus_gradient(GradientContext& context) {
  context.set(0, context.scope().add_one("SoftplusGrad", {context.gradient(), context.input(0)}));
}
void softsign_gradient(GradientContext& context) {
  context.set(0, context.scope().add_one("SoftsignGrad", {context.gradient(), context.input(0)}));
}
void sigmoid_gradient(GradientContext& context) {
  context.set(0, context.scope().add_one(
                     "SigmoidGrad", {conjugate(context.scope(), context.output(0)), context.gradient()}));
}
void tanh_gradient(GradientContext& context) {
  context.set(0, context.scope().add_one(
                     "TanhGrad", {conjugate(context.scope(), context.output(0)), context.gradient()}));
}

/// The gradient of an op that is linear in its first input and locally constant in its second: ReluGrad, Relu6Grad.
void gate_gradient(GradientContext& context) {
  context.set(0, context.scope().add_one(context.node().type(), {context.gradient(), context.input(1)}));
  context.set(1, zeros_like(context.scope(), context.input(1)));
}

/// The gradient of EluGrad and SeluGrad: out = dy (y + c) where y < 0, a multiple of dy elsewhere.
void elu_grad_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output gradient = context.gradient(), dy = context.input(0), y = context.input(1);
  const Output zeros = zeros_like(scope, y);
  context.set(0, scope.add_one(context.node().type(), {gradient, y}));
  context.set(1, where(scope, less(scope, y, zeros), mul(scope, gradient, dy), zeros));
}

void softplus_grad_gradient(GradientContext& context) {  // out = dy sigmoid(x)
  const Scope& scope = context.scope();
  const Output gradient = context.gradient(), dy = context.input(0), x = context.input(1);
  context.set(0, scope.add_one("SoftplusGrad", {gradient, x}));
  context.set(1, scope.add_one("SigmoidGrad", {sigmoid(scope, x), mul(scope, gradient, dy)}));
}

void softsign_grad_gradient(GradientContext& context) {  // out = dy / (1 + |x|)^2
  const Scope& scope = context.scope();
  const Output gradient = context.gradient(), dy = context.input(0), x = context.input(1);
  context.set(0, scope.add_one("SoftsignGrad", {gradient, x}));
  const Output product = scope.add_one("SoftsignGrad", {mul(scope, gradient, dy), x});
  const Output slope = div(scope, mul(scope, sign(scope, x), -2), add(scope, abs(scope, x), 1));
  context.set(1, mul(scope, product, slope));
}

void sigmoid_grad_gradient(GradientContext& context) {  // out = dy y (1 - y)
  const Scope& scope = context.scope();
  const Output gradient = context.gradient(), y = conjugate(scope, context.input(0)),
               dy = conjugate(scope, context.input(1));
  context.set(0, mul(scope, mul(scope, gradient, dy), sub(scope, 1, mul(scope, y, 2))));
  context.set(1, scope.add_one("SigmoidGrad", {y, gradient}));
}

void tanh_grad_gradient(GradientContext& context) {  // out = dy (1 - y^2)
  const Scope& scope = context.scope();
  const Output gradient = context.gradient(), y = conjugate(scope, context.input(0)),
               dy = conjugate(scope, context.input(1));
  context.set(0, mul(scope, mul(scope, gradient, dy), mul(scope, y, -2)));
  context.set(1, scope.add_one("TanhGrad", {y, gradient}));
}

// ---- Definitions

struct Activation {
  const char* name;
  const char* types;
  const char* constructor;  ///< null if the op has no constructor
  GradientFunction gradient;
  UnaryLoopOf loop_of;
  Cost cost;
};
struct ActivationGrad {
  const char* name;
  const char* types;
  const char *first, *second, *output;  ///< the names of the arguments in TensorFlow
  GradientFunction gradient;
  BinaryLoopOf loop_of;
};

constexpr const char* real_types = "T: realnumbertype";
constexpr const char* floating = "T: floattype";
constexpr const char* floating_or_complex = "T: {half, bfloat16, float, double, complex64, complex128}";

}  // namespace

void add_activation_ops(OpLibrary& library) {
  const Activation activations[] = {
      {"Relu", real_types, "relu(features)", relu_gradient, unary_loop<VectorUnary::Relu, Relu, IntegerTypes>,
       Cost::Arithmetic},
      {"Relu6", real_types, "relu6(features)", relu6_gradient,
       unary_loop<VectorUnary::Relu6, Relu6, IntegerTypes>, Cost::Arithmetic},
      {"Elu", floating, "elu(features)", elu_gradient, unary_loop<VectorUnary::Elu>, Cost::Transcendental},
      {"Selu", floating, "selu(features)", selu_gradient, unary_loop<VectorUnary::Selu>,
       Cost::Transcendental},
      {"Softplus", floating, "softplus(features)", softplus_gradient, unary_loop<VectorUnary::Softplus>,
       Cost::Transcendental},
      {"Softsign", floating, "softsign(features)", softsign_gradient, unary_loop<VectorUnary::Softsign>,
       Cost::Arithmetic},
  };
  for (const auto& [name, types, constructor, gradient, loop_of, cost] : activations) {
    OpDefBuilder op(name);
    op.input("features: T").output("activations: T").attr(types).shape(unchanged_shape).gradient(gradient);
    if (constructor) op.constructor(constructor);
    library.op(op);
    library.kernel(unary_kernel(name, loop_of, cost));
  }
  const Activation functions[] = {
      {"Sigmoid", floating_or_complex, "sigmoid(x)", sigmoid_gradient,
       unary_loop<VectorUnary::Sigmoid, Sigmoid, ComplexTypes>, Cost::Transcendental},
      {"Tanh", floating_or_complex, "tanh(x)", tanh_gradient,
       unary_loop<VectorUnary::Tanh, Tanh, ComplexTypes>, Cost::Transcendental},
  };
  for (const auto& [name, types, constructor, gradient, loop_of, cost] : functions) {
    library.op(OpDefBuilder(name)
                   .input("x: T")
                   .output("y: T")
                   .attr(types)
                   .constructor(constructor)
                   .shape(unchanged_shape)
                   .gradient(gradient));
    library.kernel(unary_kernel(name, loop_of, cost));
  }
  const ActivationGrad grads[] = {
      {"ReluGrad", real_types, "gradients: T", "features: T", "backprops: T", gate_gradient,
       binary_loop<VectorBinary::ReluGrad, ReluGrad, IntegerTypes>},
      {"Relu6Grad", real_types, "gradients: T", "features: T", "backprops: T", gate_gradient,
       binary_loop<VectorBinary::Relu6Grad, Relu6Grad, IntegerTypes>},
      {"EluGrad", floating, "gradients: T", "outputs: T", "backprops: T", elu_grad_gradient,
       binary_loop<VectorBinary::EluGrad>},
      {"SeluGrad", floating, "gradients: T", "outputs: T", "backprops: T", elu_grad_gradient,
       binary_loop<VectorBinary::SeluGrad>},
      {"SoftplusGrad", floating, "gradients: T", "features: T", "backprops: T", softplus_grad_gradient,
       binary_loop<VectorBinary::SoftplusGrad>},
      {"SoftsignGrad", floating, "gradients: T", "features: T", "backprops: T", softsign_grad_gradient,
       binary_loop<VectorBinary::SoftsignGrad>},
      {"SigmoidGrad", floating_or_complex, "y: T", "dy: T", "z: T", sigmoid_grad_gradient,
       binary_loop<VectorBinary::SigmoidGrad, SigmoidGrad, ComplexTypes>},
      {"TanhGrad", floating_or_complex, "y: T", "dy: T", "z: T", tanh_grad_gradient,
       binary_loop<VectorBinary::TanhGrad, TanhGrad, ComplexTypes>},
  };
  for (const auto& [name, types, first, second, output, gradient, loop_of] : grads) {
    library.op(OpDefBuilder(name)
                   .input(first)
                   .input(second)
                   .output(output)
                   .attr(types)
                   .shape(same_shapes)
                   .gradient(gradient));
    library.kernel(paired_kernel(name, loop_of));
  }
}

}  // namespace troupe
