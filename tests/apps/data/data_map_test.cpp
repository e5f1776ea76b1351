// Samples that are files of images, and columns that a run file computes from those of the files.
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "apps/data/convert/convert.h"
#include "apps/data/format.h"
#include "apps/train/data/train_data.h"
#include "kernels/ops/images/codecs.h"
#include "messages/env/real_disk.h"
#include "tests/apps/config/run_file.h"
#include "tests/support/samples.h"
#include "tests/support/temporary_folder.h"

namespace troupe::train::data_map_test {
namespace {

/// A folder with two classes of images of 2 x 2 pixels, whose pixels are all `10 * class + number of the file`.
struct Images {
  Images() {
    for (const int label : {0, 1})
      for (const int number : {0, 1, 2}) {
        const std::string path = folder.path() + (label == 0 ? "/cats" : "/dogs");
        std::filesystem::create_directories(path);
        const auto pixel = static_cast<uint8_t>(10 * label + number);
        const std::vector<uint8_t> pixels(4, pixel);
        folder.write(path.substr(folder.path().size() + 1) + '/' + std::to_string(number) + ".PNG",
                     value_or_throw(encode_png(pixels.data(), {2, 2, 1}, false, -1)));
      }
    folder.write("cats/notes.txt", "no image");
    folder.write("cats/._0.png", "no image, but what a file system leaves there");
    std::filesystem::create_directories(folder.path() + "/.checkpoints");
  }

  Result<data::TrainAndValid> load(const std::string& map, const std::vector<std::string>& set = {}) {
    const std::string text = R"toml([data]
format = "images"
train = ")toml" + folder.path() +
                             R"toml("
batch = 2
)toml" + map + R"toml(
[model]
layers = [{ type = "dense", input = "reshape(image, [-1, 4])", units = 2 }]
[model.graph]
loss = "mean(sparse_softmax_cross_entropy_with_logits(output, label))"
[train]
loss = "loss"
optimizer = { type = "sgd", lr = 0.1 }
max_epochs = 1
)toml";
    TROUPE_ASSIGN(const auto config, config::parse(text, set));
    return load_data(disk, config);
  }

  const test::TemporaryFolder folder;
  RealDisk disk;
};

const std::string decoded = R"toml([data.map]
image = "cast(reshape(decode_png(image, channels=1), [2, 2]), 'float') + 0.5"
twice = "image * 2.0"
)toml";

std::vector<float> pixels(const data::Dataset& samples, const std::string& column) {
  std::vector<float> first;
  const Tensor& all = *samples.find(column);
  for (int64_t i = 0; i < samples.samples(); ++i)
    first.push_back(all.as<float>()[static_cast<size_t>(4 * i)]);
  return first;
}

BOOST_FIXTURE_TEST_SUITE(data_map, Images)

BOOST_AUTO_TEST_CASE(files_of_images_are_decoded_by_expressions) {
  for (const std::string read : {"whole", "stream"}) {
    const auto loaded = load(decoded, {"data.read=" + read});
    BOOST_REQUIRE_MESSAGE(loaded.ok(), loaded.status().message());
    const auto samples = test::all_samples(*loaded->train);
    BOOST_TEST(samples.find("image")->signature() == "float[6,2,2]");
    BOOST_TEST(samples.find("label")->signature() == "int32[6]");
    BOOST_TEST(pixels(samples, "image") == std::vector<float>({0.5, 1.5, 2.5, 10.5, 11.5, 12.5}),
               boost::test_tools::per_element());
    BOOST_TEST(pixels(samples, "twice") == std::vector<float>({1, 3, 5, 21, 23, 25}),
               boost::test_tools::per_element());
    const auto labels = samples.find("label")->as<int32_t>();
    BOOST_TEST(std::vector<int32_t>(labels.begin(), labels.end()) == std::vector<int32_t>({0, 0, 0, 1, 1, 1}),
               boost::test_tools::per_element());
  }
}

// The files are read once: later damage is not seen.
BOOST_AUTO_TEST_CASE(mapped_samples_are_kept_in_memory) {
  for (const std::string read : {"whole", "stream"}) {
    const auto loaded = value_or_throw(load(decoded, {"data.read=" + read}));
    const auto kept = value_or_throw(load(decoded, {"data.read=" + read, "data.cache=memory"}));
    const auto expected = pixels(test::all_samples(*loaded.train), "twice");
    folder.write("dogs/1.PNG", "damaged");
    BOOST_TEST(kept.train->samples() == 6);
    BOOST_TEST(pixels(test::all_samples(*kept.train), "twice") == expected, boost::test_tools::per_element());
    BOOST_TEST((load(decoded, {"data.cache=memory"}).status().code() == Code::DataLoss));
    const std::vector<uint8_t> whole(4, 11);
    folder.write("dogs/1.PNG", value_or_throw(encode_png(whole.data(), {2, 2, 1}, false, -1)));
  }
}

