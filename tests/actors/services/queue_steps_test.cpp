// Queues in steps: the ops, waiting across steps, sharing by name, cancellation (features.md E1-E5, E9, E10).
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <thread>

#include "actors/runtime.h"
#include "actors/step/session.h"
#include "graph/build/scope.h"
#include "kernels/constructors.h"
#include "tests/support/failure_of.h"

namespace troupe::queue_steps_test {
namespace {

using namespace std::chrono_literals;

struct Fixture {
  Runtime runtime{{.threads = 2}};
  Graph graph{runtime.ops()};
  Scope g{graph};

  /// Makes a queue with one component, int32 scalars. With `suffix` "V2" its handle is a resource, with "" a reference.
  Output make_queue(const std::string& name, int64_t capacity = -1, const std::string& suffix = "V2",
                    Attributes more = {}) {
    Attributes attrs{{"component_types", std::vector<DType>{DType::Int32}},
                     {"shapes", std::vector<PartialShape>{PartialShape::scalar()}},
                     {"capacity", capacity}};
    for (const auto& [attr, value] : more) attrs.set(attr, value);
    return g.with_name(name).add_one("FIFOQueue" + suffix, {}, attrs);
  }
  Output constant(int32_t value) { return g.constant(Tensor::scalar(value)); }
  Output enqueue(Output queue, Output value, Attributes attrs = {}) {
    return {g.add("QueueEnqueueV2", {queue, value}, std::move(attrs)), Output::control};
  }
  Output enqueue_many(Output queue, std::vector<int32_t> values) {
    return {g.add("QueueEnqueueManyV2",
                  {queue, g.constant(Tensor::vector<int32_t>(std::span<const int32_t>(values)))}),
            Output::control};
  }
  Output dequeue(Output queue, Attributes attrs = {}) {
    attrs.set("component_types", std::vector<DType>{DType::Int32});
    return g.add_one("QueueDequeueV2", {queue}, attrs);
  }
  Output dequeue_many(const std::string& op, Output queue, Output n) {
    return g.add_one(op, {queue, n}, {{"component_types", std::vector<DType>{DType::Int32}}});
  }
  Output size(Output queue) { return g.add_one("QueueSizeV2", {queue}); }
  Output close(Output queue, bool cancel_pending = false) {
    return {g.add("QueueCloseV2", {queue}, {{"cancel_pending_enqueues", cancel_pending}}), Output::control};
  }
  Session shared_session() { return runtime.session(graph, {.share_state = true}); }
  static int32_t scalar(const std::vector<Tensor>& fetched) { return fetched.at(0).as<int32_t>()[0]; }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(queue_steps, Fixture)

BOOST_AUTO_TEST_CASE(the_shapes_of_elements_are_those_of_their_queue) {
  const std::vector<DType> types{DType::Int32, DType::Float};
  const Attributes of_queue{
      {"component_types", types},
      {"shapes", std::vector<PartialShape>{PartialShape::scalar(), PartialShape{unknown_dim, 3}}}};
  const Output queue = g.add_one("PaddingFIFOQueueV2", {}, of_queue),
               prioritized = g.add_one("PriorityQueueV2", {}, of_queue);
  const auto shapes = [&](const std::string& op, std::vector<Output> inputs, std::vector<DType> components) {
    std::string text;
    const NodeId node = g.add(op, std::move(inputs), {{"component_types", std::move(components)}});
    for (const PartialShape& shape : graph.node(node).output_shapes) text += shape.text() + ' ';
    return text;
  };
  const Output n = placeholder(g, DType::Int32, PartialShape::scalar());
  BOOST_TEST(shapes("QueueDequeueV2", {queue}, types) == "[] [?,3] ");
  BOOST_TEST(shapes("QueueDequeueManyV2", {queue, constant(4)}, types) == "[4] [4,?,3] ");
  BOOST_TEST(shapes("QueueDequeueManyV2", {queue, n}, types) == "[?] [?,?,3] ");
  BOOST_TEST(shapes("QueueDequeueUpToV2", {queue, constant(4)}, types) == "[?] [?,?,3] ");
  BOOST_TEST(shapes("QueueDequeueV2", {prioritized}, {DType::Int64, DType::Int32, DType::Float}) ==
             "[] [] [?,3] ");
}

// x -> enqueue;  dequeue;  size
BOOST_AUTO_TEST_CASE(a_queue_is_not_updated_as_a_variable) {
  const Output queue = make_queue("q");
  const Output assign{g.add("AssignVariableOp", {queue, constant(1)}), Output::control};
  Session session = runtime.session(graph);
  const Status status = test::failure_of([&] { session.run({assign}); });
  BOOST_TEST((status.code() == Code::InvalidArgument));
  BOOST_TEST(status.text().find("'q' is not a variable") != std::string::npos, status.text());
}

BOOST_AUTO_TEST_CASE(elements_outlive_the_step_that_brought_them) {
  for (const std::string suffix : {"V2", ""}) {
    const Output queue = make_queue("q" + suffix, -1, suffix);
    const Output x =
        g.add_one("Placeholder", {}, {{"dtype", DType::Int32}, {"shape", PartialShape::scalar()}});
    const Output in{g.add("QueueEnqueue" + suffix, {queue, x}), Output::control};
    const Output out =
        g.add_one("QueueDequeue" + suffix, {queue}, {{"component_types", std::vector<DType>{DType::Int32}}});
    const Output count = g.add_one("QueueSize" + suffix, {queue});
    Session session = runtime.session(graph);
    for (const int32_t value : {5, 6, 7}) session.run({{x, Tensor::scalar(value)}}, {in});
    BOOST_TEST(scalar(session.run({count})) == 3);
    for (const int32_t value : {5, 6, 7}) BOOST_TEST(scalar(session.run({out})) == value);
    BOOST_TEST(scalar(session.run({count})) == 0);
  }
}

BOOST_AUTO_TEST_CASE(batches_go_in_and_come_out_stacked) {
  for (const std::string suffix : {"V2", ""}) {
    const Output queue = make_queue("q" + suffix, -1, suffix);
    const Output in{
        g.add("QueueEnqueueMany" + suffix, {queue, g.constant(Tensor::vector<int32_t>({1, 2, 3, 4, 5}))}),
        Output::control};
    const Output shut{g.add("QueueClose" + suffix, {queue}), Output::control}, n = constant(3);
    const Output many = dequeue_many("QueueDequeueMany" + suffix, queue, n),
                 rest = dequeue_many("QueueDequeueUpTo" + suffix, queue, n);
    Session session = runtime.session(graph);
    session.run({in});
    session.run({shut});
    BOOST_TEST(identical(session.run({many})[0], Tensor::vector<int32_t>({1, 2, 3})));
    BOOST_TEST((test::failure_of([&] { session.run({many}); }).code() == Code::OutOfRange));
    BOOST_TEST(identical(session.run({rest})[0], Tensor::vector<int32_t>({4, 5})));
    const Status end = test::failure_of([&] { session.run({rest}); });
    BOOST_TEST((end.code() == Code::OutOfRange));
    BOOST_TEST(end.op() == "QueueDequeueUpTo" + suffix);
    BOOST_TEST(end.text() == "queue 'q" + suffix + "' is closed and has 0 elements, but 3 were requested");
    BOOST_TEST((test::failure_of([&] { session.run({in}); }).code() == Code::Cancelled));
  }
}

// A running step waits for an element that another running step enqueues.
BOOST_AUTO_TEST_CASE(a_step_waits_for_an_element_and_another_brings_it) {
  const Output queue = make_queue("q", 2);
  const Output in = enqueue_many(queue, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), out = dequeue(queue);
  Session session = runtime.session(graph);
  std::thread producer([&] {
    for (int i = 0; i < 20; ++i) session.run({in});
  });
  for (int i = 0; i < 200; ++i) BOOST_TEST(scalar(session.run({out})) == i % 10 + 1);
  producer.join();
}

BOOST_AUTO_TEST_CASE(a_step_with_several_waits_takes_all_of_them_out_when_it_ends) {
  const Output queue = make_queue("q");
  const Output in = enqueue(queue, constant(4)), out = dequeue(queue), first = dequeue(queue),
               second = dequeue(queue);
  Session session = shared_session(), waiting = shared_session();
  BOOST_TEST((test::failure_of([&] {
                waiting.run({}, {first, second}, {.timeout = 5ms});
              }).code() == Code::DeadlineExceeded));
  waiting.close();  // the step ends a little later than its caller is answered
  session.run({in});
  BOOST_TEST(scalar(session.run({out})) == 4);
}

BOOST_AUTO_TEST_CASE(the_same_name_is_the_same_queue_for_all_who_share) {
  const Attributes shared{{"shared_name", std::string("s")}},
      other{{"shared_name", std::string("s")}, {"container", std::string("c")}};
  const Output a = make_queue("a", 3, "V2", shared), b = make_queue("b", 3, "V2", shared),
               c = make_queue("c", 3, "V2", other);
  const Output in = enqueue(a, constant(1)), size_b = size(b), size_c = size(c);
  Session one = shared_session(), two = shared_session();
  one.run({in});
  BOOST_TEST(scalar(two.run({size_b})) == 1);
  BOOST_TEST(scalar(two.run({size_c})) == 0);
}

BOOST_AUTO_TEST_CASE(a_queue_opened_with_another_shape_type_or_capacity_is_refused) {
  const Attributes shared{{"shared_name", std::string("s")}};
  const auto with = [&](const char* attr, AttrValue value) {
    Attributes attrs = shared;
    attrs.set(attr, std::move(value));
    return attrs;
  };
  Session session = runtime.session(graph);
  session.run({size(make_queue("a", 3, "V2", shared))});
  const Output others[] = {
      make_queue("b", 4, "V2", shared),
      make_queue("c", 3, "V2", with("component_types", std::vector<DType>{DType::Float})),
      make_queue("d", 3, "V2", with("shapes", std::vector<PartialShape>{PartialShape{2}})),
      make_queue("e", 3, "V2", with("shapes", std::vector<PartialShape>{}))};
  for (const Output other : others)
    BOOST_TEST((test::failure_of([&] { session.run({size(other)}); }).code() == Code::InvalidArgument));
  const Status status = test::failure_of([&] { session.run({size(others[0])}); });
  BOOST_TEST(status.text() ==
             "queue 's' was made with (int32[]), capacity 3; this node has (int32[]), capacity 4");
  BOOST_TEST(status.node() == "b");
}

BOOST_AUTO_TEST_CASE(what_a_queue_cannot_be_or_do_is_refused) {
  const Output partial = make_queue("p", 3, "V2", {{"shapes", std::vector<PartialShape>{PartialShape{-1}}}});
  const Output few =
      make_queue("f", 3, "V2", {{"shapes", std::vector<PartialShape>{PartialShape{}, PartialShape{}}}});
  const Output queue = make_queue("q");
  const Output floats =
      g.add_one("QueueDequeueV2", {queue}, {{"component_types", std::vector<DType>{DType::Float}}});
  const Output wrong = enqueue(queue, g.constant(Tensor::scalar(1.0f)));
  const Output negative = dequeue_many("QueueDequeueManyV2", queue, constant(-1));
  const Output n = g.add_one("Placeholder", {}, {{"dtype", DType::Int32}, {"shape", PartialShape{}}});
  const Output some = dequeue_many("QueueDequeueManyV2", queue, n);
  Session session = runtime.session(graph);
  for (const Output output : {size(partial), size(few), floats, wrong, negative}) {
    const Status status = test::failure_of([&] { session.run({output}); });
    BOOST_TEST((status.code() == Code::InvalidArgument), status.message());
    BOOST_TEST(!status.node().empty());
  }
  const Tensor vector = Tensor::vector<int32_t>({1});
  BOOST_TEST((test::failure_of([&] { session.run({{n, vector}}, {some}); }).code() == Code::InvalidArgument));
}

BOOST_AUTO_TEST_CASE(a_shuffling_queue_is_shared_by_nodes_that_give_its_seeds_or_none) {
  const auto size_of = [&](const std::string& name, int64_t seed) {
    return size(g.with_name(name).add_one(
        "RandomShuffleQueueV2", {},
        {{"component_types", std::vector<DType>{DType::Int32}}, {"shared_name", "s"}, {"seed", seed}}));
  };
  const Output given = size_of("given", 3), none = size_of("none", 0), other = size_of("other", 4);
  Session session = runtime.session(graph);
  session.run({given});
  session.run({none});
  const Status status = test::failure_of([&] { session.run({other}); });
  BOOST_TEST(status.text().find("shuffled with seeds 3 and 0") != std::string::npos, status.text());
}

// Queues of the other kinds; what their elements do is tested in queue_test.cpp and by the golden graphs.
BOOST_AUTO_TEST_CASE(queues_of_all_kinds_keep_elements_between_steps) {
  struct {
    const char* op;
    std::vector<DType> types;
    size_t components;
  } const kinds[] = {{"PaddingFIFOQueue", {DType::Int32}, 1},   {"PaddingFIFOQueueV2", {DType::Int32}, 1},
                     {"RandomShuffleQueue", {DType::Int32}, 1}, {"RandomShuffleQueueV2", {DType::Int32}, 1},
                     {"PriorityQueue", {DType::Int32}, 2},      {"PriorityQueueV2", {DType::Int32}, 2}};
  for (const auto& [op, types, components] : kinds) {
    const std::string suffix = std::string(op).ends_with("V2") ? "V2" : "";
    const Output queue = g.with_name(op).add_one(
        op, {}, {{"component_types", types}, {"shapes", std::vector<PartialShape>{PartialShape::scalar()}}});
    std::vector<Output> inputs = {queue, constant(7)};
    std::vector<DType> yields = {DType::Int32};
    if (components == 2) {
      inputs.insert(inputs.begin() + 1, g.constant(Tensor::scalar<int64_t>(1)));
      yields.insert(yields.begin(), DType::Int64);
    }
    const Output in{g.add("QueueEnqueue" + suffix, inputs), Output::control};
    const NodeId taken = g.add("QueueDequeue" + suffix, {queue}, {{"component_types", yields}});
    const Output closed = g.add_one("QueueIsClosed" + suffix, {queue});
    const Output shut{g.add("QueueClose" + suffix, {queue}), Output::control};
    Session session = runtime.session(graph);
    session.run({in});
    BOOST_TEST(!session.run({closed}).at(0).as<bool>()[0]);
    BOOST_TEST(scalar(session.run({Output{taken, static_cast<uint32_t>(components - 1)}})) == 7);
    session.run({shut});
    BOOST_TEST(session.run({closed}).at(0).as<bool>()[0], "QueueIsClosed and QueueIsClosedV2");
  }
}

BOOST_AUTO_TEST_CASE(an_op_waits_no_longer_than_its_timeout) {
  const Output queue = make_queue("q", 1);
  const Output out = dequeue(queue, {{"timeout_ms", int64_t{1}}}),
               patient = dequeue(queue, {{"timeout_ms", INT64_MAX}});
  const Output in = enqueue(queue, constant(1)),
               hasty = enqueue(queue, constant(2), {{"timeout_ms", int64_t{0}}});
  Session session = runtime.session(graph);
  BOOST_TEST((test::failure_of([&] { session.run({out}); }).code() == Code::DeadlineExceeded));
  session.run({in});
  BOOST_TEST((test::failure_of([&] { session.run({hasty}); }).code() == Code::DeadlineExceeded));
  BOOST_TEST(scalar(session.run({patient})) == 1);
}

BOOST_AUTO_TEST_CASE(closing_the_session_ends_steps_that_wait) {
  const Output queue = make_queue("q");
  const Output out = dequeue(queue), in = enqueue(queue, constant(3));
  Session session = shared_session(), other = shared_session();
  other.run({size(queue)});
  std::atomic<int> ended{0};
  std::vector<std::thread> waiting;
  for (int i = 0; i < 3; ++i)
    waiting.emplace_back([&] {
      const Code code = test::failure_of([&] { session.run({out}); }).code();
      // An enqueue after the close fails because the queue is closed.
      ended += code == Code::Cancelled || code == Code::Unavailable || code == Code::FailedPrecondition;
    });
  session.close();
  for (auto& thread : waiting) thread.join();
  BOOST_TEST(ended == 3);
  other.run({in});
  BOOST_TEST(scalar(other.run({out})) == 3);
}

// What QueueBase.from_list builds: a Pack of the handles, and a Gather of one of them.
BOOST_AUTO_TEST_CASE(handles_are_no_elements_of_tensors) {
  const Output a = make_queue("a"), b = make_queue("b");
  const Output both = g.with_name("both").add_one("Pack", {a, b}),
               one = g.add_one("Gather", {both, constant(0)});
  const Output old = make_queue("old", -1, ""), copies = g.with_name("copies").add_one("Pack", {old, old});
  Session session = shared_session();
  const Status packed = test::failure_of([&] { session.run({size(one)}); });
  BOOST_TEST((packed.code() == Code::Unimplemented));
  BOOST_TEST(packed.message().find("[Pack] both: handles of queues") != std::string::npos, packed.message());
  const Status copied = test::failure_of([&] { session.run({copies}); });
  BOOST_TEST((copied.code() == Code::Unimplemented));
  BOOST_TEST(copied.message().find("'old' is no variable") != std::string::npos, copied.message());
  BOOST_TEST(scalar(session.run({size(a)})) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::queue_steps_test
