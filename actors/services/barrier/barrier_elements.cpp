#include "actors/services/barrier/barrier_elements.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "kernels/core/text.h"

namespace troupe {

BarrierElements::BarrierElements(const BarrierSpec& spec) : spec_(spec) {
  QueueSpec ready;
  ready.name = spec.name;
  ready.kind = QueueKind::Priority;
  ready_ = make_store(ready, 0);
}

Status BarrierElements::check(const Tensor& keys, size_t component, const Tensor& values) const {
  if (component >= spec_.types.size())
    return invalid_argument("the component ID is out of range: it is " + std::to_string(component) +
                            ", but barrier '" + spec_.name + "' has " + std::to_string(spec_.types.size()) +
                            " components");
  if (keys.dtype() != DType::String || keys.shape().rank() != 1)
    return invalid_argument("keys is " + keys.signature() + ", but must be a vector of strings");
  const auto dims = values.shape().dims();
  const int64_t count = keys.elements();
  const bool fits = values.dtype() == spec_.types[component] && !dims.empty() && dims[0] == count &&
                    std::ranges::equal(dims.subspan(1), spec_.shapes[component].dims());
  // TensorFlow looks at the shape of values when there are some.
  const bool none = count == 0 && values.dtype() == spec_.types[component];
  if (!fits && !none)
    return invalid_argument("values is " + values.signature() + ", but component " +
                            std::to_string(component) + " of barrier '" + spec_.name + "' takes " +
                            std::to_string(count) + " values of " +
                            std::string(name(spec_.types[component])) + spec_.shapes[component].text());
  if (count != 0 && values.elements() == 0)
    return invalid_argument("Tensors with no elements are not supported by barrier '" + spec_.name +
                            "': values is " + values.signature());
  return {};
}

/// Goes through the keys as insert() does, because a key may occur several times.
Status BarrierElements::check_keys(std::span<const std::string> keys, size_t component, bool closed) const {
  std::unordered_map<std::string_view, size_t> missing;  // by key; 0: there is no such element
  for (const std::string& key : keys) {
    const auto [left, first] = missing.try_emplace(key, 0);
    const auto known = first ? incomplete_.find(key) : incomplete_.end();
    if (known != incomplete_.end()) left->second = known->second.missing;
    const bool has =
        first ? known != incomplete_.end() && known->second.components[component].valid() : left->second != 0;
    if (has)
      return invalid_argument("Key " + quoted(key) + " already has a value for component " +
                              std::to_string(component) + " in barrier '" + spec_.name + "'");
    if (left->second == 0 && closed)
      return cancelled("barrier '" + spec_.name + "' is closed, but the insert has the new key " +
                       quoted(key));
    if (left->second == 0) left->second = spec_.types.size();
    --left->second;
  }
  return {};
}

Status BarrierElements::insert(const Tensor& keys, size_t component, const Tensor& values, bool closed) {
  TROUPE_RETURN_IF_FAILED(check(keys, component, values));
  const auto texts = keys.as<std::string>();
  TROUPE_RETURN_IF_FAILED(check_keys(texts, component, closed));
  bool any_new = false;
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    const auto [at, is_new] = incomplete_.try_emplace(texts[i]);
    Element& element = at->second;
    any_new |= is_new;
    if (is_new) element = {next_number_, spec_.types.size(), std::vector<Tensor>(spec_.types.size())};
    element.components[component] = values.rows(row, row + 1);
    if (--element.missing != 0) continue;
    finish(keys.rows(row, row + 1), std::move(element));
    incomplete_.erase(at);
  }
  if (any_new) ++next_number_;
  return {};
}

void BarrierElements::finish(Tensor key, Element element) {
  std::vector<Tensor> components = {Tensor::vector<int64_t>({element.number}), std::move(key)};
  std::ranges::move(element.components, std::back_inserter(components));
  ready_->add(element_of(components));
}

ElementQueue BarrierElements::take(int64_t n) {
  ElementQueue taken;
  while (taken.size() < n) taken.push_back(ready_->take(1));
  return taken;
}

Result<std::vector<Tensor>> BarrierElements::none() const {
  std::vector<DType> types = {DType::Int64, DType::String};
  std::vector<Shape> shapes(2);
  types.insert(types.end(), spec_.types.begin(), spec_.types.end());
  shapes.insert(shapes.end(), spec_.shapes.begin(), spec_.shapes.end());
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < types.size(); ++i) {
    TROUPE_ASSIGN(const Shape shape, stacked_shape(0, shapes[i], types[i]));
    TROUPE_ASSIGN(Tensor tensor, Tensor::allocate(types[i], shape));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace troupe
