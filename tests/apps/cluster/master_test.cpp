// troupe run --master: real clients of a real cluster, over real sockets, and what is left when one of them is killed.
#include <boost/test/unit_test.hpp>

#include <csignal>
#include <functional>
#include <memory>
#include <thread>

#include "actors/runtime.h"
#include "actors/runtime_impl.h"
#include "graph/build/scope.h"
#include "messages/schemas/queue.capnp.h"
#include "messages/wire/message_reader.h"
#include "tests/apps/commands/troupe_program.h"
#include "tests/support/comes_true.h"
#include "tests/support/failure_of.h"
#include "tests/support/net/listening_socket.h"
#include "tests/support/net/reserved_port.h"
#include "tests/support/program.h"
#include "tests/support/temporary_folder.h"

namespace troupe::master_test {
namespace {

using namespace std::chrono_literals;
using test::comes_true;
using test::Program;
using Arguments = std::vector<std::string>;

// A counter, and an element of a queue that nobody fills.
const std::string graph_text = R"(
node { name: "v" op: "VariableV2" device: "/job:ps"
  attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "shape" value { shape { } } } }
node { name: "one" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: 1 } } } }
node { name: "init" op: "Assign" input: "v" input: "one" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "count" op: "AssignAdd" input: "v" input: "one" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "twice" op: "Add" device: "/job:worker" input: "v" input: "v"
  attr { key: "T" value { type: DT_FLOAT } } }
node { name: "queue" op: "FIFOQueueV2" device: "/job:ps"
  attr { key: "component_types" value { list { type: DT_FLOAT } } } }
node { name: "stuck" op: "QueueDequeueV2" input: "queue"
  attr { key: "component_types" value { list { type: DT_FLOAT } } } }
)";

