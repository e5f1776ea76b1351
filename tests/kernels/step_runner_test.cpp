// Tests of what users of the step runner rely on: the order of nodes, deadness, iterations, requests and their replies,
// cancellation, failures, and work that a device ends later.
#include "kernels/runtime/step_runner.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <future>

#include "tests/kernels/step_fixture.h"
#include "tests/support/delayed_device.h"

namespace troupe::step_runner_test {

using namespace test;

BOOST_FIXTURE_TEST_SUITE(step_runner, StepFixture)

// x -> a -> b; x -> c ..after b; d(a) ..after c
BOOST_AUTO_TEST_CASE(nodes_run_after_their_inputs_and_control_inputs) {
  record();
  const Output x = input("x"), a = probe("a", x), b = probe("b", a);
  const Output c = g.with_control({b}).with_name("c").add_one("Probe", {x});
  const Output d = g.with_control({c}).with_name("d").add_one("Probe", {a});
  ScriptedHost host(prepare({x}, {b, d}));
  host.start({Tensor::scalar(1.0f)});
  BOOST_REQUIRE(host.outcome.size() == 1);
  BOOST_TEST(host.outcome[0].ok());
  BOOST_TEST(ran == (std::vector<std::string>{"a", "b", "c", "d"}), boost::test_tools::per_element());
  BOOST_TEST(host.fetched(0) == 3);
  BOOST_TEST(host.fetched(1) == 3);
}

// x -> probe, x -> ask: the request is pending while this thread computes.
BOOST_AUTO_TEST_CASE(requests_start_before_what_is_computed_here) {
  ScriptedHost* host = nullptr;
  size_t requests_before = 0;
  hook = [&](KernelContext&) {
    requests_before = host->requests.size();
    return Status{};
  };
  const Output x = input("x"), a = probe("probe", x), b = ask("ask", x), c = probe("after", b);
  ScriptedHost scripted(prepare({x}, {a, c}));
  host = &scripted;
  host->start({Tensor::scalar(1.0f)});
  BOOST_TEST(requests_before == 1);
  BOOST_TEST(host->requests.at(0).inputs.at(0).tensor.as<float>()[0] == 1);
  host->reply_to("ask", 5);
  BOOST_REQUIRE(host->outcome.size() == 1);
  BOOST_TEST(host->fetched(1) == 6);
}

// x -> ask, x -> probe: what the host gathers must wait neither for a kernel nor for the next call of drive().
BOOST_AUTO_TEST_CASE(gathered_messages_are_sent_before_a_kernel_and_before_the_step_parks) {
  ScriptedHost* host = nullptr;
  hook = [&](KernelContext&) {
    BOOST_TEST(host->requests.size() == 1);
    BOOST_TEST((host->flushes == std::vector{FlushReason::Kernel}));
    return Status{};
  };
  const Output x = input("x"), a = probe("probe", x), b = ask("ask", x);
  ScriptedHost scripted(prepare({x}, {a, b}));
  host = &scripted;
  host->start({Tensor::scalar(1.0f)});
  BOOST_TEST((host->flushes == std::vector{FlushReason::Kernel, FlushReason::Parking}));
  host->reply_to("ask", 5);
  BOOST_TEST(host->outcome.at(0).ok());
}

// p ? probe "yes" : probe "no", merged; Send and Ask on the dead side.
BOOST_AUTO_TEST_CASE(dead_nodes_do_not_run_but_a_dead_send_is_sent) {
  record();
  const Output x = input("x"), p = g.with_name("p").add_one("Placeholder", {}, {{"dtype", DType::Bool}});
  const NodeId branch = g.add("Switch", {x, p});
  const Output no = probe("no", {branch, 0}), yes = probe("yes", {branch, 1});
  const Output merged = g.add_one("Merge", {no, yes});
  const Output asked = ask("ask", no);
  const NodeId send = g.with_name("send").add("_Send", {no},
                                              {{"tensor_name", std::string("edge")},
                                               {"send_device", std::string()},
                                               {"send_device_incarnation", int64_t{0}},
                                               {"recv_device", std::string()}});
  const auto plan = prepare({x, p}, {merged}, {asked.node, send});
  ScriptedHost host(plan);
  host.start({Tensor::scalar(1.0f), Tensor::scalar(true)});
  BOOST_REQUIRE(host.requests.size() == 1);
  BOOST_TEST(host.requests[0].node == "send");
  BOOST_TEST(host.requests[0].dead);
  host.reply_to("send", StepReply{});
  BOOST_REQUIRE(host.outcome.size() == 1);
  BOOST_TEST(host.outcome[0].ok());
  BOOST_TEST(ran == std::vector<std::string>{"yes"}, boost::test_tools::per_element());
  BOOST_TEST(host.fetched() == 2);
}

BOOST_AUTO_TEST_CASE(a_dead_fetch_is_an_error_that_names_it) {
  const Output x = input("x"), p = g.with_name("p").add_one("Placeholder", {}, {{"dtype", DType::Bool}});
  const Output no = probe("no", {g.add("Switch", {x, p}), 0});
  ScriptedHost host(prepare({x, p}, {no}));
  host.start({Tensor::scalar(1.0f), Tensor::scalar(true)});
  check_failure(host.outcome, Code::InvalidArgument, "no:0 was not valid (dead)");
}

// The reply of a Recv says that the token is dead.
BOOST_AUTO_TEST_CASE(a_dead_reply_makes_its_consumers_dead) {
  record();
  const Output x = input("x"), y = probe("y", ask("ask", x));
  const Output merged = g.add_one("Merge", {y, probe("other", x)});
  ScriptedHost host(prepare({x}, {merged}, {y.node}));
  host.start({Tensor::scalar(1.0f)});
  host.reply_to("ask", {{}, {}, true});
  BOOST_REQUIRE(host.outcome.size() == 1);
  BOOST_TEST(host.outcome[0].ok());
  BOOST_TEST(ran == std::vector<std::string>{"other"}, boost::test_tools::per_element());
  BOOST_TEST(host.fetched() == 2);
}

// An Ask in a loop of three iterations, with replies in reverse order: each reply reaches its iteration.
BOOST_AUTO_TEST_CASE(replies_reach_their_iterations) {
  std::vector<uint64_t> keys;
  hook = [&](KernelContext& context) {
    keys.push_back(context.frame_key());
    return Status{};
  };
  const auto loop = while_loop(
      g, {g.constant(Tensor::scalar<int32_t>(0)), g.constant(Tensor::scalar(0.0f))},
      [&](const Scope& s, auto v) {
        return s.add_one("Less", {v[0], s.constant(Tensor::scalar<int32_t>(3))});
      },
      [&](const Scope& s, auto v) {
        const Output x = s.add_one("Cast", {v[0]}, {{"DstT", f32}});
        const Output asked = s.with_name("ask").add_one("Ask", {s.with_name("probe").add_one("Probe", {x})});
        return std::vector{s.add_one("Add", {v[0], s.constant(Tensor::scalar<int32_t>(1))}),
                           s.add_one("Add", {v[1], asked})};
      });
  const Output outside = probe("outside", number(0));
  const auto plan = prepare({}, {loop[1], outside});
  std::vector<uint64_t> first;
  for (int step = 0; step < 2; ++step) {
    keys.clear();
    ScriptedHost host(plan);
    host.start();
    BOOST_REQUIRE(host.requests.size() == 3);
    std::sort(host.requests.begin(), host.requests.end(),
              [](const auto& a, const auto& b) { return a.where.iteration > b.where.iteration; });
    for (uint64_t iteration = 3; iteration-- != 0;) {
      BOOST_TEST(host.requests[0].where.iteration == iteration);
      BOOST_TEST(host.requests[0].where.frame == host.requests.back().where.frame);
      BOOST_TEST(host.requests[0].inputs[0].tensor.as<float>()[0] == static_cast<float>(iteration + 1));
      host.reply_to(host.requests[0].node, static_cast<float>(iteration * iteration));
    }
    BOOST_REQUIRE(host.outcome.size() == 1);
    BOOST_TEST(host.fetched() == 0 + 1 + 4);
    std::sort(keys.begin(), keys.end());
    BOOST_TEST(keys.size() == 4);
    BOOST_TEST(keys[0] == 0);  // outside the loop
    BOOST_TEST((std::adjacent_find(keys.begin(), keys.end()) == keys.end()));
    if (step == 0) first = keys;
    BOOST_TEST(keys == first, boost::test_tools::per_element());
  }
}

// a, b, c are requested at once; the replies come in the order b, c, a.
BOOST_AUTO_TEST_CASE(requests_may_be_answered_in_any_order) {
  const Output x = input("x"), a = ask("a", x), b = ask("b", x), c = ask("c", x);
  const Output sum =
      g.add_one("AddN", {a, g.add_one("Mul", {b, number(10)}), g.add_one("Mul", {c, number(100)})});
  ScriptedHost host(prepare({x}, {sum}));
  host.start({Tensor::scalar(0.0f)});
  BOOST_TEST(host.requests.size() == 3);
  host.reply_to("b", 2);
  host.reply_to("c", 3);
  BOOST_TEST(host.outcome.empty());
  host.reply_to("a", 1);
  BOOST_REQUIRE(host.outcome.size() == 1);
  BOOST_TEST(host.fetched() == 321);
}

// Cancelled with two requests pending: no further node starts, and the step ends when both replies have come.
BOOST_AUTO_TEST_CASE(cancelled_in_the_middle) {
  record();
  const Output x = input("x"), a = ask("a", x), b = ask("b", x);
  const Output first = probe("first", a), last = probe("last", first), other = probe("other", b);
  const size_t before = in_use();
  {
    ScriptedHost host(prepare({x}, {last, other}));
    host.start({Tensor::scalar(0.0f)});
    BOOST_TEST(host.runner.cancel(deadline_exceeded("too late")));
    BOOST_TEST(!host.runner.cancel(cancelled("a later reason")));  // the first reason counts
    host.runner.drive();
    BOOST_REQUIRE(host.failures.size() == 1);
    BOOST_TEST((host.failures[0].code() == Code::DeadlineExceeded));
    BOOST_TEST(host.outcome.empty());
    host.reply_to("a", 1);
    BOOST_TEST(host.outcome.empty());
    host.reply_to("b", {cancelled("as told"), {}, false});
    check_failure(host.outcome, Code::DeadlineExceeded, "step 7: too late");
    BOOST_TEST(ran.empty());
    BOOST_TEST(host.failures.size() == 1);
  }
  BOOST_TEST(in_use() == before);
}

// A long kernel sees that another thread cancels the step.
BOOST_AUTO_TEST_CASE(a_kernel_sees_the_cancellation) {
  ScriptedHost* host = nullptr;
  hook = [&](KernelContext& context) {
    auto ended = std::async(std::launch::async, [&] { return host->runner.cancel(cancelled("stop")); });
    while (!context.step().cancelled->load()) cpu_relax();
    BOOST_TEST(!ended.get());
    return Status{};
  };
  const Output x = input("x"), y = probe("second", probe("first", x));
  ScriptedHost scripted(prepare({x}, {y}));
  host = &scripted;
  host->start({Tensor::scalar(0.0f)});
  check_failure(host->outcome, Code::Cancelled, "step 7: stop");
}

BOOST_AUTO_TEST_CASE(a_cancelled_context_serves_the_next_step) {
  const Output x = input("x"), sum = sum_of(g, x, 100), y = ask("ask", sum);
  const auto plan = prepare({x}, {y});
  int runs = 0;
  ScriptedHost* host = nullptr;
  hook = [&](KernelContext&) {
    if (++runs == 50) (void)host->runner.cancel(cancelled("stop"));
    return Status{};
  };
  for (const bool cancels : {true, false}) {
    runs = cancels ? 0 : 50;
    ScriptedHost scripted(plan);
    host = &scripted;
    host->start({Tensor::scalar(0.0f)});
    if (cancels) {
      check_failure(host->outcome, Code::Cancelled, "stop");
    } else {
      BOOST_TEST(host->requests.at(0).inputs.at(0).tensor.as<float>()[0] == 4950);
      host->reply_to("ask", 1);
      BOOST_TEST(host->outcome.at(0).ok());
    }
  }
}

BOOST_AUTO_TEST_CASE(failures_name_op_node_device_and_step) {
  const std::string place = " on /job:test/replica:0/task:0/device:CPU:0, step 7: ";
  const Output x = input("x"), y = probe("layer/first", x), z = ask("layer/ask", probe("layer/second", y));
  const auto plan = prepare({x}, {z});
  const auto check = [&](const Hook& does, Code code, const std::string& text) {
    hook = does;
    ScriptedHost host(plan);
    host.start({Tensor::scalar(0.0f)});
    check_failure(host.outcome, code, text);
    BOOST_TEST(host.requests.empty());
  };
  check([](KernelContext&) { return out_of_range("no more"); }, Code::OutOfRange,
        "[Probe] layer/first" + place + "no more");
  check([](KernelContext&) -> Status { throw std::runtime_error("oh"); }, Code::Internal,
        "[Probe] layer/first" + place + "the kernel threw an exception: oh");
  check([](KernelContext&) -> Status { throw std::bad_alloc(); }, Code::ResourceExhausted,
        "[Probe] layer/first" + place + "the kernel ran out of memory");
  check(
      [](KernelContext& context) { return context.node().name == "layer/second" ? aborted("2") : Status{}; },
      Code::Aborted, "[Probe] layer/second" + place + "2");
  hook = nullptr;
  ScriptedHost host(plan);
  host.start({Tensor::scalar(0.0f)});
  host.reply_to("layer/ask", {unavailable("gone"), {}, false});
  check_failure(host.outcome, Code::Unavailable, "[Ask] layer/ask" + place + "gone");
  ScriptedHost without(plan);
  without.start({Tensor::scalar(0.0f)});
  without.reply_to("layer/ask", StepReply{});
  check_failure(without.outcome, Code::Internal,
                "[Ask] layer/ask" + place + "the reply has no value for output 0");
}

BOOST_AUTO_TEST_CASE(feeds_are_checked) {
  const Output x = input("x"), y = probe("y", x);
  const auto plan = prepare({x}, {y});
  ScriptedHost host(plan);
  host.start({Tensor::scalar<int32_t>(1)});
  check_failure(host.outcome, Code::InvalidArgument, "the value fed for x:0 is int32[]; expected float[]");
}

namespace {

// x -> first -> second, on a device that works when the test lets it
struct DelayedFixture : StepFixture {
  std::shared_ptr<const PreparedPlan> plan() {
    return value_or_throw(delayed.prepare(graph, {{x}, {second}, {}}));
  }

