#include "messages/wire/message_reader.h"

#include <capnp/any.h>
#include <capnp/dynamic.h>
#include <kj/exception.h>

#include <cstring>
#include <optional>
#include <unordered_map>

#include "messages/wire/limits.h"

namespace troupe::detail {

// Checks that every pointer of a received message points to what its schema says. Cap'n Proto notices a wrong pointer only when the
// field is read, which would be in the middle of some handler's work. The pointer fields of a type are found in its schema once,
// because finding them for each message would cost ten times as much.
class SchemaCheck {
 public:
  explicit SchemaCheck(capnp::StructSchema schema) : schema_(schema), root_(fields_of(schema)) {}

  capnp::StructSchema schema() const { return schema_; }
  /// Throws kj::Exception if a pointer is not of the kind that the schema says.
  void check(capnp::AnyStruct::Reader reader) const { check(reader, root_); }

 private:
  enum class Kind : uint8_t { Text, Data, Struct, Texts, Datas, Structs, Numbers };
  // The condition of a member of a union: the union's discriminant, 16 bits of the data section, must have this value.
  struct Member {
    uint32_t offset;
    uint16_t value;
  };
  struct Field;
  using Fields = std::vector<Field>;
  struct Field {
    uint32_t pointer;
    Kind kind;
    std::optional<Member> member;
    const Fields* inner;  // the fields of the struct, or of each struct in the list
    capnp::ListSchema numbers;
  };

  const Fields& fields_of(capnp::StructSchema schema) {
    const auto [entry, is_new] = fields_.try_emplace(schema.getProto().getId());
    Fields& fields = entry->second;
    if (is_new)
      for (auto field : schema.getFields()) add(fields, schema, field);
    return fields;
  }

  void add(Fields& fields, capnp::StructSchema schema, capnp::StructSchema::Field field) {
    const auto proto = field.getProto();
    const capnp::Type type = field.getType();
    const auto kind = kind_of(type);
    KJ_REQUIRE(proto.isSlot(), "messages have no groups");
    if (!kind) return;
    Field added{proto.getSlot().getOffset(), *kind, {}, nullptr, {}};
    if (proto.getDiscriminantValue() != capnp::schema::Field::NO_DISCRIMINANT)
      added.member =
          Member{schema.getProto().getStruct().getDiscriminantOffset(), proto.getDiscriminantValue()};
    if (*kind == Kind::Struct) added.inner = &fields_of(type.asStruct());
    if (*kind == Kind::Structs) added.inner = &fields_of(type.asList().getStructElementType());
    if (*kind == Kind::Numbers) added.numbers = type.asList();
    fields.push_back(added);
  }

  static std::optional<Kind> kind_of(capnp::Type type) {
    if (type.isText()) return Kind::Text;
    if (type.isData()) return Kind::Data;
    if (type.isStruct()) return Kind::Struct;
    KJ_REQUIRE(!type.isAnyPointer() && !type.isInterface(), "messages have no pointers without a type");
    if (!type.isList()) return {};
    const auto element = kind_of(type.asList().getElementType());
    if (!element) return Kind::Numbers;
    KJ_REQUIRE(*element <= Kind::Struct, "messages have no lists of lists");
    static constexpr Kind lists[] = {Kind::Texts, Kind::Datas, Kind::Structs};
    return lists[static_cast<size_t>(*element)];
  }

  static bool holds(capnp::AnyStruct::Reader reader, const Member& member) {
    const auto data = reader.getDataSection();
    uint16_t value = 0;
    if (data.size() >= (member.offset + 1) * sizeof value)
      std::memcpy(&value, data.begin() + member.offset * sizeof value, sizeof value);
    return value == member.value;
  }

  static capnp::List<capnp::AnyStruct>::Reader structs(capnp::AnyPointer::Reader pointer) {
    const auto list = pointer.getAs<capnp::AnyList>();
    KJ_REQUIRE(list.getElementSize() != capnp::ElementSize::BIT, "bits where structs were expected");
    return list.as<capnp::List<capnp::AnyStruct>>();
  }

