// Tests of the update rules of variables: their formulas, in place and out of place, and the inputs that they refuse.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "graph/build/scope.h"
#include "kernels/runtime/apply_update.h"
#include "tests/support/ops/run_op.h"

namespace troupe::test::update_ops_test {
namespace {

Tensor scalar(float value) { return Tensor::scalar(value); }

void check_close(const Tensor& tensor, std::initializer_list<double> expected) {
  BOOST_TEST_REQUIRE(static_cast<size_t>(tensor.elements()) == expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const double value = tensor.dtype() == f64 ? tensor.as<double>()[i] : double{tensor.as<float>()[i]};
    BOOST_TEST(value == expected.begin()[i], boost::test_tools::tolerance(1e-5));
  }
}

std::vector<Tensor> update(const std::string& op, const std::vector<Tensor>& inputs, Attributes attrs = {}) {
  return value_or_throw(run_op(op, inputs, std::move(attrs)));
}

/// One node of an update op on variables of a graph, and cells on which it runs.
class Group {
 public:
  Group(const std::string& op, const std::vector<Tensor>& variables, std::initializer_list<DType> values)
      : graph_(op_library()->ops) {
    const Scope scope(graph_);
    std::vector<Output> inputs;
    for (const Tensor& variable : variables) {
      inputs.push_back(scope.add_one(
          "VariableV2", {}, {{"shape", PartialShape(variable.shape())}, {"dtype", variable.dtype()}}));
      cells_.push_back(std::make_unique<StateCell>("v" + std::to_string(cells_.size()), variable.dtype(),
                                                   variable.shape()));
      Tensor value = value_or_throw(Tensor::allocate(variable.dtype(), variable.shape()));
      std::ranges::copy(variable.as<float>(), value.write<float>().begin());
      cells_.back()->publish(std::move(value));
    }
    for (const DType dtype : values) inputs.push_back(scope.add_one("Placeholder", {}, {{"dtype", dtype}}));
    node_ = scope.add(op, inputs);
    kernel_ = value_or_throw(value_or_throw(op_library()->kernels.find(graph_.node(node_), "CPU"))
                                 ->prepare({graph_, graph_.node(node_), device_}));
  }

  Status apply(const std::vector<Tensor>& values) { return apply(values, *kernel_); }
  Status apply(const std::vector<Tensor>& values, const Kernel& rule) {
    std::vector<Slot> slots;
    for (const auto& cell : cells_) slots.push_back(Slot::of(cell.get()));
    for (const Tensor& value : values) slots.push_back(Slot::of(value));
    return apply_update(rule, graph_.node(node_), slots, device_, {});
  }
  Tensor value(size_t i) const {
    Snapshot snapshot;
    (void)cells_[i]->try_read(snapshot);
    return snapshot.value;
  }

