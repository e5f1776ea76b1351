// Whatever bytes a peer sends, they end as messages that are sound as a whole, or as a Status. The first byte says in pieces of
// which size they come. For libFuzzer (tests/fuzz/CMakeLists.txt).
#include <cstring>

#include "actors/net/peer_messages.h"
#include "messages/wire/message_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {  // NOLINT: libFuzzer's name
  using namespace troupe;
  if (size == 0) return 0;
  std::span<const uint8_t> rest(data + 1, size - 1);
  const size_t piece = size_t{data[0]} + 1;
  FrameDecoder decoder(heap_allocator(),
                       {.struct_words = 1 << 16, .attachments = 64, .attachment_bytes = 1 << 20});
  while (!rest.empty()) {
    const auto wanted = decoder.wanted();
    const size_t some = std::min({wanted.size(), rest.size(), piece});
    if (some == 0) return 0;
    std::memcpy(wanted.data(), rest.data(), some);
    rest = rest.subspan(some);
    if (!decoder.advance(some).ok()) return 0;
    if (auto frame = decoder.take()) static_cast<void>(receive_from_peer(std::move(*frame)));
  }
  return 0;
}
