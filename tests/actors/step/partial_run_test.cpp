// Partial runs (features.md C7): a step that gets its feeds and yields its fetches in several calls, over the devices and tasks
// of one process.
#include <boost/test/unit_test.hpp>

#include <future>

#include "actors/runtime.h"
#include "graph/build/scope.h"
#include "tests/support/failure_of.h"

namespace troupe::partial_run_test {
namespace {

using test::failure_of;

Tensor number(float value) { return Tensor::scalar(value); }
float value_of(const std::vector<Tensor>& tensors) { return tensors.at(0).as<float>()[0]; }

struct Fixture {
  Runtime runtime{{.threads = 2, .tasks = {{"ps", 0, 1}, {"worker", 0, 2}}}};
  Graph graph{runtime.ops()};
  Scope g{graph};
  Scope there = g.with_device("/job:ps");

  Output placeholder(const std::string& name, const PartialShape& shape = PartialShape::scalar()) {
    return g.with_name(name).add_one("Placeholder", {}, {{"dtype", DType::Float}, {"shape", shape}});
  }
  // a, b -> sum; sum, c -> product, on another task
  const Output a = placeholder("a"), b = placeholder("b"), c = placeholder("c");
  const Output sum = g.add_one("Add", {a, b});
  const Output product = there.add_one("Mul", {sum, c});

