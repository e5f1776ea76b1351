// Special functions on GPUs: see special.cpp.
#include "kernels/ops/math/special-inl.h"

#include "kernels/gpu/elementwise.h"

namespace troupe {
namespace {

/// A function of elements as kernels of GPUs call it. The functions are long: nvcc compiles each once, not wherever it is called.
template <class Function>
struct Call {
#if defined(__CUDACC__)
  __noinline__
#endif
      TROUPE_ANY auto
      operator()(auto... x) const {
    return Function::apply(x...);
  }
};

/// One element of each input; `step` is 0 for scalars.
template <class T>
struct BetaincElements {
  struct Input {
    const T* data;
    size_t step;
    explicit Input(const Tensor& tensor)
        : data(tensor.as<T>().data()), step(tensor.elements() == 1 ? 0 : 1) {}
    TROUPE_ANY T operator()(size_t i) const { return data[i * step]; }
  };
  Input a, b, x;
  T* z;
  TROUPE_ANY void operator()(size_t i) const { z[i] = Betainc::apply(a(i), b(i), x(i)); }
};

Status compute_betainc(const BetaincArguments& arguments, DeviceContext& device) {
  return gpu::for_type(gpu::Floats{}, arguments.z.dtype(), [&]<class T>(std::type_identity<T>) {
    using Input = typename BetaincElements<T>::Input;
    const std::span<T> z = arguments.z.write<T>();
    return gpu::each(
        device, z.size(),
        BetaincElements<T>{Input(arguments.a), Input(arguments.b), Input(arguments.x), z.data()});
  });
}

}  // namespace

void add_special_on_gpu(OpLibrary& library) {
  constexpr gpu::AllFloats all;
  gpu::add_unary<Call<BesselI0>>(library, "BesselI0", all);
  gpu::add_unary<Call<BesselI0e>>(library, "BesselI0e", all);
  gpu::add_unary<Call<BesselI1>>(library, "BesselI1", all);
  gpu::add_unary<Call<BesselI1e>>(library, "BesselI1e", all);
  gpu::add_unary<Call<BesselJ0>>(library, "BesselJ0", all);
  gpu::add_unary<Call<BesselJ1>>(library, "BesselJ1", all);
  gpu::add_unary<Call<BesselK0>>(library, "BesselK0", all);
  gpu::add_unary<Call<BesselK0e>>(library, "BesselK0e", all);
  gpu::add_unary<Call<BesselK1>>(library, "BesselK1", all);
  gpu::add_unary<Call<BesselK1e>>(library, "BesselK1e", all);
  gpu::add_unary<Call<BesselY0>>(library, "BesselY0", all);
  gpu::add_unary<Call<BesselY1>>(library, "BesselY1", all);
  gpu::add_unary<Call<Digamma>>(library, "Digamma", all);
  gpu::add_unary<Call<Erfinv>>(library, "Erfinv", all);
  gpu::add_unary<Call<Lgamma>>(library, "Lgamma", all);
  gpu::add_unary<Call<Ndtri>>(library, "Ndtri", all);
  constexpr gpu::Floats wide;
  gpu::add_binary<Call<Igamma>>(library, "Igamma", wide);
  gpu::add_binary<Call<Igammac>>(library, "Igammac", wide);
  gpu::add_binary<Call<IgammaGradA>>(library, "IgammaGradA", wide);
  gpu::add_binary<Call<NextAfter>>(library, "NextAfter", wide);
  gpu::add_binary<Call<Polygamma>>(library, "Polygamma", wide);
  gpu::add_binary<Call<RandomGammaGrad>>(library, "RandomGammaGrad", wide);
  gpu::add_binary<Call<Zeta>>(library, "Zeta", wide);
  library.kernel(gpu_kernel("Betainc", check_betainc, compute_betainc).on("T", dtypes(wide)));
}

}  // namespace troupe
