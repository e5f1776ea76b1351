#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <map>

#include "apps/config/cluster_file.h"
#include "apps/config/layer_calls.h"
#include "apps/config/layer_notes.h"
#include "tests/apps/config/run_file.h"

namespace troupe::config::config_test {
namespace {

/// Returns the valid file with one line, given by its beginning, replaced by other lines.
std::string with(std::string_view beginning, std::string_view line) {
  std::string text = good;
  const size_t begin = text.find('\n' + std::string(beginning)) + 1;
  return text.replace(begin, text.find('\n', begin) - begin, line);
}

BOOST_AUTO_TEST_SUITE(run_files)

BOOST_AUTO_TEST_CASE(a_good_file_is_read) {
  const auto config = parse(good);
  BOOST_REQUIRE_MESSAGE(config.ok(), config.status().text());
  BOOST_TEST(config->run.name == "digits");
  BOOST_TEST(config->run.seed == 7u);
  BOOST_TEST(config->run.directory == "runs");
  BOOST_TEST(config->data.train == std::vector<std::string>({"/data/digits.csv"}),
             boost::test_tools::per_element());
  BOOST_TEST(config->data.valid_split == 0.2);
  BOOST_TEST(config->data.scale == 0.0625);
  BOOST_TEST((config->data.format_options == data::FormatOptions{{"delimiter", ","},
                                                                 {"header", false},
                                                                 {"label", "last"},
                                                                 {"quotes", true},
                                                                 {"decimal", "."},
                                                                 {"dates", "iso"},
                                                                 {"unlabelled", "error"}}));
  BOOST_TEST(config->batch == 64);
  BOOST_TEST(config->shuffle);
  BOOST_REQUIRE(config->model.variables.size() == 3u);
  BOOST_TEST(config->model.variables[2].name == "w2");
  BOOST_TEST(config->model.variables[2].shape == std::vector<int64_t>({100, 10}),
             boost::test_tools::per_element());
  BOOST_TEST(config->model.variables[2].initializer.type == "normal");
  BOOST_TEST(config->model.variables[2].initializer.stddev == 0.1);
  BOOST_TEST(config->model.variables[2].trainable);
  BOOST_TEST(config->model.graph[0].name == "loss");
  BOOST_TEST(config->train.optimizer.type == "adam");
  BOOST_TEST(config->train.optimizer.learning_rate == 3e-3);
  BOOST_TEST(config->train.optimizer.hyperparameters.at("beta2") == 0.999);
  BOOST_TEST(config->train.max_epochs.value() == 40);
  BOOST_TEST(!config->train.max_steps.has_value());
  BOOST_TEST(config->train.early_stop->monitor.higher_is_better);
  BOOST_TEST(config->train.early_stop->monitor.patience == 6);
  BOOST_TEST((config->train.replication.mode == ReplicationMode::Sync));
  BOOST_TEST(config->train.replication.shards == 2);
  BOOST_TEST(config->train.checkpoint.every.steps == 500);
  BOOST_TEST(config->train.checkpoint.on_signal);
  BOOST_TEST(config->cluster.tasks.at("worker") == 2);
}

BOOST_AUTO_TEST_CASE(ten_mistakes_are_told_at_once_in_file_order) {
  const std::string text = R"toml(run = { name = "digits", seed = -7 }
[data]
format = "cvs"
trian = ["digits.csv"]
valid = { split = 1.5 }
batch = "many"
[model.variables]
w1 = { shape = [64, 100], init = "glorot" }
w2 = { shape = [101, 10], init = "normal", value = 3 }
[model.graph]
loss = "mean(logit)"
	logits = "\u0072elu(matmul(\"hidden, w2)"
hidden = "rleu(matmul(image, w1, transpoze_a = true))"
[train]
loss = "loss"
optimizer = { type = "rmsprp" }
fault = { heartbeat = "10ms" }
)toml";
  const std::string expected = R"toml(run.toml:1:33: run.seed: expected an integer, at least 0; found -7
  run = { name = "digits", seed = -7 }
                                  ^
run.toml:2:1: data.train: missing: files to train on, or patterns with *, ? and [...] (a path or a list of paths)
  [data]
  ^
run.toml:3:10: data.format: "cvs" is unknown; allowed: "csv", "fixed", "idx", "images", "lines", "npy", "npz", "sounds", "tfrecord"; the nearest is 'csv'
  format = "cvs"
           ^
run.toml:4:1: data.trian: unknown key; the nearest is 'train'
  trian = ["digits.csv"]
  ^
run.toml:5:19: data.valid.split: expected a number, above 0 and below 1; found 1.5
  valid = { split = 1.5 }
                    ^
run.toml:6:9: data.batch: expected an integer, at least 1 and at most 16777216; found "many"
  batch = "many"
          ^
run.toml:8:34: model.variables.w1.init: "glorot" is unknown; allowed: "zeros", "ones", "constant", "uniform", "normal", "truncated_normal", "glorot_uniform", "glorot_normal", "he_uniform", "he_normal", "lecun_normal", "orthogonal"; write "glorot_uniform"
  w1 = { shape = [64, 100], init = "glorot" }
                                   ^
run.toml:9:44: model.variables.w2.value: allowed only with init = "constant"
  w2 = { shape = [101, 10], init = "normal", value = 3 }
                                             ^
run.toml:11:14: unknown name 'logit'; the nearest is 'logits'
  loss = "mean(logit)"
               ^
run.toml:12:42: the quotes are not closed; found the end
  	logits = "\u0072elu(matmul(\"hidden, w2)"
  	                                        ^
run.toml:13:11: there is no function 'rleu'; the nearest is 'relu'
  hidden = "rleu(matmul(image, w1, transpoze_a = true))"
            ^
run.toml:13:16: matmul: no parameter is called 'transpoze_a'; usage: matmul(a, b, transpose_a = false, transpose_b = false)
  hidden = "rleu(matmul(image, w1, transpoze_a = true))"
                 ^
run.toml:14:1: train: missing: max_epochs or max_steps
  [train]
  ^
run.toml:16:13: train.optimizer.lr: missing: learning rate (a number, above 0)
  optimizer = { type = "rmsprp" }
              ^
run.toml:16:22: train.optimizer.type: "rmsprp" is unknown; the nearest is 'rmsprop'
  optimizer = { type = "rmsprp" }
                       ^
run.toml:17:23: train.fault.heartbeat: expected a time such as "60s", "200ms", "5m" or "1h", at least 0.02 s and at most 60 s; found "10ms"
  fault = { heartbeat = "10ms" }
                        ^)toml";
  BOOST_TEST(mistakes(text) == expected);
  BOOST_TEST((parse(text).status().code() == Code::InvalidArgument));
}

