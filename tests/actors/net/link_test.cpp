// How a node treats peers: honest ones, and those that send nothing, a wrong message, or garbage.
#include "actors/net/link.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <functional>

#include "messages/schemas/executor.capnp.h"
#include "messages/schemas/link.capnp.h"
#include "messages/schemas/session.capnp.h"
#include "messages/wire/message_reader.h"
#include "messages/wire/wire.h"
#include "tests/support/simulation/simulated_cluster.h"

namespace troupe::link_test {
namespace {

constexpr int64_t second = 1'000'000'000;
const std::vector<std::string> tasks = {"/job:ps/replica:0/task:0", "/job:worker/replica:0/task:0"};

/// A peer that connects to a node and sends what a test wants.
class Stranger final : public Connection::Events {
 public:
  explicit Stranger(test::SimulatedCluster& cluster)
      : cluster_(cluster), network_(cluster.network().join("stranger")) {
    network_->connect(tasks[0], 0, [this](Result<std::unique_ptr<Connection>> made) {
      connection_ = value_or_throw(std::move(made));
      connection_->start(*this, heap_allocator(), {});
    });
    cluster_.simulation().run_until([&] { return connection_ != nullptr; });
  }

  void greet(const ActorNode& node, const std::function<void(wire::Hello::Builder&)>& change = {}) {
    Draft<wire::Hello> draft;
    draft->setProtocol(1);
    draft->setBuild(build_id());
    draft->setOps(node.library->ops->signature_hash());
    draft->setCluster("simulated");
    draft->setTask("/job:stranger/replica:0/task:0");
    draft->setIncarnation(7);
    draft->setLink(9);
    if (change) change(*draft);
    say(draft.finish());
  }
  void say(AnyMessage message, FrameHeader header = {}) {
    header.sequence = sequence_;
    header.incarnation = 7;
    sequence_ += 2;
    connection_->send(value_or_throw(encode(header, std::move(message))));
  }
  /// Returns the reason in the node's Goodbye.
  std::string goodbye() {
    BOOST_TEST_REQUIRE(
        cluster_.simulation().run_until([&] { return closed_; }, cluster_.simulation().now() + 10 * second));
    return goodbye_;
  }

  bool is_closed() const { return closed_; }

  void received(Frame frame) override {
    if (frame.schema_id != schema_id_of<wire::Goodbye>) return;
    const auto message = receive<wire::Goodbye>(frame.words);
    goodbye_ = read((*message)->getReason()).text();
  }
  void closed(Status) override { closed_ = true; }

