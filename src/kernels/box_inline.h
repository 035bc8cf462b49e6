// Where RoIAlign's points lie, and whether two boxes overlap, for kernels and plain C++ alike: to
// the bit the same on the CPU and on GPUs.
#pragma once

#include <cmath>

#ifdef __CUDACC__
#define LOCKSTEP_HOST_DEVICE __host__ __device__
#else
#define LOCKSTEP_HOST_DEVICE
#endif

namespace lockstep {

// a × b, rounded before anything is added to it: compilers for GPUs would round once for both.
LOCKSTEP_HOST_DEVICE inline float rounded_product(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}
LOCKSTEP_HOST_DEVICE inline double rounded_product(double a, double b) { return a * b; }

// A box along one axis, in cells of the features.
template <class Real>
struct RoiAxis {
  Real start, bin;  // of a bin: its length
  int points;       // of a bin; 0: the box has none
};

// As many as float tells apart in a bin that reaches over a whole map of features.
constexpr int roi_align_most_points = 1 << 20;

// low, high: the box in pixels; not finite: without points.
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

// What a point is interpolated from: two neighbours among the cells, and their weights. Those of a
// point beyond the cells by more than one are 0.
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

// Of a bin, the points [first, last) among which all are that lie from `from` to `to`. Boxes far
// larger than the features have most of their points outside.
struct RoiRange {
  int first, last;
};
template <class Real>
LOCKSTEP_HOST_DEVICE inline RoiRange roi_range(const RoiAxis<Real>& axis, int bin, Real from,
                                               Real to) {
  if (axis.points <= 8 || !(axis.bin > 1)) return {0, axis.points};
  const Real step = axis.bin / Real(axis.points), most = Real(axis.points);
  const Real begin = axis.start + Real(bin) * axis.bin;
  // A point's place is the sum of two numbers that may be far larger and are rounded.
  const Real larger = std::fabs(axis.start) + std::fabs(begin);
  const Real slack = 2 + larger * Real(1.0 / (1 << 20)) / step;
  const Real first = (from - begin) / step - slack, last = (to - begin) / step + slack;
  return {first > 0 ? static_cast<int>(first < most ? first : most) : 0,
          last > 0 ? static_cast<int>(last < most ? last : most) : 0};
}

// Corners, as a float4 of CUDA has them.
struct alignas(16) Corners {
  float x1, y1, x2, y2;
};

LOCKSTEP_HOST_DEVICE inline float area_of(const Corners& box) {
  return rounded_product(box.x2 - box.x1, box.y2 - box.y1);
}

// Whether intersection over union is above the threshold; NaN is not.
LOCKSTEP_HOST_DEVICE inline bool overlap(const Corners& a, const Corners& b, float threshold) {
  const float width = (a.x2 < b.x2 ? a.x2 : b.x2) - (a.x1 > b.x1 ? a.x1 : b.x1),
              height = (a.y2 < b.y2 ? a.y2 : b.y2) - (a.y1 > b.y1 ? a.y1 : b.y1);
  const float common = rounded_product(width > 0 ? width : 0.0F, height > 0 ? height : 0.0F);
  if (common == 0 && threshold >= 0) return false;  // as below, without a division
  return common / (area_of(a) + area_of(b) - common) > threshold;
}

}  // namespace lockstep
