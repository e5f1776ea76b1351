#include "kernels/gpu/transpose_matrices.h"

#include "kernels/gpu/launch.h"

namespace troupe::gpu {
namespace {

template <class T>
void transpose_on_host(size_t batch, size_t rows, size_t columns, const T* from, T* to) {
  for (size_t matrix = 0; matrix < batch; ++matrix, from += rows * columns, to += rows * columns)
    for (size_t row = 0; row < rows; ++row)
      for (size_t column = 0; column < columns; ++column)
        to[column * rows + row] = from[row * columns + column];
}

#if defined(__CUDACC__)
constexpr unsigned tile = 32, lines = 8;

/// Each block moves some tiles through shared memory, whose rows are one element longer so that columns of them lie in different
/// banks.
template <class T>
__global__ void transpose_tiles(size_t tiles, size_t rows, size_t columns, const T* from, T* to) {
  __shared__ T memory[tile][tile + 1];
  const size_t across = (columns + tile - 1) / tile, down = (rows + tile - 1) / tile;
  for (size_t i = blockIdx.x; i < tiles; i += gridDim.x) {
    const size_t first_column = i % across * tile, first_row = i / across % down * tile;
    const size_t matrix = i / across / down * rows * columns;
    for (unsigned line = threadIdx.y; line < tile; line += lines) {
      const size_t row = first_row + line, column = first_column + threadIdx.x;
      if (row < rows && column < columns) memory[line][threadIdx.x] = from[matrix + row * columns + column];
    }
    __syncthreads();
    for (unsigned line = threadIdx.y; line < tile; line += lines) {
      const size_t row = first_row + threadIdx.x, column = first_column + line;
      if (row < rows && column < columns) to[matrix + column * rows + row] = memory[threadIdx.x][line];
    }
    __syncthreads();
  }
}
#endif

template <class T>
Status transpose_elements(DeviceContext& device, size_t batch, size_t rows, size_t columns, const void* from,
                          void* to) {
  const T* const source = static_cast<const T*>(from);
  T* const target = static_cast<T*>(to);
#if defined(__CUDACC__)
  if (GpuQueue* const queue = device.queue()) {
    const size_t tiles = batch * ((rows + tile - 1) / tile) * ((columns + tile - 1) / tile);
    const auto grid = static_cast<unsigned>(std::min<size_t>(tiles, queue->max_blocks()));
    transpose_tiles<<<grid, dim3(tile, lines), 0, static_cast<cudaStream_t>(queue->stream())>>>(
        tiles, rows, columns, source, target);
    return queue->launched();
  }
#endif
  return on_host(device, [=] { transpose_on_host(batch, rows, columns, source, target); });
}

}  // namespace

Status transpose_matrices(DeviceContext& device, size_t element, size_t batch, size_t rows, size_t columns,
                          const void* from, void* to) {
  if (batch == 0 || rows == 0 || columns == 0) return {};
  if (element == 2) return transpose_elements<uint16_t>(device, batch, rows, columns, from, to);
  if (element == 4) return transpose_elements<uint32_t>(device, batch, rows, columns, from, to);
  return transpose_elements<uint64_t>(device, batch, rows, columns, from, to);
}

}  // namespace troupe::gpu
