#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include "actors/checkpoint/checkpoint.h"
#include "actors/checkpoint/checkpoint_wire.h"
#include "actors/checkpoint/shard_work.h"
#include "actors/engine/offloading_role.h"
#include "devices/transfer.h"
#include "messages/schemas/variable.capnp.h"

namespace troupe {
namespace {

constexpr size_t max_held = 2;

class WriterRole final : public OffloadingRole {
 public:
  WriterRole(ActorNode& node, std::shared_ptr<TaskSites> task)
      : OffloadingRole(node), task_(std::move(task)) {
    on<wire::HoldShard>([this](const auto& message, Reply reply) { hold(message, std::move(reply)); });
    on<wire::SaveShard>([this](const auto& message, Reply reply) { save(message, std::move(reply)); });
    on<wire::ReadShards>(
        [this](const auto& message, Reply reply) { read_shards(message, std::move(reply)); });
    on<wire::ApplyShards>([this](const auto& message, Reply reply) { apply(message, std::move(reply)); });
    on<wire::DropShards>([this](const auto&, Reply) { ready_ = {}; });
  }

 private:
  // Saving: reads the values of each group at one moment, keeps them if they are to be saved later, then writes the file.

  /// Returns the variables of a container on a device. Queues have no value to save.
  Cells cells_of(std::string_view container, const DeviceSite& site) const {
    Cells cells;
    const std::string device = site.device->name().text();
    for (auto& cell : task_->state->cells(container))
      if (cell->home() == device && cell->dtype() != DType::Resource) cells.emplace(cell->name(), cell);
    return cells;
  }

  /// The values of cells, and how often cells had been restored before.
  struct Values {
    SavedTensors tensors;
    uint64_t restores = 0;
  };

  void hold(const Message<wire::HoldShard>& message, Reply reply) {
    auto kept = std::make_shared<Reply>(std::move(reply));
    const auto here = DeviceName::parse(task_->task);
    if (!here) return (*kept)(here.status());
    std::set<std::string> wanted;
    for (const auto variable : message->getVariables()) {
      const auto task = DeviceName::parse(view(variable.getTask()));
      if (!task) return (*kept)(task.status());
      if (task->includes(*here)) wanted.emplace(view(variable.getName()));
    }
    read_values(view(message->getContainer()), &wanted,
                [this, kept, state = message->getState()](Result<Values> values) {
                  if (!values) return (*kept)(values.status());
                  if (held_.size() == max_held) held_.pop_front();
                  Draft<wire::ShardHeld> draft;
                  draft->setValues(static_cast<uint32_t>(values->tensors.size()));
                  held_.push_back({state, std::move(*values)});
                  (*kept)(draft.finish());
                });
  }

  void save(const Message<wire::SaveShard>& message, Reply reply) {
    auto kept = std::make_shared<Reply>(std::move(reply));
    const uint64_t state = message->getState();
    if (state == 0)
      return read_values(view(message->getContainer()), nullptr,
                         [this, kept, message](const Result<Values>& values) {
                           values ? write_shard_files(message, *values, kept) : (*kept)(values.status());
                         });
    const auto held = std::ranges::find(held_, state, &Held::state);
    if (held == held_.end())
      return (*kept)(aborted("the checkpoint writer of " + task_->task + " does not hold state " +
                             std::to_string(state) + " any more"));
    const Values values = std::move(held->values);
    held_.erase(held);
    write_shard_files(message, values, kept);
  }

