// Describes a matrix product of one shape to cuBLASLt, and finds candidate algorithms for it.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace lockstep {

inline constexpr std::int64_t lt_workspace_bytes = std::int64_t{32} << 20;

struct LtPlace {
  void* workspace = nullptr;  // memory of lt_workspace_bytes on the device
  cudaStream_t stream = nullptr;
};

// The largest power of two that divides the address, but at most 256. The result for null is 256.
std::int64_t alignment_of(const void* pointer);

// Neither copyable nor movable. Throws c10::Error if cuBLASLt fails.
class LtProduct {
 public:
  // Describes products with the same sizes, dtypes, flags and alignments as `like`. Requests at
  // most `most` algorithms from cuBLASLt. The list from cuBLASLt begins with the algorithm that is
  // expected to be fastest.
  LtProduct(const MatmulArguments& like, int most);
  LtProduct(const LtProduct&) = delete;
  LtProduct& operator=(const LtProduct&) = delete;

  // The number of candidate algorithms that cuBLASLt returned. It may be 0.
  std::size_t candidates() const { return candidates_.size(); }
  // Runs the product with algorithm number `candidate`. Returns the status of cuBLASLt, because
  // some candidates turn out not to support the product.
  cublasStatus_t run(std::size_t candidate, const MatmulArguments& arguments,
                     const LtPlace& place) const;

 private:
  struct Deleter {
    void operator()(cublasLtMatmulDesc_t description) const;
    void operator()(cublasLtMatrixLayout_t layout) const;
  };
  using Description = std::unique_ptr<std::remove_pointer_t<cublasLtMatmulDesc_t>, Deleter>;
  using Layout = std::unique_ptr<std::remove_pointer_t<cublasLtMatrixLayout_t>, Deleter>;

  static Layout layout(cudaDataType_t type, std::int64_t rows, std::int64_t columns,
                       std::int64_t batch, std::int64_t stride);
  void describe(const MatmulArguments& like);
  void find_candidates(const MatmulArguments& like, int most);

  Description description_;
  Layout left_, right_, out_;  // in cuBLASLt's column-major order, see lt_product.cpp
  std::vector<cublasLtMatmulHeuristicResult_t> candidates_;
};

}  // namespace lockstep
