// Training runs whose checkpoints are in a store of objects: they are resumed where the folder of the run is not, by processes of
// a cluster, too, and a store that cannot be used at its start or end ends the run with an error that says why.
#include <boost/test/unit_test.hpp>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "messages/objects/s3_disk.h"
#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/train/digits_runs.h"
#include "tests/support/net/s3_server.h"
#include "tests/support/project_files.h"

namespace troupe::stored_runs_test {
namespace {

const std::string runs = "s3://lab/runs/digits/";

/// The store's access key is in the environment of the programs.
struct Fixture : test::DigitsRuns {
  Fixture() {
    const S3Options options = server.options();
    ::setenv("AWS_ACCESS_KEY_ID", options.key_id.c_str(), 1);
    ::setenv("AWS_SECRET_ACCESS_KEY", options.secret_key.c_str(), 1);
    ::setenv("AWS_SESSION_TOKEN", options.session_token.c_str(), 1);
    ::setenv("AWS_REGION", options.region.c_str(), 1);
    ::setenv("AWS_ENDPOINT_URL", options.endpoint.c_str(), 1);
  }
  ~Fixture() {
    for (const char* const name : {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
                                   "AWS_REGION", "AWS_ENDPOINT_URL"})
      ::unsetenv(name);
  }

  /// Runs the program in a folder of this name. Returns its exit code; its output is in `output`.
  int train(const std::string& where, int epochs, const Arguments& more = {}) {
    Arguments arguments = {"train", test::project_path("examples/digits.toml")};
    for (const std::string& setting :
         {"run.directory=" + folder.path() + '/' + where, "train.max_epochs=" + std::to_string(epochs),
          std::string("train.early_stop.keep_best=false"), std::string("run.gpus=0"),
          std::string("train.checkpoint.dir=s3://lab/runs/")})
      arguments.insert(arguments.end(), {"--set", setting});
    arguments.insert(arguments.end(), more.begin(), more.end());
    test::Program program(test::troupe_program(), arguments);
    (void)program.wait_for("\x01");  // reads all that the program prints
    output = program.output();
    return program.end();
  }
  test::WholeCheckpoint weights_of(const std::string& run) const {
    const auto store = value_or_throw(make_s3_disk(server.options()));
    std::vector<std::string> skipped;
    auto newest = value_or_throw(test::load_newest(*store, runs + run, skipped));
    std::ranges::sort(newest.tensors, {}, &SavedTensor::name);
    return newest;
  }

