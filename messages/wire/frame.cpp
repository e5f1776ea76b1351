#include "messages/wire/frame.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

namespace troupe {
namespace {

static_assert(std::endian::native == std::endian::little, "frames are written as they lie in memory");

constexpr uint32_t frame_magic = 0x45505254;  // "TRPE"
constexpr uint16_t frame_version = 2;
constexpr uint16_t request_flag = 1;
constexpr uint16_t lent_flag = 1;

struct WireHeader {
  uint32_t magic;
  uint16_t version, flags;
  uint64_t schema_id;
  uint64_t receiver, sequence, answers, incarnation;
  uint32_t struct_words, table_words, attachments, reserved;
  uint64_t attachment_bytes;
};
static_assert(sizeof(WireHeader) == frame_header_bytes);

// An entry of the table. Its dimensions follow it, 8 bytes each, and then a WireLoan if it is lent.
struct WireAttachment {
  uint8_t dtype, rank;
  uint16_t flags;
  uint32_t reserved2;
  uint64_t bytes;
};
static_assert(sizeof(WireAttachment) == 16);

struct WireLoan {
  uint64_t number, offset;
  uint32_t arena, reserved;
};
static_assert(sizeof(WireLoan) == 24);
constexpr size_t loan_words = sizeof(WireLoan) / sizeof(uint64_t);

Status malformed(const std::string& text) { return invalid_argument("malformed frame: " + text); }

Status over_limit(std::string_view what, uint64_t announced, std::string_view option, uint64_t limit) {
  return resource_exhausted("a frame has " + std::to_string(announced) + " " + std::string(what) + "; " +
                            std::string(option) + " is " + std::to_string(limit));
}

Status cannot_send(const Tensor& tensor, std::string_view reason) {
  return failed_precondition("a tensor " + tensor.signature() + " cannot be sent: it " + std::string(reason));
}

bool lies_on_gpu(const Tensor& tensor) { return tensor.valid() && tensor.memory() == MemoryKind::Device; }

Status check_sendable(const Tensor& tensor) {
  std::string_view reason;
  if (!tensor.completion().ready())
    reason = "is still being computed";
  else if (!tensor.completion().status().ok())
    return tensor.completion().status();
  else if (tensor.layout() != 0)
    reason = "has a layout that is private to its kernel";
  else if (is_local(tensor.dtype()))
    reason = "has a dtype whose values have a meaning in this process only";
  else
    return {};
  return cannot_send(tensor, reason);
}

bool holds_strings(const Tensor& tensor) { return tensor.valid() && tensor.dtype() == DType::String; }

std::span<const int64_t> dims_of(const Tensor& tensor) {
  return tensor.valid() ? tensor.shape().dims() : std::span<const int64_t>();
}

uint64_t wire_bytes(const Tensor& tensor) {
  if (!tensor.valid()) return 0;
  if (!holds_strings(tensor)) return tensor.bytes();
  uint64_t total = 0;
  for (const std::string& text : tensor.as<std::string>()) total += sizeof(uint64_t) + text.size();
  return total;
}

// The bytes that the attachments take in a frame.
struct Sizes {
  size_t table = 0, strings = 0, total = 0;
};

// Lends what can be lent. Fails if a tensor lies in device memory and is not lent.
Result<std::vector<std::optional<Loan>>> lend(std::span<const Tensor> tensors, Lender* lender) {
  std::vector<std::optional<Loan>> loans(tensors.size());
  const auto ask = [&](size_t i) {
    if (lender && tensors[i].valid() && is_plain(tensors[i].dtype())) loans[i] = lender->lend(tensors[i]);
  };
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!lies_on_gpu(tensors[i])) continue;
    ask(i);
    if (!loans[i]) return cannot_send(tensors[i], "lies in device memory, which the receiver cannot read");
  }
  for (size_t i = 0; i < tensors.size(); ++i)
    if (!loans[i]) ask(i);
  return loans;
}

