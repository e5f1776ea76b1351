// The files of a store of objects: whole or not at all, whatever the store and the connection do, with signed requests and errors
// that tell what was asked of what, but no secrets. Uses a server in this process and real threads; every wait has a deadline.
#include "messages/objects/s3_disk.h"

#include <boost/test/unit_test.hpp>

#include <functional>
#include <future>
#include <thread>

#include "messages/env/real_disk.h"
#include "messages/objects/file_places.h"
#include "messages/objects/s3_client.h"
#include "tests/support/net/s3_server.h"

namespace troupe::s3_disk_test {
namespace {

using Failure = test::S3Server::Failure;

std::string content_of(size_t bytes) {
  std::string content;
  for (size_t i = 0; i < bytes; ++i) content += static_cast<char>(i * 7 + i / 256);
  return content;
}

Status write(Disk& disk, const std::string& path, std::string_view content) {
  TROUPE_ASSIGN(auto file, NewFile::create(disk, path));
  for (; !content.empty(); content.remove_prefix(std::min<size_t>(content.size(), 300)))
    TROUPE_RETURN_IF_FAILED(file.write(content.substr(0, 300)));
  return file.commit();
}

Result<std::string> read(Disk& disk, const std::string& path) { return read_file(disk, path, 1 << 20); }

std::vector<std::string> names_in(Disk& disk, const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : value_or_throw(disk.list(folder)))
    names.push_back(entry.name + (entry.is_folder ? "/" : ""));
  return names;
}

struct Fixture {
  std::unique_ptr<ObjectDisk> with(const std::function<void(S3Options&)>& change) const {
    S3Options options = server.options();
    change(options);
    return value_or_throw(make_s3_disk(options));
  }

