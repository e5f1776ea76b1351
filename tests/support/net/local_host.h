// Runs graphs in one process without actors: a runtime with one device and its variables, and the host of its steps, which changes
// variables directly and matches Send with Recv within a step. Any number of threads may run steps on one runtime at the same time.
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
#include "graph/passes/partition/partition.h"
#include "graph/passes/subgraph.h"
#include "kernels/runtime/step_runner.h"

namespace troupe::test {

using Feeds = std::vector<std::pair<Output, Tensor>>;

class LocalRuntime {
 public:
  explicit LocalRuntime(std::shared_ptr<const OpLibrary> library);
  /// Uses a device of the caller, which must outlive the runtime.
  LocalRuntime(std::shared_ptr<const OpLibrary> library, Device& device);
  /// For a device that computes only when `advance` is called. A step calls it when it waits for the device.
  LocalRuntime(std::shared_ptr<const OpLibrary> library, Device& device, std::function<void()> advance);

  const OpLibrary& library() const { return *library_; }
  Device& device() { return *device_; }
  StateTable& state() { return state_; }

  /// Does what the master does for a signature, for one device: cuts out the subgraph, makes the plan, prepares it.
  Result<std::shared_ptr<const PreparedPlan>> prepare(const Graph& graph, const RunSignature& signature);
  /// Prepares one partition, for this device.
  Result<std::shared_ptr<const PreparedPlan>> prepare(const Partition& partition);
  /// Runs one step on this thread. `feeds` are in the order of the signature, without those that no node reads.
  Result<std::vector<Tensor>> run(const std::shared_ptr<const PreparedPlan>& plan,
                                  std::vector<Tensor> feeds = {}, const StepInfo& info = {});
  /// Prepares and runs. A fetch with index Output::control is a target.
  Result<std::vector<Tensor>> run(const Graph& graph, const Feeds& feeds, const std::vector<Output>& fetches);

 private:
  std::shared_ptr<const OpLibrary> library_;
  InlinePool pool_;
  std::unique_ptr<CpuDevice> own_device_;
  Device* device_;
  std::function<void()> advance_;
  StateTable state_;
};

/// Runs one step on a runtime of its own.
Result<std::vector<Tensor>> run_graph(std::shared_ptr<const OpLibrary> library, const Graph& graph,
                                      const Feeds& feeds, const std::vector<Output>& fetches);

class LocalHost;

/// Matches the Sends and Recvs of one step. One thread at a time.
struct LocalRendezvous {
  using Edge = std::tuple<std::string, uint64_t,
                          uint64_t>;  ///< name, frame, iteration
  struct Token {
    StepReply reply;
    /// The cell of a variable, whose value is read when its Recv asks for it.
    StateCell* cell = nullptr;
  };
  std::map<Edge, Token> sent;
  std::map<Edge, std::pair<LocalHost*, Activation>> waiting;
};

/// The host of one step.
class LocalHost : public StepHost {
 public:
  /// If `rendezvous` is non-null, makes the host of one partition's part of a step, which exchanges tokens with the others through
  /// it.
  LocalHost(const OpLibrary& library, std::shared_ptr<const PreparedPlan> plan,
            LocalRendezvous* rendezvous = nullptr);

  StepRunner& runner() { return runner_; }
  /// Starts the step, but does not drive it. The
  /// caller drives it when take_wake() returns true.
  void start(std::vector<Tensor> feeds, const StepInfo& info);
  /// Returns true if there is something to drive, once for each reason.
  bool take_wake();
  /// Returns nothing while the step is running.
  const std::optional<Status>& outcome() const { return ended_; }
  /// Drives the step until it has ended. While there is nothing
  /// to drive, calls `advance`, or waits if that is empty.
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
