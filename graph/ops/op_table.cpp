#include "graph/ops/op_table.h"

#include <algorithm>

namespace troupe {

namespace {

void mix(uint64_t& hash, std::string_view text) {  // FNV-1a, with a terminator
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  hash = (hash ^ 0xff) * 0x100000001b3u;
}

void mix(uint64_t& hash, const ArgDef& arg) {
  mix(hash, arg.name);
  mix(hash, name(arg.type));
  mix(hash, arg.type_attr);
  mix(hash, arg.number_attr);
  mix(hash, arg.type_list_attr);
  mix(hash, arg.is_ref ? "ref" : "value");
}

uint64_t signature_hash(const OpDef& op) {
  uint64_t hash = 0xcbf29ce484222325u;
  mix(hash, op.name);
  for (const auto& arg : op.inputs) mix(hash, arg);
  mix(hash, "->");
  for (const auto& arg : op.outputs) mix(hash, arg);
  for (const auto& attr : op.attrs) {
    mix(hash, attr.name);
    mix(hash, name(attr.kind));
    mix(hash, attr.default_value ? text(*attr.default_value) : "required");
  }
  return hash;
}

}  // namespace

Status OpTable::add(const OpDefBuilder& builder) {
  TROUPE_ASSIGN(auto built, builder.build());
  if (find(built.name)) return already_exists("op " + built.name + " is defined twice");
  for (const std::string& former : built.former_names)
    if (find(former))
      return already_exists("op " + built.name + ": op " + former + ", its former name, is defined, too");
  for (const auto& constructor : built.constructors)
    if (constructors_.contains(constructor.name))
      return already_exists("constructor " + constructor.name + " of op " + built.name +
                            " exists already, for op " +
                            constructors_.find(constructor.name)->second.op->name);
  const std::string name = built.name;
  const auto at = ops_.emplace(name, std::make_unique<OpDef>(std::move(built))).first;
  const OpDef* op = at->second.get();
  for (const auto& constructor : op->constructors) constructors_[constructor.name] = {op, &constructor};
  index_[at->first] = op;
  for (const std::string& former : op->former_names) index_[former] = op;
  signature_hash_ += troupe::signature_hash(*op);
  return {};
}

const OpDef* OpTable::find(std::string_view op) const {
  const auto at = index_.find(op);
  return at == index_.end() ? nullptr : at->second;
}

const ConstructorEntry* OpTable::find_constructor(std::string_view name) const {
  const auto at = constructors_.find(name);
  return at == constructors_.end() ? nullptr : &at->second;
}

Result<const OpDef*> OpTable::require(std::string_view op) const {
  if (const OpDef* found = find(op)) return found;
  std::vector<std::string_view> names;
  for (const auto& entry : ops_) names.push_back(entry.first);
  const auto near = nearest(op, names);
  return not_found("no op is called '" + std::string(op) + "'" +
                   (near.empty() ? "" : "; the nearest is '" + std::string(near) + "'"));
}

namespace {

/// Returns the number of insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view name, const std::vector<std::string_view>& candidates) {
  if (name.size() > 256) return {};
  std::string_view best;
  size_t best_distance = std::max<size_t>(1, name.size() / 3) + 1;
  for (const auto candidate : candidates) {
    const size_t gap =
        candidate.size() > name.size() ? candidate.size() - name.size() : name.size() - candidate.size();
    if (gap >= best_distance) continue;
    if (const size_t distance = edit_distance(name, candidate); distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace troupe
