// RequestBody: the body of a request as Beast reads it. It grows with the bytes that come, never with the length that a client
// announces, and counts against a limit for the requests of all connections. Included by http_connection.h alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <new>
#include <string>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/optional.hpp>
#include <boost/system/error_code.hpp>

namespace troupe::http {

/// How many bytes all requests of a server may have together. Any thread.
class BodyBudget {
 public:
  explicit BodyBudget(uint64_t limit) : limit_(limit) {}

  uint64_t limit() const { return limit_; }
  /// Returns false if there are not so many bytes left.
  bool take(uint64_t bytes) noexcept {
    uint64_t before = taken_.load();
    do {
      if (bytes > limit_ - before) return false;
    } while (!taken_.compare_exchange_weak(before, before + bytes));
    return true;
  }
  void give_back(uint64_t bytes) noexcept { taken_ -= bytes; }

 private:
  const uint64_t limit_;
  std::atomic<uint64_t> taken_{0};
};

/// The bytes of a body. They count until this object is destroyed, also those that release() has returned: what is made of them
/// takes memory, too, until the request has been answered.
class CountedBytes {
 public:
  CountedBytes() = default;
  CountedBytes(const CountedBytes&) = delete;
  CountedBytes& operator=(const CountedBytes&) = delete;
  ~CountedBytes() {
    if (budget_) budget_->give_back(counted_);
  }

  /// Called first. The budget must outlive this object.
  void count_in(BodyBudget& budget) { budget_ = &budget; }
  /// Returns false, with nothing appended, if the budget or the memory has no room.
  bool append(const char* bytes, size_t count) noexcept try {
    if (!budget_->take(count)) return false;
    counted_ += count;
    text_.append(bytes, count);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
  std::string release() { return std::move(text_); }

 private:
  BodyBudget* budget_ = nullptr;
  uint64_t counted_ = 0;
  std::string text_;
};

/// A Body of Beast for reading alone. It fails with boost::system::errc::not_enough_memory.
struct RequestBody {
  using value_type = CountedBytes;

  class reader {  // NOLINT(readability-identifier-naming): Beast looks for this name
   public:
    template <bool is_request, class Fields>
    explicit reader(boost::beast::http::header<is_request, Fields>&, value_type& body) : body_(body) {}

    static void init(const boost::optional<std::uint64_t>&, boost::system::error_code& error) { error = {}; }
    template <class Buffers>
    std::size_t put(const Buffers& buffers, boost::system::error_code& error) {
      std::size_t done = 0;
      error = {};
      for (const boost::asio::const_buffer part : boost::beast::buffers_range_ref(buffers)) {
        if (!body_.append(static_cast<const char*>(part.data()), part.size())) {
          error = make_error_code(boost::system::errc::not_enough_memory);
          break;
        }
        done += part.size();
      }
      return done;
    }
    static void finish(boost::system::error_code& error) { error = {}; }

   private:
    value_type& body_;
  };
};

}  // namespace troupe::http
