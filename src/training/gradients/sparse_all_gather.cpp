#include "training/gradients/sparse_all_gather.h"

#include "backends/out_of_memory.h"
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "ops/copy_all/copy_all.h"
#include "ops/embedding/embedding.h"
#include "planning/batch/buckets.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <utility>

namespace lockstep {
namespace {

constexpr std::int64_t bytes_of_number = sizeof(std::int64_t);

}  // namespace

SparseAllGather::SparseAllGather(GradientBuffers& gradients, ProcessGroup& group)
    : storage_(gradients.storage()), gradients_(gradients), group_(group) {}

// Whether rows of this parameter can be added. This needs a sparse gradient that is summed in f32.
bool SparseAllGather::adds_rows(std::size_t i) const {
  return gradients_[i].is_sparse() && gradients_.sums_of(i).is_same(gradients_.flat());
}

std::vector<std::int64_t> SparseAllGather::counts() const {
  std::vector<std::int64_t> counts;
  if (group_.size() == 1) return counts;
  for (std::size_t i = 0; i < storage_.parameters().size(); ++i)
    counts.push_back(adds_rows(i) ? gradients_[i].row_count() : -1);
  return counts;
}

// Estimates whether a gather of rows is faster than an all-reduce of the table. An all-reduce moves
// each element of the table twice, in fp32 or bf16. A gather moves the rows of every rank in low
// precision, and these are added one by one. Below the size of the smallest bucket, both are fast.
bool SparseAllGather::pays(std::size_t i, std::int64_t rows) const {
  const std::int64_t of_table = storage_.parameters()[i].tensor.size(0);
  return fills_a_bucket(storage_.places()[i].elements) && 2 * rows <= of_table &&
         rows_keep_an_order(storage_.view(gradients_.flat(), i));
}

const std::vector<std::int64_t>& SparseAllGather::rows_of_ranks(std::size_t i) const {
  return gradients_.plan().parameters[i].rows_of_ranks;
}

std::int64_t SparseAllGather::most_rows(std::size_t i) const {
  const std::vector<std::int64_t>& rows = rows_of_ranks(i);
  return rows.empty() ? 0 : *std::max_element(rows.begin(), rows.end());
}

SparseAllGather::AgreedRows SparseAllGather::agree(const std::vector<std::int64_t>& counts) {
  if (group_.size() == 1 || storage_.sharing() != nullptr || !storage_.low_precision() ||
      at::globalContext().deterministicAlgorithms())
    return {};
  const auto parameters = static_cast<std::int64_t>(counts.size());
  const at::Tensor all = at::zeros({group_.size(), parameters}, at::kDouble);
  auto* const own = all.mutable_data_ptr<double>() + group_.rank() * parameters;
  // a sparse gradient may have become dense since then
  for (std::size_t i = 0; i < counts.size(); ++i)
    own[i] = adds_rows(i) ? static_cast<double>(counts[i]) : -1;
  group_.all_reduce_on_host(all)->wait();
  const at::Tensor by_parameter = all.t().to(at::kLong).contiguous();
  const auto* next = by_parameter.const_data_ptr<std::int64_t>();
  AgreedRows agreed;
  for (std::size_t i = 0; i < counts.size(); ++i, next += group_.size()) {
    std::vector<std::int64_t> rows(next, next + group_.size());
    const auto [least, most] = std::minmax_element(rows.begin(), rows.end());
    if (*least < 0 || *most == 0 || !pays(i, *most * group_.size())) rows.clear();
    agreed.push_back(std::move(rows));
  }
  connect(agreed);
  return agreed;
}

// Runs a first gather, because libraries connect to the other ranks at the first collective of each
// kind. That must not happen in a capture, which may fail on some ranks.
void SparseAllGather::connect(AgreedRows& agreed) {
  const auto table =
      std::find_if(agreed.begin(), agreed.end(), [](const auto& rows) { return !rows.empty(); });
  if (has_connected_ || table == agreed.end()) return;
  const at::NoGradGuard no_grad;
  Sent sent;
  try {
    sent = empty_for(static_cast<std::size_t>(table - agreed.begin()),
                     *std::max_element(table->begin(), table->end()));
  } catch (const std::exception& error) {
    if (!is_out_of_memory(error)) throw;
  }
  // If one rank has no memory for this, all ranks reduce tables as a whole.
  if (!group_.all_agree(sent.all.defined())) return agreed.clear();
  group_.gather_shards(sent.all.view({-1}))->wait();
  has_connected_ = true;
}

void SparseAllGather::begin() {
  kept_.assign(gradients_.plan().parameters.size(), {});
  for (std::size_t i = 0; i < kept_.size(); ++i)
    if (takes(i)) gradients_[i].keep_rows(&kept_[i]);
}

void SparseAllGather::end() {
  for (std::size_t i = 0; i < kept_.size(); ++i) gradients_[i].keep_rows(nullptr);
  kept_.clear();
  sent_.clear();
}

// Allocates memory for the rows of all ranks, at most `most` rows per rank.
SparseAllGather::Sent SparseAllGather::empty_for(std::size_t i, std::int64_t most) const {
  Sent sent{.parameter = i,
            .bytes_of_row = storage_.parameters()[i].tensor.size(1) *
                            static_cast<std::int64_t>(storage_.weights().element_size())};
  const std::int64_t bytes = most * (2 * bytes_of_number + sent.bytes_of_row);
  sent.all = at::empty({group_.size(), (bytes + 15) / 16 * 16},
                       gradients_.flat().options().dtype(at::kByte));
  return sent;
}

// Views the rows of a rank. Rows to send and rows received are in the same memory.
SparseRows SparseAllGather::rows_of(const Sent& sent, std::int64_t rank) const {
  const at::Tensor own = sent.all[rank];
  const std::int64_t most = most_rows(sent.parameter), numbers = most * bytes_of_number;
  const std::int64_t count = rows_of_ranks(sent.parameter)[static_cast<std::size_t>(rank)];
  return {.rows = own.narrow(0, 0, numbers).view(at::kLong).narrow(0, 0, count),
          .gradient = own.narrow(0, 2 * numbers, most * sent.bytes_of_row)
                          .view(storage_.weights().scalar_type())
                          .view({most, -1})
                          .narrow(0, 0, count),
          .order = own.narrow(0, numbers, numbers).view(at::kLong).narrow(0, 0, count)};
}

void SparseAllGather::prepare(std::size_t i) {
  const at::NoGradGuard no_grad;
  const std::string& name = storage_.parameters()[i].name;
  if (!gradients_[i].is_sparse())
    throw Error(cat("the gradient of ", name, " is more than rows, which it was before"));
  std::int64_t count = 0;
  for (const SparseRows& rows : kept_[i]) count += rows.rows.numel();
  const std::int64_t agreed = rows_of_ranks(i)[static_cast<std::size_t>(group_.rank())];
  if (count != agreed)
    throw Error(cat("the gradient of ", name, " has ", count,
                    " rows, where a step of the same shapes had ", agreed));
  Sent sent = empty_for(i, most_rows(i));
  const SparseRows own = rows_of(sent, group_.rank());
  Copies copies;
  std::int64_t at = 0;
  for (const SparseRows& rows : kept_[i]) {
    const std::int64_t more = rows.rows.numel();
    copies.emplace_back(own.rows.narrow(0, at, more), rows.rows);
    copies.emplace_back(own.gradient.narrow(0, at, more), rows.gradient);
    at += more;
  }
  copy_all(copies);
  own.order.copy_(rows_by_token(own.rows, storage_.parameters()[i].tensor.size(0)));
  sent_.push_back(std::move(sent));
}

void SparseAllGather::send(std::size_t i) {
  const auto sent =
      std::find_if(sent_.begin(), sent_.end(), [i](const Sent& one) { return one.parameter == i; });
  sent->pending = group_.gather_shards(sent->all.view({-1}));
}

std::vector<std::size_t> SparseAllGather::finish() {
  const at::NoGradGuard no_grad;
  std::vector<std::size_t> tables;
  for (const Sent& sent : sent_) {
    tables.push_back(sent.parameter);
    sent.pending->wait();
    for (int rank = 0; rank < group_.size(); ++rank)
      gradients_[sent.parameter].add_kept_rows(rows_of(sent, rank));
  }
  sent_.clear();
  return tables;
}

}  // namespace lockstep
