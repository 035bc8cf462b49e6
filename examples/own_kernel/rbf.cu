// The kernels: nothing of size [B, K, D] is ever written. They compute in fp32 whatever the type
// (f64 for f64), and add in one fixed order, without atomics, so that equal inputs give equal bits.
#include "rbf.h"

#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

namespace own_kernel {
namespace {

constexpr int threads = 256;

// x [rows, width], centres [count, width], scales [count], all contiguous.
template <class T>
struct Bells {
  using Wide = at::opmath_type<T>;
  const T *x, *centres, *scales;
  std::int64_t rows, count, width;

  __device__ Wide apart(std::int64_t b, std::int64_t k, std::int64_t d) const {
    return static_cast<Wide>(x[b * width + d]) - static_cast<Wide>(centres[k * width + d]);
  }
  __device__ Wide squares(std::int64_t b, std::int64_t k) const {
    Wide sum = 0;
    for (std::int64_t d = 0; d < width; ++d) sum += apart(b, k, d) * apart(b, k, d);
    return sum;
  }
  __device__ Wide scale(std::int64_t k) const { return static_cast<Wide>(scales[k]); }
  // exp is overloaded for both widths.
  __device__ Wide bell(Wide squares, std::int64_t k) const {
    return exp(-squares * scale(k) * scale(k));
  }
};

// A thread per element of out [rows, count].
template <class T>
__global__ void forward_kernel(Bells<T> bells, T* out) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (i >= bells.rows * bells.count) return;
  const std::int64_t b = i / bells.count, k = i % bells.count;
  out[i] = static_cast<T>(bells.bell(bells.squares(b, k), k));
}

// A thread per element of of_x [rows, width].
template <class T>
__global__ void x_kernel(Bells<T> bells, const T* gradient, T* of_x) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (i >= bells.rows * bells.width) return;
  const std::int64_t b = i / bells.width, d = i % bells.width;
  typename Bells<T>::Wide sum = 0;
  for (std::int64_t k = 0; k < bells.count; ++k) {
    const auto t = static_cast<typename Bells<T>::Wide>(gradient[b * bells.count + k]) *
                   bells.bell(bells.squares(b, k), k);
    sum -= 2 * t * bells.scale(k) * bells.scale(k) * bells.apart(b, k, d);
  }
  of_x[i] = static_cast<T>(sum);
}

// A block per number of a centre: its places, and last its scale. Each thread adds up every 256th
// row, and the block its threads in pairs.
template <class T>
__global__ void centre_kernel(Bells<T> bells, const T* gradient, T* of_centres, T* of_scales) {
  using Wide = typename Bells<T>::Wide;
  const std::int64_t k = blockIdx.x, d = blockIdx.y;
  Wide sum = 0;
  for (std::int64_t b = threadIdx.x; b < bells.rows; b += threads) {
    const Wide squares = bells.squares(b, k);
    const Wide t = 2 * static_cast<Wide>(gradient[b * bells.count + k]) * bells.bell(squares, k) *
                   bells.scale(k);
    sum += d < bells.width ? t * bells.scale(k) * bells.apart(b, k, d) : -t * squares;
  }
  __shared__ Wide sums[threads];
  sums[threadIdx.x] = sum;
  for (int half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x != 0) return;
  (d < bells.width ? of_centres[k * bells.width + d] : of_scales[k]) = static_cast<T>(sums[0]);
}

template <class T>
Bells<T> bells_of(const at::Tensor& x, const at::Tensor& centres, const at::Tensor& scales) {
  return {x.const_data_ptr<T>(),
          centres.const_data_ptr<T>(),
          scales.const_data_ptr<T>(),
          x.size(0),
          centres.size(0),
          x.size(1)};
}

unsigned blocks_for(std::int64_t elements) {
  return static_cast<unsigned>((elements + threads - 1) / threads);
}

void check(const at::Tensor& x, const at::Tensor& centres, const at::Tensor& scales) {
  TORCH_CHECK(x.dim() == 2 && centres.dim() == 2 && x.size(1) == centres.size(1) &&
                  scales.dim() == 1 && scales.size(0) == centres.size(0),
              "rbf takes x [B, D], centres [K, D] and scales [K], but got ", x.sizes(), ", ",
              centres.sizes(), " and ", scales.sizes());
  TORCH_CHECK(x.scalar_type() == centres.scalar_type() && x.scalar_type() == scales.scalar_type(),
              "rbf takes tensors of one type");
}

// Memory comes from torch's allocator, work goes to torch's current stream: so both are part of a
// CUDA graph where the step is one.
at::Tensor rbf_cuda(const at::Tensor& x_any, const at::Tensor& centres_any,
                    const at::Tensor& scales_any) {
  check(x_any, centres_any, scales_any);
  const at::Tensor x = x_any.contiguous(), centres = centres_any.contiguous(),
                   scales = scales_any.contiguous();
  at::Tensor out = at::empty({x.size(0), centres.size(0)}, x.options());
  if (out.numel() == 0) return out;  // a grid of no blocks is an error
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "rbf", [&] {
    forward_kernel<<<blocks_for(out.numel()), threads, 0, stream>>>(
        bells_of<scalar_t>(x, centres, scales), out.mutable_data_ptr<scalar_t>());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return out;
}

Gradients backward_cuda(const at::Tensor& gradient_any, const at::Tensor& x_any,
                        const at::Tensor& centres_any, const at::Tensor& scales_any, bool of_x) {
  check(x_any, centres_any, scales_any);
  const at::Tensor gradient = gradient_any.contiguous(), x = x_any.contiguous(),
                   centres = centres_any.contiguous(), scales = scales_any.contiguous();
  const at::Tensor x_gradient = of_x ? at::empty_like(x) : at::Tensor();
  const at::Tensor centre_gradient = at::empty_like(centres),
                   scale_gradient = at::empty_like(scales);
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "rbf_backward", [&] {
    const auto bells = bells_of<scalar_t>(x, centres, scales);
    if (of_x && x.numel() > 0) {
      x_kernel<<<blocks_for(x.numel()), threads, 0, stream>>>(
          bells, gradient.const_data_ptr<scalar_t>(), x_gradient.mutable_data_ptr<scalar_t>());
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    }
    if (bells.count > 0) {
      const dim3 blocks(static_cast<unsigned>(bells.count), static_cast<unsigned>(bells.width + 1));
      centre_kernel<<<blocks, threads, 0, stream>>>(bells, gradient.const_data_ptr<scalar_t>(),
                                                    centre_gradient.mutable_data_ptr<scalar_t>(),
                                                    scale_gradient.mutable_data_ptr<scalar_t>());
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    }
  });
  return {x_gradient, centre_gradient, scale_gradient};
}

}  // namespace

TORCH_LIBRARY_IMPL(own_kernel, CUDA, library) {
  library.impl("rbf", rbf_cuda);
  library.impl("rbf_backward", backward_cuda);
}

}  // namespace own_kernel
