#include "kernels/gpu/images.h"

#include "kernels/gpu/transpose_matrices.h"
#include "kernels/gpu/units.h"

namespace troupe::gpu {
namespace {

template <class T>
struct MoveImages {
  ImageShape from, to;
  const T* source;
  T* target;
  int offset[3];

  TROUPE_ANY void operator()(size_t i) const {
    Place place = to.place(i);
    for (int axis = 0; axis < 3; ++axis) place.at[axis] += offset[axis];
    target[i] = from.has(place.at) ? source[from.index(place.image, place.channel, place.at)] : T(0);
  }
};

template <class T>
Status move_elements(DeviceContext& device, const ImageShape& from, const void* source, const ImageShape& to,
                     void* target, std::array<int, 3> offset) {
  return each(device, to.elements(),
              MoveImages<T>{from,
                            to,
                            static_cast<const T*>(source),
                            static_cast<T*>(target),
                            {offset[0], offset[1], offset[2]}});
}

template <class T>
struct TakePositions {
  ImageShape from, to;
  const T* source;
  T* target;
  int strides[3];

  TROUPE_ANY void operator()(size_t i) const {
    Place place = to.place(i);
    for (int axis = 0; axis < 3; ++axis) place.at[axis] *= strides[axis];
    target[i] = source[from.index(place.image, place.channel, place.at)];
  }
};

template <class T>
struct SpreadPositions {
  ImageShape from, to;
  const T* source;
  T* target;
  int strides[3];

  TROUPE_ANY void operator()(size_t i) const {
    Place place = to.place(i);
    bool on_grid = true;
    for (int axis = 0; axis < 3; ++axis) {
      const int taken = place.at[axis] / strides[axis];
      on_grid = on_grid && taken * strides[axis] == place.at[axis];
      place.at[axis] = taken;
    }
    target[i] =
        on_grid && from.has(place.at) ? source[from.index(place.image, place.channel, place.at)] : T{};
  }
};

template <template <class> class Body>
Status run_on_grid(DeviceContext& device, size_t element, const ImageShape& from, const void* source,
                   const ImageShape& to, void* target, std::array<int, 3> strides) {
  return with_unit(element, [&]<class T>(std::type_identity<T>) {
    return each(device, to.elements(),
                Body<T>{from,
                        to,
                        static_cast<const T*>(source),
                        static_cast<T*>(target),
                        {strides[0], strides[1], strides[2]}});
  });
}

}  // namespace

Status take_positions(DeviceContext& device, size_t element, const ImageShape& from, const void* source,
                      const ImageShape& to, void* target, std::array<int, 3> strides) {
  return run_on_grid<TakePositions>(device, element, from, source, to, target, strides);
}

Status spread_positions(DeviceContext& device, size_t element, const ImageShape& from, const void* source,
                        const ImageShape& to, void* target, std::array<int, 3> strides) {
  return run_on_grid<SpreadPositions>(device, element, from, source, to, target, strides);
}

Status move_images(DeviceContext& device, size_t element, const ImageShape& from, const void* source,
                   const ImageShape& to, void* target, std::array<int, 3> offset) {
  if (element == 2) return move_elements<uint16_t>(device, from, source, to, target, offset);
  if (element == 4) return move_elements<uint32_t>(device, from, source, to, target, offset);
  return move_elements<uint64_t>(device, from, source, to, target, offset);
}

Status change_layout(DeviceContext& device, size_t element, const ImageShape& from, const void* source,
                     void* target) {
  const bool last = from.channels_last();
  return transpose_matrices(device, element, from.batch(), last ? from.area() : from.channels(),
                            last ? from.channels() : from.area(), source, target);
}

}  // namespace troupe::gpu
