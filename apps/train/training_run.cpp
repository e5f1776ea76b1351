#include "apps/train/training_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "actors/checkpoint/checkpoint_files.h"
#include "apps/services/run_control_role.h"
#include "apps/text/score_text.h"
#include "apps/train/cluster_links.h"
#include "apps/train/epoch_events.h"
#include "apps/train/folder/background_save.h"
#include "apps/train/folder/checkpoint_schedule.h"
#include "apps/train/folder/earlier_run.h"
#include "apps/train/folder/former_names.h"
#include "apps/train/folder/initial_values.h"
#include "apps/train/folder/open_run_folder.h"
#include "apps/train/folder/progress.h"
#include "apps/train/folder/rollback.h"
#include "apps/train/folder/run_folder.h"
#include "apps/train/graphs/replication_tasks.h"
#include "apps/train/monitored_metric.h"
#include "apps/train/node_watch.h"
#include "apps/train/progress_line.h"
#include "apps/train/rounds/cluster_rounds.h"
#include "apps/train/rounds/evaluation.h"
#include "apps/train/rounds/local_rounds.h"
#include "apps/train/run_requests.h"
#include "apps/train/run_session.h"
#include "apps/train/run_setting.h"
#include "graph/passes/partition/check_finite.h"
#include "messages/env/process.h"

