#include "actors/services/variable/mirror_stream.h"

#include <algorithm>

#include "actors/site/graph_wire.h"
#include "messages/schemas/mirror.capnp.h"
#include "messages/schemas/variable.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

/// Returns a message of type wire::Graph, or an empty one if the rule cannot be a graph of its own.
AnyMessage describe(const UpdateRule& rule) {
  const Node& node = *rule.node;
  const auto is_handle = [&](Output input) { return rule.graph->dtype(input) == DType::Resource; };
  size_t handles = 0;
  while (handles < node.inputs.size() && (node.expects_ref[handles] || is_handle(node.inputs[handles])))
    ++handles;
  for (size_t i = handles; i < node.inputs.size(); ++i)
    if (node.expects_ref[i] || is_handle(node.inputs[i])) return {};
  const auto own = rule_graph(*rule.graph, node.name, node.type(), node.attrs, node.inputs, handles);
  if (!own) return {};
  Draft<wire::Graph> draft;
  std::vector<Tensor> tensors;
  write(*own->graph, 0, *draft, tensors);
  if (!tensors.empty()) return {};
  return draft.finish();
}

}  // namespace

template <class Change>
void MirrorStream::number_change(Change& change) {
  change.setMirror(target_.mirror);
  change.setStream(number_);
  change.setSequence(++sequence_);
  change.setRank(rank_);
}

bool MirrorStream::covers(const Cells& cells) const {
  if (cells.empty()) return false;
  if (sent_.contains(cells.front().get())) return true;
  const auto container = state_.container_of(*cells.front());
  return container && container->empty();
}

AnyMessage MirrorStream::values(const Cells& cells) {
  std::vector<std::pair<const StateCell*, uint64_t>> known;  // with their versions
  std::vector<Tensor> values;
  for (const auto& cell : cells) {
    Snapshot snapshot;
    if (cell->try_read(snapshot) != StateCell::Reading::Ready) continue;
    known.emplace_back(cell.get(), snapshot.version);
    values.push_back(std::move(snapshot.value));
    if (sent_.insert(cell.get()).second) mirrored_.sent(*cell, target_.mirror);
  }
  Draft<wire::MirrorChange> draft;
  number_change(*draft);
  auto list = draft->initValues(static_cast<uint32_t>(known.size()));
  for (uint32_t i = 0; i < known.size(); ++i) {
    const auto& [cell, version] = known[i];
    list[i].setCell(cell->id());
    list[i].setName(as_text(cell->name()));
    list[i].setDtype(static_cast<uint8_t>(cell->dtype()));
    write(cell->shape(), list[i].initShape());
    list[i].setVersion(version);
    if (cell->slice()) write(*cell->slice(), list[i].initSlice());
  }
  return draft.finish(std::move(values));
}

AnyMessage MirrorStream::update(const Message<wire::Update>& update,
                                const std::shared_ptr<const UpdateRule>& rule, const Cells& cells) {
  const bool all_sent =
      std::ranges::all_of(cells, [this](const auto& cell) { return sent_.contains(cell.get()); });
  const AnyMessage definition = all_sent ? definition_of(rule) : AnyMessage();
  if (!definition) return values(cells);
  Draft<wire::MirrorChange> draft;
  number_change(*draft);
  auto change = draft->initUpdate();
  change.setStep(update->getStep());
  change.setRule(*Message<wire::Graph>(definition));
  change.setCells(update->getCells());
  change.setCounter(update->getCounter());
  change.setCount(update->getCount());
  return draft.finish({update.attachments().begin(), update.attachments().end()});
}

AnyMessage MirrorStream::definition_of(const std::shared_ptr<const UpdateRule>& rule) {
  if (const auto at = definitions_.find(rule); at != definitions_.end()) return at->second;
  std::erase_if(definitions_, [](const auto& entry) { return entry.first.expired(); });
  return definitions_.emplace(rule, describe(*rule)).first->second;
}

}  // namespace troupe
