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

std::deque<Texts> make_texts() {
  std::deque<Texts> texts;
  for (const nn::OptimizerMethod& method : nn::optimizer_methods())
    for (const nn::Hyperparameter& parameter : method.hyperparameters)
      texts.push_back({"train.optimizer." + method.name + '.' + parameter.name, toml_of(parameter)});
  return texts;
}

}  // namespace

std::vector<Key> optimizer_keys() {
  static const std::deque<Texts> texts = make_texts();
  std::vector<Key> keys;
  for (const nn::OptimizerMethod& method : nn::optimizer_methods())
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

std::string optimizer_names() {
  std::string names;
  for (const nn::OptimizerMethod& method : nn::optimizer_methods())
    names += (names.empty() ? "" : "|") + method.name;
  return names;
}

}  // namespace troupe::config
