// LayerType: what a layer, loss or metric of run files is made of: its name, inputs, options with their keys, and the function that
// adds it. Only for the tables of layers (layer_calls.cpp) and of losses and metrics (scores.cpp). Values; any thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "apps/config/key.h"
#include "apps/nn/layers.h"

namespace troupe::config {

using Outputs = std::vector<Output>;
using Given = std::map<std::string, Argument, std::less<>>;  ///< the options that a call gives

struct LayerType {
  std::string name;
  size_t min_inputs = 1, max_inputs = 1;
  std::vector<std::string> paths;  ///< of the keys, "model.layers.NAME.OPTION"
  std::vector<Key> keys;           ///< without their paths
  std::function<Output(const nn::Network&, const Outputs&, const Given&)> add;
};

[[noreturn]] inline void expect(std::string_view option, std::string_view what) {
  throw Error(invalid_argument(std::string(option) + ": expected " + std::string(what)));
}

// ---- Reading the value of an option

template <class T>
T exactly(std::string_view name, const Argument& argument, std::string_view what) {
  const T* const value = std::get_if<T>(&argument.value());
  if (!value) expect(name, what);
  return *value;
}

inline void read(std::string_view name, const Argument& argument, int64_t& option) {
  option = exactly<int64_t>(name, argument, "an integer");
}
inline void read(std::string_view name, const Argument& argument, bool& option) {
  option = exactly<bool>(name, argument, "true or false");
}
inline void read(std::string_view name, const Argument& argument, std::string& option) {
  option = exactly<std::string>(name, argument, "a string");
}
inline void read(std::string_view name, const Argument& argument, double& option) {
  if (const auto* const integer = std::get_if<int64_t>(&argument.value()))
    option = static_cast<double>(*integer);
  else
    option = exactly<double>(name, argument, "a number");
}
inline void read(std::string_view name, const Argument& argument, std::vector<double>& option) {
  option.clear();
  for (const Argument& number : exactly<std::vector<Argument>>(name, argument, "a list of numbers"))
    read(name, number, option.emplace_back());
}
inline void read(std::string_view name, const Argument& argument, nn::Pair& option) {
  constexpr std::string_view what = "an integer or a list of two";
  if (const auto* const both = std::get_if<int64_t>(&argument.value())) {
    option = *both;
    return;
  }
  const auto list = exactly<std::vector<Argument>>(name, argument, what);
  if (list.size() != 2) expect(name, what);
  option = {exactly<int64_t>(name, list[0], what), exactly<int64_t>(name, list[1], what)};
}
inline void read(std::string_view name, const Argument& argument, nn::Initial& option) {
  option = nn::find_initializer(exactly<std::string>(name, argument, "a string"));
  if (!option) expect(name, "one of " + std::string(nn::weight_initializers));
}

// ---- What a layer is made of

/// An option of a layer: a member of the layer's options in apps/nn/layers.h, which has the default.
template <class Options>
struct Row {
  std::string_view name;
  std::variant<int64_t Options::*, bool Options::*, double Options::*, std::string Options::*,
               nn::Pair Options::*, std::vector<double> Options::*, nn::Initial Options::*>
      member;
  std::string_view meaning;
  Rules rules = {};
};

inline Kind kind_of(const int64_t*) { return Kind::Integer; }
inline Kind kind_of(const bool*) { return Kind::Boolean; }
inline Kind kind_of(const double*) { return Kind::Number; }
inline Kind kind_of(const nn::Pair*) { return Kind::IntegerPair; }
inline Kind kind_of(const std::vector<double>*) { return Kind::Numbers; }
inline Kind kind_of(const std::string*) { return Kind::String; }
inline Kind kind_of(const nn::Initial*) { return Kind::Choice; }

template <class Options>
Key key_of(const Row<Options>& row) {
  Kind kind = std::visit(
      [](auto member) {
        return kind_of(static_cast<std::remove_reference_t<decltype(Options{}.*member)>*>(nullptr));
      },
      row.member);
  Rules rules = row.rules;
  if (std::holds_alternative<nn::Initial Options::*>(row.member)) rules.choices = nn::weight_initializers;
  if (!rules.choices.empty()) kind = Kind::Choice;
  const bool counts = kind == Kind::Integer || kind == Kind::IntegerPair;
  if (counts && rules.range.low < 0) rules.range.low = 1;
  return {{}, kind, row.meaning, rules};
}

template <class Options>
LayerType layer_type(std::string_view name, std::vector<Row<Options>> rows,
                     std::function<Output(const nn::Network&, const Outputs&, const Options&)> add) {
  LayerType type{std::string(name), 1, 1, {}, {}, {}};
  for (const Row<Options>& row : rows) {
    type.paths.push_back("model.layers." + type.name + '.' + std::string(row.name));
    type.keys.push_back(key_of(row));
  }
  type.add = [rows = std::move(rows), add = std::move(add)](const nn::Network& network, const Outputs& inputs,
                                                            const Given& given) {
    Options options;
    for (const Row<Options>& row : rows)
      if (const auto found = given.find(row.name); found != given.end())
        std::visit([&](auto member) { read(row.name, found->second, options.*member); }, row.member);
    return add(network, inputs, options);
  };
  return type;
}

/// For a layer with one input.
template <class Options>
LayerType layer_type(std::string_view name, std::vector<Row<Options>> rows,
                     Output (*add)(const nn::Network&, Output, const Options&)) {
  return layer_type<Options>(name, std::move(rows),
                             [add](const nn::Network& network, const Outputs& inputs,
                                   const Options& options) { return add(network, inputs.front(), options); });
}

/// For a layer with one input and no options.
inline LayerType layer_type(std::string_view name, Output (*add)(const nn::Network&, Output)) {
  LayerType type{std::string(name), 1, 1, {}, {}, {}};
  type.add = [add](const nn::Network& network, const Outputs& inputs, const Given&) {
    return add(network, inputs.front());
  };
  return type;
}

/// Returns the losses and metrics of apps/nn/losses.h.
std::vector<LayerType> score_types();

}  // namespace troupe::config
