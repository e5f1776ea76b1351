#include "actors/services/mirror/mirror.h"

#include <capnp/message.h>

#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "actors/engine/role.h"
#include "actors/services/mirror/mirror_expiry.h"
#include "actors/services/variable/variable_service.h"
#include "actors/site/graph_wire.h"
#include "messages/schemas/mirror.capnp.h"
#include "messages/schemas/variable.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

constexpr size_t max_mirrors = 64;
/// In nanoseconds: how long the copies are kept for their client when the primary is lost.
constexpr int64_t patience_without_primary = 60'000'000'000;
/// The changes of a stream that may arrive before an earlier one, which took another connection.
constexpr size_t max_early_changes = 4096;
constexpr size_t max_rules = 4096;

using Change = Message<wire::MirrorChange>;

struct KeptChange {
  Change message;
  Reply reply;
};

/// The changes that one actor of the primary sends.
struct Stream {
  uint64_t next = 1;                     ///< the sequence number of the next change
  std::map<uint64_t, KeptChange> early;  ///< those that arrived before it, by sequence number
};

struct Copy {
  std::shared_ptr<StateCell> cell;
  uint64_t stream = 0, rank = 0;  ///< of the last one that has sent the cell
};

/// The copies of the variables of one device.
struct Mirror {
  std::string container;                      ///< where the copies are
  std::unordered_map<uint32_t, Copy> copies;  ///< by their numbers on the primary
  std::unordered_map<uint64_t, Stream> streams;
  std::map<std::string, uint64_t> rules;  ///< their numbers, by the words of their graphs
  size_t applying = 0;                    ///< the number of changes that are being applied
  std::optional<Reply> adopting;          ///< the client adopts it when those have been applied
};

class MirrorRole final : public Role {
 public:
  explicit MirrorRole(std::shared_ptr<DeviceSite> site)
      : site_(std::move(site)), variables_(VariableService::of(*site_)) {
    on<wire::OpenMirror>([this](const auto& message, Reply reply) { reply(open(*message)); });
    on<wire::MirrorChange>([this](const auto& message, Reply reply) { change(message, std::move(reply)); });
    on<wire::ClaimVariables>([this](const auto& message, Reply reply) {
      Draft<wire::VariablesClaimed> claimed;
      claimed->setAttempt(variables_.mirrored().claim(message->getAttempt()));
      reply(claimed.finish());
    });
    on<wire::AdoptMirror>(
        [this](const auto& message, Reply reply) { adopt(message->getMirror(), std::move(reply)); });
    on<wire::MirrorExpired>([this](const auto& message, Reply) { drop(message->getMirror()); });
    on<wire::DropMirror>([this](const auto& message, Reply reply) {
      const uint64_t number = message->getMirror();
      if (adopted_.contains(number) || is_being_adopted(number)) return reply(ended(number));
      drop(number);
      reply(Draft<wire::MirrorDropped>().finish());
    });
  }

 private:
  void stopping() override {
    while (!mirrors_.empty()) drop(mirrors_.begin()->first);
  }

  Result<AnyMessage> open(const wire::OpenMirror::Reader& message) {
    const uint64_t number = message.getMirror();
    if (number == 0 || mirrors_.contains(number) || adopted_.contains(number))
      return already_exists("mirror " + std::to_string(number) + " has been opened before");
    if (mirrors_.size() == max_mirrors)
      return resource_exhausted("this device already keeps " + std::to_string(max_mirrors) + " mirrors");
    TROUPE_ASSIGN(const ActorRef source, site_->node.directory.find(read(message.getSource())));
    TROUPE_RETURN_IF_FAILED(variables_.mirrored().take_part(message.getAttempt(), message.getOwnsNothing()));
    watch(source,
          [this, number](const Status&) { expire_mirror(*site_, self(), number, patience_without_primary); });
    mirrors_[number].container = "mirror " + std::to_string(number);
    return Draft<wire::MirrorOpened>().finish();
  }

  static Status ended(uint64_t mirror) {
    return aborted("mirror " + std::to_string(mirror) +
                   " has ended here: the variables may be on another device now");
  }

  /// Returns null if the mirror has ended.
  Mirror* find(uint64_t number) {
    const auto at = mirrors_.find(number);
    return at == mirrors_.end() || at->second.adopting ? nullptr : &at->second;
  }

  bool is_being_adopted(uint64_t number) const {
    const auto at = mirrors_.find(number);
    return at != mirrors_.end() && at->second.adopting;
  }

  // ---- Changes

