#include "actors/services/variable/variable.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <unordered_map>

#include "actors/services/variable/mirror_stream.h"
#include "actors/services/variable/variable_service.h"
#include "kernels/runtime/apply_update.h"
#include "messages/schemas/mirror.capnp.h"
#include "messages/schemas/variable.capnp.h"
#include "messages/wire/wire.h"

// A group's actor, and what joining its group with another's does:
//
//             GroupChanged, with predecessors        all have answered Release
//   serving ----------------------------> taking over --------------------------> serving: owns all cells of the group
//      |                                  (keeps requests)
//      | Release                               | Release
//      v                                       v
//   draining (finishes the requests kept, forwards new ones) --> released: answers Released, and forwards late requests

namespace troupe {
namespace {

/// An update of more bytes of cells is computed outside the handler, unless the device computes it later. So many bytes take 10 us,
/// or 100 us if they are not in a cache.
constexpr size_t max_bytes_in_handler = 512 << 10;

/// An Update, Assign or MirrorChanged that has not been answered.
struct Pending {
  AnyMessage message;
  std::shared_ptr<const UpdateRule> rule;  ///< of an Update
  /// The last one is the counter, if an Update has one.
  std::vector<std::shared_ptr<StateCell>> cells;
  Reply reply;
  Status failure;                   ///< for an update computed outside the handler: its result
  std::vector<Tensor> before = {};  ///< of an op that yields the value before the update: that value
  bool may_unlock = false;          ///< whether an Update may unlock its cells for the phase of its step
};

/// Returns the inputs of the rule's node in order: cells for references and resources, attachments for values.
Result<std::vector<Slot>> inputs_of(const Pending& pending) {
  const Node& node = *pending.rule->node;
  const Graph& graph = *pending.rule->graph;
  std::vector<Slot> inputs;
  size_t cell = 0;
  uint32_t value = 0;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.expects_ref[i] || graph.dtype(node.inputs[i]) == DType::Resource) {
      if (cell == pending.cells.size())
        return internal("the update names " + std::to_string(cell) + " cells, too few for its rule");
      inputs.push_back(Slot::of(pending.cells[cell++].get()));
    } else {
      TROUPE_ASSIGN(Tensor tensor, pending.message.attachment(value++));
      inputs.push_back(Slot::of(std::move(tensor)));
    }
  }
  return inputs;
}

Status apply(const Pending& pending, DeviceContext& device) {
  TROUPE_ASSIGN(auto inputs, inputs_of(pending));
  const auto step = Message<wire::Update>(pending.message)->getStep();
  StepInfo info;
  info.session = step.getSession();
  info.ordinal = step.getOrdinal();
  if (pending.may_unlock)
    info.unlocked = {info.session, Message<wire::Update>(pending.message)->getUnlocked()};
  TROUPE_RETURN_IF_FAILED(apply_update(*pending.rule->kernel, *pending.rule->node, inputs, device, info));
  const auto update = *Message<wire::Update>(pending.message);
  if (update.getCounter() >= 0) pending.cells.back()->publish(Tensor::scalar(update.getCount()));
  return {};
}

/// A change that the mirror has not acknowledged.
struct Unconfirmed {
  AnyMessage answer;
  Reply reply;
  uint64_t stream = 0;
};

class VariableRole final : public Role {
 public:
  using GroupRef = VariableGroups::GroupRef;

  VariableRole(std::shared_ptr<DeviceSite> site, RuleTable& rules, VariableGroups& groups, GroupRef group)
      : site_(std::move(site)), rules_(rules), groups_(groups), group_(std::move(group)) {
    on<wire::GroupChanged>([this](const auto&, Reply) { take_over(); });
    on<wire::Release>([this](const auto&, Reply reply) { release(std::move(reply)); });
    on<wire::Update>([this](const auto& message, Reply reply) { update(message, std::move(reply)); });
    on<wire::UpdateApplied>([this](const auto& message, Reply) { applied(message->getUpdate()); });
    on<wire::Assign>([this](const auto& message, Reply reply) { assign(message, std::move(reply)); });
    on<wire::Read>([this](const auto& message, Reply reply) { read(message, std::move(reply)); });
    on<wire::MirrorChanged>(
        [this](const auto& message, Reply reply) { mirror_changed(message, std::move(reply)); });
  }

 private:
  using Cells = std::vector<std::shared_ptr<StateCell>>;

  // ---- Ownership of cells

