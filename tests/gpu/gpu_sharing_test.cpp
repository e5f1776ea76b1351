// Memory of GPUs that two processes of one host share: GPUs of one process copy what the other one has lent.
#include <boost/test/unit_test.hpp>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "actors/net/peer_messages.h"
#include "actors/net/transport/loans.h"
#include "devices/gpu_queue.h"
#include "devices/transfer.h"
#include "tests/gpu/gpu_machine.h"
#include "tests/support/comes_true.h"
#include "tests/support/net/listening_socket.h"
#include "tests/support/net/two_networks.h"

namespace troupe::test::gpu_sharing_test {
namespace {

using namespace std::chrono_literals;

constexpr const char* offer_variable = "TROUPE_TEST_OFFER";

/// One process with a GPU, or both of them.
struct Sharing : TwoNetworks {
  Sharing() { arenas = own; }
  void join(Peer& peer) {
    serve({});
    BOOST_TEST_REQUIRE(accept_offer(offer(), peer).ok());
    BOOST_TEST_REQUIRE(run_until([&] { return accepted.size() == 1; }));
  }
  bool comes_to_lend(Peer& peer) {
    return run_until([&] { return peer.connection->lender()->lends_gpu_memory(); });
  }
  /// Returns the tensor in the memory of the GPU when it has arrived there.
  Tensor on_gpu(const Tensor& value) const {
    Tensor there = value_or_throw(transfer(value, *gpu, *gpu));
    (void)on_host(there);
    return there;
  }
  Tensor on_host(const Tensor& there) const {
    const Tensor host = value_or_throw(to_host(there, *gpu));
    while (!host.completion().ready()) gpu->context().queue()->poll();
    throw_if_failed(host.completion().status());
    return host;
  }
  /// Returns the value of a tensor that the GPU copies from the memory of another process.
  Tensor copied(const Tensor& lent) const {
    BOOST_TEST(!gpu->holds(lent));
    return on_host(value_or_throw(transfer(lent, *gpu, *gpu)));
  }
  /// Sends a tensor to the server and returns it as it arrived.
  Tensor send(Peer& peer, Tensor tensor) {
    const size_t before = accepted[0]->frames.size();
    peer.send(before + 1, {std::move(tensor)});
    BOOST_TEST_REQUIRE(run_until([&] { return accepted[0]->frames.size() == before + 1; }));
    return std::move(accepted[0]->frames.back().attachments[0]);
  }
  void run_a_little() { io.run_for(50ms); }

  const Tensor values = ramp(Shape{300, 5000}, 1);  // 6 MB: two parts of an emulated GPU
  std::shared_ptr<SharedArenas> own = std::make_shared<SharedArenas>();
  std::unique_ptr<ThreadPool> pool = value_or_throw(ThreadPool::make(1));
  std::shared_ptr<Device> gpu = value_or_throw(
      make_gpu({"test", 0, 0, "GPU", 0}, 1, *pool, {.index = 0, .memory_cap = 64 << 20, .shared = own}));
};

std::string as_hexadecimal(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) {
    text += "0123456789abcdef"[static_cast<uint8_t>(byte) / 16];
    text += "0123456789abcdef"[static_cast<uint8_t>(byte) % 16];
  }
  return text;
}

std::string from_hexadecimal(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16));
  return bytes;
}

/// A second process of this program, which runs the test case gpu_sharing_process/lends_and_borrows.
class OtherProcess {
 public:
  explicit OtherProcess(const TransportOffer& offer) {
    const std::string text = offer.address + ' ' + as_hexadecimal(offer.token);
    ::setenv(offer_variable, text.c_str(), 1);
    std::string program = "gpu_test", tests = "--run_test=gpu_sharing_process/lends_and_borrows";
    char* arguments[] = {program.data(), tests.data(), nullptr};
    BOOST_TEST_REQUIRE(::posix_spawn(&id_, "/proc/self/exe", nullptr, nullptr, arguments, environ) == 0);
    ::unsetenv(offer_variable);
  }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;
  ~OtherProcess() { kill(); }
  void kill() {
    if (id_ == 0) return;
    ::kill(id_, SIGKILL);
    ::waitpid(std::exchange(id_, 0), nullptr, 0);
  }

