// One field of a message between two honest nodes is damaged. Whichever it is, every request is answered in bounded time, with its
// reply or with an error that names what is missing.
#include <boost/test/unit_test.hpp>

#include <map>

#include "graph/build/control_flow.h"
#include "graph/build/scope.h"
#include "messages/schemas/worker.capnp.h"
#include "tests/support/net/damaged_frame.h"
#include "tests/support/seeds.h"
#include "tests/support/simulation/simulated_cluster.h"

namespace troupe::simulated_damage_test {
namespace {

using test::DamagedFrame, test::SimulatedCluster;

constexpr int64_t second = 1'000'000'000;
const std::vector<std::string> tasks = {"/job:chief/replica:0/task:0", "/job:ps/replica:0/task:0",
                                        "/job:worker/replica:0/task:0", "/job:worker/replica:0/task:1"};

/// ps: v;  worker 0: v + 1 -> worker 1: * 2;  a loop whose body is on worker 0 and worker 1; a tensor that travels in bulk.
struct Model {
  explicit Model(ActorNode& node) : graph(node.library->ops) {}

  Output value(float number) { return g.constant(Tensor::scalar(number)); }
  Output looped() {
    return while_loop(
        worker0, {value(0)},
        [&](const Scope& s, auto vars) {
          return s.add_one("Less", {vars[0], s.constant(Tensor::scalar(4.0f))});
        },
        [&](const Scope& s, auto vars) {
          const Scope there = s.with_device("/job:worker/task:1");
          const Output more = there.add_one("Add", {vars[0], there.constant(Tensor::scalar(2.0f))});
          return std::vector{s.add_one("Sub", {more, s.constant(Tensor::scalar(1.0f))})};
        })[0];
  }

  Graph graph;
  Scope g{graph}, ps = g.with_device("/job:ps"), worker0 = g.with_device("/job:worker/task:0"),
                  worker1 = g.with_device("/job:worker/task:1");
  Output v = ps.with_name("v").add_one("VariableV2", {},
                                       {{"dtype", DType::Float}, {"shape", PartialShape::scalar()}});
  Output init{ps.add("Assign", {v, value(3)}), Output::control};
  Output product = worker1.add_one("Mul", {worker0.add_one("Add", {v, value(1)}), value(2)});
  Output loop = looped();
  Output many = worker0.add_one(
      "Mul",
      {worker0.constant(Tensor::vector<float>(std::span<const float>(std::vector<float>(32 << 10, 1.0f)))),
       v});
  Output largest = worker1.add_one("Max", {many, worker1.constant(Tensor::vector<int32_t>({0}))});
};

/// A client's calls with one frame damaged, and how each call ended.
struct Run {
  Run(uint64_t seed, DamagedFrame frame) : damage(std::move(frame)), cluster(seed, tasks) {
    auto& simulation = cluster.simulation();
    BOOST_TEST_REQUIRE(simulation.run_until([&] { return cluster.complete(); }, 60 * second));
    for (size_t machine = 0; machine < cluster.size(); ++machine)  // each machine has its own disk
      for (const char* folder : {"checkpoints", "checkpoints/000001-round-0"})
        throw_if_failed(machine == 0 ? Status() : cluster.disk(machine).make_folder(folder));
    cluster.network().set_damage([this](auto& bytes) { damage(bytes); });
    cluster.start_client(0, [this] { work(); });
    ended = simulation.run_until([&] { return cluster.clients_ended(); }, simulation.now() + 60 * second);
    cluster.network().set_damage({});
  }

  void work() {
    Model model(cluster.node(0));
    attempt([&] {
      Session session = cluster.session(0, model.graph);
      attempt([&] { session.run({model.init}); });
      for (int i = 0; i < 2; ++i)
        for (const Output& fetched : {model.product, model.loop, model.largest})
          attempt([&] { session.run({fetched}); });
      attempt([&] { session.save("checkpoints"); });
      attempt([&] { session.restore("checkpoints"); });
      attempt([&] { session.close(); });
    });
  }
  template <class Call>
  void attempt(const Call& call) {
    std::optional<Status> status;
    try {
      call();
    } catch (const Error& error) {
      status = error.status();
    }
    if (status) failures.push_back(std::move(*status));
  }

  DamagedFrame damage;
  SimulatedCluster cluster;
  std::vector<Status> failures;
  bool ended = false;
};

BOOST_AUTO_TEST_SUITE(simulated_damage)

BOOST_AUTO_TEST_CASE(whatever_field_is_damaged_nobody_waits_for_ever) {
  std::map<std::string, int> damaged;
  for (const auto& type : DamagedFrame::types())
    for (const uint64_t seed : test::seeds(40)) {
      const Run run(seed, DamagedFrame(type.schema_id, seed % 6, seed));
      if (!run.damage.what().empty()) ++damaged[type.name];
      BOOST_TEST(run.ended, type.name << " " << seed << ": " << run.damage.what());
      BOOST_TEST_MESSAGE(run.damage.what()
                         << (run.failures.empty() ? "" : " => " + run.failures[0].message()));
      for (const Status& failure : run.failures) {
        BOOST_TEST(!failure.text().empty());
        BOOST_TEST((failure.code() != Code::DeadlineExceeded), run.damage.what() << failure.message());
      }
    }
  for (const char* always :
       {"RunPartition", "PartitionDone", "RegisterPartition", "TensorsArrived", "SaveShard", "Bind"})
    BOOST_TEST(damaged[always] > 10, always);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::simulated_damage_test
