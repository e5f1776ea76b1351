// What a session and the steps that it prepared share. For the files that implement Session; not installed. Any thread.
#pragma once

#include <atomic>
#include <map>
#include <mutex>

#include "actors/net/client_node.h"
#include "actors/net/worker_devices.h"
#include "actors/step/session.h"
#include "messages/values/address.h"
#include "messages/values/held_by.h"
#include "messages/wire/message.h"

namespace troupe {

namespace wire {
struct PrepareStep;
}

struct PreparedStep::State {
  std::weak_ptr<Session::Impl> session;  // weak, because the session keeps its prepared steps
  std::vector<Output> feeds, outputs;
  std::atomic<uint64_t> handle{0};
};

/// What a session needs to work.
struct SessionParts {
  /// What the session keeps alive because it uses it, such as its runtime. Destroyed last.
  std::shared_ptr<void> owner;
  /// The node of a session whose master is in another process, and the endpoint of that process; null and empty otherwise.
  std::shared_ptr<ClientNode> connection;
  std::string endpoint;
  ActorNode& node;
  ActorRef master;
  const Graph& graph;
  std::string container;  ///< the container of its state
  Address master_address;
  Address coordinator;  ///< the coordinator of its checkpoints
  std::vector<WorkerDevices> workers;

  Session open() &&;
  /// Names the endpoint of the master in the failure of a request, if the master is in another process and was lost.
  Status located(const Status& failure) const;
};

/// Shared by a session and the steps that run.
struct Session::Impl {
  explicit Impl(SessionParts given) : parts(std::move(given)) {}
  ~Impl();

  Engine& engine() const { return parts.node.engine; }
  Result<AnyMessage> call(AnyMessage message) const {
    if (closed) return failed_precondition("the session is closed");
    auto answer = engine().call(parts.master, std::move(message));
    if (!answer) return parts.located(answer.status());
    return answer;
  }
  /// Does the same as AroundWaits says.
  Result<AnyMessage> call_around(AnyMessage message) const;

  /// Cancels the step that this call of the session runs, or is about to run.
  void cancel_step(uint64_t call) const;
  /// Returns the graph. Throws FailedPrecondition if it was moved to another object, or another graph was assigned to it.
  const Graph& graph() const;
  /// Sends the nodes that the master does not have yet. Fails with FailedPrecondition if the graph has fewer nodes than the master.
  Status extend();
  /// Throws InvalidArgument if a feed or fetch does not belong to this session's graph, and what graph() throws.
  void check_outputs(const std::vector<Output>& feeds, const std::vector<Output>& fetches) const;
  /// What a signature is prepared for: steps later, or a step, or partial run, that follows at once.
  enum class Purpose : uint8_t { Later, Step, PartialRun };
  Message<wire::PrepareStep> signature(const std::vector<Output>& feeds, const std::vector<Output>& outputs,
                                       Purpose purpose) const;
  Result<uint64_t> prepare(const std::vector<Output>& feeds, const std::vector<Output>& outputs,
                           Purpose purpose) const;

  /// Fills in the folder, the container and the writers of a SaveCheckpoint or RestoreCheckpoint.
  template <class Request>
  void set_location(Request request, const std::string& folder) const;
  template <class List>
  void write_writers(List writers) const;
  uint64_t next_state();
  std::vector<Output> variables() const;
  template <class List>
  void write_variables(const std::vector<Output>& variables, List list) const;
  ActorRef coordinator() const;
  AnyMessage ask_coordinator(AnyMessage message) const;
  /// Returns the answer of the coordinator, or throws its failure.
  AnyMessage located(Result<AnyMessage> answer) const;

  using Key = std::pair<std::vector<Output>, std::vector<Output>>;
  static constexpr size_t max_steps = 64;

  SessionParts parts;
  const uint32_t stamp = parts.graph.stamp();  ///< that of the graph for which the session was opened
  std::mutex extending;  ///< held while the graph is extended; guards the next two members
  size_t sent = 0;
  uint64_t version = 0;
  std::mutex mutex;  ///< guards the members up to `last_queue_runners`
  std::map<Key, PreparedStep> steps;
  std::vector<ActorRef> queue_runners;
  uint32_t last_queue_runners = 0;               ///< the number of the role that was started last
  std::atomic<size_t> noted_runners_started{0};  ///< how many of the queue runners that the graph notes
  std::atomic<uint64_t> last_call{0}, last_state{0};
  std::atomic<bool> closed{false};
};

}  // namespace troupe