// Checks the message against the limits that every receiver has for a peer it trusts. A receiver may allow less.
Result<Sizes> check_sizes(const AnyMessage& message) {
  const FrameLimits allowed;
  const auto tensors = message.attachments();
  if (message.words().size() > allowed.struct_words)
    return over_limit("words", message.words().size(), "FrameLimits::struct_words", allowed.struct_words);
  if (tensors.size() > allowed.attachments)
    return over_limit("attachments", tensors.size(), "FrameLimits::attachments", allowed.attachments);
  Sizes sizes;
  for (const Tensor& tensor : tensors) {
    TROUPE_RETURN_IF_FAILED(check_sendable(tensor));
    sizes.table += sizeof(WireAttachment) + dims_of(tensor).size_bytes();
    sizes.total += wire_bytes(tensor);
    if (holds_strings(tensor)) sizes.strings += wire_bytes(tensor);
  }
  if (sizes.total > allowed.attachment_bytes)
    return over_limit("bytes of tensors", sizes.total, "FrameLimits::attachment_bytes",
                      allowed.attachment_bytes);
  return sizes;
}

class Writer {
 public:
  explicit Writer(std::byte* to) : to_(to) {}
  template <class T>
  void put(const T& value) {
    put(&value, sizeof value);
  }
  void put(const void* from, size_t bytes) {
    if (bytes != 0) std::memcpy(to_, from, bytes);
    to_ += bytes;
  }

 private:
  std::byte* to_;
};

void put_strings(Writer& writer, const Tensor& tensor) {
  for (const std::string& text : tensor.as<std::string>()) writer.put(uint64_t{text.size()});
  for (const std::string& text : tensor.as<std::string>()) writer.put(text.data(), text.size());
}

Result<Tensor> read_strings(const Shape& shape, std::span<const std::byte> bytes) {
  TROUPE_ASSIGN(Tensor tensor, Tensor::allocate(DType::String, shape));
  const auto strings = tensor.write<std::string>();
  std::span<const std::byte> text = bytes.subspan(strings.size() * sizeof(uint64_t));
  for (size_t i = 0; i < strings.size(); ++i) {
    uint64_t length = 0;
    std::memcpy(&length, bytes.data() + i * sizeof length, sizeof length);
    if (length > text.size())
      return malformed("a string of " + std::to_string(length) + " bytes ends outside its tensor");
    strings[i].assign(reinterpret_cast<const char*>(text.data()), length);
    text = text.subspan(length);
  }
  if (!text.empty())
    return malformed(std::to_string(text.size()) + " bytes follow the last string of a tensor");
  return tensor;
}

}  // namespace

void EncodedFrame::add(std::span<const std::byte> piece) {
  if (piece.empty()) return;
  pieces_.push_back(piece);
  bytes_ += piece.size();
}

