#include "training/gradients/row_exchange.h"

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

RowExchange::RowExchange(GradientBuffers& gradients, ProcessGroup& group)
    : storage_(gradients.storage()), gradients_(gradients), group_(group) {}

// The sum of rows is f32.
bool RowExchange::adds_rows(std::size_t i) const {
  return gradients_[i].is_sparse() && gradients_.sums_of(i).is_same(gradients_.flat());
}

std::vector<std::int64_t> RowExchange::counts() const {
  std::vector<std::int64_t> counts;
  if (group_.size() == 1) return counts;
  for (std::size_t i = 0; i < storage_.parameters().size(); ++i)
    counts.push_back(adds_rows(i) ? gradients_[i].row_count() : -1);
  return counts;
}

// An all-reduce moves each element of the table twice, in fp32 or bf16; rows come from every rank,
// in low precision, and are added up one by one. Below the smallest bucket neither takes long.
bool RowExchange::pays(std::size_t i, std::int64_t rows) const {
  const std::int64_t of_table = storage_.parameters()[i].tensor.size(0);
  return storage_.places()[i].elements * 4 >= smallest_bucket_bytes && 2 * rows <= of_table &&
         rows_keep_an_order(storage_.view(gradients_.flat(), i));
}

void RowExchange::agree(const std::vector<std::int64_t>& counts) {
  most_.clear();
  agreed_.clear();
  if (group_.size() == 1 || storage_.sharing() != nullptr || !storage_.low_precision() ||
      at::globalContext().deterministicAlgorithms())
    return;
  const auto parameters = static_cast<std::int64_t>(counts.size());
  const at::Tensor all = at::zeros({group_.size(), parameters}, at::kDouble);
  auto* const own = all.mutable_data_ptr<double>() + group_.rank() * parameters;
  for (std::size_t i = 0; i < counts.size(); ++i)  // what was a table then may be none any more
    own[i] = adds_rows(i) ? static_cast<double>(counts[i]) : -1;
  group_.all_reduce_on_host(all)->wait();
  const auto* next = all.const_data_ptr<double>();
  for (int rank = 0; rank < group_.size(); ++rank, next += parameters)
    agreed_.emplace_back(next, next + parameters);
  most_.assign(counts.size(), 0);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto less = [i](const auto& a, const auto& b) { return a[i] < b[i]; };
    const auto [least, most] = std::minmax_element(agreed_.begin(), agreed_.end(), less);
    if ((*least)[i] >= 0 && pays(i, (*most)[i] * group_.size())) most_[i] = (*most)[i];
  }
  connect();
}

// A library asks the other ranks for what it needs for the first of a kind of collectives. That
// must not happen in a capture, which may fail on some of them.
void RowExchange::connect() {
  const auto table = std::find_if(most_.begin(), most_.end(), [](auto most) { return most > 0; });
  if (has_connected_ || table == most_.end()) return;
  const at::NoGradGuard no_grad;
  Sent sent;
  try {
    sent = empty_for(static_cast<std::size_t>(table - most_.begin()));
  } catch (const std::exception& error) {
    if (!is_out_of_memory(error)) throw;
  }
  // Where one rank has no memory for it, tables go as a whole on all.
  if (!group_.all_agree(sent.all.defined())) return most_.assign(most_.size(), 0);
  group_.gather_shards(sent.all.view({-1}))->wait();
  has_connected_ = true;
}

void RowExchange::begin() {
  kept_.assign(most_.size(), {});
  for (std::size_t i = 0; i < most_.size(); ++i)
    if (takes(i)) gradients_[i].keep_rows(&kept_[i]);
}

void RowExchange::end() {
  for (std::size_t i = 0; i < most_.size(); ++i) gradients_[i].keep_rows(nullptr);
  most_.clear();
  kept_.clear();
  sent_.clear();
}

// Room for the rows of all ranks.
RowExchange::Sent RowExchange::empty_for(std::size_t i) const {
  Sent sent{.parameter = i,
            .bytes_of_row = storage_.parameters()[i].tensor.size(1) *
                            static_cast<std::int64_t>(storage_.weights().element_size())};
  const std::int64_t bytes = most_[i] * (2 * bytes_of_number + sent.bytes_of_row);
  sent.all = at::empty({group_.size(), (bytes + 15) / 16 * 16},
                       gradients_.flat().options().dtype(at::kByte));
  return sent;
}

// The same memory for what is sent and what comes.
TableRows RowExchange::rows_of(const Sent& sent, std::int64_t rank) const {
  const at::Tensor own = sent.all[rank];
  const std::int64_t most = most_[sent.parameter], numbers = most * bytes_of_number;
  const std::int64_t count = agreed_[static_cast<std::size_t>(rank)][sent.parameter];
  return {.rows = own.narrow(0, 0, numbers).view(at::kLong).narrow(0, 0, count),
          .gradient = own.narrow(0, 2 * numbers, most * sent.bytes_of_row)
                          .view(storage_.weights().scalar_type())
                          .view({most, -1})
                          .narrow(0, 0, count),
          .order = own.narrow(0, numbers, numbers).view(at::kLong).narrow(0, 0, count)};
}

void RowExchange::prepare(std::size_t i) {
  const at::NoGradGuard no_grad;
  const std::string& name = storage_.parameters()[i].name;
  if (!gradients_[i].is_sparse())
    throw Error(cat("the gradient of ", name, " is more than rows, which it was before"));
  std::int64_t count = 0;
  for (const TableRows& rows : kept_[i]) count += rows.rows.numel();
  const std::int64_t agreed = agreed_[static_cast<std::size_t>(group_.rank())][i];
  if (count != agreed)
    throw Error(cat("the gradient of ", name, " has ", count,
                    " rows, where a step of the same shapes had ", agreed));
  Sent sent = empty_for(i);
  const TableRows own = rows_of(sent, group_.rank());
  Copies copies;
  std::int64_t at = 0;
  for (const TableRows& rows : kept_[i]) {
    const std::int64_t more = rows.rows.numel();
    copies.emplace_back(own.rows.narrow(0, at, more), rows.rows);
    copies.emplace_back(own.gradient.narrow(0, at, more), rows.gradient);
    at += more;
  }
  copy_all(copies);
  own.order.copy_(rows_by_token(own.rows, storage_.parameters()[i].tensor.size(0)));
  sent_.push_back(std::move(sent));
}

void RowExchange::send(std::size_t i) {
  const auto sent =
      std::find_if(sent_.begin(), sent_.end(), [i](const Sent& one) { return one.parameter == i; });
  sent->pending = group_.gather_shards(sent->all.view({-1}));
}

std::vector<std::size_t> RowExchange::finish() {
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
