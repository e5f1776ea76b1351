// Sessions whose master lives in another process, over real sockets: clients without devices of a cluster whose nodes are runtimes
// of this process.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <thread>

#include "actors/net/client_node.h"
#include "actors/runtime.h"
#include "actors/runtime_impl.h"
#include "actors/site/graph_wire.h"
#include "actors/step/session_server.h"
#include "graph/build/scope.h"
#include "messages/schemas/queue.capnp.h"
#include "messages/schemas/session.capnp.h"
#include "messages/schemas/sessions.capnp.h"
#include "messages/schemas/worker.capnp.h"
#include "messages/wire/wire.h"
#include "tests/support/comes_true.h"
#include "tests/support/failure_of.h"
#include "tests/support/net/certificates.h"
#include "tests/support/net/listening_socket.h"
#include "tests/support/temporary_folder.h"

namespace troupe::remote_session_test {
namespace {

using namespace std::chrono_literals;
using test::comes_true;
using test::failure_of;

Tensor number(float value) { return Tensor::scalar(value); }
float value_of(const std::vector<Tensor>& tensors) { return tensors.at(0).as<float>()[0]; }

struct Cluster {
  Cluster() {
    spec.name = "secret";
    spec.jobs["ps"][0] = ps_socket.endpoint();
    spec.jobs["worker"][0] = worker_socket.endpoint();
  }
  void start() {
    ps = make("ps", ps_socket.listen());
    worker = make("worker", worker_socket.listen());
  }
  std::unique_ptr<Runtime> make(const std::string& job, const std::string& listen) const {
    RuntimeOptions options;
    options.threads = 1;
    options.tasks = {{job, 0, 1}};
    options.cluster = spec;
    if (options.cluster->tls) options.cluster->tls = certificates.of("/job:" + job + "/replica:0/task:0");
    options.listen = listen;
    return std::make_unique<Runtime>(options);
  }
  /// The cluster as clients know it: its name only.
  MasterOptions master() const {
    MasterOptions options{ps_socket.endpoint(), {}};
    options.cluster.name = spec.name;
    return options;
  }
  MasterOptions master(const TlsFiles& tls) const {
    MasterOptions options = master();
    options.cluster.tls = tls;
    return options;
  }
  size_t actors() const { return ps->impl().node->engine.actors() + worker->impl().node->engine.actors(); }
  size_t cells() const {
    return ps->impl().tasks[0]->state->cells().size() + worker->impl().tasks[0]->state->cells().size();
  }

  mutable test::Certificates certificates;
  test::ListeningSocket ps_socket, worker_socket;
  ClusterSpec spec;
  std::unique_ptr<Runtime> ps, worker;
};

/// ps: v, an accumulating variable;  worker: v * 2;  ps: an element of a queue that nobody fills.
struct Model {
  explicit Model(const Runtime& runtime, const std::string& name = "v", int64_t size = 1)
      : graph(runtime.ops()), rows(size) {
    const PartialShape shape{size};
    x = g.add_one("Placeholder", {}, {{"dtype", DType::Float}, {"shape", shape}});
    const Output v =
        at_ps.with_name(name).add_one("VariableV2", {}, {{"dtype", DType::Float}, {"shape", shape}});
    assign = {at_ps.add("Assign", {v, x}), Output::control};
    add = at_ps.add_one("AssignAdd", {v, x});
    twice = g.with_device("/job:worker").add_one("Mul", {v, g.constant(number(2))});
    const Output queue = at_ps.add_one("FIFOQueueV2", {}, {{"component_types", floats}});
    stuck = at_ps.add_one("QueueDequeueV2", {queue}, {{"component_types", floats}});
  }
  std::vector<std::pair<Output, Tensor>> feed(float value) const {
    Tensor tensor = value_or_throw(Tensor::allocate(DType::Float, Shape{rows}));
    std::ranges::fill(tensor.write<float>(), value);
    return {{x, tensor}};
  }
  void set(Session& session, float value) const { session.run(feed(value), {assign}); }
  float read(Session& session) const {
    const Tensor result = session.run({twice})[0];
    return result.as<float>()[static_cast<size_t>(rows) - 1];
  }

