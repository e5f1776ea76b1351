// The engine: delivery, answers, ends of actors, failures. Uses real threads; every wait has a deadline.
#include "actors/engine/engine.h"

#include <boost/test/unit_test.hpp>

#include <thread>

#include "actors/engine/control_thread.h"
#include "messages/schemas/queue.capnp.h"
#include "messages/schemas/session.capnp.h"

namespace troupe::engine_test {
namespace {

struct Fixture {
  std::unique_ptr<ThreadPool> pool = value_or_throw(ThreadPool::make(1));
  ControlThread loop{*pool};
  Engine engine{loop};

  int64_t in(std::chrono::nanoseconds time) const { return loop.now() + time.count(); }
  Result<AnyMessage> call(const ActorRef& to, AnyMessage message) {
    return engine.call(to, std::move(message), in(std::chrono::seconds(30)));
  }
};

Message<wire::RunStep> run_step(uint64_t handle, std::vector<Tensor> feeds = {}) {
  Draft<wire::RunStep> draft;
  draft->setHandle(handle);
  return draft.finish(std::move(feeds));
}

/// Answers RunStep with its feeds; the ordinal in StepDone is the handle.
class Echo : public Role {
 public:
  Echo() {
    on<wire::RunStep>([](const Message<wire::RunStep>& message, Reply reply) {
      Draft<wire::StepDone> done;
      done->initStep().setOrdinal(message->getHandle());
      reply(done.finish({message.attachments().begin(), message.attachments().end()}));
    });
  }
};

/// Sends RunStep to another actor, and answers with that actor's answer.
class Relay : public Role {
 public:
  explicit Relay(ActorRef next) : next_(std::move(next)) {
    on<wire::RunStep>([this](const auto& message, Reply reply) {
      auto kept = std::make_shared<Reply>(std::move(reply));
      ask(next_, message, [kept](Result<AnyMessage> answer) { (*kept)(std::move(answer)); });
    });
  }

 private:
  ActorRef next_;
};

/// Answers no request until it is stopped.
class Silent : public Role {
 public:
  Silent() {
    on<wire::RunStep>([this](const auto&, Reply reply) { kept_.push_back(std::move(reply)); });
    on<wire::CancelStep>([this](const auto&, Reply) { stop(internal("told to")); });
  }

