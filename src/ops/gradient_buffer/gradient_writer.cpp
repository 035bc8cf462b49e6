#include "ops/gradient_buffer/gradient_writer.h"

#include "core/base/check.h"
#include "ops/gradient_buffer/gradient_registry.h"

#include <ATen/ops/zeros.h>

namespace lockstep {

GradientWriter::GradientWriter(std::initializer_list<Wanted> wanted, std::int64_t read_bytes) {
  LOCKSTEP_CHECK(wanted.size() <= most_parameters);
  for (const auto& [parameter, needed, can] : wanted) {
    Part& part = parts_[count_++];
    part.parameter = parameter;
    part.needed = needed && parameter.defined();
    part.can = can;
    if (part.needed) part.buffer = gradient_buffer_of_this_pass(parameter, can.any_strides);
  }
  if (read_bytes <= side_work_bytes) side_ = common_side();
}

SideWork* GradientWriter::common_side() const {
  SideWork* side = nullptr;
  for (std::size_t k = 0; k < count_; ++k) {
    if (!parts_[k].parameter.defined()) continue;
    side = has_buffer(k) ? parts_[k].buffer->side_work() : nullptr;
    if (side == nullptr) return nullptr;
  }
  return side;
}

void GradientWriter::round_all_or_none(std::size_t begin, std::size_t end) {
  for (std::size_t k = begin; k < end; ++k) {
    if (has_buffer(k) && parts_[k].buffer->would_round(parts_[k].parameter.scalar_type())) continue;
    for (std::size_t other = begin; other < end; ++other) parts_[other].can.rounds = false;
    return;
  }
}

GradientTarget GradientWriter::open(std::size_t k) {
  const Part& part = parts_[k];
  if (!part.buffer) return {};
  return part.buffer->open(part.can, part.parameter.scalar_type(), side_);
}

GradientTarget GradientWriter::open_or_zeros(std::size_t k) {
  Part& part = parts_[k];
  if (part.buffer) return open(k);
  part.zeros = at::zeros(part.parameter.sizes(), part.parameter.options().dtype(at::kFloat));
  return {.into = part.zeros};
}

at::Tensor GradientWriter::returned(std::size_t k) const {
  const Part& part = parts_[k];
  return part.needed && part.zeros.defined() ? part.zeros.to(part.parameter.scalar_type())
                                             : at::Tensor();
}

}  // namespace lockstep
