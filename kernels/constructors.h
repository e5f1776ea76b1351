// The constructors of the op table as C++ functions, in alphabetical order. matmul(g, a, b) calls g.call("matmul", {a, b}) and
// adds a node named "MatMul"; matmul(g.with_name("logits"), a, b) adds a node named "logits". An Argument is what expressions in
// run files accept: a tensor, or a number or list that gets the dtype of the other inputs. The functions throw Error, which names
// op, node and shapes. The source file of the family of an op (kernels/ops) says what the op computes. Only one thread at a time
// may add nodes to a graph. This file is generated from the op table: ninja -C build/release op_faces.
#pragma once

#include "graph/build/scope.h"

#pragma GCC visibility push(default)
namespace troupe {

// NOLINTBEGIN(performance-unnecessary-value-param): copies of small values, while a graph is built
// clang-format off
inline Output abs(const Scope& g, Argument x) { return g.call("abs", {x}); }
inline Output acos(const Scope& g, Argument x) { return g.call("acos", {x}); }
inline Output acosh(const Scope& g, Argument x) { return g.call("acosh", {x}); }
inline Output add(const Scope& g, Argument x, Argument y) { return g.call("add", {x, y}); }
inline Output add_n(const Scope& g, std::vector<Output> inputs) { return g.call("add_n", {std::move(inputs)}); }
inline Output add_v2(const Scope& g, Argument x, Argument y) { return g.call("add_v2", {x, y}); }
inline Output adjust_contrast(const Scope& g, Argument images, Argument contrast_factor) { return g.call("adjust_contrast", {images, contrast_factor}); }
inline Output adjust_hue(const Scope& g, Argument images, Argument delta) { return g.call("adjust_hue", {images, delta}); }
inline Output adjust_saturation(const Scope& g, Argument images, Argument scale) { return g.call("adjust_saturation", {images, scale}); }
inline Output all(const Scope& g, Argument input) { return g.call("all", {input}); }
inline Output all(const Scope& g, Argument input, Argument axis, bool keep_dims = false) { return g.call("all", {input, axis, keep_dims}); }
inline Output all_candidate_sampler(const Scope& g, Argument true_classes, int64_t num_true, int64_t num_sampled, bool unique, int64_t seed = 0, int64_t seed2 = 0) { return g.call("all_candidate_sampler", {true_classes, num_true, num_sampled, unique, seed, seed2}); }
inline Output angle(const Scope& g, Argument input, DType dtype = f32) { return g.call("angle", {input, dtype}); }
inline Output any(const Scope& g, Argument input) { return g.call("any", {input}); }
inline Output any(const Scope& g, Argument input, Argument axis, bool keep_dims = false) { return g.call("any", {input, axis, keep_dims}); }
inline Output approximate_equal(const Scope& g, Argument x, Argument y, Argument tolerance = 1e-05) { return g.call("approximate_equal", {x, y, tolerance}); }
inline Output argmax(const Scope& g, Argument input, Argument axis = 0, DType output_type = i32) { return g.call("argmax", {input, axis, output_type}); }
inline Output argmin(const Scope& g, Argument input, Argument axis = 0, DType output_type = i32) { return g.call("argmin", {input, axis, output_type}); }
inline Output as_string(const Scope& g, Argument input, int64_t precision = -1, bool scientific = false, bool shortest = false, int64_t width = -1, const std::string& fill = {}) { return g.call("as_string", {input, precision, scientific, shortest, width, fill}); }
inline Output asin(const Scope& g, Argument x) { return g.call("asin", {x}); }
inline Output asinh(const Scope& g, Argument x) { return g.call("asinh", {x}); }
inline Output assert_that(const Scope& g, Argument condition, std::vector<Output> data, int64_t summarize = 3) { return g.call("assert_that", {condition, std::move(data), summarize}); }
inline Output assign(const Scope& g, Argument ref, Argument value, bool validate_shape = true, bool use_locking = true) { return g.call("assign", {ref, value, validate_shape, use_locking}); }
inline Output assign_add(const Scope& g, Argument ref, Argument value, bool use_locking = false) { return g.call("assign_add", {ref, value, use_locking}); }
inline Output assign_sub(const Scope& g, Argument ref, Argument value, bool use_locking = false) { return g.call("assign_sub", {ref, value, use_locking}); }
inline Output atan(const Scope& g, Argument x) { return g.call("atan", {x}); }
inline Output atan2(const Scope& g, Argument y, Argument x) { return g.call("atan2", {y, x}); }
inline Output atanh(const Scope& g, Argument x) { return g.call("atanh", {x}); }
inline Output audio_spectrogram(const Scope& g, Argument input, int64_t window_size, int64_t stride, bool magnitude_squared = false) { return g.call("audio_spectrogram", {input, window_size, stride, magnitude_squared}); }
inline Output avg_pool(const Scope& g, Argument value, const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides, const std::string& padding, const std::string& data_format = "NHWC") { return g.call("avg_pool", {value, ksize, strides, padding, data_format}); }
inline Output avg_pool_3d(const Scope& g, Argument input, const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides, const std::string& padding, const std::string& data_format = "NDHWC") { return g.call("avg_pool_3d", {input, ksize, strides, padding, data_format}); }
inline Output batch_matmul(const Scope& g, Argument x, Argument y, bool adj_x = false, bool adj_y = false) { return g.call("batch_matmul", {x, y, adj_x, adj_y}); }
inline Output batch_matmul_v2(const Scope& g, Argument x, Argument y, bool adj_x = false, bool adj_y = false) { return g.call("batch_matmul_v2", {x, y, adj_x, adj_y}); }
inline Output batch_to_space_nd(const Scope& g, Argument input, Argument block_shape, Argument crops) { return g.call("batch_to_space_nd", {input, block_shape, crops}); }
inline Output bessel_i0(const Scope& g, Argument x) { return g.call("bessel_i0", {x}); }
inline Output bessel_i0e(const Scope& g, Argument x) { return g.call("bessel_i0e", {x}); }
inline Output bessel_i1(const Scope& g, Argument x) { return g.call("bessel_i1", {x}); }
inline Output bessel_i1e(const Scope& g, Argument x) { return g.call("bessel_i1e", {x}); }
inline Output bessel_j0(const Scope& g, Argument x) { return g.call("bessel_j0", {x}); }
inline Output bessel_j1(const Scope& g, Argument x) { return g.call("bessel_j1", {x}); }
inline Output bessel_k0(const Scope& g, Argument x) { return g.call("bessel_k0", {x}); }
inline Output bessel_k0e(const Scope& g, Argument x) { return g.call("bessel_k0e", {x}); }
inline Output bessel_k1(const Scope& g, Argument x) { return g.call("bessel_k1", {x}); }
inline Output bessel_k1e(const Scope& g, Argument x) { return g.call("bessel_k1e", {x}); }
inline Output bessel_y0(const Scope& g, Argument x) { return g.call("bessel_y0", {x}); }
inline Output bessel_y1(const Scope& g, Argument x) { return g.call("bessel_y1", {x}); }
inline Output betainc(const Scope& g, Argument a, Argument b, Argument x) { return g.call("betainc", {a, b, x}); }
inline Output bias_add(const Scope& g, Argument value, Argument bias, const std::string& data_format = "NHWC") { return g.call("bias_add", {value, bias, data_format}); }
inline Output bincount(const Scope& g, Argument arr, Argument size, Argument weights) { return g.call("bincount", {arr, size, weights}); }
inline Output bitcast(const Scope& g, Argument input, DType type) { return g.call("bitcast", {input, type}); }
inline Output bitwise_and(const Scope& g, Argument x, Argument y) { return g.call("bitwise_and", {x, y}); }
inline Output bitwise_or(const Scope& g, Argument x, Argument y) { return g.call("bitwise_or", {x, y}); }
inline Output bitwise_xor(const Scope& g, Argument x, Argument y) { return g.call("bitwise_xor", {x, y}); }
inline Output broadcast_dynamic_shape(const Scope& g, Argument s0, Argument s1) { return g.call("broadcast_dynamic_shape", {s0, s1}); }
inline Output broadcast_to(const Scope& g, Argument input, Argument shape) { return g.call("broadcast_to", {input, shape}); }
inline Output bucketize(const Scope& g, Argument input, Argument boundaries) { return g.call("bucketize", {input, boundaries}); }
inline Output cast(const Scope& g, Argument x, DType dtype) { return g.call("cast", {x, dtype}); }
inline Output ceil(const Scope& g, Argument x) { return g.call("ceil", {x}); }
inline Output check_numerics(const Scope& g, Argument tensor, const std::string& message) { return g.call("check_numerics", {tensor, message}); }
inline Output cholesky(const Scope& g, Argument input) { return g.call("cholesky", {input}); }
inline Output clip_by_value(const Scope& g, Argument t, Argument clip_value_min, Argument clip_value_max) { return g.call("clip_by_value", {t, clip_value_min, clip_value_max}); }
inline Output compare_and_bitpack(const Scope& g, Argument input, Argument threshold) { return g.call("compare_and_bitpack", {input, threshold}); }
inline Output complex(const Scope& g, Argument real, Argument imag, DType dtype = DType::Complex64) { return g.call("complex", {real, imag, dtype}); }
inline Output complex_abs(const Scope& g, Argument x, DType dtype = f32) { return g.call("complex_abs", {x, dtype}); }
inline Output compute_accidental_hits(const Scope& g, Argument true_classes, Argument sampled_candidates, int64_t num_true) { return g.call("compute_accidental_hits", {true_classes, sampled_candidates, num_true}); }
inline Output concat(const Scope& g, std::vector<Output> values, Argument axis) { return g.call("concat", {std::move(values), axis}); }
inline Output conj(const Scope& g, Argument x) { return g.call("conj", {x}); }
inline Output conjugate_transpose(const Scope& g, Argument a, Argument perm) { return g.call("conjugate_transpose", {a, perm}); }
inline Output conv2d(const Scope& g, Argument input, Argument filter, const std::vector<int64_t>& strides, const std::string& padding, const std::string& data_format = "NHWC", const std::vector<int64_t>& dilations = {1, 1, 1, 1}, const std::vector<int64_t>& explicit_paddings = {}) { return g.call("conv2d", {input, filter, strides, padding, data_format, dilations, explicit_paddings}); }
inline Output conv3d(const Scope& g, Argument input, Argument filter, const std::vector<int64_t>& strides, const std::string& padding, const std::string& data_format = "NDHWC", const std::vector<int64_t>& dilations = {1, 1, 1, 1, 1}) { return g.call("conv3d", {input, filter, strides, padding, data_format, dilations}); }
inline Output cos(const Scope& g, Argument x) { return g.call("cos", {x}); }
inline Output cosh(const Scope& g, Argument x) { return g.call("cosh", {x}); }
inline Output crop_and_resize(const Scope& g, Argument image, Argument boxes, Argument box_ind, Argument crop_size, const std::string& method = "bilinear", Argument extrapolation_value = 0.0) { return g.call("crop_and_resize", {image, boxes, box_ind, crop_size, method, extrapolation_value}); }
inline Output cross(const Scope& g, Argument a, Argument b) { return g.call("cross", {a, b}); }
inline Output ctc_loss(const Scope& g, Argument inputs, Argument labels_indices, Argument labels_values, Argument sequence_length, bool preprocess_collapse_repeated = false, bool ctc_merge_repeated = true, bool ignore_longer_outputs_than_inputs = false) { return g.call("ctc_loss", {inputs, labels_indices, labels_values, sequence_length, preprocess_collapse_repeated, ctc_merge_repeated, ignore_longer_outputs_than_inputs}); }
inline Output cumprod(const Scope& g, Argument x, Argument axis = 0, bool exclusive = false, bool reverse = false) { return g.call("cumprod", {x, axis, exclusive, reverse}); }
inline Output cumsum(const Scope& g, Argument x, Argument axis = 0, bool exclusive = false, bool reverse = false) { return g.call("cumsum", {x, axis, exclusive, reverse}); }
inline Output cumulative_logsumexp(const Scope& g, Argument x, Argument axis = 0, bool exclusive = false, bool reverse = false) { return g.call("cumulative_logsumexp", {x, axis, exclusive, reverse}); }
inline Output data_format_dim_map(const Scope& g, Argument x, const std::string& src_format = "NHWC", const std::string& dst_format = "NCHW") { return g.call("data_format_dim_map", {x, src_format, dst_format}); }
inline Output data_format_vec_permute(const Scope& g, Argument x, const std::string& src_format = "NHWC", const std::string& dst_format = "NCHW") { return g.call("data_format_vec_permute", {x, src_format, dst_format}); }
inline Output decode_base64(const Scope& g, Argument input) { return g.call("decode_base64", {input}); }
inline Output decode_bmp(const Scope& g, Argument contents, int64_t channels = 0) { return g.call("decode_bmp", {contents, channels}); }
inline Output decode_compressed(const Scope& g, Argument bytes, const std::string& compression_type = {}) { return g.call("decode_compressed", {bytes, compression_type}); }
inline Output decode_gif(const Scope& g, Argument contents) { return g.call("decode_gif", {contents}); }
inline Output decode_image(const Scope& g, Argument contents, int64_t channels = 0, DType dtype = DType::UInt8, bool expand_animations = true) { return g.call("decode_image", {contents, channels, dtype, expand_animations}); }
inline Output decode_jpeg(const Scope& g, Argument contents, int64_t channels = 0, int64_t ratio = 1) { return g.call("decode_jpeg", {contents, channels, ratio}); }
inline Output decode_padded_raw(const Scope& g, Argument input_bytes, Argument fixed_length, DType out_type, bool little_endian = true) { return g.call("decode_padded_raw", {input_bytes, fixed_length, out_type, little_endian}); }
inline Output decode_png(const Scope& g, Argument contents, int64_t channels = 0, DType dtype = DType::UInt8) { return g.call("decode_png", {contents, channels, dtype}); }
inline Output decode_raw(const Scope& g, Argument bytes, DType out_type, bool little_endian = true) { return g.call("decode_raw", {bytes, out_type, little_endian}); }
inline Output decode_wav(const Scope& g, Argument contents, int64_t desired_channels = -1, int64_t desired_samples = -1) { return g.call("decode_wav", {contents, desired_channels, desired_samples}); }
inline Output dense_bincount(const Scope& g, Argument input, Argument size, Argument weights, bool binary_output = false) { return g.call("dense_bincount", {input, size, weights, binary_output}); }
inline Output depth_to_space(const Scope& g, Argument input, int64_t block_size, const std::string& data_format = "NHWC") { return g.call("depth_to_space", {input, block_size, data_format}); }
inline Output depthwise_conv2d(const Scope& g, Argument input, Argument filter, const std::vector<int64_t>& strides, const std::string& padding, const std::string& data_format = "NHWC", const std::vector<int64_t>& dilations = {1, 1, 1, 1}, const std::vector<int64_t>& explicit_paddings = {}) { return g.call("depthwise_conv2d", {input, filter, strides, padding, data_format, dilations, explicit_paddings}); }
inline Output diag(const Scope& g, Argument diagonal) { return g.call("diag", {diagonal}); }
inline Output diag_part(const Scope& g, Argument input) { return g.call("diag_part", {input}); }
inline Output digamma(const Scope& g, Argument x) { return g.call("digamma", {x}); }
inline Output dilation2d(const Scope& g, Argument input, Argument filter, const std::vector<int64_t>& strides, const std::vector<int64_t>& rates, const std::string& padding) { return g.call("dilation2d", {input, filter, strides, rates, padding}); }
inline Output div(const Scope& g, Argument x, Argument y) { return g.call("div", {x, y}); }
inline Output div_no_nan(const Scope& g, Argument x, Argument y) { return g.call("div_no_nan", {x, y}); }
inline Output draw_bounding_boxes(const Scope& g, Argument images, Argument boxes) { return g.call("draw_bounding_boxes", {images, boxes}); }
inline std::vector<Output> dynamic_partition(const Scope& g, Argument data, Argument partitions, int64_t num_partitions) { return g.outputs(g.call("dynamic_partition", {data, partitions, num_partitions})); }
inline Output dynamic_stitch(const Scope& g, std::vector<Output> indices, std::vector<Output> data) { return g.call("dynamic_stitch", {std::move(indices), std::move(data)}); }
inline Output edit_distance(const Scope& g, Argument hypothesis_indices, Argument hypothesis_values, Argument hypothesis_shape, Argument truth_indices, Argument truth_values, Argument truth_shape, bool normalize = true) { return g.call("edit_distance", {hypothesis_indices, hypothesis_values, hypothesis_shape, truth_indices, truth_values, truth_shape, normalize}); }
inline Output einsum(const Scope& g, const std::string& equation, std::vector<Output> inputs) { return g.call("einsum", {equation, std::move(inputs)}); }
inline Output elu(const Scope& g, Argument features) { return g.call("elu", {features}); }
inline Output encode_base64(const Scope& g, Argument input, bool pad = false) { return g.call("encode_base64", {input, pad}); }
inline Output encode_jpeg(const Scope& g, Argument image, int64_t quality = 95) { return g.call("encode_jpeg", {image, quality}); }
inline Output encode_png(const Scope& g, Argument image, int64_t compression = -1) { return g.call("encode_png", {image, compression}); }
inline Output encode_wav(const Scope& g, Argument audio, Argument sample_rate) { return g.call("encode_wav", {audio, sample_rate}); }
inline Output ensure_shape(const Scope& g, Argument x, const PartialShape& shape) { return g.call("ensure_shape", {x, shape}); }
inline Output equal(const Scope& g, Argument x, Argument y) { return g.call("equal", {x, y}); }
inline Output erf(const Scope& g, Argument x) { return g.call("erf", {x}); }
inline Output erfc(const Scope& g, Argument x) { return g.call("erfc", {x}); }
inline Output erfinv(const Scope& g, Argument x) { return g.call("erfinv", {x}); }
inline Output euclidean_norm(const Scope& g, Argument input) { return g.call("euclidean_norm", {input}); }
inline Output euclidean_norm(const Scope& g, Argument input, Argument axis, bool keep_dims = false) { return g.call("euclidean_norm", {input, axis, keep_dims}); }
inline Output exp(const Scope& g, Argument x) { return g.call("exp", {x}); }
inline Output expand_dims(const Scope& g, Argument input, Argument axis) { return g.call("expand_dims", {input, axis}); }
inline Output expm1(const Scope& g, Argument x) { return g.call("expm1", {x}); }
inline Output extract_glimpse(const Scope& g, Argument input, Argument size, Argument offsets, bool centered = true, bool normalized = true, bool uniform_noise = true, const std::string& noise = "uniform") { return g.call("extract_glimpse", {input, size, offsets, centered, normalized, uniform_noise, noise}); }
inline Output extract_image_patches(const Scope& g, Argument images, const std::vector<int64_t>& ksizes, const std::vector<int64_t>& strides, const std::vector<int64_t>& rates, const std::string& padding) { return g.call("extract_image_patches", {images, ksizes, strides, rates, padding}); }
inline Output extract_volume_patches(const Scope& g, Argument input, const std::vector<int64_t>& ksizes, const std::vector<int64_t>& strides, const std::string& padding) { return g.call("extract_volume_patches", {input, ksizes, strides, padding}); }
inline Output fft(const Scope& g, Argument input) { return g.call("fft", {input}); }
inline Output fft2d(const Scope& g, Argument input) { return g.call("fft2d", {input}); }
inline Output fft3d(const Scope& g, Argument input) { return g.call("fft3d", {input}); }
inline Output fifo_queue(const Scope& g, Argument component_types, Argument shapes = {}, int64_t capacity = -1, const std::string& container = {}, const std::string& shared_name = {}) { return g.call("fifo_queue", {component_types, shapes, capacity, container, shared_name}); }
inline Output fill(const Scope& g, Argument dims, Argument value) { return g.call("fill", {dims, value}); }
inline Output fingerprint(const Scope& g, Argument data, Argument method) { return g.call("fingerprint", {data, method}); }
inline Output fixed_unigram_candidate_sampler(const Scope& g, Argument true_classes, int64_t num_true, int64_t num_sampled, bool unique, int64_t range_max, Argument unigrams = {}, Argument distortion = 1.0, int64_t num_reserved_ids = 0, int64_t num_shards = 1, int64_t shard = 0, int64_t seed = 0, int64_t seed2 = 0) { return g.call("fixed_unigram_candidate_sampler", {true_classes, num_true, num_sampled, unique, range_max, unigrams, distortion, num_reserved_ids, num_shards, shard, seed, seed2}); }
inline Output floor(const Scope& g, Argument x) { return g.call("floor", {x}); }
inline Output floor_div(const Scope& g, Argument x, Argument y) { return g.call("floor_div", {x, y}); }
inline Output floor_mod(const Scope& g, Argument x, Argument y) { return g.call("floor_mod", {x, y}); }
inline Output fractional_avg_pool(const Scope& g, Argument value, Argument pooling_ratio, bool pseudo_random = false, bool overlapping = false, bool deterministic = false, int64_t seed = 0, int64_t seed2 = 0) { return g.call("fractional_avg_pool", {value, pooling_ratio, pseudo_random, overlapping, deterministic, seed, seed2}); }
inline Output fractional_max_pool(const Scope& g, Argument value, Argument pooling_ratio, bool pseudo_random = false, bool overlapping = false, bool deterministic = false, int64_t seed = 0, int64_t seed2 = 0) { return g.call("fractional_max_pool", {value, pooling_ratio, pseudo_random, overlapping, deterministic, seed, seed2}); }
inline Output fused_batch_norm(const Scope& g, Argument x, Argument scale, Argument offset, Argument mean, Argument variance, Argument epsilon = 1e-04, Argument exponential_avg_factor = 1.0, const std::string& data_format = "NHWC", bool is_training = true) { return g.call("fused_batch_norm", {x, scale, offset, mean, variance, epsilon, exponential_avg_factor, data_format, is_training}); }
inline Output gather(const Scope& g, Argument params, Argument indices, bool validate_indices = true) { return g.call("gather", {params, indices, validate_indices}); }
inline Output gather_nd(const Scope& g, Argument params, Argument indices) { return g.call("gather_nd", {params, indices}); }
inline Output gather_v2(const Scope& g, Argument params, Argument indices, Argument axis, int64_t batch_dims = 0) { return g.call("gather_v2", {params, indices, axis, batch_dims}); }
inline Output greater(const Scope& g, Argument x, Argument y) { return g.call("greater", {x, y}); }
inline Output greater_equal(const Scope& g, Argument x, Argument y) { return g.call("greater_equal", {x, y}); }
inline Output histogram_fixed_width(const Scope& g, Argument values, Argument value_range, Argument nbins, DType dtype = i32) { return g.call("histogram_fixed_width", {values, value_range, nbins, dtype}); }
inline Output hsv_to_rgb(const Scope& g, Argument images) { return g.call("hsv_to_rgb", {images}); }
inline Output identity(const Scope& g, Argument input) { return g.call("identity", {input}); }
inline Output ifft(const Scope& g, Argument input) { return g.call("ifft", {input}); }
inline Output ifft2d(const Scope& g, Argument input) { return g.call("ifft2d", {input}); }
inline Output ifft3d(const Scope& g, Argument input) { return g.call("ifft3d", {input}); }
inline Output igamma(const Scope& g, Argument a, Argument x) { return g.call("igamma", {a, x}); }
inline Output igamma_grad_a(const Scope& g, Argument a, Argument x) { return g.call("igamma_grad_a", {a, x}); }
inline Output igammac(const Scope& g, Argument a, Argument x) { return g.call("igammac", {a, x}); }
inline Output imag(const Scope& g, Argument input, DType dtype = f32) { return g.call("imag", {input, dtype}); }
inline Output image_projective_transform(const Scope& g, Argument images, Argument transforms, Argument output_shape, const std::string& interpolation, const std::string& fill_mode = "CONSTANT", Argument fill_value = 0) { return g.call("image_projective_transform", {images, transforms, output_shape, interpolation, fill_mode, fill_value}); }
inline Output in_top_k(const Scope& g, Argument predictions, Argument targets, int64_t k) { return g.call("in_top_k", {predictions, targets, k}); }
inline Output invert(const Scope& g, Argument x) { return g.call("invert", {x}); }
inline Output invert_permutation(const Scope& g, Argument x) { return g.call("invert_permutation", {x}); }
inline Output irfft(const Scope& g, Argument input, Argument fft_length, DType dtype = f32) { return g.call("irfft", {input, fft_length, dtype}); }
inline Output irfft2d(const Scope& g, Argument input, Argument fft_length, DType dtype = f32) { return g.call("irfft2d", {input, fft_length, dtype}); }
inline Output irfft3d(const Scope& g, Argument input, Argument fft_length, DType dtype = f32) { return g.call("irfft3d", {input, fft_length, dtype}); }
inline Output is_finite(const Scope& g, Argument x) { return g.call("is_finite", {x}); }
inline Output is_inf(const Scope& g, Argument x) { return g.call("is_inf", {x}); }
inline Output is_nan(const Scope& g, Argument x) { return g.call("is_nan", {x}); }
inline Output l2_loss(const Scope& g, Argument t) { return g.call("l2_loss", {t}); }
inline Output leaky_relu(const Scope& g, Argument features, Argument alpha = 0.2) { return g.call("leaky_relu", {features, alpha}); }
inline Output learned_unigram_candidate_sampler(const Scope& g, Argument true_classes, int64_t num_true, int64_t num_sampled, bool unique, int64_t range_max, int64_t seed = 0, int64_t seed2 = 0) { return g.call("learned_unigram_candidate_sampler", {true_classes, num_true, num_sampled, unique, range_max, seed, seed2}); }
inline Output left_shift(const Scope& g, Argument x, Argument y) { return g.call("left_shift", {x, y}); }
inline Output less(const Scope& g, Argument x, Argument y) { return g.call("less", {x, y}); }
inline Output less_equal(const Scope& g, Argument x, Argument y) { return g.call("less_equal", {x, y}); }
inline Output lgamma(const Scope& g, Argument x) { return g.call("lgamma", {x}); }
inline Output lin_space(const Scope& g, Argument start, Argument stop, Argument num) { return g.call("lin_space", {start, stop, num}); }
inline Output linspace(const Scope& g, Argument start, Argument stop, Argument num) { return g.call("linspace", {start, stop, num}); }
inline Output log(const Scope& g, Argument x) { return g.call("log", {x}); }
inline Output log1p(const Scope& g, Argument x) { return g.call("log1p", {x}); }
inline Output log_matrix_determinant(const Scope& g, Argument input) { return g.call("log_matrix_determinant", {input}); }
inline Output log_softmax(const Scope& g, Argument logits) { return g.call("log_softmax", {logits}); }
inline Output log_uniform_candidate_sampler(const Scope& g, Argument true_classes, int64_t num_true, int64_t num_sampled, bool unique, int64_t range_max, int64_t seed = 0, int64_t seed2 = 0) { return g.call("log_uniform_candidate_sampler", {true_classes, num_true, num_sampled, unique, range_max, seed, seed2}); }
inline Output logical_and(const Scope& g, Argument x, Argument y) { return g.call("logical_and", {x, y}); }
inline Output logical_not(const Scope& g, Argument x) { return g.call("logical_not", {x}); }
inline Output logical_or(const Scope& g, Argument x, Argument y) { return g.call("logical_or", {x, y}); }
inline Output lower_bound(const Scope& g, Argument sorted_inputs, Argument values, DType out_type = i32) { return g.call("lower_bound", {sorted_inputs, values, out_type}); }
inline Output lrn(const Scope& g, Argument input, int64_t depth_radius = 5, Argument bias = 1.0, Argument alpha = 1.0, Argument beta = 0.5) { return g.call("lrn", {input, depth_radius, bias, alpha, beta}); }
inline Output matching_files(const Scope& g, Argument pattern) { return g.call("matching_files", {pattern}); }
inline Output matmul(const Scope& g, Argument a, Argument b, bool transpose_a = false, bool transpose_b = false) { return g.call("matmul", {a, b, transpose_a, transpose_b}); }
inline Output matrix_band_part(const Scope& g, Argument input, Argument num_lower, Argument num_upper) { return g.call("matrix_band_part", {input, num_lower, num_upper}); }
inline Output matrix_determinant(const Scope& g, Argument input) { return g.call("matrix_determinant", {input}); }
inline Output matrix_diag(const Scope& g, Argument diagonal) { return g.call("matrix_diag", {diagonal}); }
inline Output matrix_diag_part(const Scope& g, Argument input) { return g.call("matrix_diag_part", {input}); }
inline Output matrix_diag_part_v3(const Scope& g, Argument input, Argument k = 0, Argument padding_value = 0, const std::string& align = "RIGHT_LEFT") { return g.call("matrix_diag_part_v3", {input, k, padding_value, align}); }
inline Output matrix_diag_v3(const Scope& g, Argument diagonal, Argument k = 0, Argument num_rows = -1, Argument num_cols = -1, Argument padding_value = 0, const std::string& align = "RIGHT_LEFT") { return g.call("matrix_diag_v3", {diagonal, k, num_rows, num_cols, padding_value, align}); }
inline Output matrix_inverse(const Scope& g, Argument input, bool adjoint = false) { return g.call("matrix_inverse", {input, adjoint}); }
inline Output matrix_logarithm(const Scope& g, Argument input) { return g.call("matrix_logarithm", {input}); }
inline Output matrix_set_diag(const Scope& g, Argument input, Argument diagonal) { return g.call("matrix_set_diag", {input, diagonal}); }
inline Output matrix_set_diag_v3(const Scope& g, Argument input, Argument diagonal, Argument k = 0, const std::string& align = "RIGHT_LEFT") { return g.call("matrix_set_diag_v3", {input, diagonal, k, align}); }
inline Output matrix_solve(const Scope& g, Argument matrix, Argument rhs, bool adjoint = false) { return g.call("matrix_solve", {matrix, rhs, adjoint}); }
inline Output matrix_solve_ls(const Scope& g, Argument matrix, Argument rhs, Argument l2_regularizer = 0, bool fast = true) { return g.call("matrix_solve_ls", {matrix, rhs, l2_regularizer, fast}); }
inline Output matrix_square_root(const Scope& g, Argument input) { return g.call("matrix_square_root", {input}); }
inline Output matrix_triangular_solve(const Scope& g, Argument matrix, Argument rhs, bool lower = true, bool adjoint = false) { return g.call("matrix_triangular_solve", {matrix, rhs, lower, adjoint}); }
inline Output max(const Scope& g, Argument input) { return g.call("max", {input}); }
inline Output max(const Scope& g, Argument input, Argument axis, bool keep_dims = false) { return g.call("max", {input, axis, keep_dims}); }
inline Output max_pool(const Scope& g, Argument input, const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides, const std::string& padding, const std::string& data_format = "NHWC") { return g.call("max_pool", {input, ksize, strides, padding, data_format}); }
inline Output max_pool_3d(const Scope& g, Argument input, const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides, const std::string& padding, const std::string& data_format = "NDHWC") { return g.call("max_pool_3d", {input, ksize, strides, padding, data_format}); }
inline Output max_pool_with_argmax(const Scope& g, Argument input, const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides, const std::string& padding, DType index_dtype = i64, bool include_batch_in_index = false) { return g.call("max_pool_with_argmax", {input, ksize, strides, padding, index_dtype, include_batch_in_index}); }
inline Output maximum(const Scope& g, Argument x, Argument y) { return g.call("maximum", {x, y}); }
inline Output mean(const Scope& g, Argument input) { return g.call("mean", {input}); }
inline Output mean(const Scope& g, Argument input, Argument axis, bool keep_dims = false) { return g.call("mean", {input, axis, keep_dims}); }
inline Output mfcc(const Scope& g, Argument spectrogram, Argument sample_rate, Argument upper_frequency_limit = 4000.0, Argument lower_frequency_limit = 20.0, int64_t filterbank_channel_count = 40, int64_t dct_coefficient_count = 13) { return g.call("mfcc", {spectrogram, sample_rate, upper_frequency_limit, lower_frequency_limit, filterbank_channel_count, dct_coefficient_count}); }
inline Output min(const Scope& g, Argument input) { return g.call("min", {input}); }
inline Output min(const Scope& g, Argument input, Argument axis, bool keep_dims = false) { return g.call("min", {input, axis, keep_dims}); }
inline Output minimum(const Scope& g, Argument x, Argument y) { return g.call("minimum", {x, y}); }
inline Output mirror_pad(const Scope& g, Argument input, Argument paddings, const std::string& mode) { return g.call("mirror_pad", {input, paddings, mode}); }
inline Output mod(const Scope& g, Argument x, Argument y) { return g.call("mod", {x, y}); }
inline Output mul(const Scope& g, Argument x, Argument y) { return g.call("mul", {x, y}); }
inline Output mul_no_nan(const Scope& g, Argument x, Argument y) { return g.call("mul_no_nan", {x, y}); }
inline Output multinomial(const Scope& g, Argument logits, Argument num_samples, DType output_dtype = i64, int64_t seed = 0, int64_t seed2 = 0) { return g.call("multinomial", {logits, num_samples, output_dtype, seed, seed2}); }
inline Output ndtri(const Scope& g, Argument x) { return g.call("ndtri", {x}); }
inline Output neg(const Scope& g, Argument x) { return g.call("neg", {x}); }
inline Output next_after(const Scope& g, Argument x1, Argument x2) { return g.call("next_after", {x1, x2}); }
inline Output non_max_suppression(const Scope& g, Argument boxes, Argument scores, Argument max_output_size, Argument iou_threshold, Argument score_threshold) { return g.call("non_max_suppression", {boxes, scores, max_output_size, iou_threshold, score_threshold}); }
inline Output non_max_suppression_with_overlaps(const Scope& g, Argument overlaps, Argument scores, Argument max_output_size, Argument overlap_threshold, Argument score_threshold) { return g.call("non_max_suppression_with_overlaps", {overlaps, scores, max_output_size, overlap_threshold, score_threshold}); }
inline Output nonzero(const Scope& g, Argument input) { return g.call("nonzero", {input}); }
inline Output not_equal(const Scope& g, Argument x, Argument y) { return g.call("not_equal", {x, y}); }
inline Output nth_element(const Scope& g, Argument input, Argument n, bool reverse = false) { return g.call("nth_element", {input, n, reverse}); }
inline Output one_hot(const Scope& g, Argument indices, Argument depth, Argument on_value, Argument off_value, int64_t axis = -1) { return g.call("one_hot", {indices, depth, on_value, off_value, axis}); }
inline Output ones(const Scope& g, Argument shape, DType dtype = f32, Argument value = 1) { return g.call("ones", {shape, dtype, value}); }
inline Output ones_like(const Scope& g, Argument x) { return g.call("ones_like", {x}); }
inline Output pad(const Scope& g, Argument input, Argument paddings) { return g.call("pad", {input, paddings}); }
inline Output pad_v2(const Scope& g, Argument input, Argument paddings, Argument constant_values) { return g.call("pad_v2", {input, paddings, constant_values}); }
inline Output padding_fifo_queue(const Scope& g, Argument component_types, Argument shapes = {}, int64_t capacity = -1, const std::string& container = {}, const std::string& shared_name = {}) { return g.call("padding_fifo_queue", {component_types, shapes, capacity, container, shared_name}); }
inline Output parallel_dynamic_stitch(const Scope& g, std::vector<Output> indices, std::vector<Output> data) { return g.call("parallel_dynamic_stitch", {std::move(indices), std::move(data)}); }
inline Output parameterized_truncated_normal(const Scope& g, Argument shape, Argument means, Argument stdevs, Argument minvals, Argument maxvals, int64_t seed = 0, int64_t seed2 = 0) { return g.call("parameterized_truncated_normal", {shape, means, stdevs, minvals, maxvals, seed, seed2}); }
inline Output parse_tensor(const Scope& g, Argument serialized, DType out_type) { return g.call("parse_tensor", {serialized, out_type}); }
/// The shape is unknown unless it is given, as {} is, too. That of a scalar is PartialShape::scalar().
inline Output placeholder(const Scope& g, DType dtype, const PartialShape& shape = {}, std::string_view name = {}) { return (name.empty() ? g : g.with_name(name)).call("placeholder", {dtype, shape}); }
inline Output placeholder_with_default(const Scope& g, Argument input, const PartialShape& shape) { return g.call("placeholder_with_default", {input, shape}); }
inline Output polygamma(const Scope& g, Argument a, Argument x) { return g.call("polygamma", {a, x}); }
inline Output population_count(const Scope& g, Argument x) { return g.call("population_count", {x}); }
inline Output pow(const Scope& g, Argument x, Argument y) { return g.call("pow", {x, y}); }
inline Output print(const Scope& g, Argument input, std::vector<Output> data, const std::string& message = {}, int64_t first_n = -1, int64_t summarize = 3) { return g.call("print", {input, std::move(data), message, first_n, summarize}); }
inline Output priority_queue(const Scope& g, Argument component_types = {}, Argument shapes = {}, int64_t capacity = -1, const std::string& container = {}, const std::string& shared_name = {}) { return g.call("priority_queue", {component_types, shapes, capacity, container, shared_name}); }
inline Output prod(const Scope& g, Argument input) { return g.call("prod", {input}); }
inline Output prod(const Scope& g, Argument input, Argument axis, bool keep_dims = false) { return g.call("prod", {input, axis, keep_dims}); }
inline Output qr(const Scope& g, Argument input, bool full_matrices = false) { return g.call("qr", {input, full_matrices}); }
inline Output queue_close(const Scope& g, Argument handle, bool cancel_pending_enqueues = false) { return g.call("queue_close", {handle, cancel_pending_enqueues}); }
inline std::vector<Output> queue_dequeue(const Scope& g, Argument handle, Argument component_types, int64_t timeout_ms = -1) { return g.outputs(g.call("queue_dequeue", {handle, component_types, timeout_ms})); }
inline std::vector<Output> queue_dequeue_many(const Scope& g, Argument handle, Argument n, Argument component_types, int64_t timeout_ms = -1) { return g.outputs(g.call("queue_dequeue_many", {handle, n, component_types, timeout_ms})); }
inline std::vector<Output> queue_dequeue_up_to(const Scope& g, Argument handle, Argument n, Argument component_types, int64_t timeout_ms = -1) { return g.outputs(g.call("queue_dequeue_up_to", {handle, n, component_types, timeout_ms})); }
inline Output queue_enqueue(const Scope& g, Argument handle, std::vector<Output> components, int64_t timeout_ms = -1) { return g.call("queue_enqueue", {handle, std::move(components), timeout_ms}); }
inline Output queue_enqueue_many(const Scope& g, Argument handle, std::vector<Output> components, int64_t timeout_ms = -1) { return g.call("queue_enqueue_many", {handle, std::move(components), timeout_ms}); }
inline Output queue_is_closed(const Scope& g, Argument handle) { return g.call("queue_is_closed", {handle}); }
inline Output queue_size(const Scope& g, Argument handle) { return g.call("queue_size", {handle}); }
inline Output ragged_bincount(const Scope& g, Argument splits, Argument values, Argument size, Argument weights, bool binary_output = false) { return g.call("ragged_bincount", {splits, values, size, weights, binary_output}); }
inline Output random_binomial(const Scope& g, Argument shape, Argument counts, Argument probs, DType dtype = i64, int64_t seed = 0, int64_t seed2 = 0) { return g.call("random_binomial", {shape, counts, probs, dtype, seed, seed2}); }
inline Output random_crop(const Scope& g, Argument image, Argument size, int64_t seed = 0, int64_t seed2 = 0) { return g.call("random_crop", {image, size, seed, seed2}); }
inline Output random_gamma(const Scope& g, Argument shape, Argument alpha, int64_t seed = 0, int64_t seed2 = 0) { return g.call("random_gamma", {shape, alpha, seed, seed2}); }
inline Output random_gamma_grad(const Scope& g, Argument alpha, Argument sample) { return g.call("random_gamma_grad", {alpha, sample}); }
inline Output random_normal(const Scope& g, Argument shape, DType dtype = f32, int64_t seed = 0, int64_t seed2 = 0) { return g.call("random_normal", {shape, dtype, seed, seed2}); }
inline Output random_poisson(const Scope& g, Argument shape, Argument rate, DType dtype = i64, int64_t seed = 0, int64_t seed2 = 0) { return g.call("random_poisson", {shape, rate, dtype, seed, seed2}); }
inline Output random_shuffle(const Scope& g, Argument value, int64_t seed = 0, int64_t seed2 = 0) { return g.call("random_shuffle", {value, seed, seed2}); }
inline Output random_shuffle_queue(const Scope& g, Argument component_types, Argument shapes = {}, int64_t capacity = -1, int64_t min_after_dequeue = 0, int64_t seed = 0, int64_t seed2 = 0, const std::string& container = {}, const std::string& shared_name = {}) { return g.call("random_shuffle_queue", {component_types, shapes, capacity, min_after_dequeue, seed, seed2, container, shared_name}); }
inline Output random_uniform(const Scope& g, Argument shape, DType dtype = f32, int64_t seed = 0, int64_t seed2 = 0) { return g.call("random_uniform", {shape, dtype, seed, seed2}); }
inline Output random_uniform_int(const Scope& g, Argument shape, Argument minval, Argument maxval, int64_t seed = 0, int64_t seed2 = 0) { return g.call("random_uniform_int", {shape, minval, maxval, seed, seed2}); }
inline Output range(const Scope& g, Argument start, Argument limit, Argument delta = 1) { return g.call("range", {start, limit, delta}); }
inline Output rank(const Scope& g, Argument input) { return g.call("rank", {input}); }
inline Output read_file(const Scope& g, Argument filename) { return g.call("read_file", {filename}); }
inline Output real(const Scope& g, Argument input, DType dtype = f32) { return g.call("real", {input, dtype}); }
inline Output real_div(const Scope& g, Argument x, Argument y) { return g.call("real_div", {x, y}); }
inline Output reciprocal(const Scope& g, Argument x) { return g.call("reciprocal", {x}); }
inline Output reduce_join(const Scope& g, Argument inputs) { return g.call("reduce_join", {inputs}); }
inline Output reduce_join(const Scope& g, Argument inputs, Argument axis, bool keep_dims = false, const std::string& separator = {}) { return g.call("reduce_join", {inputs, axis, keep_dims, separator}); }
inline Output regex_full_match(const Scope& g, Argument input, Argument pattern) { return g.call("regex_full_match", {input, pattern}); }
inline Output regex_replace(const Scope& g, Argument input, Argument pattern, Argument rewrite, bool replace_global = true) { return g.call("regex_replace", {input, pattern, rewrite, replace_global}); }
inline Output relu(const Scope& g, Argument features) { return g.call("relu", {features}); }
inline Output relu6(const Scope& g, Argument features) { return g.call("relu6", {features}); }
inline Output reshape(const Scope& g, Argument tensor, Argument shape) { return g.call("reshape", {tensor, shape}); }
inline Output resize_area(const Scope& g, Argument images, Argument size, bool align_corners = false) { return g.call("resize_area", {images, size, align_corners}); }
inline Output resize_bicubic(const Scope& g, Argument images, Argument size, bool align_corners = false, bool half_pixel_centers = false) { return g.call("resize_bicubic", {images, size, align_corners, half_pixel_centers}); }
inline Output resize_bilinear(const Scope& g, Argument images, Argument size, bool align_corners = false, bool half_pixel_centers = false) { return g.call("resize_bilinear", {images, size, align_corners, half_pixel_centers}); }
inline Output resize_nearest_neighbor(const Scope& g, Argument images, Argument size, bool align_corners = false, bool half_pixel_centers = false) { return g.call("resize_nearest_neighbor", {images, size, align_corners, half_pixel_centers}); }
inline Output reverse(const Scope& g, Argument tensor, Argument axis) { return g.call("reverse", {tensor, axis}); }
inline Output reverse_sequence(const Scope& g, Argument input, Argument seq_lengths, int64_t seq_dim, int64_t batch_dim = 0) { return g.call("reverse_sequence", {input, seq_lengths, seq_dim, batch_dim}); }
inline Output rfft(const Scope& g, Argument input, Argument fft_length, DType dtype = DType::Complex64) { return g.call("rfft", {input, fft_length, dtype}); }
inline Output rfft2d(const Scope& g, Argument input, Argument fft_length, DType dtype = DType::Complex64) { return g.call("rfft2d", {input, fft_length, dtype}); }
inline Output rfft3d(const Scope& g, Argument input, Argument fft_length, DType dtype = DType::Complex64) { return g.call("rfft3d", {input, fft_length, dtype}); }
inline Output rgb_to_hsv(const Scope& g, Argument images) { return g.call("rgb_to_hsv", {images}); }
inline Output right_shift(const Scope& g, Argument x, Argument y) { return g.call("right_shift", {x, y}); }
inline Output rint(const Scope& g, Argument x) { return g.call("rint", {x}); }
inline Output roll(const Scope& g, Argument input, Argument shift, Argument axis) { return g.call("roll", {input, shift, axis}); }
inline Output round(const Scope& g, Argument x) { return g.call("round", {x}); }
inline Output rsqrt(const Scope& g, Argument x) { return g.call("rsqrt", {x}); }
inline Output scale_and_translate(const Scope& g, Argument images, Argument size, Argument scale, Argument translation, const std::string& kernel_type = "lanczos3", bool antialias = true) { return g.call("scale_and_translate", {images, size, scale, translation, kernel_type, antialias}); }
inline Output scatter_add(const Scope& g, Argument ref, Argument indices, Argument updates, bool use_locking = false) { return g.call("scatter_add", {ref, indices, updates, use_locking}); }
inline Output scatter_div(const Scope& g, Argument ref, Argument indices, Argument updates, bool use_locking = false) { return g.call("scatter_div", {ref, indices, updates, use_locking}); }
inline Output scatter_max(const Scope& g, Argument ref, Argument indices, Argument updates, bool use_locking = false) { return g.call("scatter_max", {ref, indices, updates, use_locking}); }
inline Output scatter_min(const Scope& g, Argument ref, Argument indices, Argument updates, bool use_locking = false) { return g.call("scatter_min", {ref, indices, updates, use_locking}); }
inline Output scatter_mul(const Scope& g, Argument ref, Argument indices, Argument updates, bool use_locking = false) { return g.call("scatter_mul", {ref, indices, updates, use_locking}); }
inline Output scatter_nd(const Scope& g, Argument indices, Argument updates, Argument shape) { return g.call("scatter_nd", {indices, updates, shape}); }
inline Output scatter_sub(const Scope& g, Argument ref, Argument indices, Argument updates, bool use_locking = false) { return g.call("scatter_sub", {ref, indices, updates, use_locking}); }
inline Output scatter_update(const Scope& g, Argument ref, Argument indices, Argument updates, bool use_locking = true) { return g.call("scatter_update", {ref, indices, updates, use_locking}); }
inline Output segment_max(const Scope& g, Argument data, Argument segment_ids) { return g.call("segment_max", {data, segment_ids}); }
inline Output segment_mean(const Scope& g, Argument data, Argument segment_ids) { return g.call("segment_mean", {data, segment_ids}); }
inline Output segment_min(const Scope& g, Argument data, Argument segment_ids) { return g.call("segment_min", {data, segment_ids}); }
inline Output segment_prod(const Scope& g, Argument data, Argument segment_ids) { return g.call("segment_prod", {data, segment_ids}); }
inline Output segment_sum(const Scope& g, Argument data, Argument segment_ids) { return g.call("segment_sum", {data, segment_ids}); }
inline Output self_adjoint_eig(const Scope& g, Argument input, bool compute_v = true) { return g.call("self_adjoint_eig", {input, compute_v}); }
inline Output selu(const Scope& g, Argument features) { return g.call("selu", {features}); }
inline Output serialize_tensor(const Scope& g, Argument tensor) { return g.call("serialize_tensor", {tensor}); }
inline Output shape(const Scope& g, Argument input, DType out_type = i32) { return g.call("shape", {input, out_type}); }
inline std::vector<Output> shape_n(const Scope& g, std::vector<Output> input, DType out_type = i32) { return g.outputs(g.call("shape_n", {std::move(input), out_type})); }
inline Output sigmoid(const Scope& g, Argument x) { return g.call("sigmoid", {x}); }
inline Output sign(const Scope& g, Argument x) { return g.call("sign", {x}); }
inline Output sin(const Scope& g, Argument x) { return g.call("sin", {x}); }
inline Output sinh(const Scope& g, Argument x) { return g.call("sinh", {x}); }
inline Output size(const Scope& g, Argument input, DType out_type = i32) { return g.call("size", {input, out_type}); }
inline Output slice(const Scope& g, Argument input, Argument begin, Argument size) { return g.call("slice", {input, begin, size}); }
inline Output softmax(const Scope& g, Argument logits) { return g.call("softmax", {logits}); }
inline Output softmax_cross_entropy_with_logits(const Scope& g, Argument logits, Argument labels) { return g.call("softmax_cross_entropy_with_logits", {logits, labels}); }
inline Output softplus(const Scope& g, Argument features) { return g.call("softplus", {features}); }
inline Output softsign(const Scope& g, Argument features) { return g.call("softsign", {features}); }
inline Output space_to_batch_nd(const Scope& g, Argument input, Argument block_shape, Argument paddings) { return g.call("space_to_batch_nd", {input, block_shape, paddings}); }
inline Output space_to_depth(const Scope& g, Argument input, int64_t block_size, const std::string& data_format = "NHWC") { return g.call("space_to_depth", {input, block_size, data_format}); }
inline Output sparse_dense_cwise_add(const Scope& g, Argument sp_indices, Argument sp_values, Argument sp_shape, Argument dense) { return g.call("sparse_dense_cwise_add", {sp_indices, sp_values, sp_shape, dense}); }
inline Output sparse_dense_cwise_div(const Scope& g, Argument sp_indices, Argument sp_values, Argument sp_shape, Argument dense) { return g.call("sparse_dense_cwise_div", {sp_indices, sp_values, sp_shape, dense}); }
inline Output sparse_dense_cwise_mul(const Scope& g, Argument sp_indices, Argument sp_values, Argument sp_shape, Argument dense) { return g.call("sparse_dense_cwise_mul", {sp_indices, sp_values, sp_shape, dense}); }
inline Output sparse_reduce_max(const Scope& g, Argument input_indices, Argument input_values, Argument input_shape, Argument axis, bool keep_dims = false) { return g.call("sparse_reduce_max", {input_indices, input_values, input_shape, axis, keep_dims}); }
inline Output sparse_reduce_sum(const Scope& g, Argument input_indices, Argument input_values, Argument input_shape, Argument axis, bool keep_dims = false) { return g.call("sparse_reduce_sum", {input_indices, input_values, input_shape, axis, keep_dims}); }
inline Output sparse_segment_mean(const Scope& g, Argument data, Argument indices, Argument segment_ids) { return g.call("sparse_segment_mean", {data, indices, segment_ids}); }
inline Output sparse_segment_mean_with_num_segments(const Scope& g, Argument data, Argument indices, Argument segment_ids, Argument num_segments) { return g.call("sparse_segment_mean_with_num_segments", {data, indices, segment_ids, num_segments}); }
inline Output sparse_segment_sqrt_n(const Scope& g, Argument data, Argument indices, Argument segment_ids) { return g.call("sparse_segment_sqrt_n", {data, indices, segment_ids}); }
inline Output sparse_segment_sqrt_n_with_num_segments(const Scope& g, Argument data, Argument indices, Argument segment_ids, Argument num_segments) { return g.call("sparse_segment_sqrt_n_with_num_segments", {data, indices, segment_ids, num_segments}); }
inline Output sparse_segment_sum(const Scope& g, Argument data, Argument indices, Argument segment_ids) { return g.call("sparse_segment_sum", {data, indices, segment_ids}); }
inline Output sparse_segment_sum_with_num_segments(const Scope& g, Argument data, Argument indices, Argument segment_ids, Argument num_segments) { return g.call("sparse_segment_sum_with_num_segments", {data, indices, segment_ids, num_segments}); }
inline Output sparse_softmax(const Scope& g, Argument sp_indices, Argument sp_values, Argument sp_shape) { return g.call("sparse_softmax", {sp_indices, sp_values, sp_shape}); }
inline Output sparse_softmax_cross_entropy_with_logits(const Scope& g, Argument logits, Argument labels) { return g.call("sparse_softmax_cross_entropy_with_logits", {logits, labels}); }
inline Output sparse_tensor_dense_add(const Scope& g, Argument a_indices, Argument a_values, Argument a_shape, Argument b) { return g.call("sparse_tensor_dense_add", {a_indices, a_values, a_shape, b}); }
inline Output sparse_tensor_dense_matmul(const Scope& g, Argument a_indices, Argument a_values, Argument a_shape, Argument b, bool adjoint_a = false, bool adjoint_b = false) { return g.call("sparse_tensor_dense_matmul", {a_indices, a_values, a_shape, b, adjoint_a, adjoint_b}); }
inline Output sparse_to_dense(const Scope& g, Argument sparse_indices, Argument output_shape, Argument sparse_values, Argument default_value, bool validate_indices = true) { return g.call("sparse_to_dense", {sparse_indices, output_shape, sparse_values, default_value, validate_indices}); }
inline std::vector<Output> split(const Scope& g, Argument value, int64_t num_split, Argument axis = 0) { return g.outputs(g.call("split", {value, num_split, axis})); }
inline std::vector<Output> split_v(const Scope& g, Argument value, Argument size_splits, int64_t num_split, Argument axis = 0) { return g.outputs(g.call("split_v", {value, size_splits, num_split, axis})); }
inline Output sqrt(const Scope& g, Argument x) { return g.call("sqrt", {x}); }
inline Output square(const Scope& g, Argument x) { return g.call("square", {x}); }
inline Output squared_difference(const Scope& g, Argument x, Argument y) { return g.call("squared_difference", {x, y}); }
inline Output squeeze(const Scope& g, Argument input, const std::vector<int64_t>& axis = {}) { return g.call("squeeze", {input, axis}); }
inline Output stack(const Scope& g, std::vector<Output> values, int64_t axis = 0) { return g.call("stack", {std::move(values), axis}); }
inline Output stateless_multinomial(const Scope& g, Argument logits, Argument num_samples, Argument seed, DType output_dtype = i64) { return g.call("stateless_multinomial", {logits, num_samples, seed, output_dtype}); }
inline Output stateless_random_normal(const Scope& g, Argument shape, Argument seed, DType dtype = f32) { return g.call("stateless_random_normal", {shape, seed, dtype}); }
inline Output stateless_random_uniform(const Scope& g, Argument shape, Argument seed, DType dtype = f32) { return g.call("stateless_random_uniform", {shape, seed, dtype}); }
inline Output stateless_random_uniform_full_int(const Scope& g, Argument shape, Argument seed, DType dtype = DType::UInt64) { return g.call("stateless_random_uniform_full_int", {shape, seed, dtype}); }
inline Output stateless_random_uniform_int(const Scope& g, Argument shape, Argument seed, Argument minval, Argument maxval) { return g.call("stateless_random_uniform_int", {shape, seed, minval, maxval}); }
inline Output stateless_truncated_normal(const Scope& g, Argument shape, Argument seed, DType dtype = f32) { return g.call("stateless_truncated_normal", {shape, seed, dtype}); }
inline Output stop_gradient(const Scope& g, Argument input) { return g.call("stop_gradient", {input}); }
inline Output strided_slice(const Scope& g, Argument input, Argument begin, Argument end, Argument strides, int64_t begin_mask = 0, int64_t end_mask = 0, int64_t ellipsis_mask = 0, int64_t new_axis_mask = 0, int64_t shrink_axis_mask = 0) { return g.call("strided_slice", {input, begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask}); }
inline Output string_format(const Scope& g, std::vector<Output> inputs, const std::string& text = "%s", const std::string& placeholder = "%s", int64_t summarize = 3) { return g.call("string_format", {std::move(inputs), text, placeholder, summarize}); }
inline Output string_join(const Scope& g, std::vector<Output> inputs, const std::string& separator = {}) { return g.call("string_join", {std::move(inputs), separator}); }
inline Output string_length(const Scope& g, Argument input, const std::string& unit = "BYTE") { return g.call("string_length", {input, unit}); }
inline Output string_lower(const Scope& g, Argument input, const std::string& encoding = {}) { return g.call("string_lower", {input, encoding}); }
inline Output string_strip(const Scope& g, Argument input) { return g.call("string_strip", {input}); }
inline Output string_to_hash_bucket(const Scope& g, Argument string_tensor, int64_t num_buckets) { return g.call("string_to_hash_bucket", {string_tensor, num_buckets}); }
inline Output string_to_hash_bucket_fast(const Scope& g, Argument input, int64_t num_buckets) { return g.call("string_to_hash_bucket_fast", {input, num_buckets}); }
inline Output string_to_hash_bucket_strong(const Scope& g, Argument input, int64_t num_buckets, const std::vector<int64_t>& key) { return g.call("string_to_hash_bucket_strong", {input, num_buckets, key}); }
inline Output string_to_number(const Scope& g, Argument string_tensor, DType out_type = f32) { return g.call("string_to_number", {string_tensor, out_type}); }
inline Output string_upper(const Scope& g, Argument input, const std::string& encoding = {}) { return g.call("string_upper", {input, encoding}); }
inline Output sub(const Scope& g, Argument x, Argument y) { return g.call("sub", {x, y}); }
inline Output substr(const Scope& g, Argument input, Argument pos, Argument len, const std::string& unit = "BYTE") { return g.call("substr", {input, pos, len, unit}); }
inline Output sum(const Scope& g, Argument input) { return g.call("sum", {input}); }
inline Output sum(const Scope& g, Argument input, Argument axis, bool keep_dims = false) { return g.call("sum", {input, axis, keep_dims}); }
inline Output svd(const Scope& g, Argument input, bool compute_uv = true, bool full_matrices = false) { return g.call("svd", {input, compute_uv, full_matrices}); }
inline Output tan(const Scope& g, Argument x) { return g.call("tan", {x}); }
inline Output tanh(const Scope& g, Argument x) { return g.call("tanh", {x}); }
inline Output tensor_scatter_add(const Scope& g, Argument tensor, Argument indices, Argument updates) { return g.call("tensor_scatter_add", {tensor, indices, updates}); }
inline Output tensor_scatter_max(const Scope& g, Argument tensor, Argument indices, Argument updates) { return g.call("tensor_scatter_max", {tensor, indices, updates}); }
inline Output tensor_scatter_min(const Scope& g, Argument tensor, Argument indices, Argument updates) { return g.call("tensor_scatter_min", {tensor, indices, updates}); }
inline Output tensor_scatter_sub(const Scope& g, Argument tensor, Argument indices, Argument updates) { return g.call("tensor_scatter_sub", {tensor, indices, updates}); }
inline Output tensor_scatter_update(const Scope& g, Argument tensor, Argument indices, Argument updates) { return g.call("tensor_scatter_update", {tensor, indices, updates}); }
inline Output thread_unsafe_unigram_candidate_sampler(const Scope& g, Argument true_classes, int64_t num_true, int64_t num_sampled, bool unique, int64_t range_max, int64_t seed = 0, int64_t seed2 = 0) { return g.call("thread_unsafe_unigram_candidate_sampler", {true_classes, num_true, num_sampled, unique, range_max, seed, seed2}); }
inline Output tile(const Scope& g, Argument input, Argument multiples) { return g.call("tile", {input, multiples}); }
inline Output top_k(const Scope& g, Argument input, Argument k, bool sorted = true) { return g.call("top_k", {input, k, sorted}); }
inline Output transpose(const Scope& g, Argument a, Argument perm) { return g.call("transpose", {a, perm}); }
inline Output tridiagonal_mat_mul(const Scope& g, Argument superdiag, Argument maindiag, Argument subdiag, Argument rhs) { return g.call("tridiagonal_mat_mul", {superdiag, maindiag, subdiag, rhs}); }
inline Output tridiagonal_solve(const Scope& g, Argument diagonals, Argument rhs, bool partial_pivoting = true) { return g.call("tridiagonal_solve", {diagonals, rhs, partial_pivoting}); }
inline Output truncate_div(const Scope& g, Argument x, Argument y) { return g.call("truncate_div", {x, y}); }
inline Output truncate_mod(const Scope& g, Argument x, Argument y) { return g.call("truncate_mod", {x, y}); }
inline Output truncated_normal(const Scope& g, Argument shape, DType dtype = f32, int64_t seed = 0, int64_t seed2 = 0) { return g.call("truncated_normal", {shape, dtype, seed, seed2}); }
inline Output unicode_script(const Scope& g, Argument input) { return g.call("unicode_script", {input}); }
inline Output unicode_transcode(const Scope& g, Argument input, const std::string& input_encoding, const std::string& output_encoding, const std::string& errors = "replace", int64_t replacement_char = 65533, bool replace_control_characters = false) { return g.call("unicode_transcode", {input, input_encoding, output_encoding, errors, replacement_char, replace_control_characters}); }
inline Output uniform_candidate_sampler(const Scope& g, Argument true_classes, int64_t num_true, int64_t num_sampled, bool unique, int64_t range_max, int64_t seed = 0, int64_t seed2 = 0) { return g.call("uniform_candidate_sampler", {true_classes, num_true, num_sampled, unique, range_max, seed, seed2}); }
inline Output unique(const Scope& g, Argument x, DType out_idx = i32) { return g.call("unique", {x, out_idx}); }
inline Output unravel_index(const Scope& g, Argument indices, Argument dims) { return g.call("unravel_index", {indices, dims}); }
inline Output unsorted_segment_join(const Scope& g, Argument inputs, Argument segment_ids, Argument num_segments, const std::string& separator = {}) { return g.call("unsorted_segment_join", {inputs, segment_ids, num_segments, separator}); }
inline Output unsorted_segment_max(const Scope& g, Argument data, Argument segment_ids, Argument num_segments) { return g.call("unsorted_segment_max", {data, segment_ids, num_segments}); }
inline Output unsorted_segment_min(const Scope& g, Argument data, Argument segment_ids, Argument num_segments) { return g.call("unsorted_segment_min", {data, segment_ids, num_segments}); }
inline Output unsorted_segment_prod(const Scope& g, Argument data, Argument segment_ids, Argument num_segments) { return g.call("unsorted_segment_prod", {data, segment_ids, num_segments}); }
inline Output unsorted_segment_sum(const Scope& g, Argument data, Argument segment_ids, Argument num_segments) { return g.call("unsorted_segment_sum", {data, segment_ids, num_segments}); }
inline std::vector<Output> unstack(const Scope& g, Argument value, int64_t num, int64_t axis = 0) { return g.outputs(g.call("unstack", {value, num, axis})); }
inline Output upper_bound(const Scope& g, Argument sorted_inputs, Argument values, DType out_type = i32) { return g.call("upper_bound", {sorted_inputs, values, out_type}); }
inline Output where(const Scope& g, Argument condition, Argument x, Argument y) { return g.call("where", {condition, x, y}); }
inline Output where_v2(const Scope& g, Argument condition, Argument x, Argument y) { return g.call("where_v2", {condition, x, y}); }
inline Output write_file(const Scope& g, Argument filename, Argument contents) { return g.call("write_file", {filename, contents}); }
inline Output xdivy(const Scope& g, Argument x, Argument y) { return g.call("xdivy", {x, y}); }
inline Output xlog1py(const Scope& g, Argument x, Argument y) { return g.call("xlog1py", {x, y}); }
inline Output xlogy(const Scope& g, Argument x, Argument y) { return g.call("xlogy", {x, y}); }
inline Output zeros(const Scope& g, Argument shape, DType dtype = f32, Argument value = 0) { return g.call("zeros", {shape, dtype, value}); }
inline Output zeros_like(const Scope& g, Argument x) { return g.call("zeros_like", {x}); }
inline Output zeta(const Scope& g, Argument x, Argument q) { return g.call("zeta", {x, q}); }
// clang-format on
// NOLINTEND(performance-unnecessary-value-param)

}  // namespace troupe
#pragma GCC visibility pop