  /// Calls `then` with the values of the variables in the container that have one. If `wanted` is null, of all of them.
  void read_values(std::string_view container, const std::set<std::string>* wanted,
                   std::function<void(Result<Values>)> then) {
    std::map<ActorRef, Owned> owners;
    for (const auto& site : task_->sites)
      for (const auto& [name, cell] : cells_of(container, *site)) {
        if (cell->reading() == StateCell::Reading::Uninitialized || (wanted && !wanted->contains(name)))
          continue;
        const auto owner = site->owner(*cell);
        if (!owner) return then(owner.status());
        Owned& owned = owners[*owner];
        owned.device = site->device.get();
        owned.tensors.push_back({name, {}, 0, cell->slice(), cell->id()});  // fill_in() adds the value
      }
    std::vector<AddressedRequest> requests;
    auto all = std::make_shared<std::vector<Owned>>();
    for (auto& [owner, owned] : owners) {
      requests.push_back({owner, read_message(owned.tensors)});
      all->push_back(std::move(owned));
    }
    ask_all(std::move(requests), [all, restores = restores_, then = std::move(then)](Answers answers) {
      Values values{{}, restores};
      for (size_t i = 0; i < answers.size(); ++i) {
        Owned& owned = (*all)[i];
        if (Status status = fill_in(owned.tensors, answers[i], *owned.device); !status.ok())
          return then(std::move(status));
        std::ranges::move(owned.tensors, std::back_inserter(values.tensors));
      }
      then(std::move(values));
    });
  }

  /// The cells to save that one actor owns.
  struct Owned {
    Device* device = nullptr;
    SavedTensors tensors;
  };

  static AnyMessage read_message(const SavedTensors& tensors) {
    Draft<wire::Read> draft;
    auto cells = draft->initCells(static_cast<uint32_t>(tensors.size()));
    for (uint32_t i = 0; i < tensors.size(); ++i) cells.set(i, *tensors[i].cell);
    return draft.finish();
  }

  static Status fill_in(SavedTensors& tensors, const Result<AnyMessage>& answer, Device& device) {
    if (!answer) return answer.status();
    const auto versions = Message<wire::ReadDone>(*answer)->getVersions();
    for (uint32_t i = 0; i < tensors.size(); ++i) {
      TROUPE_ASSIGN(const Tensor value, answer->attachment(i));
      TROUPE_ASSIGN(tensors[i].value, to_host(value, device));
      tensors[i].version = versions[i];
    }
    return {};
  }

  /// Writes what has changed since the base of the checkpoint. Versions say so unless cells have been restored meanwhile.
  void write_shard_files(const Message<wire::SaveShard>& message, const Values& values,
                         const std::shared_ptr<Reply>& kept) {
    if (values.tensors.empty()) return (*kept)(Draft<wire::ShardSaved>().finish());
    const bool follows =
        message->hasBase() && saved_.checkpoint() == view(message->getBase()) && values.restores == restores_;
    auto plan = std::make_shared<SavedCells::Plan>((follows ? saved_ : SavedCells()).plan(values.tensors));
    const Writing writing{std::string(view(message->getFolder())), message->getShard(), message->getShards(),
                          message->getUnhurried()};
    block_in_background<std::vector<SavedFile>>(
        [plan, writing, &disk = node_.env.disk] { return write_files(disk, writing, *plan); },
        [this, writing, restores = values.restores, kept](const Result<std::vector<SavedFile>>& files) {
          if (!files) return (*kept)(files.status());
          saved_ = SavedCells(restores == restores_ ? writing.folder : std::string());
          Draft<wire::ShardSaved> draft;
          auto list = draft->initFiles(static_cast<uint32_t>(files->size()));
          for (uint32_t i = 0; i < files->size(); ++i) {
            write((*files)[i].file, list[i]);
            saved_.add((*files)[i].file, (*files)[i].tensors);
          }
          (*kept)(draft.finish());
        });
  }

  // Restoring: all writers read and check their files before any of them changes a variable.

  void read_shards(const Message<wire::ReadShards>& message, Reply reply) {
    auto reading = std::make_shared<Reading>();
    reading->container = view(message->getContainer());
    reading->folder = view(message->getFolder());
    for (const auto file : message->getFiles()) reading->files.push_back(read(file));
    reading->writer = message->getWriter();
    reading->writers = std::max(message->getWriters(), uint32_t{1});
    for (const auto& site : task_->sites) reading->cells.merge(cells_of(reading->container, *site));
    auto kept = std::make_shared<Reply>(std::move(reply));
    ready_ = {};
    block<SavedTensors>([reading, &disk = node_.env.disk] { return read_files(disk, *reading); },
                        [this, reading, kept](Result<SavedTensors> tensors) {
                          if (!tensors) return (*kept)(tensors.status());
                          for (const auto& tensor : *tensors) reading->cells.erase(tensor.name);
                          ready_ = {reading->container, reading->folder, reading->files, std::move(*tensors)};
                          Draft<wire::ShardsRead> draft;
                          draft->setFound(static_cast<uint32_t>(ready_.tensors.size()));
                          std::vector<std::string> missing;
                          for (const auto& [name, cell] : reading->cells) missing.push_back(name);
                          write(missing, draft->initMissing(static_cast<uint32_t>(missing.size())));
                          (*kept)(draft.finish());
                        });
  }

