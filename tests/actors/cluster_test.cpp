// Runtimes that form one cluster over real sockets. Each has the actors of one process; here all of them are in one process.
#include <boost/test/unit_test.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>
#include <future>
#include <random>
#include <thread>

#include "actors/net/transport/ucx_network.h"
#include "actors/runtime.h"
#include "actors/runtime_impl.h"
#include "graph/build/scope.h"
#include "messages/schemas/queue.capnp.h"
#include "tests/support/comes_true.h"
#include "tests/support/failure_of.h"
#include "tests/support/net/certificates.h"
#include "tests/support/net/listening_socket.h"
#include "tests/support/net/slow_proxy.h"

namespace troupe::cluster_test {
namespace {

using namespace std::chrono_literals;
using test::comes_true;

struct Fixture {
  Fixture() {
    spec.name = "secret";
    spec.jobs["ps"][0] = ps_socket.endpoint();
    spec.jobs["worker"][0] = worker_socket.endpoint();
  }
  void start_ps() { ps = make("ps", ps_socket.listen()); }
  void start_worker() { worker = make("worker", worker_socket.listen()); }
  std::unique_ptr<Runtime> make(const std::string& job, const std::string& listen, size_t memory = 0) {
    RuntimeOptions options;
    options.threads = 1;
    options.memory = memory;
    options.tasks = {{job, 0, 1}};
    options.cluster = spec;
    options.listen = listen;
    return std::make_unique<Runtime>(options);
  }
  test::ListeningSocket ps_socket, worker_socket;
  ClusterSpec spec;
  std::unique_ptr<Runtime> ps, worker;
};

// ps: v;  worker: v + 1;  client: runs steps with large and small tensors
void train_a_little(Runtime& client, int64_t size) {
  Graph graph(client.ops());
  const Scope g(graph), ps = g.with_device("/job:ps"), worker = g.with_device("/job:worker");
  const Output v = ps.with_name("v" + std::to_string(size))
                       .add_one("VariableV2", {}, {{"dtype", DType::Float}, {"shape", PartialShape{size}}});
  const Output x = g.add_one("Placeholder", {}, {{"dtype", DType::Float}, {"shape", PartialShape{size}}});
  const Output init{ps.add("Assign", {v, x}), Output::control};
  const Output next = worker.add_one("Add", {v, g.constant(Tensor::scalar(1.0f))});
  const Output update{ps.add("Assign", {v, next}), Output::control};
  Session session = client.session(graph);
  Tensor zeros = value_or_throw(Tensor::allocate(f32, Shape{size}));
  std::ranges::fill(zeros.write<float>(), 0.0f);
  session.run({{x, zeros}}, {init});
  for (int i = 0; i < 5; ++i) session.run({update});
  const Tensor result = session.run({v})[0];
  BOOST_TEST(result.as<float>()[0] == 5.0f);
  BOOST_TEST(result.as<float>()[static_cast<size_t>(size) - 1] == 5.0f);
  session.close();
}

BOOST_FIXTURE_TEST_SUITE(cluster, Fixture)

BOOST_AUTO_TEST_CASE(a_client_runs_its_graph_on_two_nodes) {
  start_ps();
  start_worker();
  const auto client = make("client", {});
  train_a_little(*client, 1);
  train_a_little(*client, 300'000);  // large enough for the bulk connection
}

// Large feeds take another connection than small ones, so the request for a step may overtake that for an earlier one.
BOOST_AUTO_TEST_CASE(steps_with_feeds_of_different_sizes_overtake_each_other) {
  spec.transport = Transport::Tcp;
  start_ps();
  const auto client = make("client", {});
  Graph graph(client->ops());
  const Scope at_ps = Scope(graph).with_device("/job:ps");
  const Output x = at_ps.add_one("Placeholder", {}, {{"dtype", DType::Float}, {"shape", PartialShape{-1}}});
  const Output sum = at_ps.add_one("Sum", {x, at_ps.constant(Tensor::scalar<int32_t>(0))});
  Session session = client->session(graph, {.tasks = {"/job:ps"}});
  const PreparedStep step = session.prepare({x}, {sum});
  const auto sums = [&step](int64_t size) {
    const Tensor ones =
        Tensor::vector<float>(std::span<const float>(std::vector<float>(static_cast<size_t>(size), 1)));
    std::vector<float> all;
    for (int i = 0; i < 200; ++i) all.push_back(step.run({ones})[0].item<float>());
    return all;
  };
  auto small = std::async(std::launch::async, sums, 100),
       large = std::async(std::launch::async, sums, 200'000);
  BOOST_TEST(small.get() == std::vector<float>(200, 100));
  BOOST_TEST(large.get() == std::vector<float>(200, 200'000));
}

// The worker has memory for the small tensors alone, whether they come as feeds, from another node, or as an answer.
BOOST_AUTO_TEST_CASE(a_tensor_that_does_not_fit_costs_its_step_and_no_other) {
  spec.transport = Transport::Tcp;
  start_ps();
  worker = make("worker", worker_socket.listen(), size_t{64} << 20);
  const auto client = make("client", {});
  Graph graph(client->ops());
  const Scope g(graph), at_ps = g.with_device("/job:ps"), there = g.with_device("/job:worker");
  const Output n = at_ps.add_one("Placeholder", {}, {{"dtype", DType::Int32}, {"shape", PartialShape{1}}});
  const Output x = there.add_one("Placeholder", {}, {{"dtype", DType::Float}, {"shape", PartialShape{-1}}});
  const Output axis = there.constant(Tensor::scalar<int32_t>(0));
  const Output made = at_ps.add_one("Fill", {n, at_ps.constant(Tensor::scalar(1.0F))});
  const Output moved = there.add_one("Sum", {made, axis}), fed = there.add_one("Sum", {x, axis});
  Session session = client->session(graph), other = client->session(graph);
  const auto move = [&](Session& by, int32_t count) {
    return by.run({{n, Tensor::vector<int32_t>({count})}}, {moved})[0].item<float>();
  };
  const auto feed = [&](size_t count) {
    const Tensor ones = Tensor::vector<float>(std::vector<float>(count, 1.0F));
    return session.run({{x, ones}}, {fed})[0].item<float>();
  };
  for (int i = 0; i < 3; ++i) {
    BOOST_TEST(move(other, 1000) == 1000.0F);
    const Status refused[] = {test::failure_of([&] { move(session, 40'000'000); }),
                              test::failure_of([&] { feed(40'000'000); })};
    for (const Status& status : refused) {
      BOOST_TEST((status.code() == Code::ResourceExhausted), status.message());
      BOOST_TEST(status.message().find("/job:worker") != std::string::npos, status.message());
    }
    BOOST_TEST(move(other, 1000) == 1000.0F);
    BOOST_TEST(feed(1000) == 1000.0F);
  }
  BOOST_TEST(worker->link_status("/job:ps/replica:0/task:0").ok());
}

// Here all nodes are of one host and user.
BOOST_AUTO_TEST_CASE(nodes_share_memory_if_all_of_them_want_to) {
  const std::string ps_task = "/job:ps/replica:0/task:0";
  start_ps();
  start_worker();
  {
    const auto client = make("client", {});
    train_a_little(*client, 100'000);
    BOOST_TEST(client->transport_of(ps_task).starts_with("shared memory"));
    BOOST_TEST(worker->transport_of(ps_task).starts_with("shared memory"));
  }
  spec.transport = Transport::Tcp;
  {
    const auto apart = make("client", {});
    train_a_little(*apart, 100'001);
    BOOST_TEST(apart->transport_of(ps_task) == "TCP");
  }
  worker.reset();
  worker_socket = test::ListeningSocket(worker_socket.port());
  start_worker();
  spec.transport = Transport::Shared;
  const auto strict = make("client", {});
  Graph graph(strict->ops());
  const Status status = test::failure_of([&] { strict->session(graph, {.start_timeout = 2s}); });
  BOOST_TEST((status.code() == Code::FailedPrecondition), status.message());
  BOOST_TEST(
      status.text().find("shared memory only, which does not connect it with /job:worker/replica:0/task:0") !=
          std::string::npos,
      status.text());
}

BOOST_AUTO_TEST_CASE(nodes_use_ucx_if_all_of_them_want_to) {
  if (!has_ucx()) return;
  const std::string ps_task = "/job:ps/replica:0/task:0";
  spec.transport = Transport::Ucx;
  start_ps();
  start_worker();
  {
    const auto client = make("client", {});
    train_a_little(*client, 1);
    train_a_little(*client, 3'000'000);
    BOOST_TEST(client->transport_of(ps_task) == "UCX");
    BOOST_TEST(worker->transport_of(ps_task) == "UCX");
  }
  for (const auto transport : {Transport::Auto, Transport::Tcp}) {
    spec.transport = transport;
    const auto other = make("client", {});
    Graph graph(other->ops());
    const Status status = test::failure_of([&] { other->session(graph, {.start_timeout = 2s}); });
    BOOST_TEST((status.code() == Code::FailedPrecondition), status.message());
    BOOST_TEST(status.text().find("this node is to use UCX only") != std::string::npos, status.text());
  }
}

BOOST_AUTO_TEST_CASE(clients_of_a_cluster_share_its_variables) {
  start_ps();
  start_worker();
  const auto one = make("client", {}), two = make("other", {});
  for (const auto& [client, assigns] : {std::pair(one.get(), true), {two.get(), false}}) {
    Graph graph(client->ops());
    const Scope at_ps = Scope(graph).with_device("/job:ps");
    const Output v =
        at_ps.with_name("v").add_one("VariableV2", {}, {{"dtype", DType::Float}, {"shape", PartialShape{}}});
    const Output assign = at_ps.add_one("Assign", {v, at_ps.constant(Tensor::scalar(7.0f))});
    Session session = client->session(graph);
    BOOST_TEST(session.run({assigns ? assign : v})[0].as<float>()[0] == 7.0f);
  }
}

BOOST_AUTO_TEST_CASE(a_second_process_of_a_task_is_refused_and_gives_up) {
  const std::string name = "/job:worker/replica:0/task:0";
  start_ps();
  start_worker();
  BOOST_TEST_REQUIRE(comes_true([&] { return ps->link_status(name).ok(); }));
  const test::ListeningSocket elsewhere;
  {
    const auto second = make("worker", elsewhere.listen());
    BOOST_TEST_REQUIRE(comes_true([&] { return !second->status().ok(); }));
    BOOST_TEST(second->status().text() ==
               name + " is there already, as another process that /job:ps/replica:0/task:0 is linked to");
    BOOST_TEST(!second->link_status("/job:ps/replica:0/task:0").ok());
  }
  train_a_little(*make("client", {}), 1);
}

BOOST_AUTO_TEST_CASE(members_prove_who_they_are) {
  test::Certificates certificates;
  spec.tls = certificates.of("/job:ps/replica:0/task:0");
  start_ps();
  spec.tls = certificates.of("/job:worker/replica:0/task:0");
  start_worker();
  spec.tls = certificates.of("/job:client/replica:0/task:0");
  train_a_little(*make("client", {}), 100'000);
  // The certificate of another task is refused.
  const auto impostor = make("other", {});
  Graph graph(impostor->ops());
  const Status status = test::failure_of([&] { impostor->session(graph, {.start_timeout = 300ms}); });
  BOOST_TEST(status.text().find("certificate is that of /job:client") != std::string::npos, status.text());
}

BOOST_AUTO_TEST_CASE(who_has_a_certificate_of_no_task_may_only_be_a_client) {
  test::Certificates certificates;
  const std::string ps_task = "/job:ps/replica:0/task:0", worker_task = "/job:worker/replica:0/task:0";
  spec.tls = certificates.of(ps_task);
  start_ps();
  spec.tls = certificates.of("");
  {
    start_worker();
    BOOST_TEST_REQUIRE(comes_true([&] {
      const Status status = worker->link_status(ps_task);
      return status.text().find("names no task: it may only be a client") != std::string::npos;
    }));
    BOOST_TEST(!ps->link_status(worker_task).ok());
    worker.reset();
  }
  worker_socket = test::ListeningSocket(worker_socket.port());
  spec.tls = certificates.of(worker_task);
  start_worker();
  spec.tls = certificates.of("");
  train_a_little(*make("client", {}), 100'000);
  train_a_little(*make("other", {}), 1);
}

/// Returns the resident memory of this process in bytes.
size_t resident() {
  size_t total = 0, pages = 0;
  std::ifstream("/proc/self/statm") >> total >> pages;
  return pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// Unknown peers that send nothing, noise, or the beginning of a frame that announces the largest possible size.
BOOST_AUTO_TEST_CASE(a_node_lives_among_a_thousand_strangers) {
  rlimit descriptors{};
  getrlimit(RLIMIT_NOFILE, &descriptors);
  descriptors.rlim_cur = std::min<rlim_t>(descriptors.rlim_max, 8192);
  setrlimit(RLIMIT_NOFILE, &descriptors);
  test::Certificates certificates;
  for (const bool tls : {false, true}) {
    const auto as = [&](const std::string& task) {
      if (tls) spec.tls = certificates.of(task);
    };
    as("/job:ps/replica:0/task:0");
    start_ps();
    as("/job:worker/replica:0/task:0");
    start_worker();
    as("/job:client/replica:0/task:0");
    train_a_little(*make("client", {}), 9'999);  // uses the memory that is needed without the unknown peers
    const size_t before = resident();
    std::mt19937 random(1);
    std::vector<int> strangers;
    for (int i = 0; i < 1000; ++i) {
      strangers.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      BOOST_TEST_REQUIRE(::connect(strangers.back(), ps_socket.generic(), sizeof(sockaddr_in)) == 0);
      std::vector<uint8_t> noise(i % 3 == 0 ? 0 : 1 + random() % 2000);
      std::ranges::generate(noise, [&] { return static_cast<uint8_t>(random()); });
      if (i % 3 == 2) {
        noise.assign(96, 0xff);
        std::memcpy(noise.data(), "TRPE", 4);
      }
      (void)!::send(strangers.back(), noise.data(), noise.size(), MSG_NOSIGNAL);
    }
    const auto begin = std::chrono::steady_clock::now();
    train_a_little(*make("client", {}), 10'000);
    BOOST_TEST((std::chrono::steady_clock::now() - begin < 20s));  // normally it takes 0.1 s
#if defined(__SANITIZE_ADDRESS__)
    BOOST_TEST_MESSAGE("memory not checked: what the address sanitizer keeps is not ours");
#else
    BOOST_TEST(resident() < before + (size_t{256} * 128 << 10));
#endif
    BOOST_TEST_MESSAGE("grown by " << (resident() - before) / 1024 << " KiB");
    for (const int stranger : strangers) ::close(stranger);
    ps.reset();
    worker.reset();
    ps_socket = test::ListeningSocket();
    worker_socket = test::ListeningSocket();
    spec.jobs["ps"][0] = ps_socket.endpoint();
    spec.jobs["worker"][0] = worker_socket.endpoint();
  }
}

// A client that fetches much and reads only 10 KiB/s: the node keeps what was fetched and no more, and other clients are not
// slowed.
BOOST_AUTO_TEST_CASE(a_slow_reader_costs_nobody_else) {
  start_ps();
  start_worker();
  const test::SlowProxy proxy(ps_socket.port(), 10 << 10);
  auto slow = std::async(std::launch::async, [&] {
    ClusterSpec through = spec;
    through.jobs["ps"][0] = proxy.endpoint();
    through.transport = Transport::Tcp;  // not around the proxy
    Runtime client({.threads = 1, .tasks = {{"slow", 0, 1}}, .cluster = through});
    Graph graph(client.ops());
    const Scope at_ps = Scope(graph).with_device("/job:ps");
    const Output much = at_ps.add_one(
        "Fill", {at_ps.constant(Tensor::vector<int32_t>({4 << 20})), at_ps.constant(Tensor::scalar(1.0f))});
    return test::failure_of([&] {
      Session session = client.session(graph);
      for (;;) session.run({}, {much}, {.timeout = 1s});
    });
  });
  const auto client = make("client", {});
  for (int i = 0; i < 5; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    train_a_little(*client, 100'000 + i);
    BOOST_TEST((std::chrono::steady_clock::now() - begin < 10s));  // normally it takes some ms
  }
  const Status status = slow.get();
  BOOST_TEST((status.code() == Code::DeadlineExceeded || status.code() == Code::Unavailable),
             status.message());
}

BOOST_AUTO_TEST_CASE(a_session_says_who_is_missing) {
  start_ps();
  const auto client = make("client", {});
  Graph graph(client->ops());
  while (!client->link_status("/job:ps/replica:0/task:0").ok()) std::this_thread::yield();
  const Status silent = test::failure_of([&] { client->session(graph, {.start_timeout = 50ms}); });
  BOOST_TEST((silent.code() == Code::DeadlineExceeded));
  BOOST_TEST(silent.text().find("/job:worker/replica:0/task:0 at " + worker_socket.endpoint()) !=
             std::string::npos);
  BOOST_TEST(silent.text().find("/job:ps") == std::string::npos, silent.text());
  ::close(worker_socket.descriptor);
  const Status refused = test::failure_of([&] { client->session(graph, {.start_timeout = 300ms}); });
  BOOST_TEST(refused.text().find("refused") != std::string::npos, refused.text());
}

BOOST_AUTO_TEST_CASE(another_cluster_is_refused_by_name) {
  start_ps();
  start_worker();
  spec.name = "other";
  const auto client = make("client", {});
  Graph graph(client->ops());
  const Status status = test::failure_of([&] { client->session(graph, {.start_timeout = 300ms}); });
  BOOST_TEST(status.text().find("is of another cluster than") != std::string::npos, status.text());
}

BOOST_AUTO_TEST_CASE(a_node_that_goes_ends_the_step_and_may_come_back) {
  start_ps();
  start_worker();
  const auto client = make("client", {});
  Graph graph(client->ops());
  const Scope g(graph), there = g.with_device("/job:worker");
  const Output queue =
      there.add_one("FIFOQueueV2", {}, {{"component_types", std::vector<DType>{DType::Float}}});
  const Output stuck =
      there.add_one("QueueDequeueV2", {queue}, {{"component_types", std::vector<DType>{DType::Float}}});
  Session session = client->session(graph);
  // The worker ends when the step has reached it.
  std::thread end([&] {
    while (!worker->impl().node->engine.counts().contains(schema_id_of<wire::Dequeue>))
      std::this_thread::yield();
    worker.reset();
  });
  const Status status = test::failure_of([&] { session.run({stuck}); });
  end.join();
  BOOST_TEST((status.code() == Code::Unavailable), status.message());
  BOOST_TEST(status.text().find("worker/replica:0/task:0") != std::string::npos, status.text());

  worker_socket = test::ListeningSocket(worker_socket.port());
  start_worker();
  train_a_little(*client, 10);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::cluster_test
