// A matrix product of one shape as a cuBLASLt descriptor, with its candidate algorithms.
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
  void* workspace = nullptr;  // lt_workspace_bytes
  cudaStream_t stream = nullptr;
};

// The largest power of two up to 256 that divides the address; 256 for null.
std::int64_t alignment_of(const void* pointer);

// Neither copyable nor movable. Throws c10::Error if cuBLASLt fails.
class LtProduct {
 public:
  // For products with the same sizes, types, flags and alignments as `like`. Requests at most
  // `most` algorithms from cuBLASLt, best guess first.
  LtProduct(const MatmulArguments& like, int most);
  LtProduct(const LtProduct&) = delete;
  LtProduct& operator=(const LtProduct&) = delete;

  // The number of algorithms, possibly 0.
  std::size_t candidates() const { return candidates_.size(); }
  // Returns cuBLASLt's status for that algorithm, because some proposed algorithms cannot run.
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
  Layout left_, right_, out_;  // layouts in cuBLASLt's convention, see the source
  std::vector<cublasLtMatmulHeuristicResult_t> candidates_;
};

}  // namespace lockstep
