#include "training/contract/contract_check.h"

#include "backends/exception_text.h"
#include "backends/out_of_memory.h"
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "training/contract/contract_loss.h"
#include "training/evaluation/evaluator.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>

#include <ATen/ops/equal.h>
#include <algorithm>

#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

namespace lockstep {
namespace {

// Saves the state of torch's own random generators, and restores it at the end.
class KeptRandomState {
 public:
  explicit KeptRandomState(at::Device device) {
    keep(at::detail::getDefaultCPUGenerator());
    if (device.is_cuda()) keep(at::globalContext().defaultGenerator(device));
  }
  ~KeptRandomState() {
    for (auto& [generator, state] : kept_) {
      const std::lock_guard lock(generator.mutex());
      generator.set_state(state);
    }
  }
  KeptRandomState(const KeptRandomState&) = delete;
  KeptRandomState& operator=(const KeptRandomState&) = delete;

  bool was_drawn_from() const {
    for (const auto& [kept, state] : kept_) {
      at::Generator generator = kept;  // a handle
      const std::lock_guard lock(generator.mutex());
      if (!at::equal(generator.get_state(), state)) return true;
    }
    return false;
  }

 private:
  void keep(at::Generator generator) {
    const std::lock_guard lock(generator.mutex());
    at::Tensor state = generator.get_state();
    kept_.emplace_back(std::move(generator), std::move(state));
  }
  std::vector<std::pair<at::Generator, at::Tensor>> kept_;
};

void check_metrics(const ContractSetup& setup, const Records& records, ContractReport& report) {
  const std::string of = cat("of the first ", records.size(), " validation samples");
  std::vector<Metric> metrics;
  try {
    metrics = setup.recipe.metrics(records);
  } catch (const std::exception& error) {
    report.warnings.push_back(
        cat("metrics failed on the records ", of, ": ", first_line_of(error)));
    return;
  }
  if (metrics.empty()) {
    report.faults.push_back(cat("metrics returned no metric for the records ", of));
    return;
  }
  std::vector<std::string> names;
  for (const Metric& metric : metrics) {
    if (std::find(names.begin(), names.end(), metric.name) != names.end())
      report.warnings.push_back(cat("two metrics are named ", metric.name));
    names.push_back(metric.name);
  }
  report.tried.push_back(cat("metrics: ", join(names, ", ")));
  const std::string& best = setup.best_metric;
  if (best.empty() || std::find(names.begin(), names.end(), best) != names.end()) return;
  const std::string near = nearest(best, names);
  report.warnings.push_back(cat("checkpoint.best_metric is ", best, ", but the metrics ", of,
                                " are ", join(names, ", "),
                                near.empty() ? std::string() : cat("; did you mean ", near, "?")));
}

void check_items(const ContractSetup& setup, const Records& records, EvaluationOutput& output,
                 ContractReport& report) {
  make_items(setup.recipe, records, output);
  for (const std::string& problem : output.problems()) report.warnings.push_back(problem);
  if (!output.items().empty())
    report.tried.push_back(cat("items: ", join(output.items().columns, ", ")));
}

// Devices that share a sample must produce the same record as a single device.
void check_pieces(const ContractSetup& setup, StepContext& context, ContractReport& report) {
  if (!setup.recipe.evaluates_pieces() || setup.data.valid->rows_per_sample() != 1) return;
  const Batch one =
      on_device(contract_batch(*setup.data.valid, {{.sample = 0}}, /*padding=*/false, setup.seed,
                               /*training=*/false),
                setup.backend);
  const auto numbers = [](const at::Tensor& record) {  // as bits, so that NaN equals NaN
    return record.reshape({-1}).to(at::kCPU, at::kDouble).contiguous().view(at::kLong);
  };
  const at::Tensor whole = numbers(evaluated_rows(setup.recipe, setup.model, one, context).at(0));
  std::vector<at::Tensor> pieces;
  for (const std::int64_t index : {0, 1})
    pieces.push_back(
        setup.recipe.evaluate_piece(setup.model, one, {.index = index, .count = 2}, context)
            .reshape({-1})
            .cpu());
  if (numbers(setup.recipe.join_evaluated(one, pieces, context)).equal(whole))
    report.tried.push_back("evaluation in pieces");
  else
    report.faults.push_back(
        "join_evaluated makes another record of a sample in two pieces than evaluate_items of the "
        "whole: metrics would depend on the number of devices");
}

void check_evaluation(const ContractSetup& setup, ContractReport& report) {
  const std::int64_t size = setup.data.valid ? setup.data.valid->size() : 0;
  const std::int64_t rows = std::min<std::int64_t>({2, setup.eval_batch, size});
  if (rows < 1) return;
  std::vector<ContractRow> samples;
  for (std::int64_t i = 0; i < rows; ++i) samples.push_back({.sample = i});
  EvaluationOutput output("", 0, {.pictures = 2});
  StepContext context;
  context.training = false;
  context.compute_dtype = setup.compute_dtype;
  context.device = setup.backend.device();
  context.output = &output;
  setup.model.train(false);
  const at::NoGradGuard no_grad;
  try {
    const Batch host = contract_batch(*setup.data.valid, samples, setup.eval_batch >= 2 * rows,
                                      setup.seed, /*training=*/false);
    std::vector<at::Tensor> found =
        evaluated_rows(setup.recipe, setup.model, on_device(host, setup.backend), context);
    found.resize(samples.size());
    const Records records(found);
    report.tried.push_back(cat("evaluation: records of ", records.length(0),
                               records.length(0) == 1 ? " number" : " numbers"));
    check_metrics(setup, records, report);
    check_items(setup, records, output, report);
    check_pieces(setup, context, report);
  } catch (const WrongRecords& error) {
    report.faults.push_back(error.what());
  } catch (const std::exception& error) {
    const bool memory = is_out_of_memory(error);
    report.out_of_memory = report.out_of_memory || memory;
    report.notes.push_back(
        cat("evaluation could not be tried: ", memory ? "out of memory" : first_line_of(error)));
  }
}

ContractReport report_of_rank_0(const ContractReport& own, ProcessGroup& group) {
  const auto replace = nlohmann::json::error_handler_t::replace;
  const nlohmann::json text{own.faults, own.warnings, own.notes, own.tried, own.out_of_memory};
  const auto all =
      nlohmann::json::parse(group.share("contract", text.dump(-1, ' ', false, replace)));
  return {all[0], all[1], all[2], all[3], all[4].get<bool>()};
}

}  // namespace

ContractReport check_contract(const ContractSetup& setup) {
  ContractReport report;
  {
    const KeptRandomState random(setup.backend.device());
    const at::NoGradGuard no_grad;
    setup.buffers.remember();
    check_loss(
        setup, [&] { return random.was_drawn_from(); }, report);
    if (random.was_drawn_from())
      report.warnings.emplace_back(
          "loss draws random numbers of torch's own (Dropout, randn_like), which are others on "
          "another number of devices and after a resume: use StepContext::dropout and uniform");
    check_evaluation(setup, report);
    setup.buffers.undo();
    setup.model.train(true);
  }
  setup.backend.release_cached_memory();
  return report_of_rank_0(report, setup.group);
}

}  // namespace lockstep
