#include "apps/data/convert/convert.h"

#include <algorithm>
#include <array>
#include <optional>

#include "apps/data/convert/array_files.h"
#include "apps/data/convert/csv_text.h"
#include "apps/data/convert/examples.h"
#include "apps/data/convert/json_text.h"
#include "apps/data/format.h"
#include "messages/records/tf_record.h"

namespace troupe::data {
namespace {

std::string_view without_compression(std::string_view path) {
  for (const std::string_view ending : {".gz", ".zst"})
    if (path.ends_with(ending)) return path.substr(0, path.size() - ending.size());
  return path;
}

/// Calls use(batch) for all samples, from the first one on. `done` counts the samples over several calls.
Status for_each_batch(SampleStream& samples, int64_t& done, int64_t all, const ConvertProgress& progress,
                      const std::function<Status(const Dataset&)>& use) {
  TROUPE_RETURN_IF_FAILED(samples.restart());
  for (;;) {
    TROUPE_ASSIGN(const Dataset batch, samples.next());
    if (batch.samples() == 0) return {};
    TROUPE_RETURN_IF_FAILED(use(batch));
    done += batch.samples();
    if (progress && !progress(done, all)) return cancelled("the conversion was stopped");
  }
}

/// Writes a file of rows, each of which is the text of a sample, after a header.
Status write_rows(Disk& disk, SampleStream& samples, const std::string& path, const ConvertProgress& progress,
                  Status (*append)(const Dataset&, int64_t row, std::string& to),
                  const std::string& header = {}) {
  TROUPE_ASSIGN(NewFile file, NewFile::create(disk, path));
  if (!header.empty()) TROUPE_RETURN_IF_FAILED(file.write(header + '\n'));
  int64_t done = 0;
  const auto write = [&](const Dataset& batch) -> Status {
    std::string bytes;
    for (int64_t row = 0; row < batch.samples(); ++row)
      if (const Status status = append(batch, row, bytes); !status.ok())
        return Status(status.code(), "sample " + std::to_string(done + row) + ": " + status.text());
    return file.write(bytes);
  };
  TROUPE_RETURN_IF_FAILED(for_each_batch(samples, done, samples.samples(), progress, write));
  return file.commit();
}

Status append_record(const Dataset& batch, int64_t row, std::string& to) {
  TROUPE_ASSIGN(const std::string example, to_example(batch, row));
  append_tf_record(to, example);
  return {};
}

/// Writes a file for each array.
Status write_arrays(Disk& disk, SampleStream& samples, const std::string& path,
                    const ConvertProgress& progress, const ArrayForm& form) {
  TROUPE_ASSIGN(const auto paths, files_to_write(path, samples.columns()));
  constexpr std::array names = {feature_column, label_column};
  std::vector<NewFile> files;
  for (size_t i = 0; i < paths.size(); ++i) {
    const Tensor* const column = samples.columns().find(names[i]);
    TROUPE_ASSIGN(const std::string header, form.header(*column, samples.samples(), names[i]));
    TROUPE_ASSIGN(NewFile file, NewFile::create(disk, paths[i]));
    TROUPE_RETURN_IF_FAILED(file.write(header));
    files.push_back(std::move(file));
  }
  int64_t done = 0;
  const auto write = [&](const Dataset& batch) -> Status {
    for (size_t i = 0; i < files.size(); ++i)
      TROUPE_RETURN_IF_FAILED(files[i].write(form.elements(*batch.find(names[i]))));
    return {};
  };
  TROUPE_RETURN_IF_FAILED(for_each_batch(samples, done, samples.samples(), progress, write));
  for (NewFile& file : files) TROUPE_RETURN_IF_FAILED(file.commit());
  return {};
}

/// Writes the arrays of all columns one behind the other, for each of which the samples are read once.
Status write_archive(Disk& disk, SampleStream& samples, const std::string& path,
                     const ConvertProgress& progress) {
  const ArrayForm form = npy_form();
  TROUPE_ASSIGN(NewFile file, NewFile::create(disk, path));
  NpzWriter archive([&](std::string_view bytes) { return file.write(bytes); });
  const auto columns = samples.columns().columns();
  const int64_t all = samples.samples() * static_cast<int64_t>(columns.size());
  int64_t done = 0;
  for (const Column& column : columns) {
    TROUPE_ASSIGN(const std::string header, form.header(column.values, samples.samples(), column.name));
    TROUPE_RETURN_IF_FAILED(archive.begin(column.name));
    TROUPE_RETURN_IF_FAILED(archive.add(header));
    const auto write = [&](const Dataset& batch) {
      return archive.add(form.elements(*batch.find(column.name)));
    };
    TROUPE_RETURN_IF_FAILED(for_each_batch(samples, done, all, progress, write));
    TROUPE_RETURN_IF_FAILED(archive.end());
  }
  TROUPE_RETURN_IF_FAILED(archive.finish());
  return file.commit();
}

}  // namespace

std::string format_of_name(std::string_view path) {
  path = without_compression(path);
  const std::string_view ending = path.substr(std::min(path.rfind('.'), path.size()));
  if (ending == ".csv" || ending == ".npy" || ending == ".npz" || ending == ".idx" || ending == ".tfrecord" ||
      ending == ".jsonl")
    return std::string(ending.substr(1));
  return ending == ".tfrecords" ? "tfrecord" : "";
}

Result<std::vector<std::string>> files_to_write(const std::string& path, const Dataset& columns) {
  const std::string format = format_of_name(path);
  if (format.empty() || without_compression(path) != path)
    return invalid_argument(path + ": the ending names no format that can be written; allowed: " +
                            ".csv, .idx, .jsonl, .npy, .npz and .tfrecord");
  if (format != "npy" && format != "idx") return std::vector{path};
  if (!columns.find(feature_column) || columns.columns().size() != (columns.find(label_column) ? 2u : 1u))
    return invalid_argument(
        path + ": files of " + format +
        " have the column image and, in a file of its own, the column label; the samples " +
        "have other columns");
  if (!columns.find(label_column)) return std::vector{path};
  const size_t ending = path.rfind('.');
  return std::vector{path, path.substr(0, ending) + "_labels" + path.substr(ending)};
}

Status convert(Disk& disk, SampleStream& samples, const std::string& path, const ConvertProgress& progress,
               const std::string& csv_header) {
  TROUPE_RETURN_IF_FAILED(files_to_write(path, samples.columns()).status());
  const std::string format = format_of_name(path);
  if (format == "csv") return write_rows(disk, samples, path, progress, append_csv_row, csv_header);
  if (format == "jsonl") return write_rows(disk, samples, path, progress, append_json_line);
  if (format == "tfrecord") return write_rows(disk, samples, path, progress, append_record);
  if (format == "npz") return write_archive(disk, samples, path, progress);
  return write_arrays(disk, samples, path, progress, format == "npy" ? npy_form() : idx_form());
}

}  // namespace troupe::data
