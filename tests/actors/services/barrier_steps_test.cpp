// Barriers in steps: the ops, waiting across steps, closing, cancelling.
#include <boost/test/unit_test.hpp>

#include <future>

#include "actors/runtime.h"
#include "actors/step/session.h"
#include "graph/build/scope.h"
#include "tests/support/failure_of.h"

namespace troupe::barrier_steps_test {
namespace {

using namespace std::chrono_literals;

/// A barrier with two components, float[] and int32[].
struct Fixture {
  Runtime runtime{{.threads = 2}};
  Graph graph{runtime.ops()};
  Scope g{graph};
  const Attributes types{
      {"component_types", std::vector<DType>{DType::Float, DType::Int32}},
      {"shapes", std::vector<PartialShape>{PartialShape::scalar(), PartialShape::scalar()}}};
  const Output barrier = g.with_name("barrier").add_one("Barrier", {}, types);

  Output constant(Tensor value) { return g.constant(std::move(value)); }
  Output insert(const std::vector<std::string>& keys, int64_t component, Tensor values) {
    return {g.add("BarrierInsertMany",
                  {barrier, constant(Tensor::vector<std::string>(std::span<const std::string>(keys))),
                   constant(std::move(values))},
                  {{"component_index", component}}),
            Output::control};
  }
  Output floats(const std::vector<std::string>& keys) { return insert(keys, 0, filled<float>(keys)); }
  Output ints(const std::vector<std::string>& keys) { return insert(keys, 1, filled<int32_t>(keys)); }
  /// The first byte of each key.
  template <class T>
  static Tensor filled(const std::vector<std::string>& keys) {
    std::vector<T> values;
    for (const std::string& key : keys) values.push_back(static_cast<T>(key[0]));
    return Tensor::vector<T>(std::span<const T>(values));
  }
  NodeId take(int32_t n, bool small_batch = false, Attributes more = {}) {
    Attributes attrs{{"component_types", types.get<std::vector<DType>>("component_types")},
                     {"allow_small_batch", small_batch}};
    for (const auto& [attr, value] : more) attrs.set(attr, value);
    return g.add("BarrierTakeMany", {barrier, constant(Tensor::scalar(n))}, attrs);
  }
  Output close(bool cancel_pending = false) {
    return {g.add("BarrierClose", {barrier}, {{"cancel_pending_enqueues", cancel_pending}}), Output::control};
  }
  /// Returns the keys that were taken, as "ab", and a '?' after a key whose components are not its own.
  static std::string keys(Session& session, NodeId taken) {
    const auto result = session.run({Output{taken, 1}, Output{taken, 2}, Output{taken, 3}});
    std::string text;
    for (size_t i = 0; i < result[0].as<std::string>().size(); ++i) {
      const std::string& key = result[0].as<std::string>()[i];
      text += key;
      if (result[1].as<float>()[i] != static_cast<float>(key[0]) || result[2].as<int32_t>()[i] != key[0])
        text += '?';
    }
    return text;
  }
  std::pair<int32_t, int32_t> sizes(Session& session) {
    const auto result = session.run(
        {g.add_one("BarrierReadySize", {barrier}), g.add_one("BarrierIncompleteSize", {barrier})});
    return {result[0].item<int32_t>(), result[1].item<int32_t>()};
  }
  void refused(Session& session, Output what, Code code, const std::string& text) {
    const Status status = test::failure_of([&] { session.run({what}); });
    BOOST_TEST((status.code() == code), status.text());
    BOOST_TEST(status.text().find(text) != std::string::npos, status.text());
    BOOST_TEST(!status.node().empty());
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(barrier_steps, Fixture)

BOOST_AUTO_TEST_CASE(elements_leave_in_the_order_in_which_their_keys_came) {
  const Output first = floats({"a"}), second = ints({"c", "b"}), third = floats({"b", "c"}),
               last = ints({"a"});
  const NodeId three = take(3), none = take(0);
  Session session = runtime.session(graph);
  session.run({first});
  session.run({second});
  session.run({third});
  BOOST_TEST((sizes(session) == std::pair(2, 1)));
  BOOST_TEST(keys(session, none).empty());
  auto other = std::async(std::launch::async, [&] { return keys(session, three); });
  session.run({last});
  BOOST_TEST(other.get() == "abc");
  BOOST_TEST((sizes(session) == std::pair(0, 0)));
}

BOOST_AUTO_TEST_CASE(an_insert_that_is_refused_changes_nothing) {
  const Output known = floats({"b"}), mixed = floats({"a", "b"}), twice = ints({"a", "a"});
  Session session = runtime.session(graph);
  session.run({known});
  refused(session, mixed, Code::InvalidArgument, "'b' already has a value for component 0");
  refused(session, twice, Code::InvalidArgument, "'a' already has a value for component 1");
  BOOST_TEST((sizes(session) == std::pair(0, 1)));
}

// A key may come again when its element is ready.
BOOST_AUTO_TEST_CASE(a_key_may_have_several_elements) {
  const Output half = floats({"a"}), both = ints({"a", "a"}), again = floats({"a"});
  const NodeId two = take(2);
  Session session = runtime.session(graph);
  session.run({half});
  session.run({both});
  session.run({again});
  BOOST_TEST(keys(session, two) == "aa");
}

BOOST_AUTO_TEST_CASE(a_closed_barrier_completes_what_it_has) {
  const Output begun = floats({"a", "b", "c"}), ready = ints({"a"}), rest = ints({"b", "c"}),
               unknown = floats({"d"}), nothing = floats({});
  const NodeId all = take(3), small = take(9, true), nine = take(9), three = take(3);
  Session session = runtime.session(graph);
  session.run({begun});
  session.run({ready});
  session.run({close()});
  refused(session, close(), Code::Cancelled, "is already closed");
  refused(session, unknown, Code::Cancelled, "is closed, but the insert has the new key");
  refused(session, Output{nine, 0}, Code::OutOfRange, "insufficient elements");
  session.run({nothing});
  BOOST_TEST(keys(session, small) == "a");
  refused(session, Output{small, 0}, Code::OutOfRange, "insufficient elements");
  refused(session, Output{all, 0}, Code::OutOfRange, "insufficient elements");
  session.run({rest});
  BOOST_TEST(keys(session, small) == "bc");
  refused(session, Output{three, 0}, Code::OutOfRange, "insufficient elements");
}

// Takes that wait when no more elements can come are answered.
BOOST_AUTO_TEST_CASE(a_barrier_that_is_finished_answers_takes_that_wait) {
  const Output begun = floats({"a", "b"}), rest = ints({"a"}), end = close(true);
  const NodeId first = take(2, true), second = take(2);
  Session session = runtime.session(graph);
  session.run({begun});
  session.run({rest});
  auto small = std::async(std::launch::async, [&] { return keys(session, first); });
  auto whole = std::async(std::launch::async, [&] {
    return test::failure_of([&] { session.run({Output{second, 0}}); });
  });
  while (session.run({g.add_one("BarrierIncompleteSize", {barrier})})[0].item<int32_t>() != 1) {
  }
  session.run({end});
  BOOST_TEST(small.get() == "a");
  const Status status = whole.get();
  BOOST_TEST((status.code() == Code::OutOfRange), status.text());
  BOOST_TEST((sizes(session) == std::pair(0, 0)));
  refused(session, floats({}), Code::Cancelled, "is closed");
}

BOOST_AUTO_TEST_CASE(a_take_that_waits_ends_with_its_step) {
  const Output begun = floats({"a"}), rest = ints({"a"});
  const NodeId one = take(1);
  Session session = runtime.session(graph, {.share_state = true}),
          waiting = runtime.session(graph, {.share_state = true});
  session.run({begun});
  const Status status = test::failure_of([&] { waiting.run({Output{one, 0}}, {.timeout = 20ms}); });
  BOOST_TEST((status.code() == Code::DeadlineExceeded), status.text());
  waiting.close();  // the step ends a little later than its caller is answered
  session.run({rest});
  BOOST_TEST(keys(session, one) == "a");
}

BOOST_AUTO_TEST_CASE(what_a_barrier_cannot_be_or_do_is_refused) {
  const auto size = [&](Attributes attrs) {
    return g.add_one("BarrierReadySize", {g.add_one("Barrier", {}, attrs)});
  };
  const std::vector<DType> one{DType::Float};
  const Output shapeless = size({{"component_types", one}});
  const Output unknown = size({{"component_types", one}, {"shapes", std::vector{PartialShape{-1}}}});
  const Output limited =
      size({{"component_types", one}, {"shapes", std::vector{PartialShape{2}}}, {"capacity", int64_t{3}}});
  const auto bad = [&](Session& session, Output what, const std::string& text) {
    refused(session, what, Code::InvalidArgument, text);
  };
  Session session = runtime.session(graph);
  bad(session, shapeless, "all of the component shapes must be specified");
  bad(session, unknown, "[?]");
  bad(session, limited, "capacity is 3");
  bad(session, insert({"a"}, 2, Tensor::vector<float>({1})), "component ID is out of range");
  bad(session, insert({"a"}, -1, Tensor::vector<float>({1})), "component_index is -1");
  bad(session, insert({"a"}, 1, Tensor::vector<float>({1})), "takes 1 values of int32[]");
  bad(session, insert({"a"}, 0, Tensor::of<float>(Shape{1, 2}, {1, 2})), "takes 1 values of float[]");
  bad(session, Output{take(-1), 0}, "num_elements is int32[] -1");
  bad(session, Output{take(1, false, {{"component_types", one}}), 0}, "component_types are others");
  bad(session, Output{take(1, false, {{"timeout_ms", int64_t{5}}}), 0}, "timeout_ms is 5");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::barrier_steps_test
