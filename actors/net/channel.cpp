#include "actors/net/channel.h"

#include <algorithm>
#include <cassert>

#include "actors/net/peer_messages.h"
#include "messages/schemas/link.capnp.h"
#include "messages/values/device_name.h"
#include "messages/wire/limits.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

constexpr uint32_t protocol = 1;

/// Compares two names of clusters in a time that does not depend on what they have in common: such a name may be a secret.
bool same_cluster(std::string_view theirs, std::string_view ours) {
  unsigned char differences = theirs.size() != ours.size();
  for (size_t i = 0; i < theirs.size() && !ours.empty(); ++i)
    differences |= static_cast<unsigned char>(theirs[i] ^ ours[i % ours.size()]);
  return differences == 0;
}

/// Checks that the two nodes can work together. A failure names both of them, and tells a node of another cluster nothing else of
/// this one.
Status check_hello(wire::Hello::Reader hello, const NodeIdentity& self, uint64_t ops) {
  const std::string task(view(hello.getTask()));
  const auto differs = [&](const std::string& what, const std::string& theirs, const std::string& ours) {
    return failed_precondition(task + " has " + what + " " + theirs + ", " + self.task + " has " + ours);
  };
  if (hello.getProtocol() != protocol)
    return differs("link protocol", std::to_string(hello.getProtocol()), std::to_string(protocol));
  if (!same_cluster(view(hello.getCluster()), self.cluster))
    return failed_precondition(task + " is of another cluster than " + self.task +
                               ": their names (cluster.name) differ");
  if (view(hello.getBuild()) != build_id())
    return differs("build", std::string(view(hello.getBuild())), build_id());
  if (hello.getOps() != ops) return differs("op table", std::to_string(hello.getOps()), std::to_string(ops));
  if (task == self.task) return failed_precondition("this node is " + task + " itself");
  return {};
}

/// Returns the job of a task; empty if that is not the name of a task.
std::string job_of(const std::string& task) {
  const auto name = DeviceName::parse(task);
  return name ? name->job : std::string();
}

capnp::Data::Reader as_data(const std::string& bytes) {
  return {reinterpret_cast<const capnp::byte*>(bytes.data()), bytes.size()};
}

std::string bytes_of(capnp::Data::Reader data) {
  return {reinterpret_cast<const char*>(data.begin()), data.size()};
}

/// Returns whether the second connection of the link may go through the transport that the network offers.
bool may_meet(wire::Hello::Reader hello, const NodeIdentity& self, const Network& network) {
  const std::string place = network.place();
  return !hello.getBulk() && !hello.getAsking() && !self.asking && !place.empty() &&
         view(hello.getPlace()) == place;
}

uint64_t next(uint64_t sequence, bool bulk) { return sequence == 0 ? (bulk ? 2 : 1) : sequence + 2; }

/// Returns the bytes of a frame, also those that were lent.
size_t size_of_frame(const Frame& frame) {
  size_t bytes = frame_header_bytes + frame.words.size() * sizeof(uint64_t);
  for (const Tensor& tensor : frame.attachments) bytes += tensor.bytes();
  return bytes;
}

}  // namespace

const char* build_id() { return TROUPE_VERSION; }

Channel::Channel(ActorNode& node, Owner& owner, NodeIdentity self, const FrameLimits& limits,
                 std::unique_ptr<Connection> connection, std::optional<ChannelName> name)
    : node_(node), owner_(&owner), self_(std::move(self)), limits_(limits),
      connection_(std::move(connection)), name_(name), is_offered_(connection_->is_offered()) {
  opened_ = last_received_ = last_read_ = node_.env.clock.now();
  connection_->start(*this, node_.memory, FrameLimits::before_hello());
  if (name_) say_hello();
}

void Channel::say_hello() {
  Draft<wire::Hello> draft;
  draft->setProtocol(protocol);
  draft->setBuild(TROUPE_VERSION);
  draft->setOps(node_.library->ops->signature_hash());
  draft->setCluster(as_text(self_.cluster));
  draft->setTask(as_text(self_.task));
  draft->setIncarnation(self_.incarnation);
  draft->setLink(name_->link);
  draft->setBulk(name_->bulk);
  draft->setHeartbeat(static_cast<uint64_t>(self_.heartbeat));
  draft->setAsking(self_.asking);
  if (!name_->bulk && !self_.asking) draft->setPlace(as_text(node_.env.network->place()));
  if (offer_) {
    draft->setAddress(as_data(offer_->address));
    draft->setToken(as_data(offer_->token));
  }
  send_own(draft.finish());
}

Result<uint64_t> Channel::send(FrameHeader header, AnyMessage message) {
  header.sequence = next(sent_, name_ && name_->bulk);
  header.incarnation = self_.incarnation;
  const size_t bytes = frame_header_bytes + message.bytes();
  TROUPE_ASSIGN(auto frame, encode(header, std::move(message), connection_->lender()));
  sent_ = header.sequence;
  queued_ += frame.bytes();
  connection_->send(std::move(frame));
  if (traffic_) traffic_->sent.fetch_add(bytes, std::memory_order_relaxed);
  return sent_;
}