  Graph graph;
  const int64_t rows;
  const std::vector<DType> floats{DType::Float};
  const Scope g{graph}, at_ps = g.with_device("/job:ps");
  Output x, assign, add, twice, stuck;
};

struct Fixture : Cluster {
  Runtime client{{.threads = 1}};
};

BOOST_FIXTURE_TEST_SUITE(remote_session, Fixture)

BOOST_AUTO_TEST_CASE(a_client_without_devices_runs_steps_on_all_nodes) {
  start();
  for (const int64_t size :
       {int64_t{1}, int64_t{300'000}}) {  // the second is large enough for the bulk connection
    const Model model(client, "v" + std::to_string(size), size);
    Session session = client.connect(model.graph, master());
    model.set(session, 3);
    BOOST_TEST(model.read(session) == 6.0f);
    std::vector<std::string> names;
    for (const auto& device : session.devices()) names.push_back(device.name);
    BOOST_TEST((names == std::vector<std::string>{"/job:ps/replica:0/task:0/device:CPU:0",
                                                  "/job:worker/replica:0/task:0/device:CPU:0"}));
    session.close();
    BOOST_TEST((failure_of([&] { model.read(session); }).code() == Code::FailedPrecondition));
  }
}

BOOST_AUTO_TEST_CASE(a_graph_may_grow_and_prepared_steps_go_on) {
  start();
  Model model(client);
  Session session = client.connect(model.graph, master());
  model.set(session, 1);
  const PreparedStep step = session.prepare({}, {model.twice});
  const Output more = model.g.add_one("Mul", {model.twice, model.g.constant(number(5))});
  BOOST_TEST(value_of(session.run({more})) == 10.0f);
  BOOST_TEST(value_of(step.run({})) == 2.0f);
}

BOOST_AUTO_TEST_CASE(a_step_is_described_without_running) {
  start();
  const Model model(client);
  Session session = client.connect(model.graph, master());
  const StepDescription step = session.describe({}, {model.twice});
  const auto device_of = [&](const std::string& op) {
    const auto node = std::ranges::find(step.nodes, op, &PlacedNode::op);
    return node == step.nodes.end() ? std::string() : node->device;
  };
  BOOST_TEST(device_of("VariableV2") == "/job:ps/replica:0/task:0/device:CPU:0");
  BOOST_TEST(device_of("Mul") == "/job:worker/replica:0/task:0/device:CPU:0");
  BOOST_TEST_REQUIRE(step.parts.size() == 2u);
  const auto has = [&](size_t part, const std::string& op) {
    return std::ranges::count(step.parts[part].graph.nodes(), op, &Node::type) == 1;
  };
  BOOST_TEST(step.parts[0].device == device_of("VariableV2"));
  BOOST_TEST(has(0, "_Send"));
  BOOST_TEST(has(1, "_Recv"));
  BOOST_TEST(step.text().find("v: (VariableV2) /job:ps/") == 0u);
  BOOST_TEST(
      (failure_of([&] { model.read(session); }).code() == Code::FailedPrecondition));  // nothing has run
  session.close();
  BOOST_TEST((failure_of([&] { session.describe({}, {model.twice}); }).code() == Code::FailedPrecondition));
}

BOOST_AUTO_TEST_CASE(clients_share_variables_unless_they_want_their_own) {
  start();
  const Model model(client);
  Runtime other{{.threads = 1}};
  const Model same(other);
  Session one = client.connect(model.graph, master()), two = other.connect(same.graph, master());
  model.set(one, 1);
  BOOST_TEST(same.read(two) == 2.0f);
  const size_t shared = cells();
  Session own = other.connect(same.graph, master(), {.share_state = false});
  BOOST_TEST((failure_of([&] { same.read(own); }).code() == Code::FailedPrecondition));
  same.set(own, 7);
  BOOST_TEST(same.read(own) == 14.0f);
  BOOST_TEST(model.read(one) == 2.0f);
  own.close();
  BOOST_TEST(comes_true([&] { return cells() == shared; }));
}

BOOST_AUTO_TEST_CASE(one_certificate_serves_several_clients) {
  spec.tls = TlsFiles{};
  start();
  for (const std::string task : {"/job:client/replica:0/task:0", ""}) {
    const TlsFiles files = certificates.of(task);
    const Model model(client, "v", 100'000);
    Session one = client.connect(model.graph, master(files)),
            two = client.connect(model.graph, master(files));
    model.set(one, 4);
    BOOST_TEST(model.read(two) == 8.0f);
  }
}

BOOST_AUTO_TEST_CASE(strangers_are_refused_with_the_reason) {
  spec.tls = TlsFiles{};
  start();
  const Model model(client);
  const auto refused = [&](const MasterOptions& options) {
    return failure_of([&] { client.connect(model.graph, options, {.start_timeout = 5s}); });
  };
  const Status member = refused(master(certificates.of("/job:worker/replica:0/task:0")));
  BOOST_TEST((member.code() == Code::PermissionDenied), member.message());
  BOOST_TEST(member.text().find("its certificate is that of /job:worker") != std::string::npos,
             member.text());
  BOOST_TEST(member.text().find(ps_socket.endpoint()) != std::string::npos, member.text());
  const Status foreign = refused(master(certificates.of_another_authority("/job:client/replica:0/task:0")));
  BOOST_TEST((foreign.code() == Code::InvalidArgument), foreign.message());
  const Status plain = failure_of([&] { client.connect(model.graph, master(), {.start_timeout = 1s}); });
  BOOST_TEST(!plain.ok());
  MasterOptions other = master(certificates.of(""));
  other.cluster.name = "other";
  const Status name = refused(other);
  BOOST_TEST((name.code() == Code::FailedPrecondition), name.message());
}

BOOST_AUTO_TEST_CASE(a_master_that_is_not_there_or_lacks_nodes_is_named) {
  const Model model(client);
  const test::ListeningSocket nobody;
  MasterOptions wrong = master();
  wrong.endpoint = nobody.endpoint();
  ::close(nobody.descriptor);
  const Status absent = failure_of([&] { client.connect(model.graph, wrong, {.start_timeout = 300ms}); });
  BOOST_TEST(absent.text().find(nobody.endpoint()) != std::string::npos, absent.message());
  ps = make("ps", ps_socket.listen());
  const Status partly = failure_of([&] { client.connect(model.graph, master(), {.start_timeout = 300ms}); });
  BOOST_TEST((partly.code() == Code::DeadlineExceeded), partly.message());
  BOOST_TEST(partly.text().find("/job:worker/replica:0/task:0 at ") != std::string::npos, partly.text());
  Session small = client.connect(model.graph, master(), {.tasks = {"/job:ps"}});
  BOOST_TEST(small.devices().size() == 1u);
  const Status unknown = failure_of([&] { client.connect(model.graph, master(), {.tasks = {"/job:pss"}}); });
  BOOST_TEST((unknown.code() == Code::InvalidArgument), unknown.message());
  BOOST_TEST(unknown.text().find("'/job:pss'") != std::string::npos, unknown.text());
  BOOST_TEST(unknown.text().find("/job:worker/replica:0/task:0") != std::string::npos, unknown.text());
}

BOOST_AUTO_TEST_CASE(steps_end_by_deadline_and_with_the_session) {
  start();
  const Model model(client);
  Session session = client.connect(model.graph, master());
  const Status late = failure_of([&] { session.run({}, {model.stuck}, {.timeout = 50ms}); });
  BOOST_TEST((late.code() == Code::DeadlineExceeded), late.message());
  model.set(session, 1);
  auto waiting =
      std::async(std::launch::async, [&] { return failure_of([&] { session.run({model.stuck}); }); });
  BOOST_TEST_REQUIRE(comes_true([&] {
    const auto counts = ps->impl().node->engine.counts();
    const auto at = counts.find(schema_id_of<wire::Dequeue>);
    return at != counts.end() && at->second.messages == 2;
  }));
  session.cancel();
  const Status cancelled = waiting.get();
  BOOST_TEST((cancelled.code() == Code::Cancelled), cancelled.message());
}

BOOST_AUTO_TEST_CASE(partial_runs_and_checkpoints_work_from_afar) {
  start();
  const test::TemporaryFolder folder;
  const Model model(client);
  Session session = client.connect(model.graph, master());
  model.set(session, 5);
  session.save(folder.path() + "/saved", {3, {}, 5});
  model.set(session, 6);
  BOOST_TEST(session.restore(folder.path() + "/saved").round == 3u);
  BOOST_TEST(model.read(session) == 10.0f);
  const Output y = model.g.add_one("Placeholder", {}, {{"dtype", DType::Float}});
  const Output sum = model.g.add_one("Add", {model.twice, y});
  const PartialRun run = session.partial_run_setup({y}, {model.twice, sum});
  const float first = value_of(session.partial_run(run, {}, {model.twice}));
  BOOST_TEST(value_of(session.partial_run(run, {{y, number(first)}}, {sum})) == 20.0f);
}

BOOST_AUTO_TEST_CASE(queue_runners_of_a_client_fill_a_queue_of_the_cluster) {
  start();
  Model model(client);
  const Output queue =
      model.at_ps.add_one("FIFOQueueV2", {}, {{"component_types", model.floats}, {"capacity", int64_t{3}}});
  const Output fill{model.at_ps.add("QueueEnqueueV2", {queue, model.g.constant(number(9))}), Output::control};
  const Output take = model.at_ps.add_one("QueueDequeueV2", {queue}, {{"component_types", model.floats}});
  Session session = client.connect(model.graph, master());
  QueueRunner runner;
  runner.enqueue = {fill};
  runner.cancel =
      Output{model.at_ps.add("QueueCloseV2", {queue}, {{"cancel_pending_enqueues", true}}), Output::control};
  session.start_queue_runners({runner});
  for (int i = 0; i < 10; ++i) BOOST_TEST(value_of(session.run({take})) == 9.0f);
  session.stop_queue_runners();
}

BOOST_AUTO_TEST_CASE(a_session_that_goes_leaves_nothing) {
  start();
  const Model model(client);
  {
    Session first = client.connect(model.graph, master());
    model.set(first, 1);
  }
  BOOST_TEST_REQUIRE(comes_true([&] { return actors() > 0; }));
  size_t settled = 0;
  comes_true([&] { return std::exchange(settled, actors()) == actors(); });
  for (int i = 0; i < 20; ++i) {
    Session session = client.connect(model.graph, master(), {.share_state = i % 2 == 0});
    model.set(session, 1);
    if (i % 3 == 0) session.close();
  }
  BOOST_TEST(comes_true([&] { return actors() <= settled; }));
  BOOST_TEST(actors() <= settled);
}

BOOST_AUTO_TEST_CASE(a_master_that_is_lost_is_named) {
  start();
  const Model model(client);
  Session session = client.connect(model.graph, master());
  model.set(session, 1);
  auto waiting =
      std::async(std::launch::async, [&] { return failure_of([&] { session.run({model.stuck}); }); });
  BOOST_TEST_REQUIRE(
      comes_true([&] { return ps->impl().node->engine.counts().contains(schema_id_of<wire::Dequeue>); }));
  ps.reset();
  const Status lost = waiting.get();
  BOOST_TEST((lost.code() == Code::Unavailable), lost.message());
  BOOST_TEST(lost.text().find("the master at " + ps_socket.endpoint()) != std::string::npos, lost.text());
  const Status later = failure_of([&] { model.read(session); });
  BOOST_TEST((later.code() == Code::Unavailable), later.message());
  ps_socket = test::ListeningSocket(ps_socket.port());
  ps = make("ps", ps_socket.listen());
  Session again = client.connect(model.graph, master());
  model.set(again, 2);
  BOOST_TEST(model.read(again) == 4.0f);
}

// The node has one thread. Without turns, the step of the second client would come after all those of the first.
BOOST_AUTO_TEST_CASE(many_steps_of_one_client_do_not_hold_up_another) {
  constexpr int many = 24;
  start();
  Graph graph(client.ops());
  const Scope at_ps = Scope(graph).with_device("/job:ps");
  const Output random = at_ps.add_one("RandomUniform", {at_ps.constant(Tensor::vector<int32_t>({512, 512}))},
                                      {{"dtype", DType::Float}});
  const Output product = at_ps.add_one("MatMul", {at_ps.add_one("MatMul", {random, random}), random});
  const Output norm = at_ps.add_one("Sum", {product, at_ps.constant(Tensor::vector<int32_t>({0, 1}))});
  Session busy = client.connect(graph, master()), other = client.connect(graph, master());
  busy.run({norm});
  other.run({norm});
  const auto steps = [&] {
    return ps->impl().node->engine.counts().at(schema_id_of<wire::RunPartition>).messages;
  };
  const uint64_t before = steps();
  std::atomic<int> done{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < many; ++i)
    callers.emplace_back([&] {
      busy.run({norm});
      ++done;
    });
  BOOST_TEST_REQUIRE(comes_true([&] { return steps() >= before + many; }));
  const int begun = done;
  other.run({norm});
  const int overtaken = done - begun;
  for (std::thread& caller : callers) caller.join();
  BOOST_TEST_MESSAGE(overtaken << " of " << many - begun << " steps were done first");
  BOOST_TEST(overtaken <= 6);
}

/// Two variables at ps, one in a container, and one at the worker in the same container.
struct Contained {
  explicit Contained(const Runtime& runtime) : graph(runtime.ops()) {
    const Scope g(graph), at_ps = g.with_device("/job:ps"), at_worker = g.with_device("/job:worker");
    const auto add = [&](const Scope& where, const std::string& name, const std::string& container) {
      const Output v = where.with_name(name).add_one(
          "VariableV2", {},
          {{"dtype", DType::Float}, {"shape", PartialShape::scalar()}, {"container", container}});
      assigns.push_back({where.add("Assign", {v, where.constant(number(1))}), Output::control});
      known.push_back(where.add_one("IsVariableInitialized", {v}));
    };
    add(at_ps, "plain", "");
    add(at_ps, "inside", "experiment");
    add(at_worker, "there", "experiment");
  }
  std::string initialized(Session& session) const {
    std::string text;
    for (const Tensor& value : session.run(known)) text += value.as<bool>()[0] ? 'y' : 'n';
    return text;
  }
  Graph graph;
  std::vector<Output> assigns, known;
};

BOOST_AUTO_TEST_CASE(a_reset_drops_the_state_of_containers_everywhere_and_ends_sessions) {
  start();
  const Contained model(client);
  const Model queues(client);
  Session session = client.connect(model.graph, master()), busy = client.connect(queues.graph, master());
  session.run(model.assigns);
  BOOST_TEST(model.initialized(session) == "yyy");
  const auto dequeues = [&] {
    const auto counts = ps->impl().node->engine.counts();
    return counts.contains(schema_id_of<wire::Dequeue>);
  };
  auto waiting =
      std::async(std::launch::async, [&] { return failure_of([&] { busy.run({queues.stuck}); }); });
  BOOST_TEST_REQUIRE(comes_true(dequeues));
  BOOST_TEST(client.reset_cluster(master(), {"experiment"}) == 2u);
  const Status running = waiting.get();
  BOOST_TEST((running.code() == Code::Aborted || running.code() == Code::Unavailable), running.message());
  const Status later = failure_of([&] { model.initialized(session); });
  BOOST_TEST((later.code() == Code::Aborted), later.message());
  BOOST_TEST(later.text().find("was reset") != std::string::npos, later.text());
  Session again = client.connect(model.graph, master());
  BOOST_TEST(model.initialized(again) == "ynn");
  again.run(model.assigns);
  BOOST_TEST(client.reset_cluster(master(), {"localhost"}) >= 1u);
  Session third = client.connect(model.graph, master());
  BOOST_TEST(model.initialized(third) == "nyy");
  BOOST_TEST(client.reset_cluster(master()) >= 2u);
  BOOST_TEST(cells() == 0u);
  Session fourth = client.connect(model.graph, master());
  BOOST_TEST(model.initialized(fourth) == "nnn");
  session.close();
  again.close();
}

BOOST_AUTO_TEST_CASE(a_runtime_resets_itself_and_its_cluster) {
  start();
  Contained model(*ps);
  Session session = ps->session(model.graph);
  session.run(model.assigns);
  BOOST_TEST(worker->reset({"experiment"}) == 2u);
  BOOST_TEST((failure_of([&] { model.initialized(session); }).code() == Code::Aborted));

  Runtime alone{{.threads = 1, .tasks = {{"ps", 0, 1}, {"worker", 0, 1}}}};
  Contained local(alone);
  Session own = alone.session(local.graph), sharing = alone.session(local.graph, {.share_state = true});
  own.run(local.assigns);
  sharing.run(local.assigns);
  BOOST_TEST(alone.reset() == 6u);
  for (Session* ended : {&own, &sharing}) {
    BOOST_TEST((failure_of([&] { local.initialized(*ended); }).code() == Code::Aborted));
    ended->close();
  }
  Session again = alone.session(local.graph);
  BOOST_TEST(local.initialized(again) == "nnn");
}

/// A client that sends the messages of the schema itself.
struct RawClient {
  RawClient(Runtime& runtime, const MasterOptions& master, int number)
      : node(value_or_throw(ClientNode::connect(
            {*runtime.impl().loop, *runtime.impl().pool, runtime.impl().disk, runtime.impl().node->library,
             200'000'000},
            master.cluster, master.endpoint, number, runtime.impl().loop->now() + 5'000'000'000))) {}

  Result<AnyMessage> ask(const Address& to, AnyMessage message) {
    TROUPE_ASSIGN(const auto actor, node->actors().directory.find(to));
    return node->actors().engine.call(actor, std::move(message));
  }
  Address open() {
    Draft<wire::OpenSession> draft;
    write(node->own_address(), draft->initClient());
    draft->setPatience(10'000'000'000);
    draft->setSignatures(8);
    const auto answer = value_or_throw(ask(node->member_address(session_server_role), draft.finish()));
    return read(Message<wire::SessionOpened>(answer)->getMaster());
  }
  static Message<wire::Extend> extension(const Graph& graph, uint64_t version) {
    Draft<wire::Extend> draft;
    std::vector<Tensor> attachments;
    write(graph, 0, draft->initGraph(), attachments);
    draft->setVersion(version);
    return draft.finish(std::move(attachments));
  }

  std::unique_ptr<ClientNode> node;
};

BOOST_AUTO_TEST_CASE(of_two_extensions_of_one_version_one_wins) {
  start();
  RawClient one(client, master(), 1);
  Runtime runtime{{.threads = 1}};
  RawClient two(runtime, master(), 2);
  const Address session = one.open();
  const Model first(client, "first"), second(runtime, "second");
  std::vector<Code> codes;
  auto racing = std::async(std::launch::async, [&] {
    return one.ask(session, RawClient::extension(first.graph, 0)).status().code();
  });
  codes.push_back(two.ask(session, RawClient::extension(second.graph, 0)).status().code());
  codes.push_back(racing.get());
  std::ranges::sort(codes);
  BOOST_TEST((codes == std::vector<Code>{Code::Ok, Code::Aborted}));
}

BOOST_AUTO_TEST_CASE(wrong_messages_are_answered_and_harm_nobody) {
  start();
  const Model model(client);
  RawClient hostile(client, master(), 3);
  const Address session = hostile.open();
  const auto refusal = [&](AnyMessage message) {
    return hostile.ask(session, std::move(message)).status().code();
  };
  {
    Draft<wire::Extend> draft;
    auto node = draft->initGraph().initNodes(1)[0];
    node.setName("bad");
    node.setOp("NoSuchOp");
    BOOST_TEST((refusal(draft.finish()) != Code::Ok));
  }
  {
    Draft<wire::Extend> draft;
    auto node = draft->initGraph().initNodes(1)[0];
    node.setName("bad");
    node.setOp("Identity");
    node.initInputs(1)[0].setNode(4'000'000'000);
    BOOST_TEST((refusal(draft.finish()) != Code::Ok));
  }
  BOOST_TEST((refusal(RawClient::extension(model.graph, 9)) == Code::Aborted));
  BOOST_TEST((refusal(RawClient::extension(model.graph, 0)) == Code::Ok));
  {
    Draft<wire::PrepareStep> draft;
    draft->initFetches(1).set(0, "nothing:0");
    BOOST_TEST((refusal(draft.finish()) == Code::NotFound));
  }
  {
    Draft<wire::RunStep> draft;
    draft->setHandle(99);
    BOOST_TEST((refusal(draft.finish()) == Code::Aborted));
  }
  uint64_t handle = 0;
  {
    Draft<wire::PrepareStep> draft;
    draft->initTargets(1).set(0, model.graph.node(model.assign.node).name);
    draft->initFeeds(1).set(0, model.graph.name_of(model.x));
    const auto answer = hostile.ask(session, draft.finish());
    BOOST_TEST_REQUIRE(answer.ok(), answer.status().message());
    handle = Message<wire::StepPrepared>(*answer)->getHandle();
  }
  for (const bool fed : {false, true}) {
    Draft<wire::RunStep> draft;
    draft->setHandle(handle);
    draft->setRemaining(UINT64_MAX);
    std::vector<Tensor> tensors;
    if (fed) tensors.push_back(Tensor::scalar(1.5));  // a double for a float
    const Code code = refusal(draft.finish(std::move(tensors)));
    BOOST_TEST((code == Code::InvalidArgument));
  }
  {
    Draft<wire::ContinuePartialRun> draft;
    draft->setOrdinal(1234);
    draft->initFetches(1).set(0, 7);
    BOOST_TEST((refusal(draft.finish()) != Code::Ok));
  }
  // A message that only actors of one node exchange ends the link of the client, and with it its session.
  const auto local = hostile.ask(session, Draft<wire::StepExpired>().finish());
  BOOST_TEST(!local.ok());
  Session honest = client.connect(model.graph, master());
  model.set(honest, 1);
  BOOST_TEST(model.read(honest) == 2.0f);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::remote_session_test
