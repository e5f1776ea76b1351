// A mirrored server on simulated clusters whose servers crash, and whose links break. A client adds 1 to the elements of a vector,
// one after the other, and never repeats an addition. When the server is lost it adopts the mirror, and mirrors it on the other
// server as soon as that is back. An element whose addition was acknowledged is 1 at the end, and no element is ever 2
// (robustness.md, I1 and I2).
#include <boost/test/unit_test.hpp>

#include <set>

#include "graph/build/scope.h"
#include "messages/schemas/mirror.capnp.h"
#include "messages/wire/wire.h"
#include "tests/support/seeds.h"
#include "tests/support/simulation/simulated_cluster.h"
#include "tests/support/simulation/simulated_faults.h"

namespace troupe::simulated_mirror_test {
namespace {

using test::SimulatedCluster;

constexpr int64_t millisecond = 1'000'000, second = 1000 * millisecond;
constexpr int64_t elements = 60;
constexpr size_t client = 0;
const std::vector<std::string> tasks = {"/job:client/replica:0/task:0", "/job:ps/replica:0/task:0",
                                        "/job:ps/replica:0/task:1"};

/// The vector on one of the servers.
struct Model {
  Model(const Scope& g, size_t server) {
    const Scope there = g.with_device("/job:ps/task:" + std::to_string(server - 1));
    const PartialShape shape{elements};
    vector = there.with_name("vector").add_one("VariableV2", {}, {{"dtype", DType::Float}, {"shape", shape}});
    zero = {there.add("Assign", {vector, g.constant(Tensor::vector<float>(
                                             std::span<const float>(std::vector<float>(elements))))}),
            Output::control};
    one = g.add_one("Placeholder", {}, {{"dtype", DType::Float}, {"shape", shape}});
    add = {there.add("AssignAdd", {vector, one}), Output::control};
  }
  Output vector, zero, one, add;
};

class MirroredServer {
 public:
  MirroredServer(uint64_t seed, const test::NetworkFaults& faults) : cluster_(seed, tasks) {
    cluster_.network().set_faults(faults);
    cluster_.start_client(client, [this] { work(); });
    later(second, [this] { crash_one(); });
  }

  /// Returns the vector at the end.
  Tensor run() {
    auto& simulation = cluster_.simulation();
    const bool ended = simulation.run_until([&] { return over_ && cluster_.clients_ended(); },
                                            simulation.now() + 3600ll * second);
    BOOST_TEST_REQUIRE(ended, "the client does not end");
    return result_;
  }
  SimulatedCluster& cluster() { return cluster_; }
  bool acknowledged(int64_t element) const { return acknowledged_.contains(element); }
  int crashes() const { return crashes_; }
  int adoptions() const { return adoptions_; }

 private:
  // ---- Faults

  void later(int64_t delay, std::function<void()> what) {
    test::Simulation& simulation = cluster_.simulation();
    simulation.call_at(simulation.now() + delay, test::Simulation::everyone, std::move(what));
  }
  int64_t draw(int64_t from, int64_t to) {
    return from + static_cast<int64_t>(cluster_.simulation().draw(static_cast<uint64_t>(to - from)));
  }

  /// At most one server crashes while its peer is a mirror that is not complete.
  void crash_one() {
    if (over_) return;
    if (complete_) {
      complete_ = false;
      const size_t machine = 1 + cluster_.simulation().draw(2);
      cluster_.crash(machine, cluster_.simulation().draw(2) == 0);
      ++crashes_;
      later(draw(500, 3500) * millisecond, [this, machine] { cluster_.start(machine); });
    }
    later(draw(100, 2100) * millisecond, [this] { crash_one(); });
  }

  // ---- The client

  void work() {
    size_t server = 1;
    bool initialized = false;
    while (!over_) try {
        cluster_.sleep(client, 20 * millisecond);
        if (initialized && (adopting_ || lost(server))) {
          if (mirror_ == 0 || !adopts(3 - server)) continue;
          server = 3 - server;
        }
        if (!linked(server)) continue;
        Graph graph(cluster_.node(client).library->ops);
        const Model model(Scope(graph), server);
        Session session = cluster_.session(client, graph, {client, server});
        if (!initialized) session.run({}, {model.zero});
        initialized = true;
        incarnation_ = incarnation_of(server);
        mirror(server);
        add(session, model);
      } catch (const Error& error) {
        const Code code = error.status().code();
        BOOST_TEST_REQUIRE(
            (code == Code::Unavailable || code == Code::Aborted || code == Code::DeadlineExceeded),
            error.status().message());
      }
  }