  void take_over() {
    if (!group_) return;
    auto members = groups_.members(*group_);
    for (auto& cell : members.cells) cells_.emplace(cell->id(), std::move(cell));
    if (!stream_) begin_stream();
    for (const GroupRef& predecessor : members.predecessors) {
      if (std::ranges::count(predecessors_, predecessor) != 0) continue;
      predecessors_.push_back(predecessor);
      ++unreleased_;
      ask(predecessor->actor(), Draft<wire::Release>().finish(),
          [this, predecessor](const Result<AnyMessage>& answer) { released(predecessor, answer.ok()); });
    }
  }

  /// Called when a predecessor has answered Release or has ended. When all have, a cell that is still being changed will stay so
  /// forever, and the group is lost.
  void released(const GroupRef& predecessor, bool alive) {
    if (!alive) ended_predecessors_.push_back(predecessor);
    if (--unreleased_ != 0) return;
    if (Status status = groups_.released(*group_, predecessors_, ended_predecessors_); !status.ok())
      return stop(status);
    predecessors_.clear();
    ended_predecessors_.clear();
    if (stream_) stream_->raise(groups_.next_stream());
    start_ready();
  }

  void release(Reply reply) {
    cells_.clear();
    releases_.push_back(std::move(reply));
    answer_releases();
  }

  /// Answers Release when no request is left. After that only code that is about to send to this actor refers to it; it ends when
  /// there is no such code any more.
  void answer_releases() {
    if (releases_.empty() || unreleased_ != 0 || !waiting_.empty() || !running_.empty() || unconfirmed_ != 0)
      return;
    for (Reader& reader : std::exchange(readers_, {})) pass_to_owner(reader.message, std::move(reader.reply));
    for (Reply& reply : std::exchange(releases_, {})) reply(Draft<wire::Released>().finish());
    group_.reset();
  }

  /// Returns nothing if this actor does not own all of these cells.
  std::optional<Cells> find_cells(capnp::List<uint32_t>::Reader ids) const {
    Cells cells;
    for (const uint32_t id : ids) {
      const auto at = cells_.find(id);
      if (at == cells_.end()) return std::nullopt;
      cells.push_back(at->second);
    }
    return cells;
  }

  /// Forwards a request to the actor that owns its cells.
  template <class T>
  void pass_to_owner(const Message<T>& message, Reply reply) const {
    const auto owner = groups_.owner(vector_of<uint32_t>(message->getCells()));
    if (!owner) return reply(owner.status());
    forward(*owner, message, std::move(reply));
  }

  // ---- Updates and assignments

  void update(const Message<wire::Update>& message, Reply reply) {
    auto cells = find_cells(message->getCells());
    if (!cells) return pass_to_owner(message, std::move(reply));
    auto rule = rules_.find(message->getRule());
    if (!rule) return reply(not_found("no update rule has number " + std::to_string(message->getRule())));
    if (message->getCounter() >= 0) {
      const auto counter = cells_.find(static_cast<uint32_t>(message->getCounter()));
      if (counter == cells_.end() || counter->second->dtype() != DType::Int64)
        return reply(invalid_argument("the counter " + std::to_string(message->getCounter()) +
                                      " of an update is not an int64 variable of the same group"));
      cells->push_back(counter->second);
    }
    waiting_.push_back({message, std::move(rule), std::move(*cells), std::move(reply), {}});
    start_ready();
  }

  /// Starts, in order, the requests that share no cell with a running or an earlier one.
  void start_ready() {
    if (unreleased_ != 0) return;
    std::set<const StateCell*> taken = busy_;
    for (auto at = waiting_.begin(); at != waiting_.end();) {
      const bool free = std::none_of(at->cells.begin(), at->cells.end(),
                                     [&](const auto& cell) { return taken.contains(cell.get()); });
      if (!free) {
        for (const auto& cell : at->cells) taken.insert(cell.get());
        ++at;
        continue;
      }
      Pending pending = std::move(*at);
      at = waiting_.erase(at);
      start(std::move(pending));
      for (const StateCell* cell : busy_) taken.insert(cell);
    }
    answer_readers();
    answer_releases();
  }

  void start(Pending pending) {
    if (pending.message.schema_id() == schema_id_of<wire::MirrorChanged>) return begin_mirror(pending);
    if (!pending.rule) return publish(pending);
    const bool on_host = site_->device->memory_kind() == MemoryKind::Host;
    pending.may_unlock = on_host && !stream_ && !yields_value(*pending.rule->node);
    size_t bytes = 0;
    for (const auto& cell : pending.cells) {
      Snapshot snapshot;
      if (cell->try_read(snapshot) != StateCell::Reading::Ready) continue;
      bytes += snapshot.value.bytes();
      if (yields_value(*pending.rule->node)) pending.before.push_back(std::move(snapshot.value));
    }
    if (bytes <= max_bytes_in_handler || !on_host) {
      finish(pending, apply(pending, site_->device->context()));
      return;
    }
    for (const auto& cell : pending.cells) busy_.insert(cell.get());
    const uint64_t number = ++last_update_;
    auto shared = std::make_shared<Pending>(std::move(pending));
    running_.emplace(number, shared);
    ++group_->computing;
    compute_soon(site_->node.scheduler,
                 make_job([shared, number, site = site_, group = group_, self = self()] {
                   Status status = apply(*shared, site->device->context());
                   Draft<wire::UpdateApplied> applied;
                   applied->setUpdate(number);
                   if (!status.ok()) shared->failure = std::move(status);
                   --group->computing;
                   site->node.engine.send(self, applied.finish());
                 }));
  }

