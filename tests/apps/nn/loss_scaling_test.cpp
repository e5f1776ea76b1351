// Gradients of scaled losses are those of the loss, and a dynamic scale follows what they allow.
#include "apps/nn/loss_scaling.h"

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

#include "actors/runtime.h"
#include "apps/nn/optimizer.h"
#include "kernels/constructors.h"
#include "tests/support/ops/run_op.h"

namespace troupe::test::loss_scaling_test {
namespace {

/// A weight of half whose loss is weight * fed, and momentum.
struct Fixture {
  Runtime runtime;
  Graph graph{runtime.ops()};
  const Scope g{graph};
  const Output weight = variable(g, g.constant(Tensor::scalar(1.0f)), "weight");
  const Output fed = placeholder(g, f32, PartialShape::scalar(), "fed");
  /// The gradient is computed in half: it is `fed`, where that is not too small or too large.
  const Output loss = cast(g, mul(g, cast(g, weight, DType::Half), cast(g, fed, DType::Half)), f32);
  nn::ReplicationStrategy strategy;

  Output momentum(const std::vector<nn::VariableGradient>& gradients) {
    return nn::Momentum(1, 0.5).apply_gradients(g, gradients, strategy);
  }
  /// Returns the value of the variable whose name ends like this.
  float value(Session& session, std::string_view name) {
    for (const Output& variable : variables(graph))
      if (graph.node(variable.node).name.ends_with(name)) return session.run({variable}).at(0).as<float>()[0];
    throw Error(not_found(std::string(name)));
  }
};

BOOST_FIXTURE_TEST_SUITE(loss_scaling, Fixture)

BOOST_AUTO_TEST_CASE(a_fixed_scale_keeps_small_gradients) {
  const nn::LossScaling scaling(1 << 20);
  const Output small = mul(g, loss, 1e-9);
  const auto plain = nn::compute_gradients(g, small),
             kept = scaling.unscaled(g, nn::compute_gradients(g, scaling.scaled(g, small)));
  Session session = runtime.session(graph);
  session.run({initializer(g)});
  const auto values =
      session.run({{fed, Tensor::scalar(0.5f)}},
                  std::vector{nn::values_of(plain[0].gradient), nn::values_of(kept[0].gradient)});
  BOOST_TEST(values[0].as<float>()[0] == 0);
  BOOST_TEST(std::abs(values[1].as<float>()[0] - 0.5e-9f) < 1e-12f);
}

BOOST_AUTO_TEST_CASE(a_dynamic_scale_leaves_out_updates_that_are_not_finite) {
  nn::LossScaling scaling(g, {.initial = 65536, .grow_after = 3});
  auto gradients = scaling.unscaled(g, nn::compute_gradients(g, scaling.scaled(g, loss)));
  gradients = scaling.where_finite(g, gradients);
  const Output update = g.group({momentum(gradients), scaling.update(g, strategy)});
  Session session = runtime.session(graph);
  session.run({initializer(g)});
  const auto step = [&](float gradient) { session.run({{fed, Tensor::scalar(gradient)}}, {update}); };

  step(1);  // 65536 is infinite in half
  BOOST_TEST(value(session, "loss_scale") == 32768);
  BOOST_TEST(value(session, "weight") == 1);
  BOOST_TEST(value(session, "accumulator") == 0);
  step(1);
  BOOST_TEST(value(session, "weight") == 0);
  BOOST_TEST(value(session, "loss_scale_age") == 1);
  step(std::numeric_limits<float>::quiet_NaN());
  BOOST_TEST(value(session, "loss_scale") == 16384);
  BOOST_TEST(value(session, "loss_scale_age") == 0);
  BOOST_TEST(value(session, "weight") == 0);
  for (int i = 0; i < 3; ++i) step(0.5f);
  BOOST_TEST(value(session, "loss_scale") == 32768);
  BOOST_TEST(value(session, "loss_scale_age") == 0);
  BOOST_TEST(value(session, "weight") ==
             -(1.0f + 1.0f + 1.0f));  // each moves by half of the one before and by 0.5
}

BOOST_AUTO_TEST_CASE(scales_must_be_positive) {
  BOOST_CHECK_THROW(nn::LossScaling(0), Error);
  BOOST_CHECK_THROW(nn::LossScaling(g, {.initial = -1}), Error);
  BOOST_CHECK_THROW(nn::LossScaling(g, {.initial = 1, .grow_after = 0}), Error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::loss_scaling_test
