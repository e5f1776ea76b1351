#include "apps/config/optimizer_keys.h"

#include <array>
#include <charconv>
#include <deque>

#include "apps/nn/optimizer_methods.h"

namespace troupe::config {
namespace {

/// The texts that a row of the schema refers to.
struct Texts {
  std::string path, initial;
};

/// Returns the number as TOML.
std::string toml_of(const nn::Hyperparameter& parameter) {
  if (parameter.is_flag) return parameter.initial != 0 ? "true" : "false";
  std::array<char, 32> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), parameter.initial);
  std::string number(text.data(), end);
  return number.find_first_of(".e") == std::string::npos ? number + ".0" : number;
}

bool is_any(const nn::OptimizerMethod&) { return true; }
bool updates_each_variable(const nn::OptimizerMethod& method) { return !method.op.empty(); }

using Filter = bool (*)(const nn::OptimizerMethod&);

std::deque<Texts> make_texts(const std::string& path, Filter filter) {
  std::deque<Texts> texts;
  for (const nn::OptimizerMethod& method : nn::optimizer_methods())
    if (filter(method))
      for (const nn::Hyperparameter& parameter : method.hyperparameters)
        texts.push_back({path + '.' + method.name + '.' + parameter.name, toml_of(parameter)});
  return texts;
}

std::vector<Key> keys_of(const std::deque<Texts>& texts, Filter filter) {
  std::vector<Key> keys;
  for (const nn::OptimizerMethod& method : nn::optimizer_methods())
    if (filter(method))
      for (const nn::Hyperparameter& parameter : method.hyperparameters) {
        const Texts& text = texts[keys.size()];
        Key key{text.path, parameter.is_flag ? Kind::Boolean : Kind::Number, parameter.meaning, {}};
        key.rules.initial = text.initial;
        if (!parameter.is_flag)
          key.rules.range = {.low = parameter.low, .high = parameter.high, .below = parameter.below_high};
        keys.push_back(key);
      }
  return keys;
}

std::string names_of(Filter filter) {
  std::string names;
  for (const nn::OptimizerMethod& method : nn::optimizer_methods())
    if (filter(method)) names += (names.empty() ? "" : "|") + method.name;
  return names;
}

}  // namespace

std::vector<Key> optimizer_keys() {
  static const std::deque<Texts> texts = make_texts("train.optimizer", is_any);
  return keys_of(texts, is_any);
}

std::string optimizer_names() { return names_of(is_any); }

std::vector<Key> outer_optimizer_keys() {
  static const std::deque<Texts> texts = make_texts("train.replication.outer", updates_each_variable);
  return keys_of(texts, updates_each_variable);
}

std::string outer_optimizer_names() { return names_of(updates_each_variable); }

}  // namespace troupe::config
