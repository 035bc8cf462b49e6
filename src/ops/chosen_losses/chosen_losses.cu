// Cross-entropy or squared error of the question that each row is asked. A thread handles an
// answer.
#include "ops/chosen_losses/chosen_losses_launch.h"
#include "ops/shared/device/device_assert.cuh"
#include "ops/shared/device/element.cuh"

#include <climits>

namespace lockstep {
namespace {

constexpr int threads = 256;
// Threads of a block that sums a chunk. There are many, because a small batch has only few chunks.
constexpr int sum_threads = 1024, warps = sum_threads / 32;

// The softmax of an answer's logits: their maximum, and the sum of exp(logit - maximum).
struct Softmax {
  float most = -INFINITY, sum = 0;

  template <class T>
  __device__ Softmax(const T* logits, std::int64_t classes) {
    for (std::int64_t c = 0; c < classes; ++c) most = fmaxf(most, to_float(logits[c]));
    for (std::int64_t c = 0; c < classes; ++c) sum += expf(to_float(logits[c]) - most);
  }
  __device__ float probability(float logit) const { return expf(logit - most) / sum; }
  __device__ float loss(float logit) const { return logf(sum) + most - logit; }
};

__device__ std::int64_t label_of(const ChosenLossArguments& shared, std::int64_t answer) {
  const std::int64_t label = shared.labels[answer];
  LOCKSTEP_DEVICE_ASSERT(label >= 0 && label < shared.classes && "targets are classes");
  return label;
}

template <class T>
__device__ float loss_of(const ChosenLossArguments& shared, std::int64_t answer,
                         std::int64_t question) {
  const std::int64_t row = answer / shared.answers, of_row = answer % shared.answers;
  const std::int64_t place = (row * shared.questions + question) * shared.answers + of_row;
  const auto* const values = static_cast<const T*>(shared.values);
  const float weight = shared.weights[answer];
  if (shared.classes == 0) {
    const float distance = to_float(values[place]) - shared.numbers[answer];
    return weight * distance * distance;
  }
  const T* const logits = values + place * shared.classes;
  return weight * Softmax(logits, shared.classes).loss(to_float(logits[label_of(shared, answer)]));
}

template <class T>
__global__ void __launch_bounds__(sum_threads) sums_kernel(ChosenLossForward launch) {
  __shared__ float of_warps[chosen_most_questions][warps];
  const ChosenLossArguments& shared = launch.shared;
  const std::int64_t begin = blockIdx.x * chosen_chunk;
  const std::int64_t end = min(begin + chosen_chunk, shared.rows * shared.answers);
  float sums[chosen_most_questions] = {};
  for (std::int64_t answer = begin + threadIdx.x; answer < end; answer += sum_threads) {
    const std::int64_t question = shared.question[answer / shared.answers] - shared.first;
    if (question < 0 || question >= shared.questions) continue;
    const float loss = loss_of<T>(shared, answer, question);
#pragma unroll
    for (int q = 0; q < chosen_most_questions; ++q)
      if (q == question) sums[q] += loss;
  }
#pragma unroll
  for (int q = 0; q < chosen_most_questions; ++q) {
    if (q >= shared.questions) break;
    sums[q] = warp_sum(sums[q]);
    if (threadIdx.x % 32 == 0) of_warps[q][threadIdx.x / 32] = sums[q];
  }
  __syncthreads();
  if (threadIdx.x >= shared.questions) return;
  float sum = 0;
  for (int w = 0; w < warps; ++w) sum += of_warps[threadIdx.x][w];
  if (launch.chunks == 1)
    launch.sums[threadIdx.x] = sum;
  else
    launch.partial[blockIdx.x * shared.questions + threadIdx.x] = sum;
}

// Each warp adds up the chunks of one question.
__global__ void finish_kernel(ChosenLossForward launch) {
  const std::int64_t questions = launch.shared.questions;
  const int question = static_cast<int>(threadIdx.x) / 32;
  float sum = 0;
  for (std::int64_t chunk = threadIdx.x % 32; chunk < launch.chunks; chunk += 32)
    sum += launch.partial[chunk * questions + question];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) launch.sums[question] = sum;
}

// A thread handles an answer to one of the questions. Answers to questions that were not asked get
// a gradient of 0.
template <class T>
__global__ void __launch_bounds__(threads) gradient_kernel(ChosenLossBackward launch) {
  const ChosenLossArguments& shared = launch.shared;
  const std::int64_t place = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (place >= shared.rows * shared.questions * shared.answers) return;
  const std::int64_t of_row = place % shared.answers;
  const std::int64_t question = place / shared.answers % shared.questions;
  const std::int64_t row = place / shared.answers / shared.questions;
  const std::int64_t answer = row * shared.answers + of_row;
  const bool is_asked = shared.question[row] - shared.first == question;
  const float factor = is_asked ? launch.of_sums[question] * shared.weights[answer] : 0.0F;
  auto* const of_values = static_cast<T*>(launch.of_values);
  const auto* const values = static_cast<const T*>(shared.values);
  if (shared.classes == 0) {
    const float distance = is_asked ? to_float(values[place]) - shared.numbers[answer] : 0.0F;
    of_values[place] = from_float<T>(2.0F * factor * distance);
    return;
  }
  T* const of_logits = of_values + place * shared.classes;
  if (!is_asked) {
    for (std::int64_t c = 0; c < shared.classes; ++c) of_logits[c] = from_float<T>(0.0F);
    return;
  }
  const T* const logits = values + place * shared.classes;
  const Softmax softmax(logits, shared.classes);
  const std::int64_t label = label_of(shared, answer);
  for (std::int64_t c = 0; c < shared.classes; ++c) {
    const float p = softmax.probability(to_float(logits[c]));
    of_logits[c] = from_float<T>(factor * (c == label ? p - 1.0F : p));
  }
}

}  // namespace

cudaError_t launch_chosen_losses_forward(const ChosenLossForward& launch, cudaStream_t stream) {
  if (launch.chunks > INT_MAX) return cudaErrorInvalidConfiguration;
  return with_type(launch.shared.dtype, [&](auto element) {
    sums_kernel<decltype(element)>
        <<<static_cast<unsigned>(launch.chunks), sum_threads, 0, stream>>>(launch);
    if (launch.chunks > 1)
      finish_kernel<<<1, static_cast<unsigned>(32 * launch.shared.questions), 0, stream>>>(launch);
    return cudaGetLastError();
  });
}

cudaError_t launch_chosen_losses_backward(const ChosenLossBackward& launch, cudaStream_t stream) {
  const ChosenLossArguments& shared = launch.shared;
  const std::int64_t blocks =
      (shared.rows * shared.questions * shared.answers + threads - 1) / threads;
  if (blocks > INT_MAX) return cudaErrorInvalidConfiguration;
  return with_type(shared.dtype, [&](auto element) {
    gradient_kernel<decltype(element)>
        <<<static_cast<unsigned>(blocks), threads, 0, stream>>>(launch);
    return cudaGetLastError();
  });
}

}  // namespace lockstep
