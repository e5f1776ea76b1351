#include "actors/checkpoint/checkpoint.h"

#include <deque>
#include <map>

#include "actors/checkpoint/checkpoint_wire.h"
#include "actors/checkpoint/new_manifest.h"
#include "actors/engine/offloading_role.h"

namespace troupe {
namespace {

/// Returns the failure that counts: the first one that is not DataLoss or, if there is none, the first DataLoss. Only after
/// DataLoss does a restore skip the checkpoint.
Status worst_of(const Answers& answers) {
  Status damage;
  for (const auto& answer : answers) {
    if (answer) continue;
    if (answer.status().code() != Code::DataLoss) return answer.status();
    if (damage.ok()) damage = answer.status();
  }
  return damage;
}

/// Returns "a, b, c and 4 more", in alphabetical order, or "none".
std::string some_of(std::vector<std::string> names) {
  constexpr size_t max_named = 3;
  std::ranges::sort(names);
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), max_named); ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > max_named) text += " and " + std::to_string(names.size() - max_named) + " more";
  return text.empty() ? "none" : text;
}

class CoordinatorRole final : public OffloadingRole {
 public:
  explicit CoordinatorRole(ActorNode& node) : OffloadingRole(node) {
    on<wire::HoldState>([this](const auto& message, Reply reply) { hold(message, std::move(reply)); });
    on<wire::SaveCheckpoint>([this](const auto& message, Reply reply) {
      queue(std::make_shared<Save>(message, std::move(reply), node_.env.disk));
    });
    on<wire::RestoreCheckpoint>([this](const auto& message, Reply reply) {
      queue(std::make_shared<Restore>(message, std::move(reply), node_.env.disk));
    });
  }

 private:
  /// The part that saves and restores have in common.
  template <class T>
  struct Request {
    Request(const Message<T>& asked, Reply to, Disk& disk)
        : message(asked), reply(std::move(to)), files(disk, std::string(view(asked->getFolder()))) {}
    std::string path() const { return files.path(name); }

    Message<T> message;
    Reply reply;
    CheckpointFiles files;
    std::string name;  ///< the name of the checkpoint being written or read
  };

  // Requests are carried out one at a time.

  template <class R>
  void queue(std::shared_ptr<R> request) {
    requests_.push_back([this, request = std::move(request)] { begin(request); });
    if (requests_.size() == 1) start_first();
  }

  template <class T>
  void end(Request<T>& request, Result<AnyMessage> answer) {
    request.reply(std::move(answer));
    requests_.pop_front();
    if (!requests_.empty()) start_first();
  }

  /// Starts the first request. It never ends before this function has returned.
  void start_first() { requests_.front()(); }

  Result<std::vector<ActorRef>> find(capnp::List<wire::Address>::Reader writers) const {
    std::vector<ActorRef> found;
    for (const auto writer : writers) {
      TROUPE_ASSIGN(found.emplace_back(), node_.directory.find(read(writer)));
    }
    return found;
  }

  /// Sends one request to each writer. Failures get the task of their writer.
  void ask_writers(capnp::List<wire::Address>::Reader writers, std::vector<AddressedRequest> requests,
                   std::function<void(const Answers&)> then) {
    std::vector<std::string> tasks;
    for (const auto writer : writers) tasks.emplace_back(view(writer.getTask()));
    ask_all(std::move(requests), [tasks = std::move(tasks), then = std::move(then)](Answers answers) {
      for (size_t i = 0; i < answers.size(); ++i)
        if (!answers[i]) answers[i] = answers[i].status().at_device(tasks[i]);
      then(answers);
    });
  }

  // Saving.

  void hold(const Message<wire::HoldState>& message, Reply reply) {
    const auto writers = find(message->getWriters());
    if (!writers) return reply(writers.status());
    Draft<wire::HoldShard> draft;
    draft->setState(message->getState());
    draft->setContainer(message->getContainer());
    draft->setVariables(message->getVariables());
    const AnyMessage request = draft.finish();
    std::vector<AddressedRequest> requests;
    for (const ActorRef& writer : *writers) requests.push_back({writer, request});
    auto kept = std::make_shared<Reply>(std::move(reply));
    ask_writers(message->getWriters(), std::move(requests), [kept](const Answers& answers) {
      if (Status status = worst_of(answers); !status.ok()) return (*kept)(std::move(status));
      if (!holds_a_value(answers))
        return (*kept)(failed_precondition(
            "there is nothing to save: no variable of the session's graph has a value; run the initializer "
            "of the variables, or restore a checkpoint, first"));
      (*kept)(Draft<wire::StateHeld>().finish());
    });
  }