 private:
  test::SimulatedCluster& cluster_;
  std::unique_ptr<Network> network_;
  std::unique_ptr<Connection> connection_;
  uint64_t sequence_ = 1;
  std::string goodbye_;
  bool closed_ = false;
};

struct Fixture {
  Fixture() {
    BOOST_TEST_REQUIRE(cluster.simulation().run_until([&] { return cluster.complete(); }, second));
  }
  ~Fixture() { BOOST_TEST(cluster.complete()); }  // no such peer may break the cluster
  test::SimulatedCluster cluster{1, tasks};
  ActorNode& node = cluster.node(0);
};

BOOST_FIXTURE_TEST_SUITE(link, Fixture)

BOOST_AUTO_TEST_CASE(who_says_nothing_is_sent_away) {
  const int64_t begin = cluster.simulation().now();
  BOOST_TEST(Stranger(cluster).goodbye() == "the peer did not send its Hello in time");
  BOOST_TEST(cluster.simulation().now() - begin < 6 * second);
}

// A peer counts as dead after five times the longer one of its own interval and the node's 200 ms.
BOOST_AUTO_TEST_CASE(who_falls_silent_is_given_the_longer_of_two_patiences) {
  for (const int64_t interval : {second / 50, second}) {
    const int64_t patience = 5 * std::max(interval, second / 5);
    const int64_t begin = cluster.simulation().now();
    Stranger stranger(cluster);
    stranger.greet(node, [interval](auto& hello) { hello.setHeartbeat(static_cast<uint64_t>(interval)); });
    const std::string reason = stranger.goodbye();
    BOOST_TEST(reason.find("/job:stranger/replica:0/task:0 has been silent for") != std::string::npos,
               reason);
    const int64_t noticed = cluster.simulation().now() - begin;
    BOOST_TEST(noticed >= patience);
    BOOST_TEST(noticed < patience + second / 2);
  }
}

// Such a peer would make the node keep all that is sent to it.
BOOST_AUTO_TEST_CASE(who_sends_but_reads_nothing_is_sent_away) {
  Stranger stranger(cluster);
  stranger.greet(node);
  cluster.simulation().pass(second / 10);
  cluster.network().stop_reading("stranger");
  const int64_t begin = cluster.simulation().now();
  while (!stranger.is_closed() && cluster.simulation().now() - begin < 60 * second) {
    stranger.say(Draft<wire::Heartbeat>().finish());
    cluster.simulation().pass(second / 5);
  }
  const int64_t noticed = cluster.simulation().now() - begin;
  BOOST_TEST(noticed > 29 * second);
  BOOST_TEST(noticed < 32 * second);
}

BOOST_AUTO_TEST_CASE(who_asks_without_end_is_sent_away) {
  // The role keeps the replies, so that no request is ever answered.
  class Hoarder final : public Role {
   public:
    Hoarder() {
      on<wire::TakeTensor>([this](const auto&, Reply reply) { replies_.push_back(std::move(reply)); });
    }

   private:
    std::vector<Reply> replies_;
  };
  Address address = cluster.workers()[0].worker;
  address.role = "hoarder";
  node.directory.add(address, node.engine.spawn(std::make_unique<Hoarder>()));
  Stranger stranger(cluster);
  stranger.greet(node);
  Draft<wire::Bind> bind;
  bind->setNumber(1);
  write(address, bind->initActor());
  stranger.say(bind.finish());
  FrameHeader request;
  request.receiver = 1;
  request.request = true;
  for (size_t i = 0; i <= LinkOptions().requests; ++i)
    stranger.say(Draft<wire::TakeTensor>().finish(), request);
  BOOST_TEST(stranger.goodbye().find("more requests than the 1048576 that a link allows") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_refusal_names_both_sides) {
  const auto refused = [&](const std::function<void(wire::Hello::Builder&)>& change) {
    Stranger stranger(cluster);
    stranger.greet(node, change);
    return stranger.goodbye();
  };
  BOOST_TEST(refused([](auto& hello) { hello.setCluster("other"); }) ==
             "/job:stranger/replica:0/task:0 is of another cluster than /job:ps/replica:0/task:0: their "
             "names (cluster.name) differ");
  BOOST_TEST(refused([](auto& hello) { hello.setProtocol(2); }) ==
             "/job:stranger/replica:0/task:0 has link protocol 2, /job:ps/replica:0/task:0 has 1");
  BOOST_TEST(refused([](auto& hello) { hello.setBuild("0.0.9"); }).find("has build 0.0.9") !=
             std::string::npos);
  BOOST_TEST(refused([](auto& hello) { hello.setOps(1); }).find("has op table 1") != std::string::npos);
  BOOST_TEST(refused([](auto& hello) { hello.setTask(tasks[0]); }).find("itself") != std::string::npos);
  BOOST_TEST(refused([](auto& hello) { hello.setIncarnation(8); }).find("contradicts") != std::string::npos);
  BOOST_TEST(refused([](auto& hello) { hello.setBulk(true); }).find("contradicts") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(only_what_nodes_exchange_is_taken) {
  Stranger early(cluster);
  early.say(Draft<wire::CloseSession>().finish());
  BOOST_TEST(early.goodbye() == "the peer sent another message before its Hello");

  const auto told = [&](AnyMessage message, FrameHeader header) {
    Stranger stranger(cluster);
    stranger.greet(node);
    stranger.say(std::move(message), header);
    return stranger.goodbye();
  };
  BOOST_TEST(told(Draft<wire::CloseSession>().finish(), {}) ==
             "the peer sent the link a message that is meant for an actor");
  BOOST_TEST(told(Draft<wire::StepId>().finish(), {.receiver = 1}).find("which nodes do not exchange") !=
             std::string::npos);
}

// 1 MiB travels on the bulk connection, and small frames do not wait behind it.
BOOST_AUTO_TEST_CASE(large_tensors_and_small_ones_reach_their_actor) {
  class Collector final : public Role {
   public:
    explicit Collector(std::vector<size_t>& sizes) {
      on<wire::TakeTensor>([&sizes](const Message<wire::TakeTensor>& message, Reply reply) {
        sizes.push_back(message.attachments()[0].bytes());
        reply(Draft<wire::TensorTaken>().finish({message.attachments()[0]}));
      });
    }
  };
  std::vector<size_t> sizes;
  Address address = cluster.workers()[0].worker;
  address.role = "collector";
  node.directory.add(address, node.engine.spawn(std::make_unique<Collector>(sizes)));
  const ActorRef stub = value_or_throw(cluster.node(1).directory.find(address));
  std::vector<size_t> answered;
  for (const int64_t floats : {1 << 18, 1, 1 << 18, 2}) {
    Tensor tensor = value_or_throw(Tensor::allocate(f32, Shape{floats}));
    cluster.node(1).engine.send(
        stub, Draft<wire::TakeTensor>().finish({tensor}), Reply([&](Result<AnyMessage> answer) {
          answered.push_back(value_or_throw(std::move(answer)).attachments()[0].bytes());
        }));
  }
  BOOST_TEST(cluster.simulation().run_until([&] { return answered.size() == 4; },
                                            cluster.simulation().now() + second));
  std::ranges::sort(sizes);
  BOOST_TEST(sizes == (std::vector<size_t>{4, 8, 1 << 20, 1 << 20}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_address_of_nobody_answers_at_once) {
  Address address = cluster.workers()[0].worker;
  address.role = "nobody";
  const ActorRef stub = value_or_throw(cluster.node(1).directory.find(address));
  std::optional<Status> answer;
  cluster.node(1).engine.send(stub, Draft<wire::CloseSession>().finish(),
                              Reply([&](Result<AnyMessage> result) { answer = result.status(); }));
  BOOST_TEST_REQUIRE(cluster.simulation().run_until([&] { return answer.has_value(); }, second));
  BOOST_TEST((answer->code() == Code::Unavailable));
  address.incarnation ^= 1;
  const auto earlier = cluster.node(1).directory.find(address);
  BOOST_TEST(earlier.status().text().find("has restarted") != std::string::npos);
  address.task = "/job:ps/replica:0/task:7";
  BOOST_TEST(cluster.node(1).directory.find(address).status().text() ==
             "no link to /job:ps/replica:0/task:7");
}

// The reply to one type of request is refused as the answer to another: the code that reads an answer relies on its type.
BOOST_AUTO_TEST_CASE(an_answer_of_another_kind_is_refused) {
  class Confused final : public Role {
   public:
    Confused() {
      on<wire::TakeTensor>([](const auto&, Reply reply) { reply(Draft<wire::Extended>().finish()); });
    }
  };
  Address address = cluster.workers()[0].worker;
  address.role = "confused";
  node.directory.add(address, node.engine.spawn(std::make_unique<Confused>()));
  Status status;
  cluster.node(1).engine.send(value_or_throw(cluster.node(1).directory.find(address)),
                              Draft<wire::TakeTensor>().finish(),
                              Reply([&](const Result<AnyMessage>& answer) { status = answer.status(); }));
  cluster.simulation().pass(second);
  BOOST_TEST((status.code() == Code::Internal));
  BOOST_TEST(status.text() == tasks[0] + " answered the request with a message of a wrong type");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::link_test