  test::S3Server server;
  std::unique_ptr<ObjectDisk> disk = with([](S3Options&) {});
};

void check_contains(const Status& status, Code code, std::initializer_list<const char*> words) {
  BOOST_TEST((status.code() == code), status.message());
  for (const std::string word : words)
    BOOST_TEST(status.text().find(word) != std::string::npos, status.text() << " lacks " << word);
  for (const char* const secret : {"secret+/key", "token/1="})
    BOOST_TEST(status.text().find(secret) == std::string::npos, status.text());
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(s3_disk, Fixture)

BOOST_AUTO_TEST_CASE(files_of_any_size_come_back_as_they_were) {
  for (const size_t bytes : {0, 1, 999, 1000, 1001, 2000, 12345}) {
    const std::string content = content_of(bytes), path = "s3://lab/runs/file " + std::to_string(bytes);
    throw_if_failed(write(*disk, path, content));
    BOOST_TEST(value_or_throw(read(*disk, path)) == content);
    BOOST_TEST(value_or_throw(disk->info(path)).bytes == bytes);
    BOOST_TEST((server.objects().at(path.substr(5)) == content));
  }
  BOOST_TEST(server.open_uploads() == 0u);
}

BOOST_AUTO_TEST_CASE(any_part_of_a_file_can_be_read) {
  const std::string content = content_of(5000);
  throw_if_failed(write(*disk, "s3://lab/x", content));
  const auto file = value_or_throw(disk->open("s3://lab/x"));
  for (const auto& [offset, bytes] : {std::pair(0, 10), {4990, 20}, {17, 4000}, {5000, 5}, {6000, 5}}) {
    std::string part(static_cast<size_t>(bytes), '\0');
    const size_t got =
        value_or_throw(file->read(static_cast<uint64_t>(offset), std::as_writable_bytes(std::span(part))));
    part.resize(got);
    BOOST_TEST(
        part ==
        (offset < 5000 ? content.substr(static_cast<size_t>(offset), static_cast<size_t>(bytes)) : ""));
  }
}

BOOST_AUTO_TEST_CASE(keys_have_any_characters) {
  const std::string path = "s3://lab/a b/+~%2F&=?#'\"<>é/x";
  throw_if_failed(write(*disk, path, content_of(1500)));
  BOOST_TEST(value_or_throw(read(*disk, path)) == content_of(1500));
  BOOST_TEST(names_in(*disk, "s3://lab/a b") == std::vector<std::string>{"+~%2F&=?#'\"<>é/"},
             boost::test_tools::per_element());
  throw_if_failed(disk->remove(path));
  BOOST_TEST(server.objects().empty());
}

BOOST_AUTO_TEST_CASE(a_file_is_not_there_until_it_is_complete_and_an_older_one_stays_until_then) {
  throw_if_failed(write(*disk, "s3://lab/x", "old"));
  for (const size_t bytes : {10, 5000}) {
    auto file = std::make_unique<NewFile>(value_or_throw(NewFile::create(*disk, "s3://lab/x")));
    throw_if_failed(file->write(content_of(bytes)));
    BOOST_TEST(value_or_throw(read(*disk, "s3://lab/x")) == "old");
    file.reset();
    BOOST_TEST(value_or_throw(read(*disk, "s3://lab/x")) == "old");
    BOOST_TEST(server.open_uploads() == 0u);
  }
}

BOOST_AUTO_TEST_CASE(folders_are_prefixes_and_long_listings_have_pages) {
  server.set_page(2);
  for (const char* const path : {"a/1", "a/2", "a/b/3", "a/b/4", "a/c/5", "ab/6", "a.7"})
    server.put("lab/" + std::string(path), "x");
  BOOST_TEST(names_in(*disk, "s3://lab/a") == (std::vector<std::string>{"1", "2", "b/", "c/"}),
             boost::test_tools::per_element());
  BOOST_TEST(names_in(*disk, "s3://lab") == (std::vector<std::string>{"a/", "a.7", "ab/"}),
             boost::test_tools::per_element());
  BOOST_TEST(names_in(*disk, "s3://lab/none").empty());
  BOOST_TEST(value_or_throw(disk->info("s3://lab/a")).is_folder);
  BOOST_TEST(value_or_throw(disk->info("s3://lab")).is_folder);
  BOOST_TEST(!value_or_throw(disk->info("s3://lab/a/1")).is_folder);
  check_contains(disk->info("s3://lab/a/9").status(), Code::NotFound, {"s3://lab/a/9"});
  throw_if_failed(make_folders(*disk, "s3://lab/new/folder"));
}

// ---- Failures

BOOST_AUTO_TEST_CASE(a_listing_without_an_end_is_an_error) {
  server.put("lab/z/1", "x");
  server.set_page(0);
  check_contains(disk->list("s3://lab/z").status(), Code::DataLoss, {"s3://lab/z", "without an end"});
}

BOOST_AUTO_TEST_CASE(a_request_that_fails_in_passing_is_tried_again_whichever_it_is) {
  const std::string content = content_of(2500);
  const auto use = [&](const std::string& path) {
    throw_if_failed(write(*disk, path, content));
    BOOST_TEST_REQUIRE(value_or_throw(read(*disk, path)) == content);
    BOOST_TEST_REQUIRE(names_in(*disk, "s3://lab/runs").size() == 1u);
    throw_if_failed(disk->remove(path));
  };
  use("s3://lab/runs/x");
  const size_t requests = server.requests();
  BOOST_TEST(requests >= 9u);
  for (const Failure failure : {Failure::Unavailable, Failure::Unanswered, Failure::AnswerLost})
    for (size_t first = 0; first < requests; ++first) {
      size_t seen = 0, failed = 0;
      server.fail_where(failure, [&, first](auto, auto) { return seen++ >= first && failed++ < 2; });
      use("s3://lab/runs/x");
      BOOST_TEST_REQUIRE(failed >= 2u);
    }
  server.fail_where(Failure::Silent, [](auto, auto) { return false; });
}

BOOST_AUTO_TEST_CASE(a_store_that_stays_unavailable_is_an_error_that_says_what_was_asked) {
  server.fail(std::deque(4, Failure::Unavailable));
  check_contains(write(*disk, "s3://lab/x", "1"), Code::Unavailable,
                 {"s3://lab/x", "PUT", "HTTP 503", "SlowDown", "A <test> of SlowDown", "4 attempts"});
  server.fail(std::deque(100, Failure::Unanswered));
  check_contains(read(*disk, "s3://lab/x").status(), Code::Unavailable, {"s3://lab/x", "HEAD", "4 attempts"});
  server.fail({});
  BOOST_TEST(server.objects().empty());
}

BOOST_AUTO_TEST_CASE(every_attempt_has_a_deadline) {
  const auto impatient = with([](S3Options& options) {
    options.request_timeout = std::chrono::milliseconds(100);
    options.attempts = 2;
  });
  server.fail({Failure::Silent});
  throw_if_failed(write(*impatient, "s3://lab/x", "1"));
  server.fail({Failure::Silent, Failure::Silent});
  check_contains(write(*impatient, "s3://lab/x", "2"), Code::Unavailable,
                 {"s3://lab/x", "timed out", "2 attempts"});
  BOOST_TEST(server.objects().at("lab/x") == "1");
}

BOOST_AUTO_TEST_CASE(stop_ends_the_calls_and_later_ones) {
  server.fail(std::deque(100, Failure::Silent));
  auto call = std::async(std::launch::async, [&] { return write(*disk, "s3://lab/x", "1"); });
  while (server.requests() == 0) std::this_thread::yield();
  disk->stop();
  BOOST_REQUIRE((call.wait_for(std::chrono::seconds(15)) == std::future_status::ready));
  check_contains(call.get(), Code::Cancelled, {"s3://lab/x"});
  check_contains(read(*disk, "s3://lab/x").status(), Code::Cancelled, {"s3://lab/x"});
}

BOOST_AUTO_TEST_CASE(what_the_store_refuses_is_not_tried_again) {
  const auto check = [&](const std::function<void(S3Options&)>& change, const char* code) {
    const auto other = with(change);
    const size_t before = server.requests();
    check_contains(write(*other, "s3://lab/x", "1"), Code::PermissionDenied,
                   {"s3://lab/x", "HTTP 403", code});
    BOOST_TEST(server.requests() == before + 1);
  };
  check([](S3Options& options) { options.secret_key = "another"; }, "SignatureDoesNotMatch");
  check([](S3Options& options) { options.key_id = "another"; }, "InvalidAccessKeyId");
  check([](S3Options& options) { options.session_token = "another"; }, "InvalidToken");
  check([](S3Options& options) { options.key_id = options.secret_key = ""; }, "AccessDenied");
  check_contains(write(*disk, "s3://nowhere/x", "1"), Code::NotFound, {"s3://nowhere/x", "NoSuchBucket"});
  check_contains(disk->open("s3://lab/none").status(), Code::NotFound, {"s3://lab/none", "HTTP 404"});
}

BOOST_AUTO_TEST_CASE(an_object_that_changes_while_it_is_read_is_an_error) {
  throw_if_failed(write(*disk, "s3://lab/x", content_of(100)));
  const auto file = value_or_throw(disk->open("s3://lab/x"));
  server.put("lab/x", content_of(101));
  std::byte byte{};
  check_contains(file->read(0, {&byte, 1}).status(), Code::FailedPrecondition,
                 {"s3://lab/x", "PreconditionFailed"});
}

BOOST_AUTO_TEST_CASE(options_and_paths_that_make_no_sense_are_refused) {
  S3Options options = server.options();
  options.secret_key.clear();
  BOOST_TEST((make_s3_disk(options).status().code() == Code::InvalidArgument));
  for (const char* const path : {"s3://", "s3:///x", "/x", ""})
    BOOST_TEST((disk->open(path).status().code() == Code::InvalidArgument), path);
  const auto elsewhere = with([](S3Options& other) { other.endpoint = "ftp://127.0.0.1"; });
  check_contains(write(*elsewhere, "s3://lab/x", "1"), Code::Unavailable, {"s3://lab/x"});
}

BOOST_AUTO_TEST_CASE(paths_say_where_a_file_is) {
  RealDisk files;
  FilePlaces places(files, value_or_throw(make_s3_disk(server.options())));
  throw_if_failed(write(places, "s3://lab/x", "1"));
  BOOST_TEST(server.objects().at("lab/x") == "1");
  BOOST_TEST(places.info("/").value().is_folder);
  for (const char* const root : {"s3://lab", "s3://lab/", "s3://lab/x"})
    throw_if_failed(write(*std::make_unique<FilePlaces>(files, value_or_throw(make_s3_disk(server.options())),
                                                        std::vector<std::string>{"/tmp", root}),
                          "s3://lab/x/y", "2"));
  for (const char* const root : {"s3://la", "s3://lab/y", "s3://lab/x/y/z", "."}) {
    FilePlaces elsewhere(files, value_or_throw(make_s3_disk(server.options())), {root});
    check_contains(write(elsewhere, "s3://lab/x/y", "3"), Code::PermissionDenied, {"s3://lab/x/y", "--root"});
  }
  BOOST_TEST(server.objects().at("lab/x/y") == "2");
  FilePlaces without(files, failed_precondition("there is no store"));
  check_contains(write(without, "s3://lab/x", "1"), Code::FailedPrecondition,
                 {"s3://lab/x", "there is no store"});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::s3_disk_test
