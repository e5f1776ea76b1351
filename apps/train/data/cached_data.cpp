#include "apps/train/data/cached_data.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>

#include "apps/data/cache/sample_cache.h"
#include "apps/data/file_patterns.h"
#include "apps/data/sources.h"
#include "messages/env/descriptor.h"

namespace troupe::train {
namespace {

/// Waits until this process alone may write caches in a folder, which ends with the descriptor. Failures are ignored, because
/// some file systems have no locks. A link is not followed, because it might lead to a file that the disk refuses.
Descriptor lock(const std::string& folder) {
  constexpr int mode = 0644;
  Descriptor file(::open((folder + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode));
  while (file.number() >= 0 && ::flock(file.number(), LOCK_EX) != 0 && errno == EINTR) {
  }
  return file;
}

/// Returns everything on which the samples depend: the version of Troupe, the seed, the files and the keys of [data], apart
/// from those that concern batches or columns that are made of the samples later.
Result<std::string> key_of(Disk& disk, const config::RunConfig& config) {
  constexpr std::string_view later[] = {"augment",   "batch",  "bucket", "cache",
                                        "cache_dir", "ragged", "shuffle"};
  const auto* const section = config::find(config.document->root(), "data");
  config::Table data = section ? *section->get_if<config::Table>() : config::Table();
  std::erase_if(data, [&](const config::Entry& entry) {
    return std::ranges::find(later, entry.key) != std::end(later);
  });
  TROUPE_ASSIGN(const auto options, data::with_matching_files(disk, config.data));
  TROUPE_ASSIGN(const std::string files, data::fingerprints(disk, options));
  return "troupe " TROUPE_VERSION "\nseed " + std::to_string(config.run.seed) + "\nbuffer " +
         std::to_string(config.data.buffer) + '\n' + config::to_toml(data) + files;
}

Status explained(const Status& failure, const std::string& folder) {
  if (failure.code() != Code::ResourceExhausted) return failure;
  return Status(failure.code(), "the cache of samples (data.cache = \"file\") does not fit in " + folder +
                                    ", data.cache_dir can name another folder: " + failure.text());
}

}  // namespace

std::string cache_folder(const config::RunConfig& config) {
  if (!config.cache_folder.empty()) return config.cache_folder;
  return config.run.directory + '/' + config.run.name + "/cache";
}

Result<data::TrainAndValid> cached(Disk& disk, const config::RunConfig& config,
                                   const std::function<Result<data::TrainAndValid>()>& make) {
  const std::string folder = cache_folder(config);
  TROUPE_RETURN_IF_FAILED(make_folders(disk, folder));
  const auto held = lock(folder);
  TROUPE_ASSIGN(const std::string key, key_of(disk, config));
  const data::CachePlace train{folder + "/train.samples", key, config.data.buffer},
      valid{folder + "/valid.samples", key, config.data.buffer};
  const bool validates = config.data.valid_split > 0 || !config.data.valid.empty();
  const auto open = [&]() -> Result<data::TrainAndValid> {
    data::TrainAndValid data;
    TROUPE_ASSIGN(data.train, data::open_cache(disk, train));
    if (validates) {
      TROUPE_ASSIGN(data.valid, data::open_cache(disk, valid));
    }
    return data;
  };
  TROUPE_ASSIGN(data::TrainAndValid data, open());
  if (data.train && (data.valid || !validates)) return data;
  TROUPE_ASSIGN(data, make());
  TROUPE_RETURN_IF_FAILED(explained(data::write_cache(disk, train, *data.train), folder));
  if (data.valid) TROUPE_RETURN_IF_FAILED(explained(data::write_cache(disk, valid, *data.valid), folder));
  TROUPE_ASSIGN(data, open());
  if (!data.train || (validates && !data.valid))
    return data_loss("the cache in " + folder + " was damaged while it was written");
  return data;
}

}  // namespace troupe::train
