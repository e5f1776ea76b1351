// The format images: a folder with a folder for each class, which has files of images. A sample is the bytes of a file, which an
// expression of data.map decodes, and the number of its class: its place in data.label_names or, without these, in the order of the
// folders' names. Without labels, the images lie in the folder itself, or an image is named.
#include "apps/data/formats/images.h"

#include <algorithm>

#include "apps/data/file_content.h"
#include "apps/data/format.h"

namespace troupe::data {
namespace {

// The row of the schema is that of csv.
constexpr config::Key images_keys[] = {{"data.label_names", config::Kind::Strings, {}}};

struct ImageFile {
  std::string path;
  int32_t label = 0;
};
using ImageFiles = std::vector<ImageFile>;

/// Returns the entries of a folder in the order of their names.
Result<std::vector<Disk::Entry>> sorted_entries(Disk& disk, const std::string& folder) {
  TROUPE_ASSIGN(auto entries, disk.list(folder));
  std::ranges::sort(entries, {}, &Disk::Entry::name);
  return entries;
}

Status add_images(Disk& disk, const std::string& folder, int32_t label, ImageFiles& files) {
  TROUPE_ASSIGN(const auto entries, sorted_entries(disk, folder));
  for (const Disk::Entry& entry : entries)
    if (!entry.is_folder && is_image_name(entry.name)) files.push_back({folder + '/' + entry.name, label});
  return {};
}

Result<ImageFiles> find_labelled(Disk& disk, const SourceFile& file) {
  ImageFiles files;
  const auto names = option<std::vector<std::string>>(file.options, "label_names", {});
  const bool has_names = !names.empty() && names.front() != "auto";
  TROUPE_ASSIGN(const auto entries, sorted_entries(disk, file.path));
  int32_t number = 0;
  for (const Disk::Entry& one : entries) {
    if (!one.is_folder) continue;
    const auto found = std::ranges::find(names, one.name);
    if (has_names && found == names.end())
      return data_loss(file.path + ": the folder '" + one.name + "' is no class; data.label_names are " +
                       std::to_string(names.size()) + ", the first of them '" + names.front() + "'");
    const int32_t label = has_names ? static_cast<int32_t>(found - names.begin()) : number++;
    TROUPE_RETURN_IF_FAILED(add_images(disk, file.path + '/' + one.name, label, files));
  }
  if (files.empty())
    return data_loss(file.path + ": no folder in it has an image (.jpg, .jpeg, .png, .gif, .bmp)");
  return files;
}

/// Returns the image, those in a folder or, if there are none, those in its folders.
Result<ImageFiles> find_unlabelled(Disk& disk, const std::string& path) {
  TROUPE_ASSIGN(const auto info, disk.info(path));
  if (!info.is_folder) return ImageFiles{{path}};
  ImageFiles files;
  TROUPE_RETURN_IF_FAILED(add_images(disk, path, 0, files));
  if (!files.empty()) return files;
  TROUPE_ASSIGN(const auto entries, sorted_entries(disk, path));
  for (const Disk::Entry& one : entries)
    if (one.is_folder) TROUPE_RETURN_IF_FAILED(add_images(disk, path + '/' + one.name, 0, files));
  if (files.empty()) return data_loss(path + ": it has no image (.jpg, .jpeg, .png, .gif, .bmp)");
  return files;
}

/// Returns the paths and labels as a text, by which a changed folder is known.
std::string listing(const std::vector<ImageFile>& files) {
  std::string text;
  for (const ImageFile& file : files) text += file.path + ' ' + std::to_string(file.label) + '\n';
  return text;
}

/// What the base class refers to, so that it is made before and ends after it.
struct Listing {
  std::string text;
};

class ImageReader final : private Listing, public RecordReader {
 public:
  ImageReader(Disk& disk, const SourceFile& source, std::vector<ImageFile> files)
      : Listing{listing(files)}, RecordReader("images", {InputFile::in_memory(text, source.path)}),
        disk_(disk), files_(std::move(files)) {
    schema_ = {{feature_column, DType::String, {}}};
    if (has_own_labels(source.options)) schema_.push_back({label_column, DType::Int32, {}});
  }

  std::optional<int64_t> records() const override { return static_cast<int64_t>(files_.size()); }

  Result<Dataset> next(int64_t max_records) override {
    const int64_t count = std::min(max_records, *records() - next_);
    TROUPE_ASSIGN(Tensor images, Tensor::allocate(DType::String, Shape::vector(count)));
    TROUPE_ASSIGN(Tensor labels, Tensor::allocate(DType::Int32, Shape::vector(count)));
    for (int64_t i = 0; i < count; ++i) {
      const ImageFile& file = files_[static_cast<size_t>(next_ + i)];
      TROUPE_ASSIGN(images.write<std::string>()[static_cast<size_t>(i)],
                    read_file(disk_, file.path, max_image_bytes));
      labels.write<int32_t>()[static_cast<size_t>(i)] = file.label;
    }
    next_ += count;
    if (schema_.size() == 1) return Dataset({{feature_column, std::move(images)}});
    return Dataset({{feature_column, std::move(images)}, {label_column, std::move(labels)}});
  }

  Result<int64_t> skip(int64_t max_records) override {
    const int64_t count = std::min(max_records, *records() - next_);
    next_ += count;
    return count;
  }

 private:
  ReaderPosition tell() const override { return {.record = static_cast<uint64_t>(next_)}; }
  Status seek(const ReaderPosition& position) override {
    if (position.record > files_.size())
      return invalid_argument("the position '" + to_text(position) + "' lies outside the " +
                              std::to_string(files_.size()) + " images");
    next_ = static_cast<int64_t>(position.record);
    return {};
  }

  Disk& disk_;
  std::vector<ImageFile> files_;
  int64_t next_ = 0;
};

Result<std::unique_ptr<RecordReader>> open_images(Disk& disk, const SourceFile& file) {
  TROUPE_ASSIGN(auto files,
                has_own_labels(file.options) ? find_labelled(disk, file) : find_unlabelled(disk, file.path));
  return std::unique_ptr<RecordReader>(std::make_unique<ImageReader>(disk, file, std::move(files)));
}

}  // namespace

Format images_format() {
  return {.name = "images",
          .open = open_images,
          .features = DType::String,
          .keys = images_keys,
          .labelled = has_own_labels};
}

Result<std::set<std::string>> image_classes(Disk& disk, std::span<const std::string> folders) {
  std::set<std::string> classes;
  for (const std::string& folder : folders) {
    TROUPE_ASSIGN(const auto entries, disk.list(folder));
    for (const Disk::Entry& entry : entries)
      if (entry.is_folder) classes.insert(entry.name);
  }
  return classes;
}

Result<std::vector<std::string>> image_files(Disk& disk, std::span<const std::string> paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    TROUPE_ASSIGN(auto found, find_unlabelled(disk, path));
    for (ImageFile& file : found) files.push_back(std::move(file.path));
  }
  return files;
}

}  // namespace troupe::data