/// Returns the first line of the error after one line of the valid file has been replaced.
std::string about(std::string_view beginning, std::string_view line) {
  const std::string all = mistakes(with(beginning, line));
  return all.substr(0, all.find('\n'));
}

BOOST_AUTO_TEST_CASE(each_rule_between_keys_has_its_word) {
  BOOST_TEST(about("valid", "valid = { split = 0.2, files = 'a' }") ==
             "run.toml:6:32: data.valid: expected either split or files, found both");
  BOOST_TEST(about("valid", "valid = {}") == "run.toml:6:9: data.valid: missing: split or files");
  BOOST_TEST(about("valid", "label = 'y'") ==
             "run.toml:6:9: data.label: a column can be given by name only with header = true or names");
  BOOST_TEST(about("valid", "shuffle = true") ==
             "run.toml:21:26: train.early_stop.monitor: 'valid/accuracy' needs data.valid");
  BOOST_TEST(
      about("valid", "inputs = { x = { from = 'image', shape = [8, 0] } }") ==
      "run.toml:6:42: data.inputs.x.shape: expected a list of integers, each at least 1; found [8, 0]");
  BOOST_TEST(about("valid", "inputs = { x = {} }") ==
             "run.toml:6:12: data.inputs.x: the data has no column 'x'; known: image, label");
  BOOST_TEST(about("b1", "b1 = { shape = [100], init = 'uniform', min = 2 }") ==
             "run.toml:10:47: model.variables.b1.min: it is above max");
  BOOST_TEST(about("b1", "b1 = { shape = [100], init = 'constant' }") ==
             "run.toml:10:6: model.variables.b1.value: missing: value of every element (a number)");
  BOOST_TEST(
      about("b1", "2b = { shape = [100], init = 'zeros' }") ==
      "run.toml:10:1: model.variables.2b: a name consists of letters, digits and '_', and does not start "
      "with a digit");
  BOOST_TEST(about("b1", "b1 = 3") == "run.toml:10:6: model.variables.b1: expected a table; found 3");
  BOOST_TEST(
      about("b1", "image = { shape = [100], init = 'zeros' }") ==
      "run.toml:10:1: model: 'image' names two things, this variable and an input of the data; names of "
      "inputs, variables, definitions and layers must differ");
  BOOST_TEST(
      about("b1", "logits = { shape = [100], init = 'zeros' }")
          .starts_with("run.toml:14:10: model: 'logits' names two things, this definition and variable "
                       "at run.toml:10:1;"));
  BOOST_TEST(
      about("metrics", "metrics = { loss = 'loss' }") ==
      "run.toml:19:13: train.metrics.loss: the name 'loss' is taken: train.loss is always reported under it");
  BOOST_TEST(about("in_process", "in_process = { ps = 1, wroker = 2 }") ==
             "run.toml:25:24: cluster.in_process.wroker: job 'wroker' takes no part in training; the nearest "
             "is 'worker'");
  BOOST_TEST(about("early", "early_stop = { monitor = 'valid/acuracy', mode = 'max', patience = 1 }") ==
             "run.toml:21:26: train.early_stop.monitor: there is no metric 'valid/acuracy'; the nearest is "
             "'valid/accuracy'");
  BOOST_TEST(about("replication", "replication = { mode = 'sync', shards = 65 }") ==
             "run.toml:22:41: train.replication.shards: 65 shards are more than the samples of a batch, "
             "data.batch = 64");
  BOOST_TEST(about("replication", "replication = { mode = 'sync', shards = 2, backup_workers = 2 }") ==
             "run.toml:22:61: train.replication.backup_workers: a round would wait for none of the 2 shards; "
             "allowed: 0 to 1");
  BOOST_TEST(
      about("replication", "replication = { mode = 'local', shards = 2 }") ==
      "run.toml:22:33: train.replication.shards: allowed only with mode = \"auto\", \"sync\", \"async\", "
      "\"ssp\", \"hogwild\", \"allreduce\", \"local_sgd\"");
  BOOST_TEST(about("replication", "replication = { mode = 'local_sgd' }")
                 .starts_with("run.toml:22:15: train.replication.average_every: missing: number of steps"));
  BOOST_TEST(about("replication", "replication = { mode = 'sync', average_every = 4 }") ==
             "run.toml:22:32: train.replication.average_every: allowed only with mode = \"local_sgd\"");
  BOOST_TEST(
      about("replication", "replication = { mode = 'ssp', compression = 'topk' }") ==
      "run.toml:22:31: train.replication.compression: allowed only with mode = \"sync\", \"allreduce\"");
  BOOST_TEST(about("replication", "replication = { mode = 'allreduce', combine = 'median' }") ==
             "run.toml:22:37: train.replication.combine: allowed only with mode = \"sync\"");
  const auto about_combination = [](const std::string& expression) {
    return about("replication", "replication = { mode = 'sync', combine = '" + expression + "' }");
  };
  BOOST_TEST(about_combination("(mean + median) / 2").empty());
  BOOST_TEST(about_combination("middle") ==
             "run.toml:22:43: unknown name 'middle'; known: gradients, mean, median, samples, sorted");
  BOOST_TEST(about_combination("random_shuffle(mean)").find("draws random numbers") != std::string::npos);
  BOOST_TEST(about_combination("argmax(gradients, 0)").find("expected (float)") != std::string::npos);
  BOOST_TEST(about("replication", "replication = { mode = 'allreduce', keep = 0.1 }") ==
             "run.toml:22:37: train.replication.keep: allowed only with compression = \"topk\"");
  BOOST_TEST(about("replication", "replication = { mode = 'allreduce', compression = 'topk', keep = 0 }") ==
             "run.toml:22:66: train.replication.keep: expected a number, above 0 and at most 1; found 0.0");
  BOOST_TEST(
      about("replication", "replication = { mode = 'sync', shard_optimizer = true }")
          .starts_with("run.toml:22:32: train.replication.shard_optimizer: allowed only with mode = "));
  BOOST_TEST(about("replication",
                   "replication = { mode = 'local_sgd', average_every = 4, outer = { type = 'sgd', lr = 1, "
                   "momentum = 0.9 } }") ==
             "run.toml:22:88: train.replication.outer.momentum: unknown key; write type = \"momentum\", "
             "which has it");
  BOOST_TEST(about("checkpoint", "checkpoint = { every = '0s' }")
                 .starts_with("run.toml:23:24: train.checkpoint.every: expected a time"));
  BOOST_TEST(
      about("loss = \"loss", "loss = 'logits'") ==
      "run.toml:17:9: loss is float[?,10]; it must be a scalar of a floating type; mean(...) of it is one");
  BOOST_TEST(about("loss = \"loss", "loss = 'mean(label)'") ==
             "run.toml:17:9: loss is int32[]; it must be a scalar of a floating type; cast(..., 'float') of "
             "it is one");
  BOOST_TEST(about("loss = \"loss", "loss = 'softmax_crossentropy'") ==
             "run.toml:17:9: unknown loss 'softmax_crossentropy'; write \"softmax_cross_entropy\"");
  BOOST_TEST(about("loss = \"loss", "loss = 'los'") == "run.toml:17:9: unknown loss 'los'; write \"loss\"");
  BOOST_TEST(
      about("loss = \"loss", "loss = 'xyz'") ==
      "run.toml:17:9: unknown loss 'xyz'; known: binary_cross_entropy, cosine_distance, focal_loss, hinge, "
      "huber, kl_divergence, log_cosh, mean_absolute_error, mean_absolute_percentage_error, "
      "mean_squared_error, mean_squared_log_error, poisson_loss, quantile_loss, softmax_cross_entropy, "
      "squared_hinge");
  BOOST_TEST(about("hidden", "hidden = 'relu(matmul(image, w2) + b1)'") ==
             "run.toml:15:34: [Add] hidden/Add: shapes [?,10] and [100] do not broadcast");
  BOOST_TEST(
      about("in_process", "in_process = { ps = 0 }") ==
      "run.toml:25:21: cluster.in_process.ps: expected an integer, at least 1 and at most 64; found 0");
  BOOST_TEST(
      about("batch", "batch = 1979-05-27").starts_with("run.toml:7:9: data.batch: expected an integer"));
}