  test::S3Server server;
  std::string output;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(stored_runs, Fixture)

BOOST_AUTO_TEST_CASE(a_run_is_resumed_where_its_folder_is_not_and_ends_as_an_undisturbed_one) {
  BOOST_TEST(train("here", 4) == 0, output);
  BOOST_TEST(train("here", 2) == 0, output);
  BOOST_TEST(output.find("002") != std::string::npos, output);
  BOOST_TEST(train("elsewhere", 4, {"--resume", "auto"}) == 0, output);
  BOOST_TEST(output.find("resumed") != std::string::npos, output);
  BOOST_TEST(std::filesystem::exists(folder.path() + "/elsewhere/digits/002/config.toml"));
  BOOST_TEST(!std::filesystem::exists(folder.path() + "/elsewhere/digits/002/checkpoints"));
  check_equal(weights_of("002"), weights_of("001"));
  BOOST_TEST(train("third", 5, {"--resume", runs + "001"}) == 0, output);
  BOOST_TEST(output.find("resumed") != std::string::npos, output);
  BOOST_TEST(train("new", 1) == 0, output);  // gets no number that another machine has given to a run
  BOOST_TEST(weights_of("003").round < weights_of("002").round);
}

// Neither of them has saved a checkpoint when the other one begins.
BOOST_AUTO_TEST_CASE(runs_that_begin_at_the_same_time_get_different_numbers) {
  const auto start = [&](const std::string& where) {
    Arguments arguments = {"train", test::project_path("examples/digits.toml"), "--set",
                           "train.max_epochs=2"};
    for (const std::string& setting :
         {"run.directory=" + folder.path() + '/' + where, std::string("train.checkpoint.dir=s3://lab/runs/")})
      arguments.insert(arguments.end(), {"--set", setting});
    return std::make_unique<test::Program>(test::troupe_program(), arguments);
  };
  const auto one = start("one"), other = start("other");
  BOOST_TEST(one->end() == 0, one->output());
  BOOST_TEST(other->end() == 0, other->output());
  const auto numbers_of = [&](const std::string& where) {
    std::set<std::string> numbers;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path() + '/' + where + "/digits"))
      numbers.insert(entry.path().filename().string());
    return numbers;
  };
  BOOST_TEST(numbers_of("one").size() == 1u);
  BOOST_TEST(numbers_of("other").size() == 1u);
  BOOST_TEST(numbers_of("one") != numbers_of("other"));
}

BOOST_AUTO_TEST_CASE(the_processes_of_a_cluster_save_and_restore_there) {
  BOOST_TEST(train("alone", 3) == 0, output);
  BOOST_TEST(train("local", 2, {"--local", "ps=2,worker=2"}) == 0, output);
  BOOST_TEST(train("local", 3, {"--resume", "auto", "--local", "ps=1,worker=2"}) == 0, output);
  BOOST_TEST(output.find("resumed") != std::string::npos, output);
  check_equal(weights_of("002"), weights_of("001"));
}

// The weights at the end are those of a run whose checkpoints are all saved.
BOOST_AUTO_TEST_CASE(a_checkpoint_that_cannot_be_saved_does_not_end_the_run) {
  const Arguments often = {"--set", "train.checkpoint.every=20 steps"};
  BOOST_TEST(train("saved", 3, often) == 0, output);
  const auto of_steps_20_and_40 = [](std::string_view, std::string_view target) {
    return target.find("-round-20") != std::string_view::npos ||
           target.find("-round-40") != std::string_view::npos;
  };
  server.fail_where(test::S3Server::Failure::Unavailable, of_steps_20_and_40);
  BOOST_TEST(train("missed", 3, often) == 0, output);
  BOOST_TEST(output.find("the checkpoint of step 20 was not saved: ") != std::string::npos, output);
  BOOST_TEST(output.find("the checkpoint of step 40 was not saved: ") == std::string::npos, output);
  BOOST_TEST(output.find("checkpoints are written again: that of step 60 is saved") != std::string::npos,
             output);
  server.fail_where(test::S3Server::Failure::Unavailable,
                    [](std::string_view, std::string_view) { return false; });
  check_equal(weights_of("002"), weights_of("001"));
  server.fail_where(test::S3Server::Failure::Unavailable, [](std::string_view, std::string_view target) {
    return target.find("-round-69") != std::string_view::npos;
  });
  BOOST_TEST(train("lost", 3, often) != 0, "the last checkpoint");
}

BOOST_AUTO_TEST_CASE(models_are_used_where_they_are) {
  const auto output_of = [&](const Arguments& arguments) {
    test::Program program(test::troupe_program(), arguments);
    (void)program.wait_for("\x01");  // reads all that the program prints
    BOOST_TEST(program.end() == 0, program.output());
    return program.output();
  };
  BOOST_TEST(train("here", 2, {"--set", "train.checkpoint.endpoint=" + server.options().endpoint}) == 0,
             output);
  ::unsetenv("AWS_ENDPOINT_URL");  // the folder of the run knows it
  const std::string run = folder.path() + "/here/digits/001",
                    table = test::project_path("examples/digits.csv"), model = "s3://lab/models/digits/1";
  BOOST_TEST(output_of({"eval", run}).find("s3://lab/runs/digits/001/0") != std::string::npos);
  BOOST_TEST(output_of({"ckpt", "ls", run}).find("-round-46") != std::string::npos);
  const std::string classes = output_of({"predict", run, table});
  BOOST_TEST(classes.starts_with("class\n"), classes.substr(0, 100));
  const std::string copy = folder.path() + "/copy";
  output_of({"export", run, copy});
  ::setenv("AWS_ENDPOINT_URL", server.options().endpoint.c_str(), 1);
  output_of({"export", copy, model});
  BOOST_TEST(output_of({"predict", model, table}) == classes);
  test::Program serving(test::troupe_program(), {"serve", "s3://lab/models/digits", "--port", "0"});
  BOOST_TEST(serving.wait_for("version 1"), serving.output());
  BOOST_TEST(serving.end(SIGTERM) == 128 + SIGTERM, serving.output());
}

BOOST_AUTO_TEST_CASE(a_run_that_goes_on_without_the_store_forgets_it) {
  BOOST_TEST(train("moved", 1) == 0, output);
  const std::string location = folder.path() + "/moved/digits/001/checkpoints.location";
  BOOST_TEST(std::filesystem::exists(location));
  const Arguments here = {"--set", "train.checkpoint={}", "--resume", "auto"};
  BOOST_TEST(train("moved", 2, here) == 0, output);
  BOOST_TEST(!std::filesystem::exists(location));
  test::Program evaluated(test::troupe_program(), {"eval", folder.path() + "/moved/digits/001"});
  BOOST_TEST(evaluated.end() == 0, evaluated.output());
}

BOOST_AUTO_TEST_CASE(what_is_wrong_with_the_store_is_said_at_the_start_and_without_secrets) {
  const auto check = [&](const Arguments& more, const std::string& word) {
    BOOST_TEST(train("bad", 1, more) != 0);
    BOOST_TEST(output.find(word) != std::string::npos, output);
    for (const std::string secret : {"secret+/key", "token/1=", "hidden"})
      BOOST_TEST(output.find(secret) == std::string::npos, output);
  };
  check({"--set", "train.checkpoint.dir=s3://nowhere/runs"},
        "s3://nowhere/: GET was answered with HTTP 404 NoSuchBucket");
  check({"--resume", "s3://lab/other/digits/001"}, "s3://lab/runs/digits/001");
  check({"--set", "train.checkpoint.dir=/tmp"}, "s3://BUCKET/PREFIX");
  ::setenv("AWS_SECRET_ACCESS_KEY", "hidden", 1);
  check({}, "SignatureDoesNotMatch");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::stored_runs_test
