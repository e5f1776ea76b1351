#include "apps/train/data/failed_sample.h"

#include <algorithm>

#include "apps/config/mistake_places.h"
#include "apps/data/file_content.h"
#include "apps/data/formats/class_folders.h"

namespace troupe::train {
namespace {

/// Returns the path of the file in a folder, or in a folder of it, that has these bytes; empty if there is none.
std::string file_with(Disk& disk, const std::string& folder, std::string_view bytes, int depth) {
  const auto entries = disk.list(folder);
  if (!entries) return {};
  for (const Disk::Entry& entry : *entries) {
    std::string path = folder + '/' + entry.name;
    if (entry.is_folder && depth > 0) {
      if (auto found = file_with(disk, path, bytes, depth - 1); !found.empty()) return found;
    } else if (const auto info = disk.info(path); info && !info->is_folder && info->bytes == bytes.size()) {
      if (const auto content = read_file(disk, path, data::max_sample_bytes); content && *content == bytes)
        return path;
    }
  }
  return {};
}

/// Returns the file of a sample that is a file of its own. Batches do not carry paths, so the file is found by its bytes.
std::string file_of(Disk& disk, const data::Options& options, const data::Dataset& sample) {
  const Tensor* const content = data::file_kind(options.format) ? sample.find(data::feature_column) : nullptr;
  if (!content || content->dtype() != DType::String || content->elements() != 1) return {};
  for (const auto* const folders : {&options.train, &options.valid, &options.test})
    for (const std::string& folder : *folders)
      if (auto found = file_with(disk, folder, content->as<std::string>()[0], 1); !found.empty())
        return found;
  return {};
}

}  // namespace

Status with_failed_sample(Disk& disk, const SampleOrigin& origin, const data::Dataset& batch,
                          const ComputeColumns& compute, const Status& failure) {
  for (int64_t i = 0; i < batch.samples(); ++i) {
    const data::Dataset sample = batch.slice(i, i + 1);
    const Status alone = compute(sample);
    if (alone.ok()) continue;
    const std::string file = file_of(disk, origin.config.data, sample);
    return data_loss((file.empty() ? "a sample" : file) + ": " +
                     config::with_definition(origin.config, origin.definitions, alone).text());
  }
  return failure;
}

}  // namespace troupe::train