BOOST_AUTO_TEST_CASE(what_was_refused_draws_no_second_complaint) {
  const auto count = [](const std::string& text) {
    size_t lines = 0;
    for (size_t at = text.find("run.toml:"); at != std::string::npos; at = text.find("run.toml:", at + 1))
      ++lines;
    return lines;
  };
  for (const auto& [beginning, line] : std::vector<std::pair<const char*, const char*>>{
           {"[model.variables]", "[model.variabels]"},
           {"[model.graph]", "[model.grahp]"},
           {"hidden", "hidden = 'relu(matmul(image, w1 + b1)'"},
           {"hidden", "hidden = 3"},
           {"w1", "w1 = { shape = [64, 'x'], init = 'zeros' }"},
           {"w1", "w1 = 'zeros'"},
           {"valid", "valid = { split = 7 }"},
           {"max_epochs", "max_epochs = 'x'"},
           {"optimizer", "optimizer = { type = 'adm', lr = 1, beta1 = 0.5 }"},
           {"format", "format = 'arrow'"}})
    BOOST_TEST(count(mistakes(with(beginning, line))) == 1u, line << ":\n"
                                                                  << mistakes(with(beginning, line)));
}

BOOST_AUTO_TEST_CASE(keys_of_optimizers_and_schedules_depend_on_the_type) {
  const auto config = parse(with(
      "optimizer",
      "optimizer = { type = 'ftrl', lr = 1, l1 = 2, power = -1 }\n"
      "schedule = { type = 'piecewise', boundaries = [5, 9], factors = [1, 0.5, 0.1], warm_up = 3 }\n"
      "loss_scale = { type = 'fixed', value = 8 }\nclip = { norm = 2 }\nweight_decay = 0.5\naverage = 0.99\n"
      "plateau = { monitor = 'valid/loss', mode = 'min', patience = 2, factor = 0.5 }"));
  BOOST_REQUIRE_MESSAGE(config.ok(), config.status().text());
  const auto& train = config->train;
  BOOST_TEST(train.optimizer.hyperparameters.at("l1") == 2);
  BOOST_TEST(train.optimizer.hyperparameters.at("initial_accumulator") == 0.1);
  BOOST_TEST(train.schedule->factors == std::vector<double>({1, 0.5, 0.1}), boost::test_tools::per_element());
  BOOST_TEST(train.schedule->warm_up == 3);
  BOOST_TEST(train.loss_scale->scale == 8);
  BOOST_TEST(train.clip.norm.value() == 2);
  BOOST_TEST(train.weight_decay == 0.5);
  BOOST_TEST(train.average.value() == 0.99);
  BOOST_TEST(train.plateau->factor == 0.5);
  BOOST_TEST(train.plateau->monitor.patience == 2);

  const auto unlimited = parse(with("max_epochs", "max_epochs = 40\nclip = { global_norm = inf }"));
  BOOST_REQUIRE_MESSAGE(unlimited.ok(), unlimited.status().text());
  BOOST_TEST(std::isinf(unlimited->train.clip.global_norm.value()));

  BOOST_TEST(about("optimizer", "optimizer = { type = 'sgd', lr = 1, beta1 = 0.5 }") ==
             "run.toml:18:37: train.optimizer.beta1: unknown key; known: type, lr");
  BOOST_TEST(about("optimizer", "optimizer = { type = 'adam', lr = 1, beta1 = 1 }") ==
             "run.toml:18:46: train.optimizer.beta1: expected a number, at least 0 and below 1; found 1.0");
  const auto with_schedule = [](const std::string& rest) {
    return about("max_epochs", "max_epochs = 40\n" + rest);
  };
  BOOST_TEST(
      with_schedule("schedule = { type = 'cosine' }") ==
      "run.toml:21:12: train.schedule.steps: missing: number of updates until the last rate (an integer, "
      "at least 1)");
  BOOST_TEST(
      with_schedule("schedule = { type = 'piecewise', boundaries = [5], factors = [1] }") ==
      "run.toml:21:62: train.schedule.factors: there are 1 factors for 1 boundaries; there must be one "
      "factor more than boundaries");
  BOOST_TEST(with_schedule("schedule = { type = 'piecewise', boundaries = [5, 5], factors = [1, 2, 3] }") ==
             "run.toml:21:47: train.schedule.boundaries: each boundary must be above the one before");
  BOOST_TEST(
      with_schedule("schedule = { type = 'piecewise', boundaries = [], factors = ['x'] }")
          .find("train.schedule.factors: expected a list of numbers, each at least 0; found [\"x\"]") !=
      std::string::npos);
  BOOST_TEST(with_schedule("clip = { norm = 1, value = 1 }") ==
             "run.toml:21:8: train.clip: expected one of value, norm and global_norm; found 2");
  BOOST_TEST(
      with_schedule("plateau = { monitor = 'valid/los', mode = 'min', patience = 1 }")
          .starts_with("run.toml:21:23: train.plateau.monitor: there is no metric 'valid/los'; the nearest "
                       "is 'valid/loss'"));
}

