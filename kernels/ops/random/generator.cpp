#include "kernels/ops/random/generator.h"

#include "graph/build/recomputation.h"
#include "graph/build/shard_names.h"
#include "kernels/core/arguments.h"

namespace troupe {
namespace {

uint64_t mixed(uint64_t x) {  // SplitMix64 (Steele, Lea, Flood 2014)
  x += 0x9E3779B97F4A7C15;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return x ^ x >> 31;
}

/// Continues the FNV-1a hash of a text by more of it.
uint64_t hash_of(std::string_view text, uint64_t hash = 0xCBF29CE484222325) {
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3;
  return hash;
}

/// Returns the hash of the name. A node of the step's shard has the hash of the node that always computes this shard.
uint64_t name_hash(std::string_view name, int64_t shard) {
  constexpr std::string_view prefix = step_shard_prefix;
  const bool of_step = shard >= 0 && name.starts_with(prefix) && name.substr(prefix.size()).starts_with('/');
  return of_step ? hash_of(name.substr(prefix.size()), hash_of(shard_prefix(shard))) : hash_of(name);
}

uint64_t seed_of(const Node& node, const char* attr) {
  const AttrValue* const seed = node.attrs.find(attr);
  return seed ? static_cast<uint64_t>(std::get<int64_t>(*seed)) : 0;
}

/// Returns the name of the node, or that of the node whose numbers it draws once more.
const std::string& original_name(const Node& node) {
  const AttrValue* const original = node.attrs.find(original_attr);
  return original ? std::get<std::string>(*original) : node.name;
}

uint64_t key_of(const Node& node, const StepInfo& step) {
  if (has_own_seeds(node)) return mixed(mixed(mixed(seed_of(node, "seed")) ^ seed_of(node, "seed2")));
  return mixed(mixed(step.seed) ^ name_hash(original_name(node), step.shard));
}

uint64_t earlier_runs(const Node& node, const StepInfo& step) {
  if (!step.earlier_runs) return 0;
  const auto known = step.earlier_runs->find(original_name(node));
  return known == step.earlier_runs->end() ? 0 : known->second;
}

uint64_t time_of(const Node& node, const StepInfo& step) {
  if (step.training) return 2 * step.round + 1;
  return 2 * (has_own_seeds(node) ? earlier_runs(node, step) : step.ordinal);
}

}  // namespace

bool has_own_seeds(const Node& node) {
  return node.op->effect == Effect::Random && (seed_of(node, "seed") != 0 || seed_of(node, "seed2") != 0);
}

Philox generator_of(const KernelContext& context) {
  const Node& node = context.node();
  const StepInfo& step = context.step();
  return {key_of(node, step), mixed(mixed(time_of(node, step)) ^ context.frame_key())};
}

Philox steady_generator_of(const KernelContext& context) {
  return {key_of(context.node(), context.step()), 0};
}

OpDefBuilder random_op(std::string name) {
  return OpDefBuilder(std::move(name)).attr("seed: int = 0").attr("seed2: int = 0").effect(Effect::Random);
}

Status random_shape(ShapeContext& context) {
  TROUPE_ASSIGN(auto shape, shape_from_input(context, 0));
  context.set_output(0, std::move(shape));
  return {};
}

Result<Tensor*> random_output(KernelContext& context) {
  TROUPE_ASSIGN(const Dims dims, integer_vector(context.input(0), "shape"));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, context.node().output_types[0].dtype));
  return context.output(0, shape);
}

Status IntegerRange::check(const Tensor& output) const {
  if (least < limit || output.elements() == 0) return {};
  return invalid_argument("minval " + std::to_string(least) + " is not below maxval " +
                          std::to_string(limit));
}

Result<IntegerRange> integer_range(const KernelContext& context, size_t first) {
  int64_t ends[2];
  for (size_t i = 0; i < 2; ++i) {
    const Tensor& end = context.input(first + i);
    const std::string& name = context.node().op->inputs[first + i].name;
    if (!end.shape().is_scalar())
      return invalid_argument(name + " has shape " + end.shape().text() + "; it must be a scalar");
    TROUPE_ASSIGN(ends[i], integer_scalar(end, name));
  }
  return IntegerRange{ends[0], ends[1]};
}

}  // namespace troupe
