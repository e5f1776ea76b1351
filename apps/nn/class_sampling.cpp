#include "apps/nn/class_sampling.h"

#include <algorithm>
#include <array>

namespace troupe::nn::classes {
namespace {

struct Sampler {
  Distribution distribution;
  std::string_view name;
  std::string_view op;
};
constexpr std::array samplers = {
    Sampler{Distribution::LogUniform, "log_uniform", "LogUniformCandidateSampler"},
    Sampler{Distribution::Uniform, "uniform", "UniformCandidateSampler"},
    Sampler{Distribution::FixedUnigram, "fixed_unigram", "FixedUnigramCandidateSampler"},
    Sampler{Distribution::LearnedUnigram, "learned_unigram", "LearnedUnigramCandidateSampler"},
    Sampler{Distribution::All, "all", "AllCandidateSampler"}};

const Sampler& sampler_of(Distribution distribution) {
  return *std::ranges::find(samplers, distribution, &Sampler::distribution);
}

void set_frequencies(Attributes& attrs, int64_t range, const Sampling& sampling) {
  const auto& frequencies = sampling.frequencies;
  if (static_cast<int64_t>(frequencies.size()) != range)
    throw Error(
        invalid_argument("the distribution 'fixed_unigram' has " + std::to_string(frequencies.size()) +
                         " frequencies; it needs one for each of the " + std::to_string(range) + " classes"));
  attrs.set("unigrams", std::vector<float>(frequencies.begin(), frequencies.end()));
  attrs.set("distortion", static_cast<float>(sampling.distortion));
}

}  // namespace

std::string_view name(Distribution distribution) { return sampler_of(distribution).name; }

Distribution distribution(std::string_view name) {
  const auto* const found = std::ranges::find(samplers, name, &Sampler::name);
  if (found != samplers.end()) return found->distribution;
  std::string names;
  for (const Sampler& sampler : samplers) {
    if (!names.empty()) names += ", ";
    names += '\'' + std::string(sampler.name) + '\'';
  }
  throw Error(
      invalid_argument("there is no distribution '" + std::string(name) + "'; it must be one of " + names));
}

Candidates draw(const Scope& scope, Output labels, int64_t range, const Sampling& sampling) {
  const bool all = sampling.distribution == Distribution::All;
  Attributes attrs{{"num_true", scope.shape(labels)[1]},
                   {"num_sampled", all ? range : sampling.classes},
                   {"unique", true}};
  if (!all) attrs.set("range_max", range);
  if (sampling.distribution == Distribution::FixedUnigram) set_frequencies(attrs, range, sampling);
  const NodeId drawn = scope.add(sampler_of(sampling.distribution).op, {labels}, attrs);
  const auto output = [&](uint32_t i) { return scope.graph().output(drawn, i); };
  return {output(0), output(1), output(2)};
}

}  // namespace troupe::nn::classes