  void applied(uint64_t number) {
    const auto at = running_.find(number);
    if (at == running_.end()) return;
    const auto pending = std::move(at->second);
    running_.erase(at);
    for (const auto& cell : pending->cells) busy_.erase(cell.get());
    finish(*pending, std::move(pending->failure));
    start_ready();
  }

  void finish(Pending& pending, Status status) {
    if (!status.ok())
      return pending.reply(std::move(status).at_node(pending.rule->node->type(), pending.rule->node->name));
    answer(pending);
  }

  /// Answers a request that has changed its cells: at once or, if they are mirrored, when the mirror has the change.
  void answer(Pending& pending) {
    Draft<wire::Updated> draft;
    auto versions = draft->initVersions(static_cast<uint32_t>(pending.cells.size()));
    for (uint32_t i = 0; i < pending.cells.size(); ++i) versions.set(i, pending.cells[i]->version());
    AnyMessage done = draft.finish(std::move(pending.before));
    if (!stream_ || !stream_->covers(pending.cells)) return pending.reply(std::move(done));
    const AnyMessage change =
        pending.rule ? stream_->update(Message<wire::Update>(pending.message), pending.rule, pending.cells)
                     : stream_->values(pending.cells);
    ++unconfirmed_;
    auto kept = std::make_shared<Unconfirmed>(
        Unconfirmed{std::move(done), std::move(pending.reply), stream_->number()});
    ask(stream_->target().actor, change,
        [this, kept](const Result<AnyMessage>& mirrored) { confirm(std::move(*kept), mirrored.status()); });
  }

  void assign(const Message<wire::Assign>& message, Reply reply) {
    const auto values = message.attachments();
    if (values.size() != message->getCells().size())
      return reply(invalid_argument("Assign has " + std::to_string(values.size()) + " values for " +
                                    std::to_string(message->getCells().size()) + " variables"));
    auto cells = find_cells(message->getCells());
    if (!cells) return pass_to_owner(message, std::move(reply));
    for (size_t i = 0; i < values.size(); ++i) {
      const StateCell& cell = *(*cells)[i];
      if (cell.dtype() != values[i].dtype() || !cell.shape().compatible_with(values[i].shape()))
        return reply(invalid_argument("variable " + cell.name() + " is " + std::string(name(cell.dtype())) +
                                      cell.shape().text() + ", but its new value is " +
                                      values[i].signature()));
    }
    waiting_.push_back({message, nullptr, std::move(*cells), std::move(reply), {}});
    start_ready();
  }

  void publish(Pending& pending) {
    const auto versions = Message<wire::Assign>(pending.message)->getVersions();
    const auto values = pending.message.attachments();
    for (uint32_t i = 0; i < pending.cells.size(); ++i) {
      StateCell& cell = *pending.cells[i];
      cell.publish(Snapshot{values[i], i < versions.size() ? versions[i] : cell.version() + 1});
    }
    answer(pending);
  }

  // ---- The mirror

  void begin_stream() {
    if (auto target = groups_.mirror())
      stream_.emplace(std::move(*target), groups_.next_stream(), *site_->state,
                      VariableService::of(*site_).mirrored());
  }

  /// Waits, like an update of all cells, until the changes before it have been made.
  void mirror_changed(const Message<wire::MirrorChanged>& message, Reply reply) {
    Pending pending{message, nullptr, {}, std::move(reply), {}};
    if (cells_.empty()) {
      begin_mirror(pending);
      return answer_releases();  // they may have waited for changes that the lost mirror has not acknowledged
    }
    for (const auto& [id, cell] : cells_) pending.cells.push_back(cell);
    waiting_.push_back(std::move(pending));
    start_ready();
  }