  static bool holds_a_value(const Answers& answers) {
    return std::ranges::any_of(
        answers, [](const auto& answer) { return Message<wire::ShardHeld>(*answer)->getValues() != 0; });
  }

  struct Save : Request<wire::SaveCheckpoint> {
    using Request::Request;

    std::optional<CheckpointFiles::Base> base;  ///< set by the file thread, as is the name
    NewManifest manifest;
  };

  void begin(const std::shared_ptr<Save>& save) {
    block<bool>(
        [save]() -> Result<bool> {
          save->base = save->files.base();
          TROUPE_ASSIGN(save->name, save->files.begin(save->message->getRound()));
          return true;
        },
        [this, save](const Result<bool>& begun) {
          if (!begun) return end(*save, begun.status());
          save_shards(save);
        });
  }

  void save_shards(const std::shared_ptr<Save>& save) {
    const auto writers = find(save->message->getWriters());
    if (!writers) return abandon(save, writers.status());
    std::vector<AddressedRequest> requests;
    for (uint32_t shard = 0; shard < writers->size(); ++shard) {
      Draft<wire::SaveShard> draft;
      draft->setFolder(as_text(save->path()));
      draft->setShard(shard);
      draft->setShards(static_cast<uint32_t>(writers->size()));
      draft->setContainer(save->message->getContainer());
      draft->setState(save->message->getState());
      draft->setUnhurried(save->message->getUnhurried());
      if (save->base) draft->setBase(as_text(save->files.path(save->base->name)));
      requests.push_back({(*writers)[shard], draft.finish()});
    }
    ask_writers(save->message->getWriters(), std::move(requests), [this, save](const Answers& answers) {
      const Status status = master_is_alive(*save->message) ? take_shards(*save, answers)
                                                            : cancelled("the session ended during the save");
      if (!status.ok()) return abandon(save, status);
      commit(save);
    });
  }

  /// Returns whether the session's state was still complete. A master that ends first leaves the directory; its state is dropped
  /// later.
  bool master_is_alive(wire::SaveCheckpoint::Reader request) const {
    return !request.hasMaster() || node_.directory.find_local(read(request.getMaster())).ok();
  }

  static Status take_shards(Save& save, const Answers& answers) {
    save.manifest = NewManifest(save.message->getRound(), std::string(view(save.message->getNote())),
                                save.message->getPinned(), save.base ? &*save.base : nullptr);
    const auto shards = static_cast<uint32_t>(answers.size());
    for (uint32_t shard = 0; shard < shards; ++shard) {
      if (!answers[shard]) return answers[shard].status();
      for (const auto file : Message<wire::ShardSaved>(*answers[shard])->getFiles())
        TROUPE_RETURN_IF_FAILED(save.manifest.add(shard, shards, read(file)));
    }
    return {};
  }

  void commit(const std::shared_ptr<Save>& save) {
    // The result is a problem with removing old checkpoints, or empty. A failure means that there is no new checkpoint.
    block_in_background<std::string>(
        [save]() -> Result<std::string> {
          TROUPE_RETURN_IF_FAILED(save->files.commit(save->name, save->manifest.manifest()));
          const Status removed = save->files.remove_old(save->message->getKeep());
          return removed.ok() ? std::string() : removed.message();
        },
        [this, save](Result<std::string> problem) {
          if (!problem) return abandon(save, problem.status());
          Draft<wire::CheckpointSaved> draft;
          draft->setFolder(as_text(save->path()));
          draft->setProblem(as_text(*problem));
          end(*save, draft.finish());
        });
  }

  /// Removes the folder of a failed save. If that fails, the next save removes it.
  void abandon(const std::shared_ptr<Save>& save, const Status& failure) {
    block<bool>([save]() -> Result<bool> { return save->files.remove(save->name).ok(); },
                [this, save, failure](const Result<bool>&) { end(*save, failure); });
  }

  // Restoring.

  struct Restore : Request<wire::RestoreCheckpoint> {
    using Request::Request;

    Manifest manifest;
    std::vector<ActorRef> writers;
    std::vector<std::string> candidates;  ///< the checkpoints that have not been tried yet, oldest first
    std::vector<std::string> skipped, missing;
  };

  void begin(const std::shared_ptr<Restore>& restore) {
    if (restore->message->hasName()) {
      restore->candidates = {std::string(view(restore->message->getName()))};
      return read_manifest(restore);
    }
    block<std::vector<std::string>>([restore] { return restore->files.names(); },
                                    [this, restore](Result<std::vector<std::string>> names) {
                                      if (!names) return end(*restore, names.status());
                                      restore->candidates = std::move(*names);
                                      read_manifest(restore);
                                    });
  }

