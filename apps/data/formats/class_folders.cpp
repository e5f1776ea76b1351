// The formats images and sounds: a folder with a folder for each class, which has files of its samples. A sample is the bytes of a
// file, which an expression of data.map decodes, and the number of its class: its place in data.label_names or, without these, in
// the order of the folders' names. Without labels, the files lie in the folder itself, or a file is named.
#include "apps/data/formats/class_folders.h"

#include <algorithm>

#include "apps/data/file_content.h"
#include "apps/data/format.h"

namespace troupe::data {
namespace {

// The row of the schema is that of csv.
constexpr config::Key class_folder_keys[] = {{"data.label_names", config::Kind::Strings, {}}};

constexpr FileKind image_kind{"images", ".jpg, .jpeg, .png, .gif, .bmp", is_image_name};
constexpr FileKind sound_kind{"sounds", ".wav", is_sound_name};

struct SampleFile {
  std::string path;
  int32_t label = 0;
};
using SampleFiles = std::vector<SampleFile>;

/// Returns what a folder should have had, for errors: "images (.jpg, .jpeg, .png, .gif, .bmp)".
std::string expected(const FileKind& kind) {
  return std::string(kind.format) + " (" + std::string(kind.endings) + ')';
}

/// Returns the entries of a folder in the order of their names. What begins with a dot is hidden, such as what programs leave
/// there.
Result<std::vector<Disk::Entry>> sorted_entries(Disk& disk, const std::string& folder) {
  TROUPE_ASSIGN(auto entries, disk.list(folder));
  std::erase_if(entries, [](const Disk::Entry& entry) { return entry.name.starts_with('.'); });
  std::ranges::sort(entries, {}, &Disk::Entry::name);
  return entries;
}

Status add_files(Disk& disk, const FileKind& kind, const std::string& folder, int32_t label,
                 SampleFiles& files) {
  TROUPE_ASSIGN(const auto entries, sorted_entries(disk, folder));
  for (const Disk::Entry& entry : entries)
    if (!entry.is_folder && kind.is_name(entry.name)) files.push_back({folder + '/' + entry.name, label});
  return {};
}

Result<SampleFiles> find_labelled(Disk& disk, const FileKind& kind, const SourceFile& file) {
  SampleFiles files;
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
    TROUPE_RETURN_IF_FAILED(add_files(disk, kind, file.path + '/' + one.name, label, files));
  }
  if (files.empty()) return data_loss(file.path + ": no folder in it has " + expected(kind));
  return files;
}

/// Returns the file, those in a folder or, if there are none, those in its folders.
Result<SampleFiles> find_unlabelled(Disk& disk, const FileKind& kind, const std::string& path) {
  TROUPE_ASSIGN(const auto info, disk.info(path));
  if (!info.is_folder) return SampleFiles{{path}};
  SampleFiles files;
  TROUPE_RETURN_IF_FAILED(add_files(disk, kind, path, 0, files));
  if (!files.empty()) return files;
  TROUPE_ASSIGN(const auto entries, sorted_entries(disk, path));
  for (const Disk::Entry& one : entries)
    if (one.is_folder) TROUPE_RETURN_IF_FAILED(add_files(disk, kind, path + '/' + one.name, 0, files));
  if (files.empty()) return data_loss(path + ": it has no " + expected(kind));
  return files;
}

/// Returns the paths and labels as a text, by which a changed folder is known.
std::string listing(const SampleFiles& files) {
  std::string text;
  for (const SampleFile& file : files) text += file.path + ' ' + std::to_string(file.label) + '\n';
  return text;
}

/// What the base class refers to, so that it is made before and ends after it.
struct Listing {
  std::string text;
};

class FolderReader final : private Listing, public RecordReader {
 public:
  FolderReader(Disk& disk, const FileKind& kind, const SourceFile& source, SampleFiles files)
      : Listing{listing(files)},
        RecordReader(std::string(kind.format), {InputFile::in_memory(text, source.path)}), disk_(disk),
        files_(std::move(files)) {
    schema_ = {{feature_column, DType::String, {}}};
    if (has_own_labels(source.options)) schema_.push_back({label_column, DType::Int32, {}});
  }

  std::optional<int64_t> records() const override { return static_cast<int64_t>(files_.size()); }

