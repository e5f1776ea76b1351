#include "kernels/gpu/images.h"

#include "kernels/gpu/transpose_matrices.h"
#include "kernels/gpu/units.h"

namespace troupe::gpu {
namespace {

// How a position of the images that are written becomes the one that is read: functions that return false if there is none.

struct Shifted {
  int offset[3];
  TROUPE_ANY bool operator()(int (&at)[3]) const {
    for (int axis = 0; axis < 3; ++axis) at[axis] += offset[axis];
    return true;
  }
};

struct Taken {
  int strides[3];
  TROUPE_ANY bool operator()(int (&at)[3]) const {
    for (int axis = 0; axis < 3; ++axis) at[axis] *= strides[axis];
    return true;
  }
};

struct Spread {
  int strides[3];
  TROUPE_ANY bool operator()(int (&at)[3]) const {
    bool on_grid = true;
    for (int axis = 0; axis < 3; ++axis) {
      const int taken = at[axis] / strides[axis];
      on_grid = on_grid && taken * strides[axis] == at[axis];
      at[axis] = taken;
    }
    return on_grid;
  }
};

template <class T, class Read>
struct MoveElements {
  ImageShape from, to;
  const T* source;
  T* target;
  Read read;

  TROUPE_ANY void operator()(size_t i) const {
    Place place = to.place(i);
    const bool exists = read(place.at) && from.has(place.at);
    target[i] = exists ? source[from.index(place.image, place.channel, place.at)] : T{};
  }
};

template <class Read>
Status move_elements(DeviceContext& device, size_t element, const ImageShape& from, const void* source,
                     const ImageShape& to, void* target, const Read& read) {
  return with_unit(element, [&]<class T>(std::type_identity<T>) {
    return each(
        device, to.elements(),
        MoveElements<T, Read>{from, to, static_cast<const T*>(source), static_cast<T*>(target), read});
  });
}

}  // namespace

Status move_images(DeviceContext& device, size_t element, const ImageShape& from, const void* source,
                   const ImageShape& to, void* target, std::array<int, 3> offset) {
  return move_elements(device, element, from, source, to, target, Shifted{{offset[0], offset[1], offset[2]}});
}

Status take_positions(DeviceContext& device, size_t element, const ImageShape& from, const void* source,
                      const ImageShape& to, void* target, std::array<int, 3> strides) {
  return move_elements(device, element, from, source, to, target,
                       Taken{{strides[0], strides[1], strides[2]}});
}

Status spread_positions(DeviceContext& device, size_t element, const ImageShape& from, const void* source,
                        const ImageShape& to, void* target, std::array<int, 3> strides) {
  return move_elements(device, element, from, source, to, target,
                       Spread{{strides[0], strides[1], strides[2]}});
}

Status change_layout(DeviceContext& device, size_t element, const ImageShape& from, const void* source,
                     void* target) {
  const bool last = from.channels_last();
  return transpose_matrices(device, element, from.batch(), last ? from.area() : from.channels(),
                            last ? from.channels() : from.area(), source, target);
}

}  // namespace troupe::gpu