 private:
  Graph graph_;
  InlinePool pool_;
  DeviceContext device_{heap_allocator(), pool_};
  std::vector<std::unique_ptr<StateCell>> cells_;
  NodeId node_ = 0;
  std::unique_ptr<Kernel> kernel_;
};

BOOST_AUTO_TEST_SUITE(update_ops)

// It may throw before or after it has taken the value of the variable.
BOOST_AUTO_TEST_CASE(a_rule_that_throws_fails_and_leaves_the_variable_as_it_was) {
  Group group("ApplyGradientDescent", {floats(Shape{2}, {1, 2})}, {f32, f32});
  const std::vector<Tensor> values = {scalar(0.5F), floats(Shape{2}, {2, 2})};
  for (const bool late : {false, true}) {
    const HostKernel rule([late](KernelContext& context) -> Status {
      if (late) TROUPE_RETURN_IF_FAILED(context.forward(0, 0, context.input(0).shape()).status());
      throw std::bad_alloc();
    });
    const Status failed = group.apply(values, rule);
    BOOST_TEST((failed.code() == Code::ResourceExhausted), failed.message());
    BOOST_TEST(failed.op() == "ApplyGradientDescent");
    check_close(group.value(0), {1, 2});
  }
  BOOST_TEST(group.apply(values).ok());
  check_close(group.value(0), {0, 1});
}

BOOST_AUTO_TEST_CASE(assigning_replaces_the_value) {
  const Tensor old = floats(Shape{2}, {1, 2}), value = floats(Shape{2}, {3, 4});
  check_op("Assign", {old, value}, {}, {value});
  check_op("AssignVariableOp", {old, value}, {{"dtype", f32}}, {value});
  check_op("Assign", {strings({"a"}), strings({"b"})}, {}, {strings({"b"})});
  const Tensor longer = floats(Shape{3}, {3, 4, 5});
  BOOST_TEST(!run_op("Assign", {old, longer}).ok());
  BOOST_TEST(!run_op("Assign", {old, longer}, {}, Known::Shapes).ok());
  const auto reshaped = update("Assign", {old, longer}, {{"validate_shape", false}});
  BOOST_TEST(identical(reshaped[0], longer));
}

BOOST_AUTO_TEST_CASE(a_resource_takes_what_the_graph_leaves_open) {
  const Tensor old = floats(Shape{2}, {1, 2}), longer = floats(Shape{3}, {3, 4, 5});
  const auto assign = [&](bool validate, Known known) {
    return run_op("AssignVariableOp", {old, longer}, {{"dtype", f32}, {"validate_shape", validate}}, known);
  };
  BOOST_TEST(identical(value_or_throw(assign(false, Known::Nothing))[0], longer));
  BOOST_TEST(assign(true, Known::Nothing).status().text() ==
             "the value has shape [3], but the variable has shape [2]");
  BOOST_TEST(!assign(false, Known::Shapes).ok());
}

BOOST_AUTO_TEST_CASE(adding_and_subtracting_work_on_every_number) {
  check_op("AssignAdd", {floats(Shape{3}, {1, 2, 3}), floats(Shape{3}, {10, 20, 30})}, {},
           {floats(Shape{3}, {11, 22, 33})});
  check_op("AssignSub", {ints({1, 2, INT32_MIN}), ints({10, 20, 1})}, {}, {ints({-9, -18, INT32_MAX})});
  check_op("AssignAdd", {Tensor::scalar(Half(1.5f)), Tensor::scalar(Half(2.0f))}, {},
           {Tensor::scalar(Half(3.5f))});
  check_op("AssignSubVariableOp", {Tensor::scalar(5.0), Tensor::scalar(2.0)}, {{"dtype", f64}},
           {Tensor::scalar(3.0)});
  check_op("AssignAddVariableOp", {Tensor::scalar(uint8_t{250}), Tensor::scalar(uint8_t{10})},
           {{"dtype", DType::UInt8}}, {Tensor::scalar(uint8_t{4})});
  check_refused("AssignAdd", {floats(Shape{2}, {1, 2}), scalar(1)}, {}, "");
}

BOOST_AUTO_TEST_CASE(scattering_changes_rows) {
  const Tensor variable = floats(Shape{3, 2}, {0, 1, 2, 3, 4, 5}),
               rows = floats(Shape{2, 2}, {10, 20, 30, 40});
  check_op("ScatterUpdate", {variable, ints({2, 0}), rows}, {},
           {floats(Shape{3, 2}, {30, 40, 2, 3, 10, 20})});
  check_op("ScatterAdd", {variable, ints({1, 1}), rows}, {}, {floats(Shape{3, 2}, {0, 1, 42, 63, 4, 5})});
  check_op("ScatterSub", {ints({5, 6, 7}), Tensor::scalar<int64_t>(1), int_scalar(4)}, {}, {ints({5, 2, 7})});
  check_op("ScatterUpdate", {strings({"a", "b"}), ints({1}), strings({"c"})}, {}, {strings({"a", "c"})});
  check_refused("ScatterAdd", {variable, ints({1, 3}), rows}, {}, "indices[1] = 3 is not in [0, 3)");
  check_refused("ScatterAdd", {variable, ints({1}), rows}, {}, "");
  check_refused("ScatterUpdate", {scalar(1), ints({0}), floats(Shape{1}, {1})}, {}, "");
}

BOOST_AUTO_TEST_CASE(optimizers_follow_their_formulas) {
  const Tensor v = floats(Shape{2}, {1, -2}), g = floats(Shape{2}, {0.5f, 0.25f});
  const Tensor a = floats(Shape{2}, {0.1f, 0.2f}), b = floats(Shape{2}, {0.3f, 0.4f});
  check_close(update("ApplyGradientDescent", {v, scalar(0.1f), g})[0], {1 - 0.05, -2 - 0.025});

  auto momentum = update("ApplyMomentum", {v, a, scalar(0.1f), g, scalar(0.9f)});
  check_close(momentum[1], {0.59, 0.43});
  check_close(momentum[0], {1 - 0.059, -2 - 0.043});
  momentum = update("ApplyMomentum", {v, a, scalar(0.1f), g, scalar(0.9f)}, {{"use_nesterov", true}});
  check_close(momentum[1], {0.59, 0.43});
  check_close(momentum[0], {1 - 0.1 * (0.5 + 0.9 * 0.59), -2 - 0.1 * (0.25 + 0.9 * 0.43)});

  const auto adagrad = update("ApplyAdagrad", {v, a, scalar(0.1f), g});
  check_close(adagrad[1], {0.35, 0.2625});
  check_close(adagrad[0], {1 - 0.05 / std::sqrt(0.35), -2 - 0.025 / std::sqrt(0.2625)});

  const auto adam = update("ApplyAdam", {v, a, b, scalar(0.81f), scalar(0.998f), scalar(0.01f), scalar(0.9f),
                                         scalar(0.999f), scalar(1e-3f), g});
  const double rate = 0.01 * std::sqrt(1 - 0.998) / (1 - 0.81);
  const double m0 = 0.1 + 0.1 * (0.5 - 0.1), m1 = 0.2 + 0.1 * (0.25 - 0.2);
  const double s0 = 0.3 + 0.001 * (0.25 - 0.3), s1 = 0.4 + 0.001 * (0.0625 - 0.4);
  check_close(adam[1], {m0, m1});
  check_close(adam[2], {s0, s1});
  check_close(adam[0], {1 - rate * m0 / (std::sqrt(s0) + 1e-3), -2 - rate * m1 / (std::sqrt(s1) + 1e-3)});

  const auto rms =
      update("ApplyRMSProp", {v, a, b, scalar(0.1f), scalar(0.9f), scalar(0.5f), scalar(1e-2f), g});
  const double r0 = 0.1 + 0.1 * (0.25 - 0.1), r1 = 0.2 + 0.1 * (0.0625 - 0.2);
  const double k0 = 0.15 + 0.05 / std::sqrt(r0 + 1e-2), k1 = 0.2 + 0.025 / std::sqrt(r1 + 1e-2);
  check_close(rms[1], {r0, r1});
  check_close(rms[2], {k0, k1});
  check_close(rms[0], {1 - k0, -2 - k1});
}

BOOST_AUTO_TEST_CASE(every_type_and_resource_form_agrees) {
  const auto wide =
      update("ApplyMomentum", {Tensor::vector({1.0, 2.0}), Tensor::vector({0.5, 0.25}), Tensor::scalar(0.1),
                               Tensor::vector({1.0, 1.0}), Tensor::scalar(0.5)});
  check_close(wide[0], {1 - 0.125, 2 - 0.1125});
  const auto resource =
      update("ResourceApplyMomentum", {Tensor::vector({1.0, 2.0}), Tensor::vector({0.5, 0.25}),
                                       Tensor::scalar(0.1), Tensor::vector({1.0, 1.0}), Tensor::scalar(0.5)});
  BOOST_TEST(identical(wide[0], resource[0]));
  BOOST_TEST(identical(wide[1], resource[1]));
  std::vector<Half> ones(300, Half(1.0f)), expected(300, Half(0.5f));
  const Tensor half = Tensor::vector(std::span<const Half>(ones));
  BOOST_TEST(identical(update("ApplyGradientDescent", {half, Tensor::scalar(Half(0.5f)), half})[0],
                       Tensor::vector(std::span<const Half>(expected))));
}

BOOST_AUTO_TEST_CASE(sparse_updates_touch_their_rows_only) {
  const Tensor v = floats(Shape{3, 1}, {1, 2, 3}), a = floats(Shape{3, 1}, {1, 1, 1});
  const Tensor g = floats(Shape{2, 1}, {2, 4});
  const auto momentum = update("SparseApplyMomentum", {v, a, scalar(0.5f), g, ints({2, 0}), scalar(0.0f)});
  check_close(momentum[0], {1 - 2, 2, 3 - 1});
  check_close(momentum[1], {4, 1, 2});
  const auto repeated = update("SparseApplyAdagrad", {v, a, scalar(1.0f), g, ints({1, 1})});
  check_close(repeated[1], {1, 1 + 4 + 16, 1});
  check_close(repeated[0], {1, 2 - 2 / std::sqrt(5) - 4 / std::sqrt(21), 3});
  check_refused("SparseApplyAdagrad", {v, a, scalar(1.0f), g, ints({1, 3})}, {},
                "indices[1] = 3 is not in [0, 3)");
  check_refused("SparseApplyAdagrad", {v, a, scalar(1.0f), g, ints({1})}, {}, "");
}

BOOST_AUTO_TEST_CASE(shapes_must_agree) {
  const Tensor two = counting(Shape{2}), three = counting(Shape{3});
  check_refused("ApplyGradientDescent", {two, scalar(1), three}, {}, "");
  check_refused("ApplyMomentum", {two, three, scalar(1), two, scalar(1)}, {}, "");
  check_refused("ApplyGradientDescent", {two, two, two}, {}, "");
}

BOOST_AUTO_TEST_CASE(updates_are_in_place_unless_a_snapshot_is_held) {
  Group group("ApplyMomentum", {floats(Shape{2}, {1, 2}), floats(Shape{2}, {0, 0})}, {f32, f32, f32});
  const std::vector<Tensor> values{scalar(1.0f), floats(Shape{2}, {1, 1}), scalar(0.5f)};
  const std::byte* before = group.value(0).data();
  BOOST_TEST(group.apply(values).ok());
  BOOST_TEST((group.value(0).data() == before));
  const Tensor held = group.value(0);
  BOOST_TEST(group.apply(values).ok());
  BOOST_TEST((group.value(0).data() != before));
  check_close(held, {0, 1});
  check_close(group.value(0), {-1.5, -0.5});
  check_close(group.value(1), {1.5, 1.5});
}

BOOST_AUTO_TEST_CASE(a_refused_update_changes_nothing) {
  Group group("ScatterAdd", {floats(Shape{2}, {1, 2})}, {i32, f32});
  const Tensor updates = floats(Shape{2}, {10, 20});
  BOOST_TEST((group.apply({ints({0, 2}), updates}).code() == Code::InvalidArgument));
  check_close(group.value(0), {1, 2});
  BOOST_TEST(group.apply({ints({0, 1}), updates}).ok());
  check_close(group.value(0), {11, 22});
}

BOOST_AUTO_TEST_CASE(a_refused_update_of_rows_changes_no_variable) {
  Group group("SparseApplyMomentum", {floats(Shape{2, 1}, {1, 2}), floats(Shape{2, 1}, {3, 4})},
              {f32, f32, i32, f32});
  const Tensor gradient = floats(Shape{2, 1}, {10, 20}), held = group.value(1);
  const auto apply = [&](const Tensor& indices) {
    return group.apply({scalar(1), gradient, indices, scalar(0)});
  };
  BOOST_TEST((apply(ints({0, 2})).code() == Code::InvalidArgument));
  check_close(group.value(0), {1, 2});
  check_close(group.value(1), {3, 4});
  BOOST_TEST(apply(ints({0, 1})).ok());
  check_close(group.value(0), {-9, -18});
  check_close(group.value(1), {10, 20});
  check_close(held, {3, 4});
}

BOOST_AUTO_TEST_CASE(large_updates_give_the_same_bits_for_any_number_of_threads) {
  const Tensor large = counting(Shape{300'001});
  const std::vector<Tensor> inputs{large,        large,        large,         scalar(0.5f),  scalar(0.5f),
                                   scalar(0.1f), scalar(0.9f), scalar(0.99f), scalar(1e-8f), large};
  const auto one = value_or_throw(run_op("ApplyAdam", inputs, {}, Known::Values, {}, 1));
  const auto three = value_or_throw(run_op("ApplyAdam", inputs, {}, Known::Values, {}, 3));
  for (size_t i = 0; i < 3; ++i) BOOST_TEST(identical(one[i], three[i]));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::update_ops_test
