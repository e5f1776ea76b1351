// ClusterRounds: runs rounds by between-graph replication. Each worker of the cluster runs its own replica (replica.h), and the
// tasks that own the variables collect the gradients; this class only requests rounds. It requests as many rounds at once as take
// about a quarter of a second, so that the latency between client and workers does not matter. When a worker is lost, the others
// take over its shards within the round; a worker that comes back gets shards again between two requests. When a server is lost
// that has a mirror, the round goes on with the variables of the mirror (servers.h). One thread, that of the trainer.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/engine/actor_ref.h"
#include "actors/runtime.h"
#include "apps/config/run_config.h"
#include "apps/train/rounds/live_training.h"
#include "apps/train/rounds/rounds.h"
#include "apps/train/rounds/servers.h"
#include "apps/train/rounds/stall_watch.h"
#include "apps/train/rounds/worker_replica.h"
#include "messages/wire/message.h"

namespace troupe::wire {
struct RoundsRun;
}

namespace troupe::train {

class ClusterRounds final : public Rounds {
 public:
  struct Events {
    /// Called when a worker has been lost and others have taken over its shards, and when one has come back.
    std::function<void(const std::string& text)> line;
    /// Called after a worker or server has been lost: restarts it, if it may. May be empty.
    std::function<void(const std::string& task)> restart;
  };

  /// Where a training begins.
  struct Start {
    uint64_t round = 0;  ///< how many rounds have been run
    uint64_t run = 0;    ///< the number by which the training is found if this process is lost; 0: it is not
    uint64_t attempt = 0;  ///< that of claim_variables() (servers.h)
    /// If non-null, the training goes on that workers have, whose number of rounds `round` is.
    const LiveTraining* live = nullptr;
  };

  /// Begins the training on every worker. The variables must have values. `loss` is the dtype of the model's loss. Changes
  /// config.cluster.owners when variables move. `runtime` and `config` must outlive this object. Throws Error.
  ClusterRounds(Runtime& runtime, config::RunConfig& config, const Start& start, DType loss, Events events);
  ~ClusterRounds() override;
  std::vector<double> advance(uint64_t done, uint64_t last) override;
  bool recover(const Status& failure) override;
  Status set_drained(const std::string& name, bool drained, uint64_t done) override;
  Status set_backups(uint32_t backups) override;
  std::optional<observe::GradientCounts> gradients() const override;
  /// Ends the training. Returns text about the gradients that came too late, or about the staleness of gradients.
  std::string finish() override;
  /// Returns the loss of the last round; of a training that has gone on, also before the first round.
  double last_loss() const { return last_loss_; }

 private:
  /// The answers that have arrived, shared with the threads that answer.
  struct Arrivals;
  struct Losses;
  enum class ArrivalKind : uint8_t { Begun, Assigned, Rounds, Probed, Other };
  struct Worker {
    std::string task;
    Address address;  ///< of its trainer
    ActorRef trainer;
    std::vector<uint32_t> shards;
    bool alive = false;                     ///< its training has begun, and it has not been lost
    bool joining = false;                   ///< BeginTraining has no answer yet
    uint64_t training = 0;                  ///< the training that it is joining
    size_t unanswered = 0, unassigned = 0;  ///< the number of RunRounds and AssignShards without an answer
    uint64_t losses = 0;  ///< how often it has been lost; answers to requests from before do not count
    /// Its next round when the training last went on with other places of the variables or another trainer.
    uint64_t next = 0;
    Status failure = {};  ///< of a request; not Ok while it is not known whether the worker has been lost
  };

  int64_t now() const;
  bool has_coordinator() const;
  bool has_bounded_staleness() const;
  bool has_backups() const { return config_.train.replication.backup_workers > 0; }
  void begin(uint64_t round);
  void go_on(const LiveTraining& live);
  void begin_rounds(uint64_t applied);
  AnyMessage begin_message() const;
  void end();
  void end_training(const Worker& worker, uint64_t training);
  void end_rounds();
  AnyMessage call(const ActorRef& to, AnyMessage request);
  void call_later(size_t worker, AnyMessage request, ArrivalKind kind, uint64_t first = 0);

  uint32_t rounds_per_request(uint64_t done, uint64_t last) const;
  void request_rounds(size_t worker, uint64_t first);
  bool is_complete(const Losses& losses) const;
  void take_arrival(Losses& losses);
  void add_losses(size_t worker, const Message<wire::RoundsRun>& run, size_t skipped, Losses& losses);
  std::vector<double> means_of(const Losses& losses);
  void note_loss(std::vector<ShardLoss> of_workers);

  void failed(size_t worker, const Status& failure);
  void probed(size_t worker, const Status& status);
  [[noreturn]] void give_up(size_t worker, const Status& failure);
  void lose(size_t worker, const Status& failure);
  void welcome(uint64_t done);
  void join(size_t worker);
  void joined(size_t worker, const Status& status);
  void share_out(uint64_t done);
  void assign_all(uint64_t done);
  bool is_drained(const Worker& worker) const { return servers_.is_drained(worker.task); }
  Result<std::string> find_task(const std::string& name) const;
  Status may_drain(const Worker& worker) const;
  Status move_away(const std::string& task);
  const Worker* hand_over(uint32_t shard);
  AnyMessage assignment(size_t worker, int64_t applied) const;
  void tell_coordinator(int64_t applied);

  void look_for_stall();
  void interrupt_again(const Status& failure);
  bool may_recover(const Status& failure) const;
  void recover_servers(const Status& failure);
  void move_variables(const std::vector<std::string>& owners, const std::string& reason);
  std::vector<std::string> await_lost_servers() const;
  void interrupt_workers() const;
  void await_idle_workers();
  void relocate_workers();
  void leave_behind(const std::vector<size_t>& told, uint64_t least);
  AnyMessage relocation() const;

  Runtime& runtime_;
  config::RunConfig& config_;
  const DType loss_;
  const Events events_;
  const uint64_t run_;
  uint64_t training_;
  uint32_t pushes_ = 0;  ///< how many pushes a shard makes per round
  Address coordinator_address_;
  ActorRef coordinator_;  ///< of the rounds; null in asynchronous mode
  /// Whether the coordinator says when a round is applied: to all variables at once, whatever shards count. A shard that
  /// another worker takes over must not read, where it is, a variable that has got the round already beside one that has not.
  bool fixes_rounds_ = false;
  StallWatch stall_watch_;
  std::shared_ptr<Arrivals> arrivals_;
  Servers servers_;
  std::vector<Worker> workers_;
  uint64_t requested_ = 0;           ///< the last round that has been requested
  std::optional<uint64_t> sharing_;  ///< while shards are being assigned: how many rounds have been applied
  bool share_again_ = false;         ///< because a server was lost meanwhile
  bool recovering_ = false;          ///< from the loss of a server: the requests to workers fail
  int vain_recoveries_ = 0;          ///< since a round was completed
  double seconds_per_round_ = 0;     ///< the last measurement; 0: none yet
  double last_loss_ = 0;
  Staleness staleness_;
  std::vector<uint64_t> left_out_;  ///< by shard: the number of rounds that were fixed without it
};

}  // namespace troupe::train