  InlinePool pool;
  DelayedDevice device{DeviceName{"test", 0, 0, "CPU", 1}, pool, {.drive = DelayedDevice::Drive::Manual}};
  LocalRuntime delayed{library, device};
  const Output x = input("x"), second = probe("second", probe("first", x));
};

}  // namespace

// The step is parked meanwhile, and changes nothing early. The device copies the feed and computes `first`, then computes `second`,
// then copies it to the host.
BOOST_FIXTURE_TEST_CASE(a_device_may_finish_later, DelayedFixture) {
  {
    ScriptedHost host(plan());
    host.start({Tensor::scalar(1.0f)});
    BOOST_TEST(host.outcome.empty());
    int wakes = 0;
    for (const size_t works : {2, 1, 1}) {
      BOOST_TEST(device.advance() == works);
      BOOST_TEST(host.wakes == ++wakes);
      host.runner.drive();
    }
    BOOST_REQUIRE(host.outcome.size() == 1);
    BOOST_TEST(host.outcome[0].ok());
    BOOST_TEST(host.fetched() == 3);
    BOOST_TEST(device.memory_statistics().in_use == 0u);
  }
  BOOST_TEST(device.check_memory().ok());
}

// Cancelled while the device works: the step ends after the device.
BOOST_FIXTURE_TEST_CASE(a_cancelled_step_waits_for_its_device, DelayedFixture) {
  ScriptedHost host(plan());
  host.start({Tensor::scalar(1.0f)});
  BOOST_TEST(host.runner.cancel(cancelled("stop")));
  host.runner.drive();
  BOOST_TEST(host.outcome.empty());
  BOOST_TEST(device.advance() == 2u);
  host.runner.drive();
  check_failure(host.outcome, Code::Cancelled, "stop");
  BOOST_TEST(device.advance() == 0u);
  BOOST_TEST(device.memory_statistics().in_use == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::step_runner_test
