// The constants of Selu. Compiled on GPUs at run time, too, so this file includes nothing.
#pragma once

namespace troupe {

/// With these, mean 0 and variance 1 are preserved (Klambauer et al. 2017).
inline constexpr double selu_scale = 1.0507009873554804934, selu_scale_alpha = 1.7580993408473768600;

}  // namespace troupe
