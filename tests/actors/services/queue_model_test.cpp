// The queue role beside a reference queue, over random requests (features.md E1-E8, E10).
#include <boost/test/unit_test.hpp>

#include <deque>
#include <map>
#include <random>

#include "kernels/loops/philox.h"
#include "tests/actors/services/queue_bench.h"

namespace troupe::queue_model_test {
namespace {

using namespace test;

/// A reference queue: a sequential program that handles one element at a time, without messages.
class Model {
 public:
  explicit Model(const QueueSpec& spec) : spec_(spec) {}

  void apply(const Word& word, size_t index, uint64_t step) {
    Attempt attempt{index, step, word.kind, word.numbers, 0, {}};
    switch (word.kind) {
      case 'E':
        if (word.numbers.empty()) return answer(attempt, "ok");
        [[fallthrough]];
      case 'e':
      case 'c': enqueues_.push_back(attempt); break;
      case 'C':
        closed_ = true;
        for (const Attempt& pending : enqueues_) answer(pending, "Cancelled");
        enqueues_.clear();
        answer(attempt, "ok");
        break;
      case 'd':
        attempt.wanted = 1;
        dequeues_.push_back(attempt);
        break;
      case 's': return answer(attempt, std::to_string(items_.size()));
      case 'x': cancel(static_cast<uint64_t>(word.numbers[0])); break;
      default:
        attempt.wanted = static_cast<size_t>(word.numbers[0]);
        if (attempt.wanted == 0) return answer(attempt, "[]");
        dequeues_.push_back(attempt);
    }
    for (bool moved = true; moved;) {
      moved = false;
      while (move_in()) moved = true;
      while (move_out()) moved = true;
    }
  }
  std::string answer_of(size_t index) const {
    const auto at = answers_.find(index);
    return at == answers_.end() ? "-" : at->second;
  }
  size_t items() const { return items_.size(); }

 private:
  struct Attempt {
    size_t index;
    uint64_t step;
    char kind;
    std::vector<int32_t> rest;
    size_t wanted;
    std::vector<int32_t> taken;
  };

  void answer(const Attempt& attempt, std::string text) { answers_[attempt.index] = std::move(text); }

  bool move_in() {
    if (enqueues_.empty()) return false;
    Attempt& first = enqueues_.front();
    const bool room = spec_.capacity < 0 || static_cast<int64_t>(items_.size()) < spec_.capacity;
    if (closed_) {
      answer(first, "Cancelled");
    } else if (first.kind == 'c') {
      closed_ = true;
      answer(first, "ok");
    } else if (!first.rest.empty()) {
      if (!room) return false;
      insert(first.rest.front(), std::ranges::upper_bound);
      first.rest.erase(first.rest.begin());
      return true;
    } else {
      answer(first, "ok");
    }
    enqueues_.pop_front();
    return true;
  }

  bool move_out() {
    if (dequeues_.empty()) return false;
    Attempt& first = dequeues_.front();
    const size_t missing = first.wanted - first.taken.size();
    if (closed_ && items_.size() < missing) {
      if (first.kind != 'U' || first.taken.size() + items_.size() == 0) {
        put_back(first.taken);
        answer(first, "OutOfRange");
        dequeues_.pop_front();
        return true;
      }
      first.wanted = first.taken.size() + items_.size();
      if (spec_.kind == QueueKind::Priority) take_again(first);
      return true;
    }
    if (missing != 0) {
      if (spec_.kind == QueueKind::Priority && missing <= items_.size()) {
        take_again(first);
        return true;
      }
      if (static_cast<int64_t>(items_.size()) <= (closed_ ? 0 : spec_.min_after_dequeue)) return false;
      first.taken.push_back(take());
      return true;
    }
    std::string list;
    for (const int32_t value : first.taken) list += (list.empty() ? "" : ",") + std::to_string(value);
    answer(first, first.kind == 'd' ? list : '[' + list + ']');
    dequeues_.pop_front();
    return true;
  }

  /// Takes the smallest of all items, those that the attempt had taken among them.
  void take_again(Attempt& attempt) {
    put_back(attempt.taken);
    attempt.taken.clear();
    while (attempt.taken.size() < attempt.wanted) attempt.taken.push_back(take());
  }

