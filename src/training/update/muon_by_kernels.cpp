// Muon on a GPU. Our own kernels do the elementwise work. All matrices of one shape are multiplied
// at once. An update agrees with ATen's torch.optim.Muon to 2 % of its norm.
#include "ops/matmul/matmul.h"
#include "ops/muon/muon.h"
#include "ops/shared/own_kernels.h"
#include "planning/options/optimizers.h"
#include "training/update/muon_matrices.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <map>
#include <utility>

namespace lockstep {
namespace {

// Matrices begin at multiples of this many elements, so that libraries can use their fast products.
constexpr std::int64_t muon_alignment = 128;

std::int64_t muon_stride(std::int64_t elements) {
  return (elements + muon_alignment - 1) / muon_alignment * muon_alignment;
}

// Matrices of one shape that are neighbours in the table.
struct MuonBatch {
  std::int64_t rows = 0, columns = 0;
  std::int64_t first = 0, count = 0;

  std::int64_t shorter() const { return std::min(rows, columns); }
  std::int64_t stride() const { return muon_stride(rows * columns); }
  std::int64_t gram_stride() const { return muon_stride(shorter() * shorter()); }
  std::int64_t chunks() const { return (rows * columns + muon_chunk - 1) / muon_chunk; }
};

// Large enough for the largest batch. update_workspace_bytes (planning/options/optimizers.cpp)
// counts it.
struct MuonBatchWorkspace {
  at::Tensor first, second;   // bf16
  at::Tensor gram, gram_sum;  // bf16
  at::Tensor squares;         // f32
};

at::Tensor matrices_of(const at::Tensor& flat, const MuonBatch& batch) {
  return flat.as_strided({batch.count, batch.rows, batch.columns},
                         {batch.stride(), batch.columns, 1});
}
at::Tensor grams_of(const at::Tensor& flat, const MuonBatch& batch) {
  const std::int64_t side = batch.shorter();
  return flat.as_strided({batch.count, side, side}, {batch.gram_stride(), side, 1});
}

MuonMatrix matrix_of(const TrainOptions& options, const UpdateRanges& ranges, std::size_t i) {
  const at::Tensor& weights = ranges.weights[i];
  MuonMatrix matrix{.weights = weights.mutable_data_ptr<float>(),
                    .momentum = ranges.states[0][i].mutable_data_ptr<float>(),
                    .gradient = ranges.gradients[i].const_data_ptr<float>(),
                    .lr = ranges.lr.const_data_ptr<float>(),
                    .decay = ranges.weight_decay,
                    .factor = muon_rate_factor(options, weights.size(0), weights.size(1))};
  if (!ranges.working.empty()) matrix.working = ranges.working[i].mutable_data_ptr();
  return matrix;
}

class PreparedMuonByKernels : public PreparedUpdate {
 public:
  PreparedMuonByKernels(const TrainOptions& options, const UpdateNumbers& numbers,
                        std::vector<UpdateGroup> groups)
      : options_(options), numbers_(numbers), groups_(std::move(groups)) {
    std::vector<MuonMatrix> matrices;
    for (const UpdateGroup& group : groups_) {
      std::map<std::pair<std::int64_t, std::int64_t>, std::vector<MuonMatrix>> by_shape;
      for (const UpdateRanges& ranges : group)
        for (std::size_t i = 0; i < ranges.weights.size(); ++i) {
          const at::Tensor& weights = ranges.weights[i];
          by_shape[{weights.size(0), weights.size(1)}].push_back(matrix_of(options, ranges, i));
          if (!ranges.working.empty()) working_ = *kernel_dtype(ranges.working[i].scalar_type());
        }
      batches_.emplace_back();
      for (const auto& [shape, some] : by_shape) {
        const std::int64_t together = muon_batch(std::ssize(some), shape.first * shape.second);
        for (std::int64_t first = 0; first < std::ssize(some); first += together)
          batches_.back().push_back({.rows = shape.first,
                                     .columns = shape.second,
                                     .first = std::ssize(matrices) + first,
                                     .count = std::min(together, std::ssize(some) - first)});
        matrices.insert(matrices.end(), some.begin(), some.end());
      }
    }
    table_ = table_on(numbers_.skip.device(), matrices);
  }

  const std::vector<std::vector<MuonBatch>>& batches() const { return batches_; }
  void use(std::shared_ptr<const MuonBatchWorkspace> workspace) {
    workspace_ = std::move(workspace);
  }

  void update(std::size_t group) const override {
    const at::NoGradGuard no_grad;
    for (const MuonBatch& batch : batches_[group]) update_batch(batch);
  }

