#include "apps/inference/cancellable_disk.h"

#include <algorithm>
#include <utility>

namespace troupe::inference {
namespace {

constexpr size_t bytes_at_once = size_t{8} << 20;

Status check_not_cancelled(const Cancellation* cancellation, const std::string& path) {
  if (!cancellation || !cancellation->cancelled()) return {};
  return cancelled("the work with " + path + " was cancelled");
}

class CancellableReads final : public ReadableFile {
 public:
  CancellableReads(std::unique_ptr<ReadableFile> file, std::string path, const Cancellation* cancellation)
      : file_(std::move(file)), path_(std::move(path)), cancellation_(cancellation) {}

  Result<uint64_t> size() override { return file_->size(); }
  Result<size_t> read(uint64_t offset, std::span<std::byte> into) override {
    size_t done = 0;
    while (done < into.size()) {
      TROUPE_RETURN_IF_FAILED(check_not_cancelled(cancellation_, path_));
      const auto piece = into.subspan(done, std::min(bytes_at_once, into.size() - done));
      TROUPE_ASSIGN(const size_t read, file_->read(offset + done, piece));
      done += read;
      if (read < piece.size()) break;
    }
    return done;
  }

 private:
  const std::unique_ptr<ReadableFile> file_;
  const std::string path_;
  const Cancellation* const cancellation_;
};

class CancellableWrites final : public WritableFile {
 public:
  CancellableWrites(std::unique_ptr<WritableFile> file, std::string path, const Cancellation* cancellation)
      : file_(std::move(file)), path_(std::move(path)), cancellation_(cancellation) {}

  Status write(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      TROUPE_RETURN_IF_FAILED(check_not_cancelled(cancellation_, path_));
      const size_t piece = std::min(bytes_at_once, bytes.size());
      TROUPE_RETURN_IF_FAILED(file_->write(bytes.first(piece)));
      bytes = bytes.subspan(piece);
    }
    return {};
  }
  Status sync() override { return file_->sync(); }
  Status close() override { return file_->close(); }

 private:
  const std::unique_ptr<WritableFile> file_;
  const std::string path_;
  const Cancellation* const cancellation_;
};

using Written = Result<std::unique_ptr<WritableFile>>;

Written cancellable(Written file, const std::string& path, const Cancellation* cancellation) {
  if (!file) return file;
  return std::unique_ptr<WritableFile>(
      std::make_unique<CancellableWrites>(std::move(*file), path, cancellation));
}

}  // namespace

Result<std::unique_ptr<ReadableFile>> CancellableDisk::open(const std::string& path) {
  TROUPE_RETURN_IF_FAILED(check_not_cancelled(cancellation_, path));
  TROUPE_ASSIGN(auto file, ForwardingDisk::open(path));
  return std::unique_ptr<ReadableFile>(
      std::make_unique<CancellableReads>(std::move(file), path, cancellation_));
}

Result<std::unique_ptr<WritableFile>> CancellableDisk::create(const std::string& path) {
  TROUPE_RETURN_IF_FAILED(check_not_cancelled(cancellation_, path));
  return cancellable(ForwardingDisk::create(path), path, cancellation_);
}

Result<std::unique_ptr<WritableFile>> CancellableDisk::append(const std::string& path) {
  TROUPE_RETURN_IF_FAILED(check_not_cancelled(cancellation_, path));
  return cancellable(ForwardingDisk::append(path), path, cancellation_);
}

Result<std::vector<Disk::Entry>> CancellableDisk::list(const std::string& folder) {
  TROUPE_RETURN_IF_FAILED(check_not_cancelled(cancellation_, folder));
  return ForwardingDisk::list(folder);
}

}  // namespace troupe::inference
