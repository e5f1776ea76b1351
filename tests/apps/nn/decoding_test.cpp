// Decoding: the sequences of a search are those that trying all of them yields.
#include "apps/nn/decoding.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "kernels/constructors.h"
#include "tests/support/local_graph.h"
#include "tests/support/ops/run_op.h"

namespace troupe::nn::decoding_test {
namespace {

constexpr int64_t ids = 4, end = 3, start = 0, max_steps = 4;
using Sequence = std::vector<int32_t>;

struct Scored {
  Sequence sequence;  ///< without what follows `end`
  double score = 0;
  friend bool operator<(const Scored& a, const Scored& b) { return a.score > b.score; }
};

struct Fixture : test::LocalGraph {
  /// A model whose logits are a row of a table for the last id, plus a state that each id changes.
  Prediction predict(const Scope& s, Output id, const std::vector<Output>& state) const {
    const Output row = gather(s, g.constant(table), id);
    const Output next = add(s, mul(s, state[0], 0.5), row);
    return {add(s, row, state[0]), {next}};
  }
  std::vector<double> logits(int32_t id, std::vector<double>& state) const {
    std::vector<double> result(ids);
    for (size_t i = 0; i < ids; ++i) {
      const double row = static_cast<double>(table.as<float>()[static_cast<size_t>(id) * ids + i]);
      result[i] = row + state[i];
      state[i] = state[i] * 0.5 + row;
    }
    return result;
  }

  /// Appends all sequences that begin with `sequence`.
  void try_all(const Scored& before, int32_t last, std::vector<double> state,
               std::vector<Scored>& all) const {
    if (before.sequence.size() == max_steps || (!before.sequence.empty() && last == end)) {
      all.push_back(before);
      return;
    }
    const auto next = logits(last, state);
    double sum = 0;
    for (const double logit : next) sum += std::exp(logit);
    for (int32_t id = 0; id < ids; ++id) {
      Scored longer = before;
      longer.sequence.push_back(id);
      longer.score += next[static_cast<size_t>(id)] - std::log(sum);
      try_all(longer, id, state, all);
    }
  }

  std::vector<Tensor> search(const BeamSearch& options, const Tensor& state) {
    const Decoded found = beam_search(
        g, {g.constant(state)},
        [&](const Scope& s, Output id, const std::vector<Output>& before) { return predict(s, id, before); },
        options);
    return value_or_throw(runtime.run(graph, {}, {found.ids, found.scores, found.lengths}));
  }

  static size_t length_of(const Sequence& sequence) {
    return static_cast<size_t>(std::ranges::find(sequence, static_cast<int32_t>(end)) - sequence.begin());
  }

  const Tensor table =
      Tensor::of<float>(Shape{ids, ids}, {0.3f, 1.2f, -0.4f, -0.9f, 0.7f, -0.6f, 0.9f, 0.1f,  //
                                          -1.1f, 0.8f, 0.2f, 0.5f, 0, 0, 0, 0});
  const Tensor states = Tensor::of<float>(Shape{2, ids}, {0, 0, 0, 0, -0.5f, 0.4f, 1.0f, -2.0f});
};

BOOST_FIXTURE_TEST_SUITE(decoding, Fixture)

// With as many beams as there are sequences, the search is complete.
BOOST_AUTO_TEST_CASE(a_wide_search_finds_the_most_probable_sequences) {
  for (const double penalty : {0.0, 1.0}) {
    const BeamSearch options{
        .width = 81, .start = start, .end = end, .max_steps = max_steps, .length_penalty = penalty};
    const auto found = search(options, states);
    BOOST_TEST(found[0].shape().text() == "[2,81,4]");
    for (size_t element = 0; element < 2; ++element) {
      std::vector<Scored> all;
      const auto state = states.as<float>().subspan(element * ids, ids);
      try_all({}, start, {state.begin(), state.end()}, all);
      for (Scored& one : all)
        one.score /= std::pow((5 + static_cast<double>(length_of(one.sequence))) / 6, penalty);
      std::sort(all.begin(), all.end());
      for (size_t beam = 0; beam < 10; ++beam) {
        Sequence expected = all[beam].sequence;
        const auto length = static_cast<int32_t>(length_of(expected));
        expected.resize(max_steps, end);
        const auto at = (element * 81 + beam);
        const auto sequence = found[0].as<int32_t>().subspan(at * max_steps, max_steps);
        BOOST_TEST(Sequence(sequence.begin(), sequence.end()) == expected, boost::test_tools::per_element());
        BOOST_TEST(found[1].as<float>()[at] == static_cast<float>(all[beam].score),
                   boost::test_tools::tolerance(1e-4f));
        BOOST_TEST(found[2].as<int32_t>()[at] == length);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_search_of_width_one_takes_the_most_probable_id_in_each_step) {
  const auto found = search({.width = 1, .start = start, .end = end, .max_steps = max_steps}, states);
  for (size_t element = 0; element < 2; ++element) {
    const auto first = states.as<float>().subspan(element * ids, ids);
    std::vector<double> state(first.begin(), first.end());
    int32_t last = start;
    const auto steps = static_cast<size_t>(found[0].shape()[2]);
    for (size_t step = 0; step < steps; ++step) {
      const auto next = logits(last, state);
      if (step == 0 || last != end)
        last = static_cast<int32_t>(std::ranges::max_element(next) - next.begin());
      BOOST_TEST(found[0].as<int32_t>()[element * steps + step] == last);
    }
  }
}

// The only id is the end.
BOOST_AUTO_TEST_CASE(a_search_stops_when_all_sequences_have_ended) {
  const Output nothing = g.constant(Tensor::of<float>(Shape{3, 1}, {0, 0, 0}));
  const Decoded found = beam_search(g, {nothing},
                                    [&](const Scope&, Output, const std::vector<Output>& state) {
                                      return Prediction{state[0], state};
                                    },
                                    {.width = 1, .start = 0, .end = 0, .max_steps = 50});
  const auto results = value_or_throw(runtime.run(graph, {}, {found.ids, found.lengths}));
  BOOST_TEST(results[0].shape().text() == "[3,1,1]");
  BOOST_TEST(results[1].as<int32_t>()[0] == 0);
}

BOOST_AUTO_TEST_CASE(wrong_options_are_refused) {
  const Output state = g.constant(states);
  const auto search_with = [&](const BeamSearch& options, size_t kept) {
    return [&, options, kept] {
      beam_search(
          g, {state},
          [&](const Scope&, Output, const std::vector<Output>& before) {
            return Prediction{before[0], std::vector<Output>(kept, before[0])};
          },
          options);
    };
  };
  BOOST_CHECK_THROW(search_with({.width = 0}, 1)(), Error);
  BOOST_CHECK_THROW(search_with({.max_steps = 0}, 1)(), Error);
  BOOST_CHECK_THROW(search_with({.end = -1}, 1)(), Error);
  BOOST_CHECK_THROW(search_with({}, 2)(), Error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::nn::decoding_test