Result<EncodedFrame> encode(const FrameHeader& header, AnyMessage message, Lender* lender) {
  TROUPE_ASSIGN(Sizes sizes, check_sizes(message));
  const auto tensors = message.attachments();
  TROUPE_ASSIGN(const auto loans, lend(tensors, lender));
  // Nothing may fail from here on: what is lent must be sent.
  for (const auto& loan : loans)
    if (loan) sizes.table += sizeof(WireLoan);
  EncodedFrame frame;
  frame.own_.resize(sizeof(WireHeader) + sizes.table + sizes.strings);
  frame.pieces_.reserve(3 + tensors.size());
  Writer writer(frame.own_.data());
  writer.put(WireHeader{
      .magic = frame_magic,
      .version = frame_version,
      .flags = header.request ? request_flag : uint16_t{0},
      .schema_id = message.schema_id(),
      .receiver = header.receiver,
      .sequence = header.sequence,
      .answers = header.answers,
      .incarnation = header.incarnation,
      .struct_words = static_cast<uint32_t>(message.words().size()),
      .table_words = static_cast<uint32_t>(sizes.table / sizeof(uint64_t)),
      .attachments = static_cast<uint32_t>(tensors.size()),
      .reserved = 0,
      .attachment_bytes = sizes.total,
  });
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto dims = dims_of(tensors[i]);
    const auto dtype = tensors[i].valid() ? tensors[i].dtype() : DType::Invalid;
    const auto& loan = loans[i];
    writer.put(WireAttachment{static_cast<uint8_t>(dtype), static_cast<uint8_t>(dims.size()),
                              loan ? lent_flag : uint16_t{0}, 0, wire_bytes(tensors[i])});
    writer.put(dims.data(), dims.size_bytes());
    if (loan) writer.put(WireLoan{loan->number, loan->offset, loan->arena, 0});
  }
  const std::span<const std::byte> own = frame.own_;
  frame.add(own.first(sizeof(WireHeader)));
  frame.add(std::as_bytes(message.words()));
  frame.add(own.subspan(sizeof(WireHeader), sizes.table));
  for (size_t i = 0, start = sizeof(WireHeader) + sizes.table; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    if (holds_strings(tensor)) {
      put_strings(writer, tensor);
      frame.add(own.subspan(start, wire_bytes(tensor)));
      start += wire_bytes(tensor);
    } else if (!loans[i]) {
      frame.add({tensor.data(), wire_bytes(tensor)});
    }
  }
  frame.message_ = std::move(message);
  return frame;
}

// Decoding. Each stage knows how many bytes it needs, and checks them before the next stage begins.

namespace {

// Makes room for more bytes in proportion to those that have arrived, whatever length was announced.
template <class Vector>
void grow(Vector& vector, size_t filled_bytes, size_t total_bytes) {
  constexpr size_t unit = sizeof(typename Vector::value_type);
  const size_t next = std::max(limits::first_receive_bytes, 2 * filled_bytes);
  vector.resize((std::min(total_bytes, next) + unit - 1) / unit);
}

bool only_zeros_and_ones(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b <= std::byte{1}; });
}

}  // namespace

std::span<std::byte> FrameDecoder::wanted() {
  switch (stage_) {
    case Stage::Header: return std::span(header_).subspan(filled_);
    case Stage::StructAndTable: return std::as_writable_bytes(std::span(frame_.words)).subspan(filled_);
    case Stage::Attachments:
      if (tensor_.valid()) return {tensor_.mutable_data() + filled_, tensor_.bytes() - filled_};
      return std::span(dropped_).first(
          std::min(dropped_.size(), incoming_[frame_.attachments.size()].bytes - filled_));
    case Stage::Whole:
    case Stage::Failed: break;
  }
  return {};
}

Status FrameDecoder::advance(size_t bytes) {
  assert(bytes <= wanted().size());
  filled_ += bytes;
  if (stage_ != Stage::Failed) failure_ = proceed();
  if (!failure_.ok()) {
    stage_ = Stage::Failed;
    frame_ = {};
    tensor_ = {};
  }
  return failure_;
}

std::optional<Frame> FrameDecoder::take() {
  if (stage_ != Stage::Whole) return std::nullopt;
  stage_ = Stage::Header;
  return std::exchange(frame_, {});
}

Status FrameDecoder::proceed() {
  if (stage_ == Stage::Header) {
    if (filled_ < header_.size()) return {};
    TROUPE_RETURN_IF_FAILED(read_header());
  }
  if (stage_ == Stage::StructAndTable) {
    const size_t total = (struct_words_ + table_words_) * sizeof(uint64_t);
    if (filled_ < total) {
      if (filled_ == frame_.words.size() * sizeof(uint64_t)) grow(frame_.words, filled_, total);
      return {};
    }
    TROUPE_RETURN_IF_FAILED(read_table());
  }
  while (frame_.attachments.size() < incoming_.size()) {
    const Incoming& next = incoming_[frame_.attachments.size()];
    const size_t total = next.loan ? 0 : next.bytes;
    if (filled_ < total) return {};
    TROUPE_RETURN_IF_FAILED(end_attachment());
    TROUPE_RETURN_IF_FAILED(begin_attachment());
  }
  stage_ = Stage::Whole;
  return {};
}

