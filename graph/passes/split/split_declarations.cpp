#include "graph/passes/split/split_declarations.h"

#include <algorithm>
#include <charconv>

#include "graph/build/partial_values.h"
#include "graph/build/split.h"

namespace troupe {
namespace {

std::optional<Distribution> parse_distribution(std::string_view text) {
  if (text == "B") return whole_tensor;
  if (text == "P") return terms_of_sum;
  if (!text.starts_with("S(") || !text.ends_with(")")) return std::nullopt;
  text = text.substr(2, text.size() - 3);
  int64_t dimension = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), dimension);
  if (error != std::errc() || end != text.data() + text.size() || dimension < 0) return std::nullopt;
  return split_by(dimension);
}

Status check_devices(const std::vector<std::string>& devices) {
  if (devices.size() < 2 || devices.size() > max_split_devices)
    return invalid_argument("the attribute " + std::string(split_devices_attr) + " has " +
                            std::to_string(devices.size()) + " devices; allowed: 2 to " +
                            std::to_string(max_split_devices));
  for (const std::string& device : devices) TROUPE_RETURN_IF_FAILED(DeviceName::parse(device).status());
  return {};
}

Status check_dimension(const PartialShape& shape, int64_t dimension, size_t devices) {
  const std::string what = "a tensor of shape " + shape.text() + " is to be split by dimension " +
                           std::to_string(dimension) + " over " + std::to_string(devices) + " devices; ";
  if (!shape.known_rank()) return invalid_argument(what + "its rank must be known");
  if (dimension >= static_cast<int64_t>(shape.rank()))
    return invalid_argument(what + "the tensor has no such dimension");
  const int64_t size = shape[static_cast<size_t>(dimension)];
  if (size != unknown_dim && size < static_cast<int64_t>(devices))
    return invalid_argument(what + "the dimension must be at least as long as the list of devices");
  return {};
}

/// Checks that the inputs of a node are the parts that it declares.
Status check_parts(const Graph& graph, const Node& node, const Declaration& declared) {
  const size_t count = node.inputs.size() - (declared.as.split() ? 1 : 0);
  if (count != declared.devices.size())
    return invalid_argument("there are " + std::to_string(count) + " parts for " +
                            std::to_string(declared.devices.size()) + " devices; there must be one for each");
  if (declared.as.partial()) return {};
  const auto axis = partial_integers(graph, node.inputs.back());
  if (!axis || axis->size() != 1 || axis->front() != declared.as.dimension)
    return invalid_argument("the parts are joined along another dimension than the declared one, " +
                            std::to_string(declared.as.dimension));
  const auto dimension = static_cast<size_t>(declared.as.dimension);
  const int64_t whole = graph.shape({node.id, 0})[dimension];
  if (whole == unknown_dim)
    return invalid_argument("the length of the parts in dimension " + std::to_string(dimension) +
                            " is not known");
  for (size_t i = 0; i < count; ++i) {
    const auto range = part_range(whole, static_cast<int64_t>(i), static_cast<int64_t>(count));
    const PartialShape& part = graph.shape(node.inputs[i]);
    if (const int64_t found = part.known_rank() ? part[dimension] : unknown_dim; found != range.size)
      return invalid_argument("part " + std::to_string(i) + " has length " + std::to_string(found) +
                              " in dimension " + std::to_string(dimension) + "; it must have length " +
                              std::to_string(range.size));
  }
  return {};
}

Result<Declaration> read_declaration(const Graph& graph, const Node& node) {
  const auto* const text = std::get_if<std::string>(node.attrs.find(split_attr));
  const AttrValue* const list = node.attrs.find(split_devices_attr);
  const auto* const devices = list ? std::get_if<std::vector<std::string>>(list) : nullptr;
  const auto as = text ? parse_distribution(*text) : std::nullopt;
  if (!as || !devices)
    return invalid_argument("the attribute " + std::string(split_attr) +
                            " must be \"S(dimension)\", \"B\" or \"P\"" +
                            (text ? ", not \"" + *text + '"' : "") + ", and " +
                            std::string(split_devices_attr) + " a list of devices");
  TROUPE_RETURN_IF_FAILED(check_devices(*devices));
  const bool joins = as->partial() ? node.type() == "AddN" : as->split() && node.type() == "ConcatV2";
  if (!joins && (node.type() != "Identity" || as->partial()))
    return invalid_argument("a declaration \"" + *text + "\" is for " +
                            (as->partial() ? "AddN" : "Identity or ConcatV2"));
  Declaration declared{*as, *devices, joins};
  if (as->split())
    TROUPE_RETURN_IF_FAILED(check_dimension(graph.shape({node.id, 0}), as->dimension, devices->size()));
  if (joins) TROUPE_RETURN_IF_FAILED(check_parts(graph, node, declared));
  return declared;
}

/// Returns where a Slice begins: a constant, or an output of ConcatOffset, which adds up the lengths of parts.
std::optional<std::vector<int64_t>> begin_of(const Graph& graph, Output begin, size_t dimension) {
  const Node& source = graph.node(begin.node);
  if (source.type() != "ConcatOffset") {
    if (!graph.constant(begin)) return std::nullopt;
    return partial_integers(graph, begin);
  }
  const auto axis = partial_integers(graph, source.inputs[0]);
  if (!axis || axis->front() != static_cast<int64_t>(dimension)) return std::nullopt;
  std::vector<int64_t> result;
  int64_t sum = 0;
  for (uint32_t i = 0; i <= begin.index; ++i) {
    const auto shape = partial_integers(graph, source.inputs[i + 1]);
    if (!shape || dimension >= shape->size() || (*shape)[dimension] == unknown_dim) return std::nullopt;
    result.assign(shape->size(), 0);
    result[dimension] = sum;
    sum += (*shape)[dimension];
  }
  return result;
}

}  // namespace

bool declares_distribution(const Node& node) { return node.attrs.find(split_attr) != nullptr; }

Result<Declaration> declaration_of(const Graph& graph, const Node& node) {
  auto declared = read_declaration(graph, node);
  if (!declared) return Status(declared.status()).at_node(node.type(), node.name);
  return declared;
}

std::optional<int64_t> part_cut_by(const Graph& graph, const Node& slice, int64_t dimension, int64_t size,
                                   int64_t parts) {
  const auto at = static_cast<size_t>(dimension);
  const auto begin = begin_of(graph, slice.inputs[1], at);
  const PartialShape &whole = graph.shape(slice.inputs[0]), &cut = graph.shape({slice.id, 0});
  if (!begin || !whole.known_rank() || !cut.known_rank() || begin->size() != whole.rank())
    return std::nullopt;
  for (size_t i = 0; i < whole.rank(); ++i)
    if (i != at && ((*begin)[i] != 0 || whole[i] == unknown_dim || cut[i] != whole[i])) return std::nullopt;
  for (int64_t part = 0; part < parts; ++part)
    if (part_range(size, part, parts) == PartRange{(*begin)[at], cut[at]}) return part;
  return std::nullopt;
}

}  // namespace troupe
