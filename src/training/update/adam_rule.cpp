// Adam, and AdamW also for the parameters that muon leaves to it. Uses our own kernel on GPUs if it
// is available, else ATen's fused optimizers.
#include "training/update/aten_rule.h"

#include "core/base/check.h"
#include "ops/adam/adam.h"
#include "ops/shared/own_kernels.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/zeros.h>

#include <utility>

namespace lockstep {
namespace {

std::unique_ptr<OptimizerRule> adam_by_aten(const TrainOptions& options,
                                            const UpdateNumbers& numbers) {
  return std::make_unique<AtenRule>([&o = options.optimizer, numbers](const UpdateRanges& ranges) {
    if (o.kind != OptimizerKind::adam)
      at::_fused_adamw_(ranges.weights, ranges.gradients, ranges.states[0], ranges.states[1], {},
                        ranges.steps, ranges.lr, o.beta1, o.beta2, ranges.weight_decay, o.eps,
                        /*amsgrad=*/false, /*maximize=*/false, numbers.divisor, numbers.skip);
    else
      at::_fused_adam_(ranges.weights, ranges.gradients, ranges.states[0], ranges.states[1], {},
                       ranges.steps, ranges.lr, o.beta1, o.beta2, ranges.weight_decay, o.eps,
                       /*amsgrad=*/false, /*maximize=*/false, numbers.divisor, numbers.skip);
  });
}

// Updates a group with one launch. The kernel reads a table of all ranges with their rates, and a
// table of the chunks of these ranges. It also writes the low-precision copy of the weights.
class PreparedByKernel : public PreparedUpdate {
 public:
  PreparedByKernel(const TrainOptions& options, const UpdateNumbers& numbers,
                   std::vector<UpdateGroup> groups, const at::Tensor& dirty)
      : options_(options), numbers_(numbers), groups_(std::move(groups)), dirty_(dirty) {
    const at::NoGradGuard no_grad;
    std::vector<AdamRange> ranges;
    std::vector<AdamChunk> chunks;
    // With several groups, the kernel of one group shares the GPU with other kernels, so its blocks
    // should be short.
    chunk_ = groups_.size() > 1 ? adam_small_chunk : adam_chunk;
    for (const UpdateGroup& group : groups_) {
      Span span{.first_range = std::ssize(ranges), .first_chunk = std::ssize(chunks)};
      for (const UpdateRanges& of : group)
        for (std::size_t i = 0; i < of.weights.size(); ++i) {
          const AdamRange range = range_of(of, i);
          if (!of.working.empty()) working_ = *kernel_dtype(of.working[i].scalar_type());
          for (std::int64_t begin = 0; begin < range.elements; begin += chunk_)
            chunks.push_back({.range = std::ssize(ranges), .begin = begin});
          ranges.push_back(range);
        }
      span.last_chunk = std::ssize(chunks);
      spans_.push_back(span);
    }
    const at::Device device = numbers_.step.device();
    ranges_ = table_on(device, ranges);
    chunks_ = table_on(device, chunks);
    factors_ = at::zeros({std::ssize(ranges), adam_factors}, numbers_.step.options());
  }

  void begin() const override { cuda_adam().factors(arguments()); }

  void update(std::size_t group) const override {
    const Span& span = spans_[group];
    AdamArguments arguments = this->arguments();
    arguments.chunks += span.first_chunk;
    arguments.chunk_count = span.last_chunk - span.first_chunk;
    cuda_adam().update(arguments);
  }

  std::optional<DeferredRows> deferred_rows(std::size_t group) const override {
    const UpdateGroup& ranges = groups_[group];
    LOCKSTEP_CHECK(ranges.size() == 1 && ranges[0].weights.size() == 1);
    return DeferredRows{.adam = arguments(), .range = spans_[group].first_range};
  }

 private:
  // Where the entries of a group are in the tables.
  struct Span {
    std::int64_t first_range = 0, first_chunk = 0, last_chunk = 0;
  };
  static AdamRange range_of(const UpdateRanges& of, std::size_t i) {
    AdamRange range{.weights = of.weights[i].mutable_data_ptr<float>(),
                    .first = of.states[0][i].mutable_data_ptr<float>(),
                    .second = of.states[1][i].mutable_data_ptr<float>(),
                    .gradients = of.gradients[i].const_data_ptr(),
                    .gradients_dtype = *kernel_dtype(of.gradients[i].scalar_type()),
                    .lr = of.lr.const_data_ptr<float>(),
                    .elements = of.weights[i].numel(),
                    .begin = of.begins[i],
                    .decay = of.weight_decay};
    LOCKSTEP_CHECK(range.elements % 4 == 0);  // because the layout aligns ranges
    if (!of.working.empty()) range.working = of.working[i].mutable_data_ptr();
    return range;
  }

  // The arguments for all groups.
  AdamArguments arguments() const {
    const auto& o = options_.optimizer;
    AdamArguments arguments{.ranges = static_cast<const AdamRange*>(ranges_.const_data_ptr()),
                            .range_count = factors_.size(0),
                            .factors = factors_.mutable_data_ptr<float>(),
                            .chunks = static_cast<const AdamChunk*>(chunks_.const_data_ptr()),
                            .chunk_count = spans_.back().last_chunk,
                            .chunk = chunk_,
                            .working_dtype = working_,
                            .step = numbers_.step.const_data_ptr<float>(),
                            .divisor = numbers_.divisor.const_data_ptr<float>(),
                            .skip = numbers_.skip.const_data_ptr<float>(),
                            .beta1 = o.beta1,
                            .beta2 = o.beta2,
                            .eps = o.eps,
                            .decoupled = o.kind != OptimizerKind::adam};
    if (dirty_.defined() && o.eps > 0) arguments.dirty = dirty_.const_data_ptr<std::uint8_t>();
    return arguments;
  }

  const TrainOptions& options_;
  UpdateNumbers numbers_;
  std::vector<UpdateGroup> groups_;
  at::Tensor dirty_;                      // undefined = updates skip nothing
  std::vector<Span> spans_;               // by group
  at::Tensor ranges_, chunks_, factors_;  // see kernel_arguments.h
  std::int64_t chunk_ = 0;                // elements per chunk
  KernelDtype working_ = KernelDtype::bf16;
};

class AdamByKernel : public OptimizerRule {
 public:
  AdamByKernel(const TrainOptions& options, UpdateNumbers numbers)
      : options_(options), numbers_(std::move(numbers)) {}

  std::shared_ptr<const PreparedUpdate> prepare(std::vector<UpdateGroup> groups,
                                                const at::Tensor& dirty) override {
    return std::make_shared<PreparedByKernel>(options_, numbers_, std::move(groups), dirty);
  }
  bool reads_low_sums() const override { return true; }
  bool skips_clean() const override { return true; }

 private:
  const TrainOptions& options_;
  UpdateNumbers numbers_;
};

}  // namespace

std::unique_ptr<OptimizerRule> make_adam_rule(const TrainOptions& options,
                                              const UpdateNumbers& numbers, at::Device device) {
  if (device.is_cuda() && cuda_adam().update != nullptr)
    return std::make_unique<AdamByKernel>(options, numbers);
  return adam_by_aten(options, numbers);
}

}  // namespace lockstep
