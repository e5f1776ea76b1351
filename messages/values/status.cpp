#include "messages/values/status.h"

#include <array>

namespace troupe {
namespace {

const std::string& empty_text() {
  static const std::string empty;
  return empty;
}

}  // namespace

std::string_view name(Code code) {
  static constexpr std::array<std::string_view, 16> names = {
      "Ok",       "Cancelled",     "Unknown",          "InvalidArgument",   "DeadlineExceeded",
      "NotFound", "AlreadyExists", "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
      "Aborted",  "OutOfRange",    "Unimplemented",    "Internal",          "Unavailable",
      "DataLoss"};
  const auto index = static_cast<size_t>(code);
  return index < names.size() ? names[index] : "Unknown";
}

Status::Status(Code code, std::string text) {
  if (code == Code::Ok) return;
  auto detail = std::make_shared<Detail>();
  detail->code = code;
  detail->text = std::move(text);
  detail_ = std::move(detail);
}

const std::string& Status::text() const { return ok() ? empty_text() : detail_->text; }
const std::string& Status::op() const { return ok() ? empty_text() : detail_->op; }
const std::string& Status::node() const { return ok() ? empty_text() : detail_->node; }
const std::string& Status::device() const { return ok() ? empty_text() : detail_->device; }

Status::Detail& Status::own() {
  auto copy = std::make_shared<Detail>(*detail_);
  auto& detail = *copy;
  detail_ = std::move(copy);
  return detail;
}

Status Status::at_node(std::string_view op, std::string_view node) && {
  if (!ok() && detail_->node.empty()) {
    auto& detail = own();
    detail.op = op;
    detail.node = node;
  }
  return std::move(*this);
}

Status Status::at_device(std::string_view device) && {
  if (!ok() && detail_->device.empty()) own().device = device;
  return std::move(*this);
}

Status Status::at_step(uint64_t step) && {
  if (!ok() && detail_->step == 0) own().step = step;
  return std::move(*this);
}

std::string Status::message() const {
  if (ok()) return "Ok";
  std::string out{name(detail_->code)};
  out += ':';
  if (!detail_->op.empty()) out += " [" + detail_->op + "]";
  if (!detail_->node.empty()) out += ' ' + detail_->node;
  if (!detail_->device.empty()) out += " on " + detail_->device;
  if (detail_->step != 0) out += (out.back() == ':' ? " step " : ", step ") + std::to_string(detail_->step);
  if (out.back() != ':') out += ':';
  return out + ' ' + detail_->text;
}

Status cancelled(std::string text) { return {Code::Cancelled, std::move(text)}; }
Status invalid_argument(std::string text) { return {Code::InvalidArgument, std::move(text)}; }
Status deadline_exceeded(std::string text) { return {Code::DeadlineExceeded, std::move(text)}; }
Status not_found(std::string text) { return {Code::NotFound, std::move(text)}; }
Status already_exists(std::string text) { return {Code::AlreadyExists, std::move(text)}; }
Status resource_exhausted(std::string text) { return {Code::ResourceExhausted, std::move(text)}; }
Status failed_precondition(std::string text) { return {Code::FailedPrecondition, std::move(text)}; }
Status aborted(std::string text) { return {Code::Aborted, std::move(text)}; }
Status out_of_range(std::string text) { return {Code::OutOfRange, std::move(text)}; }
Status unimplemented(std::string text) { return {Code::Unimplemented, std::move(text)}; }
Status internal(std::string text) { return {Code::Internal, std::move(text)}; }
Status unavailable(std::string text) { return {Code::Unavailable, std::move(text)}; }
Status data_loss(std::string text) { return {Code::DataLoss, std::move(text)}; }

bool retry_may_help(Code code) { return code == Code::Aborted || code == Code::Unavailable; }

int Error::exit_code() const {
  switch (status_.code()) {
    case Code::InvalidArgument: return 2;
    case Code::DataLoss: return 3;
    default: return 1;
  }
}

}  // namespace troupe
