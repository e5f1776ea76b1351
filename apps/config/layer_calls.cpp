#include "apps/config/layer_calls.h"

#include <algorithm>
#include <functional>
#include <map>

#include "apps/config/diagnostics.h"
#include "apps/config/example_feature.h"
#include "apps/config/foreign_names.h"
#include "apps/config/layer_types.h"
#include "apps/nn/activations.h"
#include "apps/nn/layers.h"
#include "apps/nn/ragged/ragged.h"

namespace troupe::config {
namespace {

// ---- The layers

constexpr Rules required{.required = true};
constexpr std::string_view activation_meaning =
                               "function that is applied to the result, such as relu; default: linear",
                           bias_meaning = "whether a vector of biases is added; default: true",
                           init_meaning = "distribution of the initial weights; default: glorot_uniform",
                           scale_meaning = "whether there are weights to multiply with; default: true",
                           strides_meaning = "distance of two outputs; default: 1",
                           dilations_meaning = "distance of two elements of a filter; default: 1",
                           loop_meaning =
                               "whether the steps are a loop even if their number is known, which "
                               "makes a smaller graph; default: false";

template <class Options>
std::vector<Row<Options>> with_activation(std::vector<Row<Options>> rows) {
  rows.push_back({"activation", &Options::activation, activation_meaning});
  return rows;
}

/// Adds the options that all layers with weights and biases share.
template <class Options>
std::vector<Row<Options>> with_weights(std::vector<Row<Options>> rows) {
  rows = with_activation(std::move(rows));
  rows.push_back({"bias", &Options::bias, bias_meaning});
  rows.push_back({"init", &Options::init, init_meaning});
  return rows;
}

/// Adds the options that all normalizing layers share.
template <class Options>
std::vector<Row<Options>> with_norm(std::vector<Row<Options>> rows, std::string_view epsilon_meaning) {
  rows.push_back({"epsilon", &Options::epsilon, epsilon_meaning, {.range = {.low = 0}}});
  rows.push_back({"scale", &Options::scale, scale_meaning});
  rows.push_back({"offset", &Options::offset, "whether there are weights to add; default: true"});
  return rows;
}

std::vector<Row<nn::Pool>> pool_rows() {
  return {{"window", &nn::Pool::window, "size of the windows; default: 2"},
          {"strides", &nn::Pool::strides, "distance of two windows; default: their size"},
          {"padding", &nn::Pool::padding, "default: VALID", {.choices = "SAME|VALID"}}};
}

std::vector<Row<nn::Pool1d>> pool1d_rows() {
  return {{"window", &nn::Pool1d::window, "number of steps of a window; default: 2"},
          {"strides", &nn::Pool1d::strides, "distance of two windows; default: their size"},
          {"padding", &nn::Pool1d::padding, "default: VALID", {.choices = "SAME|VALID"}}};
}

/// The options that all recurrent layers share, and those of one.
std::vector<Row<nn::Recurrent>> recurrent_rows(std::vector<Row<nn::Recurrent>> own) {
  std::vector<Row<nn::Recurrent>> rows = {
      {"units", &nn::Recurrent::units, "size of the state", required},
      {"sequences", &nn::Recurrent::sequences,
       "whether the result holds every output or the last; default: false"},
      {"bidirectional", &nn::Recurrent::bidirectional,
       "whether other weights read each sequence from its end, too, which makes 2 units; default: false"},
      {"loop", &nn::Recurrent::loop, loop_meaning},
      {"init", &nn::Recurrent::init, init_meaning}};
  rows.insert(rows.end(), own.begin(), own.end());
  return rows;
}

/// A second input is the number of steps of each sequence.
LayerType recurrent_type(std::string_view name,
                         Output (*layer)(const nn::Network&, Output, const nn::Recurrent&),
                         std::vector<Row<nn::Recurrent>> own = {}) {
  LayerType type = layer_type<nn::Recurrent>(
      name, recurrent_rows(std::move(own)),
      [layer](const nn::Network& network, const Outputs& inputs, nn::Recurrent options) {
        if (inputs.size() > 1) options.lengths = inputs[1];
        return layer(network, inputs[0], options);
      });
  type.max_inputs = 2;
  return type;
}

LayerType rnn_type() {
  return recurrent_type("rnn", nn::rnn,
                        {{"activation",
                          &nn::Recurrent::activation,
                          "function whose result is the state; default: tanh",
                          {.choices = "tanh|relu"}}});
}

LayerType gru_type() {
  return recurrent_type("gru", nn::gru,
                        {{"reset_after", &nn::Recurrent::reset_after,
                          "whether the reset gate multiplies the product of the state with the weights, as "
                          "in cuDNN, or the state itself, as in TensorFlow 1; default: true"}});
}

/// A third input is the number of steps of each memory.
LayerType attention_lstm_type() {
  using Options = nn::AttentionLstm;
  LayerType type =
      layer_type<Options>("attention_lstm",
                          {{"units", &Options::units, "size of the state and of the result", required},
                           {"loop", &Options::loop, loop_meaning},
                           {"init", &Options::init, init_meaning}},
                          [](const nn::Network& network, const Outputs& inputs, Options options) {
                            if (inputs.size() > 2) options.memory_lengths = inputs[2];
                            return nn::attention_lstm(network, inputs[0], inputs[1], options);
                          });
  type.min_inputs = 2;
  type.max_inputs = 3;
  return type;
}

/// A second input is the memory, and a third the number of its steps that count.
LayerType attention_type() {
  using Options = nn::Attention;
  LayerType type = layer_type<Options>(
      "attention",
      {{"heads", &Options::heads, "number of heads; default: 1"},
       {"units", &Options::units, "size of the result; default: that of the query"},
       {"causal", &Options::causal,
        "whether a position attends only to itself and earlier ones; default: false"},
       {"kv_heads", &Options::kv_heads,
        "number of heads of keys and values, each of which serves several heads of the query; default: "
        "heads"},
       {"rotary", &Options::rotary,
        "whether scores depend on the distance of two positions, by turning queries and keys; default: "
        "false"}},
      [](const nn::Network& network, const Outputs& inputs, Options options) {
        if (inputs.size() > 2) options.memory_lengths = inputs[2];
        return nn::attention(network, inputs[0], inputs[inputs.size() > 1 ? 1 : 0], options);
      });
  type.max_inputs = 3;
  return type;
}

LayerType batch_norm_type() {
  using Options = nn::BatchNorm;
  return layer_type<Options>(
      "batch_norm",
      with_activation(with_norm<Options>({{"decay",
                                           &Options::decay,
                                           "decay of the moving averages; default: 0.99",
                                           {.range = {.low = 0, .high = 1}}}},
                                         "added to the variance; default: 1e-3")),
      nn::batch_norm);
}

LayerType conv1d_type() {
  using Options = nn::Conv1d;
  return layer_type<Options>(
      "conv1d",
      with_weights<Options>({{"filters", &Options::filters, "number of output features", required},
                             {"kernel", &Options::kernel, "number of steps of the filters", required},
                             {"strides", &Options::strides, strides_meaning},
                             {"padding",
                              &Options::padding,
                              "CAUSAL: no output sees later steps; default: SAME",
                              {.choices = "SAME|VALID|CAUSAL"}},
                             {"dilations", &Options::dilations, dilations_meaning},
                             {"groups", &Options::groups, "number of groups of features; default: 1"}}),
      nn::conv1d);
}

LayerType conv2d_type() {
  using Options = nn::Conv2d;
  return layer_type<Options>(
      "conv2d",
      with_weights<Options>(
          {{"filters", &Options::filters, "number of output channels", required},
           {"kernel", &Options::kernel, "size of the filters", required},
           {"strides", &Options::strides, strides_meaning},
           {"padding", &Options::padding, "default: SAME", {.choices = "SAME|VALID|EXPLICIT"}},
           {"pad", &Options::pad, "zeros on each side, for EXPLICIT", {.range = {.low = 0}}},
           {"dilations", &Options::dilations, dilations_meaning},
           {"groups", &Options::groups, "number of groups of channels; default: 1"}}),
      nn::conv2d);
}

LayerType conv2d_transpose_type() {
  using Options = nn::Conv2dTranspose;
  return layer_type<Options>(
      "conv2d_transpose",
      with_weights<Options>(
          {{"filters", &Options::filters, "number of output channels", required},
           {"kernel", &Options::kernel, "size of the filters", required},
           {"strides", &Options::strides, "factor by which height and width grow; default: 1"},
           {"padding", &Options::padding, "default: SAME", {.choices = "SAME|VALID"}}}),
      nn::conv2d_transpose);
}

LayerType dense_type() {
  using Options = nn::Dense;
  const Rules units{.required = true, .range = {.low = 1, .high = 1 << 24}};
  return layer_type<Options>(
      "dense",
      with_weights<Options>({{"units", &Options::units, "number of outputs for each sample", units}}),
      nn::dense);
}

LayerType depthwise_conv2d_type() {
  using Options = nn::DepthwiseConv2d;
  return layer_type<Options>(
      "depthwise_conv2d",
      with_weights<Options>(
          {{"kernel", &Options::kernel, "size of the filters", required},
           {"multiplier", &Options::multiplier, "number of results for each channel; default: 1"},
           {"strides", &Options::strides, strides_meaning},
           {"padding", &Options::padding, "default: SAME", {.choices = "SAME|VALID"}},
           {"dilations", &Options::dilations, dilations_meaning}}),
      nn::depthwise_conv2d);
}

LayerType dropout_type() {
  using Options = nn::Dropout;
  const Rules rate{.range = {.low = 0, .high = 1, .below = true}};
  return layer_type<Options>(
      "dropout",
      {{"rate", &Options::rate, "probability with which an element becomes zero in training; default: 0.5",
        rate}},
      nn::dropout);
}

/// Adds the options of all layers whose weights may be cut into parts.
template <class Options>
std::vector<Row<Options>> with_partitions(std::vector<Row<Options>> rows) {
  rows.push_back({"partitions", &Options::partitions,
                  "number of parts into which the weights are cut by their rows; default: one for each "
                  "parameter server, if they have at least 1 MiB"});
  rows.push_back({"strategy",
                  &Options::strategy,
                  "how the rows are shared out among the parts; default: mod",
                  {.choices = "mod|div"}});
  return rows;
}

/// A second input is the splits between rows of ids.
LayerType embedding_type() {
  using Options = nn::Embedding;
  LayerType type = layer_type<Options>(
      "embedding",
      with_partitions<Options>(
          {{"rows", &Options::rows, "number of ids", required},
           {"units", &Options::units, "number of outputs for each id", required},
           {"init", &Options::init, "distribution of the initial weights; default: uniform over +-0.05"},
           {"combiner",
            &Options::combiner,
            "how the results for the last dimension of the ids, or for each of their rows, become one; "
            "default: none",
            {.choices = "none|sum|mean|sqrtn"}},
           {"max_norm",
            &Options::max_norm,
            "L2 norm to which longer results for one id are scaled; default: 0, which means none",
            {.range = {.low = 0}}}}),
      [](const nn::Network& network, const Outputs& inputs, Options options) {
        if (inputs.size() > 1) options.splits = inputs[1];
        return nn::embedding(network, inputs[0], options);
      });
  type.max_inputs = 2;
  return type;
}

LayerType rms_norm_type() {
  using Options = nn::RmsNorm;
  return layer_type<Options>("rms_norm",
                             {{"epsilon",
                               &Options::epsilon,
                               "added to the mean of the squares; default: 1e-6",
                               {.range = {.low = 0}}},
                              {"scale", &Options::scale, scale_meaning}},
                             nn::rms_norm);
}

LayerType glu_type() {
  using Options = nn::Glu;
  return layer_type<Options>(
      "glu",
      {{"activation", &Options::activation, "function that is applied to the gates; default: sigmoid"}},
      nn::glu);
}

LayerType prelu_type() {
  using Options = nn::Prelu;
  return layer_type<Options>("prelu", {{"slope", &Options::slope, "the initial slope; default: 0.25"}},
                             nn::prelu);
}

LayerType example_feature_type() {
  using Options = ExampleFeature;
  return layer_type<Options>(
      "example_feature",
      {{"feature", &Options::name, "name of the feature, such as image/encoded", required},
       {"dtype", &Options::dtype, "default: float", {.choices = "float|int64|string"}},
       {"size",
        &Options::size,
        "number of values; default: a single one, which is a scalar",
        {.range = {.low = 0}}}},
      [](const nn::Network& network, const Outputs& inputs, const Options& options) {
        return example_feature(network.scope(), inputs[0], options);
      });
}

LayerType activation_type(const nn::Activation& activation) {
  LayerType type{std::string(activation.name), 1, 1, {}, {}, {}};
  type.add = [apply = activation.apply](const nn::Network& network, const Outputs& inputs, const Given&) {
    return apply(network.scope(), inputs[0]);
  };
  return type;
}

LayerType group_norm_type() {
  using Options = nn::GroupNorm;
  return layer_type<Options>(
      "group_norm",
      with_norm<Options>({{"groups", &Options::groups, "number of groups of channels", required}},
                         "added to the variance; default: 1e-5"),
      nn::group_norm);
}

LayerType position_embedding_type() {
  using Options = nn::PositionEmbedding;
  return layer_type<Options>(
      "position_embedding",
      {{"steps", &Options::steps, "largest number of steps of a sequence", required},
       {"init", &Options::init, "distribution of the initial weights; default: uniform over +-0.05"}},
      nn::position_embedding);
}

LayerType upsample2d_type() {
  using Options = nn::Upsample;
  return layer_type<Options>(
      "upsample2d",
      {{"size", &Options::size, "factors by which height and width grow; default: 2"},
       {"method",
        &Options::method,
        "whether pixels are repeated, or there are new ones between them; default: nearest",
        {.choices = "nearest|bilinear"}}},
      nn::upsample2d);
}

LayerType layer_norm_type() {
  using Options = nn::LayerNorm;
  return layer_type<Options>("layer_norm", with_norm<Options>({}, "added to the variance; default: 1e-5"),
                             nn::layer_norm);
}

LayerType lrn_type() {
  using Options = nn::Lrn;
  return layer_type<Options>(
      "lrn",
      {{"depth_radius", &Options::depth_radius, "channels on each side that count; default: 5"},
       {"bias", &Options::bias, "added to the sum of squares; default: 1"},
       {"alpha", &Options::alpha, "factor of the sum of squares; default: 1"},
       {"beta", &Options::beta, "power of the divisor; default: 0.5"}},
      nn::lrn);
}

/// The inputs are x and the labels.
template <class Options>
LayerType class_loss_type(std::string_view name, std::vector<Row<Options>> rows,
                          Output (*loss)(const nn::Network&, Output, Output, const Options&)) {
  rows.insert(rows.begin(), {"classes", &Options::classes, "number of classes", required});
  rows.push_back({"init", &Options::init, init_meaning});
  LayerType type =
      layer_type<Options>(name, with_partitions<Options>(std::move(rows)),
                          [loss](const nn::Network& network, const Outputs& inputs, const Options& options) {
                            return loss(network, inputs.front(), inputs.back(), options);
                          });
  type.min_inputs = type.max_inputs = 2;
  return type;
}

LayerType sampled_loss_type(std::string_view name,
                            Output (*loss)(const nn::Network&, Output, Output, const nn::SampledLoss&)) {
  return class_loss_type<nn::SampledLoss>(
      name,
      {{"sampled", &nn::SampledLoss::sampled, "number of classes that are drawn for each batch; default: 64"},
       {"distribution",
        &nn::SampledLoss::distribution,
        "how likely each class is to be drawn: those with small numbers more often (log_uniform), all "
        "equally (uniform), in proportion to the frequencies (fixed_unigram), in proportion to 1 + how often "
        "the class was a label in earlier steps (learned_unigram), or each class once (all); default: "
        "log_uniform",
        {.choices = "log_uniform|uniform|fixed_unigram|learned_unigram|all"}},
       {"frequencies", &nn::SampledLoss::frequencies, "with fixed_unigram: the frequency of each class"},
       {"distortion", &nn::SampledLoss::distortion,
        "with fixed_unigram: the exponent of the frequencies; default: 1"}},
      loss);
}

/// The inputs are the values and the splits of a ragged tensor.
LayerType row_type(std::string_view name, Output (*reduce)(const Scope&, const nn::Ragged&)) {
  LayerType type{std::string(name), 2, 2, {}, {}, {}};
  type.add = [reduce](const nn::Network& network, const Outputs& inputs, const Given&) {
    return reduce(network.scope(), {inputs[0], inputs[1]});
  };
  return type;
}

/// The first input has an element for each row, the others are values and splits.
LayerType row_spread_type() {
  LayerType type{"row_spread", 3, 3, {}, {}, {}};
  type.add = [](const nn::Network& network, const Outputs& inputs, const Given&) {
    return nn::ragged::spread(network.scope(), inputs[0], {inputs[1], inputs[2]});
  };
  return type;
}

Output row_softmax(const Scope& scope, const nn::Ragged& x) { return nn::ragged::softmax(scope, x).values; }

std::vector<LayerType> layers() {
  std::vector<LayerType> all = {attention_type(),
                                attention_lstm_type(),
                                layer_type<nn::Pool1d>("avg_pool1d", pool1d_rows(), nn::avg_pool1d),
                                layer_type<nn::Pool>("avg_pool2d", pool_rows(), nn::avg_pool2d),
                                batch_norm_type(),
                                conv1d_type(),
                                conv2d_type(),
                                conv2d_transpose_type(),
                                dense_type(),
                                depthwise_conv2d_type(),
                                dropout_type(),
                                embedding_type(),
                                example_feature_type(),
                                layer_type("flatten", nn::flatten),
                                layer_type("global_avg_pool1d", nn::global_avg_pool1d),
                                layer_type("global_avg_pool2d", nn::global_avg_pool2d),
                                layer_type("global_max_pool1d", nn::global_max_pool1d),
                                layer_type("global_max_pool2d", nn::global_max_pool2d),
                                glu_type(),
                                group_norm_type(),
                                gru_type(),
                                layer_norm_type(),
                                lrn_type(),
                                recurrent_type("lstm", nn::lstm),
                                layer_type<nn::Pool1d>("max_pool1d", pool1d_rows(), nn::max_pool1d),
                                layer_type<nn::Pool>("max_pool2d", pool_rows(), nn::max_pool2d),
                                position_embedding_type(),
                                prelu_type(),
                                rms_norm_type(),
                                rnn_type(),
                                sampled_loss_type("nce_loss", nn::nce_loss),
                                row_type("row_lengths", nn::ragged::row_lengths),
                                row_type("row_max", nn::ragged::max),
                                row_type("row_mean", nn::ragged::mean),
                                row_type("row_min", nn::ragged::min),
                                row_type("row_softmax", row_softmax),
                                row_spread_type(),
                                row_type("row_sum", nn::ragged::sum),
                                sampled_loss_type("sampled_softmax_loss", nn::sampled_softmax_loss),
                                class_loss_type<nn::SoftmaxLoss>("softmax_loss", {}, nn::softmax_loss),
                                upsample2d_type()};
  for (const nn::Activation& activation : nn::activations()) all.push_back(activation_type(activation));
  return all;
}

/// Returns the layers, losses and metrics in the order of their names.
const std::vector<LayerType>& layer_types() {
  static const std::vector<LayerType> types = [] {
    std::vector<LayerType> all = layers(), scores = score_types();
    std::ranges::move(scores, std::back_inserter(all));
    std::ranges::sort(all, {}, &LayerType::name);
    return all;
  }();
  return types;
}

// ---- Calls

std::string_view option_name(const LayerType& type, size_t i) {
  return std::string_view(type.paths[i]).substr(type.paths[i].rfind('.') + 1);
}

[[noreturn]] void fail(const LayerType& type, const std::string& text) {
  throw Error(invalid_argument(std::string(layer_prefix) + type.name + ": " + text));
}

/// Returns the inputs of a call, its first positional arguments.
Outputs inputs_of(const LayerType& type, const std::vector<Argument>& positional) {
  Outputs inputs;
  for (const Argument& argument : positional) {
    const auto* const output = std::get_if<Output>(&argument.value());
    if (!output || inputs.size() == type.max_inputs) break;
    inputs.push_back(*output);
  }
  if (inputs.size() < type.min_inputs)
    fail(type, type.min_inputs == 1
                   ? "expected a tensor as the first argument"
                   : "expected tensors as the first " + std::to_string(type.min_inputs) + " arguments");
  return inputs;
}

Given given_options(const LayerType& type, std::span<const Argument> positional,
                    const NamedArguments& named) {
  Given given;
  if (positional.size() > type.keys.size())
    fail(type, "expected at most " + std::to_string(type.keys.size()) + " options, found " +
                   std::to_string(positional.size()));
  std::vector<std::string_view> known;
  for (size_t i = 0; i < type.keys.size(); ++i) known.push_back(option_name(type, i));
  for (size_t i = 0; i < positional.size(); ++i) given.emplace(known[i], positional[i]);
  for (const auto& [name, value] : named) {
    if (std::ranges::find(known, std::string_view(name)) == known.end()) {
      const std::string advice = advice_on_key(name, {});
      fail(type, "unknown option '" + name + "'" + (advice.empty() ? hint(name, known) : advice));
    }
    if (!given.emplace(name, value).second) fail(type, "option '" + name + "' is given twice");
  }
  for (size_t i = 0; i < type.keys.size(); ++i)
    if (type.keys[i].rules.required && !given.contains(known[i]))
      fail(type, "missing: " + std::string(known[i]) + " (" + std::string(type.keys[i].meaning) + ")");
  return given;
}

}  // namespace

std::vector<Key> layer_keys() {
  std::vector<Key> keys;
  for (const LayerType& type : layer_types())
    for (size_t i = 0; i < type.keys.size(); ++i) {
      keys.push_back(type.keys[i]);
      keys.back().path = type.paths[i];
    }
  return keys;
}

namespace {

std::string names_of(const std::vector<LayerType>& types) {
  std::string names;
  for (const LayerType& type : types) names += (names.empty() ? "" : "|") + type.name;
  return names;
}

}  // namespace

std::string layer_names() { return names_of(layer_types()); }

std::string listed_layer_names() { return names_of(layers()); }

const std::vector<std::string>& layer_list() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const LayerType& type : layer_types()) all.push_back(type.name);
    return all;
  }();
  return names;
}

Output add_layer(const nn::Network& network, std::string_view layer, const std::vector<Argument>& positional,
                 const NamedArguments& named) {
  std::vector<std::string_view> known;
  for (const LayerType& type : layer_types()) known.push_back(type.name);
  const auto found = std::ranges::find(known, layer);
  if (found == known.end())
    throw Error(invalid_argument("there is no layer '" + std::string(layer) + "'" + hint(layer, known)));
  const LayerType& type = layer_types()[static_cast<size_t>(found - known.begin())];
  const Outputs inputs = inputs_of(type, positional);
  const Given given = given_options(type, std::span(positional).subspan(inputs.size()), named);
  return type.add(network, inputs, given);
}

}  // namespace troupe::config