 private:
  pid_t id_ = 0;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(gpu_sharing, *boost::unit_test::precondition(needs_gpu))

// So that tests find host code that takes such a tensor for one of its own.
BOOST_FIXTURE_TEST_CASE(the_host_does_not_reach_the_memory_of_a_gpu, Sharing) {
  const Tensor there = on_gpu(values);
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL);
    ::_exit(there.as<float>()[0] == 0 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  BOOST_TEST(WIFSIGNALED(status));
  BOOST_TEST(WTERMSIG(status) == SIGSEGV);
}

BOOST_FIXTURE_TEST_CASE(a_gpu_copies_what_another_process_lends, Sharing) {
  Peer peer;
  join(peer);
  BOOST_TEST_REQUIRE(comes_to_lend(peer));
  const Tensor mine = on_gpu(values);
  {
    const Tensor theirs = send(peer, mine);
    BOOST_TEST((theirs.memory() == MemoryKind::Device));
    BOOST_TEST(!theirs.unique());
    BOOST_TEST(identical(copied(theirs), values));
    run_a_little();
    BOOST_TEST(!mine.unique());
  }
  BOOST_TEST(run_until([&] { return mine.unique(); }, 1s));
  // Small ones are lent, too; there is no other way.
  BOOST_TEST(copied(send(peer, on_gpu(Tensor::scalar(4.5f)))).item<float>() == 4.5f);
}

BOOST_FIXTURE_TEST_CASE(nothing_is_lent_to_a_process_without_gpus, Sharing) {
  Peer peer;
  serve({});
  arenas = std::make_shared<SharedArenas>();
  BOOST_TEST_REQUIRE(accept_offer(offer(), peer).ok());
  BOOST_TEST_REQUIRE(run_until([&] { return accepted.size() == 1; }));
  run_a_little();
  Lender* const lender = accepted[0]->connection->lender();
  BOOST_TEST(!lender->lends_gpu_memory());
  run_a_little();
  BOOST_TEST(!lender->lends_gpu_memory());
  const Tensor mine = on_gpu(values);
  const Status refused = encode({.sequence = 1}, Draft<wire::RunStep>().finish({mine}), lender).status();
  BOOST_TEST((refused.code() == Code::FailedPrecondition));
  BOOST_TEST(refused.text().find("device memory") != std::string::npos, refused.text());
  BOOST_TEST(mine.unique());
}

// Whichever side closes the connection: the lender keeps the tensor until the borrower no longer reads it.
BOOST_FIXTURE_TEST_CASE(a_tensor_is_kept_beyond_the_connection, Sharing) {
  for (const bool lender_leaves : {true, false}) {
    std::optional<Peer> peer(std::in_place);
    accepted.clear();
    join(*peer);
    BOOST_TEST_REQUIRE(comes_to_lend(*peer));
    const Tensor mine = on_gpu(values);
    std::optional<Tensor> theirs = send(*peer, mine);
    if (lender_leaves) {
      peer.reset();
      BOOST_TEST_REQUIRE(run_until([&] { return accepted[0]->end.has_value(); }));
    } else {
      accepted[0]->connection.reset();
    }
    run_a_little();
    BOOST_TEST(!mine.unique());
    BOOST_TEST(identical(copied(*theirs), values));
    theirs.reset();
    BOOST_TEST(run_until([&] { return mine.unique(); }, 1s));
  }
}

// A process that is killed: what it has borrowed comes back, what it has lent can still be copied.
BOOST_FIXTURE_TEST_CASE(the_death_of_a_process_loses_nothing, Sharing) {
  serve({});
  OtherProcess other(offer());
  BOOST_TEST_REQUIRE(run_until([&] { return !accepted.empty() && !accepted[0]->frames.empty(); }, 60s));
  BOOST_TEST_REQUIRE(comes_to_lend(*accepted[0]));
  const Tensor mine = on_gpu(values);
  accepted[0]->send(1, {mine});
  run_a_little();
  BOOST_TEST(!mine.unique());
  other.kill();
  BOOST_TEST(run_until([&] { return mine.unique(); }, 1s));
  BOOST_TEST(accepted[0]->end.has_value());
  BOOST_TEST(identical(copied(accepted[0]->frames[0].attachments[0]), values));
}

BOOST_FIXTURE_TEST_CASE(only_messages_between_executors_may_have_such_tensors, Sharing) {
  Peer peer;
  join(peer);
  BOOST_TEST_REQUIRE(comes_to_lend(peer));
  peer.send(1, {on_gpu(values)});
  BOOST_TEST_REQUIRE(run_until([&] { return !accepted[0]->frames.empty(); }));
  const Status refused = receive_from_peer(std::move(accepted[0]->frames[0])).status();
  BOOST_TEST((refused.code() == Code::InvalidArgument));
  BOOST_TEST(refused.text().find("device memory") != std::string::npos, refused.text());
}

// What a GPU has copied to the host is lent like other tensors there.
BOOST_FIXTURE_TEST_CASE(copies_on_the_host_are_lent, Sharing) {
  Peer peer;
  join(peer);
  const Tensor mine = on_host(on_gpu(values));
  const Tensor theirs = send(peer, mine);
  BOOST_TEST((theirs.memory() == MemoryKind::Host));
  BOOST_TEST(!theirs.unique());
  BOOST_TEST(!mine.unique());
  BOOST_TEST(identical(theirs, values));
}

BOOST_FIXTURE_TEST_CASE(parts_that_do_not_fit_are_refused, Sharing) {
  auto rings = value_or_throw(SharedRings::make());
  Borrowed borrowed(own, rings.first.returns_from(0));
  const Tensor mine = on_gpu(values);
  const auto place = *own->lend(mine.data(), mine.bytes());
  const auto part = [&] { return value_or_throw(own->part(place.arena, 0)); };
  const auto refused = [&](ArenaPart changed, Code code) {
    const Status status = borrowed.add_part(7, changed);
    BOOST_TEST((status.code() == code), status.message());
  };
  ArenaPart later = part(), large = part(), empty = part();
  later.offset = later.bytes;
  refused(std::move(later), Code::InvalidArgument);
  large.bytes = 2 * large.arena_bytes;
  refused(std::move(large), Code::InvalidArgument);
  BOOST_TEST((borrowed.borrow({1, 0, 7}, 10).status().code() == Code::InvalidArgument));
  BOOST_TEST(borrowed.add_part(7, part()).ok());
  refused(part(), Code::InvalidArgument);  // twice
  empty.on_gpu = false;
  refused(std::move(empty), Code::InvalidArgument);
  BOOST_TEST(borrowed.borrow({1, 0, 7}, 10).ok());
  for (const uint64_t offset : {part().bytes - 9, ~uint64_t{0}, part().arena_bytes})
    BOOST_TEST((borrowed.borrow({2, offset, 7}, 10).status().code() == Code::InvalidArgument));
}

namespace {

struct Cluster {
  Cluster() {
    spec.jobs["worker"] = {{0, sockets[0].endpoint()}, {1, sockets[1].endpoint()}};
    for (const int task : {0, 1}) workers[task] = start(task);
  }
  std::unique_ptr<Runtime> start(int task) {
    RuntimeOptions options = with_gpus(1);
    options.tasks = {{.job = "worker", .task = task, .cpus = 1, .gpus = 1}};
    options.cluster = spec;
    options.listen = sockets[task].listen();
    options.heartbeat = 50ms;
    options.gpu_memory = 256 << 20;
    return std::make_unique<Runtime>(options);
  }