 private:
  void update_batch(const MuonBatch& batch) const {
    MuonArguments arguments{
        .matrices = static_cast<const MuonMatrix*>(table_.const_data_ptr()) + batch.first,
        .count = batch.count,
        .elements = batch.rows * batch.columns,
        .update = workspace_->first.mutable_data_ptr(),
        .stride = batch.stride(),
        .squares = workspace_->squares.mutable_data_ptr<float>(),
        .divisor = numbers_.divisor.const_data_ptr<float>(),
        .skip = numbers_.skip.const_data_ptr<float>(),
        .momentum = options_.optimizer.muon_momentum,
        .nesterov = options_.optimizer.muon_nesterov,
        .working_dtype = working_};
    cuda_muon().momentum(arguments);
    cuda_muon().scale(arguments);
    arguments.update = orthogonalised(batch).mutable_data_ptr();
    cuda_muon().weights(arguments);
  }

  // Computes the update of a batch from workspace_->first. Returns it in another part of the
  // workspace.
  at::Tensor orthogonalised(const MuonBatch& batch) const {
    at::Tensor x = matrices_of(workspace_->first, batch);
    at::Tensor next = matrices_of(workspace_->second, batch);
    const at::Tensor gram = grams_of(workspace_->gram, batch);
    const at::Tensor sum = grams_of(workspace_->gram_sum, batch);
    const bool is_tall = batch.rows > batch.columns;
    for (int i = 0; i < muon_iterations; ++i) {
      const at::Tensor transposed = x.transpose(1, 2);
      is_tall ? matmul_batch(gram, transposed, x) : matmul_batch(gram, x, transposed);
      matmul_batch(sum, gram, gram, muon_quintic, {.addend = gram, .beta = muon_cubic});
      is_tall ? matmul_batch(next, x, sum, 1, {.addend = x, .beta = muon_linear})
              : matmul_batch(next, sum, x, 1, {.addend = x, .beta = muon_linear});
      std::swap(x, next);
    }
    return x;
  }

  const TrainOptions& options_;
  UpdateNumbers numbers_;
  std::vector<UpdateGroup> groups_;              // owns the memory to which the table points
  at::Tensor table_;                             // an array of MuonMatrix
  std::vector<std::vector<MuonBatch>> batches_;  // by group
  std::shared_ptr<const MuonBatchWorkspace> workspace_;
  KernelDtype working_ = KernelDtype::bf16;
};

class MuonByKernels : public OptimizerRule {
 public:
  MuonByKernels(const TrainOptions& options, UpdateNumbers numbers)
      : options_(options), numbers_(std::move(numbers)) {}

  std::shared_ptr<const PreparedUpdate> prepare(std::vector<UpdateGroup> groups,
                                                const at::Tensor& /*dirty*/) override {
    auto prepared = std::make_shared<PreparedMuonByKernels>(options_, numbers_, std::move(groups));
    make_workspace_for(prepared->batches());
    prepared->use(workspace_);
    return prepared;
  }

  // Deferral would split the matrices by block, and those of one block are too little work for a
  // GPU.
  bool defers() const override { return false; }

 private:
  // Allocates a larger workspace if the last one is too small. Updates that were prepared with the
  // old one keep it.
  void make_workspace_for(const std::vector<std::vector<MuonBatch>>& groups) {
    std::int64_t elements = 0, grams = 0, squares = 0;
    for (const std::vector<MuonBatch>& group : groups)
      for (const MuonBatch& batch : group) {
        elements = std::max(elements, batch.count * batch.stride());
        grams = std::max(grams, batch.count * batch.gram_stride());
        squares = std::max(squares, batch.count * batch.chunks());
      }
    if (elements == 0) return;
    if (workspace_ != nullptr && workspace_->first.numel() >= elements &&
        workspace_->gram.numel() >= grams && workspace_->squares.numel() >= squares)
      return;
    const auto f32 = numbers_.skip.options(), bf16 = f32.dtype(at::kBFloat16);
    workspace_ = std::make_shared<MuonBatchWorkspace>(
        MuonBatchWorkspace{.first = at::empty({elements}, bf16),
                           .second = at::empty({elements}, bf16),
                           .gram = at::empty({grams}, bf16),
                           .gram_sum = at::empty({grams}, bf16),
                           .squares = at::empty({squares}, f32)});
  }

  const TrainOptions& options_;
  UpdateNumbers numbers_;
  std::shared_ptr<const MuonBatchWorkspace> workspace_;  // null = no matrices so far
};

}  // namespace

std::unique_ptr<OptimizerRule> make_muon_by_kernels(const TrainOptions& options,
                                                    const UpdateNumbers& numbers) {
  return std::make_unique<MuonByKernels>(options, numbers);
}

}  // namespace lockstep
