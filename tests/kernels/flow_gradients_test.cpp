// Tests of gradients through conditionals and loops (features.md G5-G8), of first and second order, against finite differences.
#include <boost/test/unit_test.hpp>

#include <cmath>

#include "graph/build/control_flow.h"
#include "graph/build/gradients.h"
#include "tests/support/local_graph.h"

namespace troupe::test::flow_gradients_test {
namespace {

using Values = std::span<const Output>;

struct Fixture : LocalGraph {
  Output x = g.with_name("x").add_one("Placeholder", {}, {{"dtype", f64}, {"shape", PartialShape::scalar()}});

  static Output real(const Scope& s, double value) { return s.constant(Tensor::scalar(value)); }
  static Output integer(const Scope& s, int32_t value) { return s.constant(Tensor::scalar(value)); }
  static Output add(const Scope& s, Output a, Output b) { return s.add_one("Add", {a, b}); }
  static Output mul(const Scope& s, Output a, Output b) { return s.add_one("Mul", {a, b}); }
  static Output tanh(const Scope& s, Output a) { return s.add_one("Tanh", {a}); }
  static Output sin(const Scope& s, Output a) { return s.add_one("Sin", {a}); }
  static Output less(const Scope& s, Output a, Output b) { return s.add_one("Less", {a, b}); }
  static Output is_odd(const Scope& s, Output i) {
    return s.add_one("Equal", {s.add_one("FloorMod", {i, integer(s, 2)}), integer(s, 1)});
  }

  using Body = std::function<std::vector<Output>(const Scope&, Output i, Values)>;
  /// Runs v = body(i, v) for i = 0 to times - 1.
  static std::vector<Output> loop(const Scope& outside, int32_t times, std::vector<Output> first,
                                  const Body& body, std::vector<PartialShape> shapes = {}) {
    first.insert(first.begin(), integer(outside, 0));
    if (!shapes.empty()) shapes.insert(shapes.begin(), PartialShape::scalar());
    auto last = while_loop(
        outside, first, [&](const Scope& s, Values v) { return less(s, v[0], integer(s, times)); },
        [&](const Scope& s, Values v) {
          std::vector<Output> next = body(s, v[0], v.subspan(1));
          next.insert(next.begin(), add(s, v[0], integer(s, 1)));
          return next;
        },
        {.shape_invariants = std::move(shapes)});
    last.erase(last.begin());
    return last;
  }

