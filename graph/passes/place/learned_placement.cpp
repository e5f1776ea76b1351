#include "graph/passes/place/learned_placement.h"

#include <algorithm>
#include <random>

#include "graph/passes/place/placement_units.h"
#include "graph/passes/place/step_simulation.h"

namespace troupe {
namespace {

constexpr size_t max_units = 64, samples_per_round = 48, elite_size = 6;
constexpr int max_rounds = 40, max_vain_rounds = 8;
/// The nodes that are simulated in all, in about a second.
constexpr size_t max_simulated_nodes = 4'000'000;
constexpr double first_trust = 0.6;    ///< the probability, at first, that the simulation places a unit
constexpr double learning_rate = 0.7;  ///< the weight of the best placements of a round

/// For each unit, the index of a candidate, or the number of candidates: the simulation places it.
using Choices = std::vector<size_t>;

struct Judged {
  Choices choices;
  SimulatedStep step;
};

bool is_better(const Judged& a, const Judged& b) {
  return std::pair(a.step.excess_bytes, a.step.seconds) < std::pair(b.step.excess_bytes, b.step.seconds);
}

class Search {
 public:
  Search(const StepModel& model, uint64_t seed)
      : model_(model), units_(placement_units(model, max_units)), random_(seed) {
    for (const PlacementUnit& unit : units_) {
      const size_t count = candidates(unit);
      policy_.emplace_back(count + 1, (1 - first_trust) / static_cast<double>(count));
      policy_.back().back() = first_trust;
    }
  }

  std::vector<DeviceId> run() && {
    Judged best{{}, model_.simulate()};
    const size_t nodes = std::max<size_t>(model_.graph().size(), 1);
    size_t simulated = 0;
    for (int round = 0, vain = 0; round < max_rounds && vain < max_vain_rounds && !units_.empty(); ++round) {
      if (simulated > max_simulated_nodes) break;
      std::vector<Judged> samples;
      for (size_t i = 0; i < samples_per_round; ++i, simulated += nodes) samples.push_back(sample());
      std::ranges::stable_sort(samples, is_better);
      vain = is_better(samples[0], best) ? 0 : vain + 1;
      if (vain == 0) best = samples[0];
      samples.resize(elite_size);
      learn(samples);
    }
    return std::move(best.step.devices);
  }

 private:
  const std::vector<DeviceId>& devices(const PlacementUnit& unit) const {
    return model_.groups().devices(unit.groups[0]);
  }
  size_t candidates(const PlacementUnit& unit) const { return devices(unit).size(); }

  Judged sample() {
    Judged result;
    std::vector<DeviceId> fixed(model_.groups().members.size(), no_device);
    for (size_t u = 0; u < units_.size(); ++u) {
      std::discrete_distribution<size_t> draw(policy_[u].begin(), policy_[u].end());
      const size_t choice = draw(random_);
      result.choices.push_back(choice);
      if (choice == candidates(units_[u])) continue;
      for (const uint32_t group : units_[u].groups) fixed[group] = devices(units_[u])[choice];
    }
    result.step = model_.simulate(fixed);
    return result;
  }

  void learn(const std::vector<Judged>& elite) {
    const double part = learning_rate / static_cast<double>(elite.size());
    for (size_t u = 0; u < units_.size(); ++u) {
      for (double& probability : policy_[u]) probability *= 1 - learning_rate;
      for (const Judged& one : elite) policy_[u][one.choices[u]] += part;
    }
  }

  const StepModel& model_;
  const std::vector<PlacementUnit> units_;
  std::mt19937_64 random_;
  std::vector<std::vector<double>> policy_;  ///< by unit: the probability of each choice
};

}  // namespace

std::vector<DeviceId> learned_placement(const Graph& graph, std::span<const DeviceInfo> devices,
                                        const PlacementGroups& groups, const NodeCosts& costs,
                                        uint64_t seed) {
  const StepModel model(graph, devices, groups, costs);
  return Search(model, seed).run();
}

}  // namespace troupe
