// Adds a service of its own to Troupe: vocabularies. A vocabulary is an actor; it numbers words in the order in which it first
// meets them, and all steps and sessions share it. Two ops lead to it. Prints the numbers of some words, twice, and how a full
// vocabulary fails.
#include <troupe/op.h>
#include <troupe/service.h>
#include <troupe/troupe.h>
#include <iostream>
#include <unordered_map>

#include "vocabulary.capnp.h"

namespace {

struct VocabularySpec {
  uint64_t capacity = 0;
  std::string text() const { return "capacity " + std::to_string(capacity); }
  bool operator==(const VocabularySpec&) const = default;
};

// The actor: its functions run one at a time, so its words need no lock.
class Vocabulary final : public troupe::Role {
 public:
  explicit Vocabulary(const VocabularySpec& spec) : spec_(spec) {
    on<vocabulary::FindWords>([this](const auto& message, troupe::Reply reply) { reply(find(message)); });
  }

 private:
  troupe::Result<troupe::AnyMessage> find(const troupe::AnyMessage& message) {
    TROUPE_ASSIGN(const troupe::Tensor words, message.attachment(0));
    TROUPE_ASSIGN(troupe::Tensor numbers, troupe::Tensor::allocate(troupe::i64, words.shape()));
    for (int64_t i = 0; i < words.elements(); ++i) {
      const std::string& word = words.as<std::string>()[static_cast<size_t>(i)];
      auto at = numbers_.find(word);
      if (at == numbers_.end()) {
        if (numbers_.size() == spec_.capacity)
          return troupe::resource_exhausted("no room for '" + word + "': the vocabulary has " + spec_.text());
        at = numbers_.emplace(word, static_cast<int64_t>(numbers_.size())).first;
      }
      numbers.write<int64_t>()[static_cast<size_t>(i)] = at->second;
    }
    troupe::Draft<vocabulary::WordNumbers> draft;
    draft->setKnown(numbers_.size());
    return troupe::AnyMessage(draft.finish({std::move(numbers)}));
  }

  const VocabularySpec spec_;
  std::unordered_map<std::string, int64_t> numbers_;
};

using Vocabularies = troupe::StateActors<VocabularySpec>;

// A node VocabularyFind: from a step's request to a message, and from the actor's answer to the node's outputs.
class FindNode final : public troupe::ServedNode {
 public:
  explicit FindNode(const Vocabularies& vocabularies) : vocabularies_(vocabularies) {}

  troupe::Result<troupe::ServiceCall> call(const troupe::StepRequest& request,
                                           const troupe::StepInfo&) const override {
    TROUPE_ASSIGN(const auto vocabulary, vocabularies_.find(request.inputs[0]));
    auto message = troupe::Draft<vocabulary::FindWords>().finish({std::move(request.inputs[1].tensor)});
    return troupe::ServiceCall{vocabulary->actor.get(), std::move(message)};
  }
  troupe::StepReply reply(troupe::Result<troupe::AnyMessage> answer) const override {
    if (!answer) return {answer.status()};
    return {{}, {answer->attachments()[0]}};
  }

 private:
  const Vocabularies& vocabularies_;
};

class VocabularyService final : public troupe::Service {
 public:
  explicit VocabularyService(troupe::DeviceSite& site) : vocabularies_(site, "vocabulary") {}
  static std::unique_ptr<Service> make(troupe::DeviceSite& site) {
    return std::make_unique<VocabularyService>(site);
  }

  troupe::Result<std::unique_ptr<const troupe::ServedNode>> prepare(
      const std::shared_ptr<const troupe::Graph>&, const troupe::Node&) override {
    return std::unique_ptr<const troupe::ServedNode>(new FindNode(vocabularies_));
  }
  troupe::Status open(const troupe::Node& handle, const std::shared_ptr<troupe::StateCell>& cell) override {
    const VocabularySpec spec{static_cast<uint64_t>(handle.attrs.get<int64_t>("capacity"))};
    return vocabularies_.open(cell, spec, std::make_unique<Vocabulary, const VocabularySpec&>);
  }
  void drop(troupe::StateCell& cell) override { vocabularies_.end(cell); }

 private:
  Vocabularies vocabularies_;
};

troupe::Status numbers_shape(troupe::ShapeContext& context) {
  context.set_output(0, context.input(1));
  return {};
}

void add_vocabulary_ops(troupe::OpLibrary& library) {
  library.op(troupe::OpDefBuilder("Vocabulary")
                 .output("handle: resource")
                 .attr("capacity: int >= 1 = 1000000")
                 .attr("container: string = ''")
                 .attr("shared_name: string = ''")
                 .constructor("vocabulary(capacity, container, shared_name)")
                 .served_by("vocabulary")
                 .effect(troupe::Effect::State)
                 .shape(troupe::scalar_shape)
                 .not_differentiable());
  library.op(troupe::OpDefBuilder("VocabularyFind")
                 .input("handle: resource")
                 .input("words: string")
                 .output("numbers: int64")
                 .constructor("vocabulary_find(handle, words)")
                 .served_by("vocabulary")
                 .effect(troupe::Effect::State)
                 .shape(numbers_shape)
                 .not_differentiable());
}

}  // namespace

int main() try {
  troupe::RuntimeOptions options;
  options.extensions = {add_vocabulary_ops, {{"vocabulary", VocabularyService::make}}};
  troupe::Runtime runtime(options);
  troupe::Graph graph{runtime.ops()};
  const troupe::Scope g{graph};

  const auto words = placeholder(g, troupe::DType::String, {-1}, "words");
  const auto handle = g.with_name("animals").call("vocabulary", {}, {{"capacity", int64_t{4}}});
  const auto numbers = g.call("vocabulary_find", {handle, words});

  auto session = runtime.session(graph);
  const auto print_numbers = [&](const std::vector<std::string>& given) {
    const auto fetched = session.run({{words, troupe::Tensor::vector<std::string>(given)}}, {numbers});
    for (const int64_t number : fetched[0].as<int64_t>()) std::cout << number << ' ';
    std::cout << '\n';
  };
  print_numbers({"cat", "dog", "cat"});
  print_numbers({"emu", "dog", "fox"});
  try {
    print_numbers({"gnu"});
  } catch (const troupe::Error& full) {
    std::cout << full.what() << '\n';
  }
} catch (const troupe::Error& error) {
  std::cerr << error.what() << '\n';
  return error.exit_code();
}
