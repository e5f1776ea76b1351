#include "actors/services/variable/variable.h"

#include <deque>
#include <set>

#include "kernels/runtime/apply_update.h"
#include "messages/schemas/variable.capnp.h"
#include "messages/wire/wire.h"

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
  VariableRole(std::shared_ptr<DeviceSite> site, RuleTable& rules) : site_(std::move(site)), rules_(rules) {
    on<wire::Update>([this](const auto& message, Reply reply) { update(message, std::move(reply)); });
    on<wire::UpdateApplied>([this](const auto& message, Reply) { applied(message->getUpdate()); });
    on<wire::Assign>([this](const auto& message, Reply reply) { assign(message, std::move(reply)); });
    on<wire::Read>([this](const auto& message, Reply reply) { read(message, std::move(reply)); });
  }

 private:
  void update(const Message<wire::Update>& message, Reply reply) {
    auto rule = rules_.find(message->getRule());
    if (!rule) return reply(not_found("no update rule has number " + std::to_string(message->getRule())));
    auto cells = find_cells(message->getCells());
    if (!cells) return reply(cells.status());
    waiting_.push_back({message, std::move(rule), std::move(*cells), std::move(reply), {}});
    start_what_can();
  }

  Result<std::vector<std::shared_ptr<StateCell>>> find_cells(capnp::List<uint32_t>::Reader ids) const {
    std::vector<std::shared_ptr<StateCell>> cells;
    for (const uint32_t id : ids) {
      cells.push_back(site_->state->at(id));
      if (!cells.back()) return not_found("no variable has number " + std::to_string(id));
    }
    return cells;
  }

  /// Starts, in order, what shares no cell with a running update or with one that came before it.
  void start_what_can() {
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
    compute_soon(site_->node.scheduler, make_job([shared, number, site = site_, self = self()] {
                   Status status = apply(*shared, site->device->context());
                   Draft<wire::UpdateApplied> applied;
                   applied->setUpdate(number);
                   if (!status.ok()) shared->failure = std::move(status);
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
    if (!cells) return reply(cells.status());
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

  void read(const Message<wire::Read>& message, Reply reply) {
    readers_.push_back({message, std::move(reply)});
    answer_readers();
  }

  void answer_readers() {
    std::erase_if(readers_, [this](Reader& reader) { return try_answer(reader); });
  }

  struct Reader {
    Message<wire::Read> message;
    Reply reply;
  };

  /// False while a cell is being changed in place or has not reached the wanted version.
  bool try_answer(Reader& reader) {
    const auto ids = reader.message->getCells();
    const auto wanted = reader.message->getVersions();
    std::vector<Tensor> values;
    Draft<wire::ReadDone> draft;
    auto versions = draft->initVersions(ids.size());
    for (uint32_t i = 0; i < ids.size(); ++i) {
      const auto cell = site_->state->at(ids[i]);
      Snapshot snapshot;
      if (!cell) return reader.reply(not_found("no variable has number " + std::to_string(ids[i]))), true;
      switch (cell->try_read(snapshot)) {
        case StateCell::Reading::Busy: return false;
        case StateCell::Reading::Uninitialized:
          return reader.reply(failed_precondition("variable " + cell->name() + " has no value yet")), true;
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
  std::deque<Pending> waiting_;
  std::set<const StateCell*> busy_;  ///< being changed outside the handler
  std::unordered_map<uint64_t, std::shared_ptr<Pending>> running_;
  std::vector<Reader> readers_;
  uint64_t last_update_ = 0;
};

}  // namespace

ActorRef spawn_variable(std::shared_ptr<DeviceSite> site, RuleTable& rules) {
  Engine& engine = site->node.engine;
  return engine.spawn(std::make_unique<VariableRole>(std::move(site), rules));
}

}  // namespace troupe
