#include "actors/checkpoint/shard_work.h"

#include <algorithm>
#include <future>

namespace troupe {
namespace {

Status wait_for(const Completion& completion) {
  auto done = std::make_shared<std::promise<Status>>();
  completion.then([done](Status status) { done->set_value(std::move(status)); });
  return done->get_future().get();
}

}  // namespace

Result<std::vector<SavedFile>> write_files(Disk& disk, const Writing& writing, SavedCells::Plan& plan) {
  std::vector<SavedFile> files = std::move(plan.older);
  for (SavedTensors* const tensors : {&plan.changed, &plan.steady}) {
    if (tensors->empty()) continue;
    for (const auto& tensor : *tensors) TROUPE_RETURN_IF_FAILED(wait_for(tensor.value.completion()));
    const std::string name = shard_name(writing.shard, writing.shards, tensors == &plan.steady);
    TROUPE_ASSIGN(auto file, write_shard(disk, writing.folder, name, *tensors, writing.unhurried));
    files.push_back({std::move(file), std::move(*tensors)});
  }
  return files;
}

Result<SavedTensors> read_files(Disk& disk, const Reading& reading) {
  RestoredCells restored(reading.cells, reading.folder);
  const auto wanted = [&](const ShardFile::Saved& saved) { return restored.wants(saved); };
  for (size_t i = 0; i < reading.files.size(); ++i) {
    const ShardFile& file = reading.files[i];
    const bool must_check = i % reading.writers == reading.writer;
    if (!must_check && std::ranges::none_of(file.tensors, wanted)) continue;
    TROUPE_ASSIGN(auto tensors, read_shard(disk, reading.folder, file, wanted));
    for (const auto& tensor : tensors) TROUPE_RETURN_IF_FAILED(restored.add(tensor));
  }
  return restored.take();
}

}  // namespace troupe