  double value(Output y, double at) {
    return value_or_throw(runtime.run(graph, {{x, Tensor::scalar(at)}}, {y}))[0].item<double>();
  }
  Output derivative(Output y) { return dense(g, gradients(g, {y}, {x})[0], x); }
  /// Compares the first and second derivatives of y by x with finite differences.
  void check(Output y, std::initializer_list<double> points = {0.7, -0.4}, int order = 2) {
    constexpr double step = 1e-5;
    for (int i = 1; i <= order; ++i) {
      const Output slope = derivative(y);
      for (const double at : points) {
        const double expected = (value(y, at + step) - value(y, at - step)) / (2 * step),
                     found = value(slope, at);
        BOOST_TEST(std::abs(found - expected) <= 1e-6 * (1 + std::abs(expected)),
                   "derivative " << i << " at " << at << " is " << found << ", not " << expected);
      }
      y = slope;
    }
  }
};

BOOST_FIXTURE_TEST_SUITE(flow_gradients, Fixture)

BOOST_AUTO_TEST_CASE(both_branches_of_a_conditional) {
  const auto y = cond(
      g, less(g, x, real(g, 0)), [&](const Scope& s) { return std::vector{mul(s, x, sin(s, x))}; },
      [&](const Scope& s) { return std::vector{tanh(s, x)}; });
  check(y[0]);
}

BOOST_AUTO_TEST_CASE(a_branch_without_a_gradient) {
  const auto y = cond(
      g, less(g, x, real(g, 0)), [&](const Scope& s) { return std::vector{real(s, 3)}; },
      [&](const Scope& s) { return std::vector{mul(s, x, x)}; });
  check(add(g, y[0], sin(g, x)));
}

BOOST_AUTO_TEST_CASE(conditionals_in_conditionals) {
  const auto y = cond(
      g, less(g, x, real(g, 0.5)),
      [&](const Scope& s) {
        return cond(
            s, less(s, x, real(s, 0)), [&](const Scope& t) { return std::vector{mul(t, sin(t, x), x)}; },
            [&](const Scope& t) { return std::vector{tanh(t, x)}; });
      },
      [&](const Scope& s) { return std::vector{mul(s, x, x)}; });
  check(y[0], {-0.4, 0.2, 0.7});
}

BOOST_AUTO_TEST_CASE(a_merge_of_three) {
  const NodeId low = g.add("Switch", {x, less(g, x, real(g, 0))});
  const NodeId high = g.add("Switch", {{low, 0}, less(g, {low, 0}, real(g, 0.5))});
  const Output y = g.add_one("Merge", {sin(g, {low, 1}), mul(g, {high, 1}, {high, 1}), tanh(g, {high, 0})});
  check(y, {-0.4, 0.2, 0.7});
}

BOOST_AUTO_TEST_CASE(what_the_body_reads_and_what_it_begins_with) {
  check(loop(g, 5, {real(g, 1)},
             [&](const Scope& s, Output, Values v) { return std::vector{tanh(s, mul(s, v[0], x))}; })[0]);
  check(loop(g, 3, {x}, [&](const Scope& s, Output, Values v) { return std::vector{sin(s, v[0])}; })[0]);
}

BOOST_AUTO_TEST_CASE(variables_that_depend_on_each_other) {
  const auto y = loop(g, 4, {x, real(g, 2)}, [&](const Scope& s, Output, Values v) {
    return std::vector{sin(s, v[1]), add(s, mul(s, v[0], v[1]), x)};
  });
  check(y[0]);
  check(add(g, y[0], mul(g, y[1], x)));
}

BOOST_AUTO_TEST_CASE(a_variable_that_does_not_change) {
  const auto y = loop(g, 3, {x, x}, [&](const Scope& s, Output, Values v) {
    return std::vector{v[0], mul(s, v[0], v[1])};
  });
  check(y[1]);
  check(add(g, y[0], y[1]));
}

BOOST_AUTO_TEST_CASE(a_loop_of_no_iterations) {
  check(loop(g, 0, {mul(g, x, x)},
             [&](const Scope& s, Output, Values v) { return std::vector{sin(s, mul(s, v[0], x))}; })[0]);
}

BOOST_AUTO_TEST_CASE(the_condition_depends_on_x) {
  const auto y = while_loop(
      g, {x}, [&](const Scope& s, Values v) { return less(s, mul(s, v[0], v[0]), real(s, 30)); },
      [&](const Scope& s, Values v) { return std::vector{mul(s, v[0], add(s, v[0], real(s, 2)))}; });
  check(y[0], {0.7, 1.1});
}

BOOST_AUTO_TEST_CASE(conditionals_in_loops) {
  check(loop(g, 5, {x}, [&](const Scope& s, Output i, Values v) {
    return cond(
        s, is_odd(s, i), [&](const Scope& t) { return std::vector{mul(t, sin(t, v[0]), x)}; },
        [&](const Scope& t) {
          return cond(
              t, less(t, i, integer(t, 3)), [&](const Scope& u) { return std::vector{tanh(u, v[0])}; },
              [&](const Scope& u) { return std::vector{mul(u, v[0], v[0])}; });
        });
  })[0]);
}

BOOST_AUTO_TEST_CASE(loops_in_conditionals) {
  const auto y = cond(
      g, less(g, x, real(g, 0)),
      [&](const Scope& s) {
        return loop(s, 3, {mul(s, x, x)},
                    [&](const Scope& t, Output, Values v) { return std::vector{sin(t, mul(t, v[0], x))}; });
      },
      [&](const Scope& s) {
        return loop(s, 2, {x},
                    [&](const Scope& t, Output, Values v) { return std::vector{tanh(t, add(t, v[0], x))}; });
      });
  check(y[0]);
}

BOOST_AUTO_TEST_CASE(loops_in_loops) {
  const auto y = loop(g, 3, {x}, [&](const Scope& s, Output i, Values v) {
    return loop(s, 2, {v[0]}, [&](const Scope& t, Output j, Values w) {
      const Output factor = t.add_one("Cast", {add(t, i, j)}, {{"DstT", f64}});
      return std::vector{sin(t, add(t, mul(t, w[0], factor), mul(t, v[0], x)))};
    });
  });
  check(y[0]);
}

BOOST_AUTO_TEST_CASE(loops_in_branches_in_loops) {
  const auto y = loop(g, 4, {x}, [&](const Scope& s, Output i, Values v) {
    return cond(
        s, is_odd(s, i),
        [&](const Scope& t) {
          return loop(t, 2, {v[0]},
                      [&](const Scope& u, Output, Values w) { return std::vector{mul(u, sin(u, w[0]), x)}; });
        },
        [&](const Scope& t) { return std::vector{mul(t, v[0], v[0])}; });
  });
  check(y[0]);
}

// y = v + ... for v of growing length: v = concat(v, sin(x sum(v)))
BOOST_AUTO_TEST_CASE(a_variable_whose_shape_changes) {
  const Output axis = integer(g, 0);
  const Output first = g.add_one("Reshape", {x, g.constant(Tensor::vector<int32_t>({1}))});
  const auto y =
      loop(g, 3, {first},
           [&](const Scope& s, Output, Values v) {
             const Output sum =
                 s.add_one("Sum", {v[0], s.constant(Tensor::vector<int32_t>({0}))}, {{"keep_dims", true}});
             return std::vector{s.add_one("ConcatV2", {v[0], sin(s, mul(s, sum, x)), integer(s, 0)})};
           },
           {PartialShape::vector(unknown_dim)});
  check(g.add_one("Sum", {mul(g, y[0], y[0]), axis}));
}

BOOST_AUTO_TEST_CASE(lists_of_tensors) {
  const Output none =
      g.add_one("EmptyTensorList", {integer(g, -1), integer(g, -1)}, {{"element_dtype", f64}});
  const auto filled = loop(g, 4, {none, x}, [&](const Scope& s, Output, Values v) {
    return std::vector{s.add_one("TensorListPushBack", {v[0], v[1]}), sin(s, mul(s, v[1], x))};
  });
  const Output stacked = g.add_one(
      "TensorListStack", {filled[0], g.constant(Tensor::vector<int32_t>(std::span<const int32_t>()))},
      {{"element_dtype", f64}});
  check(g.add_one("Prod", {stacked, integer(g, 0)}));
  const Output set = g.add_one("TensorListSetItem", {filled[0], integer(g, 1), mul(g, x, x)});
  const auto get = [&](int32_t i) {
    return g.add_one("TensorListGetItem", {set, integer(g, i), integer(g, -1)}, {{"element_dtype", f64}});
  };
  check(mul(g, get(1), get(2)));
}

// a[i + 1] = sin(x a[i])
BOOST_AUTO_TEST_CASE(arrays_of_tensors) {
  const NodeId array =
      g.add("TensorArrayV3", {integer(g, 5)},
            {{"dtype", f64}, {"clear_after_read", false}, {"element_shape", PartialShape::scalar()}});
  const Output handle{array, 0};
  const Output begun = g.add_one("TensorArrayWriteV3", {handle, integer(g, 0), x, {array, 1}});
  const auto flow = loop(g, 4, {begun}, [&](const Scope& s, Output i, Values v) {
    const Output read = s.add_one("TensorArrayReadV3", {handle, i, v[0]}, {{"dtype", f64}});
    const Output next = sin(s, mul(s, read, x));
    return std::vector{s.add_one("TensorArrayWriteV3", {handle, add(s, i, integer(s, 1)), next, v[0]})};
  });
  const Output all =
      g.add_one("TensorArrayGatherV3", {handle, g.constant(Tensor::vector<int32_t>({1, 2, 4})), flow[0]},
                {{"dtype", f64}});
  check(g.add_one("Prod", {all, integer(g, 0)}), {0.7, -0.4}, 1);
}

// v = sin(v w) with a variable w that the body reads through its handle.
BOOST_AUTO_TEST_CASE(a_variable_that_the_body_reads) {
  const Output handle = g.add_one("VarHandleOp", {}, {{"dtype", f64}, {"shape", PartialShape::scalar()}});
  const Output assigned{g.add("AssignVariableOp", {handle, x}), Output::control};
  const auto y = loop(g, 3, {real(g, 1)}, [&](const Scope& s, Output, Values v) {
    const Output w = s.add_one("ReadVariableOp", {handle}, {{"dtype", f64}});
    return std::vector{sin(s, mul(s, v[0], w))};
  });
  const auto same = loop(g, 3, {real(g, 1)}, [&](const Scope& s, Output, Values v) {
    return std::vector{sin(s, mul(s, v[0], x))};
  });
  const auto slope = gradients(g, {y[0]}, {handle});
  value_or_throw(runtime.run(graph, {{x, Tensor::scalar(0.7)}}, {assigned}));
  const auto found = value_or_throw(runtime.run(graph, {}, {std::get<Output>(slope[0])}));
  BOOST_TEST(found[0].item<double>() == value(derivative(same[0]), 0.7));
}

// Inside the body: the gradient of sin(v x) by v.
BOOST_AUTO_TEST_CASE(gradients_inside_a_loop) {
  const auto y = loop(g, 3, {x}, [&](const Scope& s, Output, Values v) {
    return std::vector{dense(s, gradients(s, {sin(s, mul(s, v[0], x))}, {v[0]})[0], v[0])};
  });
  check(y[0]);
}

BOOST_AUTO_TEST_CASE(a_gradient_inside_a_loop_by_what_the_loop_begins_with_is_refused) {
  BOOST_CHECK_THROW(loop(g, 3, {x},
                         [&](const Scope& s, Output, Values v) {
                           return std::vector{dense(s, gradients(s, {sin(s, v[0])}, {x})[0], v[0])};
                         }),
                    Error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::flow_gradients_test
