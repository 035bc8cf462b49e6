// Matches anchors or regions to true boxes. Anchors take three kernels. The first finds the best
// overlap of each box. The second finds the state of each anchor for each class. The third computes
// the weights from the numbers of positives and negatives. Regions take a single kernel.
#include "ops/match_boxes/match_boxes_launch.h"
#include "ops/shared/device/runs.cuh"

#include <climits>

namespace lockstep {
namespace {

constexpr int match_threads = 256;
enum State : std::uint8_t { counts_not, is_negative, is_positive };

__device__ float common_of(const Corners& a, const Corners& b) {
  const float width = fminf(a.x2, b.x2) - fmaxf(a.x1, b.x1),
              height = fminf(a.y2, b.y2) - fmaxf(a.y1, b.y1);
  return rounded_product(fmaxf(width, 0.0F), fmaxf(height, 0.0F));
}

// Computes the overlap as box_ious does, with bitwise the same result.
__device__ float iou_of(const Corners& a, const Corners& b) {
  const float common = common_of(a, b);
  return common / fmaxf(area_of(a) + area_of(b) - common, 1e-12F);
}

// The expected weight of a row in this state if rows are drawn at random.
__device__ float weight_as_drawn(int state, float positives, float negatives, float drawn,
                                 float most_positive) {
  const float of_positives = fminf(positives, most_positive);
  const float of_negatives = fminf(negatives, drawn - of_positives);
  float weight = 0;
  if (state == is_positive) weight = of_positives / fmaxf(positives, 1.0F);
  if (state == is_negative) weight = of_negatives / fmaxf(negatives, 1.0F);
  return weight / drawn;
}

// A block handles one box.
__global__ void __launch_bounds__(match_threads) best_of_box_kernel(MatchArguments launch) {
  __shared__ float shared[match_threads / 32];
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.y) * launch.most + blockIdx.x;
  float best = 0;
  if (launch.labels[i] >= 0) {
    const Corners box = corners_at(launch.boxes, i);
    for (std::int64_t p = threadIdx.x; p < launch.count; p += match_threads)
      best = fmaxf(best, iou_of(corners_at(launch.anchors, p), box));
  }
  for (int lanes = 16; lanes > 0; lanes /= 2)
    best = fmaxf(best, __shfl_xor_sync(0xffffffffU, best, lanes));
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = best;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int warp = 1; warp < match_threads / 32; ++warp) best = fmaxf(best, shared[warp]);
  launch.best_of_box[i] = best;
}

// A thread handles an anchor and a class. A block handles some anchors of a picture, and a class.
__global__ void __launch_bounds__(match_threads) match_kernel(MatchArguments launch) {
  const std::int64_t p = static_cast<std::int64_t>(blockIdx.x) * match_threads + threadIdx.x;
  const std::int64_t picture = blockIdx.y, label = blockIdx.z;
  const std::int64_t first = picture * launch.most;
  State state = counts_not;
  const bool inside = p < launch.count;
  if (inside) {
    const Corners anchor = corners_at(launch.anchors, p);
    const float least = fmaxf(area_of(anchor), match_least_area);
    float best = 0;
    std::int64_t which = 0, forced = -1;
    bool ignored = false;
    for (std::int64_t m = 0; m < launch.most; ++m) {
      const std::int64_t of = launch.labels[first + m];
      if (of == match_ignore_box) {
        ignored |=
            common_of(anchor, corners_at(launch.boxes, first + m)) / least > launch.ignored_share;
      } else if (of == label) {
        const float overlap = iou_of(anchor, corners_at(launch.boxes, first + m));
        if (overlap > best) best = overlap, which = m;
        const float most = launch.best_of_box[first + m];
        if (forced < 0 && most > match_least_overlap && overlap == most) forced = m;
      }
    }
    if (best >= launch.positive_overlap || forced >= 0)
      state = is_positive;
    else if (best < launch.negative_overlap && !ignored)
      state = is_negative;
    const std::int64_t at = (picture * launch.classes + label) * launch.count + p;
    launch.states[at] = state;
    launch.positive[at] = state == is_positive;
    reinterpret_cast<Corners*>(launch.box)[at] =
        corners_at(launch.boxes, first + (forced >= 0 ? forced : which));
  }
  const int positives = __syncthreads_count(inside && state == is_positive),
            negatives = __syncthreads_count(inside && state == is_negative);
  if (threadIdx.x != 0) return;
  std::int32_t* const counts = launch.counts + (picture * launch.classes + label) * 2;
  if (positives > 0) atomicAdd(counts, positives);  // integers, so the order does not matter
  if (negatives > 0) atomicAdd(counts + 1, negatives);
}

