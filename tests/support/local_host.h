// Runs graphs in one process without actors: a runtime of one device and its variables, and the host of its steps, which changes
// variables on the spot and matches Send with Recv within a step. Any number of threads may run steps on one runtime at once.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "devices/cpu_device.h"
#include "graph/passes/partition.h"
#include "graph/passes/subgraph.h"
#include "kernels/runtime/step_runner.h"

namespace troupe::test {

using Feeds = std::vector<std::pair<Output, Tensor>>;

class LocalRuntime {
 public:
  explicit LocalRuntime(std::shared_ptr<const OpLibrary> library);
  /// On a device of the caller's, which must outlive the runtime.
  LocalRuntime(std::shared_ptr<const OpLibrary> library, Device& device);
  /// On a device that computes only when `advance` is called: a step does so when it waits for the device.
  LocalRuntime(std::shared_ptr<const OpLibrary> library, Device& device, std::function<void()> advance);

  const OpLibrary& library() const { return *library_; }
  Device& device() { return *device_; }
  StateTable& state() { return state_; }

  /// What the master does for a signature, for one device: cut out the subgraph, plan, prepare.
  Result<std::shared_ptr<const PreparedPlan>> prepare(const Graph& graph, const RunSignature& signature);
  /// One partition, for this device.
  Result<std::shared_ptr<const PreparedPlan>> prepare(const Partition& partition);
  /// One step, on this thread. `feeds` are in the order of the signature, without those that nothing reads.
  Result<std::vector<Tensor>> run(const std::shared_ptr<const PreparedPlan>& plan,
                                  std::vector<Tensor> feeds = {}, const StepInfo& info = {});
  /// Both; a fetch with index Output::control is a target.
  Result<std::vector<Tensor>> run(const Graph& graph, const Feeds& feeds, const std::vector<Output>& fetches);

 private:
  std::shared_ptr<const OpLibrary> library_;
  InlinePool pool_;
  std::unique_ptr<CpuDevice> own_device_;
  Device* device_;
  std::function<void()> advance_;
  StateTable state_;
};

/// One step on a runtime of its own.
Result<std::vector<Tensor>> run_graph(std::shared_ptr<const OpLibrary> library, const Graph& graph,
                                      const Feeds& feeds, const std::vector<Output>& fetches);

class LocalHost;

/// Where the Sends and Recvs of one step meet; one thread at a time.
struct LocalRendezvous {
  using Edge = std::tuple<std::string, uint64_t, uint64_t>;  ///< name, frame, iteration
  struct Token {
    StepReply reply;
    StateCell* cell = nullptr;  ///< of a variable, whose value is read when its Recv asks
  };
  std::map<Edge, Token> sent;
  std::map<Edge, std::pair<LocalHost*, Activation>> waiting;
};

/// The host of one step.
class LocalHost : public StepHost {
 public:
  LocalHost(const OpLibrary& library, std::shared_ptr<const PreparedPlan> plan);
  /// The host of one partition's part of a step, which meets the others at the rendezvous.
  LocalHost(const OpLibrary& library, std::shared_ptr<const PreparedPlan> plan, LocalRendezvous& rendezvous);

  StepRunner& runner() { return runner_; }
  /// Starts the step without driving it: that is for whoever finds it woken.
  void start(std::vector<Tensor> feeds, const StepInfo& info);
  /// True when there is something to drive, once per reason.
  bool take_wake();
  /// Nothing while the step is under way.
  const std::optional<Status>& outcome() const { return ended_; }
  /// Drives the step until it has ended. While there is nothing to drive it calls `advance`, or if that is empty waits.
  Result<std::vector<Tensor>> run(std::vector<Tensor> feeds, const StepInfo& info,
                                  const std::function<void()>& advance = {});

  void request(StepRequest request) override;
  void read(Activation activation, uint32_t input, StateCell& cell) override;
  void failing(const Status& status) override;
  void wake() override;
  void ended(Status status) override;

 private:
  using Edge = LocalRendezvous::Edge;
  void wait_for_wake();
  void send(const StepRequest& request, const Edge& edge);
  void receive(const StepRequest& request, const Edge& edge);
  void deliver(Activation receiver, LocalRendezvous::Token token);
  StepReply change_variables(const StepRequest& request);

  const OpLibrary& library_;
  std::shared_ptr<const PreparedPlan> plan_;
  StepInfo info_;
  StepRunner runner_;
  LocalRendezvous own_;
  LocalRendezvous& rendezvous_;
  std::mutex mutex_;
  std::condition_variable woken_;
  bool wake_ = false;
  std::optional<Status> ended_;
};

}  // namespace troupe::test