  Result<Dataset> next(int64_t max_records) override {
    const int64_t count = std::min(max_records, *records() - next_);
    TROUPE_ASSIGN(Tensor contents, Tensor::allocate(DType::String, Shape::vector(count)));
    TROUPE_ASSIGN(Tensor labels, Tensor::allocate(DType::Int32, Shape::vector(count)));
    for (int64_t i = 0; i < count; ++i) {
      const SampleFile& file = files_[static_cast<size_t>(next_ + i)];
      TROUPE_ASSIGN(contents.write<std::string>()[static_cast<size_t>(i)],
                    read_file(disk_, file.path, max_sample_bytes));
      labels.write<int32_t>()[static_cast<size_t>(i)] = file.label;
    }
    next_ += count;
    if (schema_.size() == 1) return Dataset({{feature_column, std::move(contents)}});
    return Dataset({{feature_column, std::move(contents)}, {label_column, std::move(labels)}});
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
                              std::to_string(files_.size()) + " files");
    next_ = static_cast<int64_t>(position.record);
    return {};
  }

  Disk& disk_;
  SampleFiles files_;
  int64_t next_ = 0;
};

Result<std::unique_ptr<RecordReader>> open_folder(Disk& disk, const FileKind& kind, const SourceFile& file) {
  TROUPE_ASSIGN(auto files, has_own_labels(file.options) ? find_labelled(disk, kind, file)
                                                         : find_unlabelled(disk, kind, file.path));
  return std::unique_ptr<RecordReader>(std::make_unique<FolderReader>(disk, kind, file, std::move(files)));
}

Format format_of(const FileKind& kind,
                 Result<std::unique_ptr<RecordReader>> (*open)(Disk& disk, const SourceFile& file)) {
  return {.name = kind.format,
          .open = open,
          .features = DType::String,
          .keys = class_folder_keys,
          .labelled = has_own_labels};
}

}  // namespace

Format images_format() {
  return format_of(image_kind,
                   [](Disk& disk, const SourceFile& file) { return open_folder(disk, image_kind, file); });
}

Format sounds_format() {
  return format_of(sound_kind,
                   [](Disk& disk, const SourceFile& file) { return open_folder(disk, sound_kind, file); });
}

const FileKind* file_kind(std::string_view format) {
  for (const FileKind* const kind : {&image_kind, &sound_kind})
    if (kind->format == format) return kind;
  return nullptr;
}

Result<ClassSizes> survey_classes(Disk& disk, const FileKind& kind, const std::string& folder,
                                  const std::function<Status(const std::string& file)>& look) {
  constexpr size_t most_of_class = 20;  // files that are looked at
  TROUPE_ASSIGN(const auto names, class_folders(disk, std::span(&folder, 1)));
  if (names.size() < 2)
    return invalid_argument(folder + ": there must be a folder for each class, with its " +
                            std::string(kind.format) + ", but there " +
                            (names.empty() ? "is none" : "is only '" + *names.begin() + "'"));
  ClassSizes classes;
  for (const std::string& name : names) {
    const std::string path = std::string(folder).append("/").append(name);
    const auto files = files_without_labels(disk, kind, std::span(&path, 1));
    if (!files) return invalid_argument(files.status().text());
    classes.emplace_back(name, static_cast<int64_t>(files->size()));
    for (size_t i = 0; i < std::min(files->size(), most_of_class); ++i)
      TROUPE_RETURN_IF_FAILED(look((*files)[i]));
  }
  return classes;
}

Result<std::set<std::string>> class_folders(Disk& disk, std::span<const std::string> folders) {
  std::set<std::string> classes;
  for (const std::string& folder : folders) {
    TROUPE_ASSIGN(const auto entries, sorted_entries(disk, folder));
    for (const Disk::Entry& entry : entries)
      if (entry.is_folder) classes.insert(entry.name);
  }
  return classes;
}

Result<std::vector<std::string>> files_without_labels(Disk& disk, const FileKind& kind,
                                                      std::span<const std::string> paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    TROUPE_ASSIGN(auto found, find_unlabelled(disk, kind, path));
    for (SampleFile& file : found) files.push_back(std::move(file.path));
  }
  return files;
}

}  // namespace troupe::data