BOOST_AUTO_TEST_CASE(the_mode_of_replication_follows_the_cluster) {
  const auto mode = [](std::map<std::string, int64_t> tasks, bool are_processes,
                       const std::vector<std::string>& given = {"train.replication={}"}) {
    auto config = value_or_throw(parse(good, given));
    config.use_tasks(std::move(tasks), are_processes);
    const std::string text = config.effective_toml();
    const size_t begin = text.find("mode = \"", text.find("replication = {")) + 8;
    return text.substr(begin, text.find('"', begin) - begin);
  };
  BOOST_TEST(mode({}, false) == "local");
  BOOST_TEST(mode({{"worker", 1}}, true) == "local");
  BOOST_TEST(mode({{"worker", 2}}, true) == "allreduce");
  BOOST_TEST(mode({{"worker", 2}}, false) == "sync");
  BOOST_TEST(mode({{"ps", 1}, {"worker", 2}}, true) == "sync");
  BOOST_TEST(mode({}, false, {"train.replication={shards=2}"}) == "sync");
  BOOST_TEST(mode({{"worker", 2}}, true, {"train.replication={mode='local'}"}) == "local");
  BOOST_TEST(mode({{"worker", 2}}, true, {"train.replication={}", "train.optimizer={type='lbfgs',lr=1}"}) ==
             "local");
}

