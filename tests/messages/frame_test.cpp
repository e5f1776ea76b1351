#include "messages/wire/frame.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>

#include "messages/schemas/session.capnp.h"
#include "messages/wire/message_reader.h"

namespace troupe::frame_test {
namespace {

BOOST_AUTO_TEST_SUITE(frame)

using Bytes = std::vector<std::byte>;

Bytes bytes_of(const EncodedFrame& frame) {
  Bytes all;
  for (const auto piece : frame.pieces()) all.insert(all.end(), piece.begin(), piece.end());
  return all;
}

/// Records the size of the largest allocation, and the number of allocations.
class WatchedAllocator final : public Allocator {
 public:
  Result<BufferRef> allocate(size_t bytes) override {
    largest = std::max(largest, bytes);
    ++count;
    return heap_allocator().allocate(bytes);
  }
  size_t largest = 0;
  int count = 0;
};

/// Gives the bytes to a decoder, `chunk` at a time. Returns the frame
/// if it becomes whole, a failure, or neither if the bytes end before.
struct Outcome {
  Status status;
  std::optional<Frame> frame;
  size_t taken = 0;
};
Outcome feed(FrameDecoder& decoder, std::span<const std::byte> bytes, size_t chunk = SIZE_MAX) {
  Outcome outcome;
  while (outcome.taken < bytes.size()) {
    const auto wanted = decoder.wanted();
    const size_t now = std::min({wanted.size(), chunk, bytes.size() - outcome.taken});
    std::memcpy(wanted.data(), bytes.data() + outcome.taken, now);
    outcome.taken += now;
    outcome.status = decoder.advance(now);
    if (!outcome.status.ok()) return outcome;
    if ((outcome.frame = decoder.take())) return outcome;
  }
  return outcome;
}

Message<wire::RunStep> message_with(std::vector<Tensor> attachments) {
  Draft<wire::RunStep> draft;
  draft->setHandle(7);
  draft->setRound(8);
  return draft.finish(std::move(attachments));
}

EncodedFrame encoded(std::vector<Tensor> attachments, const FrameHeader& header = {}) {
  return value_or_throw(encode(header, message_with(std::move(attachments))));
}

std::vector<Tensor> every_kind() {
  return {Tensor::scalar(1.5f),
          Tensor::of<double>(Shape{2, 1, 3, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}),
          Tensor::vector<std::string>({"", "a", std::string("\0b\xff", 3), std::string(1000, 'x')}),
          Tensor::of<int32_t>(Shape{3, 0}, {}),
          Tensor::of<bool>(Shape{2, 2}, {true, false, false, true}),
          Tensor{},
          Tensor::of<std::string>(Shape{0}, {}),
          Tensor::scalar(Half(0.5f)),
          Tensor::scalar(std::complex<double>(1, 2)),
          Tensor::of<int64_t>(Shape{3, 2}, {1, 2, 3, 4, 5, 6}).rows(1, 3)};
}

BOOST_AUTO_TEST_CASE(what_is_sent_arrives) {
  const FrameHeader header{1, 2, 3, 4, true};
  const auto tensors = every_kind();
  const auto frame = encoded(tensors, header);
  const Bytes bytes = bytes_of(frame);
  BOOST_TEST(frame.bytes() == bytes.size());
  for (const size_t chunk : {SIZE_MAX, size_t{1}, size_t{7}, frame_header_bytes}) {
    FrameDecoder decoder(heap_allocator());
    const auto outcome = feed(decoder, bytes, chunk);
    BOOST_TEST_REQUIRE(outcome.frame.has_value());
    BOOST_TEST(outcome.taken == bytes.size());
    BOOST_TEST((outcome.frame->header == header));
    const auto message = receive<wire::RunStep>(outcome.frame->words);
    BOOST_TEST_REQUIRE(message.ok());
    BOOST_TEST((*message)->getHandle() == 7u);
    BOOST_TEST(outcome.frame->schema_id == schema_id_of<wire::RunStep>);
    BOOST_TEST_REQUIRE(outcome.frame->attachments.size() == tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i)
      BOOST_TEST(identical(outcome.frame->attachments[i], tensors[i]), "attachment " << i);
  }
}

BOOST_AUTO_TEST_CASE(frames_follow_each_other) {
  Bytes stream;
  for (int i = 0; i < 3; ++i) {
    const Bytes one = bytes_of(
        encoded({Tensor::scalar(i), Tensor::scalar(std::to_string(i))}, {.sequence = uint64_t(i) + 1}));
    stream.insert(stream.end(), one.begin(), one.end());
  }
  FrameDecoder decoder(heap_allocator());
  std::span<const std::byte> rest = stream;
  for (int i = 0; i < 3; ++i) {
    auto outcome = feed(decoder, rest, 11);
    BOOST_TEST_REQUIRE(outcome.frame.has_value());
    BOOST_TEST(outcome.frame->header.sequence == uint64_t(i) + 1);
    BOOST_TEST(outcome.frame->attachments[0].as<int>()[0] == i);
    BOOST_TEST(outcome.frame->attachments[1].as<std::string>()[0] == std::to_string(i));
    rest = rest.subspan(outcome.taken);
  }
  BOOST_TEST(rest.empty());
}

BOOST_AUTO_TEST_CASE(tensors_are_sent_from_and_read_into_their_own_memory) {
  const auto tensor = *Tensor::allocate(f32, Shape{1000});
  auto frame = encoded({tensor});
  const auto pieces = frame.pieces();
  BOOST_TEST(std::any_of(pieces.begin(), pieces.end(), [&](auto piece) {
    return piece.data() == tensor.data() && piece.size() == tensor.bytes();
  }));
  const auto moved = std::move(frame);
  BOOST_TEST(!tensor.unique());  // the frame keeps the tensor until it is written

  WatchedAllocator allocator;
  FrameDecoder decoder(allocator);
  const Bytes bytes = bytes_of(moved);
  const auto outcome = feed(decoder, std::span(bytes).first(bytes.size() - 10));
  BOOST_TEST(!outcome.frame.has_value());
  const std::byte* where = decoder.wanted().data() + 10 - 4000;
  const auto rest = feed(decoder, std::span(bytes).last(10));
  BOOST_TEST_REQUIRE(rest.frame.has_value());
  BOOST_TEST(rest.frame->attachments[0].data() == where);
  BOOST_TEST(allocator.count == 1);
}

BOOST_AUTO_TEST_CASE(what_may_not_leave_the_process_is_refused) {
  const auto refused = [](Tensor tensor) { return encode({}, message_with({std::move(tensor)})).status(); };
  Tensor pending = Tensor::scalar(1.0f), failed = pending, blocked = pending;
  pending.set_completion(Completion::pending());
  failed.set_completion(Completion(data_loss("the kernel failed")));
  blocked.set_layout(3);
  const BufferRef far = *heap_allocator().allocate(4);
  far->kind = MemoryKind::Device;
  BOOST_TEST((refused(pending).code() == Code::FailedPrecondition));
  BOOST_TEST((refused(failed).code() == Code::DataLoss));
  BOOST_TEST((refused(blocked).code() == Code::FailedPrecondition));
  BOOST_TEST((refused(Tensor(f32, Shape{}, far)).code() == Code::FailedPrecondition));
  BOOST_TEST((refused(Tensor(DType::Resource, Shape{}, far)).code() == Code::FailedPrecondition));
  const std::vector<Tensor> many(FrameLimits{}.attachments + 1, Tensor::scalar(1.0f));
  BOOST_TEST((encode({}, message_with(many)).status().code() == Code::ResourceExhausted));
}

BOOST_AUTO_TEST_CASE(limits_are_told_by_name_before_memory_is_taken) {
  const Bytes bytes = bytes_of(encoded({*Tensor::allocate(f32, Shape{1000}), Tensor::scalar(1)}));
  const auto told = [&](const FrameLimits& limits) {
    WatchedAllocator allocator;
    FrameDecoder decoder(allocator, limits);
    const auto outcome = feed(decoder, bytes);
    BOOST_TEST(decoder.wanted().empty());
    BOOST_TEST(allocator.count == 0);
    BOOST_TEST((outcome.status.code() == Code::ResourceExhausted));
    return outcome.status.text();
  };
  const auto names = [](const std::string& text, const std::string& option) {
    return text.find(option) != std::string::npos;
  };
  BOOST_TEST(names(told({.struct_words = 1}), "FrameLimits::struct_words is 1"));
  BOOST_TEST(names(told({.attachments = 1}), "FrameLimits::attachments is 1"));
  BOOST_TEST(names(told({.attachment_bytes = 4003}), "FrameLimits::attachment_bytes is 4003"));
  BOOST_TEST(names(told(FrameLimits::before_hello()), "FrameLimits::attachments is 0"));
  FrameDecoder enough(heap_allocator(), {.attachment_bytes = 4004});
  BOOST_TEST(feed(enough, bytes).frame.has_value());
}

BOOST_AUTO_TEST_CASE(the_bytes_of_strings_are_counted_before_they_arrive) {
  class Exhausted final : public Allocator {
    Result<BufferRef> allocate(size_t bytes) override {
      return resource_exhausted("there is no memory for " + std::to_string(bytes) + " bytes");
    }
  } exhausted;
  const Bytes bytes = bytes_of(encoded({Tensor::scalar(std::string(1000, 'x'))}));
  FrameDecoder decoder(exhausted);
  const auto outcome = feed(decoder, bytes);
  BOOST_TEST_REQUIRE(outcome.frame.has_value());
  BOOST_TEST((outcome.frame->shortage.code() == Code::ResourceExhausted), outcome.frame->shortage.text());
}

// A peer that announces much and sends little costs little memory, because only bytes that arrive make the buffer grow.
BOOST_AUTO_TEST_CASE(buffers_grow_with_what_arrives) {
  Bytes bytes = bytes_of(encoded({}));
  const uint32_t announced = FrameLimits{}.struct_words;
  std::memcpy(bytes.data() + 48, &announced, sizeof announced);
  bytes.resize(frame_header_bytes + (size_t{1} << 20));
  FrameDecoder decoder(heap_allocator());
  feed(decoder, std::span(bytes).first(frame_header_bytes));
  BOOST_TEST(decoder.wanted().size() == limits::first_receive_bytes);
  const auto outcome = feed(decoder, std::span(bytes).subspan(frame_header_bytes), 1000);
  BOOST_TEST(outcome.status.ok());
  BOOST_TEST(decoder.wanted().size() <= size_t{1} << 21);
}

BOOST_AUTO_TEST_CASE(a_failed_stream_stays_failed) {
  Bytes bytes(frame_header_bytes, std::byte{0});
  FrameDecoder decoder(heap_allocator());
  BOOST_TEST(!feed(decoder, bytes).status.ok());
  BOOST_TEST(decoder.wanted().empty());
  BOOST_TEST(!decoder.advance(0).ok());
  BOOST_TEST(!decoder.take().has_value());
}

// Values that no correct sender writes, one at a time: where they are, how many bytes they have, and the value.
BOOST_AUTO_TEST_CASE(contradictions_are_refused) {
  const Bytes whole = bytes_of(encoded({Tensor::scalar(true), Tensor::vector<std::string>({"ab", "c"})}));
  const size_t table = whole.size() - (2 * 8 + 3) - 1 - (16 + 24);
  const size_t strings = whole.size() - (2 * 8 + 3);
  struct Case {
    std::string what;
    size_t offset, size;
    uint64_t value;
  };
  const std::vector<Case> cases = {
      {"another magic", 0, 4, 1},
      {"another version", 4, 2, 1},
      {"an unknown flag", 6, 2, 2},
      {"fewer table words", 52, 4, 4},
      {"more table words", 52, 4, 6},
      {"a table of no end", 52, 4, 0xffffffff},
      {"one attachment less", 56, 4, 1},
      {"reserved bits", 60, 4, 1},
      {"fewer bytes", 64, 8, 19},
      {"more bytes", 64, 8, 21},
      {"a dtype of its own", table, 1, 77},
      {"a resource", table, 1, 20},
      {"no dtype, yet bytes", table, 1, 0},
      {"a wider dtype", table, 1, 1},
      {"a rank without dimensions", table + 1, 1, 255},
      {"bytes unlike the shape", table + 8, 8, 2},
      {"more strings than bytes", table + 32, 8, 3},
      {"a negative dimension", table + 32, 8, ~uint64_t{0}},
      {"a dimension of no end", table + 32, 8, uint64_t{1} << 62},
      {"a bool that is neither", strings - 1, 1, 2},
      {"a string that ends outside", strings, 8, 4},
      {"a string of no end", strings, 8, ~uint64_t{0}},
      {"bytes after the last string", strings, 8, 1},
  };
  for (const auto& [what, offset, size, value] : cases) {
    Bytes bytes = whole;
    std::memcpy(bytes.data() + offset, &value, size);
    FrameDecoder decoder(heap_allocator());
    const auto outcome = feed(decoder, bytes);
    BOOST_TEST(!outcome.status.ok(), what);
    BOOST_TEST(!outcome.frame.has_value(), what);
  }
}

// A frame that is cut off leaves the decoder waiting. A frame with a flipped bit gives a frame
// that can be read, or an error, and never makes the decoder ask for more memory than was granted.
BOOST_AUTO_TEST_CASE(no_damage_does_harm) {
  const Bytes whole = bytes_of(encoded(every_kind(), {.receiver = 1, .request = true}));
  const FrameLimits limits{.struct_words = 1024, .attachments = 16, .attachment_bytes = 1 << 16};
  for (size_t length = 0; length < whole.size(); ++length) {
    FrameDecoder decoder(heap_allocator(), limits);
    const auto outcome = feed(decoder, std::span(whole).first(length), 13);
    BOOST_REQUIRE(outcome.status.ok() && !outcome.frame);
  }
  WatchedAllocator allocator;
  const auto try_bytes = [&](const Bytes& bytes) {
    FrameDecoder decoder(allocator, limits);
    const auto outcome = feed(decoder, bytes);
    if (!outcome.status.ok() || !outcome.frame) return;
    const auto message = receive<wire::RunStep>(outcome.frame->words);
    if (message.ok()) BOOST_REQUIRE_NO_THROW((**message).toString().flatten());
  };
  for (size_t i = 0; i < whole.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      Bytes bytes = whole;
      bytes[i] ^= std::byte(1 << bit);
      try_bytes(bytes);
    }
  std::mt19937_64 random(7);
  for (int round = 0; round < 5000; ++round) {
    Bytes bytes = whole;
    for (int k = 0; k < 4; ++k) bytes[random() % bytes.size()] = std::byte(random());
    try_bytes(bytes);
  }
  BOOST_TEST(allocator.largest <= limits.attachment_bytes);
}

// The bytes of a tensor for which there is no memory are read and dropped; the frame says so, and the next one is whole.
BOOST_AUTO_TEST_CASE(a_lack_of_memory_costs_one_frame) {
  struct Small final : Allocator {
    Result<BufferRef> allocate(size_t bytes) override {
      if (bytes > 100'000) return resource_exhausted("no more than 100000 bytes");
      return heap_allocator().allocate(bytes);
    }
  } allocator;
  const std::vector<Tensor> large = {
      Tensor::scalar(1.0F), Tensor::vector<float>(std::vector<float>(100'000, 1.0F)), Tensor::scalar(3.0F)};
  FrameDecoder decoder(allocator);
  const auto first = feed(decoder, bytes_of(encoded(large, {.receiver = 1})), 1000);
  BOOST_TEST_REQUIRE(first.status.ok(), first.status.message());
  BOOST_TEST_REQUIRE(first.frame.has_value());
  BOOST_TEST((first.frame->shortage.code() == Code::ResourceExhausted));
  BOOST_TEST(first.frame->attachments.size() == 3u);
  BOOST_TEST(first.frame->attachments[0].valid());
  BOOST_TEST(!first.frame->attachments[1].valid());
  const auto second = feed(decoder, bytes_of(encoded(every_kind(), {.receiver = 1})));
  BOOST_TEST_REQUIRE(second.frame.has_value());
  BOOST_TEST(second.frame->shortage.ok());
}

// A process that lends to itself: the arena is a map.
struct Pawnshop final : Lender, Borrower {
  std::optional<Loan> lend(const Tensor& tensor) override {
    if (tensor.bytes() < 100) return std::nullopt;
    lent.push_back(tensor);
    return Loan{lent.size(), 64, 3};
  }
  Result<BufferRef> borrow(const Loan& loan, size_t bytes) override {
    if (loan.number == 0 || loan.number > lent.size() || loan.offset != 64 || loan.arena != 3)
      return invalid_argument("there is no such loan");
    const Tensor& tensor = lent[loan.number - 1];
    if (tensor.bytes() != bytes) return invalid_argument("the loan has another size");
    return tensor.buffer();
  }
  std::vector<Tensor> lent;
};

BOOST_AUTO_TEST_CASE(the_bytes_of_a_lent_tensor_are_not_sent) {
  Pawnshop shop;
  const Tensor large = value_or_throw(Tensor::allocate(DType::UInt8, Shape{1000}));
  const Tensor strings = Tensor::vector<std::string>({std::string(200, 'x')});
  const auto frame =
      value_or_throw(encode({}, message_with({large, Tensor::scalar(2.5f), strings, large}), &shop));
  BOOST_TEST(shop.lent.size() == 2u);
  const Bytes bytes = bytes_of(frame);
  BOOST_TEST(bytes.size() < 1000u);
  FrameDecoder decoder(heap_allocator(), {}, &shop);
  const Outcome outcome = feed(decoder, bytes, 7);
  BOOST_TEST_REQUIRE(outcome.frame.has_value());
  const auto& arrived = outcome.frame->attachments;
  BOOST_TEST(arrived[0].data() == large.data());
  BOOST_TEST(arrived[1].item<float>() == 2.5f);
  BOOST_TEST(identical(arrived[2], strings));
  BOOST_TEST(arrived[3].data() == large.data());

  FrameDecoder apart(heap_allocator());
  BOOST_TEST((feed(apart, bytes).status.code() == Code::InvalidArgument));
  FrameDecoder limited(heap_allocator(), {.attachment_bytes = 1500}, &shop);
  BOOST_TEST((feed(limited, bytes).status.code() == Code::ResourceExhausted));
}

BOOST_AUTO_TEST_CASE(no_damage_to_a_loan_does_harm) {
  Pawnshop shop;
  const Tensor large = value_or_throw(Tensor::allocate(DType::UInt8, Shape{1000}));
  const Bytes bytes = bytes_of(value_or_throw(encode({}, message_with({large}), &shop)));
  for (size_t i = 0; i < bytes.size(); ++i)
    for (const int flip : {1, 128, 255}) {
      Bytes damaged = bytes;
      damaged[i] ^= static_cast<std::byte>(flip);
      FrameDecoder decoder(heap_allocator(), {.attachment_bytes = 4000}, &shop);
      const Outcome outcome = feed(decoder, damaged);
      if (outcome.frame && !outcome.frame->attachments.empty())
        BOOST_TEST(outcome.frame->attachments[0].bytes() == 1000u);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::frame_test
