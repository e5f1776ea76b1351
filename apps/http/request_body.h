// RequestBody: the body of a request as Beast reads it. It grows with the bytes that come, never with the length that a client
// announces, and counts against a limit for the requests of all connections. A body of gzip is decompressed as it comes. Included
// by http_connection.h alone.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/optional.hpp>
#include <boost/system/error_code.hpp>

#include "messages/records/decompressor.h"

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

/// The bytes of a body, decompressed if need be. They count until this object is destroyed, also those that release() has returned:
/// what is made of them takes memory, too, until the request has been answered.
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
  /// What comes is gzip, and becomes at most so many bytes.
  void decompress(uint64_t most) {
    decompressor_ = make_decompressor(Compression::Gzip);
    most_ = most;
    is_compressed_ = true;
  }
  bool is_compressed() const { return is_compressed_; }
  /// Returns what is wrong with compressed bytes after bad_message.
  const std::string& damage() const { return damage_; }

  /// Takes the next bytes. Fails with not_enough_memory if the budget or the memory has no room, with Beast's body_limit if the
  /// decompressed bytes are too many, and with bad_message if the compressed ones are damaged.
  boost::system::error_code append(const char* bytes, size_t count) noexcept try {
    if (!decompressor_) return add(bytes, count);
    std::array<char, 16 << 10> piece;
    decompressor_->feed({bytes, count});
    for (;;) {
      const auto written = decompressor_->decompress(piece);
      if (!written) return refused(written.status());
      if (*written == 0) return {};
      if (*written > most_ - text_.size()) return make_error_code(boost::beast::http::error::body_limit);
      if (const auto error = add(piece.data(), *written)) return error;
    }
  } catch (const std::bad_alloc&) {
    return no_room();
  }
  /// Called after the last bytes. Fails with bad_message if compressed ones are cut off.
  boost::system::error_code finish() noexcept try {
    const auto decompressor = std::move(decompressor_);
    return !decompressor || decompressor->has_ended() ? boost::system::error_code()
                                                      : refused(data_loss("it is cut off"));
  } catch (const std::bad_alloc&) {
    return no_room();
  }
  std::string release() { return std::move(text_); }

 private:
  static boost::system::error_code no_room() noexcept {
    return make_error_code(boost::system::errc::not_enough_memory);
  }
  boost::system::error_code add(const char* bytes, size_t count) {
    if (!budget_->take(count)) return no_room();
    counted_ += count;
    text_.append(bytes, count);
    return {};
  }
  boost::system::error_code refused(const Status& status) {
    if (status.code() == Code::ResourceExhausted) return no_room();
    damage_ = status.text();
    return make_error_code(boost::system::errc::bad_message);
  }

  BodyBudget* budget_ = nullptr;
  uint64_t counted_ = 0;
  std::string text_;
  std::unique_ptr<Decompressor> decompressor_;  ///< null: the bytes come as they are, or all have come
  uint64_t most_ = 0;                           ///< decompressed bytes
  bool is_compressed_ = false;
  std::string damage_;
};

/// A Body of Beast for reading alone. It fails as CountedBytes does.
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
        error = body_.append(static_cast<const char*>(part.data()), part.size());
        if (error) break;
        done += part.size();
      }
      return done;
    }
    void finish(boost::system::error_code& error) { error = body_.finish(); }

   private:
    value_type& body_;
  };
};

}  // namespace troupe::http