 private:
  std::vector<Reply> kept_;
};

/// Answers RunStep. After the first CancelStep it always has another message to handle.
class Busy : public Echo {
 public:
  Busy() {
    on<wire::CancelStep>([this](const auto& message, Reply) { tell(self(), message); });
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(engine, Fixture)

BOOST_AUTO_TEST_CASE(a_call_returns_while_the_actor_never_runs_out_of_messages) {
  const ActorRef busy = engine.spawn(std::make_unique<Busy>());
  engine.send(busy, Draft<wire::CancelStep>().finish());
  BOOST_TEST(call(busy, run_step(7)).ok());
  engine.stop(busy);
}

BOOST_AUTO_TEST_CASE(a_call_brings_the_answer_and_copies_no_byte_of_a_tensor) {
  const ActorRef echo = engine.spawn(std::make_unique<Relay>(engine.spawn(std::make_unique<Echo>())));
  const Tensor tensor = Tensor::vector<float>({1, 2, 3});
  const auto answer = call(echo, run_step(7, {tensor}));
  BOOST_REQUIRE(answer.ok());
  BOOST_TEST(Message<wire::StepDone>(*answer)->getStep().getOrdinal() == 7u);
  BOOST_TEST(answer->attachments()[0].shares_buffer_with(tensor));
}

BOOST_AUTO_TEST_CASE(a_message_without_handler_is_answered_unimplemented) {
  const ActorRef echo = engine.spawn(std::make_unique<Echo>());
  BOOST_TEST((call(echo, Draft<wire::Dequeue>().finish()).status().code() == Code::Unimplemented));
}

BOOST_AUTO_TEST_CASE(a_request_to_an_actor_that_ended_is_answered_unavailable) {
  const ActorRef echo = engine.spawn(std::make_unique<Echo>());
  engine.stop(echo);
  BOOST_TEST(loop.wait([&] { return engine.actors() == 0; }, in(std::chrono::seconds(30))));
  BOOST_TEST((call(echo, run_step(1)).status().code() == Code::Unavailable));
}

BOOST_AUTO_TEST_CASE(requests_pending_when_an_actor_ends_are_answered_unavailable) {
  const ActorRef silent = engine.spawn(std::make_unique<Silent>());
  Result<AnyMessage> answer = internal("none");
  std::thread asker([&] { answer = call(silent, run_step(1)); });
  engine.send(silent, Draft<wire::CancelStep>().finish());
  asker.join();
  BOOST_TEST((answer.status().code() == Code::Unavailable));
}

BOOST_AUTO_TEST_CASE(a_call_ends_at_its_deadline) {
  const ActorRef silent = engine.spawn(std::make_unique<Silent>());
  const auto answer = engine.call(silent, run_step(1), in(std::chrono::milliseconds(5)));
  BOOST_TEST((answer.status().code() == Code::DeadlineExceeded));
}

BOOST_AUTO_TEST_CASE(several_are_asked_and_their_answers_come_in_the_order_of_the_requests) {
  std::vector<AddressedRequest> requests;
  for (uint64_t i = 0; i < 5; ++i) requests.push_back({engine.spawn(std::make_unique<Echo>()), run_step(i)});
  const Answers answers = engine.call_all(std::move(requests));
  BOOST_TEST_REQUIRE(answers.size() == 5u);
  for (uint64_t i = 0; i < 5; ++i)
    BOOST_TEST(Message<wire::StepDone>(value_or_throw(answers[i]))->getStep().getOrdinal() == i);
  BOOST_TEST(engine.call_all({}).empty());
}

// The silent actor answers only because the callback for the first failure stops it.
BOOST_AUTO_TEST_CASE(the_first_failure_is_told_while_others_still_compute) {
  const ActorRef silent = engine.spawn(std::make_unique<Silent>());
  const ActorRef other = engine.spawn(std::make_unique<Echo>());
  std::atomic<size_t> failed{0}, calls{0};
  const Answers answers =
      engine.call_all({{silent, run_step(1)}, {other, run_step(2)}, {other, Draft<wire::Dequeue>().finish()}},
                      [&](size_t request, const Status& failure) {
                        ++calls;
                        if (failure.code() == Code::Unimplemented) failed = request;
                        engine.stop(silent);
                      });
  BOOST_TEST(failed == 2u);
  BOOST_TEST(calls == 1u);
  BOOST_TEST((answers[0].status().code() == Code::Unavailable));
  BOOST_TEST(answers[1].ok());
}

BOOST_AUTO_TEST_CASE(whoever_watches_is_told_of_the_end) {
  struct Watcher : Role {
    Watcher(ActorRef other, std::atomic<bool>& told, Scheduler& scheduler)
        : other_(std::move(other)), told_(told), scheduler_(scheduler) {
      on<wire::RunStep>([this](const auto&, Reply reply) {
        watch(other_, [this](Status reason) {
          told_ = reason.code() == Code::Internal;
          scheduler_.wake();
        });
        tell(other_, Draft<wire::CancelStep>().finish());
        Draft<wire::StepDone> done;
        reply(done.finish());
      });
    }
    ActorRef other_;
    std::atomic<bool>& told_;
    Scheduler& scheduler_;
  };
  std::atomic<bool> told{false};
  const ActorRef watcher =
      engine.spawn(std::make_unique<Watcher>(engine.spawn(std::make_unique<Silent>()), told, loop));
  BOOST_REQUIRE(call(watcher, run_step(1)).ok());
  BOOST_TEST(loop.wait([&] { return told.load(); }, in(std::chrono::seconds(30))));
}

BOOST_AUTO_TEST_CASE(a_stub_hands_messages_on_without_a_mailbox_and_can_end) {
  std::vector<uint64_t> seen;
  const ActorRef stub = engine.spawn_stub([&](const AnyMessage& message, Reply reply) {
    seen.push_back(message.schema_id());
    reply(Draft<wire::StepDone>().finish());
  });
  BOOST_TEST(call(stub, run_step(1)).ok());
  engine.end_stub(stub, unavailable("the link is lost"));
  BOOST_TEST((call(stub, run_step(1)).status().code() == Code::Unavailable));
  BOOST_TEST(seen.size() == 1u);
}

BOOST_AUTO_TEST_CASE(many_threads_call_through_the_same_actors) {
  const ActorRef relay = engine.spawn(std::make_unique<Relay>(engine.spawn(std::make_unique<Echo>())));
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < 500; ++i) {
        const auto answer = call(relay, run_step(t * 1000 + i));
        good += answer.ok() && Message<wire::StepDone>(*answer)->getStep().getOrdinal() == t * 1000 + i;
      }
    });
  for (auto& thread : threads) thread.join();
  BOOST_TEST(good == 2000);
  BOOST_TEST(engine.counts().at(schema_id_of<wire::RunStep>).messages == 4000u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::engine_test
