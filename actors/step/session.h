// Session: runs steps of a graph for a client (white paper, section 2; features.md C1-C9). run() may be called from several
// threads. The graph may grow between calls, but not during a call. Failures are thrown as Error, with op, node, device and
// step where they are known. The graph must outlive its sessions, and stay where it is: a session keeps a reference to it. Calls
// that need a graph which was moved, or to which another one was assigned, fail with FailedPrecondition. The master of a session
// that Runtime::connect opened lives in another process; when that process is lost, every call fails with Unavailable, which names
// its endpoint. Public header: it uses only std and Troupe's own types.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/step/executor/device_profile.h"
#include "actors/step/session_options.h"
#include "actors/step/step_description.h"
#include "graph/build/graph.h"
#include "graph/build/queue_runner.h"
#include "kernels/runtime/cancellation.h"

#pragma GCC visibility push(default)
namespace troupe {

struct StepOptions {
  /// If the step has not ended after this time, it fails with DeadlineExceeded and is aborted on all devices. 0: no limit. A
  /// negative time is refused with InvalidArgument.
  std::chrono::nanoseconds timeout{0};
  /// Whether this is a step of training round `round`. The round then determines the numbers of random ops.
  bool training = false;
  uint64_t round = 0;
  /// The logical shard of the batch that the nodes under the prefix step_shard_prefix compute (graph/build/shard_names.h). It
  /// determines their random numbers, too. -1: none in particular.
  int64_t shard = -1;
  /// If not 0, the step belongs to the unlocked phase of the session with this number (Hogwild, Niu et al. 2011): steps of one
  /// phase that run at the same time change variables in place, each on its own thread, though others read and change them. So a
  /// step may see a value that is partly changed, and a change may be lost. Values that were read before the phase stay as they
  /// are. The numbers of later phases must be higher. Variables on GPUs and mirrored ones are changed one after the other.
  uint64_t unlocked_phase = 0;
  /// If non-null, cancels the step when it is cancelled. For a partial run it must live until the last copy of the run is
  /// destroyed.
  const Cancellation* cancellation = nullptr;
  /// If non-null, receives the profile of the step, one entry per device.
  std::vector<DeviceProfile>* profile = nullptr;
};

struct SaveOptions {
  uint64_t round = 0;  ///< the training round of the state; restore() returns it
  std::string note;    ///< any UTF-8 text; restore() returns it
  /// How many checkpoints to keep in the folder, the newest ones, beside those that are pinned; 0 counts as 1.
  size_t keep = 5;
  bool pinned = false;  ///< whether the checkpoint is kept however many newer ones there are
  /// Whether the threads that write rest in between, ten seconds per file at most: for checkpoints beside training, whose steps
  /// hardly become slower meanwhile.
  bool unhurried = false;
};

struct SavedCheckpoint {
  std::string folder;   ///< the folder of this checkpoint, inside the folder given to save()
  std::string problem;  ///< why old checkpoints could not be removed; empty if they were removed
};

struct RestoredCheckpoint {
  std::string folder;  ///< the folder of the checkpoint
  uint64_t round = 0;
  std::string note;
  std::vector<std::string> skipped;  ///< the newer checkpoints that are damaged, each with its damage
  /// The variables that the checkpoint does not contain; they keep their values.
  std::vector<std::string> missing;
};

/// A device that a session may use.
struct DeviceDescription {
  std::string name;  ///< "/job:ps/replica:0/task:0/device:CPU:0"
  std::string type;
  uint64_t memory = 0;       ///< how many bytes tensors may use there
  uint64_t incarnation = 0;  ///< random per life of the device
};

/// A checkpoint that is being written while steps go on. Its session must outlive it.
class PendingSave {
 public:
  bool done() const;
  /// Waits until the checkpoint is on disk, and returns it once. Throws what Session::save() throws, FailedPrecondition if it was
  /// returned before, and Cancelled if `cancellation`, which may be null, is cancelled meanwhile: the save goes on then, and
  /// another call may wait for it.
  SavedCheckpoint wait(const Cancellation* cancellation = nullptr);

 private:
  friend class Session;
  struct State;
  State& state() const;
  std::shared_ptr<State> state_;
};

/// A signature that has been prepared, so that its steps need no names. Cheap to copy.
class PreparedStep {
 public:
  /// Runs a step. Takes one tensor per feed, and returns one tensor per fetch, each in the order prepared. Throws Unavailable if
  /// the session has been destroyed, FailedPrecondition if this object was not returned by Session::prepare().
  std::vector<Tensor> run(const std::vector<Tensor>& feeds, const StepOptions& options = {}) const;

 private:
  friend class Session;
  struct State;
  std::shared_ptr<State> state_;
};

/// A step that gets its feeds, and yields its fetches, in several calls. Cheap to copy. When the last copy is destroyed, the
/// step is cancelled if it still runs.
class PartialRun {
 private:
  friend class Session;
  struct State;
  std::shared_ptr<State> state_;
};

class Session {
 public:
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  /// Ends the session: steps that other threads run fail with Cancelled.
  ~Session();

