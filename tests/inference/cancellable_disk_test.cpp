// A disk whose files are read and written until a cancellation is cancelled.
#include <boost/test/unit_test.hpp>

#include <memory>
#include <span>
#include <string>

#include "apps/inference/cancellable_disk.h"
#include "messages/env/forwarding_disk.h"
#include "messages/env/real_disk.h"
#include "tests/support/temporary_folder.h"

namespace troupe::test::cancellable_disk_test {
namespace {

constexpr uint64_t no_limit = uint64_t{1} << 30;

struct Fixture {
  std::string path(const std::string& name) const { return folder.path() + '/' + name; }
  std::string text_of(const std::string& name) {
    return value_or_throw(read_file(real, path(name), no_limit));
  }

  TemporaryFolder folder;
  RealDisk real;
  Cancellation cancellation;
  inference::CancellableDisk disk{real, &cancellation};
};

/// Cancels while a file is read.
class CancellingFile final : public ReadableFile {
 public:
  CancellingFile(std::unique_ptr<ReadableFile> file, Cancellation& cancellation)
      : file_(std::move(file)), cancellation_(cancellation) {}
  Result<uint64_t> size() override { return file_->size(); }
  Result<size_t> read(uint64_t offset, std::span<std::byte> into) override {
    cancellation_.cancel();
    return file_->read(offset, into);
  }

 private:
  const std::unique_ptr<ReadableFile> file_;
  Cancellation& cancellation_;
};

/// A disk whose files cancel while they are read.
class CancellingDisk final : public ForwardingDisk {
 public:
  CancellingDisk(Disk& disk, Cancellation& cancellation)
      : ForwardingDisk(disk), cancellation_(cancellation) {}
  Result<std::unique_ptr<ReadableFile>> open(const std::string& path) override {
    TROUPE_ASSIGN(auto file, ForwardingDisk::open(path));
    return std::unique_ptr<ReadableFile>(std::make_unique<CancellingFile>(std::move(file), cancellation_));
  }

 private:
  Cancellation& cancellation_;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(cancellable_disk, Fixture)

BOOST_AUTO_TEST_CASE(files_are_those_of_the_other_disk) {
  std::string text;
  while (text.size() < (size_t{20} << 20)) text += std::to_string(text.size());
  {
    NewFile file = value_or_throw(NewFile::create(disk, path("whole")));
    throw_if_failed(file.write(text));
    throw_if_failed(file.commit());
  }
  BOOST_TEST((text_of("whole") == text));
  BOOST_TEST((value_or_throw(read_file(disk, path("whole"), no_limit)) == text));
  const auto file = value_or_throw(disk.open(path("whole")));
  std::string end(100, '\0');
  BOOST_TEST(value_or_throw(file->read(text.size() - 10, std::as_writable_bytes(std::span(end)))) == 10u);
  BOOST_TEST(end.substr(0, 10) == text.substr(text.size() - 10));
  inference::CancellableDisk unlimited(real, nullptr);
  BOOST_TEST((value_or_throw(read_file(unlimited, path("whole"), no_limit)) == text));
}

BOOST_AUTO_TEST_CASE(a_cancelled_write_leaves_no_file) {
  {
    NewFile file = value_or_throw(NewFile::create(disk, path("part")));
    throw_if_failed(file.write("begun"));
    cancellation.cancel();
    const Status status = file.write("more");
    BOOST_TEST((status.code() == Code::Cancelled));
    BOOST_TEST(status.text() == "the work with " + path("part.new") + " was cancelled");
  }
  BOOST_TEST(value_or_throw(real.list(folder.path())).empty());
  BOOST_TEST((NewFile::create(disk, path("other")).status().code() == Code::Cancelled));
  BOOST_TEST((disk.append(path("other")).status().code() == Code::Cancelled));
  BOOST_TEST((disk.list(folder.path()).status().code() == Code::Cancelled));
}

BOOST_AUTO_TEST_CASE(a_long_read_ends_between_its_pieces) {
  const size_t size = size_t{9} << 20;  // two pieces
  {
    const auto file = value_or_throw(real.create(path("long")));
    const std::string text(size, 'x');
    throw_if_failed(file->write(std::as_bytes(std::span(text))));
  }
  CancellingDisk cancelling(real, cancellation);
  inference::CancellableDisk ended(cancelling, &cancellation);
  const auto file = value_or_throw(ended.open(path("long")));
  std::string bytes(size, '\0');
  const auto read = file->read(0, std::as_writable_bytes(std::span(bytes)));
  BOOST_TEST((read.status().code() == Code::Cancelled));
  BOOST_TEST(bytes.front() == 'x');
  BOOST_TEST(bytes.back() == '\0');
  BOOST_TEST((ended.open(path("long")).status().code() == Code::Cancelled));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::cancellable_disk_test
