// Ops of a program whose definitions are wrong: each mistake is named where it shows, with the op, and damages nothing.
#include <boost/test/unit_test.hpp>

#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"
#include "tests/support/failure_of.h"
#include "tests/support/says.h"

namespace troupe::test::faulty_ops_test {
namespace {

OpDefBuilder twice_op() {
  return OpDefBuilder("Twice").input("x: float").output("y: float").shape(unchanged_shape);
}

Status run_twice(KernelContext&) { return {}; }

KernelDef twice_kernel() { return kernel_on("CPU", "Twice", nullptr); }

Status status_with(const std::function<void(OpLibrary&)>& add) { return make_op_library(add)->status; }

/// A graph with a placeholder and the op that a test defines.
struct Faulty {
  explicit Faulty(const OpDefBuilder& op)
      : library(make_op_library([&](OpLibrary& all) { all.op(op); })), graph(library->ops) {}

  std::shared_ptr<const OpLibrary> library;
  Graph graph;
  Scope g{graph};
  Output x = g.add_one("Placeholder", {}, {{"dtype", f32}, {"shape", PartialShape{2}}});

  Status failure_of_gradient() {
    const Output y = g.with_name("faulty").add_one("Twice", {x});
    return failure_of([&] { gradients(g, {y}, {x}); });
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(faulty_ops)

BOOST_AUTO_TEST_CASE(a_shape_function_sets_an_output_that_the_op_lacks) {
  Faulty faulty(twice_op().shape([](ShapeContext& context) {
    context.set_output(3, context.input(0));
    return Status();
  }));
  const Status failure = failure_of([&] { faulty.g.with_name("faulty").add_one("Twice", {faulty.x}); });
  BOOST_TEST(failure.message() ==
             "Internal: [Twice] faulty: the shape function sets output 3, but the number of outputs is 1");
  BOOST_TEST(faulty.graph.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_gradient_function_sets_the_gradient_of_an_input_that_the_op_lacks) {
  Faulty faulty(twice_op().gradient([](GradientContext& context) { context.set(4, context.gradient()); }));
  BOOST_TEST(
      faulty.failure_of_gradient().message() ==
      "Internal: [Twice] faulty: the gradient function sets the gradient of input 4, but the number of "
      "inputs is 1");
}

BOOST_AUTO_TEST_CASE(a_gradient_has_another_dtype_than_its_input) {
  Faulty faulty(twice_op().gradient([](GradientContext& context) {
    context.set(0, context.scope().add_one("Cast", {context.gradient()}, {{"DstT", f64}}));
  }));
  BOOST_TEST(
      faulty.failure_of_gradient().message() ==
      "InvalidArgument: [Twice] faulty: the gradient function returned double as the gradient of input "
      "0, which is float");
}

BOOST_AUTO_TEST_CASE(kernels_that_can_never_be_found_are_faults_of_the_library) {
  BOOST_TEST(status_with([](OpLibrary& all) { all.op(twice_op()).kernel(twice_kernel()); }).ok());
  BOOST_TEST(status_with([](OpLibrary& all) {
               all.op(twice_op()).kernel(twice_kernel());
               all.kernel(host_kernel("Twice", run_twice));  // for other types of device
             }).ok());
  const Status unknown = status_with([](OpLibrary& all) { all.kernel(twice_kernel()); });
  BOOST_TEST((unknown.code() == Code::NotFound));
  BOOST_TEST(unknown.text() == "there are kernels of op Twice, which is not defined: CPU");
  const Status doubled =
      status_with([](OpLibrary& all) { all.op(twice_op()).kernel(twice_kernel()).kernel(twice_kernel()); });
  BOOST_TEST((doubled.code() == Code::AlreadyExists));
  BOOST_TEST(doubled.text() == "two kernels of op Twice serve the same nodes: CPU");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::faulty_ops_test