BOOST_AUTO_TEST_CASE(options_are_laid_over_the_file) {
  const auto config =
      parse(good, {"train.optimizer.lr=0.5", "run.name=other", "data.train=[\"/x/a.csv\", \"b.csv\"]",
                   "train.replication={ mode = \"local\" }", "model.graph.hidden=relu(matmul(image, w1))",
                   "run.threads=2"});
  BOOST_REQUIRE_MESSAGE(config.ok(), config.status().text());
  BOOST_TEST(config->train.optimizer.learning_rate == 0.5);
  BOOST_TEST(config->run.name == "other");
  BOOST_TEST(config->run.threads == 2);
  BOOST_TEST(config->data.train == std::vector<std::string>({"/x/a.csv", "/data/b.csv"}),
             boost::test_tools::per_element());
  BOOST_TEST((config->train.replication.mode == ReplicationMode::Local));

  BOOST_TEST(mistakes(good, {"train.optimizer.lr=fast", "train.lr=1", "nonsense", "run.name.x=1", "data..x=1",
                             "data.train=[1", "model.graph.hidden=relu(imag)"}) ==
             "--set train.optimizer.lr: train.optimizer.lr: expected a number, above 0; found \"fast\"\n  "
             "fast\n  ^\n"
             "--set train.lr: train.lr: unknown key; write train.optimizer.lr\n  1\n  ^\n"
             "--set nonsense: expected KEY=VALUE\n"
             "--set run.name.x: the value before 'x' in the key is not a table or list\n  1\n  ^\n"
             "--set data..x: a part of the key is empty\n  1\n  ^\n"
             "--set data.train: Error while parsing array: encountered end-of-file\n  [1\n  ^\n"
             "--set model.graph.hidden: unknown name 'imag'; the nearest is 'image'\n  relu(imag)\n       ^");
}