int64_t Channel::unread_for() {
  const size_t unsent = connection_->unsent();
  const int64_t now = node_.env.clock.now();
  if (const uint64_t read = queued_ - unsent; unsent == 0 || read != read_) {
    read_ = read;
    last_read_ = now;
  }
  return now - last_read_;
}

void Channel::close(const Status& reason, bool node_ends) {
  if (!connection_) return;
  Draft<wire::Goodbye> draft;
  write(reason, draft->initReason());
  draft->setEnds(node_ends);
  send_own(draft.finish());
  closed(reason);
}

void Channel::send_own(AnyMessage message) {
  const auto sent = send({}, std::move(message));
  assert(sent.ok());  // a message without attachments can always be encoded
  (void)sent;
}

void Channel::closed(Status reason) {
  if (!connection_) return;
  connection_.reset();
  if (reason.ok()) reason = unavailable((peer_ ? peer_->task : "the peer") + " closed the connection");
  if (peer_ && reason.text().find(peer_->task) == std::string::npos)
    reason = Status(reason.code(), peer_->task + ": " + reason.text());
  owner_->closed(*this, reason);
}

void Channel::received(Frame frame) {
  last_received_ = node_.env.clock.now();
  if (traffic_) traffic_->received.fetch_add(size_of_frame(frame), std::memory_order_relaxed);
  const uint64_t sequence = frame.header.sequence;
  if (received_ != 0 && sequence <= received_) {
    ++repeated_;
    return;
  }
  const bool missing = received_ != 0 && sequence != next(received_, name_->bulk);
  received_ = sequence;
  const Status status = missing
                            ? data_loss("frames before number " + std::to_string(sequence) + " are missing")
                            : take(std::move(frame));
  if (!status.ok()) close(status);
}

void Channel::receiving() { last_received_ = node_.env.clock.now(); }

Status Channel::take(Frame frame) {
  if (!peer_) return greet(std::move(frame));
  if (frame.header.incarnation != peer_->incarnation)
    return failed_precondition("a frame has incarnation " + std::to_string(frame.header.incarnation) +
                               ", the Hello of " + peer_->task + " had " +
                               std::to_string(peer_->incarnation));
  return owner_->received(*this, std::move(frame));
}

Status Channel::greet(Frame frame) {
  const FrameHeader header = frame.header;
  TROUPE_ASSIGN(const AnyMessage message, receive_from_peer(std::move(frame)));
  if (message.schema_id() == schema_id_of<wire::Goodbye>) {
    closed(read(Message<wire::Goodbye>(message)->getReason()));
    return {};
  }
  if (message.schema_id() != schema_id_of<wire::Hello>)
    return invalid_argument("the peer sent another message before its Hello");
  const Message<wire::Hello> hello(message);
  TROUPE_RETURN_IF_FAILED(check_hello(*hello, self_, node_.library->ops->signature_hash()));
  const ChannelName theirs{hello->getLink(), hello->getBulk()};
  if (hello->getIncarnation() != header.incarnation || header.sequence != next(0, theirs.bulk) ||
      (name_ && (theirs.link != name_->link || theirs.bulk != name_->bulk)))
    return invalid_argument("the peer's Hello contradicts its frame or the Hello of this side");
  NodeIdentity peer{std::string(view(hello->getCluster())), std::string(view(hello->getTask())),
                    hello->getIncarnation(),
                    static_cast<int64_t>(std::min(hello->getHeartbeat(), uint64_t{limits::max_heartbeat})),
                    hello->getAsking()};
  TROUPE_RETURN_IF_FAILED(check_identity(peer.task));
  if (!theirs.bulk) TROUPE_RETURN_IF_FAILED(owner_->admits(peer));
  const bool answer = !name_;
  name_ = theirs;
  peer_ = std::move(peer);
  const bool meets = may_meet(*hello, self_, *node_.env.network);
  if (answer) {
    if (meets) offer_ = node_.env.network->make_offer(proven_task());
    say_hello();
  } else if (meets && hello->hasToken()) {
    offer_ = {bytes_of(hello->getAddress()), bytes_of(hello->getToken())};
  }
  connection_->welcome(limits_);
  return owner_->greeted(*this);
}

Status Channel::check_identity(const std::string& task) const {
  const auto proven = connection_->proven_task();
  if (!proven || *proven == task) return {};
  if (owner_->is_client(task) &&
      (proven->empty() || (owner_->is_client(*proven) && job_of(*proven) == job_of(task))))
    return {};
  return Status(Code::PermissionDenied,
                "the peer calls itself " + task +
                    (proven->empty() ? ", but its certificate names no task: it may only be a client"
                                     : ", but its certificate is that of " + *proven));
}

}  // namespace troupe
