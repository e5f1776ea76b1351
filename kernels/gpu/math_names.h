// The functions of <cmath>. NVRTC, which compiles kernels at run time, has them under the names of C alone.
#pragma once

#if defined(__CUDACC_RTC__)
#define INFINITY __int_as_float(0x7f800000)

namespace std {

__device__ inline float acos(float x) { return ::acosf(x); }
__device__ inline float acosh(float x) { return ::acoshf(x); }
__device__ inline float asin(float x) { return ::asinf(x); }
__device__ inline float asinh(float x) { return ::asinhf(x); }
__device__ inline float atan(float x) { return ::atanf(x); }
__device__ inline float atanh(float x) { return ::atanhf(x); }
__device__ inline float ceil(float x) { return ::ceilf(x); }
__device__ inline float cos(float x) { return ::cosf(x); }
__device__ inline float cosh(float x) { return ::coshf(x); }
__device__ inline float erf(float x) { return ::erff(x); }
__device__ inline float erfc(float x) { return ::erfcf(x); }
__device__ inline float exp(float x) { return ::expf(x); }
__device__ inline float expm1(float x) { return ::expm1f(x); }
__device__ inline float fabs(float x) { return ::fabsf(x); }
__device__ inline float floor(float x) { return ::floorf(x); }
__device__ inline float log(float x) { return ::logf(x); }
__device__ inline float log1p(float x) { return ::log1pf(x); }
__device__ inline float rint(float x) { return ::rintf(x); }
__device__ inline float sin(float x) { return ::sinf(x); }
__device__ inline float sinh(float x) { return ::sinhf(x); }
__device__ inline float sqrt(float x) { return ::sqrtf(x); }
__device__ inline float tan(float x) { return ::tanf(x); }
__device__ inline float tanh(float x) { return ::tanhf(x); }
__device__ inline float trunc(float x) { return ::truncf(x); }
__device__ inline float atan2(float a, float b) { return ::atan2f(a, b); }
__device__ inline float fmod(float a, float b) { return ::fmodf(a, b); }
__device__ inline float pow(float a, float b) { return ::powf(a, b); }

}  // namespace std
#else
#include <cmath>
#include <cstddef>
#endif
