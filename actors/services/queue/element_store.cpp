#include "actors/services/queue/element_store.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "kernels/loops/philox.h"
#include "messages/values/text_hash.h"

namespace troupe {
namespace {

class FifoStore final : public ElementStore {
 public:
  int64_t size() const override { return elements_.size(); }
  void add(ElementRows rows) override { elements_.push_back(std::move(rows)); }
  ElementRows take(int64_t max) override { return elements_.take(max); }
  void put_back(ElementQueue&& elements) override { elements_.put_back(std::move(elements)); }

 private:
  ElementQueue elements_;
};

/// Each element that leaves is picked from all elements with equal probability. The numbers are TensorFlow's for equal seeds, so
/// the same elements in the same order leave in the same order.
class ShuffleStore final : public ElementStore {
 public:
  explicit ShuffleStore(const Philox& philox) : philox_(philox) {}

  int64_t size() const override { return static_cast<int64_t>(elements_.size()); }
  void add(ElementRows rows) override {
    while (rows.count() != 0) elements_.push_back(rows.take(1));
  }
  ElementRows take(int64_t) override {
    std::swap(elements_[next_word() % elements_.size()], elements_.back());
    ElementRows taken = std::move(elements_.back());
    elements_.pop_back();
    return taken;
  }
  void put_back(ElementQueue&& elements) override {
    while (elements.size() != 0) add(elements.take(elements.size()));
  }

 private:
  uint32_t next_word() {
    if (drawn_ % 4 == 0) words_ = philox_(drawn_ / 4);
    return words_[drawn_++ % 4];
  }

  const Philox philox_;
  std::array<uint32_t, 4> words_{};
  uint64_t drawn_ = 0;  ///< how many words have been used
  std::vector<ElementRows> elements_;
};

class PriorityStore final : public ElementStore {
 public:
  int64_t size() const override { return static_cast<int64_t>(heap_.size()); }
  void add(ElementRows rows) override {
    while (rows.count() != 0) push(rows.take(1), newest_++);
  }
  ElementRows take(int64_t) override {
    std::ranges::pop_heap(heap_, std::greater<>());
    ElementRows taken = std::move(heap_.back().element);
    heap_.pop_back();
    return taken;
  }
  void put_back(ElementQueue&& elements) override {
    oldest_ -= elements.size();
    for (int64_t age = oldest_; elements.size() != 0; ++age) push(elements.take(1), age);
  }

 private:
  struct Entry {
    int64_t priority;
    int64_t age;  ///< less for what came earlier
    ElementRows element;

    bool operator>(const Entry& other) const {
      return priority != other.priority ? priority > other.priority : age > other.age;
    }
  };

  void push(ElementRows element, int64_t age) {
    const Tensor& priorities = element.components->front();
    const int64_t priority = priorities.as<int64_t>()[static_cast<size_t>(element.begin)];
    heap_.push_back({priority, age, std::move(element)});
    std::ranges::push_heap(heap_, std::greater<>());
  }

  std::vector<Entry> heap_;  ///< the entry to take next is the first
  int64_t newest_ = 0, oldest_ = 0;
};

Philox philox_of(const QueueSpec& spec, uint64_t node_seed) {
  if (spec.seed == 0 && spec.seed2 == 0) return {node_seed, text_hash(spec.name)};
  return {static_cast<uint64_t>(spec.seed), static_cast<uint64_t>(spec.seed2)};
}

}  // namespace

std::unique_ptr<ElementStore> make_store(const QueueSpec& spec, uint64_t node_seed) {
  switch (spec.kind) {
    case QueueKind::Fifo:
    case QueueKind::PaddingFifo: break;
    case QueueKind::RandomShuffle: return std::make_unique<ShuffleStore>(philox_of(spec, node_seed));
    case QueueKind::Priority: return std::make_unique<PriorityStore>();
  }
  return std::make_unique<FifoStore>();
}

}  // namespace troupe
