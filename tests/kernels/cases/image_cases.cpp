// Samples of the ops that resize and crop images, and of those on their colours.
#include <cmath>

#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {
namespace {

const Attributes centers = {{"half_pixel_centers", true}};
const Attributes corners = {{"align_corners", true}};

void add_bad_images(OpCases& cases, const std::string& op, const std::vector<Tensor>& more) {
  const auto with = [&](const Tensor& first) {
    std::vector<Tensor> inputs = {first};
    inputs.insert(inputs.end(), more.begin(), more.end());
    return inputs;
  };
  cases.bad(op, with(image(Shape{3, 3, 1})), {}, "");
  cases.bad(op, with(floats({}, {1})), {}, "");
}

void add_resizes(OpCases& cases) {
  for (const char* op : {"ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic", "ResizeArea"}) {
    const bool area = std::string(op) == "ResizeArea";
    std::vector<Attributes> grids = {{}, corners};
    if (!area) grids.push_back(centers);
    for (const Attributes& grid : grids) {
      cases.good_in_every_type(op, {random_doubles(Shape{2, 4, 5, 3}, 1, 9), ints({7, 3})}, grid);
      cases.good(op, {image(Shape{1, 3, 3, 1}, f64), ints({3, 3})}, grid);
      cases.good(op, {image(Shape{1, 1, 1, 2}, f64), ints({3, 2})}, grid);
      cases.good(op, {image(Shape{1, 5, 7, 5}, f64), ints({1, 1})}, grid);
      cases.good(op, {image(Shape{0, 5, 7, 5}), ints({2, 1})}, grid);
      cases.good(op, {image(Shape{3, 99, 97, 3}), ints({101, 64})}, grid);
      cases.good(op, {image(Shape{3, 99, 97, 3}, DType::UInt8), ints({41, 102})}, grid);
      cases.good(op, {image(Shape{2, 65, 97, 4}), ints({40, 33})}, grid);
    }
    add_bad_images(cases, op, {ints({2, 2})});
    cases.bad(op, {image(Shape{1, 0, 3, 1}), ints({2, 2})}, {}, "images of shape [1,0,3,1]");
    cases.bad(op, {image(Shape{1, 3, 3, 0}), ints({2, 2})}, {}, "images of shape [1,3,3,0]");
    cases.bad(op, {image(Shape{1, 3, 3, 1}), ints({0, 2})}, {}, "size is [0,2]");
    cases.bad(op, {image(Shape{1, 3, 3, 1}), ints({2, -7})}, {}, "-7]");
    cases.bad(op, {image(Shape{1, 3, 3, 1}), ints({2})}, {}, "[2]");
    Attributes both = corners;
    both.set("half_pixel_centers", true);
    if (!area) cases.bad(op, {image(Shape{1, 3, 3, 1}), ints({2, 2})}, both, "exclude each other");
  }
}

void add_resize_gradients(OpCases& cases) {
  for (const char* op : {"ResizeBilinearGrad", "ResizeBicubicGrad"}) {
    for (const Attributes& grid : {Attributes{}, corners, centers}) {
      cases.good_in_every_type(op, {image(Shape{2, 3, 7, 3}), random_doubles(Shape{2, 4, 5, 3}, 1, 9)}, grid);
      cases.good(op, {image(Shape{3, 50, 64, 3}), image(Shape{3, 99, 97, 3})}, grid);
      cases.good(op, {image(Shape{0, 2, 2, 1}), image(Shape{0, 3, 3, 1})}, grid);
    }
    add_bad_images(cases, op, {image(Shape{1, 3, 3, 1})});
    cases.bad(op, {image(Shape{1, 2, 2, 1}), image(Shape{3, 3, 1})}, {}, "");
    cases.bad(op, {image(Shape{1, 0, 2, 1}), image(Shape{1, 3, 3, 1})}, {}, "grads of shape [1,0,2,1]");
    cases.bad(op, {image(Shape{2, 2, 2, 1}), image(Shape{1, 3, 3, 1})}, {}, "one batch size");
  }
  const char* const op = "ResizeNearestNeighborGrad";
  for (const Attributes& grid : {Attributes{}, corners, centers}) {
    cases.good_in_every_type(op, {random_doubles(Shape{2, 3, 7, 3}, 1, 9), ints({4, 5})}, grid);
    cases.good(op, {image(Shape{3, 50, 64, 3}), ints({99, 97})}, grid);
    cases.good(op, {image(Shape{3, 50, 64, 1}, DType::Half), ints({20, 97})}, grid);
    cases.good(op, {image(Shape{0, 2, 2, 1}), ints({3, 3})}, grid);
  }
  add_bad_images(cases, op, {ints({3, 3})});
  cases.bad(op, {image(Shape{1, 2, 2, 1}), ints({3, 0})}, {}, "size is [3,0]");
}

void add_scales(OpCases& cases) {
  const std::string op = "ScaleAndTranslate", gradient = op + "Grad";
  const Tensor scale = floats({2}, {1.7F, 0.6F}), translation = floats({2}, {-0.4F, 0.3F});
  for (const char* kernel :
       {"lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "KeysCubic", "mitchellcubic"})
    for (const bool antialias : {true, false}) {
      const Attributes attrs = {{"kernel_type", std::string(kernel)}, {"antialias", antialias}};
      cases.good(op, {random_doubles(Shape{2, 4, 5, 3}, 1, 9), ints({7, 3}), scale, translation}, attrs);
      cases.good(gradient, {image(Shape{2, 7, 3, 3}), image(Shape{2, 4, 5, 3}), scale, translation}, attrs);
    }
  cases.good_in_every_type(op, {random_doubles(Shape{2, 4, 5, 3}, 1, 9), ints({7, 3}), scale, translation});
  cases.good(op, {image(Shape{3, 99, 97, 3}), ints({41, 102}), scale, translation});
  cases.good(op, {image(Shape{0, 5, 7, 5}), ints({2, 1}), scale, translation});
  cases.good(op, {image(Shape{1, 5, 7, 1}), ints({9, 9}), floats({2}, {INFINITY, 1e-30F}), translation});
  cases.good(op, {image(Shape{1, 5, 7, 1}), ints({9, 9}), scale, floats({2}, {NAN, -INFINITY})});
  cases.good(gradient, {image(Shape{3, 41, 102, 3}), image(Shape{3, 99, 97, 3}), scale, translation});
  cases.good(gradient, {image(Shape{0, 2, 1, 5}), image(Shape{0, 5, 7, 5}), scale, translation});
  const Tensor small = image(Shape{1, 3, 3, 1}), two = ints({2, 2});
  for (const auto& [name, second] : {std::pair{op, two}, {gradient, small}}) {
    add_bad_images(cases, name, {second, scale, translation});
    cases.bad(name, {small, second, floats({2}, {1, 0}), translation}, {}, "expected two numbers above 0");
    cases.bad(name, {small, second, floats({2}, {NAN, 1}), translation}, {}, "expected two numbers above 0");
    cases.bad(name, {small, second, floats({3}, {1, 1, 1}), translation}, {}, "[3]");
    cases.bad(name, {small, second, scale, floats({}, {1})}, {}, "[]");
    cases.bad(name, {small, second, scale, translation}, {{"kernel_type", std::string("sinc")}},
              "kernel_type is 'sinc'");
  }
}

const Tensor boxes =
    floats(Shape{5, 4}, {0.11F, 0.21F, 0.83F,  0.91F, 0.02F, 0.03F, 0.98F, 0.97F, 0.91F, 0.83F,
                         0.17F, 0.26F, -0.43F, 0.31F, 0.59F, 1.71F, 2,     2,     3,     3});
const Tensor image_numbers = ints({1, 0, 0, 1, 0});

void add_crops(OpCases& cases) {
  const Tensor images = random_doubles(Shape{2, 4, 5, 3}, 1, 9), two = ints({2, 2});
  const Tensor one = floats(Shape{1, 4}, {0, 0, 1, 1}), first = ints({0}), small = image(Shape{1, 3, 3, 1});
  for (const char* method : {"bilinear", "nearest"}) {
    const Attributes attrs = {{"method", std::string(method)}},
                     typed = {{"method", std::string(method)}, {"T", f32}};
    Attributes outside = attrs;
    outside.set("extrapolation_value", 2.5F);
    cases.good_in_every_type("CropAndResizeGradImage",
                             {image(Shape{5, 3, 4, 3}), boxes, image_numbers, ints({2, 4, 5, 3})}, typed);
    cases.good("CropAndResizeGradImage",
               {image(Shape{5, 30, 47, 3}), boxes, image_numbers, ints({2, 40, 50, 3})}, typed);
    cases.good("CropAndResizeGradImage", {image(Shape{5, 1, 1, 3}), boxes, image_numbers, ints({2, 4, 5, 3})},
               typed);
    cases.good("CropAndResizeGradImage",
               {image(Shape{0, 2, 2, 1}), image(Shape{0, 4}), ints({}), ints({1, 3, 3, 1})}, typed);
    // The gradient by the boxes is that of "bilinear", and constant only where the image is a plane.
    const Tensor plane = attrs.get<std::string>("method") == "bilinear" ? counting(Shape{1, 6, 9, 3})
                                                                        : floats(Shape{1, 1, 1, 1}, {7});
    cases.good("CropAndResize",
               {converted(plane, DType::UInt8),
                floats(Shape{2, 4}, {0.113F, 0.213F, 0.71F, 0.907F, 0.813F, 0.903F, 0.312F, 0.123F}),
                ints({0, 0}), ints({201, 31})},
               outside);
  }
  cases.good_in_every_type("CropAndResize", {images, boxes, image_numbers, ints({3, 2})});
  cases.good("CropAndResize", {small, image(Shape{0, 4}), ints({}), two});
  cases.good("CropAndResizeGradBoxes",
             {image(Shape{5, 30, 47, 3}), image(Shape{2, 40, 50, 3}), boxes, image_numbers});
  cases.good_in_every_type("CropAndResizeGradBoxes",
                           {image(Shape{5, 3, 4, 3}), images, boxes, image_numbers});
  cases.good("CropAndResizeGradBoxes",
             {image(Shape{5, 1, 1, 3}), converted(images, f32), boxes, image_numbers});
  cases.good("CropAndResizeGradBoxes", {image(Shape{0, 2, 2, 1}), small, image(Shape{0, 4}), ints({})});

  const auto bad = [&](const Tensor& wrong_boxes, const Tensor& wrong_numbers, const char* text) {
    cases.bad("CropAndResize", {small, wrong_boxes, wrong_numbers, two}, {}, text);
    cases.bad("CropAndResizeGradBoxes", {image(Shape{1, 2, 2, 1}), small, wrong_boxes, wrong_numbers}, {},
              text);
    cases.bad("CropAndResizeGradImage",
              {image(Shape{1, 2, 2, 1}), wrong_boxes, wrong_numbers, ints({1, 3, 3, 1})}, {{"T", f32}}, text);
  };
  bad(one, ints({1}), "box_ind[0] = 1 is not in [0, 1)");
  bad(one, ints({-1}), "box_ind[0] = -1");
  bad(one, ints({0, 0}), "");
  bad(floats({4}, {0, 0, 1, 1}), first, "");
  bad(floats(Shape{1, 4}, {0, 0, NAN, 1}), first, "is not finite");
  add_bad_images(cases, "CropAndResize", {one, first, two});
  add_bad_images(cases, "CropAndResizeGradBoxes", {small, one, first});
  cases.bad("CropAndResize", {image(Shape{1, 0, 3, 1}), one, first, two}, {}, "image of shape [1,0,3,1]");
  cases.bad("CropAndResize", {small, one, first, ints({2, 0})}, {}, "crop_size is [2,0]");
  cases.bad("CropAndResizeGradImage", {image(Shape{2, 2, 1}), one, first, ints({1, 3, 3, 1})}, {{"T", f32}},
            "");
  cases.bad("CropAndResizeGradImage", {floats({}, {1}), one, first, ints({1, 3, 3, 1})}, {{"T", f32}}, "");
  cases.bad("CropAndResizeGradImage", {image(Shape{1, 2, 2, 1}), one, first, ints({1, 3, 3, 2})},
            {{"T", f32}}, "channels of the image [1,3,3,2]");
}

/// Turns, a shear that mirrors, a perspective that looks beyond the horizon, and numbers with which no position can be computed.
const Tensor turned = floats(Shape{2, 8}, {0.81F, 0.57F, -0.4F, -0.57F, 0.83F, 1.3F, 0, 0,  //
                                           -1.1F, 0.2F, 3.7F, 0.13F, 0.9F, -0.7F, 0.01F, 0.02F});
const Tensor horizon = floats(Shape{1, 8}, {0.7F, 0.1F, 0.2F, 0.3F, 0.9F, -3, -0.5F, 0.03F});
const Tensor nowhere = floats(Shape{1, 8}, {NAN, 0, 0, 0, 1e30F, 0, 0, 0});

void add_projections(OpCases& cases) {
  const Tensor images = random_doubles(Shape{2, 4, 5, 3}, 1, 9), size = ints({3, 7}), large = ints({40, 61});
  const Tensor small = image(Shape{1, 3, 3, 1}), fill = floats({}, {2.5F});
  for (const char* interpolation : {"NEAREST", "BILINEAR"})
    for (const char* mode : {"CONSTANT", "REFLECT", "WRAP", "NEAREST"}) {
      const Attributes attrs = {{"interpolation", std::string(interpolation)},
                                {"fill_mode", std::string(mode)}};
      cases.good_in_every_type("ImageProjectiveTransformV2", {images, turned, size}, attrs);
      cases.good("ImageProjectiveTransformV2", {image(Shape{2, 30, 47, 3}), horizon, large}, attrs);
      cases.good("ImageProjectiveTransformV2", {image(Shape{2, 1, 1, 2}), turned, size}, attrs);
      cases.good("ImageProjectiveTransformV3", {images, turned, size, fill}, attrs);
      cases.good("ImageProjectiveTransformV3", {images, nowhere, size, fill}, attrs);
      cases.good_in_every_type("ImageProjectiveTransformGrad",
                               {random_doubles(Shape{2, 3, 7, 2}, 1, 9), turned, ints({4, 5})}, attrs);
      cases.good("ImageProjectiveTransformGrad", {image(Shape{2, 40, 61, 3}), horizon, ints({30, 47})},
                 attrs);
    }
  const Attributes nearest = {{"interpolation", std::string("NEAREST")}};
  cases.good_in_every_type("ImageProjectiveTransformV3", {images, turned, size, fill}, nearest);
  cases.good("ImageProjectiveTransformV3", {converted(images, DType::UInt8), nowhere, size, floats({}, {-3})},
             nearest);
  for (const Shape& shape : {Shape{0, 3, 3, 1}, Shape{1, 3, 3, 0}, Shape{1, 3, 5, 1}}) {
    cases.good("ImageProjectiveTransformV2", {image(shape), horizon, size}, nearest);
    cases.good("ImageProjectiveTransformV3", {image(shape), horizon, size, fill}, nearest);
    cases.good("ImageProjectiveTransformGrad", {image(shape), horizon, size}, nearest);
  }

  const Tensor three = image(Shape{3, 8}), flat = image(Shape{8});
  for (const char* op : {"ImageProjectiveTransformV2", "ImageProjectiveTransformGrad"}) {
    cases.bad(op, {image(Shape{2, 3, 3, 1}), three, size}, nearest,
              "transforms of shape [3,8] must be [1,8]");
    cases.bad(op, {small, flat, size}, nearest, "");
    cases.bad(op, {fill, horizon, size}, nearest, "");
    cases.bad(op, {image(Shape{3, 3, 1}), horizon, size}, nearest, "");
    cases.bad(op, {image(Shape{1, 0, 3, 1}), horizon, size}, nearest, "of shape [1,0,3,1] must be");
    cases.bad(op, {small, horizon, ints({3, 0})}, nearest, "is [3,0]");
    cases.bad(op, {small, horizon, ints({3})}, nearest, "");
    cases.bad(op, {small, horizon, size}, {{"interpolation", std::string("CUBIC")}}, "CUBIC");
  }
  cases.bad("ImageProjectiveTransformV3", {fill, horizon, size, fill}, nearest, "");
  cases.bad("ImageProjectiveTransformV3", {small, horizon, size, floats({1}, {0})}, nearest,
            "fill_value of shape [1] must be a scalar");
}

void add_colors(OpCases& cases) {
  const Tensor colors = random_doubles(Shape{2, 3, 3}, 1, 9);
  for (const char* op : {"RGBToHSV", "HSVToRGB"}) {
    cases.good_in_every_type(op, {random_doubles(Shape{5, 3}, 0.1, 0.9)});
    cases.good(op, {random_doubles(Shape{7, 99, 3}, 0, 1)});
    cases.good(op, {floats(Shape{2, 3}, {0, 0, 0, 1, 1, 1})});
    cases.good(op, {image(Shape{0, 3})});
    cases.bad(op, {floats({}, {1})}, {}, "images of shape []");
    cases.bad(op, {image(Shape{3, 2})}, {}, "images of shape [3,2]");
  }
  for (const char* op : {"AdjustHue", "AdjustSaturation"}) {
    cases.good_in_every_type(op, {converted(colors, f32), floats({}, {0.3F})});
    cases.good(op, {image(Shape{50, 99, 3}), floats({}, {-0.3F})});
    for (const float amount : {-1e30F, 1e30F, 7.5F, -7.5F, HUGE_VALF, NAN})
      cases.good(op, {image(Shape{2, 1, 3}), floats({}, {amount})});
    cases.good(op, {image(Shape{0, 2, 3}), floats({}, {0.3F})});
    cases.bad(op, {image(Shape{2, 3}), floats({}, {0.3F})}, {}, "images of shape [2,3]");
    cases.bad(op, {image(Shape{2, 3, 4}), floats({}, {0.3F})}, {}, "images of shape [2,3,4]");
    cases.bad(op, {image(Shape{2, 3, 3}), floats({1}, {0.3F})}, {}, "[1]");
    cases.bad(op, {floats({}, {1}), floats({}, {0.3F})}, {}, "images of shape []");
  }
  for (const char* op : {"AdjustContrast", "AdjustContrastv2"}) {
    const bool second = std::string(op) == "AdjustContrastv2";
    const auto inputs = [&](const Tensor& images, const Tensor& factor) {
      return second ? std::vector<Tensor>{images, factor}
                    : std::vector<Tensor>{images, factor, floats({}, {2}), floats({}, {7})};
    };
    cases.good_in_every_type(op, inputs(converted(colors, f32), floats({}, {1.5F})));
    cases.good(op, inputs(image(Shape{5, 60, 71, 3}), floats({}, {1.5F})));
    cases.good(op, inputs(image(Shape{2, 3, 4, 100}), floats({}, {-1})));
    cases.good(op, inputs(image(Shape{2, 0, 4, 3}), floats({}, {-1})));
    cases.bad(op, inputs(image(Shape{2, 3}), floats({}, {1})), {}, "images of shape [2,3]");
    cases.bad(op, inputs(floats({}, {1}), floats({}, {1})), {}, "images of shape []");
    cases.bad(op, inputs(image(Shape{2, 3, 3}), floats({2}, {1, 2})), {}, "[2]");
  }
}

}  // namespace

void add_image_cases(OpCases& cases) {
  add_resizes(cases);
  add_resize_gradients(cases);
  add_scales(cases);
  add_crops(cases);
  add_projections(cases);
  add_colors(cases);
}

}  // namespace troupe::test