namespace troupe::train {
namespace {

using Seconds = std::chrono::duration<double>;
using SteadyClock = std::chrono::steady_clock;

/// A run, from its start or a checkpoint to its end or the loss of a process.
class Run {
 public:
  /// If `is_restart`, the run continues after a loss, in the folder options.resume.
  Run(const config::RunConfig& config, const TrainerOptions& options, data::TrainAndValid data,
      bool is_restart)
      : config_(config), options_(options), monitor_(options.monitor ? *options.monitor : own_monitor_),
        may_start_over_(is_restart || options.resume == "auto"), data_(std::move(data)),
        fingerprint_(data::fingerprint(*data_.train)),
        batches_(data_.train->batches(config.batch, config.run.seed, config.shuffle)),
        runtime_(runtime_options(config, options)), links_(runtime_, options),
        nodes_(runtime_, options.cluster) {
    progress_.go_on_with(fingerprint_, per_epoch());
    monitor_.set_probe([this] { return nodes_.states(); });
    if (options.control && with_workers()) control_role_.emplace(runtime_, *options.control);
  }
  ~Run() {
    if (options_.control) options_.control->close();
    monitor_.set_probe({});
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Throws nothing; the errors of steps are returned, too.
  Result<TrainingResult> run() try {
    TROUPE_RETURN_IF_FAILED(check_setting(config_, options_));
    if (has_servers()) config_.cluster.owners = first_owners(config_);
    built_.build();
    TROUPE_RETURN_IF_FAILED(await_nodes());
    if (!options_.resume.empty() && options_.dry_run_steps == 0) TROUPE_RETURN_IF_FAILED(open_folder());
    if (!goes_on()) {
      if (with_workers()) attempt_ = claim_variables(runtime_, config_);
      built_.follow_variables();
      TROUPE_RETURN_IF_FAILED(begin());
      TROUPE_RETURN_IF_FAILED(make_rounds());
    }
    describe();
    if (options_.control && folder_) options_.control->open();
    const auto started = SteadyClock::now();
    TROUPE_RETURN_IF_FAILED(loop());
    if (options_.control) options_.control->close();
    if (const std::string line = rounds_->finish(); !line.empty()) print(line);
    count_gradients();
    result_.seconds = Seconds(SteadyClock::now() - started).count();
    finish();
    return result_;
  } catch (const Error& error) {
    return error.status();
  }

  std::string folder() const { return folder_ ? folder_->path() : std::string(); }
  std::vector<std::string> silent(const Status& failure) const {
    return links_.silent(failure, config_.train.fault.heartbeat);
  }

 private:
  bool with_workers() const { return train::with_workers(config_, options_); }
  bool has_servers() const { return train::has_servers(config_, options_); }
  uint64_t per_epoch() const { return static_cast<uint64_t>(batches_->per_epoch()); }

  Status await_nodes() const {
    const observe::PhaseScope waiting(monitor_, observe::Phase::Waiting);
    return links_.await_all(config_.train.fault.start_timeout);
  }

  /// See RunSession::run().
  template <class Use>
  auto with_session(Use use) {
    return built_.run(rounds_.get(), use);
  }

  /// In a cluster with workers each worker runs its part of the rounds; otherwise this session runs them.
  Status make_rounds() {
    rounds_.reset();  // a worker takes part in one training at a time
    if (with_workers()) {
      run_ = folder_ ? runtime_.services().process().random_id() : 0;
      keep_progress();
      rounds_ = cluster_rounds({progress_.step, run_, attempt_});
    } else {
      rounds_ = rounds_in_process(built_.session(), built_.model(), built_.graph().dtype(built_.model().loss),
                                  config_, *batches_);
    }
    return {};
  }

  std::unique_ptr<ClusterRounds> cluster_rounds(const ClusterRounds::Start& start) {
    return std::make_unique<ClusterRounds>(
        runtime_, config_, start, built_.graph().dtype(built_.model().loss),
        ClusterRounds::Events{[this](const std::string& line) { print(line); },
                              [this](const std::string& task) { restart_worker(task); }});
  }

  /// Keeps what a trainer in place of this one needs to go on, if this one is lost while workers train. If that cannot be written,
  /// the training goes on, and such a trainer would begin with a checkpoint. Tells the user once, until it can be written.
  void keep_progress() {
    const Status kept = folder_ && with_workers() ? folder_->keep({run_, progress_}) : Status{};
    if (!kept.ok() && progress_kept_)
      print("should this process be lost, its training can only go on from a checkpoint: " + kept.text());
    progress_kept_ = kept.ok();
  }

  /// Goes on with the training of this run from where workers are that have lost their trainer. Returns false if there is none,
  /// or if it cannot go on.
  bool goes_on() try {
    const auto kept = folder_ && with_workers() ? folder_->kept() : std::nullopt;
    const auto live = kept ? find_training(runtime_, config_, kept->run) : std::nullopt;
    if (!live) return false;
    config_.cluster.owners = live->owners;
    built_.follow_variables();
    attempt_ = latest_attempt(runtime_, config_);
    auto rounds = cluster_rounds({live->done(), kept->run, attempt_, &*live});
    const uint64_t from = kept->progress.step, epoch_end = (from / per_epoch() + 1) * per_epoch();
    if (live->done() < from || live->done() > epoch_end)
      throw Error(failed_precondition("the workers are at step " + std::to_string(live->done()) +
                                      ", the trainer was between " + std::to_string(from) + " and " +
                                      std::to_string(epoch_end)));
    run_ = kept->run;
    progress_ = kept->progress;
    progress_.step = live->done();
    throw_if_failed(begin_folder());
    epoch_has_ended_ = progress_.step == epoch_end;
    result_.loss = rounds->last_loss();
    rounds_ = std::move(rounds);
    print("the training of " + folder_->path() + " goes on at step " + std::to_string(progress_.step) +
          ", where its workers are");
    return true;
  } catch (const Error& error) {
    print("the training cannot go on from where its workers are: " + error.status().text());
    if (has_servers()) config_.cluster.owners = first_owners(config_);
    built_.build();
    return false;
  }

  /// Restarts a worker whose shards others have taken over, if the run file allows it.
  void restart_worker(const std::string& task) {
    if (!options_.recover || restarted_workers_ == config_.train.fault.max_restarts) return;
    ++restarted_workers_;
    monitor_.restarted(task);
    if (const Status status = options_.recover({task}); !status.ok())
      print(task + " could not be restarted: " + status.message());
  }

  /// Initializes the variables, or restores them from the newest valid checkpoint of the run to be resumed.
  Status begin() {
    Disk& disk = runtime_.services().disk();
    const bool goes_on = folder_ && has_checkpoint();
    TROUPE_ASSIGN(const auto initial, goes_on ? zeros(built_.graph(), built_.model())
                                              : stored_values(disk, config_, built_.graph(), built_.model()));
    built_.session().run(initial, {built_.model().initializer}, {.training = true});
    if (options_.dry_run_steps > 0) return {};
    if (!initial.empty() && !goes_on)
      print(std::to_string(initial.size()) + " weights begin with the values in " + config_.model.init_from);
    if (!folder_) TROUPE_RETURN_IF_FAILED(open_folder());
    if (!options_.resume.empty()) TROUPE_RETURN_IF_FAILED(restore());
    return begin_folder();
  }

  Status open_folder() {
    TROUPE_ASSIGN(auto folder, open_run_folder(config_, options_.resume, runtime_.services().disk()));
    folder_.emplace(std::move(folder));
    return options_.resume.empty() || !has_checkpoint() ? Status{} : earlier_run().check();
  }

  /// Writes into the folder, now that the run is known to begin or to go on.
  Status begin_folder() {
    folder_->report_to(options_.line);
    result_.folder = folder_->path();
    monitor_.set_folder(folder_->path());
    TROUPE_ASSIGN(const auto model, begin_run_folder(*folder_, config_, data_.train->columns(), runtime_));
    if (options_.opened) options_.opened(folder_->path(), model);
    return {};
  }

  EarlierRun earlier_run() const {
    return {runtime_.services().disk(), runtime_.ops(), config_, folder_->path()};
  }

  std::string checkpoints() const { return folder_->checkpoints(config_.train.checkpoint.dir); }

  /// Returns whether the folder has checkpoints, even damaged ones.
  bool has_checkpoint() const {
    const auto names = CheckpointFiles(runtime_.services().disk(), checkpoints()).names();
    return !names || !names->empty();
  }

  Status restore() {
    RestoredCheckpoint checkpoint;
    try {
      checkpoint = built_.session().restore(checkpoints());
    } catch (const Error& error) {
      if (error.status().code() != Code::NotFound || has_checkpoint())
        return earlier_run().with_change(error.status());
      if (!may_start_over_) return error.status();
      print("there is no checkpoint yet: the run starts from the beginning");
      return folder_->forget_metrics_after(0);
    }
    for (const auto& damage : checkpoint.skipped) warn("skipped a damaged checkpoint: " + damage);
    TROUPE_RETURN_IF_FAILED(follow(checkpoint));
    if (stops_early(config_.train, progress_, per_epoch())) result_.ending = Ending::EarlyStopped;
    print("resumed " + folder_->path() + " at step " + std::to_string(progress_.step));
    return {};
  }

  /// Takes over the progress of a checkpoint from which the variables have been restored.
  Status follow(const RestoredCheckpoint& checkpoint) {
    TROUPE_ASSIGN(progress_, from_note(checkpoint.note));
    const std::string warning = progress_.go_on_with(fingerprint_, per_epoch());
    if (!warning.empty()) print(warning);
    const auto former = restore_former_names(runtime_, built_.session(), built_.graph(), checkpoint);
    for (const auto& variable : checkpoint.missing) {
      if (former.contains(variable) || !is_saved(variable)) continue;
      if (!variable.starts_with(std::string(best_prefix) + '/'))
        return earlier_run().with_change(
            not_found(checkpoint.folder + " has no value for variable " + variable));
      progress_.early_stop.score.reset();  // the checkpoint has no copy of the best model
    }
    return folder_->forget_metrics_after(progress_.step);
  }

  /// Returns whether checkpoints of this run have a variable: not if it is a local one, or if another run has left it behind.
  bool is_saved(const std::string& variable) const {
    const Node* const node = built_.graph().find(variable);
    return node && std::ranges::count(local_variables(built_.graph()), node->id, &Output::node) == 0;
  }

  void describe() const {
    monitor_.describe(facts_of(config_, options_, data_, built_.model(), per_epoch()));
    monitor_.begin(progress_.step);
    print(description(config_, data_, built_.model(), per_epoch()));
  }

  Status loop() try {
    const auto begun = SteadyClock::now();
    schedule_.emplace(config_.train.checkpoint, progress_.step, begun);
    logged_step_ = progress_.step;
    const observe::PhaseScope training(monitor_, observe::Phase::Training);
    ProgressLine line(monitor_, options_.progress_interval, begun);
    if (epoch_has_ended_) TROUPE_RETURN_IF_FAILED(end_epoch(progress_.step / per_epoch()));
    for (heed(); !done(); heed()) {
      advance(std::min(last_step(), next_pause(config_, progress_.step, per_epoch())));
      if (options_.progress)
        if (const auto text = line.at(SteadyClock::now())) options_.progress(*text);
      if (result_.ending == Ending::Diverged) return {};
      if (progress_.step % per_epoch() == 0) TROUPE_RETURN_IF_FAILED(end_epoch(progress_.step / per_epoch()));
      save_when_due();
    }
    return {};
  } catch (const Error& error) {
    if (!is_not_finite(error.status())) throw;
    end_not_finite(error.status());
    return {};
  }

  Result<std::string> outcome_of(const observe::RunControl::Request& request) {
    if (request.kind == observe::RunControl::Request::Kind::Checkpoint) {
      save();
      return saving_.folder();
    }
    TROUPE_RETURN_IF_FAILED(change_rounds(*rounds_, request, progress_.step));
    return std::string();
  }

  /// Saves checkpoints, drains tasks, and waits while it is paused, as it is asked.
  void heed() {
    if (!options_.control) return;
    heed_requests(*options_.control, monitor_, progress_.step,
                  {[this](const auto& request) { return outcome_of(request); },
                   [this](const std::string& line) { print(line); }, [this] { return is_stopped(); }});
  }
  bool is_stopped() const { return options_.stop && options_.stop->load(); }

  uint64_t last_step() const { return train::last_step(config_, options_, per_epoch()); }

  bool done() {
    if (result_.ending == Ending::Completed && is_stopped()) result_.ending = Ending::Stopped;
    return result_.ending != Ending::Completed || progress_.step >= last_step();
  }

  void count_gradients() const {
    if (const auto counts = rounds_->gradients()) monitor_.gradients(*counts);
  }

  void advance(uint64_t last) {
    const auto begin = SteadyClock::now();
    const auto losses = rounds_->advance(progress_.step, last);
    result_.step_seconds += Seconds(SteadyClock::now() - begin).count();
    result_.input_seconds += rounds_->waited();
    for (const double loss : losses) {
      result_.loss = std::isnan(loss) ? std::abs(loss) : loss;  // readers see "nan", whatever its sign
      ++progress_.step;
      if (!std::isfinite(loss)) {
        if (!roll_back()) end_diverged();
        break;
      }
      progress_.epoch_loss.add(loss);
    }
    result_.epoch_loss = progress_.epoch_loss.mean();
    monitor_.rounds(progress_.step, result_.loss, result_.epoch_loss, rounds_->waited());
    monitor_.costs(rounds_->costs());
    count_gradients();
    if (const auto queue = batches_->queue()) monitor_.input({queue->ready, queue->most});
  }

  void end_diverged() {
    diverge(
        fmt::format("stopped at step {}, because the loss is {:g}; a lower train.optimizer.lr than {:g}, or "
                    "train.clip, may help, or the data have numbers that are not finite; --set "
                    "train.check_finite=true names the op where they come up first",
                    progress_.step, result_.loss, config_.train.optimizer.learning_rate));
  }

  /// Ends a training that checks numbers (train.check_finite).
  void end_not_finite(const Status& failure) {
    result_.loss = std::numeric_limits<double>::quiet_NaN();
    diverge(fmt::format("stopped after step {}: {}", progress_.step, failure.message()));
  }

  void diverge(const std::string& why) {
    result_.ending = Ending::Diverged;
    result_.reason = why;
    progress_.epoch_loss.add(result_.loss);
    print(why);
  }

  /// If the run file says so, goes on with the weights of an older step and the batches that follow. Returns false if it does
  /// not, or if no checkpoint is left.
  bool roll_back() {
    if (config_.train.on_nan != config::OnNan::Rollback || !folder_) return false;
    (void)saving_.wait();
    built_.follow_variables();
    const auto checkpoint = rollback_.restore(built_.session(), runtime_.services().disk(), checkpoints());
    if (!checkpoint) {
      print("there is no checkpoint to go back to that has not been tried");
      return false;
    }
    const Progress present = progress_;
    throw_if_failed(follow(*checkpoint));
    print(fmt::format(
        "the loss of step {} is {:g}: the weights go back to those of step {}, and the training goes on "
        "with the batches that follow",
        present.step, result_.loss, progress_.step));
    progress_.step = present.step;
    progress_.epoch_loss = present.epoch_loss;
    throw_if_failed(make_rounds());
    return true;
  }

  /// Returns nothing if there are no samples to evaluate, or if the training has ended because numbers are not finite.
  Record evaluate() {
    if (!data_.valid || (config_.train.check_finite && result_.ending == Ending::Diverged)) return {};
    const observe::PhaseScope evaluating(monitor_, observe::Phase::Evaluating);
    return with_session([this] { return built_.evaluation().run(*data_.valid); });
  }

  /// Returns the learning rate of the last step, if it changes.
  std::optional<double> learning_rate() {
    if (!built_.model().rate || progress_.step == 0) return {};
    const Tensor updates = Tensor::scalar(static_cast<float>(progress_.step - 1));
    return with_session([&] {
      return number(built_.session().run({{built_.model().updates, updates}}, {*built_.model().rate}).at(0));
    });
  }

  /// Evaluates the current model and appends the result to the metrics.
  Record log_metrics() {
    const double epochs = static_cast<double>(progress_.step) / static_cast<double>(per_epoch());
    const EpochLoss& losses = progress_.epoch_loss;
    Record record{{"epoch", epochs}, {"train/loss", losses.rounds > 0 ? losses.mean() : result_.loss}};
    if (const auto rate = learning_rate()) record.emplace_back("train/learning_rate", *rate);
    for (const auto& [name, value] : evaluate()) record.emplace_back("valid/" + name, value);
    if (folder_) folder_->log(progress_.step, record);
    const observe::Scores scores{progress_.step, epochs, 0, {record.begin() + 1, record.end()}};
    monitor_.scored(scores);
    if (options_.scored) options_.scored(scores);
    logged_step_ = progress_.step;
    return record;
  }

  Status end_epoch(uint64_t epoch) {
    const Record record = log_metrics();
    const ShownModel shown{config_.observe, built_.graph(), built_.model(),
                           data_.valid ? *data_.valid : *data_.train};
    if (folder_) with_session([&] { log_events(shown, built_.session(), progress_.step, *folder_); });
    progress_.epoch_loss = {};
    const auto& all = config_.train.max_epochs;
    if (options_.line)  // the monitor has the scores
      options_.line(fmt::format("epoch {}{}  loss {}{}", epoch, all ? fmt::format(" of {}", *all) : "",
                                score_text(record[1].second), score_texts(std::span(record).subspan(2))));
    if (config_.train.early_stop) check_early_stop(*config_.train.early_stop, record, epoch);
    if (config_.train.plateau) TROUPE_RETURN_IF_FAILED(check_plateau(*config_.train.plateau, record, epoch));
    keep_progress();
    return {};
  }

  void check_early_stop(const config::EarlyStop& rule, const Record& record, uint64_t epoch) {
    const auto improved = improves(rule.monitor, record, epoch, progress_.early_stop);
    if (!improved) return;
    if (*improved && built_.best()) with_session([this] { built_.best()->keep(built_.session()); });
    if (stops_early(config_.train, progress_, per_epoch())) result_.ending = Ending::EarlyStopped;
  }

  /// Lowers the learning rate if the metric no longer improves. Workers read the new rate because their rounds begin anew.
  Status check_plateau(const config::Plateau& rule, const Record& record, uint64_t epoch) {
    if (improves(rule.monitor, record, epoch, progress_.plateau).value_or(true) ||
        !patience_is_over(rule.monitor, progress_.plateau, epoch))
      return {};
    progress_.plateau.epoch = epoch;
    built_.follow_variables();
    if (number(built_.session().run({*built_.model().rate_factor}).at(0)) <=
        static_cast<float>(rule.min_factor))
      return {};
    built_.session().run({}, {*built_.model().lower_rate});
    TROUPE_RETURN_IF_FAILED(make_rounds());
    print("the learning rate is lowered, because " + rule.monitor.metric + " has not improved");
    return {};
  }

  void save_when_due() {
    const bool is_due = folder_ && schedule_->is_due(progress_.step, SteadyClock::now());
    if (is_due && std::isfinite(result_.loss)) begin_save(true);
    if (saving_.done()) (void)saving_.wait();
  }

  /// Begins to save the present state. If training goes on while the checkpoint is written, that takes its time, and if it cannot
  /// be saved, training goes on without it.
  void begin_save(bool unhurried) {
    const observe::PhaseScope saving(monitor_, observe::Phase::Saving);
    (void)saving_.wait();
    const SaveOptions options{.round = progress_.step,
                              .note = to_note(progress_),
                              .keep = static_cast<size_t>(config_.train.checkpoint.keep),
                              .pinned = schedule_->begin_save(progress_.step, SteadyClock::now()),
                              .unhurried = unhurried};
    saving_.begin(with_session([&] { return built_.session().begin_save(checkpoints(), options); }),
                  progress_.step);
    if (std::isfinite(result_.loss)) rollback_.saved();
  }

  /// Saves the present state, and does so again if a server is lost meanwhile whose mirror has its variables.
  void save() {
    for (;;) {
      begin_save(false);
      const Status failure = saving_.wait();
      if (failure.ok()) return;
      if (!rounds_ || !rounds_->recover(failure)) throw Error(failure);
    }
  }

  void restore_best() {
    with_session([this] { built_.best()->restore(built_.session()); });
    const Best& best = progress_.early_stop;
    if (best.epoch == batches_->epoch_of(progress_.step)) return;
    print(fmt::format("the model is that of epoch {}, which has the best {}: {}", best.epoch,
                      config_.train.early_stop->monitor.metric, score_text(*best.score)));
  }

  void finish() {
    (void)saving_.wait();
    if (folder_ && progress_.step > logged_step_) log_metrics();  // the run ended within an epoch
    if (result_.ending != Ending::Diverged) {
      const bool takes_best =
          built_.best() && progress_.early_stop.score && result_.ending != Ending::Stopped;
      if (takes_best) restore_best();
      const bool may_save =
          folder_ && (result_.ending != Ending::Stopped || config_.train.checkpoint.on_signal);
      if (may_save && (takes_best || !saving_.has_saved(progress_.step))) save();
    }
    result_.steps = progress_.step;
    result_.checkpoint = saving_.folder();
    result_.checkpoint_step = saving_.step();
    result_.epochs = batches_->epoch_of(progress_.step);
    for (const auto& [name, value] : evaluate()) result_.evaluation.emplace_back("valid/" + name, value);
    built_.session().close();
    if (folder_) folder_->forget();
  }

  void warn(const std::string& line) const {
    if (!options_.warning) return print(line);
    monitor_.note(line);
    options_.warning(line);
  }

  void print(const std::string& line) const {
    monitor_.note(line);
    if (options_.line) options_.line(line);
  }

  config::RunConfig config_;
  const TrainerOptions& options_;
  observe::RunMonitor own_monitor_;  ///< used if the options have none
  observe::RunMonitor& monitor_;
  const bool may_start_over_;  ///< if there is no checkpoint
  data::TrainAndValid data_;
  const data::Fingerprint fingerprint_;
  std::unique_ptr<data::Batches> batches_;
  Runtime runtime_;
  std::optional<services::RunControlRole> control_role_;
  const ClusterLinks links_;
  const NodeWatch nodes_;
  RunSession built_{config_, options_, data_, runtime_, saving_};
  std::unique_ptr<Rounds> rounds_;
  std::optional<RunFolder> folder_;
  Progress progress_;
  uint64_t run_ = 0, attempt_ = 0;  ///< the numbers by which workers and servers know the training
  bool progress_kept_ = true;       ///< see keep_progress()
  bool epoch_has_ended_ = false;    ///< while another process was the trainer, which was lost then
  TrainingResult result_;
  int64_t restarted_workers_ = 0;
  uint64_t logged_step_ = 0;                    ///< the last step for which metrics were written
  std::optional<CheckpointSchedule> schedule_;  ///< while it trains
  BackgroundSave saving_{monitor_, [this](const std::string& line) { print(line); }};
  Rollback rollback_;
};

}  // namespace

Outcome run_once(const config::RunConfig& config, const TrainerOptions& options,
                 const data::TrainAndValid& data, bool is_restart) try {
  Run run(config, options, data, is_restart);
  auto result = run.run();
  auto silent = run.silent(result.status());
  return {std::move(result), run.folder(), std::move(silent)};
} catch (const Error& error) {
  return {error.status(), {}, {}};
}

}  // namespace troupe::train
