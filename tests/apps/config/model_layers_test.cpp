// Layers in the models of run files.
#include <boost/test/unit_test.hpp>

#include "apps/config/model.h"
#include "tests/apps/config/run_file.h"

namespace troupe::config::model_layers_test {
namespace {

BOOST_AUTO_TEST_SUITE(layers_of_run_files)

/// Returns a run file whose model is this TOML, with a first line "[model]".
std::string with_model(const std::string& model) {
  std::string text = good;
  const size_t begin = text.find("[model.variables]"), end = text.find("[train]");
  return text.replace(begin, end - begin, model);
}

/// Builds the model of a run file for an image of 64 numbers.
void build(const RunConfig& config, const nn::Network& network) {
  const Scope& g = network.scope();
  Symbols symbols;
  symbols.values["image"] =
      Argument(g.add_one("Placeholder", {}, {{"dtype", f32}, {"shape", PartialShape{-1, 64}}}));
  symbols.values["label"] =
      Argument(g.add_one("Placeholder", {}, {{"dtype", i32}, {"shape", PartialShape{-1}}}));
  Diagnostics diagnostics(*config.document);
  build_model(config, network, std::move(symbols), diagnostics);
  BOOST_TEST(diagnostics.text() == "");
}

/// Returns the weights of the model of a run file, "NAME dtype[shape]", one a line.
std::string weights_of(const RunConfig& config, std::shared_ptr<const OpTable> ops) {
  Graph graph(std::move(ops));
  const nn::Network network{Scope(graph)};
  build(config, network);
  std::string text;
  for (const auto& [weight, edge] : network.weights())
    text += weight.name + ' ' + std::string(name(weight.dtype)) + weight.shape.text() + '\n';
  return text;
}

BOOST_AUTO_TEST_CASE(layers_have_weights_of_their_names) {
  const std::string text = with_model(R"toml([model]
layers = [{ type = "dense", units = 100, activation = "relu" }, { type = "dense", units = 10, bias = false }]
[model.graph]
loss = "mean(output) + l2_loss(dense_2_weights)"
)toml");
  const auto config = parse(text, {"model.layers.0.units=50"});
  BOOST_REQUIRE_MESSAGE(config.ok(), config.status().text());
  BOOST_TEST(weights_of(*config, test::op_library()->ops) ==
             "dense_1_weights float[64,50]\ndense_1_bias float[50]\ndense_2_weights float[50,10]\n");
  const auto wrong = [&](std::string_view part, std::string_view instead) {
    std::string changed = text;
    return mistakes(changed.replace(changed.find(part), part.size(), instead));
  };
  BOOST_TEST(
      wrong("\"dense\"", "\"dens\"")
          .starts_with("run.toml:9:20: model.layers.0.type: \"dens\" is unknown; the nearest is 'dense'"));
  BOOST_TEST(wrong("units = 10,", "units = 0,")
                 .starts_with("run.toml:9:91: model.layers.1.units: expected an integer, at least 1"));
  BOOST_TEST(
      wrong("units = 10,", "unit = 10,").find("model.layers.1.unit: unknown key; the nearest is 'units'") !=
      std::string::npos);
  BOOST_TEST(
      wrong("\"relu\"", "\"rleu\"")
          .starts_with("run.toml:9:11: layer 'dense_1' (dense): there is no activation 'rleu'; it must be "
                       "one of linear, relu, relu6, "));
  BOOST_TEST(wrong("\"relu\"", "\"rleu\"").find("or another op of one input; the nearest is 'relu'") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(segments_hold_layers_and_definitions) {
  const std::string text = with_model(R"toml([model]
layers = [{ type = "dense", name = "hidden", units = 8, activation = "gelu" }, { type = "dense", units = 10 }]
[model.graph]
half = "0.5 * output"
loss = "mean(half)"
[model.recompute]
first = ["hidden", "half"]
)toml");
  const auto config = parse(text);
  BOOST_REQUIRE_MESSAGE(config.ok(), config.status().text());
  std::map<std::string, std::string> segments;  // by the names of nodes
  Graph graph(test::op_library()->ops);
  build(*config, nn::Network(Scope(graph)));
  for (const Node& node : graph.nodes())
    if (const AttrValue* const segment = node.attrs.find("_recompute"))
      segments[node.name] = std::get<std::string>(*segment);
  BOOST_TEST(segments["hidden/MatMul"] == "first");
  BOOST_TEST(segments["half"] == "first");
  BOOST_TEST(!segments.contains("dense_2/MatMul"));
  BOOST_TEST(!segments.contains("hidden_weights"));
  const auto wrong = [&](const std::string& members) {
    constexpr std::string_view line = "first = [\"hidden\", \"half\"]\n";
    std::string changed = text;
    return mistakes(changed.replace(changed.find(line), line.size(), members));
  };
  BOOST_TEST(wrong("first = ['hiden']\n")
                 .starts_with("run.toml:14:9: model.recompute.first: 'hiden' is neither a definition nor a "
                              "layer; the nearest is 'hidden'"));
  BOOST_TEST(wrong("a = ['half']\nb = ['half']\n")
                 .starts_with("run.toml:15:5: model.recompute.b: 'half' is in segment 'a', too"));
}

BOOST_AUTO_TEST_CASE(mistakes_in_stages_are_found) {
  const auto with_stages = [](const std::string& stages) {
    return mistakes(
        with_model("[model]\nlayers = [{ type = \"dense\", name = \"hidden\", units = 8 }, "
                   "{ type = \"dense\", units = 10 }]\nstages = " +
                   stages + "\n[model.graph]\nloss = \"mean(output)\"\n"));
  };
  BOOST_TEST(with_stages("['hidden', ['dense_2', 'loss']]") == "");
  BOOST_TEST(
      with_stages("['hidden', 'dense_3']")
          .starts_with("run.toml:10:21: model.stages.1: 'dense_3' is neither a definition nor a layer; the "
                       "nearest is 'dense_2'"));
  BOOST_TEST(with_stages("['hidden', 'hidden']")
                 .starts_with("run.toml:10:21: model.stages.1: 'hidden' is in stage 0, too"));
  BOOST_TEST(
      with_stages("['dense_2', 'hidden']")
          .starts_with("run.toml:10:11: model.stages.0: 'dense_2' uses 'hidden' of stage 1; a stage may "
                       "use only what it and the stages before it compute"));
  BOOST_TEST(
      with_stages("[3]").starts_with("run.toml:10:11: model.stages: expected a list of lists of strings"));
}

BOOST_AUTO_TEST_CASE(mistakes_in_splits_are_found) {
  const auto with = [](const std::string& split, const std::string& over = "model.split_over=2") {
    return mistakes(good, {"model.split={" + split + "}", over});
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  BOOST_TEST(with("w1=1,b1=0") == "");
  BOOST_TEST(
      has(with("w3=1"), "model.split.w3: there is no variable or weight of this name; the nearest is 'w1'"));
  BOOST_TEST(has(with("w1=2"), "model.split.w1: the shape is [64,100], so there is no dimension 2"));
  BOOST_TEST(has(with("w2=1", "model.split_over=11"),
                 "dimension 1 of [100,10] is shorter than the number of devices"));
  BOOST_TEST(has(with("w1=-1"), "model.split.w1: expected an integer, at least 0"));
  BOOST_TEST(has(with("w1=1", "run.seed=1"), "model.split needs at least 2 devices"));
  BOOST_TEST(has(mistakes(good, {"model.split_over=2"}), "model.split names nothing to split"));
}

BOOST_AUTO_TEST_CASE(pipelines_refuse_what_needs_a_graph_for_each_worker) {
  const auto with = [](const std::string& option) {
    return mistakes(good, {"train.micro_batches=2", option});
  };
  BOOST_TEST(with("run.seed=1") == "");
  BOOST_TEST(with("train.replication.mode=allreduce").find("allowed: \"local\", \"sync\"") !=
             std::string::npos);
  BOOST_TEST(with("train.replication.backup_workers=1").find("backup_workers: not with") !=
             std::string::npos);
  BOOST_TEST(with("train.fault.mirror=true").find("train.fault.mirror: not with") != std::string::npos);
  BOOST_TEST(with("data.batch=3").find("4 micro-batches of all shards are more than the samples") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(layers_and_expressions_mix) {
  const auto config = parse(with_model(R"toml([model]
layers = [{ type = "conv2d", name = "conv", input = "reshape(image, [-1, 8, 8, 1])", filters = 4, kernel = [3, 3] },
          { type = "batch_norm" }, { type = "max_pool2d" },
          { type = "conv2d", name = "side", input = "conv", filters = 4, kernel = 1, strides = 2 },
          { type = "flatten", input = "max_pool2d_3 + side" },
          { type = "attention", input = ["tokens", "tokens + 1.0"], heads = 2 }]
[model.graph]
tokens = "reshape(flatten_5, [-1, 8, 8])"
scores = "relu(nn.dense(nn.flatten(output), 10, bias=false) + nn.dense(image, units=10))"
loss = "mean(scores) + l2_loss(scores_dense_weights)"
)toml"));
  BOOST_REQUIRE_MESSAGE(config.ok(), config.status().text());
  const std::string weights = weights_of(*config, test::op_library()->ops);
  for (const char* line : {"conv_weights float[3,3,1,4]\n", "batch_norm_2_moving_variance float[4]\n",
                           "side_weights float[1,1,4,4]\n", "attention_6_query_weights float[8,8]\n",
                           "scores_dense_weights float[64,10]\n", "scores_dense_1_bias float[10]\n"})
    BOOST_TEST(weights.find(line) != std::string::npos, line << " is not in\n" << weights);
}

BOOST_AUTO_TEST_CASE(sequences_are_convolved_and_read_in_both_directions) {
  const auto config = parse(with_model(R"toml([model]
layers = [{ type = "conv1d", input = "reshape(image, [-1, 8, 8])", filters = 6, kernel = 3, padding = "CAUSAL" },
          { type = "group_norm", groups = 2 }, { type = "max_pool1d" }, { type = "position_embedding", steps = 4 },
          { type = "attention", heads = 2 },
          { type = "gru", units = 5, bidirectional = true, sequences = true }, { type = "global_max_pool1d" }]
[model.graph]
large = "nn.upsample2d(reshape(image, [-1, 8, 8, 1]), size=[3, 2], method='bilinear')"
loss = "mean(nn.dense(output, units=1)) + mean(nn.global_max_pool2d(large))"
)toml"));
  BOOST_REQUIRE_MESSAGE(config.ok(), config.status().text());
  const std::string weights = weights_of(*config, test::op_library()->ops);
  for (const char* line : {"conv1d_1_weights float[3,8,6]\n", "group_norm_2_gamma float[6]\n",
                           "position_embedding_4_weights float[4,6]\n", "gru_6_weights float[6,15]\n",
                           "gru_6_backward_recurrent float[5,15]\n", "loss_dense_weights float[10,1]\n"})
    BOOST_TEST(weights.find(line) != std::string::npos, line << " is not in\n" << weights);
}

BOOST_AUTO_TEST_CASE(recurrent_layers_have_options_of_their_own) {
  const std::string text = with_model(R"toml([model]
layers = [{ type = "rnn", input = "reshape(image, [-1, 8, 8])", units = 6, activation = "relu", sequences = true },
          { type = "gru", units = 5, reset_after = false, bidirectional = true }]
[model.graph]
loss = "mean(nn.dense(output, units=1)) + mean(nn.rnn(reshape(image, [-1, 8, 8]), label, units=2))"
)toml");
  const auto config = parse(text);
  BOOST_REQUIRE_MESSAGE(config.ok(), config.status().text());
  const std::string weights = weights_of(*config, test::op_library()->ops);
  for (const char* line :
       {"rnn_1_weights float[8,6]\n", "rnn_1_recurrent float[6,6]\n", "rnn_1_bias float[6]\n",
        "gru_2_weights float[6,15]\n", "gru_2_backward_recurrent float[5,15]\n",
        "gru_2_backward_bias float[15]\n", "loss_rnn_recurrent float[2,2]\n"})
    BOOST_TEST(weights.find(line) != std::string::npos, line << " is not in\n" << weights);
  BOOST_TEST(weights.find("recurrent_bias") == std::string::npos);
  const auto wrong = [&](std::string_view part, std::string_view instead) {
    std::string changed = text;
    return mistakes(changed.replace(changed.find(part), part.size(), instead));
  };
  BOOST_TEST(wrong("\"relu\"", "\"elu\"").find("model.layers.0.activation: \"elu\" is unknown") !=
             std::string::npos);
  BOOST_TEST(wrong("\"rnn\"", "\"lstm\"").find("model.layers.0.activation: unknown key") !=
             std::string::npos);
  BOOST_TEST(
      wrong("units=2", "units=2, activation='elu'").find("activation is 'elu'; it must be tanh or relu") !=
      std::string::npos);
}

BOOST_AUTO_TEST_CASE(mistakes_in_calls_of_layers_name_layer_and_option) {
  const auto mistake = [](const std::string& expression) {
    const std::string text = mistakes(with_model("[model.graph]\nloss = '" + expression + "'\n"));
    return text.substr(0, text.find('\n'));
  };
  BOOST_TEST(mistake("mean(nn.dens(image, 10))") ==
             "run.toml:9:14: there is no layer 'dens'; the nearest is 'dense'");
  BOOST_TEST(mistake("mean(nn.dense(image))") ==
             "run.toml:9:14: nn.dense: missing: units (number of outputs for each sample)");
  BOOST_TEST(mistake("mean(nn.dense(image, unit=3))") ==
             "run.toml:9:14: nn.dense: unknown option 'unit'; the nearest is 'units'");
  BOOST_TEST(mistake("mean(nn.dense(image, 3, units=3))") ==
             "run.toml:9:14: nn.dense: option 'units' is given twice");
  BOOST_TEST(mistake("mean(nn.dense(image, \"many\"))") == "run.toml:9:14: units: expected an integer");
  BOOST_TEST(mistake("mean(nn.dense(3, 4))") ==
             "run.toml:9:14: nn.dense: expected a tensor as the first argument");
  BOOST_TEST(mistake("mean(nn.dense(image, -1))") ==
             "run.toml:9:14: layer 'loss_dense' (dense): units is -1; it must be positive");
  BOOST_TEST(mistake("mean(nn.conv2d(image, 3, [3, 3]))") ==
             "run.toml:9:14: layer 'loss_conv2d' (conv2d): the input has shape [?,?]; its rank must be 4; "
             "reshape(x, [-1, height, width, channels]) "
             "makes images of rows");
  BOOST_TEST(
      mistake("mean(nn.dropout(image, rate=1))") ==
      "run.toml:9:14: layer 'loss_dropout' (dropout): rate is 1.000000; it must be at least 0 and below 1");
}

/// Returns a file with a model of two layers. `input` is the line that sets their input, and `more` adds definitions.
std::string layered(const std::string& input, const std::string& more = {}) {
  std::string text = good;
  const size_t begin = text.find("[model.variables]"), end = text.find("[train]");
  return text.replace(begin, end - begin,
                      "[model]\n" + input +
                          "layers = [{ type = 'dense', units = 10 }, { type = 'dense', units = 3 }]\n"
                          "[model.variables]\nv = { shape = [3], init = 'zeros' }\n"
                          "[model.graph]\nloss = 'mean(output)'\n" +
                          more);
}

BOOST_AUTO_TEST_CASE(the_first_layer_takes_any_tensor) {
  const auto first_line = [](const std::string& text) { return text.substr(0, text.find('\n')); };
  BOOST_TEST(mistakes(layered("input = 'image'\n")) == "");
  BOOST_TEST(mistakes(layered("input = 'scaled'\n", "scaled = 'image * 2.0'\n")) == "");
  BOOST_TEST(first_line(mistakes(layered("input = 'imgae'\n"))) ==
             "run.toml:10:11: unknown name 'imgae'; the nearest is 'image'");
  BOOST_TEST(first_line(mistakes(layered(""), {"data.inputs={ pixels = { from = 'image' } }"}))
                 .starts_with("run.toml:9:11: unknown name 'image'"));
}

BOOST_AUTO_TEST_CASE(a_name_that_a_layer_takes_is_no_name_for_anything_else) {
  const auto first_line = [](const std::string& text) { return text.substr(0, text.find('\n')); };
  const std::string share = "; names of inputs, variables, definitions and layers must differ";
  BOOST_TEST(first_line(mistakes(layered("", "dense_1 = 'image'\n"))) ==
             "run.toml:9:11: model: 'dense_1' names two things, this layer and definition at run.toml:14:11" +
                 share);
  BOOST_TEST(first_line(mistakes(layered("", "output = 'image'\n"))) ==
             "run.toml:9:43: model: 'output' names two things, this layer and definition at run.toml:14:10" +
                 share);
  BOOST_TEST(
      first_line(mistakes(layered(""), {"model.variables.dense_2_bias={ shape = [3], init = 'zeros' }"})) ==
      "run.toml:9:43: model: 'dense_2_bias' names two things, this variable of the layer and variable at "
      "--set model.variables.dense_2_bias" +
          share);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::config::model_layers_test
