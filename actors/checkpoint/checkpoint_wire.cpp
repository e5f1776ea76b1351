#include "actors/checkpoint/checkpoint_wire.h"

namespace troupe {

void write(const ShardFile& file, wire::ShardFile::Builder builder) {
  builder.setName(as_text(file.name));
  builder.setBytes(file.bytes);
  builder.setChecksum(file.checksum);
  auto tensors = builder.initTensors(static_cast<uint32_t>(file.tensors.size()));
  for (uint32_t i = 0; i < file.tensors.size(); ++i) {
    tensors[i].setName(as_text(file.tensors[i].name));
    tensors[i].setVersion(file.tensors[i].version);
  }
}

ShardFile read(wire::ShardFile::Reader reader) {
  ShardFile file;
  file.name = view(reader.getName());
  file.bytes = reader.getBytes();
  file.checksum = reader.getChecksum();
  for (const auto saved : reader.getTensors())
    file.tensors.push_back({std::string(view(saved.getName())), saved.getVersion()});
  return file;
}

}  // namespace troupe