  /// Runs a step: computes `fetches`, with the tensors of `feeds` in place of the outputs that they name. A fetch that is a
  /// control output (the result of Scope::group, or of an op without outputs) is a target: it is run for its effect. Returns
  /// one tensor for each other fetch, in order. Tensors are not copied: a result, and a variable that was assigned from a feed,
  /// may share memory with it, so write only to tensors that are unique().
  std::vector<Tensor> run(const std::vector<std::pair<Output, Tensor>>& feeds,
                          const std::vector<Output>& fetches, const StepOptions& options = {});
  std::vector<Tensor> run(const std::vector<Output>& fetches, const StepOptions& options = {}) {
    return run({}, fetches, options);
  }

  /// Prepares steps that are run often. As for run(), `fetches` may contain control outputs.
  PreparedStep prepare(const std::vector<Output>& feeds, const std::vector<Output>& fetches);

  /// Returns which device would run each node of a step with these feeds and fetches (as for run()), and what each device would
  /// run. With DeviceChoice::Learned later steps may be placed otherwise.
  StepDescription describe(const std::vector<Output>& feeds, const std::vector<Output>& fetches);

  /// Begins a step with these feeds and fetches (as for run()), which waits for its feeds. `options` are those of the whole
  /// step; it has no profile.
  PartialRun partial_run_setup(const std::vector<Output>& feeds, const std::vector<Output>& fetches,
                               const StepOptions& options = {});
  /// Gives the step some of its feeds and returns some of its fetches. Each feed and each fetch may be used once, and a fetch
  /// only when the feeds that it needs have been given; otherwise fails with InvalidArgument, and changes nothing. A failure of
  /// the step ends it: all later calls fail in the same way. The call that gives the last feed and takes the last fetch returns
  /// when the step has ended, so it throws the failure of any target. Several threads may wait for fetches of one step.
  std::vector<Tensor> partial_run(const PartialRun& run, const std::vector<std::pair<Output, Tensor>>& feeds,
                                  const std::vector<Output>& fetches);

  /// Returns the graph whose steps the session runs.
  const Graph& graph() const;
  /// Returns the devices that the session may use, as they were when it was opened.
  std::vector<DeviceDescription> devices() const;

  /// Saves the variables of the session's graph that have a value, in all its processes, as a checkpoint in `folder`. Returns
  /// when the checkpoint is on disk. No step may change the variables meanwhile. After a failure the earlier checkpoints are
  /// unchanged. Fails with FailedPrecondition if no variable has a value, with Cancelled if the session is ended meanwhile, and
  /// with InvalidArgument if the note is not UTF-8.
  SavedCheckpoint save(const std::string& folder, const SaveOptions& options = {});
  /// Does the same, but returns as soon as the values to save are held. From then on steps may change the variables; until the
  /// checkpoint is written, that may take as much memory again.
  PendingSave begin_save(const std::string& folder, const SaveOptions& options = {});
  /// Sets the variables to their values in the newest valid checkpoint in `folder`, or in the checkpoint `name` there. The
  /// checkpoint may have been saved by another number of processes. The variables need not have values before. Every file is
  /// checked before any variable changes. Fails with NotFound if there is no checkpoint or it contains none of the variables,
  /// with DataLoss, naming the file and its damage, or with InvalidArgument if the dtype or shape of a variable differs.
  RestoredCheckpoint restore(const std::string& folder, const std::string& name = {});

  /// Starts an actor that runs the steps of these queue runners beside those of the caller. The runners of an earlier call go
  /// on.
  void start_queue_runners(const std::vector<QueueRunner>& runners);
  /// Does so for the queue runners that the graph notes (queue_runners()), but for those that an earlier call has started.
  void start_queue_runners();
  /// Stops all queue runners: none begins another step, and those that run are cancelled. Returns when their steps have ended.
  /// Throws the first failure of a step that is not an end of its runner, also if it is long ago; throws DeadlineExceeded after
  /// `timeout`.
  void stop_queue_runners(std::chrono::nanoseconds timeout = std::chrono::seconds(10));

  /// Ends the session: running steps fail with Cancelled, no new step begins, and then the state that the session does not
  /// share is dropped. Does not wait. Any thread.
  void cancel();
  /// Ends the session as cancel() does, and returns when all steps have ended. Throws DeadlineExceeded after `timeout`.
  void close(std::chrono::nanoseconds timeout = std::chrono::seconds(10));

 private:
  friend struct SessionParts;
  friend class PreparedStep;
  friend class PartialRun;
  friend class PendingSave;
  struct [[gnu::visibility("hidden")]] Impl;
  explicit Session(std::shared_ptr<Impl> impl);
  /// Throws FailedPrecondition if the session has been moved to another object.
  Impl& held() const;
  std::shared_ptr<Impl> impl_;
};

}  // namespace troupe
#pragma GCC visibility pop
