#include "tests/support/net/damaged_frame.h"

#include <capnp/dynamic.h>
#include <capnp/serialize.h>

#include <map>
#include <random>

#include "actors/net/peer_messages.h"
#include "messages/schemas/checkpoint.capnp.h"
#include "messages/schemas/executor.capnp.h"
#include "messages/schemas/link.capnp.h"
#include "messages/schemas/mirror.capnp.h"
#include "messages/schemas/replicas.capnp.h"
#include "messages/schemas/rounds.capnp.h"
#include "messages/schemas/status.capnp.h"
#include "messages/schemas/trainer.capnp.h"
#include "messages/schemas/variable.capnp.h"
#include "messages/schemas/worker.capnp.h"
#include "messages/wire/message_reader.h"

namespace troupe::test {
namespace {

using capnp::DynamicList, capnp::DynamicStruct, capnp::DynamicValue;

template <class... T>
std::map<uint64_t, capnp::StructSchema> schemas_of() {
  return {{capnp::typeId<T>(), capnp::Schema::from<T>()}...};
}

using Schemas = std::map<uint64_t, capnp::StructSchema>;

const Schemas& session_schemas() {
  using namespace wire;
  static const auto all =
      schemas_of<wire::Status, Bind, Down, Heartbeat, Audit, Audited, RegisterPartition, PartitionRegistered,
                 RunPartition, PartitionDone, AbortStep, PartitionBroken, DeregisterPartition, ConfirmStep,
                 StepConfirmed, TensorsArrived, TakeTensor, TensorTaken, FindTokens, TokensFound, ReadDone,
                 SaveShard, ShardSaved, ReadShards, ShardsRead, ApplyShards, ShardsApplied, DropShards>();
  return all;
}

const Schemas& training_schemas() {
  using namespace wire;
  static const auto all =
      schemas_of<NameGpu, GpuNamed, BeginTraining, TrainingBegun, AssignShards, ShardsAssigned, RunRounds,
                 RoundsRun, Relocate, Relocated, BeginRounds, RoundsBegun, SetTrainers, FollowRounds,
                 Following, ShardsArrived, RoundFixed, FinishRound, RoundFinished, EndRounds, RoundsEnded,
                 StopFollowing, PushGradient, Committed, AwaitRound, BeginMirror, MirrorBegun, OpenMirror,
                 MirrorOpened, MirrorChange, ClaimVariables, VariablesClaimed, ChangeMirrored, Update,
                 Updated, TensorsArrived, RunPartition, PartitionDone>();
  return all;
}

const capnp::StructSchema& schema_of(uint64_t id) {
  const auto known = session_schemas().find(id);
  return known == session_schemas().end() ? training_schemas().at(id) : known->second;
}

uint64_t another(uint64_t value, std::mt19937_64& random) {
  const uint64_t others[] = {value + 1, value - 1, 0, random(), value ^ (uint64_t{1} << (random() % 64))};
  const uint64_t other = others[random() % 5];
  return other == value ? value + 1 : other;
}

/// A field of a struct whose value can be changed. The change returns a text that says what became what.
struct Leaf {
  std::string path;
  std::function<std::string(std::mt19937_64&)> change;
};

template <class Set>
std::string change(const DynamicValue::Reader& value, capnp::Type type, std::mt19937_64& random,
                   const Set& set) {
  const auto tell = [](auto from, auto to) { return std::to_string(from) + " -> " + std::to_string(to); };
  switch (type.which()) {
    case capnp::schema::Type::BOOL: {
      const bool now = value.as<bool>();
      set(DynamicValue::Reader(!now));
      return tell(now, !now);
    }
    case capnp::schema::Type::TEXT: {
      const auto text = value.as<capnp::Text>();
      std::string other(text.begin(), text.size());
      if (other.empty())
        other = "x";
      else
        other[random() % other.size()] ^= 1;
      set(DynamicValue::Reader(capnp::Text::Reader(other.c_str(), other.size())));
      return std::string(text.begin(), text.size()) + " -> " + other;
    }
    case capnp::schema::Type::ENUM: {
      const uint16_t now = value.as<capnp::DynamicEnum>().getRaw();
      const auto count = static_cast<uint16_t>(type.asEnum().getEnumerants().size());
      const auto other = static_cast<uint16_t>((now + 1 + random() % (count - 1)) % count);
      set(DynamicValue::Reader(capnp::DynamicEnum(type.asEnum(), other)));
      return tell(now, other);
    }
    case capnp::schema::Type::FLOAT32:
    case capnp::schema::Type::FLOAT64:
      set(DynamicValue::Reader(value.as<double>() + 1));
      return tell(value.as<double>(), value.as<double>() + 1);
    case capnp::schema::Type::INT8:
    case capnp::schema::Type::INT16:
    case capnp::schema::Type::INT32:
    case capnp::schema::Type::INT64: {
      const int64_t now = value.as<int64_t>(), other = now == 0 ? 1 : -now;
      const int64_t small = std::abs(other) > 100 ? 1 : other;
      set(DynamicValue::Reader(small));
      return tell(now, small);
    }
    default: {
      const auto now = value.as<uint64_t>();
      uint64_t other = another(now, random);
      if (type.which() == capnp::schema::Type::UINT32) other = static_cast<uint32_t>(other);
      if (type.which() == capnp::schema::Type::UINT16) other = static_cast<uint16_t>(other);
      if (type.which() == capnp::schema::Type::UINT8) other = static_cast<uint8_t>(other);
      set(DynamicValue::Reader(other));
      return tell(now, other);
    }
  }
}

bool is_leaf(capnp::Type type) {
  switch (type.which()) {
    case capnp::schema::Type::STRUCT:
    case capnp::schema::Type::LIST:
    case capnp::schema::Type::DATA:
    case capnp::schema::Type::VOID:
    case capnp::schema::Type::INTERFACE:
    case capnp::schema::Type::ANY_POINTER: return false;
    default: return true;
  }
}

void collect(DynamicStruct::Builder builder, const std::string& path, std::vector<Leaf>& leaves);

void collect(DynamicList::Builder list, const std::string& path, std::vector<Leaf>& leaves) {
  const capnp::Type type = list.getSchema().getElementType();
  for (uint32_t i = 0; i < list.size(); ++i) {
    const std::string here = path + "[" + std::to_string(i) + "]";
    if (type.isStruct()) {
      collect(list[i].as<DynamicStruct>(), here, leaves);
    } else if (is_leaf(type)) {
      leaves.push_back({here, [list, i, type](std::mt19937_64& random) mutable {
                          return change(list[i].asReader(), type, random,
                                        [&](const DynamicValue::Reader& value) { list.set(i, value); });
                        }});
    }
  }
}

void collect(DynamicStruct::Builder builder, const std::string& path, std::vector<Leaf>& leaves) {
  for (const auto field : builder.getSchema().getFields()) {
    if (!builder.has(field) && !is_leaf(field.getType())) continue;
    if (field.getProto().getDiscriminantValue() != capnp::schema::Field::NO_DISCRIMINANT) {
      const auto chosen = builder.which();
      if (!(chosen != nullptr && KJ_ASSERT_NONNULL(chosen) == field)) continue;
    }
    const std::string here = path + "." + field.getProto().getName().cStr();
    const capnp::Type type = field.getType();
    if (type.isStruct()) {
      collect(builder.get(field).as<DynamicStruct>(), here, leaves);
    } else if (type.isList()) {
      collect(builder.get(field).as<DynamicList>(), here, leaves);
    } else if (is_leaf(type)) {
      leaves.push_back({here, [builder, field, type](std::mt19937_64& random) mutable {
                          return change(
                              builder.get(field).asReader(), type, random,
                              [&](const DynamicValue::Reader& value) { builder.set(field, value); });
                        }});
    }
  }
}

std::string damage_header(FrameHeader& header, std::mt19937_64& random) {
  const auto changed = [&](const char* name, uint64_t& value) {
    const uint64_t now = std::exchange(value, another(value, random));
    return std::string(".header.") + name + ": " + std::to_string(now) + " -> " + std::to_string(value);
  };
  switch (random() % 5) {
    case 0: return changed("receiver", header.receiver);
    case 1: return changed("sequence", header.sequence);
    case 2: return changed("answers", header.answers);
    case 3: return changed("incarnation", header.incarnation);
    default: header.request = !header.request; return ".header.request";
  }
}

Frame decoded(std::span<const std::byte> bytes) {
  FrameDecoder decoder(heap_allocator());
  while (!bytes.empty()) {
    const auto wanted = decoder.wanted();
    const size_t count = std::min(wanted.size(), bytes.size());
    std::ranges::copy(bytes.first(count), wanted.begin());
    bytes = bytes.subspan(count);
    throw_if_failed(decoder.advance(count));
  }
  return std::move(*decoder.take());
}

std::vector<DamagedFrame::Type> types_of(const Schemas& schemas) {
  std::vector<DamagedFrame::Type> all;
  for (const auto& [id, schema] : schemas) all.push_back({schema.getShortDisplayName().cStr(), id});
  return all;
}

}  // namespace

DamagedFrame::DamagedFrame(uint64_t schema_id, uint64_t skip, uint64_t seed)
    : schema_id_(schema_id), skip_(skip), seed_(seed) {}

void DamagedFrame::operator()(std::vector<std::byte>& bytes) {
  if (!what_.empty()) return;
  Frame frame = decoded(bytes);
  if (frame.schema_id != schema_id_ || skip_-- != 0) return;
  std::mt19937_64 random(seed_);
  const capnp::StructSchema schema = schema_of(schema_id_);
  FrameHeader header = frame.header;
  const AnyMessage message = value_or_throw(receive_from_peer(std::move(frame)));
  const auto words = message.words();
  const kj::ArrayPtr<const capnp::word> segment(reinterpret_cast<const capnp::word*>(words.data()),
                                                words.size());
  const kj::ArrayPtr<const capnp::word> segments[] = {segment};
  capnp::SegmentArrayMessageReader reader(segments, {UINT64_MAX, 1000});
  capnp::MallocMessageBuilder builder;
  builder.setRoot(reader.getRoot<DynamicStruct>(schema));
  std::vector<Leaf> leaves;
  collect(builder.getRoot<DynamicStruct>(schema), "", leaves);
  what_ = schema.getShortDisplayName().cStr();
  if (leaves.empty() || random() % 5 == 0) {
    what_ += damage_header(header, random);
  } else {
    Leaf& leaf = leaves[random() % leaves.size()];
    what_ += leaf.path;
    what_ += ": " + leaf.change(random);
  }
  const auto attachments = message.attachments();
  const auto encoded = value_or_throw(
      encode(header, detail::seal(builder, schema_id_, {attachments.begin(), attachments.end()})));
  bytes.clear();
  for (const auto piece : encoded.pieces()) bytes.insert(bytes.end(), piece.begin(), piece.end());
}

std::vector<DamagedFrame::Type> DamagedFrame::types() { return types_of(session_schemas()); }

std::vector<DamagedFrame::Type> DamagedFrame::training_types() { return types_of(training_schemas()); }

}  // namespace troupe::test
