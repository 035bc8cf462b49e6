// Computes the loss of the rows alone, of every row twice, and of the rows with padding that has
// the same content. A row is augmented in the same way each time, and the engine's dropout is off.
// Some recipes use torch's own dropout, StepContext::uniform, or rows that depend on each other.
// These may hide a fault, so the loss is then computed once more in eval mode. A fault is reported
// only if other samples show it too.
#include "training/contract/contract_loss.h"

#include "backends/exception_text.h"
#include "backends/out_of_memory.h"
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "training/contract/contract_terms.h"
#include "training/data/pending_batch.h"
#include "training/step/loss_weights.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace lockstep {
namespace {

// The loss terms of one batch.
struct Terms {
  std::vector<double> sums, weights;
};

void add_once(std::vector<std::string>& lines, std::string line) {
  if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(std::move(line));
}

std::string list(const std::vector<double>& values) {
  std::vector<std::string> words;
  for (const double value : values) words.push_back(general(value, 6));
  return words.empty() ? "nothing" : join(words, ", ");
}

// Checks the numbers of one batch before they are compared with those of other batches.
class LossTry {
 public:
  LossTry(const ContractSetup& setup, ContractReport& report)
      : setup_(setup), report_(report), names_(setup.recipe.terms()) {}

  const std::vector<std::string>& names() const { return names_; }
  // Returns nothing if the numbers cannot be compared; the report then has the reason.
  std::optional<std::vector<TermCases>> cases(const std::vector<ContractRow>& rows);

 private:
  Terms try_batch(const Batch& host);
  std::vector<double> weights_of(const Batch& host);
  std::vector<double> sums_of(const Batch& host);
  std::vector<at::Tensor> loss_of(const Batch& batch, StepContext& context);
  void fault(std::string text) { add_once(report_.faults, std::move(text)); }

  const ContractSetup& setup_;
  ContractReport& report_;
  std::vector<std::string> names_;
};

std::vector<double> LossTry::weights_of(const Batch& host) {
  const std::vector<double> weights = setup_.recipe.loss_weights(host);
  try {
    check_loss_weights(weights, names_);
  } catch (const Error& error) {
    fault(error.what());
    return {};
  }
  const std::vector<double> again = setup_.recipe.loss_weights(host);
  if (again != weights) {
    fault(cat("loss_weights does not follow from the batch alone: for the same one it returned ",
              list(weights), " and then ", list(again)));
    return {};
  }
  return weights;
}

// Computes the loss without gradients, to save memory. If that fails for another reason than lack
// of memory, computes it with gradients.
std::vector<at::Tensor> LossTry::loss_of(const Batch& batch, StepContext& context) {
  try {
    const at::NoGradGuard no_grad;
    return setup_.recipe.loss(setup_.model, batch, context);
  } catch (const std::exception& error) {
    if (is_out_of_memory(error)) throw;
  }
  const at::AutoGradMode with_grad(true);
  return setup_.recipe.loss(setup_.model, batch, context);
}

std::vector<double> LossTry::sums_of(const Batch& host) {
  const at::Device device = setup_.backend.device();
  StepContext context;
  context.compute_dtype = setup_.compute_dtype;
  context.device = device;
  context.no_dropout = true;
  // if unset, this rank's rows give the statistics
  context.frozen_statistics = setup_.frozen_statistics;
  context.logged_names = setup_.recipe.logged();
  context.logged = at::zeros({std::ssize(context.logged_names), 2},
                             at::TensorOptions().dtype(at::kDouble).device(device));
  at::Tensor counters = at::zeros({3}, at::kLong);
  counters.mutable_data_ptr<std::int64_t>()[0] = static_cast<std::int64_t>(setup_.seed);
  context.counters = counters.to(device);
  context.gradient_scale =
      at::ones({std::ssize(names_)}, at::TensorOptions().dtype(at::kFloat).device(device));
  const std::vector<at::Tensor> terms = loss_of(on_device(host, setup_.backend), context);
  if (terms.size() != names_.size()) {
    fault(cat("loss must return ", names_.size(), " terms, but returned ", terms.size()));
    return {};
  }
  std::vector<double> sums;
  for (std::size_t term = 0; term < terms.size(); ++term) {
    if (!terms[term].defined() || terms[term].dim() != 0) {
      fault(cat("the term ", names_[term], " of the loss must be one number, but ",
                terms[term].defined() ? cat("has the shape ", terms[term].sizes())
                                      : std::string("is no tensor")));
      return {};
    }
    if (terms[term].scalar_type() != at::kFloat)
      add_once(report_.warnings, cat("the term ", names_[term], " of the loss is ",
                                     at::toString(terms[term].scalar_type()),
                                     ", not Float: compute the loss in fp32"));
    sums.push_back(terms[term].detach().to(at::kCPU, at::kDouble).item<double>());
  }
  return sums;
}

Terms LossTry::try_batch(const Batch& host) {
  Terms terms{.weights = weights_of(host)};
  if (!terms.weights.empty()) terms.sums = sums_of(host);
  return terms;
}

std::optional<std::vector<TermCases>> LossTry::cases(const std::vector<ContractRow>& rows) {
  std::vector<ContractRow> twice = rows;
  twice.insert(twice.end(), rows.begin(), rows.end());
  const auto batch = [&](const std::vector<ContractRow>& of, bool padding) {
    return contract_batch(*setup_.data.train, of, padding, setup_.seed, /*training=*/true);
  };
  std::vector<Terms> tried;
  try {
    for (const Batch& host : {batch(rows, false), batch(twice, false), batch(rows, true)}) {
      tried.push_back(try_batch(host));
      if (tried.back().sums.empty()) return std::nullopt;
    }
  } catch (const std::exception& error) {
    const bool memory = is_out_of_memory(error);
    report_.out_of_memory = report_.out_of_memory || memory;
    const std::size_t count = tried.empty() ? rows.size() : twice.size();
    report_.notes.push_back(cat("the loss of ", count, " rows could not be tried: ",
                                memory ? "out of memory" : first_line_of(error)));
    if (memory) setup_.backend.release_cached_memory();
    return std::nullopt;
  }
  std::vector<TermCases> cases;
  for (std::size_t term = 0; term < names_.size(); ++term) {
    const auto numbers = [&](const Terms& of) {
      return TermNumbers{.sum = of.sums[term], .weight = of.weights[term]};
    };
    cases.push_back({numbers(tried[0]), numbers(tried[1]), numbers(tried[2])});
  }
  return cases;
}

using MaybeCases = std::optional<std::vector<TermCases>>;

bool all_right(const MaybeCases& cases) {
  return cases && std::all_of(cases->begin(), cases->end(), is_right);
}

bool any_fault(const MaybeCases& cases) {
  return cases && std::any_of(cases->begin(), cases->end(), [](const TermCases& term) {
           return fault_of(term) != TermFault::none;
         });
}

// Reports the faults that both sets of cases have.
void report_terms(const std::vector<std::string>& names, const MaybeCases& cases,
                  const MaybeCases& others, ContractReport& report) {
  if (!cases || !others) return;
  for (std::size_t term = 0; term < names.size(); ++term) {
    const TermFault fault = fault_of((*cases)[term]);
    if (fault == TermFault::none || fault != fault_of((*others)[term])) continue;
    const std::string text = describe(fault, names[term], (*cases)[term]);
    // A recipe may use a weight of 1 on purpose if its loss is a sum over the whole global batch.
    (fault == TermFault::sum_beside_weight ? report.warnings : report.faults).push_back(text);
  }
}

void report_not_finite(const std::vector<std::string>& names, const std::vector<TermCases>& cases,
                       ContractReport& report) {
  for (std::size_t term = 0; term < names.size(); ++term)
    if (!std::isfinite(cases[term].alone.sum))
      report.warnings.push_back(cat("the term ", names[term], " of the loss is ",
                                    cases[term].alone.sum, " before any training"));
}

// Returns rank 0's decision. All ranks follow it, because a forward pass may call collectives.
bool agreed(const ContractSetup& setup, const char* question, bool own) {
  return setup.group.share(cat("contract ", question), own ? "1" : "0") == "1";
}

// Returns two samples, or the parts of one sample, but no more rows than a micro-batch has.
std::vector<ContractRow> some_rows(const ContractSetup& setup, bool from_end) {
  const std::int64_t size = setup.data.train->size(), parts = setup.data.train->rows_per_sample();
  const std::int64_t all = parts > 1 ? parts : std::min<std::int64_t>(size, 2);
  std::vector<ContractRow> rows;
  for (std::int64_t i = 0; i < std::min(all, setup.micro); ++i) {
    const std::int64_t sample = parts > 1 ? 0 : i;
    rows.push_back({.sample = from_end ? size - 1 - sample : sample, .part = parts > 1 ? i : 0});
  }
  return rows;
}

}  // namespace

