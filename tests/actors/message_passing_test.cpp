// Message<T> between actors of one process: CAF passes it on by reference.
#include "messages/caf_message.h"

#include <boost/test/unit_test.hpp>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/send.hpp>

#include <functional>
#include <string>

#include "messages/message_reader.h"
#include "messages/queue.capnp.h"
#include "messages/session.capnp.h"

namespace troupe {
namespace {

struct TestConfig : caf::actor_system_config {
  TestConfig() { set("scheduler.policy", caf::atom("testing")); }
};

struct Simulation {
  TestConfig config;
  caf::actor_system system{config};
  void run() { dynamic_cast<caf::scheduler::test_coordinator&>(system.scheduler()).run(); }
};

// An actor that does what a function says. (CAF's own way to spawn a bare function dereferences a null
// pointer.)
class Scripted final : public caf::event_based_actor {
 public:
  using Script = std::function<caf::behavior(caf::event_based_actor*)>;
  Scripted(caf::actor_config& config, Script script)
      : event_based_actor(config), script_(std::move(script)) {}
  caf::behavior make_behavior() override { return script_(this); }

 private:
  Script script_;
};

/// Counts its allocations: whoever copies a tensor has to come here.
class CountingAllocator final : public Allocator {
 public:
  Result<BufferRef> allocate(size_t bytes) override {
    ++count;
    return heap_allocator().allocate(bytes);
  }
  int count = 0;
};

//  client -- RunStep, feeds --> master -- the very message --> worker
//                                 <---- StepDone, the same tensors ----
BOOST_AUTO_TEST_CASE(local_delivery_copies_no_byte_of_a_tensor) {
  Simulation simulation;
  CountingAllocator allocator;
  Tensor tensor = value_or_throw(Tensor::allocate(f32, Shape::of({1000, 1000}), allocator));
  const std::byte* const bytes = tensor.data();
  const void *struct_at_master = nullptr, *struct_at_worker = nullptr;
  const std::byte *at_worker = nullptr, *at_client = nullptr;

  const auto worker = simulation.system.spawn<Scripted>([&](caf::event_based_actor*) -> caf::behavior {
    return {[&](const Message<wire::RunStep>& message) {
      struct_at_worker = message.words().data();
      at_worker = message.attachments()[0].data();
      Draft<wire::StepDone> done;
      done->initStep().setOrdinal(message->getHandle() + 1);
      return done.finish({message.attachments().begin(), message.attachments().end()});
    }};
  });
  const auto master = simulation.system.spawn<Scripted>([&](caf::event_based_actor* self) -> caf::behavior {
    return {[&, self](const Message<wire::RunStep>& message) {
      struct_at_master = message.words().data();
      return self->delegate(worker, message);
    }};
  });
  uint64_t ordinal = 0;
  simulation.system.spawn<Scripted>([&](caf::event_based_actor* self) {
    Draft<wire::RunStep> draft;
    draft->setHandle(41);
    self->request(master, caf::infinite, draft.finish({tensor}))
        .then([&](const Message<wire::StepDone>& done) {
          ordinal = done->getStep().getOrdinal();
          at_client = done.attachments()[0].data();
        });
    return caf::behavior{};
  });
  simulation.run();

  BOOST_TEST(ordinal == 42u);
  BOOST_TEST(struct_at_master == struct_at_worker);
  BOOST_TEST(at_worker == bytes);
  BOOST_TEST(at_client == bytes);
  BOOST_TEST(allocator.count == 1);
  BOOST_TEST(tensor.unique());  // and every message is gone
}

// A behavior tells messages apart by T alone.
BOOST_AUTO_TEST_CASE(handlers_are_chosen_by_type) {
  Simulation simulation;
  std::string seen;
  const auto queue = simulation.system.spawn<Scripted>([&](caf::event_based_actor*) -> caf::behavior {
    return {[&](const Message<wire::Enqueue>&) { seen += "enqueue "; },
            [&](const Message<wire::Dequeue>&) { seen += "dequeue "; }};
  });
  caf::anon_send(queue, Draft<wire::Dequeue>().finish());
  caf::anon_send(queue, Draft<wire::Enqueue>().finish());
  simulation.run();
  BOOST_TEST(seen == "dequeue enqueue ");
}

}  // namespace
}  // namespace troupe
