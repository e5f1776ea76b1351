#include "kernels/ops/linalg/svd-inl.h"

template class Eigen::BDCSVD<troupe::Matrix<double>>;