  /// Returns whether the mirror on this server has been adopted. Once it may have been, the client uses no other server.
  bool adopts(size_t other) {
    if (!linked(other)) return false;
    adopting_ = true;
    try {
      ask(other, "mirror", of_mirror<wire::AdoptMirror>(mirror_));
      ++adoptions_;
    } catch (const Error& error) {
      if (error.status().code() != Code::NotFound) throw;
      adopting_ = false;  // the other server has lost it
    }
    mirror_ = 0;
    return std::exchange(adopting_, false);
  }

  /// Returns whether the server is not linked, or its process is not the one that had the variables.
  bool lost(size_t server) const { return !linked(server) || incarnation_of(server) != incarnation_; }
  uint64_t incarnation_of(size_t machine) const { return cluster_.workers({machine})[0].worker.incarnation; }
  bool linked(size_t machine) const {
    return cluster_.linked(client, machine) && cluster_.linked(machine, client);
  }

  /// Ends the mirror of the server, which may have been lost, and begins a new one.
  void mirror(size_t server) {
    const size_t other = 3 - server;
    complete_ = false;
    if (mirror_ != 0) ask(server, "mirror_source", of_mirror<wire::EndMirror>(mirror_));
    mirror_ = 0;
    while (!linked(other)) {
      if (lost(server)) throw Error(unavailable("the server is lost"));
      cluster_.sleep(client, 20 * millisecond);
    }
    const uint64_t number = cluster_.random_id();
    Draft<wire::BeginMirror> draft;
    draft->setMirror(number);
    write(address(other, "mirror"), draft->initTarget());
    write(cluster_.workers({client})[0].worker, draft->initClient());
    ask(server, "mirror_source", draft.finish());
    mirror_ = number;
    complete_ = true;
  }

  void add(Session& session, const Model& model) {
    while (next_ < elements) {
      cluster_.sleep(client, draw(0, 100) * millisecond);
      std::vector<float> values(elements);
      const int64_t element = next_++;
      values[static_cast<size_t>(element)] = 1;
      session.run({{model.one, Tensor::vector<float>(std::span<const float>(values))}}, {model.add},
                  {.timeout = std::chrono::seconds(3)});
      acknowledged_.insert(element);
    }
    result_ = session.run({model.vector})[0];
    over_ = true;
  }

  Address address(size_t machine, const std::string& role) const {
    Address address = cluster_.workers({machine})[0].worker;
    address.role = role;
    address.key = address.task + "/device:CPU:0";
    if (role == "mirror_source") address.incarnation = incarnation_;
    return address;
  }
  AnyMessage ask(size_t machine, const std::string& role, AnyMessage request) {
    ActorNode& node = cluster_.node(client);
    return value_or_throw(
        node.engine.call(value_or_throw(node.directory.find(address(machine, role))), std::move(request)));
  }
  template <class T>
  static AnyMessage of_mirror(uint64_t mirror) {
    Draft<T> draft;
    draft->setMirror(mirror);
    return draft.finish();
  }

  SimulatedCluster cluster_;
  std::set<int64_t> acknowledged_;
  Tensor result_;
  uint64_t mirror_ = 0;       ///< 0: none
  uint64_t incarnation_ = 0;  ///< of the server that has the variables
  int64_t next_ = 0;
  bool adopting_ = false;  ///< the mirror may have been adopted
  bool complete_ = false;  ///< the mirror has been complete since the last crash
  bool over_ = false;
  int crashes_ = 0, adoptions_ = 0;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(simulated_mirror)

BOOST_AUTO_TEST_CASE(no_acknowledged_update_of_a_mirrored_server_is_lost) {
  int crashes = 0, adoptions = 0;
  size_t unknown = 0;
  for (const uint64_t seed : test::seeds(1000)) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      MirroredServer server(seed, {.duplicate = 0.05, .loss = 0.002});
      const Tensor vector = server.run();
      for (int64_t i = 0; i < elements; ++i) {
        const float value = vector.as<float>()[static_cast<size_t>(i)];
        if (server.acknowledged(i))
          BOOST_TEST_REQUIRE(value == 1, "element " << i);
        else
          BOOST_TEST_REQUIRE((value == 0 || value == 1), "element " << i);
        unknown += server.acknowledged(i) ? 0 : 1;
      }
      crashes += server.crashes();
      adoptions += server.adoptions();
    }
  }
  BOOST_TEST_MESSAGE(crashes << " crashes, " << adoptions << " adoptions, " << unknown
                             << " updates without an answer");
  BOOST_TEST(crashes > 1000);
  BOOST_TEST(adoptions > 500);
}

BOOST_AUTO_TEST_CASE(a_seed_replays) {
  BOOST_TEST(
      (test::replays<MirroredServer>(uint64_t{7}, test::NetworkFaults{.duplicate = 0.05, .loss = 0.002})));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::simulated_mirror_test
