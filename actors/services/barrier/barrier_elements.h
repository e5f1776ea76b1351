// Barrier elements: the elements of a barrier: those that are ready, and the components of the others. The components share
// memory with the tensors in which they were inserted. A plain value, owned by the barrier role.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/services/barrier/barrier_spec.h"
#include "actors/services/queue/element_store.h"

namespace troupe {

class BarrierElements {
 public:
  explicit BarrierElements(const BarrierSpec& spec);

  int64_t ready() const { return ready_->size(); }
  int64_t incomplete() const { return static_cast<int64_t>(incomplete_.size()); }

  /// Inserts row i of `values` as component `component` of the element with key i. Fails with InvalidArgument if these are no
  /// components of the barrier, or if an element has the component already; if `closed`, with Cancelled if there is no element
  /// with a key. Then nothing has changed.
  Status insert(const Tensor& keys, size_t component, const Tensor& values, bool closed);
  /// Removes and returns the first n elements that are ready: number, key, components.
  ElementQueue take(int64_t n);
  void put_back(ElementQueue&& elements) { ready_->put_back(std::move(elements)); }
  void drop_incomplete() { incomplete_.clear(); }
  /// Returns the tensors of no elements.
  Result<std::vector<Tensor>> none() const;

 private:
  struct Element {
    int64_t number = 0;
    size_t missing = 0;              ///< components that have not come
    std::vector<Tensor> components;  ///< each as a row, not valid until it has come
  };

  Status check(const Tensor& keys, size_t component, const Tensor& values) const;
  Status check_keys(std::span<const std::string> keys, size_t component, bool closed) const;
  void finish(Tensor key, Element element);

  const BarrierSpec spec_;
  std::unordered_map<std::string, Element> incomplete_;
  std::unique_ptr<ElementStore> ready_;
  /// Of the elements that the next request begins.
  int64_t next_number_ = std::numeric_limits<int64_t>::min();
};

}  // namespace troupe
