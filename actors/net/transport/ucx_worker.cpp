#include "actors/net/transport/ucx_worker.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "actors/net/transport/ucx_stream.h"
#include "messages/values/crc32c.h"

#include <boost/asio/post.hpp>

namespace troupe {
namespace {

using SocketError = boost::system::error_code;
using namespace std::chrono_literals;

constexpr int max_turns = 64;         // of progress in a row, so that other handlers are not delayed
constexpr size_t max_address = 6000;  // bytes; a Hello has room for so many (FrameLimits::before_hello)
constexpr auto worker_farewell = 100ms, worker_pause = 1ms;  // how long, and how often, the destructor waits

/// Addresses travel with a checksum, because UCX does not check what it is given.
constexpr size_t checksum_bytes = sizeof(uint32_t);

std::string seal(std::string_view address) {
  const uint32_t checksum = crc32c(address);
  std::string sealed(checksum_bytes, '\0');
  std::memcpy(sealed.data(), &checksum, checksum_bytes);
  return sealed.append(address);
}

Result<std::string_view> unseal(std::string_view sealed) {
  uint32_t checksum = 0;
  if (sealed.size() > checksum_bytes) std::memcpy(&checksum, sealed.data(), checksum_bytes);
  const auto address = sealed.substr(std::min(sealed.size(), checksum_bytes));
  if (address.empty() || crc32c(address) != checksum)
    return data_loss("the UCX address of the peer is damaged");
  return address;
}

}  // namespace

Result<std::shared_ptr<UcxWorker>> UcxWorker::make(boost::asio::io_context& io) {
  TROUPE_ASSIGN(const UcxLibrary* const ucx, UcxLibrary::load());
  std::shared_ptr<UcxWorker> worker(new UcxWorker(io, *ucx));
  TROUPE_RETURN_IF_FAILED(worker->open());
  return worker;
}

Status UcxWorker::open() {
  const auto failure = [&](const char* what, ucs_status_t status) {
    return unavailable(std::string("UCX ") + what + ": " + ucx_.status_string(status));
  };
  ucp_config_t* config = nullptr;
  if (const auto status = ucx_.config_read(nullptr, nullptr, &config); status != UCS_OK)
    return failure("cannot read its settings", status);
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  const auto made = ucx_.init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &context_);
  ucx_.config_release(config);
  if (made != UCS_OK) return failure("cannot be used with these settings (UCX_TLS, UCX_NET_DEVICES)", made);
  ucp_worker_params_t worker{};
  worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  worker.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  if (const auto status = ucx_.worker_create(context_, &worker, &worker_); status != UCS_OK)
    return failure("cannot open its devices", status);
  TROUPE_RETURN_IF_FAILED(set_handler(opening_id, &UcxWorker::opened));
  TROUPE_RETURN_IF_FAILED(set_handler(piece_id, &UcxWorker::arrived));
  ucp_address_t* address = nullptr;
  size_t bytes = 0;
  if (const auto status = ucx_.worker_get_address(worker_, &address, &bytes); status != UCS_OK)
    return failure("has no address", status);
  address_ = seal({reinterpret_cast<const char*>(address), bytes});
  ucx_.worker_release_address(worker_, address);
  if (bytes > max_address)
    return failed_precondition("the address of this process has " + std::to_string(bytes) +
                               " bytes in UCX, but at most " + std::to_string(max_address) +
                               " are possible: UCX_NET_DEVICES can choose fewer devices");
  int wakeup = -1;
  if (const auto status = ucx_.worker_get_efd(worker_, &wakeup); status != UCS_OK)
    return failure("cannot wake a thread", status);
  wakeup_.assign(wakeup);
  boost::asio::post(io_, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) {
      self->watch();
      self->work();
    }
  });
  return {};
}

Status UcxWorker::set_handler(unsigned id, ucp_am_recv_callback_t function) {
  ucp_am_handler_param_t param{};
  param.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                     UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  param.id = id;
  param.flags = UCP_AM_FLAG_WHOLE_MSG;
  param.cb = function;
  param.arg = this;
  const auto status = ucx_.worker_set_am_recv_handler(worker_, &param);
  return status == UCS_OK ? Status{} : internal(std::string("UCX: ") + ucx_.status_string(status));
}

// Work.

void UcxWorker::keep(std::unique_ptr<Operation> operation) {
  const Operation* const key = operation.get();
  operations_.emplace(key, std::move(operation));
}

std::unique_ptr<UcxWorker::Operation> UcxWorker::end(const Operation* operation) {
  return std::move(operations_.extract(operation).mapped());
}

void UcxWorker::watch() {
  wakeup_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                     [weak = weak_from_this()](const SocketError& error) {
                       const auto self = weak.lock();
                       if (error || !self) return;
                       self->work();
                       self->watch();
                     });
}

