#include "actors/services/files/files.h"

#include <algorithm>

#include "messages/env/glob.h"
#include "messages/schemas/files.capnp.h"

namespace troupe {
namespace {

constexpr uint64_t max_file_bytes = uint64_t{1} << 31;

Result<Tensor> read(Disk& disk, const std::string& path) {
  TROUPE_ASSIGN(std::string content, read_file(disk, path, max_file_bytes));
  TROUPE_ASSIGN(Tensor tensor, Tensor::allocate(DType::String, Shape{}));
  tensor.write<std::string>()[0] = std::move(content);
  return tensor;
}

Status write(Disk& disk, const std::string& path, std::string_view content) {
  TROUPE_RETURN_IF_FAILED(make_folders(disk, folder_of(path)));
  TROUPE_ASSIGN(NewFile file, NewFile::create(disk, path));
  TROUPE_RETURN_IF_FAILED(file.write(content));
  return file.commit();
}

Result<Tensor> find(Disk& disk, std::span<const std::string> patterns) {
  std::vector<std::string> paths;
  for (const std::string& pattern : patterns) {
    TROUPE_ASSIGN(auto found, matching_paths(disk, pattern));
    std::ranges::move(found, std::back_inserter(paths));
  }
  std::ranges::sort(paths);
  TROUPE_ASSIGN(Tensor tensor,
                Tensor::allocate(DType::String, Shape::vector(static_cast<int64_t>(paths.size()))));
  std::ranges::move(paths, tensor.write<std::string>().begin());
  return tensor;
}

/// Returns attachment `i`, which must be strings.
Result<Tensor> strings(const AnyMessage& message, uint32_t i) {
  TROUPE_ASSIGN(Tensor tensor, message.attachment(i));
  if (tensor.dtype() != DType::String) return invalid_argument("a path is " + tensor.signature());
  return tensor;
}

/// Returns attachment `i`, which must be one string.
Result<std::string> text(const AnyMessage& message, uint32_t i) {
  TROUPE_ASSIGN(const Tensor tensor, strings(message, i));
  if (tensor.elements() != 1) return invalid_argument("a path is " + tensor.signature());
  return tensor.as<std::string>()[0];
}

class FilesRole final : public OffloadingRole {
 public:
  explicit FilesRole(ActorNode& node) : OffloadingRole(node) {
    on<wire::ReadFile>([this](const auto& message, Reply reply) { read_file(message, std::move(reply)); });
    on<wire::WriteFile>([this](const auto& message, Reply reply) { write_file(message, std::move(reply)); });
    on<wire::FindFiles>([this](const auto& message, Reply reply) { find_files(message, std::move(reply)); });
  }

 private:
  /// Does the work on the file thread and answers with its result.
  template <class Answer>
  void answer_with(std::function<Result<Tensor>()> work, Reply reply) {
    auto kept = std::make_shared<Reply>(std::move(reply));
    block<Tensor>(std::move(work), [kept](Result<Tensor> result) {
      if (!result) return (*kept)(result.status());
      (*kept)(Draft<Answer>().finish({std::move(*result)}));
    });
  }

  void read_file(const AnyMessage& message, Reply reply) {
    auto path = text(message, 0);
    if (!path) return reply(path.status());
    answer_with<wire::FileRead>(
        [&disk = node_.env.disk, path = std::move(*path)] { return read(disk, path); }, std::move(reply));
  }

  void find_files(const AnyMessage& message, Reply reply) {
    auto patterns = strings(message, 0);
    if (!patterns) return reply(patterns.status());
    answer_with<wire::FilesFound>(
        [&disk = node_.env.disk, patterns = std::move(*patterns)] {
          return find(disk, patterns.as<std::string>());
        },
        std::move(reply));
  }

  void write_file(const AnyMessage& message, Reply reply) {
    auto path = text(message, 0);
    auto content = strings(message, 1);
    if (!path || !content) return reply(path ? content.status() : path.status());
    if (content->elements() != 1) return reply(invalid_argument("contents is " + content->signature()));
    auto kept = std::make_shared<Reply>(std::move(reply));
    block<bool>(
        [&disk = node_.env.disk, path = std::move(*path), content = std::move(*content)]() -> Result<bool> {
          TROUPE_RETURN_IF_FAILED(write(disk, path, content.as<std::string>()[0]));
          return true;
        },
        [kept](const Result<bool>& written) {
          if (!written) return (*kept)(written.status());
          (*kept)(Draft<wire::FileWritten>().finish());
        });
  }
};

}  // namespace

std::unique_ptr<Role> make_files(ActorNode& node) { return std::make_unique<FilesRole>(node); }

}  // namespace troupe