  void apply(const Message<wire::ApplyShards>& message, Reply reply) {
    if (ready_.folder.empty() || ready_.folder != view(message->getFolder()) ||
        ready_.container != view(message->getContainer()))
      return reply(aborted("the checkpoint writer of " + task_->task + " has not read " +
                           std::string(view(message->getFolder()))));
    Ready ready = std::exchange(ready_, {});
    auto requests = assignments(ready);
    if (!requests) return reply(requests.status());
    auto kept = std::make_shared<Reply>(std::move(reply));
    ++restores_;  // and again at the end: what is read meanwhile may be older or newer
    auto saved = SavedCells::restored(ready.folder, ready.files, ready.tensors);
    ask_all(std::move(*requests), [this, kept, saved = std::move(saved)](const Answers& answers) mutable {
      ++restores_;
      saved_ = SavedCells();
      for (const auto& answer : answers)
        if (!answer) return (*kept)(answer.status());
      saved_ = std::move(saved);
      (*kept)(Draft<wire::ShardsApplied>().finish());
    });
  }

  /// The tensors that were read for ApplyShards.
  struct Ready {
    std::string container, folder;
    std::vector<ShardFile> files;
    SavedTensors tensors;
  };

  /// The content of the Assign message to one actor.
  struct Assignment {
    std::vector<uint32_t> ids;
    std::vector<uint64_t> versions;
    std::vector<Tensor> values;
  };

  Result<std::vector<AddressedRequest>> assignments(Ready& ready) const {
    std::map<ActorRef, Assignment> owners;
    for (const auto& site : task_->sites) {
      const Cells here = cells_of(ready.container, *site);
      for (auto& tensor : ready.tensors) {
        const auto cell = here.find(tensor.name);
        if (cell == here.end()) continue;
        TROUPE_ASSIGN(const ActorRef owner, site->owner(*cell->second));
        Assignment& to = owners[owner];
        TROUPE_ASSIGN(to.values.emplace_back(), transfer(tensor.value, *site->device, *site->device));
        tensor.cell = cell->second->id();
        to.ids.push_back(*tensor.cell);
        to.versions.push_back(tensor.version);
      }
    }
    std::vector<AddressedRequest> requests;
    for (auto& [owner, assignment] : owners)
      requests.push_back({owner, assign_message(std::move(assignment))});
    return requests;
  }

  static AnyMessage assign_message(Assignment assignment) {
    Draft<wire::Assign> draft;
    const auto count = static_cast<uint32_t>(assignment.ids.size());
    auto cells = draft->initCells(count);
    auto versions = draft->initVersions(count);
    for (uint32_t i = 0; i < count; ++i) {
      cells.set(i, assignment.ids[i]);
      versions.set(i, assignment.versions[i]);
    }
    return draft.finish(std::move(assignment.values));
  }

  /// Values that are to be saved later.
  struct Held {
    uint64_t state = 0;
    Values values;
  };

  std::shared_ptr<TaskSites> task_;
  std::deque<Held> held_;
  SavedCells saved_;       ///< in the last checkpoint that was saved or restored
  uint64_t restores_ = 0;  ///< grows when cells begin and end to be restored
  Ready ready_;
};

}  // namespace

Address checkpoint_writer_address(const Address& worker) {
  return {worker.task, worker.incarnation, "checkpoint", "writer"};
}

ActorRef spawn_checkpoint_writer(ActorNode& node, std::shared_ptr<TaskSites> task) {
  return node.engine.spawn(std::make_unique<WriterRole>(node, std::move(task)));
}

}  // namespace troupe