Status FrameDecoder::read_header() {
  WireHeader wire;
  std::memcpy(&wire, header_.data(), sizeof wire);
  if (wire.magic != frame_magic) return malformed("it does not begin with 'TRPE'");
  if (wire.version != frame_version)
    return malformed("it has version " + std::to_string(wire.version) +
                     " of the format; this program reads version " + std::to_string(frame_version));
  if ((wire.flags & ~request_flag) != 0 || wire.reserved != 0)
    return malformed("it has flags that version " + std::to_string(frame_version) + " does not know");
  if (wire.struct_words > limits_.struct_words)
    return over_limit("words", wire.struct_words, "FrameLimits::struct_words", limits_.struct_words);
  if (wire.attachments > limits_.attachments)
    return over_limit("attachments", wire.attachments, "FrameLimits::attachments", limits_.attachments);
  if (wire.attachment_bytes > limits_.attachment_bytes)
    return over_limit("bytes of tensors", wire.attachment_bytes, "FrameLimits::attachment_bytes",
                      limits_.attachment_bytes);
  constexpr uint64_t entry_words = sizeof(WireAttachment) / sizeof(uint64_t);
  if (wire.table_words < wire.attachments * entry_words ||
      wire.table_words > wire.attachments * (entry_words + Shape::max_rank + loan_words))
    return malformed("its table has " + std::to_string(wire.table_words) + " words, which cannot describe " +
                     std::to_string(wire.attachments) + " attachments");
  frame_.header = {wire.receiver, wire.sequence, wire.answers, wire.incarnation,
                   (wire.flags & request_flag) != 0};
  frame_.schema_id = wire.schema_id;
  struct_words_ = wire.struct_words;
  table_words_ = wire.table_words;
  attachments_ = wire.attachments;
  attachment_bytes_ = wire.attachment_bytes;
  stage_ = Stage::StructAndTable;
  filled_ = 0;
  return {};
}

// Reads the table, which follows the struct in frame_.words, and removes it from there.
Status FrameDecoder::read_table() {
  std::span<const uint64_t> table = std::span(frame_.words).subspan(struct_words_);
  uint64_t left = attachment_bytes_;
  incoming_.clear();
  for (size_t i = 0; i < attachments_; ++i) {
    WireAttachment entry;
    constexpr size_t entry_words = sizeof entry / sizeof(uint64_t);
    if (table.size() < entry_words) return malformed("its table ends before the last attachment");
    std::memcpy(&entry, table.data(), sizeof entry);
    table = table.subspan(entry_words);
    if (entry.rank > table.size()) return malformed("its table ends before the last attachment");
    const auto* dims = reinterpret_cast<const int64_t*>(table.data());
    TROUPE_ASSIGN(auto attachment, announced(entry.dtype, {dims, entry.rank}, entry.bytes));
    table = table.subspan(entry.rank);
    TROUPE_RETURN_IF_FAILED(read_loan(entry.flags, attachment, table));
    if (entry.bytes > left) return malformed("its attachments have more bytes than its header says");
    left -= entry.bytes;
    incoming_.push_back(std::move(attachment));
  }
  if (!table.empty() || left != 0) return malformed("its attachments have fewer bytes than its header says");
  frame_.words.resize(struct_words_);
  frame_.attachments.reserve(attachments_);
  stage_ = Stage::Attachments;
  filled_ = 0;
  return begin_attachment();
}