  static void check(capnp::AnyStruct::Reader reader, const Fields& fields) {
    const auto pointers = reader.getPointerSection();
    for (const Field& field : fields)
      if (field.pointer < pointers.size() && (!field.member || holds(reader, *field.member)))
        check(pointers[field.pointer], field);
  }

  static void check(capnp::AnyPointer::Reader pointer, const Field& field) {
    if (pointer.isNull()) return;
    switch (field.kind) {
      case Kind::Text: pointer.getAs<capnp::Text>(); break;
      case Kind::Data: pointer.getAs<capnp::Data>(); break;
      case Kind::Struct: check(pointer.getAs<capnp::AnyStruct>(), *field.inner); break;
      case Kind::Texts:
        for (auto item : pointer.getAs<capnp::List<capnp::Text>>()) (void)item;
        break;
      case Kind::Datas:
        for (auto item : pointer.getAs<capnp::List<capnp::Data>>()) (void)item;
        break;
      case Kind::Structs:
        for (auto item : structs(pointer)) check(item, *field.inner);
        break;
      case Kind::Numbers: pointer.getAs<capnp::DynamicList>(field.numbers); break;
    }
  }

  capnp::StructSchema schema_;
  std::unordered_map<uint64_t, Fields> fields_;  // by the id of the type, because a type may contain itself
  const Fields& root_;
};

std::shared_ptr<const SchemaCheck> make_schema_check(capnp::StructSchema schema) {
  return std::make_shared<SchemaCheck>(schema);
}

namespace {

capnp::word* as_words(uint64_t* words) { return reinterpret_cast<capnp::word*>(words); }
const capnp::word* as_words(const uint64_t* words) { return reinterpret_cast<const capnp::word*>(words); }

// A correct struct never grows when it is copied. If a copy does not fit, several pointers of the struct lead to the same bytes.
AnyMessage copy_checked(const SchemaCheck& check, std::span<const uint64_t> words,
                        std::vector<Tensor> attachments) {
  const auto segment = kj::arrayPtr(as_words(words.data()), words.size());
  capnp::ReaderOptions options;
  options.traversalLimitInWords = limits::traversal_factor * words.size() + limits::traversal_extra_words;
  options.nestingLimit = limits::nesting;
  capnp::SegmentArrayMessageReader reader(kj::arrayPtr(&segment, 1), options);
  auto copy = AnyMessage::allocate(check.schema().getProto().getId(), words.size(), std::move(attachments));
  capnp::FlatMessageBuilder builder(kj::arrayPtr(as_words(copy.words.data()), copy.words.size()));
  builder.setRoot(reader.getRoot<capnp::AnyStruct>());
  check.check(capnp::readMessageUnchecked<capnp::AnyStruct>(as_words(copy.words.data())));
  return std::move(copy.message);
}

}  // namespace

AnyMessage seal(capnp::MessageBuilder& builder, uint64_t schema_id, std::vector<Tensor> attachments) {
  const auto segments = builder.getSegmentsForOutput();
  if (segments.size() == 1) {
    auto whole = AnyMessage::allocate(schema_id, segments[0].size(), std::move(attachments));
    std::memcpy(whole.words.data(), segments[0].begin(), whole.words.size_bytes());
    return std::move(whole.message);
  }
  const auto root = builder.getRoot<capnp::AnyStruct>().asReader();
  auto joined = AnyMessage::allocate(schema_id, root.totalSize().wordCount + 1, std::move(attachments));
  capnp::copyToUnchecked(root, kj::arrayPtr(as_words(joined.words.data()), joined.words.size()));
  return std::move(joined.message);
}

Result<AnyMessage> receive(const SchemaCheck& check, std::span<const uint64_t> words,
                           std::vector<Tensor> attachments) {
  std::string reason = "it is empty";
  try {
    if (!words.empty()) return copy_checked(check, words, std::move(attachments));
  } catch (const kj::Exception& exception) {
    reason = exception.getDescription().cStr();
  }
  return invalid_argument("a received " + std::string(check.schema().getShortDisplayName().cStr()) + " of " +
                          std::to_string(words.size()) + " words is malformed: " + reason);
}

}  // namespace troupe::detail