  /// Sends the values of all cells to the new mirror, if there is one. The client has given up the mirror before it.
  void begin_mirror(Pending& pending) {
    stream_.reset();
    for (Unconfirmed& change : std::exchange(kept_, {})) {
      --unconfirmed_;
      change.reply(std::move(change.answer));
    }
    if (group_) begin_stream();
    std::vector<AddressedRequest> changes;
    for (const auto& cell : pending.cells)
      if (stream_ && stream_->covers({cell}) && cell->reading() == StateCell::Reading::Ready)
        changes.push_back({stream_->target().actor, stream_->values({cell})});
    auto reply = std::make_shared<Reply>(std::move(pending.reply));
    ask_all(std::move(changes), [reply](const Answers& answers) {
      const auto failed = std::ranges::find_if(answers, [](const auto& answer) { return !answer; });
      if (failed != answers.end()) return (*reply)(failed->status());
      (*reply)(Draft<wire::GroupMirrored>().finish());
    });
  }

  /// Called when the mirror has answered a change. If it cannot make the change, the answer waits until the client has ended the
  /// mirror, which it may be about to adopt. An adopted mirror answers Aborted: this group has been superseded.
  void confirm(Unconfirmed change, const Status& mirrored) {
    const bool ended = !stream_ || stream_->number() != change.stream;
    if (mirrored.ok() || ended || mirrored.code() == Code::Aborted) {
      --unconfirmed_;
      mirrored.ok() || ended ? change.reply(std::move(change.answer)) : change.reply(mirrored);
      return answer_releases();
    }
    Draft<wire::MirrorLost> draft;
    draft->setMirror(stream_->target().mirror);
    tell(stream_->target().source, draft.finish());
    kept_.push_back(std::move(change));
  }

  // ---- Reads

  struct Reader {
    Message<wire::Read> message;
    Cells cells;
    Reply reply;
  };

  void read(const Message<wire::Read>& message, Reply reply) {
    auto cells = find_cells(message->getCells());
    if (!cells) return pass_to_owner(message, std::move(reply));
    readers_.push_back({message, std::move(*cells), std::move(reply)});
    if (unreleased_ == 0) answer_readers();
  }

  void answer_readers() {
    std::erase_if(readers_, [this](Reader& reader) { return try_answer(reader); });
  }

  /// Returns false while a cell is being changed or has not reached the requested version.
  bool try_answer(Reader& reader) {
    if (std::ranges::any_of(reader.cells, [this](const auto& cell) { return busy_.contains(cell.get()); }))
      return false;
    const auto wanted = reader.message->getVersions();
    std::vector<Tensor> values;
    Draft<wire::ReadDone> draft;
    auto versions = draft->initVersions(static_cast<uint32_t>(reader.cells.size()));
    for (uint32_t i = 0; i < reader.cells.size(); ++i) {
      const StateCell& cell = *reader.cells[i];
      Snapshot snapshot;
      switch (cell.try_read(snapshot)) {
        case StateCell::Reading::Busy: return false;
        case StateCell::Reading::Uninitialized:
          return reader.reply(failed_precondition("variable " + cell.name() + " has no value yet")), true;
        case StateCell::Reading::Ready: break;
      }
      if (i < wanted.size() && snapshot.version < wanted[i]) return false;
      versions.set(i, snapshot.version);
      values.push_back(std::move(snapshot.value));
    }
    reader.reply(draft.finish(std::move(values)));
    return true;
  }

  std::shared_ptr<DeviceSite> site_;
  RuleTable& rules_;
  VariableGroups& groups_;
  GroupRef group_;  ///< null once the cells have been released
  /// The cells that this actor owns, by number.
  std::unordered_map<uint32_t, std::shared_ptr<StateCell>> cells_;
  std::vector<GroupRef> predecessors_;        ///< those that were asked to release their cells
  std::vector<GroupRef> ended_predecessors_;  ///< those of them that have ended
  size_t unreleased_ = 0;                     ///< how many of them have not answered
  std::vector<Reply> releases_;  ///< the Release requests to answer when no other request is left
  std::deque<Pending> waiting_;
  std::set<const StateCell*> busy_;  ///< the cells that are being changed outside the handler
  std::unordered_map<uint64_t, std::shared_ptr<Pending>> running_;
  std::vector<Reader> readers_;
  uint64_t last_update_ = 0;
  std::optional<MirrorStream> stream_;  ///< of the changes to the mirror, if the device has one
  size_t unconfirmed_ = 0;              ///< how many changes the mirror has not acknowledged
  std::vector<Unconfirmed> kept_;       ///< those of them that a lost mirror will not acknowledge
};

}  // namespace

ActorRef spawn_variable(std::shared_ptr<DeviceSite> site, RuleTable& rules, VariableGroups& groups,
                        std::shared_ptr<VariableGroup> group) {
  Engine& engine = site->node.engine;
  return engine.spawn(std::make_unique<VariableRole>(std::move(site), rules, groups, std::move(group)));
}

}  // namespace troupe