// Reads the loan that follows an entry of the table if its flags say so.
Status FrameDecoder::read_loan(uint16_t flags, Incoming& attachment, std::span<const uint64_t>& table) const {
  if (flags == 0) return {};
  if (flags != lent_flag || !borrower_ || !is_plain(attachment.dtype) || table.size() < loan_words)
    return malformed("an attachment is lent, which cannot be");
  WireLoan loan;
  std::memcpy(&loan, table.data(), sizeof loan);
  table = table.subspan(loan_words);
  attachment.loan = Loan{loan.number, loan.offset, loan.arena};
  return {};
}

Result<FrameDecoder::Incoming> FrameDecoder::announced(uint8_t dtype_number, std::span<const int64_t> dims,
                                                       uint64_t bytes) const {
  if (dtype_number == 0) {
    if (!dims.empty() || bytes != 0) return malformed("an attachment without a dtype has a shape or bytes");
    return Incoming{};
  }
  TROUPE_ASSIGN(const DType dtype, dtype_from_number(dtype_number));
  if (is_local(dtype))
    return malformed("an attachment has dtype " + std::string(name(dtype)) + ", which cannot be sent");
  TROUPE_ASSIGN(auto shape, Shape::make(dims, dtype, limits_.attachment_bytes));
  const auto elements = static_cast<uint64_t>(shape.elements());
  const bool fits =
      dtype == DType::String ? bytes / sizeof(uint64_t) >= elements : bytes == elements * size_of(dtype);
  if (!fits)
    return malformed("an attachment " + std::string(name(dtype)) + shape.text() + " has " +
                     std::to_string(bytes) + " bytes");
  return Incoming{dtype, std::move(shape), bytes};
}

Status FrameDecoder::begin_attachment() {
  filled_ = 0;
  if (frame_.attachments.size() == incoming_.size()) return {};
  const Incoming& next = incoming_[frame_.attachments.size()];
  if (next.loan) {
    TROUPE_ASSIGN(auto buffer, borrower_->borrow(*next.loan, next.bytes));
    constexpr uintptr_t widest = 8;  // the greatest alignment that elements need
    if (reinterpret_cast<uintptr_t>(buffer->data) % std::min(widest, uintptr_t{size_of(next.dtype)}) != 0)
      return malformed("the bytes of an attachment that is lent are not aligned");
    tensor_ = Tensor(next.dtype, next.shape, std::move(buffer));
    return {};
  }
  Status allocated = frame_.shortage.ok() ? allocate_attachment(next) : Status();
  if (allocated.code() != Code::ResourceExhausted) return allocated;
  frame_.shortage = std::move(allocated);
  dropped_.resize(limits::first_receive_bytes);
  return {};
}

Status FrameDecoder::allocate_attachment(const Incoming& next) {
  if (next.dtype == DType::String) {
    const std::array dims = {static_cast<int64_t>(next.bytes)};
    TROUPE_ASSIGN(const Shape shape, Shape::make(dims, DType::UInt8, limits_.attachment_bytes));
    TROUPE_ASSIGN(tensor_, Tensor::allocate(DType::UInt8, shape, *allocator_));
  } else if (is_plain(next.dtype)) {
    TROUPE_ASSIGN(tensor_, Tensor::allocate(next.dtype, next.shape, *allocator_));
  }
  return {};
}

Status FrameDecoder::end_attachment() {
  const Incoming& done = incoming_[frame_.attachments.size()];
  if (!tensor_.valid()) {  // it has no dtype, or there was no memory for it
    frame_.attachments.emplace_back();
    return {};
  }
  if (done.dtype == DType::String) {
    TROUPE_ASSIGN(tensor_, read_strings(done.shape, {tensor_.data(), tensor_.bytes()}));
  }
  if (done.dtype == DType::Bool && !only_zeros_and_ones({tensor_.data(), tensor_.bytes()}))
    return malformed("an element of a bool attachment is neither 0 nor 1");
  frame_.attachments.push_back(std::exchange(tensor_, {}));
  return {};
}

}  // namespace troupe