__global__ void __launch_bounds__(match_threads) weight_kernel(MatchArguments launch) {
  const std::int64_t p = static_cast<std::int64_t>(blockIdx.x) * match_threads + threadIdx.x;
  if (p >= launch.count) return;
  const std::int64_t set = static_cast<std::int64_t>(blockIdx.y) * launch.classes + blockIdx.z;
  launch.weight[set * launch.count + p] = weight_as_drawn(
      launch.states[set * launch.count + p], static_cast<float>(launch.counts[set * 2]),
      static_cast<float>(launch.counts[set * 2 + 1]), launch.drawn, launch.most_positive);
}

// A block handles a picture. Each thread handles some of its regions in turn.
__global__ void __launch_bounds__(match_threads) match_regions_kernel(RegionMatchArguments launch) {
  const std::int64_t picture = blockIdx.x, first = picture * launch.most;
  int positives = 0, negatives = 0;
  for (std::int64_t begin = 0; begin < launch.count; begin += match_threads) {
    const std::int64_t r = begin + threadIdx.x, at = picture * launch.count + r;
    State state = counts_not;
    if (r < launch.count) {
      const Corners region = corners_at(launch.regions, at);
      const float least = fmaxf(area_of(region), match_least_area);
      float best = 0;
      std::int64_t which = 0;
      bool ignored = false;
      for (std::int64_t m = 0; m < launch.most; ++m) {
        const std::int64_t label = launch.labels[first + m];
        if (label < 0 && label != match_ignore_box) continue;
        const Corners box = corners_at(launch.boxes, first + m);
        if (label == match_ignore_box) {
          ignored |= common_of(region, box) / least > launch.ignored_share;
        } else if (const float overlap = iou_of(region, box); overlap > best) {
          best = overlap;
          which = m;
        }
      }
      if (launch.known[at]) {
        if (best >= launch.positive_overlap)
          state = is_positive;
        else if (!ignored)
          state = is_negative;
      }
      launch.positive[at] = state == is_positive;
      launch.label[at] = state == is_positive ? launch.labels[first + which] : launch.classes;
      // the state for now; this thread replaces it by the weight below
      launch.weight[at] = static_cast<float>(state);
      reinterpret_cast<Corners*>(launch.box)[at] = corners_at(launch.boxes, first + which);
    }
    positives += __syncthreads_count(state == is_positive);
    negatives += __syncthreads_count(state == is_negative);
  }
  for (std::int64_t r = threadIdx.x; r < launch.count; r += match_threads) {
    float& weight = launch.weight[picture * launch.count + r];
    weight = weight_as_drawn(static_cast<int>(weight), static_cast<float>(positives),
                             static_cast<float>(negatives), launch.drawn, launch.most_positive);
  }
}

}  // namespace

cudaError_t launch_match(const MatchArguments& launch, cudaStream_t stream) {
  const std::int64_t blocks = (launch.count + match_threads - 1) / match_threads;
  if (blocks > INT_MAX || launch.pictures > match_most_pictures || launch.classes > 65535 ||
      launch.most > INT_MAX)
    return cudaErrorInvalidConfiguration;
  best_of_box_kernel<<<dim3(static_cast<unsigned>(launch.most),
                            static_cast<unsigned>(launch.pictures)),
                       match_threads, 0, stream>>>(launch);
  const dim3 all(static_cast<unsigned>(blocks), static_cast<unsigned>(launch.pictures),
                 static_cast<unsigned>(launch.classes));
  match_kernel<<<all, match_threads, 0, stream>>>(launch);
  weight_kernel<<<all, match_threads, 0, stream>>>(launch);
  return cudaGetLastError();
}

cudaError_t launch_match_regions(const RegionMatchArguments& launch, cudaStream_t stream) {
  if (launch.pictures > match_most_pictures) return cudaErrorInvalidConfiguration;
  match_regions_kernel<<<static_cast<unsigned>(launch.pictures), match_threads, 0, stream>>>(
      launch);
  return cudaGetLastError();
}

}  // namespace lockstep