  // An element of a queue that is empty at first.
  const std::vector<DType> floats{DType::Float};
  const Output queue = g.add_one("FIFOQueueV2", {}, {{"component_types", floats}});
  const Output element = g.add_one("QueueDequeueV2", {queue}, {{"component_types", floats}});
  const Output enqueue{g.add("QueueEnqueueV2", {queue, g.constant(number(7))}, {{"Tcomponents", floats}}),
                       Output::control};
};

void check_refused(const Status& status, const std::string& reason) {
  BOOST_TEST((status.code() == Code::InvalidArgument), status.message());
  BOOST_TEST(status.text().find(reason) != std::string::npos, status.message());
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(partial_run, Fixture)

BOOST_AUTO_TEST_CASE(a_later_feed_may_depend_on_an_earlier_fetch) {
  Session session = runtime.session(graph);
  for (const float factor : {17.0f, 18.0f}) {
    const PartialRun run = session.partial_run_setup({a, b, c}, {sum, product});
    const float three = value_of(session.partial_run(run, {{a, number(1)}, {b, number(2)}}, {sum}));
    BOOST_TEST(three == 3.0f);
    BOOST_TEST(value_of(session.partial_run(run, {{c, number(three * factor)}}, {product})) == 9.0f * factor);
  }
}

BOOST_AUTO_TEST_CASE(feeds_and_fetches_may_come_in_calls_of_their_own) {
  Session session = runtime.session(graph);
  const PartialRun run = session.partial_run_setup({a, b, c}, {sum, product, sum});
  BOOST_TEST(session.partial_run(run, {{c, number(5)}}, {}).empty());
  BOOST_TEST(session.partial_run(run, {{b, number(2)}}, {}).empty());
  BOOST_TEST(session.partial_run(run, {{a, number(1)}}, {}).empty());
  const auto both = session.partial_run(run, {}, {product, sum});
  BOOST_TEST(both.at(0).as<float>()[0] == 15.0f);
  BOOST_TEST(both.at(1).as<float>()[0] == 3.0f);
  check_refused(failure_of([&] { session.partial_run(run, {}, {sum}); }), "is over");
}

BOOST_AUTO_TEST_CASE(a_tensor_without_elements_is_no_feed) {
  Session session = runtime.session(graph);
  const PartialRun run = session.partial_run_setup({a, b, c}, {sum, product});
  Tensor moved = number(1);
  const Tensor taken = std::move(moved);
  for (const Tensor& none : {moved, Tensor()})  // NOLINT(bugprone-use-after-move): that is what is tested
    check_refused(failure_of([&] {
                    session.partial_run(run, {{a, none}, {b, number(2)}}, {sum});
                  }),
                  "the value fed for a:0 is invalid[]; expected float[]");
  BOOST_TEST(value_of(session.partial_run(run, {{a, taken}, {b, number(2)}}, {sum})) == 3.0f);
}

BOOST_AUTO_TEST_CASE(runs_and_steps_go_on_side_by_side) {
  Session session = runtime.session(graph);
  std::vector<PartialRun> runs;
  for (int i = 0; i < 20; ++i) runs.push_back(session.partial_run_setup({a, b, c}, {sum, product}));
  const auto scaled = [](int i) { return number(static_cast<float>(i)); };
  for (int i = 0; i < 20; ++i)
    BOOST_TEST(value_of(session.partial_run(runs[i], {{a, scaled(i)}, {b, number(1)}}, {sum})) ==
               static_cast<float>(i + 1));
  BOOST_TEST(value_of(session.run({{a, number(1)}, {b, number(2)}, {c, number(3)}}, {product})) == 9.0f);
  for (int i = 19; i >= 0; --i)
    BOOST_TEST(value_of(session.partial_run(runs[i], {{c, number(2)}}, {product})) ==
               static_cast<float>(2 * (i + 1)));
}

BOOST_AUTO_TEST_CASE(a_refused_call_changes_nothing) {
  Session session = runtime.session(graph);
  const Output other = g.add_one("Neg", {a});
  const PartialRun run = session.partial_run_setup({a, b, c}, {sum, product});
  const auto refused = [&](const std::vector<std::pair<Output, Tensor>>& feeds,
                           const std::vector<Output>& fetches, const std::string& reason) {
    check_refused(failure_of([&] { session.partial_run(run, feeds, fetches); }), reason);
  };
  refused({{a, number(1)}}, {sum}, "before b:0 has been fed");
  session.partial_run(run, {{a, number(1)}}, {});
  refused({{b, number(2)}, {a, number(1)}}, {sum}, "has already been fed.");
  refused({{b, number(2)}, {b, number(2)}}, {sum}, "has already been fed.");
  refused({{b, number(2)}}, {product}, "before c:0 has been fed");
  refused({{b, number(2)}}, {other}, "was not specified in partial_run_setup.");
  refused({{sum, number(2)}}, {}, "was not specified in partial_run_setup.");
  refused({{b, Tensor::scalar(int32_t{2})}}, {sum}, "the value fed for b:0 is int32[]");
  refused({{b, Tensor::of<float>(Shape{1}, {2.0f})}}, {sum}, "the value fed for b:0 is float[1]");
  refused({{b, number(2)}}, {sum, sum}, "has already been fetched.");
  BOOST_TEST(value_of(session.partial_run(run, {{b, number(2)}}, {sum})) == 3.0f);
  refused({{c, number(4)}}, {sum}, "has already been fetched.");
  BOOST_TEST(value_of(session.partial_run(run, {{c, number(4)}}, {product})) == 12.0f);
}

BOOST_AUTO_TEST_CASE(a_bad_setup_is_refused) {
  Session session = runtime.session(graph), other = runtime.session(graph);
  check_refused(failure_of([&] { session.partial_run_setup({a}, {}); }), "neither fetches nor targets");
  check_refused(failure_of([&] { session.partial_run_setup({a, a}, {sum}); }), "fed twice");
  check_refused(failure_of([&] { session.partial_run_setup({a}, {a}); }), "both fed and fetched");
  const PartialRun run = other.partial_run_setup({a, b}, {sum});
  check_refused(failure_of([&] { session.partial_run(run, {}, {sum}); }), "not set up by this session");
  check_refused(failure_of([&] { session.partial_run(PartialRun(), {}, {sum}); }), "not set up");
}

// true -> Switch of sum -> the branch that is not taken
BOOST_AUTO_TEST_CASE(a_failure_ends_the_run_for_all_later_calls) {
  const Output flag = g.constant(Tensor::scalar(true));
  const Output dead = g.add_one("Identity", {Output{g.add("Switch", {sum, flag}), 0}});
  Session session = runtime.session(graph);
  const PartialRun run = session.partial_run_setup({a, b, c}, {dead, product});
  check_refused(failure_of([&] {
                  session.partial_run(run, {{a, number(1)}, {b, number(2)}}, {dead});
                }),
                "was not valid");
  check_refused(failure_of([&] { session.partial_run(run, {{c, number(1)}}, {product}); }), "was not valid");
}

BOOST_AUTO_TEST_CASE(a_placeholder_that_is_never_fed_is_named) {
  Session session = runtime.session(graph);
  const PartialRun run = session.partial_run_setup({a}, {sum});
  check_refused(failure_of([&] { session.partial_run(run, {{a, number(1)}}, {sum}); }), "must be fed");
}

BOOST_AUTO_TEST_CASE(a_run_ends_at_its_deadline) {
  Session session = runtime.session(graph);
  const PartialRun run =
      session.partial_run_setup({a, b}, {sum, element}, {.timeout = std::chrono::milliseconds(20)});
  const auto code = [&](const std::vector<Output>& fetches) {
    return failure_of([&] { session.partial_run(run, {}, fetches); }).code();
  };
  BOOST_TEST((code({element}) == Code::DeadlineExceeded));
  BOOST_TEST((code({element}) == Code::DeadlineExceeded));
}

// The dropped run takes no element any more, or at most the one that comes before the cancellation has reached the queue.
BOOST_AUTO_TEST_CASE(a_run_ends_when_it_is_cancelled) {
  Session session = runtime.session(graph);
  Cancellation cancellation;
  const StepOptions options{.cancellation = &cancellation};
  const PartialRun run = session.partial_run_setup({a, b}, {sum, element}, options);
  const auto code_of = [&](const PartialRun& called, const std::vector<Output>& fetches) {
    return failure_of([&] { session.partial_run(called, {}, fetches); }).code();
  };
  auto waiting = std::async(std::launch::async, [&] { return code_of(run, {element}); });
  session.partial_run(run, {{a, number(1)}}, {});
  cancellation.cancel();
  BOOST_TEST((waiting.get() == Code::Cancelled));
  BOOST_TEST((code_of(run, {}) == Code::Cancelled));
  const PartialRun late = session.partial_run_setup({a, b}, {element}, options);
  BOOST_TEST((code_of(late, {element}) == Code::Cancelled));
}

BOOST_AUTO_TEST_CASE(a_run_that_its_client_drops_is_cancelled) {
  Session session = runtime.session(graph);
  {
    const PartialRun run = session.partial_run_setup({a, b}, {sum, element});
    session.partial_run(run, {{a, number(1)}, {b, number(2)}}, {sum});
  }
  session.run({enqueue});
  session.run({enqueue});
  BOOST_TEST(value_of(session.run({element})) == 7.0f);
}

BOOST_AUTO_TEST_CASE(closing_ends_runs_and_the_calls_that_wait) {
  Session session = runtime.session(graph);
  const PartialRun run = session.partial_run_setup({a, b}, {sum, element}),
                   idle = session.partial_run_setup({a, b}, {sum});
  auto waiting = std::async(std::launch::async, [&] {
    return failure_of([&] { session.partial_run(run, {{a, number(1)}}, {element}); }).code();
  });
  session.partial_run(run, {{b, number(2)}}, {});
  session.close();
  const Code code = waiting.get();
  BOOST_TEST((code == Code::Cancelled || code == Code::FailedPrecondition));
  BOOST_TEST((failure_of([&] { session.partial_run(idle, {}, {}); }).code() == Code::FailedPrecondition));
}

// v = v + a, as a target
BOOST_AUTO_TEST_CASE(the_last_call_returns_when_all_targets_have_run) {
  const Output v = there.with_name("v").add_one("VariableV2", {},
                                                {{"dtype", DType::Float}, {"shape", PartialShape::scalar()}});
  const Output init = there.add_one("Assign", {v, g.constant(number(1))});
  const Output update{there.add("AssignAdd", {v, product}), Output::control};
  Session session = runtime.session(graph);
  session.run({init});
  const PartialRun run = session.partial_run_setup({a, b, c}, {sum, update});
  session.partial_run(run, {{a, number(1)}, {b, number(2)}}, {sum});
  BOOST_TEST(value_of(session.run({v})) == 1.0f);
  session.partial_run(run, {{c, number(4)}}, {});
  BOOST_TEST(value_of(session.run({v})) == 13.0f);
}

// A feed replaces an output inside the graph, a Placeholder's control edges wait for its feed, and a feed may have no reader.
BOOST_AUTO_TEST_CASE(any_output_may_be_fed) {
  const Output waits = g.with_control({c}).add_one("Identity", {g.constant(number(6))});
  Session session = runtime.session(graph);
  const PartialRun inside = session.partial_run_setup({sum, c}, {product});
  session.partial_run(inside, {{sum, number(10)}}, {});
  BOOST_TEST(value_of(session.partial_run(inside, {{c, number(2)}}, {product})) == 20.0f);
  const PartialRun control = session.partial_run_setup({c, a}, {waits});
  check_refused(failure_of([&] { session.partial_run(control, {}, {waits}); }), "before c:0 has been fed");
  BOOST_TEST(value_of(session.partial_run(control, {{c, number(2)}}, {waits})) == 6.0f);
  session.partial_run(control, {{a, number(1)}}, {});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::partial_run_test
