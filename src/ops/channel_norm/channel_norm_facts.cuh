// Common parts of the kernels of instance norm and batch norm. They sum the values that a statistic
// needs, and apply the statistic to an element.
#pragma once

#include "ops/shared/device/voxels.cuh"

namespace lockstep {

__device__ inline void follow(float* running, float now, float momentum) {
  *running += momentum * (now - *running);
}

__device__ inline float inverse_of(const ChannelNormForward& launch, float squares, float count) {
  return rsqrtf(squares / count + launch.epsilon);
}

__device__ inline void keep_moments(const ChannelNormForward& launch, std::int64_t statistic,
                                    float mean, float squares, float count) {
  launch.mean[statistic] = mean;
  launch.inverse_deviation[statistic] = inverse_of(launch, squares, count);
  if (launch.running_mean == nullptr) return;
  follow(launch.running_mean + statistic, mean, launch.momentum);
  follow(launch.running_variance + statistic, squares / (count - 1), launch.momentum);
}

// Merges the moments of chunks into sums of deviations from the mean of the first chunk.
struct MomentSums {
  float reference, apart = 0, squares = 0;

  __device__ void take(float mean, float deviations, float count) {
    const float from_reference = mean - reference;
    apart += count * from_reference;
    squares += deviations + count * from_reference * from_reference;
  }
  __device__ float mean(float count) const { return reference + apart / count; }
  __device__ float deviations(float count) const { return squares - apart * apart / count; }
};

template <class A, int W>
__device__ void read_floats(const void* from, std::int64_t at, float (&to)[W]) {
#pragma unroll
  for (int i = 0; i < W; ++i) to[i] = to_float(static_cast<const A*>(from)[at + i]);
}

// Reads W values whose type is known only at launch.
template <int W>
__device__ void read_affine(const void* from, KernelDtype dtype, std::int64_t at, float (&to)[W]) {
  if (dtype == KernelDtype::bf16)
    read_floats<__nv_bfloat16>(from, at, to);
  else if (dtype == KernelDtype::f16)
    read_floats<__half>(from, at, to);
  else
    read_floats<float>(from, at, to);
}

// Values shared by all elements of a channel.
template <int W>
struct ChannelFacts {
  float mean[W], factor[W], bias[W];  // factor = scale of the channel / deviation

  ChannelFacts() = default;
  // first: the statistic of the first channel. means, inverses: the values of these channels, or
  // null if they are read from memory.
  template <class Launch>
  __device__ ChannelFacts(const Launch& launch, std::int64_t first, const float* means = nullptr,
                          const float* inverses = nullptr) {
    float scale[W];
    if (launch.layout.together) {
      read<1>(launch, first, scale);
#pragma unroll
      for (int i = 1; i < W; ++i) {
        mean[i] = mean[0];
        factor[i] = factor[0];
        scale[i] = scale[0];
        bias[i] = bias[0];
      }
    } else {
      read<W>(launch, first, scale);
    }
#pragma unroll
    for (int i = 0; i < W; ++i) {
      if (means != nullptr) {
        mean[i] = means[i];
        factor[i] = inverses[i];
      }
      factor[i] *= scale[i];
    }
  }
  // The norm's result for an element at distance `apart` from its mean. Both passes use it.
  __device__ float normed(float apart, int i) const { return fmaf(apart, factor[i], bias[i]); }

 private:
  template <int N, class Launch>
  __device__ void read(const Launch& launch, std::int64_t first, float (&scale)[W]) {
    float numbers[N];
#pragma unroll
    for (int i = 0; i < N; ++i) {
      mean[i] = launch.mean[first + i];
      factor[i] = launch.inverse_deviation[first + i];
      scale[i] = 1;
      bias[i] = 0;
    }
    if (launch.channel_scale != nullptr) {
      read_affine(launch.channel_scale, launch.affine, first, numbers);
#pragma unroll
      for (int i = 0; i < N; ++i) scale[i] = numbers[i];
    }
    if (launch.bias != nullptr) {
      read_affine(launch.bias, launch.affine, first, numbers);
#pragma unroll
      for (int i = 0; i < N; ++i) bias[i] = numbers[i];
    }
  }
};

// Corrections of a channel's gradients. `share` is subtracted from each gradient. `slope` is
// subtracted once for each unit by which x is above its mean.
struct Shares {
  float share, slope;

  __device__ Shares(float sum, float product, float inverse, float count)
      : share(sum / count), slope(product / count * inverse * inverse) {}
};

__device__ inline void keep_sums(const ChannelNormBackward& launch, std::int64_t statistic,
                                 float sum, float product, float inverse) {
  if (launch.of_scale != nullptr) launch.of_scale[statistic] += product * inverse;
  if (launch.of_bias != nullptr) launch.of_bias[statistic] += sum;
}

// Prefetches the line at that address into the L2 cache, which all multiprocessors share.
template <class T>
__device__ void ask_for_line(const T* at) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
}

}  // namespace lockstep