BOOST_AUTO_TEST_CASE(infinite_numbers_are_refused_at_their_keys) {
  for (const std::string infinite : {"inf", "-inf"}) {
    BOOST_TEST(mistakes(good, {"train.optimizer.lr=" + infinite}) ==
               "--set train.optimizer.lr: train.optimizer.lr: expected a number, above 0; found " + infinite +
                   "; it must be finite\n  " + infinite + "\n  ^");
    BOOST_TEST(mistakes(good, {"data.scale=" + infinite})
                   .starts_with("--set data.scale: data.scale: expected a number; found " + infinite +
                                "; it must be finite"));
  }
  for (const char* const key : {"train.optimizer.epsilon", "train.weight_decay", "train.early_stop.min_delta",
                                "model.variables.w2.stddev"})
    BOOST_TEST(
        mistakes(good, {std::string(key) + "=inf"}).find("found inf; it must be finite") != std::string::npos,
        key);
  BOOST_TEST(mistakes(good, {"train.class_weights=[1, inf]"}).find("; it must be finite") !=
             std::string::npos);
  BOOST_TEST(mistakes(good, {"model.variables.b1={ shape = [100], init = 'constant', value = -inf }"}) == "");
}

BOOST_AUTO_TEST_CASE(the_effective_file_means_the_same) {
  const auto config = parse(good, {"run.seed=9", "run.name=a \"b\"\\"});
  BOOST_REQUIRE(config.ok());
  const std::string effective = config->effective_toml();
  BOOST_TEST(effective.find("beta1 = 0.9") != std::string::npos, effective);
  BOOST_TEST(effective.find("train = [\"/data/digits.csv\"]") != std::string::npos, effective);
  const auto again = parse_run_config(effective, "effective.toml", "/elsewhere", {}, test::op_library()->ops);
  BOOST_REQUIRE_MESSAGE(again.ok(), again.status().text() << effective);
  BOOST_TEST(again->effective_toml() == effective);
  BOOST_TEST(again->run.seed == 9u);
  BOOST_TEST(again->run.name == "a \"b\"\\");
  BOOST_TEST(again->train.optimizer.hyperparameters.at("epsilon") == 1e-8);
}

BOOST_AUTO_TEST_CASE(the_name_of_a_run_is_one_folder) {
  for (const std::string name : {"a/b", "..", ".", "/tmp/x", "a\\nb", "a\\u0000b", "a\\u007fb"})
    BOOST_TEST(mistakes(good, {"run.name=\"" + name + "\""})
                   .starts_with("--set run.name: run.name: expected the name of a folder, without '/'"),
               name);
  BOOST_TEST(mistakes(good, {"run.name=" + std::string(256, 'x')}).find("expected the name") !=
             std::string::npos);
  std::string text = good;
  text.replace(text.find("\"digits\""), 8, "\"../../x\"");
  BOOST_TEST(mistakes(text).starts_with("run.toml:1:16: run.name: expected the name of a folder"));
  for (const std::string name : {"a b", "...", ".hidden", "a..b", "\xc3\xa9"})
    BOOST_TEST(parse(good, {"run.name=" + name}).ok(), name);
}

// For each key with a list of allowed values: the line of the valid file to replace, and a line with a value that is not allowed.
/// Returns whether model.layers may have the layer of an option, "model.layers.LAYER.OPTION".
bool is_listed_layer(std::string_view path) {
  path.remove_prefix(std::string_view("model.layers.").size());
  return ('|' + listed_layer_names() + '|').find('|' + std::string(path.substr(0, path.find('.'))) + '|') !=
         std::string::npos;
}

