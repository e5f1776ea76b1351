#include "tests/support/simulation/simulated_process.h"

#include "tests/support/simulation/simulated_client.h"

namespace troupe::test {
namespace {

class SimulatedSignal final : public Signal {
 public:
  explicit SimulatedSignal(SimulatedHost& host) : host_(host) {}
  void notify() override {}  // the simulation looks itself whether a client can go on
  bool wait(const std::function<bool()>& done, int64_t deadline) override {
    return host_.wait(done, deadline);
  }

 private:
  SimulatedHost& host_;
};

class SimulatedThread final : public BlockingThread {
 public:
  SimulatedThread(Simulation& simulation, SimulatedHost& host, std::function<void()> body)
      : host_(host), client_(simulation, std::move(body), host.number()) {}
  ~SimulatedThread() override {
    if (!host_.crashed()) host_.wait([this] { return client_.ended(); }, 0);
  }

 private:
  SimulatedHost& host_;
  SimulatedClient client_;
};

}  // namespace

std::unique_ptr<Signal> SimulatedProcess::signal() { return std::make_unique<SimulatedSignal>(host_); }

std::unique_ptr<BlockingThread> SimulatedProcess::start_thread(std::function<void()> body) {
  return std::make_unique<SimulatedThread>(simulation_, host_, std::move(body));
}

}  // namespace troupe::test
