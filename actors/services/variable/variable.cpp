#include "actors/services/variable/variable.h"

#include <algorithm>
#include <deque>
#include <set>
#include <unordered_map>

#include "kernels/runtime/apply_update.h"
#include "messages/schemas/variable.capnp.h"
#include "messages/wire/wire.h"

// A group's actor, and what joining its group with another's does:
//
//             GroupChanged, with predecessors        all have answered Release
//   serving ----------------------------> taking over --------------------------> serving: all cells are its own
//      |                                  (requests are kept)
//      | Release                               | Release
//      v                                       v
//   draining (what was kept is finished, new requests are passed on) --> released: answers Released, and passes on what comes late

namespace troupe {
namespace {

/// Bytes of cells: 10 us of arithmetic, 100 when no cache holds them. More is computed outside the handler.
constexpr size_t largest_in_handler = 512 << 10;

/// One Update or Assign: its cells, in order, and what it does to them.
struct Pending {
  AnyMessage message;
  std::shared_ptr<const UpdateRule> rule;  ///< null: an Assign
  std::vector<std::shared_ptr<StateCell>> cells;
  Reply reply;
  Status failure;  ///< of one computed outside the handler, once it has run
};

/// The inputs of the rule's node in order: the cells for references and resources, the attachments for the rest.
Result<std::vector<Slot>> inputs_of(const Pending& pending) {
  const Node& node = *pending.rule->node;
  const Graph& graph = *pending.rule->graph;
  std::vector<Slot> inputs;
  size_t cell = 0;
  uint32_t value = 0;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.expects_ref[i] || graph.dtype(node.inputs[i]) == DType::Resource) {
      if (cell == pending.cells.size()) return internal("the update names too few cells");
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
  return apply_update(*pending.rule->kernel, *pending.rule->node, inputs, device, info);
}

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
  }

 private:
  using Cells = std::vector<std::shared_ptr<StateCell>>;

  // ---- Which cells are its own

  void take_over() {
    if (!group_) return;
    auto members = groups_.members(*group_);
    for (auto& cell : members.cells) cells_.emplace(cell->id(), std::move(cell));
    for (const GroupRef& predecessor : members.predecessors) {
      if (std::ranges::count(predecessors_, predecessor) != 0) continue;
      predecessors_.push_back(predecessor);
      ++unreleased_;
      ask(predecessor->actor(), Draft<wire::Release>().finish(),
          [this, predecessor](const Result<AnyMessage>& answer) { released(predecessor, answer.ok()); });
    }
  }

  /// Only when none is left is it clear that a cell which is being changed is so for ever.
  void released(const GroupRef& predecessor, bool alive) {
    if (!alive) ended_predecessors_.push_back(predecessor);
    if (--unreleased_ != 0) return;
    if (Status status = groups_.released(*group_, predecessors_, ended_predecessors_); !status.ok())
      return stop(status);
    predecessors_.clear();
    ended_predecessors_.clear();
    start_what_can();
  }

  void release(Reply reply) {
    cells_.clear();
    releases_.push_back(std::move(reply));
    answer_releases();
  }

  /// Without its group nothing refers to this actor but who is about to send to it; it ends when nobody is any more.
  void answer_releases() {
    if (releases_.empty() || unreleased_ != 0 || !waiting_.empty() || !running_.empty()) return;
    for (Reader& reader : std::exchange(readers_, {})) pass_on(reader.message, std::move(reader.reply));
    for (Reply& reply : std::exchange(releases_, {})) reply(Draft<wire::Released>().finish());
    group_.reset();
  }

  /// Nothing when one of them is not its own.
  std::optional<Cells> find_cells(capnp::List<uint32_t>::Reader ids) const {
    Cells cells;
    for (const uint32_t id : ids) {
      const auto at = cells_.find(id);
      if (at == cells_.end()) return std::nullopt;
      cells.push_back(at->second);
    }
    return cells;
  }

  /// To whoever owns the cells.
  template <class T>
  void pass_on(const Message<T>& message, Reply reply) const {
    const auto owner = groups_.owner(message->getCells());
    if (!owner) return reply(owner.status());
    forward(*owner, message, std::move(reply));
  }

  // ---- Updates and assignments