void UcxWorker::work_soon() {
  if ((spins_ && is_active()) || std::exchange(work_queued_, true)) return;
  boost::asio::post(io_, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->work_queued_ = false;
    self->work();
  });
}

bool UcxWorker::progress() {
  for (const auto endpoint : std::exchange(to_close_, {})) close_now(endpoint);
  return ucx_.worker_progress(worker_) != 0;
}

void UcxWorker::work() {
  for (int i = 0; i < max_turns; ++i)
    if (!progress()) break;
  if (!sleep()) work_soon();
}

bool UcxWorker::poll() {
  spins_ = true;
  const auto self = shared_from_this();  // a callback may drop the last connection
  return progress();
}

bool UcxWorker::sleep() { return to_close_.empty() && ucx_.worker_arm(worker_) == UCS_OK; }

// What arrives.

ucs_status_t UcxWorker::opened(void* self, const void* header, size_t header_bytes, void* data, size_t bytes,
                               const ucp_am_recv_param_t* param) {
  const Opening opening = static_cast<UcxWorker*>(self)->opening_;  // which may be replaced meanwhile
  if (opening && (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0)
    opening({static_cast<const std::byte*>(header), header_bytes},
            {static_cast<const std::byte*>(data), bytes});
  return UCS_OK;
}

ucs_status_t UcxWorker::arrived(void* self, const void* header, size_t header_bytes, void* data, size_t bytes,
                                const ucp_am_recv_param_t* param) {
  PieceHeader piece;
  if (header_bytes != sizeof piece) return UCS_OK;
  std::memcpy(&piece, header, sizeof piece);
  const auto& streams = static_cast<UcxWorker*>(self)->streams_;
  const auto at = streams.find(std::string_view(piece.key.data(), piece.key.size()));
  if (at == streams.end()) return UCS_OK;
  const bool rendezvous = (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0;
  return at->second->arrived(piece, data, bytes, rendezvous) ? UCS_INPROGRESS : UCS_OK;
}

// Endpoints.

Result<ucp_ep_h> UcxWorker::connect(std::string_view address) {
  TROUPE_ASSIGN(const std::string_view opened, unseal(address));
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t*>(opened.data());
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler = {&UcxWorker::failed, this};
  ucp_ep_h endpoint = nullptr;
  const auto status = ucx_.ep_create(worker_, &params, &endpoint);
  work_soon();
  if (status != UCS_OK) return unavailable(std::string("UCX cannot connect: ") + ucx_.status_string(status));
  return endpoint;
}

void UcxWorker::failed(void* self, ucp_ep_h endpoint, ucs_status_t status) {
  const UcxWorker& worker = *static_cast<UcxWorker*>(self);
  for (const auto& [key, stream] : worker.streams_)
    if (stream->endpoint() == endpoint) return stream->endpoint_failed(status);
}

/// Callbacks of UCX may call this function, so the endpoint is closed later.
void UcxWorker::close(ucp_ep_h endpoint) {
  to_close_.push_back(endpoint);
  work_soon();
}

void UcxWorker::close_now(ucp_ep_h endpoint) {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  param.flags = UCP_EP_CLOSE_FLAG_FORCE;
  param.user_data = this;
  param.cb.send = [](void* request, ucs_status_t, void* self) {
    auto& worker = *static_cast<UcxWorker*>(self);
    worker.ucx_.request_free(request);
    --worker.closing_;
  };
  ++closing_;
  if (!UCS_PTR_IS_PTR(ucx_.ep_close_nbx(endpoint, &param))) --closing_;
}

void UcxWorker::remove(const std::string& key) {
  streams_.erase(key);
  work_soon();  // a thread that spins does not look any more if this was the last stream
}

// The end.

template <class Function>
void UcxWorker::progress_while(const Function& unfinished) {
  const auto end = std::chrono::steady_clock::now() + worker_farewell;
  while (unfinished() && std::chrono::steady_clock::now() < end)
    if (!progress()) std::this_thread::sleep_for(worker_pause);
}

UcxWorker::~UcxWorker() {
  opening_ = nullptr;
  if (worker_) {
    progress_while([this] {
      return std::ranges::any_of(streams_, [](const auto& entry) { return entry.second->is_sending(); });
    });
    while (!streams_.empty()) streams_.begin()->second->abandon();
    progress_while([this] { return !to_close_.empty() || closing_ > 0; });
    if (wakeup_.is_open()) wakeup_.release();
    ucx_.worker_destroy(worker_);
    operations_.clear();
  }
  if (context_) ucx_.cleanup(context_);
}

}  // namespace troupe
