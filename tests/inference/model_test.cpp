// Loaded models: those of TensorFlow yield what TensorFlow computed (tests/golden/make_models.py), from any number of threads, and
// what is wrong with a model or its inputs is said.
#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <span>
#include <thread>

#include "apps/data/arrays/npz.h"
#include "apps/inference/model.h"
#include "apps/interop/write_graph.h"
#include "graph/build/control_flow.h"
#include "kernels/constructors.h"
#include "messages/env/real_disk.h"
#include "tests/support/failure_of.h"
#include "tests/support/ops/golden_values.h"
#include "tests/support/ops/op_library.h"
#include "tests/support/project_files.h"
#include "tests/support/temporary_folder.h"

namespace troupe::test::model_test {
namespace {

namespace fs = std::filesystem;
using Tensors = std::map<std::string, Tensor>;

const std::string models = project_path("tests/golden/models/");

/// The inputs of a golden model, and what it yields for them.
struct Golden {
  explicit Golden(const std::string& name) {
    RealDisk disk;
    const std::string file = models + name + ".npz";
    const std::string bytes = value_or_throw(read_file(disk, file, 1 << 20));
    for (auto& [array, values] : value_or_throw(data::read_npz(bytes, file)))
      (array.starts_with("in_") ? inputs : outputs).emplace(array.substr(array.find('_') + 1), values);
  }

  void check(const Tensors& got) const {
    BOOST_TEST_REQUIRE(got.size() == outputs.size());
    for (const auto& [name, values] : outputs)
      BOOST_TEST(difference(got.at(name), values, {1e-6, 1e-6}) == "", name);
  }

