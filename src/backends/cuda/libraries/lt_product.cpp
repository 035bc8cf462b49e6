// cuBLASLt stores matrices by columns. A matrix that is dense by rows is the transpose of one that
// is dense by columns. So out = left right is computed as out^T = right^T left^T. Then cuBLASLt's A
// is our right matrix, its B is our left matrix, and its m is our n.
#include "backends/cuda/libraries/lt_product.h"

#include <ATen/cuda/CUDAContextLight.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace lockstep {
namespace {

void check(cublasStatus_t status, const char* what) {
  TORCH_CHECK(status == CUBLAS_STATUS_SUCCESS, what, " failed: ", cublasLtGetStatusString(status));
}

cudaDataType_t data_type(KernelDtype dtype) {
  switch (dtype) {
    case KernelDtype::bf16:
      return CUDA_R_16BF;
    case KernelDtype::f16:
      return CUDA_R_16F;
    default:
      return CUDA_R_32F;
  }
}

const void* addend_of(const MatmulArguments& arguments) {
  return arguments.addend == nullptr ? arguments.out : arguments.addend;
}

template <class Value>
void set(cublasLtMatmulDesc_t description, cublasLtMatmulDescAttributes_t name, Value value) {
  check(cublasLtMatmulDescSetAttribute(description, name, &value, sizeof value),
        "cublasLtMatmulDescSetAttribute");
}

class Preference {
 public:
  Preference() { check(cublasLtMatmulPreferenceCreate(&it_), "cublasLtMatmulPreferenceCreate"); }
  ~Preference() { cublasLtMatmulPreferenceDestroy(it_); }
  Preference(const Preference&) = delete;
  Preference& operator=(const Preference&) = delete;

  template <class Value>
  void set(cublasLtMatmulPreferenceAttributes_t name, Value value) {
    check(cublasLtMatmulPreferenceSetAttribute(it_, name, &value, sizeof value),
          "cublasLtMatmulPreferenceSetAttribute");
  }
  cublasLtMatmulPreference_t get() const { return it_; }

 private:
  cublasLtMatmulPreference_t it_ = nullptr;
};

}  // namespace

std::int64_t alignment_of(const void* pointer) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  for (std::uintptr_t bytes = 256; bytes > 1; bytes /= 2)
    if (address % bytes == 0) return static_cast<std::int64_t>(bytes);
  return 1;
}

void LtProduct::Deleter::operator()(cublasLtMatmulDesc_t description) const {
  cublasLtMatmulDescDestroy(description);
}
void LtProduct::Deleter::operator()(cublasLtMatrixLayout_t layout) const {
  cublasLtMatrixLayoutDestroy(layout);
}

LtProduct::LtProduct(const MatmulArguments& like, int most) {
  describe(like);
  find_candidates(like, most);
}

LtProduct::Layout LtProduct::layout(cudaDataType_t type, std::int64_t rows, std::int64_t columns,
                                    std::int64_t batch, std::int64_t stride) {
  cublasLtMatrixLayout_t made = nullptr;
  check(cublasLtMatrixLayoutCreate(&made, type, static_cast<std::uint64_t>(rows),
                                   static_cast<std::uint64_t>(columns), rows),
        "cublasLtMatrixLayoutCreate");
  Layout owned(made);
  if (batch == 1) return owned;
  const auto count = static_cast<std::int32_t>(batch);
  check(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                         sizeof count),
        "cublasLtMatrixLayoutSetAttribute");
  check(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                         sizeof stride),
        "cublasLtMatrixLayoutSetAttribute");
  return owned;
}

void LtProduct::describe(const MatmulArguments& like) {
  cublasLtMatmulDesc_t made = nullptr;
  check(cublasLtMatmulDescCreate(&made, CUBLAS_COMPUTE_32F, CUDA_R_32F),
        "cublasLtMatmulDescCreate");
  description_.reset(made);
  const auto operation = [](bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; };
  set(made, CUBLASLT_MATMUL_DESC_TRANSA, operation(like.right_transposed));
  set(made, CUBLASLT_MATMUL_DESC_TRANSB, operation(like.left_transposed));
  if (like.bias != nullptr) {
    set(made, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    set(made, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, data_type(like.dtype));
    set(made, CUBLASLT_MATMUL_DESC_BIAS_POINTER, like.bias);
  }
  const cudaDataType_t in = data_type(like.dtype);
  const auto [right_rows, right_columns] =
      like.right_transposed ? std::pair(like.k, like.n) : std::pair(like.n, like.k);
  const auto [left_rows, left_columns] =
      like.left_transposed ? std::pair(like.m, like.k) : std::pair(like.k, like.m);
  right_ = layout(in, right_rows, right_columns, like.batch, like.right_stride);
  left_ = layout(in, left_rows, left_columns, like.batch, like.left_stride);
  out_ = layout(like.out_is_f32 ? CUDA_R_32F : in, like.n, like.m, like.batch, like.out_stride);
}

void LtProduct::find_candidates(const MatmulArguments& like, int most) {
  Preference preference;
  preference.set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                 static_cast<std::uint64_t>(lt_workspace_bytes));
  // Shares of a long k are added up in fp32. The output is rounded to low precision only once.
  if (!like.out_is_f32)
    preference.set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                   static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  for (const auto& [name, pointer] :
       std::initializer_list<std::pair<cublasLtMatmulPreferenceAttributes_t, const void*>>{
           {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, like.right},
           {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, like.left},
           {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, addend_of(like)},
           {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, like.out}})
    preference.set(name, static_cast<std::uint32_t>(alignment_of(pointer)));
  candidates_.resize(static_cast<std::size_t>(most));
  int found = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      at::cuda::getCurrentCUDABlasLtHandle(), description_.get(), right_.get(), left_.get(),
      out_.get(), out_.get(), preference.get(), most, candidates_.data(), &found);
  candidates_.resize(status == CUBLAS_STATUS_SUCCESS ? static_cast<std::size_t>(found) : 0);
  std::erase_if(candidates_, [](const auto& result) {
    return result.state != CUBLAS_STATUS_SUCCESS ||
           result.workspaceSize > static_cast<std::size_t>(lt_workspace_bytes);
  });
}

cublasStatus_t LtProduct::run(std::size_t candidate, const MatmulArguments& arguments,
                              const LtPlace& place) const {
  if (arguments.bias != nullptr)
    set(description_.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER, arguments.bias);
  const float beta = arguments.accumulate ? arguments.beta : 0;
  return cublasLtMatmul(at::cuda::getCurrentCUDABlasLtHandle(), description_.get(),
                        &arguments.alpha, arguments.right, right_.get(), arguments.left,
                        left_.get(), &beta, addend_of(arguments), out_.get(), arguments.out,
                        out_.get(), &candidates_[candidate].algo, place.workspace,
                        static_cast<std::size_t>(lt_workspace_bytes), place.stream);
}

}  // namespace lockstep