struct Fixture {
  std::string cluster_file(const std::string& more = {}) const {
    return folder.write("cluster.toml", "cluster = { name = 'lab'" + more + " }\n[jobs]\nps = '" +
                                            ps.endpoint() + "'\nworker = '" + worker.endpoint() + "'\n");
  }
  static std::unique_ptr<Program> node(const std::string& file, const std::string& job) {
    return std::make_unique<Program>(test::troupe_program(), Arguments{"node", "--cluster", file, "--job",
                                                                       job, "--task", "0", "--root", "/"});
  }
  Arguments run(const Arguments& more) const {
    Arguments arguments = {"run", graph, "--master", ps.endpoint()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  void prints(const Arguments& more, const std::string& text, int code = 0) const {
    Program program(test::troupe_program(), run(more));
    const int ended = program.end();
    BOOST_TEST(ended == code, program.output());
    BOOST_TEST(program.output().find(text) != std::string::npos, program.output());
  }

  const test::TemporaryFolder folder;
  const std::string graph = folder.write("graph.pbtxt", graph_text);
  const test::ReservedPort ps, worker;
};

BOOST_FIXTURE_TEST_SUITE(master, Fixture)

BOOST_AUTO_TEST_CASE(clients_run_a_graph_one_after_the_other_and_share_its_variables) {
  const std::string file = cluster_file();
  const auto server = node(file, "ps"), computer = node(file, "worker");
  const Arguments by_name = {"--name", "lab"}, by_file = {"--cluster", file};
  prints({"--name", "lab", "--init", "init", "--fetch", "count", "--steps", "3"}, "count = float[]{4}");
  prints({"--cluster", file, "--fetch", "twice"}, "twice = float[]{8}");
  prints({"--name", "lab", "--fetch", "stuck", "--timeout", "100ms"}, "did not end by its deadline", 1);
}

BOOST_AUTO_TEST_CASE(a_reset_drops_what_clients_have_left) {
  const std::string file = cluster_file();
  const auto server = node(file, "ps"), computer = node(file, "worker");
  prints({"--name", "lab", "--init", "init", "--fetch", "twice"}, "twice = float[]{2}");
  const auto reset = [&](const Arguments& more, const std::string& text) {
    Arguments arguments = {"reset", "--master", ps.endpoint(), "--name", "lab"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Program program(test::troupe_program(), arguments);
    BOOST_TEST(program.end() == 0, program.output());
    BOOST_TEST(program.output().find(text) != std::string::npos, program.output());
  };
  reset({"--container", "elsewhere"}, "dropped 0 ");
  prints({"--name", "lab", "--fetch", "twice"}, "twice = float[]{2}");
  reset({"--json"}, "{\"dropped\":");
  prints({"--name", "lab", "--fetch", "twice"}, "is not initialised", 1);
}

BOOST_AUTO_TEST_CASE(clients_prove_who_they_are) {
  const std::string file = cluster_file(
      ", tls = { cert = 'certs/{job}-{task}.pem', key = 'certs/{job}-{task}.key', ca = 'certs/ca.pem' }");
  const std::string certs = folder.path() + "/certs";
  BOOST_TEST(Program(test::troupe_program(), {"certs", certs, "--cluster", file}).end() == 0);
  const auto server = node(file, "ps"), computer = node(file, "worker");
  prints({"--cluster", file, "--init", "init", "--fetch", "twice"}, "twice = float[]{2}");
  const auto with = [&](const std::string& task) {
    return Arguments{"--name",  "lab",
                     "--cert",  certs + "/" + task + ".pem",
                     "--key",   certs + "/" + task + ".key",
                     "--ca",    certs + "/ca.pem",
                     "--fetch", "twice"};
  };
  prints(with("client-0"), "twice = float[]{2}");
  prints(with("worker-0"), "its certificate is that of /job:worker", 1);
}

BOOST_AUTO_TEST_CASE(wrong_options_are_named) {
  prints({"--fetch", "twice"}, "--master needs --cluster, the cluster file, or --name", 2);
  prints({"--name", "lab", "--timeout", "soon"}, "--timeout 'soon' is not a time", 2);
  Program alone(test::troupe_program(), {"run", graph, "--name", "lab"});
  BOOST_TEST(alone.end() == 2);
  BOOST_TEST(alone.output().find("--master") != std::string::npos, alone.output());
}

BOOST_AUTO_TEST_CASE(a_client_that_is_killed_leaves_nothing_on_the_nodes) {
  const test::ListeningSocket socket;
  ClusterSpec spec{.name = "lab", .jobs = {{"ps", {{0, socket.endpoint()}}}}};
  const Runtime member({.threads = 1, .tasks = {{"ps", 0, 1}}, .cluster = spec, .listen = socket.listen()});
  const auto& engine = member.impl().node->engine;
  const std::string text = folder.write("stuck.pbtxt", R"(
node { name: "queue" op: "FIFOQueueV2" attr { key: "component_types" value { list { type: DT_FLOAT } } } }
node { name: "stuck" op: "QueueDequeueV2" input: "queue"
  attr { key: "component_types" value { list { type: DT_FLOAT } } } }
)");
  const Arguments arguments = {"run",    text,  "--master", socket.endpoint(),
                               "--name", "lab", "--fetch",  "stuck"};
  size_t settled = 0;
  for (uint64_t round = 1; round <= 3; ++round) {
    Program client(test::troupe_program(), arguments);
    BOOST_TEST_REQUIRE(comes_true([&] {
      const auto counts = engine.counts();
      const auto at = counts.find(schema_id_of<wire::Dequeue>);
      return at != counts.end() && at->second.messages == round;
    }));
    const size_t busy = engine.actors();
    BOOST_TEST(client.end(SIGKILL) == -SIGKILL);
    BOOST_TEST(
        comes_true([&] { return engine.actors() < busy && member.impl().tasks[0]->sessions.empty(); }));
    if (round == 1) comes_true([&] { return std::exchange(settled, engine.actors()) == engine.actors(); });
    BOOST_TEST(comes_true([&] { return engine.actors() <= settled; }));
  }
}

BOOST_AUTO_TEST_CASE(a_master_that_is_killed_is_named_by_its_endpoint) {
  const std::string file = cluster_file();
  auto server = node(file, "ps");
  const auto computer = node(file, "worker");
  Runtime client({.threads = 1});
  Graph model(client.ops());
  const Scope g(model);
  const std::vector<DType> floats{DType::Float};
  const Output queue = g.add_one("FIFOQueueV2", {}, {{"component_types", floats}});
  const Output stuck = g.add_one("QueueDequeueV2", {queue}, {{"component_types", floats}});
  MasterOptions master{ps.endpoint(), {}};
  master.cluster.name = "lab";
  Session session = client.connect(model, master);
  session.prepare({}, {stuck});
  std::thread killer([&] { kill(server->process(), SIGKILL); });
  const Status status = test::failure_of([&] { session.run({stuck}); });
  killer.join();
  BOOST_TEST((status.code() == Code::Unavailable), status.message());
  BOOST_TEST(status.text().find(ps.endpoint()) != std::string::npos, status.text());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::master_test
