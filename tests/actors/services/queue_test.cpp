// The queue role, tested by messages: what answers each request, when, and that no element is lost (features.md E1-E8, E10).
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <map>
#include <numeric>
#include <set>
#include <thread>

#include "actors/engine/control_thread.h"
#include "tests/actors/services/queue_bench.h"

namespace troupe::queue_test {
namespace {

using namespace test;
using Bench = QueueBench;

struct Case {
  const char* what;
  int64_t capacity;
  const char* script;
  const char* answers;  ///< the answers at the end; x and t have none
};

const Case cases[] = {
    {"elements leave in the order they came", -1, "e1 e2 e3 d d d", "ok ok ok 1 2 3"},
    {"a full queue makes enqueues wait", 2, "e1 e2 e3 s", "ok ok - 2"},
    {"room lets the first of them in", 2, "e1 e2 e3 e4 d s", "ok ok ok - 1 2"},
    {"an empty queue makes dequeues wait, in order", -1, "d d e1", "1 - ok"},
    {"a batch goes in as room appears", 2, "E1,2,3,4 d s d s", "ok 1 2 2 2"},
    {"and is not in before its last element", 2, "E1,2,3,4 d s", "- 1 2"},
    {"more than the capacity passes through to a dequeue that waits", 1, "D3 E1,2,3 s", "[1,2,3] ok 0"},
    {"an empty batch is in at once, even when closed", 1, "e1 E c d E", "ok ok ok 1 ok"},
    {"nothing fits a queue of capacity 0", 0, "d e1", "- -"},
    {"elements are stacked, however they came", -1, "E1,2 e3 E4,5,6 D5 d", "ok ok ok [1,2,3,4,5] 6"},
    {"no elements are there at once, even when closed", -1, "D0 c D0 U0", "[] ok [] []"},
    {"a dequeue of many takes elements as they come", 2, "e1 e2 D4 s e3 s e4", "ok ok [1,2,3,4] 0 ok 0 ok"},
    {"only the first dequeue makes progress", -1, "D3 d e1 e2", "- - ok ok"},
    {"only the first enqueue makes progress", 1, "e0 E1,2 e3 d", "ok - - 0"},
    {"a close waits behind the enqueues before it", 1, "e1 e2 c s", "ok - - 1"},
    {"which finish first", 1, "e1 e2 c d d d", "ok ok ok 1 2 OutOfRange"},
    {"after a close enqueues are cancelled and dequeues drain", -1, "e1 c e2 E3,4 d d",
     "ok ok Cancelled Cancelled 1 OutOfRange"},
    {"a close ends dequeues that wait", -1, "d D2 U2 c", "OutOfRange OutOfRange OutOfRange ok"},
    {"a cancelling close does not wait", 1, "e1 e2 E3,4 C s d d", "ok Cancelled Cancelled ok 1 1 OutOfRange"},
    {"and cancels closes that do", 1, "e1 e2 c C", "ok Cancelled Cancelled ok"},
    {"what is in of a batch that it cancels stays", 2, "E1,2,3 C s d", "Cancelled ok 2 1"},
    {"a queue is closed once; cancelling may be repeated", -1, "c c C c", "ok Cancelled ok Cancelled"},
    {"too few elements in a closed queue stay", -1, "E1,2 c D3 s d d", "ok ok OutOfRange 2 1 2"},
    {"what a dequeue had taken before the close goes back", -1, "E1,2 D3 s c s d d d",
     "ok OutOfRange 0 ok 2 1 2 OutOfRange"},
    {"and the next in line gets it", -1, "E1,2 D3 d c s", "ok OutOfRange 1 ok 1"},
    {"up to: all of them while there are enough", -1, "U3 E1,2,3,4 U1", "[1,2,3] ok [4]"},
    {"up to: waits while the queue is open", -1, "E1,2 U3", "ok -"},
    {"up to: the remainder when it is closed", -1, "E1,2 c U3 U3", "ok ok [1,2] OutOfRange"},
    {"up to: the remainder when it closes meanwhile", -1, "E1,2 U3 c", "ok [1,2] ok"},
    {"a cancelled step leaves the line", -1, "d d x1 e5", "Cancelled 5 ok"},
    {"a cancelled enqueue makes way", 1, "e1 E2,3 e4 x2 d d", "ok Cancelled ok 1 4"},
    {"what is in of a cancelled batch stays", 2, "E1,2,3,4 x1 s d d", "Cancelled 2 1 2"},
    {"what a cancelled dequeue had taken goes back", -1, "E1,2 D3 x2 s d", "ok Cancelled 2 1"},
    {"beyond the capacity too, and no more goes in until there is room", 2, "E1,2 D4 e3 x2 s e4 d s d s",
     "ok Cancelled ok 3 ok 1 2 2 2"},
    {"a cancelled close closes nothing", 1, "e1 e2 c x3 d d e3", "ok ok Cancelled 1 2 ok"},
    {"cancelling a step that waits for nothing does nothing", -1, "e1 x1 x7 d", "ok 1"},
    {"a timeout does not hurry", -1, "d@5 t4 e1 t9", "1 ok"},
    {"but ends the wait", -1, "d@5 t5 e1 s", "DeadlineExceeded ok 1"},
    {"a timeout of 0 waits for nobody", -1, "d@0 t0 e1 d@0 t0", "DeadlineExceeded ok 1"},
    {"an enqueue whose time is over makes way", 1, "e1 e2@5 e3 t5 d d", "ok DeadlineExceeded ok 1 3"},
    {"a dequeue whose time is over gives back", -1, "E1,2 D3@5 t5 s d", "ok DeadlineExceeded 2 1"},
};

const Case priority_cases[] = {
    {"the smallest priority leaves first", -1, "e3 e1 e2 d d d", "ok ok ok 1 2 3"},
    {"among equal ones the oldest", -1, "E5,1,9,2 e13 D5", "ok ok [5,1,9,13,2]"},
    {"what goes back is older than what stayed", -1, "E2,6 D3 x2 e10 d d d", "ok Cancelled ok 2 6 10"},
    {"a dequeue of many takes them in order, though there is room for one only", 1, "D2 e3 e1",
     "[1,3] ok ok"},
    {"and the smallest of all", -1, "e3 D2 E2,1 s d", "ok [1,2] ok 1 3"},
    {"and a batch goes in as room appears", 1, "E3,1 d d", "ok 3 1"},
};

/// Runs a script against a queue and returns the answers.
std::string play(const std::string& script, const QueueSpec& spec, uint64_t seed) {
  Bench bench(spec, seed);
  std::istringstream in(script);
  uint64_t step = 0;
  for (std::string text; in >> text;) {
    const Word word(text);
    ++step;
    if (auto message = request(word, step, spec.kind))
      bench.ask(std::move(*message));
    else if (word.kind == 'x')
      bench.tell(cancel(static_cast<uint64_t>(word.numbers[0])));
    else
      bench.simulation.pass(word.numbers[0]);
  }
  std::string result;
  for (const auto& answer : bench.answers) result += (result.empty() ? "" : " ") + text(*answer);
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(queue)

BOOST_AUTO_TEST_CASE(requests_are_answered_as_the_semantics_say) {
  for (const Case& c : cases)
    for (const uint64_t seed : {0, 1})
      BOOST_TEST(play(c.script, spec_of(QueueKind::Fifo, c.capacity), seed) == c.answers,
                 c.what << ": " << c.script);
  for (const Case& c : priority_cases)
    BOOST_TEST(play(c.script, spec_of(QueueKind::Priority, c.capacity), 0) == c.answers,
               c.what << ": " << c.script);
}

// Threads enqueue 0, 1, 2, ..., each in its own range of thousands; others dequeue; one cancels whatever it can. A cancelled
// attempt is repeated. No element is lost or doubled, and the elements of one producer come out in order.
BOOST_AUTO_TEST_CASE(nothing_is_lost_between_many_threads) {
  constexpr int32_t producers = 3, consumers = 3, elements = 400;
  const auto pool = value_or_throw(ThreadPool::make(2));
  ControlThread loop(*pool);
  SimulatedDisk disk(0);
  ActorNode node(Env{loop, disk}, loop, *pool, std::make_shared<OpLibrary>());
  const auto device = std::make_shared<CpuDevice>(DeviceName{"localhost", 0, 0, "CPU", 0}, 1, *pool);
  const ActorRef queue = node.engine.spawn(make_queue(node, {"q", {DType::Int32}, {Shape{}}, 5}, device));
  std::atomic<uint64_t> last_step{0};
  std::atomic<bool> done{false};
  const auto call = [&](AnyMessage message) {
    return node.engine.call(queue, std::move(message),
                            loop.now() + std::chrono::nanoseconds(std::chrono::minutes(5)).count());
  };

  const auto produce = [&](int32_t first) {
    for (int32_t i = first; i < first + elements; ++i)
      while (call(enqueue(++last_step, {Tensor::scalar(i)})).status().code() == Code::Cancelled) {
      }
  };
  std::vector<std::vector<int32_t>> taken(consumers);
  const auto consume = [&](size_t who) {
    for (uint64_t turn = 0;; ++turn) {
      const auto answer =
          call(turn % 2 == 0 ? dequeue(++last_step) : dequeue_many(++last_step, 2 + turn % 3, true));
      if (answer.status().code() == Code::OutOfRange) return;
      if (!answer) continue;
      for (const int32_t value : answer->attachments()[0].as<int32_t>()) taken[who].push_back(value);
    }
  };
  std::vector<std::thread> putting, taking;
  for (int32_t p = 0; p < producers; ++p) putting.emplace_back(produce, p * 1000);
  for (size_t c = 0; c < consumers; ++c) taking.emplace_back(consume, c);
  std::thread canceller([&] {
    for (uint64_t i = 0; !done; ++i) {
      node.engine.send(queue, cancel(last_step.load() - i % 8));
      if (i % 8 == 7) (void)call(get_size());  // waits, so that cancellations do not pile up in the mailbox
    }
  });
  for (auto& thread : putting) thread.join();
  BOOST_TEST(call(close(0, false)).ok());
  for (auto& thread : taking) thread.join();
  done = true;
  canceller.join();

  std::multiset<int32_t> all;
  for (const auto& values : taken) {
    std::map<int32_t, int32_t> last;
    for (const int32_t value : values) {
      all.insert(value);
      BOOST_TEST((last.contains(value / 1000) ? last[value / 1000] < value : true));
      last[value / 1000] = value;
    }
  }
  BOOST_TEST(all.size() == size_t{producers} * elements);
  BOOST_TEST(std::set<int32_t>(all.begin(), all.end()).size() == all.size());
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused_and_names_both) {
  Bench bench(QueueSpec{"pairs", {DType::Int32, DType::Float}, {Shape{}, Shape{2}}, 4});
  const Tensor number = Tensor::scalar<int32_t>(1), pair = Tensor::vector<float>({1, 2});
  const Tensor numbers = ints({1, 2}), pairs = Tensor::of<float>(Shape{2, 2}, {1, 2, 3, 4});
  struct {
    AnyMessage message;
    const char* text;
    Code code = Code::InvalidArgument;
  } const refused[] = {
      {enqueue(1, {number}), "queue 'pairs' takes (int32[], float[2]), capacity 4, but got 1 components"},
      {enqueue(1, {number, number}),
       "component 1 is int32[], queue 'pairs' takes (int32[], float[2]), capacity 4"},
      {enqueue(1, {number, pairs}), "component 1 is float[2,2]"},
      {enqueue_many(1, {numbers, pair}),
       "component 1 is float[2], queue 'pairs' takes batches of (int32[], float[2])"},
      {enqueue_many(1, {number, pairs}), "component 0 is int32[]"},
      {enqueue_many(1, {ints({1, 2, 3}), pairs}),
       "component 0 has 3 elements for queue 'pairs', component 1 has 2"},
      {dequeue_many(1, uint64_t{1} << 62), "", Code::ResourceExhausted},
      {dequeue_many(1, UINT64_MAX), "", Code::ResourceExhausted},
  };
  for (const auto& [message, text, code] : refused) {
    const Status status = bench.status(message);
    BOOST_TEST((status.code() == code), status.text());
    BOOST_TEST(status.text().find(text) != std::string::npos, status.text());
  }
  BOOST_TEST(bench.status(enqueue(1, {number, pair})).ok());
  BOOST_TEST(bench.status(enqueue_many(1, {numbers, pairs})).ok());
  const auto& answer = *bench.answers[bench.ask(dequeue_many(1, 3))];
  BOOST_REQUIRE(answer->ok());
  BOOST_TEST(identical((*answer)->attachments()[1], Tensor::of<float>(Shape{3, 2}, {1, 2, 1, 2, 3, 4})));
}

BOOST_AUTO_TEST_CASE(without_shapes_elements_may_differ_and_are_not_stacked) {
  Bench bench(QueueSpec{"q", {DType::Int32}, {}, -1});
  BOOST_TEST(bench.status(enqueue(1, {ints({1, 2, 3})})).ok());
  BOOST_TEST(bench.status(enqueue(1, {Tensor::scalar<int32_t>(4)})).ok());
  BOOST_TEST((bench.status(dequeue_many(1, 1)).code() == Code::InvalidArgument));
  BOOST_TEST(text(*bench.answers[bench.ask(dequeue(1))]) == "[1,2,3]");
  BOOST_TEST(text(*bench.answers[bench.ask(dequeue(1))]) == "4");
}

BOOST_AUTO_TEST_CASE(strings_and_large_elements_are_stacked_too) {
  Bench strings(QueueSpec{"q", {DType::String}, {Shape{2}}, -1});
  strings.ask(enqueue(1, {Tensor::vector<std::string>({"a", "b"})}));
  strings.ask(enqueue(1, {Tensor::vector<std::string>({"c", std::string(100, 'd')})}));
  const auto& answer = *strings.answers[strings.ask(dequeue_many(1, 2))];
  BOOST_REQUIRE(answer->ok());
  BOOST_TEST(identical((*answer)->attachments()[0],
                       Tensor::of<std::string>(Shape{2, 2}, {"a", "b", "c", std::string(100, 'd')})));

  constexpr int64_t size = 40000;
  Bench large(QueueSpec{"q", {DType::Int32}, {Shape{size}}, -1});
  for (const int32_t value : {5, 6}) large.ask(enqueue(1, {ints(std::vector<int32_t>(size, value))}));
  const auto& stack = *large.answers[large.ask(dequeue_many(1, 2))];
  BOOST_REQUIRE(stack->ok());
  const auto values = (*stack)->attachments()[0].as<int32_t>();
  BOOST_TEST(std::count(values.begin(), values.begin() + size, 5) == size);
  BOOST_TEST(std::count(values.begin() + size, values.end(), 6) == size);
}

BOOST_AUTO_TEST_CASE(a_shuffling_queue_leaves_a_minimum_while_it_is_open) {
  QueueSpec spec = spec_of(QueueKind::RandomShuffle, 10);
  spec.min_after_dequeue = 2;
  Bench bench(spec);
  bench.ask(enqueue_many(1, {ints({1, 2, 3})}));
  const size_t two = bench.ask(dequeue_many(2, 2));
  BOOST_TEST(text(*bench.answers[two]) == "-");
  bench.ask(enqueue(3, {Tensor::scalar<int32_t>(4)}));
  BOOST_TEST(text(*bench.answers[two]) != "-");
  BOOST_TEST(text(*bench.answers[bench.ask(dequeue(4))]) == "-");
  bench.ask(close(5, false));
  BOOST_TEST(text(*bench.answers[bench.ask(get_size())]) == "1");
  BOOST_TEST(text(*bench.answers[bench.ask(dequeue_many(6, 1))]) != "OutOfRange");
  BOOST_TEST(text(*bench.answers[bench.ask(dequeue(7))]) == "OutOfRange");
}

// Without seeds, 600 elements leave in another order than they came, another for each name of a queue, and each leaves once.
BOOST_AUTO_TEST_CASE(a_queue_without_seeds_shuffles_by_its_name) {
  std::vector<std::vector<int32_t>> orders;
  std::vector<int32_t> all(600);
  std::iota(all.begin(), all.end(), 0);
  for (const std::string name : {"a", "b"}) {
    QueueSpec spec = spec_of(QueueKind::RandomShuffle, -1);
    spec.name = name;
    spec.seed = spec.seed2 = 0;
    Bench bench(spec);
    bench.ask(enqueue_many(1, {ints(all)}));
    const auto& answer = *bench.answers[bench.ask(dequeue_many(2, all.size()))];
    BOOST_REQUIRE(answer->ok());
    const auto values = (*answer)->attachments()[0].as<int32_t>();
    orders.emplace_back(values.begin(), values.end());
    std::vector<int32_t> sorted = orders.back();
    std::ranges::sort(sorted);
    BOOST_TEST((sorted == all));
    BOOST_TEST((orders.back() != all));
  }
  BOOST_TEST((orders[0] != orders[1]));
}

// A batch of 40 elements of 4 KiB is separated outside the handler. What came after it waits, and so does a close.
BOOST_AUTO_TEST_CASE(a_large_batch_is_shuffled_without_being_kept) {
  constexpr int64_t size = 1024;
  QueueSpec spec = spec_of(QueueKind::RandomShuffle, -1);
  spec.shapes = {PartialShape{size}};
  Bench bench(spec);
  std::vector<int32_t> values;
  for (int32_t i = 0; i < 40 * size; ++i) values.push_back(i / static_cast<int32_t>(size));
  bench.ask(enqueue_many(1, {ints(values).reshaped(Shape{40, size})}));
  const size_t closed = bench.ask(close(2, false));
  BOOST_TEST(text(*bench.answers[closed]) == "ok");
  std::set<int32_t> seen;
  for (uint64_t i = 0; i < 40; ++i) {
    const auto& answer = *bench.answers[bench.ask(dequeue(3 + i))];
    BOOST_REQUIRE(answer->ok());
    const Tensor& element = (*answer)->attachments()[0];
    BOOST_TEST((element.shape() == Shape{size}));
    BOOST_TEST(element.as<int32_t>().front() == element.as<int32_t>().back());
    seen.insert(element.as<int32_t>().front());
  }
  BOOST_TEST(seen.size() == 40u);
}

BOOST_AUTO_TEST_CASE(elements_of_different_sizes_are_padded) {
  Bench bench(QueueSpec{"q",
                        {DType::Int32, DType::String},
                        {PartialShape{unknown_dim, 2}, PartialShape{unknown_dim}},
                        -1,
                        QueueKind::PaddingFifo});
  const auto strings = [](std::vector<std::string> values) {
    return Tensor::vector<std::string>(std::span<const std::string>(values));
  };
  bench.ask(enqueue(1, {Tensor::of<int32_t>(Shape{1, 2}, {1, 2}), strings({"a", "b", "c"})}));
  bench.ask(enqueue_many(2, {Tensor::of<int32_t>(Shape{2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}),
                             strings({"d", "e"}).reshaped(Shape{2, 1})}));
  BOOST_TEST((bench.status(enqueue(3, {ints({1, 2}), strings({})})).code() == Code::InvalidArgument));
  const auto& none = *bench.answers[bench.ask(dequeue_many(4, 0))];
  BOOST_REQUIRE(none->ok());
  BOOST_TEST(((*none)->attachments()[0].shape() == Shape{0, 0, 2}));
  const auto& answer = *bench.answers[bench.ask(dequeue_many(4, 3))];
  BOOST_REQUIRE(answer->ok());
  BOOST_TEST(identical((*answer)->attachments()[0],
                       Tensor::of<int32_t>(Shape{3, 2, 2}, {1, 2, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8})));
  BOOST_TEST(identical((*answer)->attachments()[1],
                       strings({"a", "b", "c", "d", "", "", "e", "", ""}).reshaped(Shape{3, 3})));
}

BOOST_AUTO_TEST_CASE(an_element_goes_through_without_a_copy) {
  Bench bench(QueueSpec{"q", {DType::Float}, {Shape{2}}, -1});
  const Tensor element = Tensor::vector<float>({1, 2}),
               batch = Tensor::of<float>(Shape{3, 2}, {1, 2, 3, 4, 5, 6});
  bench.ask(enqueue(1, {element}));
  bench.ask(enqueue_many(1, {batch}));
  BOOST_TEST((*bench.answers[bench.ask(dequeue(1))])->value().attachments()[0].data() == element.data());
  const auto& two = *bench.answers[bench.ask(dequeue_many(1, 2))];
  BOOST_TEST((*two)->attachments()[0].data() == batch.data());
  BOOST_TEST(identical((*two)->attachments()[0], batch.rows(0, 2)));
}

BOOST_AUTO_TEST_CASE(the_end_of_the_queue_answers_who_waits_and_leaves_no_timer) {
  Bench bench(1);
  const size_t forever = bench.ask(dequeue_many(1, 2)), a_while = bench.ask(dequeue(2, 1000));
  BOOST_TEST(bench.simulation.timers() == 1u);
  bench.node.actors.engine.stop(bench.queue);
  bench.simulation.run_ready();
  BOOST_TEST(text(*bench.answers[forever]) == "Unavailable");
  BOOST_TEST(text(*bench.answers[a_while]) == "Unavailable");
  BOOST_TEST(bench.simulation.timers() == 0u);
}

BOOST_AUTO_TEST_CASE(an_answered_attempt_leaves_no_timer) {
  Bench bench(-1);
  bench.ask(dequeue(1, 1000));
  bench.ask(dequeue(2, 1000));
  bench.ask(enqueue(3, {Tensor::scalar<int32_t>(1)}, 1000));
  bench.tell(cancel(2));
  BOOST_TEST(bench.simulation.timers() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::queue_test
