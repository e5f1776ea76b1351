#include "kernels/gpu/plain_convolution.h"

#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/images.h"
#include "kernels/gpu/numbers.h"

namespace troupe::gpu {
namespace {

struct Axis {
  int input, window, output, stride, dilation, pad;
};

/// The sizes of a convolution as the loops use them.
struct Geometry {
  Axis axes[3];
  ImageShape in, out;
  size_t in_of_group, out_of_group;  ///< channels
  FilterSteps steps;

  TROUPE_ANY size_t filter_index(int window, size_t in_channel, size_t out_channel) const {
    return static_cast<size_t>(window * steps.window + static_cast<int64_t>(in_channel) * steps.in +
                               static_cast<int64_t>(out_channel) * steps.out);
  }
};

Geometry geometry_of(const ConvolutionWork& work, const FilterSteps& steps) {
  const ConvolutionSizes& sizes = work.sizes;
  Geometry geometry{{},
                    input_shape(sizes, work.channels_last),
                    output_shape(sizes, work.channels_last),
                    static_cast<size_t>(sizes.in_channels / sizes.groups),
                    static_cast<size_t>(sizes.out_channels / sizes.groups),
                    steps};
  const auto axes = three_axes(sizes);
  for (size_t i = 0; i < 3; ++i)
    geometry.axes[i] = {static_cast<int>(axes[i].input),    static_cast<int>(axes[i].window),
                        static_cast<int>(axes[i].output),   static_cast<int>(axes[i].stride),
                        static_cast<int>(axes[i].dilation), static_cast<int>(axes[i].pad_before)};
  return geometry;
}

/// Calls visit(the number of the position in the window, the position) for those where find(axis, window, position) is true.
template <class Find, class Visit>
TROUPE_ANY void for_window(const Axis (&axes)[3], const Find& find, const Visit& visit) {
  int at[3];
  for (int i = 0; i < axes[0].window; ++i) {
    if (!find(0, i, at[0])) continue;
    for (int j = 0; j < axes[1].window; ++j) {
      if (!find(1, j, at[1])) continue;
      for (int k = 0; k < axes[2].window; ++k)
        if (find(2, k, at[2])) visit((i * axes[1].window + j) * axes[2].window + k, at);
    }
  }
}

template <class T>
struct Forward {
  Geometry g;
  const T *images, *filter;
  T* outputs;

  TROUPE_ANY void operator()(size_t i) const {
    const Place place = g.out.place(i);
    const size_t first = place.channel / g.out_of_group * g.in_of_group;
    Wide<T> sum = 0;
    for_window(
        g.axes,
        [&](int axis, int window, int& at) {
          const Axis& a = g.axes[axis];
          at = place.at[axis] * a.stride - a.pad + window * a.dilation;
          return at >= 0 && at < a.input;
        },
        [&](int window, const int(&at)[3]) {
          for (size_t c = 0; c < g.in_of_group; ++c)
            sum += load(images[g.in.index(place.image, first + c, at)]) *
                   load(filter[g.filter_index(window, c, place.channel)]);
        });
    store(outputs[i], sum);
  }
};

template <class T>
struct ImageGradient {
  Geometry g;
  const T *gradient, *filter;
  T* images;

  TROUPE_ANY void operator()(size_t i) const {
    const Place place = g.in.place(i);
    const size_t group = place.channel / g.in_of_group, channel = place.channel % g.in_of_group;
    const size_t first = group * g.out_of_group;
    Wide<T> sum = 0;
    for_window(
        g.axes,
        [&](int axis, int window, int& at) {
          const Axis& a = g.axes[axis];
          const int reach = place.at[axis] + a.pad - window * a.dilation;
          at = reach / a.stride;
          return reach >= 0 && at * a.stride == reach && at < a.output;
        },
        [&](int window, const int(&at)[3]) {
          for (size_t k = first; k < first + g.out_of_group; ++k)
            sum += load(gradient[g.out.index(place.image, k, at)]) *
                   load(filter[g.filter_index(window, channel, k)]);
        });
    store(images[i], sum);
  }
};

/// Row i is the element of the filter with number i in [window..., in, out].
template <class T>
struct FilterGradient {
  Geometry g;
  size_t positions;  ///< of the outputs of all images
  const T *images, *gradient;
  T* filter;

  template <class Team>
  TROUPE_ANY void operator()(const Team& team, size_t row) const {
    const size_t out_channel = row % g.out.channels();
    const size_t in_channel = row / g.out.channels() % g.in_of_group;
    int window = static_cast<int>(row / g.out.channels() / g.in_of_group);
    const int number = window;
    int within[3];
    for (int axis = 2; axis >= 0; --axis) {
      within[axis] = window % g.axes[axis].window;
      window /= g.axes[axis].window;
    }
    const size_t image_channel = out_channel / g.out_of_group * g.in_of_group + in_channel;
    Wide<T> sum = 0;
    for (size_t p = team.rank; p < positions; p += team.size) {
      size_t image = p;
      int at[3], from[3];
      g.out.position(image, at);
      for (int axis = 0; axis < 3; ++axis)
        from[axis] = at[axis] * g.axes[axis].stride - g.axes[axis].pad + within[axis] * g.axes[axis].dilation;
      if (g.in.has(from))
        sum += load(images[g.in.index(image, image_channel, from)]) *
               load(gradient[g.out.index(image, out_channel, at)]);
    }
    sum = team.sum(sum);
    if (team.rank == 0) store(filter[g.filter_index(number, in_channel, out_channel)], sum);
  }
};

template <class T>
Status convolve_numbers(DeviceContext& device, const ConvolutionWork& work, const FilterSteps& steps) {
  const Geometry geometry = geometry_of(work, steps);
  const T *const a = reinterpret_cast<const T*>(work.a), *const b = reinterpret_cast<const T*>(work.b);
  T* const out = reinterpret_cast<T*>(work.out);
  if (work.pass == ConvolutionPass::Forward)
    return each(device, geometry.out.elements(), Forward<T>{geometry, a, b, out});
  if (work.pass == ConvolutionPass::ImageGradient)
    return each(device, geometry.in.elements(), ImageGradient<T>{geometry, a, b, out});
  const size_t positions = geometry.out.batch() * geometry.out.area();
  return each_row(device, static_cast<size_t>(work.sizes.filter_elements()), positions,
                  FilterGradient<T>{geometry, positions, a, b, out});
}

int64_t window_of(const ConvolutionSizes& sizes) {
  int64_t window = 1;
  for (const ConvolutionAxis& axis : sizes.axes) window *= axis.window;
  return window;
}

}  // namespace

FilterSteps FilterSteps::outputs_last(const ConvolutionSizes& sizes) {
  return {sizes.in_channels / sizes.groups * sizes.out_channels, sizes.out_channels, 1};
}

FilterSteps FilterSteps::outputs_first(const ConvolutionSizes& sizes, bool channels_last) {
  const int64_t window = window_of(sizes), in = sizes.in_channels / sizes.groups;
  return {channels_last ? in : 1, channels_last ? 1 : window, window * in};
}

Status convolve_plainly(DeviceContext& device, const ConvolutionWork& work, const FilterSteps& steps) {
  return for_type(AllFloats{}, work.dtype,
                  [&]<class T>(std::type_identity<T>) { return convolve_numbers<T>(device, work, steps); });
}

}  // namespace troupe::gpu