BOOST_AUTO_TEST_CASE(an_unknown_value_of_any_enumerated_key_is_refused) {
  const std::string variables = " }]\n[model.variables]";
  const auto of_layer = [&](std::string_view path) {  // "model.layers.TYPE.OPTION"
    const auto dot = path.rfind('.'), type = path.rfind('.', dot - 1) + 1;
    return std::pair<std::string, std::string>(
        "[model.variables]", "[model]\nlayers = [{ type = '" + std::string(path.substr(type, dot - type)) +
                                 "', " + std::string(path.substr(dot + 1)) + " = 'xyz'" + variables);
  };
  const auto of_column = [](const std::string& type, const std::string& key) {
    return std::pair<std::string, std::string>(
        "scale", "columns = { x = { type = '" + type + "', " + key + " = 'xyz' } }");
  };
  const std::map<std::string_view, std::pair<std::string, std::string>> lines = {
      {"data.columns.*.type", {"scale", "columns = { x = { type = 'xyz' } }"}},
      {"data.columns.*.number.missing", of_column("number", "missing")},
      {"data.columns.*.number.normalize", of_column("number", "normalize")},
      {"data.columns.*.category.encode", of_column("category", "encode")},
      {"data.columns.*.timestamp.missing", of_column("timestamp", "missing")},
      {"data.format", {"format", "format = 'xyz'"}},
      {"data.delimiter", {"scale", "delimiter = 'xyz'"}},
      {"data.decimal", {"scale", "decimal = 'xyz'"}},
      {"data.dates", {"scale", "dates = 'xyz'"}},
      {"data.compression", {"format", "format = 'tfrecord'\ncompression = 'xyz'"}},
      {"data.read", {"scale", "read = 'xyz'"}},
      {"data.cache", {"scale", "cache = 'xyz'"}},
      {"data.columns.*.type", {"scale", "columns = { x = 'xyz' }"}},
      {"data.columns.*.number.missing", {"scale", "columns = { x = { type = 'number', missing = 'xyz' } }"}},
      {"data.columns.*.number.normalize",
       {"scale", "columns = { x = { type = 'number', normalize = 'xyz' } }"}},
      {"data.columns.*.category.encode",
       {"scale", "columns = { x = { type = 'category', encode = 'xyz' } }"}},
      {"data.columns.*.timestamp.missing",
       {"scale", "columns = { x = { type = 'timestamp', missing = 'xyz' } }"}},
      {"data.ragged.*.standardize", {"scale", "ragged = { x = { standardize = 'xyz' } }"}},
      {"data.ragged.*.dtype", {"scale", "ragged = { x = { dtype = 'xyz' } }"}},
      {"data.inputs.*.from", {"scale", "inputs = { x = { from = 'xyz' } }"}},
      {"data.inputs.*.cast", {"scale", "inputs = { x = { from = 'image', cast = 'xyz' } }"}},
      {"model.variables.*.init", {"b1", "b1 = { shape = [100], init = 'xyz' }"}},
      {"model.variables.*.dtype", {"b1", "b1 = { shape = [100], init = 'zeros', dtype = 'xyz' }"}},
      {"model.layers.type", {"[model.variables]", "[model]\nlayers = [{ type = 'xyz'" + variables}},
      {"train.optimizer.type", {"optimizer", "optimizer = { type = 'xyz', lr = 1 }"}},
      {"train.loss_scale.type", {"max_epochs", "max_epochs = 40\nloss_scale = 'xyz'"}},
      {"train.schedule.type", {"max_epochs", "max_epochs = 40\nschedule = { type = 'xyz' }"}},
      {"train.plateau.mode",
       {"max_epochs", "max_epochs = 40\nplateau = { monitor = 'valid/loss', mode = 'xyz', patience = 1 }"}},
      {"train.early_stop.mode",
       {"early_stop", "early_stop = { monitor = 'valid/loss', mode = 'xyz', patience = 1 }"}},
      {"data.unlabelled", {"batch", "batch = 4\nunlabelled = 'xyz'"}},
      {"train.on_nan", {"max_epochs", "max_epochs = 40\non_nan = 'xyz'"}},
      {"train.replication.mode", {"replication", "replication = { mode = 'xyz' }"}},
      {"train.replication.collectives",
       {"replication", "replication = { mode = 'allreduce', collectives = 'xyz' }"}},
      {"train.replication.compression",
       {"replication", "replication = { mode = 'allreduce', compression = 'xyz' }"}},
      {"train.replication.outer.type",
       {"replication",
        "replication = { mode = 'local_sgd', average_every = 2, outer = { type = 'xyz', lr = 1 } }"}}};
  for (const Key& key : run_schema()) {
    if (key.kind != Kind::Choice) continue;
    const bool is_option = std::ranges::count(key.path, '.') == 3 && key.path.starts_with("model.layers.");
    if (is_option && !is_listed_layer(key.path)) continue;  // of a loss, which only expressions call
    BOOST_TEST_REQUIRE((is_option || lines.contains(key.path)), key.path);
    const auto& [beginning, line] = is_option ? of_layer(key.path) : lines.at(key.path);
    const std::string text = with(beginning, line), told = mistakes(text);
    const auto row =
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find("xyz")), '\n') + 1;
    const std::string leaf(key.path.substr(key.path.rfind('.') + 1));
    BOOST_TEST(told.starts_with("run.toml:" + std::to_string(row) + ":"), told);
    BOOST_TEST(told.find(leaf + ": \"xyz\" is unknown; allowed: \"") != std::string::npos, told);
  }
  BOOST_TEST(std::ranges::none_of(cluster_schema(), [](const Key& key) { return key.kind == Kind::Choice; }));
}