  /// Applies the changes of a stream in the order of their sequence numbers.
  void change(const Change& message, Reply reply) {
    const uint64_t number = message->getMirror();
    Mirror* const mirror = find(number);
    if (!mirror) return reply(ended(number));
    Stream& stream = mirror->streams[message->getStream()];
    const uint64_t sequence = message->getSequence();
    if (sequence < stream.next || stream.early.contains(sequence))
      return reply(already_exists("change " + std::to_string(sequence) + " has arrived before"));
    if (stream.early.size() == max_early_changes)
      return reply(resource_exhausted("change " + std::to_string(stream.next) + " is missing, and " +
                                      std::to_string(max_early_changes) + " later ones have arrived"));
    stream.early.emplace(sequence, KeptChange{message, std::move(reply)});
    for (auto at = stream.early.begin(); at != stream.early.end() && at->first == stream.next;
         at = stream.early.begin()) {
      KeptChange next = std::move(at->second);
      stream.early.erase(at);
      ++stream.next;
      apply(number, *mirror, std::move(next));
    }
  }

  void apply(uint64_t number, Mirror& mirror, KeptChange change) {
    const auto request =
        change.message->isValues() ? assignment(mirror, change.message) : update(mirror, change.message);
    if (!request) return change.reply(request.status());
    ++mirror.applying;
    auto reply = std::make_shared<Reply>(std::move(change.reply));
    ask(request->to, request->message, [this, number, reply](const Result<AnyMessage>& applied) {
      applied ? (*reply)(Draft<wire::ChangeMirrored>().finish()) : (*reply)(applied.status());
      const auto at = mirrors_.find(number);
      if (at == mirrors_.end()) return;
      --at->second.applying;
      finish_adoption(number);
    });
  }

  Result<AddressedRequest> assignment(Mirror& mirror, const Change& message) {
    const auto values = message->getValues();
    if (values.size() != message.attachments().size())
      return invalid_argument("a change has " + std::to_string(message.attachments().size()) +
                              " values for " + std::to_string(values.size()) + " variables");
    std::vector<StateCell*> cells;
    Draft<wire::Assign> draft;
    auto ids = draft->initCells(values.size());
    auto versions = draft->initVersions(values.size());
    for (uint32_t i = 0; i < values.size(); ++i) {
      TROUPE_ASSIGN(StateCell* const cell, copy_of(mirror, values[i], *message));
      cells.push_back(cell);
      ids.set(i, cell->id());
      versions.set(i, values[i].getVersion());
    }
    if (cells.empty()) return invalid_argument("a change names no variable");
    TROUPE_ASSIGN(auto owner, variables_.groups().owner(std::span<StateCell* const>(cells)));
    return AddressedRequest{std::move(owner),
                            draft.finish({message.attachments().begin(), message.attachments().end()})};
  }

  Result<StateCell*> copy_of(Mirror& mirror, const wire::MirroredValue::Reader& value,
                             const wire::MirrorChange::Reader& change) {
    TROUPE_ASSIGN(const DType dtype, dtype_from_number(value.getDtype()));
    TROUPE_ASSIGN(const PartialShape shape, read(value.getShape()));
    if (const auto at = mirror.copies.find(value.getCell());
        at != mirror.copies.end() && at->second.rank > change.getRank())
      return superseded(value.getCell());
    std::optional<RowSlice> slice;
    if (value.hasSlice()) slice = read(value.getSlice());
    if (slice && !slice->is_valid())
      return invalid_argument("a variable is a part that its whole does not have");
    TROUPE_ASSIGN(auto cell, site_->state->require(mirror.container, std::string(view(value.getName())),
                                                   dtype, shape, site_->device->name().text(), slice));
    Copy& copy = mirror.copies[value.getCell()];
    copy = {std::move(cell), change.getStream(), change.getRank()};
    return copy.cell.get();
  }

  static Status superseded(uint32_t cell) {
    return aborted("variable " + std::to_string(cell) + " belongs to another actor of the primary now");
  }

  Result<AddressedRequest> update(Mirror& mirror, const Change& message) {
    const auto change = message->getUpdate();
    std::vector<StateCell*> cells;
    const auto find_copy = [&](uint32_t id) -> Status {
      const auto at = mirror.copies.find(id);
      if (at == mirror.copies.end()) return not_found("the mirror has no variable " + std::to_string(id));
      if (at->second.stream != message->getStream()) return superseded(id);
      cells.push_back(at->second.cell.get());
      return {};
    };
    for (const uint32_t id : change.getCells()) TROUPE_RETURN_IF_FAILED(find_copy(id));
    Draft<wire::Update> draft;
    draft->setStep(change.getStep());
    auto ids = draft->initCells(static_cast<uint32_t>(cells.size()));
    for (uint32_t i = 0; i < cells.size(); ++i) ids.set(i, cells[i]->id());
    if (change.getCounter() >= 0) {
      TROUPE_RETURN_IF_FAILED(find_copy(static_cast<uint32_t>(change.getCounter())));
      draft->setCounter(cells.back()->id());
      draft->setCount(change.getCount());
    }
    if (cells.empty()) return invalid_argument("a change names no variable");
    TROUPE_ASSIGN(const uint64_t rule, rule_of(mirror, message));
    draft->setRule(rule);
    TROUPE_ASSIGN(auto owner, variables_.groups().owner(std::span<StateCell* const>(cells)));
    return AddressedRequest{std::move(owner),
                            draft.finish({message.attachments().begin(), message.attachments().end()})};
  }

