// Measures messages: building, sharing and reading one, and encoding and decoding it as a frame.
#include <benchmark/benchmark.h>

#include <cstring>
#include <string>

#include "messages/schemas/executor.capnp.h"
#include "messages/schemas/graph.capnp.h"
#include "messages/schemas/session.capnp.h"
#include "messages/schemas/variable.capnp.h"
#include "messages/wire/frame.h"
#include "messages/wire/message_reader.h"

namespace troupe {
namespace {

Message<wire::RunStep> run_step() {
  Draft<wire::RunStep> draft;
  draft->setHandle(3);
  draft->setCall(4);
  draft->setRemaining(5);
  return draft.finish();
}

Message<wire::TensorsArrived> tensors_arrived(const Tensor& tensor) {
  Draft<wire::TensorsArrived> draft;
  draft->initStep().setOrdinal(2);
  draft->initArrivals(1)[0].setEdge(3);
  std::vector<Tensor> attachments;
  attachments.push_back(tensor);
  return draft.finish(std::move(attachments));
}

// An update of three cells, which is the largest message of a typical training step.
Message<wire::Update> update(const Tensor& tensor) {
  Draft<wire::Update> draft;
  draft->initStep().setOrdinal(2);
  draft->setRule(5);
  auto cells = draft->initCells(3);
  for (unsigned i = 0; i < 3; ++i) cells.set(i, i);
  return draft.finish(std::vector<Tensor>(7, tensor));
}

Message<wire::Graph> graph(unsigned nodes) {
  Draft<wire::Graph> draft;
  auto list = draft->initNodes(nodes);
  for (unsigned i = 0; i < nodes; ++i) {
    list[i].setName(("node" + std::to_string(i)).c_str());
    list[i].setOp("Neg");
    list[i].setDevice("/job:worker/replica:0/task:0/device:CPU:0");
    if (i > 0) list[i].initInputs(1)[0].setNode(i - 1);
    auto attr = list[i].initAttrs(1)[0];
    attr.setName("T");
    attr.setType(1);
  }
  return draft.finish();
}

void build_run_step(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(run_step());
}
BENCHMARK(build_run_step);

void build_tensors_arrived(benchmark::State& state) {
  const auto tensor = Tensor::scalar(1.0f);
  for (auto _ : state) benchmark::DoNotOptimize(tensors_arrived(tensor));
}
BENCHMARK(build_tensors_arrived);

void build_update(benchmark::State& state) {
  const auto tensor = Tensor::scalar(1.0f);
  for (auto _ : state) benchmark::DoNotOptimize(update(tensor));
}
BENCHMARK(build_update);

void share(benchmark::State& state) {
  const auto message = run_step();
  for (auto _ : state) {
    auto copy = message;
    benchmark::DoNotOptimize(copy);
  }
}
BENCHMARK(share);

void read_three_fields(benchmark::State& state) {
  const auto message = run_step();
  for (auto _ : state) {
    const auto reader = *message;
    benchmark::DoNotOptimize(reader.getHandle() + reader.getCall() + reader.getRemaining());
  }
}
BENCHMARK(read_three_fields);

void encode_frame(benchmark::State& state) {
  const auto message = tensors_arrived(Tensor::scalar(1.0f));
  for (auto _ : state) benchmark::DoNotOptimize(encode({}, message));
}
BENCHMARK(encode_frame);

void receive_run_step(benchmark::State& state) {
  const auto message = run_step();
  for (auto _ : state) benchmark::DoNotOptimize(receive<wire::RunStep>(message.words()));
}
BENCHMARK(receive_run_step);

void receive_graph(benchmark::State& state) {
  const auto message = graph(10000);
  for (auto _ : state) benchmark::DoNotOptimize(receive<wire::Graph>(message.words()));
}
BENCHMARK(receive_graph)->Unit(benchmark::kMillisecond);

// The cost of a message in a simulated network: it is built, encoded, written to a buffer, decoded and checked.
void through_a_frame(benchmark::State& state) {
  const auto tensor = Tensor::scalar(1.0f);
  FrameDecoder decoder(heap_allocator());
  for (auto _ : state) {
    const auto frame = value_or_throw(encode({}, tensors_arrived(tensor)));
    for (auto piece : frame.pieces()) {
      while (!piece.empty()) {
        const auto wanted = decoder.wanted();
        const size_t bytes = std::min(wanted.size(), piece.size());
        std::memcpy(wanted.data(), piece.data(), bytes);
        throw_if_failed(decoder.advance(bytes));
        piece = piece.subspan(bytes);
      }
    }
    auto received = decoder.take();
    benchmark::DoNotOptimize(
        receive<wire::TensorsArrived>(received->words, std::move(received->attachments)));
  }
}
BENCHMARK(through_a_frame);

}  // namespace
}  // namespace troupe