BOOST_AUTO_TEST_CASE(options_of_another_format_are_refused) {
  BOOST_TEST(mistakes(with("format", "format = 'idx'\nheader = true"))
                 .find("run.toml:4:1: data.header: allowed only with format = \"csv\"") != std::string::npos);
  BOOST_TEST(mistakes(with("scale", "train_labels = 'l'"))
                 .find("run.toml:5:16: data.train_labels: format \"csv\" has no label files") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_reference_tells_every_key) {
  const std::string text = reference(run_schema());
  for (const auto& key : run_schema())
    BOOST_TEST(text.find(std::string(key.path) + ": ") != std::string::npos, key.path);
  BOOST_TEST(text.find("train.optimizer.adam.beta1: a number, at least 0 and below 1; default 0.9\n") !=
             std::string::npos);
  BOOST_TEST(text.find("train.optimizer.momentum.nesterov: true or false; default false\n") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(hostile_files_are_refused) {
  const auto first_line = [](const std::string& text) {
    const std::string all = mistakes(text);
    return all.substr(0, all.find('\n'));
  };
  const auto repeated = [](std::string_view part, size_t times) {
    std::string out;
    for (size_t i = 0; i < times; ++i) out += part;
    return out;
  };
  BOOST_TEST(first_line("a = \"x\n").starts_with("run.toml:1:7: "));
  BOOST_TEST(first_line("a = 1\n\na = 2\n").starts_with("run.toml:3:1: "));
  BOOST_TEST(first_line("a = \"\xff\xfe\"\n").starts_with("run.toml:1:"));
  BOOST_TEST(first_line(std::string("a = 1\0b", 7)).starts_with("run.toml:1:"));
  BOOST_TEST(first_line("a = " + repeated("[", 100000)) ==
             "run.toml:1:69: values are nested deeper than 64 levels");
  BOOST_TEST(first_line(repeated("a.", 100000) + "a = 1")
                 .starts_with("run.toml:1:32: a key has more than 16 parts"));
  BOOST_TEST(first_line("[" + repeated("\"a\" . ", 100000) + "a]").find("a key has more than 16 parts") !=
             std::string::npos);
  BOOST_TEST(first_line(repeated("# text\n", 200000)) ==
             "run.toml:1:1: the file is larger than 1048576 bytes");
  BOOST_TEST(first_line("") == "run.toml:1:1: data: missing: where the samples come from (a table)");
  std::string unknown = "[y]\n";
  for (int i = 0; i < 1000; ++i) unknown += "k" + std::to_string(i) + " = \"unknown\"\n";
  BOOST_TEST(mistakes(unknown).size() < 10000u);
  // The deepest nesting that is allowed: values within values, each under a key of 16 parts.
  const std::string deep = "x = " + repeated("{" + repeated("a.", 15) + "a = ", 64) + "1" + repeated("}", 64);
  BOOST_TEST(first_line(deep).find("x: unknown key") != std::string::npos);
  BOOST_TEST(!mistakes(with("hidden", "hidden = \"" + repeated("(", 10000) + "\"")).empty());
}

BOOST_AUTO_TEST_CASE(places_in_strings_are_those_of_the_raw_text) {
  // The value of each string ends with an unknown name; the text of the file before that name differs.
  const std::pair<const char*, const char*> cases[] = {
      {"hidden = 'relu(nope)'", "run.toml:15:16: "},
      {"hidden = \"relu(nope)\"", "run.toml:15:16: "},
      {"hidden = \"re\\u006cu(\\tnope)\"", "run.toml:15:23: "},
      {"hidden = \"\"\"relu(nope)\"\"\"", "run.toml:15:18: "},
      {"hidden = '''\nrelu(nope)'''", "run.toml:16:6: "},
      {"hidden = \"\"\"\n  relu(\\\n    nope)\"\"\"", "run.toml:17:5: "},
      {"\"hidden\" = \"add('\xc3\xa9', nope)\"", "run.toml:15:22: "},
  };
  for (const auto& [line, place] : cases) {
    const std::string all = mistakes(with("hidden", line));
    BOOST_TEST(all.find(std::string(place) + "unknown name 'nope'") != std::string::npos, line << ":\n"
                                                                                               << all);
  }
}

BOOST_AUTO_TEST_CASE(every_layer_is_explained) {
  std::string names = config::layer_names();
  for (std::string name; !names.empty(); names.erase(0, name.size() + 1)) {
    name = names.substr(0, names.find('|'));
    BOOST_TEST(!config::layer_note(name).meaning.empty(), name);
  }
  BOOST_TEST(config::layer_note("nothing").meaning.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::config::config_test
