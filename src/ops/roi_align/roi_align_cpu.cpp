// RoIAlign on the CPU. Interpolation and mean are products of weights along the two axes. So each
// box computes once how much of every row and every column of cells its bins take. Forward is
// divided among threads by boxes. Backward is divided by rows of cells, and adds the boxes to a row
// in their order.
#include "ops/boxes/box_inline.h"
#include "ops/roi_align/roi_align_paths.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <vector>

namespace lockstep {
namespace {

template <class Real>
struct Share {
  int cell;
  Real weight;
};

// The cells that each bin takes along one axis, with weights. Bin i has shares [begins[i], begins[i
// + 1]).
template <class Real>
struct AxisShares {
  std::vector<Share<Real>> shares;
  std::vector<std::size_t> begins;
  int lowest = 0, highest = -1;  // the first and last cell of all shares

  AxisShares(const RoiAxis<Real>& axis, int bins, int cells) : begins{0}, lowest(cells) {
    for (int bin = 0; bin < bins; ++bin) {
      const RoiRange range = roi_range(axis, bin, Real(-1), Real(cells));
      for (int i = range.first; i < range.last; ++i) {
        const RoiPoint<Real> point = roi_point(axis, bin, i, cells);
        add(point.low, point.of_low / Real(axis.points));
        add(point.high, point.of_high / Real(axis.points));
      }
      begins.push_back(shares.size());
    }
  }

  const Share<Real>* begin(int bin) const { return shares.data() + begins[bin]; }
  const Share<Real>* end(int bin) const { return shares.data() + begins[bin + 1]; }

 private:
  // Adds the weight to one of the bin's last two shares if that has the same cell. Neighbouring
  // points often share cells.
  void add(int cell, Real weight) {
    if (weight == 0) return;
    lowest = std::min(lowest, cell), highest = std::max(highest, cell);
    for (std::size_t i = shares.size(); i > begins.back() && i + 2 > shares.size(); --i)
      if (shares[i - 1].cell == cell) {
        shares[i - 1].weight += weight;
        return;
      }
    shares.push_back({cell, weight});
  }
};

template <class Real>
struct BoxShares {
  AxisShares<Real> y, x;

  BoxShares(const float* box, int height, int width, const RoiAlignOptions& options)
      : y(axis(box[1], box[3], options.height, options), static_cast<int>(options.height), height),
        x(axis(box[0], box[2], options.width, options), static_cast<int>(options.width), width) {}

 private:
  static RoiAxis<Real> axis(float low, float high, std::int64_t bins,
                            const RoiAlignOptions& options) {
    return roi_axis(low, high, static_cast<Real>(options.spatial_scale), static_cast<int>(bins),
                    static_cast<int>(options.sampling_ratio), options.aligned);
  }
};

template <class Real>
void add_scaled(Real* to, const Real* from, Real factor, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] += factor * from[i];
}

// The smallest number of the `parts` equal parts of the work that is worth a thread. Waking a
// thread costs as much as about 10,000 products. A bin takes about nine cells.
std::int64_t parts_of_a_thread(std::int64_t parts, std::int64_t result_elements) {
  constexpr std::int64_t fewest_products = 32768;
  return std::max<std::int64_t>(1, fewest_products * parts / (9 * result_elements));
}

template <class Real>
void align_boxes(const at::Tensor& features, const at::Tensor& boxes, const at::Tensor& pictures,
                 const RoiAlignOptions& options, const at::Tensor& out) {
  const std::int64_t height = features.size(1), width = features.size(2),
                     channels = features.size(3);
  const int bins_y = static_cast<int>(options.height), bins_x = static_cast<int>(options.width);
  const Real* from = features.const_data_ptr<Real>();
  const float* corners = boxes.const_data_ptr<float>();
  const std::int64_t* rows = pictures.const_data_ptr<std::int64_t>();
  Real* to = out.mutable_data_ptr<Real>();
  const std::int64_t grain = parts_of_a_thread(boxes.size(0), out.numel());
  at::parallel_for(0, boxes.size(0), grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      if (rows[r] < 0) continue;
      const BoxShares<Real> box(corners + 4 * r, static_cast<int>(height), static_cast<int>(width),
                                options);
      const Real* picture = from + rows[r] * height * width * channels;
      Real* bin = to + r * bins_y * bins_x * channels;
      for (int i = 0; i < bins_y; ++i)
        for (int j = 0; j < bins_x; ++j, bin += channels)
          for (const auto* y = box.y.begin(i); y != box.y.end(i); ++y)
            for (const auto* x = box.x.begin(j); x != box.x.end(j); ++x)
              add_scaled(bin, picture + (y->cell * width + x->cell) * channels,
                         y->weight * x->weight, channels);
    }
  });
}

