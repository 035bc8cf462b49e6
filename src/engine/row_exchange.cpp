#include "engine/row_exchange.h"

#include "base/error.h"
#include "base/text.h"
#include "kernels/copy_all.h"
#include "plan/buckets.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <utility>

namespace lockstep {
namespace {

constexpr std::int64_t bytes_of_number = sizeof(std::int64_t);

std::int64_t aligned(std::int64_t bytes) { return (bytes + 15) / 16 * 16; }

}  // namespace

RowExchange::RowExchange(Arena& arena, ProcessGroup& group) : arena_(arena), group_(group) {}

std::vector<std::int64_t> RowExchange::counts() const {
  std::vector<std::int64_t> counts;
  for (std::size_t i = 0; i < arena_.parameters().size(); ++i)
    counts.push_back(arena_.is_table(i) ? arena_.row_count(i) : -1);
  return counts;
}

// An all-reduce moves each element of the table twice, in fp32; rows come from every rank, in low
// precision, and are added up one by one. Below the smallest bucket neither takes long.
bool RowExchange::pays(std::size_t i, std::int64_t rows) const {
  const std::int64_t of_table = arena_.parameters()[i].tensor.size(0);
  return arena_.sizes()[i] * 4 >= smallest_bucket_bytes && 2 * rows <= of_table;
}

void RowExchange::agree(const std::vector<std::int64_t>& counts) {
  most_.clear();
  agreed_.clear();
  if (group_.size() == 1 || arena_.sharing() != nullptr || !arena_.low_precision() ||
      at::globalContext().deterministicAlgorithms())
    return;
  const auto parameters = static_cast<std::int64_t>(counts.size());
  const at::Tensor all = at::zeros({group_.size(), parameters}, at::kDouble);
  std::copy(counts.begin(), counts.end(),
            all.mutable_data_ptr<double>() + group_.rank() * parameters);
  group_.all_reduce_on_host(all)->wait();
  const auto* next = all.const_data_ptr<double>();
  for (int rank = 0; rank < group_.size(); ++rank, next += parameters)
    agreed_.emplace_back(next, next + parameters);
  most_.assign(counts.size(), 0);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto less = [i](const auto& a, const auto& b) { return a[i] < b[i]; };
    const auto [least, most] = std::minmax_element(agreed_.begin(), agreed_.end(), less);
    // Even, so that the gradients behind the rows' numbers are aligned to 16 bytes.
    const std::int64_t room = ((*most)[i] + 1) / 2 * 2;
    if ((*least)[i] >= 0 && pays(i, room * group_.size())) most_[i] = room;
  }
}

void RowExchange::begin() {
  kept_.assign(most_.size(), {});
  for (std::size_t i = 0; i < most_.size(); ++i)
    if (takes(i)) arena_.keep_rows(i, &kept_[i]);
}

void RowExchange::end() {
  for (std::size_t i = 0; i < most_.size(); ++i) arena_.keep_rows(i, nullptr);
  most_.clear();
  kept_.clear();
  sent_.clear();
}

// The same memory for what is sent and what comes.
TableRows RowExchange::rows_of(const Sent& sent, std::int64_t rank) const {
  const at::Tensor own = sent.all[rank];
  const std::int64_t most = most_[sent.parameter], behind = most * bytes_of_number;
  return {.rows = own.narrow(0, 0, behind).view(at::kLong),
          .gradient = own.narrow(0, behind, most * sent.bytes_of_row)
                          .view(arena_.working().scalar_type())
                          .view({most, -1})};
}

void RowExchange::prepare(std::size_t i) {
  const at::NoGradGuard no_grad;
  const std::vector<TableRows>& kept = kept_[i];
  const auto own_rank = static_cast<std::size_t>(group_.rank());
  std::int64_t count = 0;
  for (const TableRows& rows : kept) count += rows.rows.numel();
  if (count != agreed_[own_rank][i] || !arena_.is_table(i))
    throw Error(cat("the gradient of ", arena_.parameters()[i].name, " has ", count,
                    " rows, where a step of the same shapes had ", agreed_[own_rank][i]));
  Sent sent{.parameter = i,
            .bytes_of_row = arena_.parameters()[i].tensor.size(1) *
                            static_cast<std::int64_t>(arena_.working().element_size())};
  sent.all = at::empty({group_.size(), aligned(most_[i] * (bytes_of_number + sent.bytes_of_row))},
                       arena_.gradients().options().dtype(at::kByte));
  const TableRows own = rows_of(sent, group_.rank());
  Copies copies;
  std::int64_t at = 0;
  for (const TableRows& rows : kept) {
    const std::int64_t more = rows.rows.numel();
    copies.emplace_back(own.rows.narrow(0, at, more), rows.rows);
    copies.emplace_back(own.gradient.narrow(0, at, more), rows.gradient);
    at += more;
  }
  copy_all(copies);
  sent_.push_back(std::move(sent));
}

void RowExchange::send(std::size_t i) {
  const auto sent = std::find_if(sent_.begin(), sent_.end(),
                                 [i](const Sent& one) { return one.parameter == i; });
  sent->pending = group_.gather_pieces(sent->all.view({-1}));
}

std::vector<std::size_t> RowExchange::finish() {
  const at::NoGradGuard no_grad;
  std::vector<std::size_t> tables;
  for (const Sent& sent : sent_) {
    tables.push_back(sent.parameter);
    sent.pending->wait();
    for (std::size_t rank = 0; rank < agreed_.size(); ++rank) {
      const TableRows rows = rows_of(sent, static_cast<std::int64_t>(rank));
      const std::int64_t count = agreed_[rank][sent.parameter];
      arena_.add_rows(sent.parameter, {.rows = rows.rows.narrow(0, 0, count),
                                       .gradient = rows.gradient.narrow(0, 0, count)});
    }
  }
  sent_.clear();
  return tables;
}

}  // namespace lockstep