  ListeningSocket sockets[2];
  ClusterSpec spec{.name = "gpus", .jobs = {}, .transport = Transport::Shared};
  std::unique_ptr<Runtime> workers[2];
};

constexpr const char* tasks[] = {"/job:worker/replica:0/task:0", "/job:worker/replica:0/task:1"};

bool shares(const Runtime& runtime, const char* task) {
  return runtime.transport_of(task) == "shared memory, also that of GPUs";
}

}  // namespace

// The same steps, which are recorded from the third on, before the processes share the memory of their GPUs, and afterwards.
// Tensors are small and large, so that they are pushed and announced.
BOOST_FIXTURE_TEST_CASE(steps_lend_tensors_to_gpus_of_other_tasks, Cluster) {
  Graph graph(workers[0]->ops());
  const Scope g(graph), there = g.with_device(std::string(tasks[0]) + "/device:GPU:0"),
                        here = g.with_device(std::string(tasks[1]) + "/device:GPU:0");
  const Output x = placeholder(g, f32, {-1});
  const Output y = tanh(there, x), z = square(here, y), back = add_n(there, {z, y});
  const auto expected = [](const Tensor& fed) {
    Tensor result = value_or_throw(Tensor::allocate(f32, fed.shape()));
    std::ranges::transform(fed.as<float>(), result.write<float>().begin(), [](float value) {
      const float t = std::tanh(value);
      return t * t + t;
    });
    return result;
  };
  Session session = workers[0]->session(graph);
  const auto run = [&] {
    for (const int64_t count : {3, 5000, 3, 5000, 2'000'000, 3, 5000, 2'000'000}) {
      const Tensor fed = ramp(Shape{count}, 0.1f);
      BOOST_TEST(close(session.run({{x, fed}}, {back})[0], expected(fed)));
    }
  };
  run();
  BOOST_TEST_REQUIRE(
      comes_true([&] { return shares(*workers[0], tasks[1]) && shares(*workers[1], tasks[0]); }));
  run();
  run();
}

BOOST_AUTO_TEST_SUITE_END()

// What OtherProcess runs: borrows and lends until it is killed.
BOOST_AUTO_TEST_SUITE(gpu_sharing_process, *boost::unit_test::disabled())

BOOST_FIXTURE_TEST_CASE(lends_and_borrows, Sharing) {
  const std::string text = std::getenv(offer_variable);
  const size_t space = text.find(' ');
  Peer peer;
  BOOST_TEST_REQUIRE(
      accept_offer({text.substr(0, space), from_hexadecimal(std::string_view(text).substr(space + 1))}, peer)
          .ok());
  BOOST_TEST_REQUIRE(comes_to_lend(peer));
  peer.send(1, {on_gpu(values)});
  (void)run_until([&] { return peer.end.has_value(); }, 100s);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::gpu_sharing_test
