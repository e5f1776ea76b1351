// Session: a client's way to run its graph (white paper, section 2; features.md C1-C9). Public header: std and our own types.
// run() may be called from several threads; the graph may grow between calls, not during one. Its functions throw Error, with
// op, node, device and step where they are known. The runtime that made it outlives it.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/step/device_profile.h"
#include "actors/step/session_options.h"
#include "graph/build/graph.h"

#pragma GCC visibility push(default)
namespace troupe {

struct StepOptions {
  std::chrono::nanoseconds timeout{0};  ///< 0: none. After it: DeadlineExceeded, and the step ends everywhere
  bool training = false;                ///< `round` is the training round, which keys random ops
  uint64_t round = 0;
  std::vector<DeviceProfile>* profile = nullptr;  ///< when given: becomes where the time of the step went
};

struct SaveOptions {
  uint64_t round = 0;  ///< what the state is of: the training round, for people and for who restores
  std::string note;    ///< kept as it is; UTF-8
  size_t keep = 5;     ///< so many checkpoints stay in the folder, the newest
};

struct SavedCheckpoint {
  std::string folder;   ///< its own, below the one given
  std::string problem;  ///< why old ones could not be removed; empty: they could
};

struct RestoredCheckpoint {
  std::string folder;
  uint64_t round = 0;
  std::string note;
  std::vector<std::string> skipped;  ///< newer ones that are damaged, and how
  std::vector<std::string> missing;  ///< variables that it does not have: they stay as they were
};

/// A signature prepared once: steps carry tensors by position. Cheap to copy; outlived by its session.
class PreparedStep {
 public:
  /// One tensor per feed, in the order prepared; returns one per fetch.
  std::vector<Tensor> run(const std::vector<Tensor>& feeds, const StepOptions& options = {}) const;

 private:
  friend class Session;
  struct State;
  std::shared_ptr<State> state_;
};

class Session {
 public:
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  /// Runs what `fetches` needs, with `feeds` in place of those outputs. Outputs that are control (targets: the result of
  /// Scope::group, of an op without outputs) are run for their effect; the result holds one tensor for each of the others.
  std::vector<Tensor> run(const std::vector<std::pair<Output, Tensor>>& feeds,
                          const std::vector<Output>& fetches, const StepOptions& options = {});
  std::vector<Tensor> run(const std::vector<Output>& fetches, const StepOptions& options = {}) {
    return run({}, fetches, options);
  }

  /// The same in two halves, for steps that are run often.
  PreparedStep prepare(const std::vector<Output>& feeds, const std::vector<Output>& fetches);

  /// Saves every variable of the session's state that has a value, in all its processes, as a checkpoint in `folder`; returns when
  /// it is on disk. Nothing may change them meanwhile. After a failure the checkpoints before are as they were. Cancelled when
  /// the session is ended meanwhile.
  SavedCheckpoint save(const std::string& folder, const SaveOptions& options = {});
  /// Gives the variables their values from the newest valid checkpoint in `folder`, or from the one called `name` there,
  /// however many processes there were. Variables need no value before. Every file is checked before any variable changes.
  /// NotFound (no checkpoint, or one that has none of the variables), DataLoss (which file, and what is wrong), InvalidArgument (a
  /// variable of another dtype or shape).
  RestoredCheckpoint restore(const std::string& folder, const std::string& name = {});

  /// Ends the session: running steps end Cancelled soon, and none begins any more; then the state goes that it does not share. Any
  /// thread; waits for nothing.
  void cancel();
  /// The same, and returns when they have ended, or throws DeadlineExceeded.
  void close(std::chrono::nanoseconds timeout = std::chrono::seconds(10));

 private:
  friend struct SessionParts;
  friend class PreparedStep;
  struct [[gnu::visibility("hidden")]] Impl;
  explicit Session(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace troupe
#pragma GCC visibility pop