  int32_t take() {
    if (spec_.kind == QueueKind::RandomShuffle) {
      const Philox philox(static_cast<uint64_t>(spec_.seed), static_cast<uint64_t>(spec_.seed2));
      const uint32_t word = philox(drawn_ / 4)[drawn_ % 4];
      ++drawn_;
      std::swap(items_[word % items_.size()], items_.back());
      std::rotate(items_.begin(), items_.end() - 1, items_.end());
    }
    const int32_t taken = items_.front();
    items_.pop_front();
    return taken;
  }

  /// Inserts an item at the end or, in a priority queue, where `search` says among equal priorities.
  void insert(int32_t item, auto search) {
    items_.insert(
        spec_.kind == QueueKind::Priority ? search(items_, priority_of(item), {}, priority_of) : items_.end(),
        item);
  }

  void put_back(const std::vector<int32_t>& taken) {
    if (spec_.kind == QueueKind::Priority)
      for (auto item = taken.rbegin(); item != taken.rend(); ++item) insert(*item, std::ranges::lower_bound);
    else
      items_.insert(spec_.keeps_order() ? items_.begin() : items_.end(), taken.begin(), taken.end());
  }

  void cancel(uint64_t step) {
    for (auto* line : {&enqueues_, &dequeues_})
      for (auto at = line->begin(); at != line->end();) {
        if (at->step != step) {
          ++at;
          continue;
        }
        put_back(at->taken);
        answer(*at, "Cancelled");
        at = line->erase(at);
      }
  }

  const QueueSpec spec_;
  std::deque<int32_t> items_;
  uint64_t drawn_ = 0;  ///< random numbers
  std::deque<Attempt> enqueues_, dequeues_;
  bool closed_ = false;
  std::map<size_t, std::string> answers_;
};

std::string random_word(std::mt19937_64& random, int32_t& next_value, uint64_t step) {
  const auto below = [&](uint64_t n) { return random() % n; };
  const auto some_values = [&] {
    std::string list;
    for (uint64_t n = below(5); n != 0; --n) list += (list.empty() ? "" : ",") + std::to_string(next_value++);
    return list;
  };
  const uint64_t draw = below(100);
  if (draw < 22) return "e" + std::to_string(next_value++);
  if (draw < 38) return "E" + some_values();
  if (draw < 58) return "d";
  if (draw < 70) return "D" + std::to_string(below(5));
  if (draw < 80) return "U" + std::to_string(below(5));
  if (draw < 85) return "s";
  if (draw < 98) return "x" + std::to_string(step - std::min<uint64_t>(step, below(12)));
  return draw < 99 ? "c" : "C";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(queue_model)

BOOST_AUTO_TEST_CASE(any_sequence_of_requests_does_what_the_sequential_model_does) {
  constexpr QueueKind kinds[] = {QueueKind::Fifo, QueueKind::PaddingFifo, QueueKind::RandomShuffle,
                                 QueueKind::Priority};
  for (uint64_t seed = 0; seed < 600; ++seed) {
    std::mt19937_64 random(seed);
    QueueSpec spec = spec_of(kinds[seed % 4], static_cast<int64_t>(random() % 6) - 1);
    if (spec.kind == QueueKind::RandomShuffle && spec.capacity != 0)
      spec.min_after_dequeue = static_cast<int64_t>(random() % (spec.capacity < 0 ? 4 : spec.capacity));
    QueueBench bench(spec, seed);
    Model model(spec);
    std::string script;
    int32_t next_value = 1;
    for (uint64_t step = 1; step <= 120; ++step) {
      script += (script.empty() ? "" : " ") + random_word(random, next_value, step);
      const Word word(script.substr(script.rfind(' ') + 1));
      model.apply(word, bench.answers.size(), step);
      if (auto message = request(word, step, spec.kind))
        bench.ask(std::move(*message));
      else
        bench.tell(cancel(static_cast<uint64_t>(word.numbers[0])));
      for (size_t i = 0; i < bench.answers.size(); ++i)
        BOOST_REQUIRE_MESSAGE(text(*bench.answers[i]) == model.answer_of(i),
                              "seed " << seed << ", " << spec.text() << ", answer " << i << " is "
                                      << text(*bench.answers[i]) << ", not " << model.answer_of(i) << ": "
                                      << script);
    }
    BOOST_TEST(text(*bench.answers[bench.ask(get_size())]) == std::to_string(model.items()));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::queue_model_test
