#include "training/gradients/reduce_buffer.h"

#include "ops/copy_all/copy_all.h"
#include "training/parameters/parameter_ranges.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

namespace lockstep {

ReduceBuffer::ReduceBuffer(const ParameterStorage& storage, const at::Tensor& flat,
                           const std::vector<std::shared_ptr<GradientBuffer>>& buffers)
    : storage_(storage), summed_(flat), buffers_(buffers) {}

void ReduceBuffer::allocate() {
  const at::NoGradGuard no_grad;
  reduced_ = at::zeros({storage_.elements()}, summed_.options().dtype(at::kBFloat16));
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    buffers_[i]->set_reduce_buffer(storage_.view(reduced_, i));
}

void ReduceBuffer::round(const std::vector<std::size_t>& parameters) const {
  if (!reduced_.defined()) return;
  Copies copies;
  for (const auto& [begin, end] : ranges_of(
           storage_, parameters, [this](std::size_t i) { return !buffers_[i]->is_rounded(); }))
    copies.emplace_back(reduced_.narrow(0, begin, end - begin),
                        summed_.narrow(0, begin, end - begin));
  copy_all(copies);
}

void ReduceBuffer::widen(const std::vector<std::size_t>& parameters, const UpdatePlan& plan) const {
  if (!reduced_.defined()) return;
  ParameterRanges ranges = ranges_of(storage_, parameters, [&plan](std::size_t i) {
    return !plan.parameters[i].sum_in_reduce_buffer;
  });
  if (storage_.sharing() != nullptr &&
      !ranges.empty()) {  // then widens all sums that this rank has
    ranges.clear();
    for (const Shard& shard : storage_.own()) ranges.emplace_back(shard.begin, shard.end);
  }
  Copies copies;
  for (const auto& [begin, end] : ranges)
    copies.emplace_back(summed_.narrow(0, begin, end - begin),
                        reduced_.narrow(0, begin, end - begin));
  copy_all(copies);
}

}  // namespace lockstep
