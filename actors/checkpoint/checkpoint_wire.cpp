#include "actors/checkpoint/checkpoint_wire.h"

namespace troupe {

void write(const ShardFile& file, wire::ShardFile::Builder builder) {
  builder.setName(as_text(file.name));
  builder.setBytes(file.bytes);
  builder.setChecksum(file.checksum);
  auto tensors = builder.initTensors(static_cast<uint32_t>(file.tensors.size()));
  for (uint32_t i = 0; i < file.tensors.size(); ++i) {
    const ShardFile::Saved& saved = file.tensors[i];
    tensors[i].setName(as_text(saved.name));
    tensors[i].setVersion(saved.version);
    if (!saved.slice) continue;
    auto slice = tensors[i].initSlice();
    slice.setOf(as_text(saved.slice->of));
    slice.setRows(saved.slice->rows);
    slice.setFirst(saved.slice->first);
    slice.setStride(saved.slice->stride);
    slice.setCount(saved.slice->count);
  }
}

ShardFile read(wire::ShardFile::Reader reader) {
  ShardFile file;
  file.name = view(reader.getName());
  file.bytes = reader.getBytes();
  file.checksum = reader.getChecksum();
  for (const auto saved : reader.getTensors()) {
    file.tensors.push_back({std::string(view(saved.getName())), saved.getVersion()});
    if (!saved.hasSlice()) continue;
    const auto slice = saved.getSlice();
    file.tensors.back().slice = RowSlice{std::string(view(slice.getOf())), slice.getRows(), slice.getFirst(),
                                         slice.getStride(), slice.getCount()};
  }
  return file;
}

}  // namespace troupe