  /// Returns the number of the rule of an update, which is prepared when it comes for the first time.
  Result<uint64_t> rule_of(Mirror& mirror, const Change& message) {
    const auto written = message->getUpdate().getRule();
    const auto words = capnp::canonicalize(written);
    const auto bytes = words.asBytes();
    std::string key(reinterpret_cast<const char*>(bytes.begin()), bytes.size());
    if (const auto at = mirror.rules.find(key); at != mirror.rules.end()) return at->second;
    if (mirror.rules.size() == max_rules) forget_rules(mirror);
    const OpLibrary& library = *site_->node.library;
    auto graph = std::make_shared<Graph>(library.ops);
    TROUPE_RETURN_IF_FAILED(read_into(*graph, written, message));
    if (graph->size() == 0) return invalid_argument("the rule of a change has no node");
    const Node& node = graph->node(static_cast<NodeId>(graph->size() - 1));
    if (!node.op->is_of_service(variable_service))
      return invalid_argument("the op " + node.type() + " of a change is not a rule that updates variables");
    TROUPE_ASSIGN(auto rule, prepare_rule(std::move(graph), node, library.kernels, *site_->device));
    return mirror.rules.emplace(std::move(key), variables_.rules().add(std::move(rule))).first->second;
  }

  void forget_rules(Mirror& mirror) {
    for (const auto& [key, number] : mirror.rules) variables_.rules().remove(number);
    mirror.rules.clear();
  }

  // ---- The end of a mirror

  void adopt(uint64_t number, Reply reply) {
    if (const auto at = adopted_.find(number); at != adopted_.end()) return reply(adopted(at->second));
    Mirror* const mirror = find(number);
    if (!mirror) return reply(not_found("this device has no mirror " + std::to_string(number)));
    mirror->adopting = std::move(reply);
    refuse_early(number, *mirror);
    finish_adoption(number);
  }

  /// Refuses the changes that cannot be applied, because one before them has not arrived. None of them was acknowledged.
  static void refuse_early(uint64_t number, Mirror& mirror) {
    for (auto& [id, stream] : mirror.streams)
      for (auto& [sequence, kept] : std::exchange(stream.early, {})) kept.reply(ended(number));
  }

  void finish_adoption(uint64_t number) {
    Mirror& mirror = mirrors_.at(number);
    if (!mirror.adopting || mirror.applying != 0) return;
    for (const auto& replaced : site_->state->move(mirror.container, {})) site_->drop(*replaced);
    std::vector<std::shared_ptr<StateCell>> cells;
    for (const auto& [id, copy] : mirror.copies) cells.push_back(copy.cell);
    variables_.mirrored().adopted(cells);
    const size_t variables = mirror.copies.size();
    adopted_.emplace(number, variables);
    forget_rules(mirror);
    const auto ended = mirrors_.extract(number);
    (*ended.mapped().adopting)(adopted(variables));
  }

  static AnyMessage adopted(size_t variables) {
    Draft<wire::MirrorAdopted> draft;
    draft->setVariables(static_cast<uint32_t>(variables));
    return draft.finish();
  }

  void drop(uint64_t number) {
    Mirror* const mirror = find(number);
    if (!mirror) return;
    refuse_early(number, *mirror);
    forget_rules(*mirror);
    for (const auto& cell : site_->state->drop(mirror->container)) site_->drop(*cell);
    mirrors_.erase(number);
  }

  std::shared_ptr<DeviceSite> site_;
  VariableService& variables_;
  std::map<uint64_t, Mirror> mirrors_;
  std::map<uint64_t, size_t> adopted_;  ///< those that have been adopted, with their variables
};

}  // namespace

ActorRef spawn_mirror(std::shared_ptr<DeviceSite> site) {
  Engine& engine = site->node.engine;
  return engine.spawn(std::make_unique<MirrorRole>(std::move(site)));
}

}  // namespace troupe