  void update(const Message<wire::Update>& message, Reply reply) {
    auto cells = find_cells(message->getCells());
    if (!cells) return pass_on(message, std::move(reply));
    auto rule = rules_.find(message->getRule());
    if (!rule) return reply(not_found("no update rule has number " + std::to_string(message->getRule())));
    waiting_.push_back({message, std::move(rule), std::move(*cells), std::move(reply), {}});
    start_what_can();
  }

  /// Starts, in order, what shares no cell with a running update or with one that came before it.
  void start_what_can() {
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
    if (!pending.rule) return publish(pending);
    size_t bytes = 0;
    for (const auto& cell : pending.cells) {
      Snapshot snapshot;
      if (cell->try_read(snapshot) == StateCell::Reading::Ready) bytes += snapshot.value.bytes();
    }
    if (bytes <= largest_in_handler) {
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
    start_what_can();
  }

  void finish(Pending& pending, Status status) {
    if (!status.ok())
      return pending.reply(std::move(status).at_node(pending.rule->node->type(), pending.rule->node->name));
    answer(pending);
  }

  static void answer(Pending& pending) {
    Draft<wire::Updated> draft;
    auto versions = draft->initVersions(static_cast<uint32_t>(pending.cells.size()));
    for (uint32_t i = 0; i < pending.cells.size(); ++i) versions.set(i, pending.cells[i]->version());
    pending.reply(draft.finish());
  }

  void assign(const Message<wire::Assign>& message, Reply reply) {
    const auto values = message.attachments();
    if (values.size() != message->getCells().size())
      return reply(invalid_argument("Assign has " + std::to_string(values.size()) + " values for " +
                                    std::to_string(message->getCells().size()) + " variables"));
    auto cells = find_cells(message->getCells());
    if (!cells) return pass_on(message, std::move(reply));
    for (size_t i = 0; i < values.size(); ++i) {
      const StateCell& cell = *(*cells)[i];
      if (cell.dtype() != values[i].dtype() || !cell.shape().compatible_with(values[i].shape()))
        return reply(invalid_argument("variable " + cell.name() + " is " + std::string(name(cell.dtype())) +
                                      cell.shape().text() + ", not " + values[i].signature()));
    }
    waiting_.push_back({message, nullptr, std::move(*cells), std::move(reply), {}});
    start_what_can();
  }

  static void publish(Pending& pending) {
    const auto versions = Message<wire::Assign>(pending.message)->getVersions();
    const auto values = pending.message.attachments();
    for (uint32_t i = 0; i < pending.cells.size(); ++i) {
      StateCell& cell = *pending.cells[i];
      cell.publish(Snapshot{values[i], i < versions.size() ? versions[i] : cell.version() + 1});
    }
    answer(pending);
  }

  // ---- Reads

  struct Reader {
    Message<wire::Read> message;
    Cells cells;
    Reply reply;
  };

  void read(const Message<wire::Read>& message, Reply reply) {
    auto cells = find_cells(message->getCells());
    if (!cells) return pass_on(message, std::move(reply));
    readers_.push_back({message, std::move(*cells), std::move(reply)});
    if (unreleased_ == 0) answer_readers();
  }

  void answer_readers() {
    std::erase_if(readers_, [this](Reader& reader) { return try_answer(reader); });
  }

  /// False while a cell is being changed or has not reached the wanted version.
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
  GroupRef group_;                                                  ///< null once its cells are released
  std::unordered_map<uint32_t, std::shared_ptr<StateCell>> cells_;  ///< its own, by number
  std::vector<GroupRef> predecessors_;                              ///< asked to release, until all have
  std::vector<GroupRef> ended_predecessors_;                        ///< which of them had ended
  size_t unreleased_ = 0;                                           ///< how many have not answered
  std::vector<Reply> releases_;  ///< to be answered when nothing is left to do
  std::deque<Pending> waiting_;
  std::set<const StateCell*> busy_;  ///< being changed outside the handler
  std::unordered_map<uint64_t, std::shared_ptr<Pending>> running_;
  std::vector<Reader> readers_;
  uint64_t last_update_ = 0;
};

}  // namespace

ActorRef spawn_variable(std::shared_ptr<DeviceSite> site, RuleTable& rules, VariableGroups& groups,
                        std::shared_ptr<VariableGroup> group) {
  Engine& engine = site->node.engine;
  return engine.spawn(std::make_unique<VariableRole>(std::move(site), rules, groups, std::move(group)));
}

}  // namespace troupe
