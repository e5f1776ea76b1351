#include <boost/test/unit_test.hpp>

#include <string>
#include <thread>
#include <vector>

#include "messages/schemas/executor.capnp.h"
#include "messages/schemas/graph.capnp.h"
#include "messages/schemas/session.capnp.h"
#include "messages/wire/message_reader.h"
#include "messages/wire/wire.h"

namespace troupe::message_test {
namespace {

BOOST_AUTO_TEST_SUITE(message)

Message<wire::RunStep> run_step(std::vector<Tensor> feeds) {
  Draft<wire::RunStep> draft;
  draft->setHandle(7);
  draft->setRemaining(1'000'000);
  return draft.finish(std::move(feeds));
}

// Makes a graph of `nodes` nodes, which may need more than the scratch memory of a draft.
Message<wire::Graph> chain(unsigned nodes) {
  Draft<wire::Graph> draft;
  auto list = draft->initNodes(nodes);
  for (unsigned i = 0; i < nodes; ++i) {
    list[i].setName(("node" + std::to_string(i)).c_str());
    list[i].setOp("Neg");
    if (i > 0) list[i].initInputs(1)[0].setNode(i - 1);
    auto attr = list[i].initAttrs(1)[0];
    attr.setName("T");
    attr.setType(1);
  }
  return draft.finish();
}

BOOST_AUTO_TEST_CASE(carries_a_struct_and_tensors) {
  const auto message = run_step({Tensor::scalar(1.5f), Tensor::vector<int32_t>({1, 2, 3})});
  BOOST_TEST(message->getHandle() == 7u);
  BOOST_TEST((*message).getRemaining() == 1'000'000u);
  BOOST_TEST(message.schema_id() == schema_id_of<wire::RunStep>);
  BOOST_TEST(message.attachments().size() == 2u);
  BOOST_TEST(message.attachments()[1].as<int32_t>()[2] == 3);
  BOOST_TEST(message.attachment(0)->as<float>()[0] == 1.5f);
  BOOST_TEST((message.attachment(2).status().code() == Code::InvalidArgument));
  BOOST_TEST(message.bytes() == message.words().size() * 8 + 4 + 12);
  BOOST_TEST(!AnyMessage{});
  BOOST_TEST(AnyMessage{}.schema_id() == 0u);
}

BOOST_AUTO_TEST_CASE(copies_share_the_struct_and_every_tensor) {
  const auto tensor = Tensor::vector<float>({1, 2, 3});
  const auto message = run_step({tensor});
  const Message<wire::RunStep> typed{AnyMessage(message)};
  BOOST_TEST(typed.same_as(message));
  BOOST_TEST(typed.words().data() == message.words().data());
  BOOST_TEST(typed.attachments()[0].data() == tensor.data());
  BOOST_TEST(typed->getHandle() == 7u);
}

BOOST_AUTO_TEST_CASE(releases_its_tensors_with_the_last_copy) {
  const auto tensor = Tensor::scalar(1.0f);
  {
    auto message = run_step({tensor});
    const auto copy = message;
    message = {};
    BOOST_TEST(!tensor.unique());
  }
  BOOST_TEST(tensor.unique());
}

BOOST_AUTO_TEST_CASE(structs_of_any_size_lie_in_one_segment) {
  for (const unsigned nodes : {0u, 1u, 5u, 6u, 7u, 100u, 5000u}) {
    const auto message = chain(nodes);
    BOOST_TEST_REQUIRE((*message).getNodes().size() == nodes);
    for (unsigned i = 0; i < nodes; ++i) {
      const auto node = (*message).getNodes()[i];
      if (node.getName() != "node" + std::to_string(i) || node.getAttrs()[0].getType() != 1 ||
          (i > 0 && node.getInputs()[0].getNode() != i - 1))
        BOOST_ERROR("node " << i << " of " << nodes << " differs");
    }
  }
}

BOOST_AUTO_TEST_CASE(any_thread_may_read) {
  const auto message = chain(200);
  std::vector<std::thread> threads;
  std::vector<size_t> letters(4);
  for (size_t t = 0; t < letters.size(); ++t)
    threads.emplace_back([copy = message, &sum = letters[t]] {
      for (const auto node : (*copy).getNodes()) sum += node.getName().size();
    });
  for (auto& thread : threads) thread.join();
  for (const size_t sum : letters) BOOST_TEST(sum == letters[0]);
}

std::vector<uint64_t> words_of(const AnyMessage& message) {
  return {message.words().begin(), message.words().end()};
}

BOOST_AUTO_TEST_CASE(received_words_make_the_same_message) {
  for (const unsigned nodes : {0u, 3u, 300u}) {
    const auto sent = chain(nodes);
    auto words = words_of(sent);
    const auto received = receive<wire::Graph>(words, {Tensor::scalar(1)});
    BOOST_TEST_REQUIRE(received.ok());
    std::fill(words.begin(), words.end(), 0);  // the message has its own copy
    BOOST_TEST((*received)->toString().flatten() == sent->toString().flatten());
    BOOST_TEST(received->attachments().size() == 1u);
    BOOST_TEST(received->schema_id() == sent.schema_id());
  }
}

// Reads everything that a handler could read of a message. Throws if something is not what the schema says.
void read_whole(const Message<wire::Graph>& message) { (*message).toString().flatten(); }

BOOST_AUTO_TEST_CASE(damaged_words_are_refused_or_harmless) {
  const auto whole = words_of(chain(4));
  size_t refused = 0;
  const auto try_words = [&](const std::vector<uint64_t>& words) {
    const auto received = receive<wire::Graph>(words);
    if (!received.ok()) {
      ++refused;
      BOOST_REQUIRE((received.status().code() == Code::InvalidArgument));
    } else {
      BOOST_REQUIRE(received->words().size() <= words.size());
      BOOST_REQUIRE_NO_THROW(read_whole(*received));
    }
  };
  for (size_t length = 0; length < whole.size(); ++length) try_words({whole.begin(), whole.begin() + length});
  for (size_t i = 0; i < whole.size(); ++i)
    for (int bit = 0; bit < 64; ++bit) {
      auto words = whole;
      words[i] ^= uint64_t{1} << bit;
      try_words(words);
    }
  BOOST_TEST(refused > whole.size());
}

// The words of a Graph: the root, its data word (firstNode), its two pointers (nodes, functions), then what these point to.
BOOST_AUTO_TEST_CASE(words_made_to_hurt_are_refused) {
  const auto struct_pointer = [](int32_t offset, uint64_t data, uint64_t pointers) {
    return static_cast<uint32_t>(offset) << 2 | data << 32 | pointers << 48;
  };
  const auto list_pointer = [](int32_t offset, uint64_t element_size, uint64_t count) {
    return static_cast<uint32_t>(offset) << 2 | 1 | element_size << 32 | count << 35;
  };
  const uint64_t root = struct_pointer(0, 1, 2), most = (uint64_t{1} << 29) - 1;
  const std::vector<std::pair<std::string, std::vector<uint64_t>>> hostile = {
      {"nothing", {}},
      {"a struct outside", {struct_pointer(5, 1, 2)}},
      {"a struct inside itself", {struct_pointer(-1, 0, 1)}},
      {"2^29 structs in no bytes", {root, 0, list_pointer(1, 7, 0), 0, most << 2}},
      {"2^29 times nothing", {root, 0, list_pointer(1, 0, most), 0}},
      {"bits where structs should be", {root, 0, list_pointer(1, 1, 8), 0, 0}},
      {"a struct where a list should be", {root, 0, struct_pointer(1, 1, 0), 0, 0}},
      {"a capability", {root, 0, 3, 0}},
      {"a far pointer", {root, 0, 2, 0}},
  };
  for (const auto& [what, words] : hostile) {
    const auto received = receive<wire::Graph>(words);
    BOOST_TEST(!received.ok(), what);
  }
}

// One text in a list of texts has no terminator. It is in a node, so only a check that follows every pointer finds it.
BOOST_AUTO_TEST_CASE(a_text_without_its_end_is_found_at_once) {
  Draft<wire::Graph> draft;
  draft->initNodes(1)[0].initColocateWith(1).set(0, "seven77");
  auto words = words_of(draft.finish());
  BOOST_TEST_REQUIRE(words.back() == 0x0037376e65766573u);
  BOOST_TEST(receive<wire::Graph>(words).ok());
  words.back() |= uint64_t{0x21} << 56;
  BOOST_TEST(!receive<wire::Graph>(words).ok());
}

// A member of a union that is not chosen may hold anything.
BOOST_AUTO_TEST_CASE(unions_are_checked_by_their_chosen_member) {
  Draft<wire::Graph> draft;
  auto attr = draft->initNodes(1)[0].initAttrs(1)[0];
  attr.initStrings(1).set(0, capnp::Data::Reader());
  BOOST_TEST(receive<wire::Graph>(draft.finish().words()).ok());
  Draft<wire::Attr> other;
  other->initInts(3);
  auto words = words_of(other.finish());
  BOOST_TEST(receive<wire::Attr>(words).ok());
  // Word 1 holds the discriminant. Whatever member it makes the list of ints, reading it must not throw.
  size_t refused = 0;
  for (uint64_t which = 0; which < 20; ++which) {
    words[1] = which;
    const auto received = receive<wire::Attr>(words);
    refused += !received.ok();
    if (received.ok()) BOOST_REQUIRE_NO_THROW((**received).toString().flatten());
  }
  BOOST_TEST(refused > 0u);
}

// Two pointers lead to the same bytes. A copy of each would be correct, but together they are larger than the message.
BOOST_AUTO_TEST_CASE(words_that_would_grow_are_refused) {
  Draft<wire::TensorsArrived> draft;
  draft->initStep().setOrdinal(3);
  draft->initArrivals(100);
  auto words = words_of(draft.finish());
  BOOST_TEST_REQUIRE(receive<wire::TensorsArrived>(words).ok());
  // The words are: root, two pointers (step, arrivals), ... Here step gets the address and size of arrivals.
  words[1] = (words[2] & 0xfffffffcu) + 4;
  words[1] |= uint64_t{200} << 32;
  BOOST_TEST(!receive<wire::TensorsArrived>(words).ok());
}

BOOST_AUTO_TEST_CASE(statuses_travel) {
  const Status status =
      invalid_argument("inner dimensions differ").at_node("MatMul", "m").at_device("/cpu:0").at_step(9);
  Draft<wire::Status> failed;
  write(status, *failed);
  BOOST_TEST(read(*failed.finish()).message() == status.message());

  Draft<wire::Status> strange;
  strange->setCode(200);
  BOOST_TEST((read(*strange.finish()).code() == Code::Unknown));
}

BOOST_AUTO_TEST_CASE(addresses_travel) {
  const Address address{"/job:ps/task:0", 42, "variable", std::string("a\0b", 3)};
  Draft<wire::Address> to;
  write(address, *to);
  BOOST_TEST((read(*to.finish()) == address));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::message_test