  Tensors inputs, outputs;
};

/// Returns the failure of loading a model.
Status failure_of_loading(const std::string& path, const LoadOptions& options = {}) {
  return failure_of([&] { load(path, options); });
}

/// Writes a saved model whose graph `build` makes.
std::string write_model(const TemporaryFolder& folder,
                        const std::function<void(interop::MetaGraph&)>& build) {
  interop::MetaGraph meta{.graph = Graph(op_library()->ops),
                          .tags = {"serve"},
                          .tensorflow_version = {},
                          .saver = {},
                          .collections = {}};
  build(meta);
  std::ofstream(folder.path() + "/saved_model.pb", std::ios::binary) << interop::write_saved_model(meta);
  return folder.path();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(model)

BOOST_AUTO_TEST_CASE(models_of_tensorflow) {
  for (const char* const name : {"functions", "convolution", "recurrent"}) {
    BOOST_TEST_CONTEXT(name) {
      const Golden golden(name);
      const Model model = load(models + name, {.threads = 2});
      BOOST_TEST(model.source() == models + name);
      golden.check(model.run(golden.inputs));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_model_that_was_moved_is_refused) {
  Model first = load(models + "functions");
  const Model second = std::move(first);
  const std::vector<std::function<void()>> calls = {
      // NOLINTBEGIN(bugprone-use-after-move): that is what is tested
      [&] { (void)first.signatures(); },
      [&] { (void)first.signature(); },
      [&] { (void)first.source(); },
      [&] { first.prepare(); },
      [&] { (void)first.run(std::vector<Tensor>()); },
      [&] { (void)first.run(Tensors()); }};
  // NOLINTEND(bugprone-use-after-move)
  for (const auto& call : calls) {
    BOOST_TEST((failure_of(call).code() == Code::FailedPrecondition));
    BOOST_TEST(failure_of(call).text() == "the model has been moved to another object");
  }
  const Golden golden("functions");
  golden.check(second.run(golden.inputs));
}

BOOST_AUTO_TEST_CASE(signatures_say_what_a_model_takes_and_yields) {
  const Model model = load(models + "functions");
  BOOST_TEST_REQUIRE(model.signatures().size() == 2u);
  const ModelSignature& scores = model.signature();
  BOOST_TEST(scores.name == "serving_default");
  BOOST_TEST(scores.method == "tensorflow/serving/predict");
  BOOST_TEST_REQUIRE(scores.inputs.size() == 1u);
  BOOST_TEST(scores.inputs[0].name == "x");
  BOOST_TEST(scores.inputs[0].shape.text() == "[?,3]");
  BOOST_TEST_REQUIRE(scores.outputs.size() == 3u);
  BOOST_TEST(scores.outputs[0].name == "best");
  BOOST_TEST((scores.outputs[0].dtype == DType::Int64));
  const Tensor x = Tensor::vector<float>({1, 2});
  for (const bool up : {false, true}) {
    const auto moved = model.run({{"x", x}, {"up", Tensor::scalar(up)}}, "moved").at("moved");
    BOOST_TEST(moved.as<float>()[0] == (up ? 3.0f : -1.0f));
  }
}

BOOST_AUTO_TEST_CASE(many_threads_use_one_model) {
  const Golden golden("convolution");
  const Model model = load(models + "convolution", {.threads = 2});
  std::vector<Tensors> results(4);
  std::vector<std::thread> threads;
  for (Tensors& result : results)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) result = model.run(golden.inputs);
    });
  for (std::thread& thread : threads) thread.join();
  for (const Tensors& result : results) golden.check(result);
}

BOOST_AUTO_TEST_CASE(a_model_outlives_its_copies) {
  const Golden golden("recurrent");
  std::optional<Model> first = load(models + "recurrent", {.threads = 1});
  const Model second = *first;
  first.reset();
  golden.check(second.run(golden.inputs));
}

BOOST_AUTO_TEST_CASE(wrong_inputs_are_named) {
  const Model model = load(models + "functions");
  const auto failure = [&](const Tensors& inputs, std::string_view signature) {
    return failure_of([&] { model.run(inputs, signature); }).message();
  };
  const Tensor x = Golden("functions").inputs.at("x");
  BOOST_TEST(failure({}, Model::predict) == "InvalidArgument: input 'x', float[?,3], is missing");
  BOOST_TEST(failure({{"x", x}, {"z", x}}, Model::predict) ==
             "InvalidArgument: signature 'serving_default' has no input 'z'; it takes x");
  BOOST_TEST(failure({{"x", Tensor::vector<float>({1, 2})}}, Model::predict) ==
             "InvalidArgument: input 'x' must be float[?,3]; it is float[2]");
  BOOST_TEST(failure({{"x", Tensor::scalar(1.0)}}, Model::predict) ==
             "InvalidArgument: input 'x' must be float[?,3]; it is double[]");
  BOOST_TEST(failure({{"x", Tensor()}}, Model::predict) == "InvalidArgument: input 'x' has no value");
  BOOST_TEST(failure({{"x", x}}, "scores") ==
             "NotFound: the model in " + models +
                 "functions has no signature 'scores'; it has moved, serving_default");
  BOOST_TEST(failure_of([&] {
               model.run(std::vector{x, x});
             }).message() ==
             "InvalidArgument: signature 'serving_default' has 1 inputs, but 2 tensors were given");
}

BOOST_AUTO_TEST_CASE(splits_must_fit_their_ragged_input) {
  const TemporaryFolder folder;
  const Model model = load(write_model(folder, [](interop::MetaGraph& meta) {
    const Scope g(meta.graph);
    const Output ids = placeholder(g, i32, {-1}, "ids"), splits = placeholder(g, i64, {-1}, "ids_splits");
    meta.signatures["serving_default"] = {{}, {{"ids", ids}, {"ids_splits", splits}}, {{"splits", splits}}};
  }));
  const auto with = [](const std::vector<int64_t>& splits) -> Tensors {
    return {{"ids", Tensor::vector<int32_t>({5, 6, 7, 8})},
            {"ids_splits", Tensor::vector<int64_t>(std::span<const int64_t>(splits))}};
  };
  const auto failure = [&](const std::vector<int64_t>& splits) {
    return failure_of([&] { model.run(with(splits)); }).message();
  };
  const std::string input = "InvalidArgument: input 'ids_splits'";
  BOOST_TEST(failure({0, 5, 2, 4}) == input + "[2] = 2 is less than 5, the one before");
  BOOST_TEST(failure({0, 2, 100}) ==
             input + " begins with 0 and ends with 100, expected 0 and the number of values, 4");
  BOOST_TEST(failure({-5, 2, 4}) ==
             input + " begins with -5 and ends with 4, expected 0 and the number of values, 4");
  BOOST_TEST(failure({}) == input + " is empty; it must have at least one element");
  BOOST_TEST(model.run(with({0, 0, 4})).at("splits").elements() == 3);
}

BOOST_AUTO_TEST_CASE(each_call_draws_other_random_numbers) {
  for (const int64_t seed : {0, 7}) {
    const TemporaryFolder folder;
    const std::string path = write_model(folder, [seed](interop::MetaGraph& meta) {
      const Scope g(meta.graph);
      const Output sizes = placeholder(g, i32, {1}, "sizes");
      const Output drawn = g.add_one("RandomUniform", {sizes}, {{"dtype", f32}, {"seed", seed}});
      meta.signatures["serving_default"] = {{}, {{"sizes", sizes}}, {{"drawn", drawn}}};
    });
    const auto draws = [&](const Model& model) {
      const Tensor drawn = model.run({{"sizes", Tensor::vector<int32_t>({20})}}).at("drawn");
      return std::vector<float>(drawn.as<float>().begin(), drawn.as<float>().end());
    };
    const Model model = load(path), again = load(path);
    const std::vector<float> first = draws(model), second = draws(model);
    BOOST_TEST(first != second, "seed " << seed);
    BOOST_TEST(draws(again) == first, "seed " << seed);
    BOOST_TEST(draws(again) == second, "seed " << seed);
  }
}

BOOST_AUTO_TEST_CASE(of_a_folder_that_contains_models_the_newest_is_loaded) {
  const TemporaryFolder folder;
  for (const char* const number : {"2", "10"})
    std::filesystem::copy(models + "functions", folder.path() + "/" + number,
                          std::filesystem::copy_options::recursive);
  BOOST_TEST(load(folder.path()).source() == folder.path() + "/10");
}

BOOST_AUTO_TEST_CASE(folders_without_a_model) {
  const TemporaryFolder folder;
  BOOST_TEST(failure_of_loading("").message() ==
             "InvalidArgument: the name of the folder of a model is empty");
  BOOST_TEST((failure_of_loading(folder.path()).code() == Code::NotFound));
  BOOST_TEST(failure_of_loading(models + "functions", {.threads = 1, .tags = {"gpu"}}).message() ==
             "NotFound: " + models +
                 "functions/saved_model.pb: the saved model has no graph with 'gpu'; there are "
                 "graphs with "
                 "'serve'");
}

BOOST_AUTO_TEST_CASE(a_model_needs_some_memory) {
  const Status refused = failure_of_loading(models + "functions", {.memory = 16});
  BOOST_TEST((refused.code() == Code::InvalidArgument), refused.message());
  BOOST_TEST(refused.text() ==
             "a memory cap of 16 bytes (LoadOptions::memory): it must be at least 2097152 bytes");
}

BOOST_AUTO_TEST_CASE(damaged_and_missing_values) {
  const TemporaryFolder folder;
  const std::string copy = folder.path() + "/copy",
                    values = copy + "/variables/variables.data-00000-of-00001";
  fs::copy(models + "functions", copy, fs::copy_options::recursive);
  {
    std::fstream file(values, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(10);
    file.put('x');
  }
  BOOST_TEST((failure_of_loading(copy).code() == Code::DataLoss), failure_of_loading(copy).message());
  fs::remove_all(copy + "/variables");
  BOOST_TEST((failure_of_loading(copy).code() == Code::NotFound), failure_of_loading(copy).message());
  fs::resize_file(copy + "/saved_model.pb", 1000);
  BOOST_TEST(failure_of_loading(copy).message() ==
             "DataLoss: " + copy +
                 "/saved_model.pb: the bytes are cut off or damaged, or "
                 "are not a SavedModel, neither a binary one nor one in text form");
}

// The words come from constants, from a file of the folder, and from the values of variables.
BOOST_AUTO_TEST_CASE(tables_have_the_contents_that_the_graph_gives_them) {
  const Golden golden("tables");
  const Tensors inputs = {
      {"word", Tensor::vector<std::string>({"one", "seven", "two", "nine", "three", "one"})}};
  const TemporaryFolder folder;
  const std::string copy = folder.path() + "/copy", words = copy + "/assets/words.txt";
  fs::copy(models + "tables", copy, fs::copy_options::recursive);
  const Model model = load(copy, {.threads = 2});
  std::ofstream(words) << "a\nb\tc\n\n";  // read by load() alone
  std::vector<std::thread> threads;
  std::vector<Tensors> results(4);
  for (Tensors& result : results) threads.emplace_back([&] { result = model.run(inputs); });
  for (std::thread& thread : threads) thread.join();
  for (const Tensors& result : results) golden.check(result);
  const Status damaged = failure_of_loading(copy);
  BOOST_TEST((damaged.code() == Code::InvalidArgument));
  BOOST_TEST(damaged.message().find("[InitializeTableFromTextFileV2]") != std::string::npos,
             damaged.message());
  BOOST_TEST(damaged.message().find(words) != std::string::npos, damaged.message());
  fs::remove(words);
  const Status missing = failure_of_loading(copy);
  BOOST_TEST((missing.code() == Code::NotFound));
  BOOST_TEST(missing.message().find(words) != std::string::npos, missing.message());
}

BOOST_AUTO_TEST_CASE(a_table_reads_no_other_file_than_those_of_its_model) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() + "/assets");
  std::ofstream(folder.path() + "/assets/words.txt") << "a\nb\n";
  std::ofstream(folder.path() + "/other.txt") << "a\nb\n";
  const auto failure = [&](const std::string& file) {
    fs::remove(folder.path() + "/saved_model.pb");
    return failure_of_loading(write_model(folder, [&](interop::MetaGraph& meta) {
      const Scope g(meta.graph);
      const Output table =
          g.add_one("HashTableV2", {}, {{"key_dtype", DType::String}, {"value_dtype", DType::Int64}});
      const Output word = placeholder(g, DType::String, {-1}, "word");
      const Output number =
          g.add_one("LookupTableFindV2", {table, word, g.constant(Tensor::scalar<int64_t>(-1))});
      (void)g.with_name("fill").add("InitializeTableFromTextFileV2",
                                    {table, g.constant(Tensor::scalar<std::string>(file))},
                                    {{"key_index", int64_t{-2}}, {"value_index", int64_t{-1}}});
      meta.init_op = "fill";
      meta.signatures["serving_default"] = {{}, {{"word", word}}, {{"number", number}}};
    }));
  };
  BOOST_TEST(failure(folder.path() + "/assets/words.txt").ok());
  for (const char* const other : {"/other.txt", "/assets/../other.txt"}) {
    const Status refused = failure(folder.path() + other);
    BOOST_TEST((refused.code() == Code::InvalidArgument));
    BOOST_TEST(refused.message().find("is no asset of the model") != std::string::npos, refused.message());
  }
}

BOOST_AUTO_TEST_CASE(a_table_without_contents_is_named_when_it_is_used) {
  const TemporaryFolder folder;
  const Model model = load(write_model(folder, [](interop::MetaGraph& meta) {
    const Scope g(meta.graph);
    const auto table = [&](const std::string& op) {
      return g.with_name(op).add_one(op, {}, {{"key_dtype", DType::Int64}, {"value_dtype", DType::Float}});
    };
    const Output x = placeholder(g, i64, {-1}, "x"), none = g.constant(Tensor::scalar(0.5f));
    const Output constant = g.add_one("LookupTableFindV2", {table("HashTableV2"), x, none}),
                 changed = g.add_one("LookupTableFindV2", {table("MutableHashTableV2"), x, none}),
                 of_reference = g.add_one("LookupTableFind", {table("MutableHashTable"), x, none});
    meta.signatures["constant"] = {{}, {{"x", x}}, {{"y", constant}}};
    meta.signatures["changed"] = {{}, {{"x", x}}, {{"y", changed}}};
    meta.signatures["of_reference"] = {{}, {{"x", x}}, {{"y", of_reference}}};
  }));
  const Tensor x = Tensor::vector<int64_t>({1, 2});
  const Status failure = failure_of([&] { model.run({{"x", x}}, "constant"); });
  BOOST_TEST((failure.code() == Code::FailedPrecondition));
  BOOST_TEST(failure.message().find("'HashTableV2'") != std::string::npos, failure.message());
  for (const char* const changed : {"changed", "of_reference"})  // empty, as in a session
    BOOST_TEST(model.run({{"x", x}}, changed).at("y").as<float>()[1] == 0.5f);
}

BOOST_AUTO_TEST_CASE(ops_that_need_a_session_are_named) {
  const TemporaryFolder folder;
  const std::string path = write_model(folder, [](interop::MetaGraph& meta) {
    const Scope g(meta.graph);
    const Output queue =
        g.with_name("line").add_one("FIFOQueueV2", {}, {{"component_types", std::vector{DType::Float}}});
    const Output size = g.with_name("waiting").add_one("QueueSizeV2", {queue});
    meta.signatures["serving_default"] = {{}, {}, {{"size", size}}};
  });
  const Model model = load(path);
  const Status failure = failure_of([&] { model.run(Tensors{}); });
  BOOST_TEST((failure.code() == Code::Unimplemented));
  BOOST_TEST(failure.message().find("waiting") != std::string::npos, failure.message());
}

// i = 0; while (i < n) i = i + 1
BOOST_AUTO_TEST_CASE(a_cancellation_ends_a_call) {
  const TemporaryFolder folder;
  const std::string path = write_model(folder, [](interop::MetaGraph& meta) {
    const Scope g(meta.graph);
    const Output n = placeholder(g, i64, {}, "n");
    const Output counted = while_loop(
        g, {g.constant(Tensor::scalar(int64_t{0}))},
        [&](const Scope& at, std::span<const Output> i) { return less(at, i[0], n); },
        [](const Scope& at, std::span<const Output> i) {
          return std::vector{add(at, i[0], at.constant(Tensor::scalar(int64_t{1})))};
        })[0];
    meta.signatures["serving_default"] = {{}, {{"n", n}}, {{"counted", counted}}};
  });
  const Model model = load(path, {.threads = 2});
  const Tensors few{{"n", Tensor::scalar(int64_t{3})}}, endless{{"n", Tensor::scalar(INT64_MAX)}};
  const auto code_with = [&](const Tensors& inputs, const Cancellation& cancellation) {
    return failure_of([&] { model.run(inputs, Model::predict, &cancellation); }).code();
  };
  Cancellation cancellation, unused;
  Code ended = Code::Ok;
  std::thread call([&] { ended = code_with(endless, cancellation); });
  cancellation.cancel();
  call.join();
  BOOST_TEST((ended == Code::Cancelled));
  BOOST_TEST((code_with(endless, cancellation) == Code::Cancelled));  // it is cancelled already
  BOOST_TEST(model.run(few, Model::predict, &unused).at("counted").as<int64_t>()[0] == 3);
}

BOOST_AUTO_TEST_CASE(a_cancellation_ends_the_loading) {
  Cancellation cancellation, unused;
  cancellation.cancel();
  const auto code_with = [&](const Cancellation& given) {
    return failure_of_loading(models + "functions", {.cancellation = &given}).code();
  };
  BOOST_TEST((code_with(cancellation) == Code::Cancelled));
  BOOST_TEST((code_with(unused) == Code::Ok));
}

BOOST_AUTO_TEST_CASE(outputs_that_are_inputs_or_constants) {
  const TemporaryFolder folder;
  const std::string path = write_model(folder, [](interop::MetaGraph& meta) {
    const Scope g(meta.graph);
    const Output x = placeholder(g, f32, {-1}, "x"), three = g.constant(Tensor::scalar(3.0f));
    meta.signatures["serving_default"] = {{}, {{"x", x}}, {{"again", x}, {"same", x}, {"three", three}}};
    meta.signatures["alone"] = {{}, {{"x", x}}, {{"y", x}}};
  });
  const Model model = load(path);
  const Tensor x = Tensor::vector<float>({1, 2});
  const Tensors results = model.run({{"x", x}});
  BOOST_TEST(results.at("again").as<float>()[1] == 2.0f);
  BOOST_TEST(results.at("same").as<float>()[1] == 2.0f);
  BOOST_TEST(results.at("three").as<float>()[0] == 3.0f);
  BOOST_TEST(model.run({{"x", x}}, "alone").at("y").as<float>()[0] == 1.0f);
}

BOOST_AUTO_TEST_CASE(a_small_file_of_a_large_image_is_refused) {
  const TemporaryFolder folder;
  const std::string path = write_model(folder, [](interop::MetaGraph& meta) {
    const Scope g(meta.graph);
    const Output image = placeholder(g, DType::UInt8, {-1, -1, 1}, "image"),
                 file = placeholder(g, DType::String, PartialShape::scalar(), "file");
    meta.signatures["encode"] = {{}, {{"image", image}}, {{"file", encode_png(g, image)}}};
    meta.signatures["decode"] = {{}, {{"file", file}}, {{"size", shape(g, decode_png(g, file))}}};
  });
  const auto decoded = [&](const Tensor& file, const LoadOptions& options) {
    return failure_of([&] { load(path, options).run({{"file", file}}, "decode"); });
  };
  const auto file_of = [&](int64_t height, int64_t width) {
    Tensor image = value_or_throw(Tensor::allocate(DType::UInt8, Shape{height, width, 1}));
    std::ranges::fill(image.write<uint8_t>(), uint8_t{0});
    return load(path).run({{"image", image}}, "encode").at("file");
  };
  const Tensor small = file_of(40, 50), large = file_of(4000, 5000);
  BOOST_TEST(decoded(small, {.image_elements = 2000}).ok());
  const Status refused = decoded(small, {.image_elements = 1999});
  BOOST_TEST(refused.text().find("[40,50,1], which are 2000 elements; at most 1999 are allowed here") !=
                 std::string::npos,
             refused.text());
  BOOST_TEST(decoded(large, {}).ok());
  BOOST_TEST((decoded(large, {.memory = 8 << 20}).code() == Code::ResourceExhausted));
  const Status negative = failure_of_loading(path, {.image_elements = -5});
  BOOST_TEST((negative.code() == Code::InvalidArgument), negative.message());
  BOOST_TEST(
      negative.text() ==
      "images of at most -5 elements (LoadOptions::image_elements): the number must be positive, or 0 for "
      "the most that can be decoded, 536870911");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::model_test
