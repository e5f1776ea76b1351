// Fine-tuning: runs whose weights begin with those of another model, some of them frozen, in one process and over clusters.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <filesystem>

#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/train/digits_runs.h"

namespace troupe::fine_tuning_test {
namespace {

using test::Program;

struct Fixture : test::DigitsRuns {
  std::string path(const std::string& name) const { return folder.path() + '/' + name; }
  std::string end_of(const Arguments& arguments, int code = 0) const {
    Program program(test::troupe_program(), arguments);
    BOOST_TEST_REQUIRE(program.end() == code, program.output());
    return program.output();
  }
  std::string train(const std::string& name, const Arguments& set, const std::string& example,
                    const Arguments& more = {}, int code = 0) const {
    Arguments all;
    for (const std::string& one : set) {
      all.push_back("--set");
      all.push_back(one);
    }
    all.insert(all.end(), more.begin(), more.end());
    return end_of(run("train", name, all, example), code);
  }
  /// Returns the value of a variable at the end of a run.
  Tensor value(const std::string& name, const std::string& variable) {
    const auto checkpoint = test::with_joined_parts(weights(name));
    const auto found = std::ranges::find(checkpoint.tensors, variable, &SavedTensor::name);
    BOOST_TEST_REQUIRE((found != checkpoint.tensors.end()), name << " has a variable " << variable);
    return found->value;
  }
  void check_same(const std::string& name, const std::string& other, const std::string& variable, bool same) {
    BOOST_TEST(identical(value(name, variable), value(other, variable)) == same, variable << " of " << name);
  }
};

const std::vector<std::string> one_epoch = {"train.max_epochs=1"};

std::vector<std::string> with(std::vector<std::string> set, const std::vector<std::string>& more) {
  set.insert(set.end(), more.begin(), more.end());
  return set;
}

BOOST_FIXTURE_TEST_SUITE(fine_tuning, Fixture)

BOOST_AUTO_TEST_CASE(frozen_layers_keep_their_values_and_the_others_are_trained) {
  train("source", one_epoch, "digits_cnn");
  const std::string output = train(
      "tuned",
      with(one_epoch, {"model.init_from=" + path("source"), "model.init_except=dense_9",
                       "model.freeze=[\"conv2d_?\", \"batch_norm_3\"]", "train.early_stop.keep_best=false"}),
      "digits_cnn");
  BOOST_TEST(output.find("12 weights begin with the values in " + path("source")) != std::string::npos,
             output);
  for (const char* const frozen :
       {"conv2d_1_weights", "conv2d_1_bias", "conv2d_2_weights", "conv2d_5_weights", "batch_norm_3_gamma",
        "batch_norm_3_moving_mean", "batch_norm_3_moving_variance"})
    check_same("tuned", "source", frozen, true);
  for (const char* const trained : {"batch_norm_6_beta", "batch_norm_6_moving_mean", "dense_9_weights"})
    check_same("tuned", "source", trained, false);
}

BOOST_AUTO_TEST_CASE(every_kind_of_training_begins_with_the_stored_values) {
  train("source", one_epoch, "digits");
  const auto set = with(one_epoch, {"model.init_from=" + path("source"), "train.optimizer.lr=1e-20"});
  for (const char* const mode : {"local", "sync", "async", "allreduce", "local_sgd"}) {
    const std::string servers =
        mode == std::string("allreduce") || mode == std::string("local_sgd") ? "" : "ps=1,";
    const Arguments cluster =
        mode == std::string("local") ? Arguments{} : Arguments{"--local", servers + "worker=2"};
    auto more = with(set, {std::string("train.replication={ mode = \"") + mode + "\" }"});
    if (mode == std::string("local_sgd"))
      more.back() = "train.replication={ mode = \"local_sgd\", average_every = 4 }";
    train(mode, more, "digits", cluster);
    check_same(mode, "source", "w1", true);
    check_same(mode, "source", "b2", true);
  }
}

BOOST_AUTO_TEST_CASE(factors_count_in_every_kind_of_training) {
  for (const std::string mode : {"local", "sync", "async", "allreduce", "local_sgd"}) {
    const std::string servers = mode == "allreduce" || mode == "local_sgd" ? "" : "ps=1,";
    const Arguments cluster = mode == "local" ? Arguments{} : Arguments{"--local", servers + "worker=2"};
    const std::string more = mode == "local_sgd" ? ", average_every = 4" : "";
    train(mode,
          with(one_epoch, {"train.replication={ mode = \"" + mode + "\"" + more + " }",
                           "train.weight_decay=0.01", "train.factors.lr={ \"b?\" = 0 }"}),
          "digits", cluster);
    for (const float bias : value(mode, "b2").as<float>()) BOOST_TEST(bias == 0, mode);
    BOOST_TEST(!identical(value(mode, "w2"), value("local", "b2")));
  }
}

BOOST_AUTO_TEST_CASE(factors_leave_weights_out_of_the_decay) {
  const auto decay = with(one_epoch, {"train.weight_decay=0.1"});
  train("plain", one_epoch, "digits");
  train("decayed", decay, "digits");
  train("left_out", with(decay, {"train.factors.weight_decay={ \"*\" = 0 }"}), "digits");
  train("half",
        with(decay, {"train.factors.weight_decay={ \"*\" = 2, \"w?\" = 0.25, b1 = 0.25, b2 = 0.25 }"}),
        "digits");
  train("as_half", with(one_epoch, {"train.weight_decay=0.05"}), "digits");
  for (const char* const weight : {"w1", "b1", "w2", "b2"}) {
    check_same("left_out", "plain", weight, true);
    check_same("decayed", "plain", weight, false);
    check_same("half", "as_half", weight, true);
  }
}

BOOST_AUTO_TEST_CASE(a_resumed_run_needs_the_source_no_more) {
  train("source", one_epoch, "digits");
  const auto set = with({"train.optimizer.lr=1e-20"}, {"model.init_from=" + path("source")});
  train("tuned", with(set, one_epoch), "digits");
  std::filesystem::rename(path("source"), path("elsewhere"));
  train("tuned", with(set, {"train.max_epochs=2"}), "digits", {"--resume", path("tuned") + "/001"});
}

BOOST_AUTO_TEST_CASE(parts_of_a_table_begin_with_its_rows) {
  train("source", one_epoch, "ratings");
  train("tuned", with(one_epoch, {"model.init_from=" + path("source"), "train.optimizer.lr=1e-20"}),
        "ratings", {"--local", "ps=2,worker=2"});
  check_same("tuned", "source", "user_weights", true);
  check_same("tuned", "source", "item_weights", true);
}

BOOST_AUTO_TEST_CASE(a_file_of_another_framework_is_a_source) {
  train("source", one_epoch, "digits");
  const std::string file = path("exported.safetensors");
  end_of({"export", path("source"), file});
  train("tuned", with(one_epoch, {"model.init_from=" + file, "train.optimizer.lr=1e-20"}), "digits");
  check_same("tuned", "source", "w1", true);
}

BOOST_AUTO_TEST_CASE(mistakes_say_what_is_there) {
  train("source", one_epoch, "digits_cnn");
  const auto refused = [&](const std::vector<std::string>& set, const std::string& text, int code = 2) {
    const std::string output = train("refused", with(one_epoch, set), "digits_cnn", {}, code);
    BOOST_TEST(output.find(text) != std::string::npos, output);
  };
  const std::string source = "model.init_from=" + path("source");
  refused({source, "model.layers.8.units=11"},
          "float[1024,10] for 'dense_9_weights', which is float[1024,11] here");
  refused({source, "model.layers.8.units=11"},
          "model.init_except = [\"dense_9_weights\", \"dense_9_bias\"] lets");
  refused({source + "s"}, "sources is neither a checkpoint, nor a run or a saved model that has one", 2);
  refused({source, "model.init_except=dense_8"},
          "there is no layer or weight 'dense_8'; the nearest is 'dense_9'");
  refused({"model.freeze=conv_1"}, "there is no layer with weights 'conv_1'; the nearest is 'conv2d_1'");
  refused({"model.init_except=dense_9"}, "model.init_except: allowed only with init_from");
  refused({"train.factors.lr.dense_8=0.1"},
          "train.factors.lr: there is no layer or weight 'dense_8'; the nearest is 'dense_9'");
  refused({"train.factors.weight_decay={ \"*_bais\" = 0 }"},
          "train.factors.weight_decay: there is no layer or weight '*_bais'");
  refused({"train.factors.lr.dense_9=-1"},
          "train.factors.lr.dense_9: expected a number, at least 0; found -1");
  refused({"train.optimizer={ type = \"lbfgs\", lr = 1.0 }", "train.factors.lr.dense_9=0.5"},
          "train.factors: the optimizer lbfgs changes all weights together");
  const std::string output = train("refused", {"model.freeze=w1"}, "digits", {}, 2);
  BOOST_TEST(output.find("it is a variable, whose value model.variables.w1.trainable = false keeps") !=
                 std::string::npos,
             output);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::fine_tuning_test
