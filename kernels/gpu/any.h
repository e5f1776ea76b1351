// TROUPE_ANY marks functions that run on the host and on GPUs. A file *.cu is compiled by nvcc for both, and by the C++ compiler
// for the host alone where CUDA is not used, so that its arithmetic is tested without a GPU.
#pragma once

#if defined(__CUDACC__)
#define TROUPE_ANY __host__ __device__
#else
#define TROUPE_ANY
#endif
