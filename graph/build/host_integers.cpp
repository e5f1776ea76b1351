#include "graph/build/host_integers.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace troupe {
namespace {

template <size_t N>
bool is_among(const std::array<std::string_view, N>& sorted, std::string_view op) {
  return std::ranges::binary_search(sorted, op);
}

constexpr auto sorted(auto ops) {
  std::ranges::sort(ops);
  return ops;
}

constexpr auto counting = sorted(std::to_array<std::string_view>(
    {"Abs",      "Add",      "AddV2",      "Concat",       "ConcatV2", "Cumprod",      "Cumsum",     "Equal",
     "FloorDiv", "FloorMod", "Greater",    "GreaterEqual", "Less",     "LessEqual",    "LowerBound", "Max",
     "Maximum",  "Min",      "Minimum",    "Mul",          "Neg",      "NotEqual",     "OnesLike",   "Pack",
     "Prod",     "Sign",     "Slice",      "Split",        "SplitV",   "StridedSlice", "Sub",        "Sum",
     "Tile",     "Unpack",   "UpperBound", "ZerosLike"}));

constexpr auto passing =
    sorted(std::to_array<std::string_view>({"EnsureShape", "ExpandDims", "GuaranteeConst", "Identity",
                                            "PreventGradient", "Reshape", "Squeeze", "StopGradient"}));

constexpr auto listing = sorted(std::to_array<std::string_view>(
    {"TensorListConcat", "TensorListConcatV2", "TensorListFromTensor", "TensorListGather",
     "TensorListGetItem", "TensorListPopBack", "TensorListPushBack", "TensorListScatter",
     "TensorListScatterIntoExistingList", "TensorListScatterV2", "TensorListSetItem", "TensorListSplit",
     "TensorListStack"}));

DType type_of(const Node& node, std::string_view attr) {
  const AttrValue* const type = node.attrs.find(attr);
  const auto* const dtype = type ? std::get_if<DType>(type) : nullptr;
  return dtype ? *dtype : DType::Invalid;
}

}  // namespace

bool computes_integers_on_host(const Node& node) {
  if (is_among(listing, node.type())) return type_of(node, "element_dtype") == DType::Int32;
  if (!is_among(counting, node.type())) return false;
  const DType type = type_of(node, "T");
  return type == DType::Int32 || type == DType::Int64;
}

bool passes_on(const Node& node) {
  return is_among(passing, node.type()) && !node.inputs.empty() && !node.expects_ref[0];
}

}  // namespace troupe