  void read_manifest(const std::shared_ptr<Restore>& restore) {
    if (restore->candidates.empty()) return end(*restore, none_left(*restore));
    restore->name = std::move(restore->candidates.back());
    restore->candidates.pop_back();
    block<Manifest>([restore] { return restore->files.manifest(restore->name); },
                    [this, restore](Result<Manifest> manifest) {
                      if (!manifest) return failed(restore, manifest.status());
                      restore->manifest = std::move(*manifest);
                      read_shards(restore);
                    });
  }

  static Status none_left(const Restore& restore) {
    const std::string folder(view(restore.message->getFolder()));
    if (restore.skipped.empty()) return not_found("there is no checkpoint in " + folder);
    return data_loss("every checkpoint in " + folder + " is damaged; the newest: " + restore.skipped.front());
  }

  /// After damage, tries the next older checkpoint, unless the request names this one.
  void failed(const std::shared_ptr<Restore>& restore, Status failure) {
    if (failure.code() != Code::DataLoss || restore->message->hasName())
      return end(*restore, std::move(failure));
    restore->skipped.push_back(failure.text());
    read_manifest(restore);
  }

  void read_shards(const std::shared_ptr<Restore>& restore) {
    auto writers = find(restore->message->getWriters());
    if (!writers) return end(*restore, writers.status());
    restore->writers = std::move(*writers);
    std::vector<AddressedRequest> requests;
    for (uint32_t writer = 0; writer < restore->writers.size(); ++writer) {
      Draft<wire::ReadShards> draft;
      draft->setFolder(as_text(restore->path()));
      const auto& files = restore->manifest.files;
      auto list = draft->initFiles(static_cast<uint32_t>(files.size()));
      for (uint32_t i = 0; i < files.size(); ++i) write(files[i], list[i]);
      draft->setWriter(writer);
      draft->setWriters(static_cast<uint32_t>(restore->writers.size()));
      draft->setContainer(restore->message->getContainer());
      requests.push_back({restore->writers[writer], draft.finish()});
    }
    ask_writers(restore->message->getWriters(), std::move(requests), [this, restore](const Answers& answers) {
      Status status = worst_of(answers);
      if (status.ok()) status = take_answers(*restore, answers);
      if (status.ok()) return apply_shards(restore);
      for (const ActorRef& writer : restore->writers) tell(writer, Draft<wire::DropShards>().finish());
      failed(restore, std::move(status));
    });
  }

  /// Collects the missing variables. Fails with NotFound if the checkpoint has none of the variables, because it then belongs to
  /// another model.
  static Status take_answers(Restore& restore, const Answers& answers) {
    uint64_t found = 0;
    for (const auto& answer : answers) {
      const Message<wire::ShardsRead> shards(*answer);
      found += shards->getFound();
      std::ranges::move(read(shards->getMissing()), std::back_inserter(restore.missing));
    }
    if (found != 0) return {};
    std::vector<std::string> saved;
    for (const auto& file : restore.manifest.files)
      for (const auto& tensor : file.tensors) saved.push_back(tensor.name);
    return not_found(restore.path() + " has no variable of this session: it has " +
                     some_of(std::move(saved)) + ", the session has " + some_of(restore.missing));
  }

  void apply_shards(const std::shared_ptr<Restore>& restore) {
    std::vector<AddressedRequest> requests;
    for (const ActorRef& writer : restore->writers) {
      Draft<wire::ApplyShards> draft;
      draft->setFolder(as_text(restore->path()));
      draft->setContainer(restore->message->getContainer());
      requests.push_back({writer, draft.finish()});
    }
    ask_writers(restore->message->getWriters(), std::move(requests), [this, restore](const Answers& answers) {
      if (Status status = worst_of(answers); !status.ok()) return end(*restore, std::move(status));
      Draft<wire::CheckpointRestored> draft;
      draft->setFolder(as_text(restore->path()));
      draft->setRound(restore->manifest.round);
      draft->setNote(as_text(restore->manifest.note));
      write(restore->skipped, draft->initSkipped(static_cast<uint32_t>(restore->skipped.size())));
      write(restore->missing, draft->initMissing(static_cast<uint32_t>(restore->missing.size())));
      end(*restore, draft.finish());
    });
  }

  std::deque<std::function<void()>> requests_;  ///< the first one is being carried out
};

}  // namespace

Address checkpoint_coordinator_address(const Address& worker) {
  return {worker.task, worker.incarnation, "checkpoint", "coordinator"};
}

ActorRef spawn_checkpoint_coordinator(ActorNode& node) {
  return node.engine.spawn(std::make_unique<CoordinatorRole>(node));
}

}  // namespace troupe
