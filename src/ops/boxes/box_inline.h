// Computes with boxes in kernels and plain C++: RoIAlign's points, coding relative to anchors, and
// overlaps. Results are bitwise the same on the CPU and on GPUs.
#pragma once

#include <cmath>

#ifdef __CUDACC__
#define LOCKSTEP_HOST_DEVICE __host__ __device__
#else
#define LOCKSTEP_HOST_DEVICE
#endif

namespace lockstep {

// Returns a × b, rounded. A plain a × b + c could be fused on GPUs, and then be rounded only once.
LOCKSTEP_HOST_DEVICE inline float rounded_product(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}
LOCKSTEP_HOST_DEVICE inline double rounded_product(double a, double b) { return a * b; }

// One axis of a box in RoIAlign, in cells of the feature map.
template <class Real>
struct RoiAxis {
  Real start, bin;  // bin: the length of a bin
  int points;       // number of points of a bin; 0 if the box has no points
};

// The largest number of points of a bin along an axis. f32 could not distinguish more points in a
// bin that covers a whole feature map.
constexpr int roi_align_most_points = 1 << 20;

// Computes one axis of a box with the bounds `low` and `high` in pixels. A box that is not finite
// has no points.
template <class Real>
LOCKSTEP_HOST_DEVICE inline RoiAxis<Real> roi_axis(float low, float high, Real scale, int bins,
                                                   int sampling, bool aligned) {
  const Real shift = aligned ? Real(0.5) : Real(0), most = Real(1e30);
  const Real start = rounded_product(Real(low), scale) - shift;
  Real size = rounded_product(Real(high), scale) - shift - start;
  if (!aligned && size < 1) size = 1;
  const bool finite = start >= -most && start <= most && size >= -most && size <= most;
  RoiAxis<Real> axis{finite ? start : Real(0), finite ? size / Real(bins) : Real(0), 0};
  if (!finite) return axis;
  if (sampling > 0)
    axis.points = sampling;
  else if (axis.bin >= Real(roi_align_most_points))
    axis.points = roi_align_most_points;
  else if (axis.bin > 0)
    axis.points = static_cast<int>(std::ceil(axis.bin));
  return axis;
}

// A point at which RoIAlign samples lies between the neighbouring cells `low` and `high` of an
// axis. of_low and of_high are their weights in the interpolation. Both weights are 0 if the point
// is more than one cell outside of the feature map.
template <class Real>
struct RoiPoint {
  int low, high;
  Real of_low, of_high;
};

template <class Real>
LOCKSTEP_HOST_DEVICE inline RoiPoint<Real> roi_point(const RoiAxis<Real>& axis, int bin, int point,
                                                     int cells) {
  const Real begin = axis.start + rounded_product(Real(bin), axis.bin);
  const Real at = begin + rounded_product(Real(point) + Real(0.5), axis.bin) / Real(axis.points);
  if (!(at >= -1 && at <= Real(cells))) return {0, 0, 0, 0};
  const Real inside = at > 0 ? at : Real(0);
  const int low = static_cast<int>(inside);
  if (low >= cells - 1) return {cells - 1, cells - 1, 1, 0};
  const Real of_high = inside - Real(low);
  return {low, low + 1, 1 - of_high, of_high};
}

// A range [first, last) of a bin's points, which contains all points between `from` and `to`. If a
// box is far larger than the feature map, most of its points are outside and can be skipped.
struct RoiRange {
  int first, last;
};
template <class Real>
LOCKSTEP_HOST_DEVICE inline RoiRange roi_range(const RoiAxis<Real>& axis, int bin, Real from,
                                               Real to) {
  if (axis.points <= 8 || !(axis.bin > 1)) return {0, axis.points};
  const Real step = axis.bin / Real(axis.points), most = Real(axis.points);
  const Real begin = axis.start + Real(bin) * axis.bin;
  // The position of a point is a sum of two rounded numbers, which may be far larger than the
  // position itself.
  const Real larger = std::fabs(axis.start) + std::fabs(begin);
  const Real slack = 2 + larger * Real(1.0 / (1 << 20)) / step;
  const Real first = (from - begin) / step - slack, last = (to - begin) / step + slack;
  return {first > 0 ? static_cast<int>(first < most ? first : most) : 0,
          last > 0 ? static_cast<int>(last < most ? last : most) : 0};
}

// The corners of a box, in the layout of CUDA's float4.
struct alignas(16) Corners {
  float x1, y1, x2, y2;
};

LOCKSTEP_HOST_DEVICE inline float area_of(const Corners& box) {
  return rounded_product(box.x2 - box.x1, box.y2 - box.y1);
}

// How boxes are encoded relative to anchors (BoxCoding in boxes.h). x, y, width and height are the
// weights of the four numbers. most_log_size limits the logarithm of a size when it is decoded.
struct InlineCoding {
  float x = 1, y = 1, width = 1, height = 1, most_log_size = 0;
};

// The formulas of encode_boxes and decode_boxes (boxes.h). NaN stays NaN.
LOCKSTEP_HOST_DEVICE inline Corners encoded(const Corners& box, const Corners& anchor,
                                            const InlineCoding& coding) {
  const float box_width = box.x2 - box.x1, box_height = box.y2 - box.y1;
  const float width = anchor.x2 - anchor.x1, height = anchor.y2 - anchor.y1;
  const float right = (box.x1 + 0.5F * box_width) - (anchor.x1 + 0.5F * width),
              below = (box.y1 + 0.5F * box_height) - (anchor.y1 + 0.5F * height);
  return {coding.x * right / width, coding.y * below / height,
          coding.width * std::log(box_width / width),
          coding.height * std::log(box_height / height)};
}
LOCKSTEP_HOST_DEVICE inline Corners decoded(const Corners& deltas, const Corners& anchor,
                                            const InlineCoding& coding) {
  const float width = anchor.x2 - anchor.x1, height = anchor.y2 - anchor.y1;
  const float x = rounded_product(deltas.x1 / coding.x, width) + (anchor.x1 + 0.5F * width),
              y = rounded_product(deltas.y1 / coding.y, height) + (anchor.y1 + 0.5F * height);
  const float of_width = deltas.x2 / coding.width, of_height = deltas.y2 / coding.height;
  const float most = coding.most_log_size;
  const float half_width =
      rounded_product(0.5F * std::exp(of_width > most ? most : of_width), width);
  const float half_height =
      rounded_product(0.5F * std::exp(of_height > most ? most : of_height), height);
  return {x - half_width, y - half_height, x + half_width, y + half_height};
}

// within() and clipped() limit a box to [0, width] × [0, height]. NaN stays NaN.
LOCKSTEP_HOST_DEVICE inline float within(float value, float most) {
  return value < 0 ? 0.0F : value > most ? most : value;
}
LOCKSTEP_HOST_DEVICE inline Corners clipped(const Corners& box, float height, float width) {
  return {within(box.x1, width), within(box.y1, height), within(box.x2, width),
          within(box.y2, height)};
}

// Whether the intersection over union of two boxes is above the threshold. The result is false for
// NaN.
LOCKSTEP_HOST_DEVICE inline bool overlap(const Corners& a, const Corners& b, float threshold) {
  const float width = (a.x2 < b.x2 ? a.x2 : b.x2) - (a.x1 > b.x1 ? a.x1 : b.x1),
              height = (a.y2 < b.y2 ? a.y2 : b.y2) - (a.y1 > b.y1 ? a.y1 : b.y1);
  const float common = rounded_product(width > 0 ? width : 0.0F, height > 0 ? height : 0.0F);
  if (common == 0 && threshold >= 0) return false;  // the same result as below, without a division
  return common / (area_of(a) + area_of(b) - common) > threshold;
}

}  // namespace lockstep