Batch contract_batch(const Dataset& dataset, const std::vector<ContractRow>& rows, bool padding,
                     std::uint64_t seed, bool training) {
  const auto count = std::ssize(rows);
  // Equal rows get the number of the first of them, so their augmentation uses the same random
  // numbers.
  const RowOf row_of = [&](std::int64_t, std::int64_t place) {
    const ContractRow& row = rows[static_cast<std::size_t>(place % count)];
    const auto first = std::find(rows.begin(), rows.end(), row) - rows.begin();
    const bool real = place < count;
    return Row{.global_row = first,
               .sample = real ? row.sample : -1,
               .filler = real ? -1 : row.sample,
               .part = row.part};
  };
  PendingBatch batch({.dataset = dataset,
                      .row_of = row_of,
                      .seed = seed,
                      .rows = padding ? 2 * count : count,
                      .training = training});
  for (std::int64_t part = 0; part < batch.parts(); ++part) batch.read(part);
  return batch.assemble();
}

Batch on_device(const Batch& host, Backend& backend) {
  std::vector<at::Tensor> fields = host.tensors;
  fields.push_back(host.row_weight);
  fields = backend.upload(std::move(fields))->take();
  Batch batch = host;
  batch.row_weight = fields.back();
  fields.pop_back();
  batch.tensors = std::move(fields);
  return batch;
}

void check_loss(const ContractSetup& setup, const std::function<bool()>& drew,
                ContractReport& report) {
  if (!setup.data.train || setup.data.train->size() < 1) return;
  const std::vector<ContractRow> first = some_rows(setup, /*from_end=*/false);
  LossTry loss(setup, report);
  setup.model.train(true);
  MaybeCases cases = loss.cases(first);
  if (cases) report_not_finite(loss.names(), *cases, report);
  ContractReport beside;  // of extra tries, which only confirm a fault
  const bool by_chance = drew();
  if (agreed(setup, "eval mode",
             cases && (by_chance || (!all_right(cases) && !any_fault(cases))))) {
    setup.model.train(false);
    if (MaybeCases quiet = LossTry(setup, beside).cases(first)) cases = std::move(quiet);
  }
  if (agreed(setup, "again", any_fault(cases)))
    report_terms(loss.names(), cases, LossTry(setup, beside).cases(some_rows(setup, true)), report);
  if (report.faults.empty() && cases)
    report.tried.push_back(cat("loss: ", join(loss.names(), ", "), " over ", first.size(),
                               first.size() == 1 ? " row" : " rows", ", with and without padding"));
}

}  // namespace lockstep
