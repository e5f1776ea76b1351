// Eigen's singular value decompositions, which take long to compile: each is compiled in a file of its own.
#pragma once

#include <Eigen/SVD>

#include "kernels/ops/linalg/matrices-inl.h"

extern template class Eigen::BDCSVD<troupe::Matrix<double>>;
extern template class Eigen::BDCSVD<troupe::Matrix<std::complex<double>>>;
