#include "actors/checkpoint/checkpoint_wire.h"

namespace troupe {

void write(const ShardFile& file, wire::ShardFile::Builder builder) {
  builder.setName(as_text(file.name));
  builder.setBytes(file.bytes);
  builder.setChecksum(file.checksum);
  builder.setFolder(as_text(file.folder));
  auto tensors = builder.initTensors(static_cast<uint32_t>(file.tensors.size()));
  for (uint32_t i = 0; i < file.tensors.size(); ++i) {
    const ShardFile::Saved& saved = file.tensors[i];
    tensors[i].setName(as_text(saved.name));
    tensors[i].setVersion(saved.version);
    if (!saved.slice) continue;
    write(*saved.slice, tensors[i].initSlice());
  }
}

ShardFile read(wire::ShardFile::Reader reader) {
  ShardFile file;
  file.name = view(reader.getName());
  file.bytes = reader.getBytes();
  file.checksum = reader.getChecksum();
  file.folder = view(reader.getFolder());
  for (const auto saved : reader.getTensors()) {
    file.tensors.push_back({std::string(view(saved.getName())), saved.getVersion()});
    if (!saved.hasSlice()) continue;
    file.tensors.back().slice = read(saved.getSlice());
  }
  return file;
}

}  // namespace troupe