// Examples as tf.train.Example writes them: an image, a class, and numbers.
BOOST_AUTO_TEST_CASE(features_of_examples_are_columns) {
  std::vector<std::string> images;
  for (const uint8_t pixel : {3, 5, 7}) {
    const std::vector<uint8_t> pixels(4, pixel);
    images.push_back(value_or_throw(encode_png(pixels.data(), {2, 2, 1}, false, -1)));
  }
  const data::Dataset examples({{"image/encoded", Tensor::vector(std::span<const std::string>(images))},
                                {"image/class", Tensor::vector<int64_t>({1, 0, 1})},
                                {"box", test::floats(Shape{3, 2}, {1, 2, 3, 4, 5, 6})}});
  const auto stream = value_or_throw(data::samples_of(data::in_memory(examples)));
  BOOST_TEST_REQUIRE(data::convert(disk, *stream, folder.path() + "/train.tfrecord", {}).ok());
  const std::string map = R"toml([data.map]
label = "cast(nn.example_feature(image, feature='image/class', dtype='int64'), 'int32')"
box = "nn.example_feature(image, feature='box', size=2)"
image = "cast(reshape(decode_png(nn.example_feature(image, feature='image/encoded', dtype='string'), channels=1), [2, 2]), 'float')"
)toml";
  const std::vector<std::string> set = {"data.format=tfrecord",
                                        "data.train=" + folder.path() + "/train.tfrecord"};
  const auto loaded = load(map, set);
  BOOST_REQUIRE_MESSAGE(loaded.ok(), loaded.status().message());
  const auto samples = test::all_samples(*loaded->train);
  BOOST_TEST(pixels(samples, "image") == std::vector<float>({3, 5, 7}), boost::test_tools::per_element());
  BOOST_TEST(samples.find("box")->signature() == "float[3,2]");
  const auto labels = samples.find("label")->as<int32_t>();
  BOOST_TEST(std::vector<int32_t>(labels.begin(), labels.end()) == std::vector<int32_t>({1, 0, 1}),
             boost::test_tools::per_element());
}

// A worker keeps the batches alone.
BOOST_AUTO_TEST_CASE(batches_outlive_their_set) {
  std::unique_ptr<data::Batches> batches;
  {
    const auto loaded = value_or_throw(load(decoded));
    batches = loaded.train->batches(6, 0, false);
  }
  BOOST_TEST(value_or_throw(batches->at(0)).find("image")->signature() == "float[6,2,2]");
}

// Samples for validation are not augmented, and a batch has the same numbers whenever it is asked for.
BOOST_AUTO_TEST_CASE(samples_to_train_on_are_augmented_by_the_number_of_their_batch) {
  const auto loaded = load(decoded + R"toml([data.augment]
image = "image + random_uniform([2, 2], 'float')"
)toml",
                           {"data.valid={split=0.4}"});
  BOOST_REQUIRE_MESSAGE(loaded.ok(), loaded.status().message());
  const auto first = loaded->train->batches(2, 7, true), second = loaded->train->batches(2, 7, true);
  const auto batch = value_or_throw(first->at(5));
  value_or_throw(second->at(0));
  BOOST_TEST(pixels(batch, "image") == pixels(value_or_throw(second->at(5)), "image"),
             boost::test_tools::per_element());
  BOOST_TEST(pixels(value_or_throw(first->at(0)), "image") != pixels(value_or_throw(first->at(2)), "image"));
  for (const float pixel : pixels(test::all_samples(*loaded->valid), "image"))
    BOOST_TEST(pixel - 0.5f == std::floor(pixel));
}

BOOST_AUTO_TEST_CASE(mistakes_point_into_the_run_file) {
  const auto refusal = [&](const std::string& map) { return load(map).status(); };
  const Status unknown = refusal("[data.map]\nimage = \"decode_png(imag)\"\n");
  BOOST_TEST((unknown.code() == Code::InvalidArgument));
  BOOST_TEST(unknown.text().find("run.toml:6:") != std::string::npos, unknown.text());
  const Status unshaped = refusal("[data.map]\nimage = \"cast(decode_png(image), 'float')\"\n");
  BOOST_TEST(unshaped.text().find("the shape of a sample of 'image' is not known") != std::string::npos,
             unshaped.text());
  const Status grown = refusal(decoded + "[data.augment]\nimage = \"reshape(image, [4])\"\n");
  BOOST_TEST(grown.text().find("data.augment.image changes a sample from float[0,2,2] to float[0,4]") !=
                 std::string::npos,
             grown.text());
  folder.write("dogs/1.PNG", "damaged");
  const auto loaded = load(decoded);
  const auto damaged = loaded->train->batches(6, 0, false)->at(0).status();
  BOOST_TEST((damaged.code() == Code::DataLoss), damaged.message());
  BOOST_TEST(damaged.text().find("/dogs/1.PNG: ") != std::string::npos, damaged.text());
  BOOST_TEST(damaged.text().find("in 'image' at run.toml:6:9") != std::string::npos, damaged.text());
}

BOOST_AUTO_TEST_CASE(folders_without_images_are_refused) {
  std::filesystem::remove_all(folder.path() + "/cats");
  std::filesystem::remove_all(folder.path() + "/dogs");
  BOOST_TEST((load(decoded).status().code() == Code::DataLoss));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::train::data_map_test