// Adds the gradient of a box's bins to row y of its picture's cells.
template <class Real>
void add_to_row(const BoxShares<Real>& box, int y, const Real* of_bins, Real* row,
                const RoiAlignOptions& options, std::int64_t channels) {
  if (y < box.y.lowest || y > box.y.highest) return;
  const int bins_y = static_cast<int>(options.height), bins_x = static_cast<int>(options.width);
  for (int i = 0; i < bins_y; ++i) {
    Real along_y = 0;
    for (const auto* share = box.y.begin(i); share != box.y.end(i); ++share)
      if (share->cell == y) along_y += share->weight;
    if (along_y == 0) continue;
    for (int j = 0; j < bins_x; ++j)
      for (const auto* x = box.x.begin(j); x != box.x.end(j); ++x)
        add_scaled(row + x->cell * channels, of_bins + (i * bins_x + j) * channels,
                   along_y * x->weight, channels);
  }
}

template <class Real>
void spread_gradient(const at::Tensor& of_out, const at::Tensor& boxes, const at::Tensor& pictures,
                     const RoiAlignOptions& options, const at::Tensor& of_features) {
  const std::int64_t height = of_features.size(1), width = of_features.size(2),
                     channels = of_features.size(3);
  const float* corners = boxes.const_data_ptr<float>();
  const std::int64_t* rows = pictures.const_data_ptr<std::int64_t>();
  std::vector<BoxShares<Real>> shares;
  std::vector<std::vector<std::int64_t>> boxes_of(static_cast<std::size_t>(of_features.size(0)));
  for (std::int64_t r = 0; r < boxes.size(0); ++r) {
    shares.emplace_back(corners + 4 * r, static_cast<int>(height), static_cast<int>(width),
                        options);
    if (rows[r] >= 0) boxes_of[static_cast<std::size_t>(rows[r])].push_back(r);
  }
  const std::int64_t of_box = options.height * options.width * channels;
  const Real* from = of_out.const_data_ptr<Real>();
  Real* to = of_features.mutable_data_ptr<Real>();
  const std::int64_t lines = of_features.size(0) * height;
  const std::int64_t grain = parts_of_a_thread(lines, of_out.numel());
  at::parallel_for(0, lines, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t line = begin; line < end; ++line)
      for (const std::int64_t r : boxes_of[static_cast<std::size_t>(line / height)])
        add_to_row(shares[static_cast<std::size_t>(r)], static_cast<int>(line % height),
                   from + r * of_box, to + line * width * channels, options, channels);
  });
}

}  // namespace

at::Tensor roi_align_cpu(const at::Tensor& features, const at::Tensor& boxes,
                         const at::Tensor& pictures, const RoiAlignOptions& options) {
  const at::Tensor out = at::zeros({boxes.size(0), options.height, options.width, features.size(3)},
                                   features.options());
  AT_DISPATCH_FLOATING_TYPES(features.scalar_type(), "roi_align", [&] {
    align_boxes<scalar_t>(features, boxes, pictures, options, out);
  });
  return out;
}

at::Tensor roi_align_backward_cpu(const at::Tensor& of_out, const at::Tensor& boxes,
                                  const at::Tensor& pictures, at::IntArrayRef sizes,
                                  const RoiAlignOptions& options) {
  const at::Tensor of_features = at::zeros(sizes, of_out.options());
  AT_DISPATCH_FLOATING_TYPES(of_out.scalar_type(), "roi_align_backward", [&] {
    spread_gradient<scalar_t>(of_out, boxes, pictures, options, of_features);
  });
  return of_features;
}

}  // namespace lockstep
