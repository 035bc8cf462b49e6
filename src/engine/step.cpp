// The step itself; see docs/design/engine.md for the order of things and why.
#include "engine/step.h"

#include "base/check.h"
#include "base/error.h"
#include "base/text.h"
#include "engine/exception_text.h"
#include "engine/out_of_memory.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>
#include <utility>

namespace lockstep {
namespace {

// The vector of numbers that a step sums over ranks: terms, how many ranks are out of memory, the
// wishes, then for each rank its report, which only that rank fills.
constexpr std::size_t drop_slot = 0, wish_slots = 4, report_slots = 5;
// What ending a step takes at most beside the gradients, about.
constexpr std::int64_t reserve_bytes = std::int64_t{32} << 20;

std::size_t slots(std::size_t terms, int ranks) {
  return terms + wish_slots + report_slots * static_cast<std::size_t>(ranks);
}

at::Tensor report_vector(Backend& backend, std::size_t terms, const ProcessGroup& group,
                         const RankReport& report) {
  const auto count = static_cast<std::int64_t>(slots(terms, group.size()));
  at::Tensor host = backend.host_empty({count}, at::kDouble);
  host.zero_();
  double* values = host.mutable_data_ptr<double>();
  values[terms + drop_slot] = report.out_of_memory == Activity::none ? 0 : 1;
  values[terms + 1] = report.stop_signal;
  values[terms + 2] = report.stop_quota;
  values[terms + 3] = report.save;
  double* own = values + slots(terms, group.rank());
  own[0] = report.wait_s;
  own[1] = static_cast<double>(report.memory.allocated_bytes);
  own[2] = static_cast<double>(report.memory.reserved_bytes);
  own[3] = static_cast<double>(report.memory.peak_bytes);
  own[4] = static_cast<double>(report.out_of_memory);
  return host;
}

RankReport read_report(const double* own) {
  RankReport report{.wait_s = own[0]};
  report.memory = {.allocated_bytes = static_cast<std::int64_t>(own[1]),
                   .reserved_bytes = static_cast<std::int64_t>(own[2]),
                   .peak_bytes = static_cast<std::int64_t>(own[3])};
  report.out_of_memory = static_cast<Activity>(std::lround(own[4]));
  return report;
}

// One over the weight of each term in the global batch, f32 [terms]; 0 for a term that weighs
// nothing, which gives no gradient.
at::Tensor factors_of(const at::Tensor& weights) {
  return at::where(weights.gt(0), weights.reciprocal(), at::zeros_like(weights)).to(at::kFloat);
}

}  // namespace

at::ScalarType compute_dtype(Precision precision) {
  switch (precision) {
    case Precision::fp32:
      return at::kFloat;
    case Precision::bf16:
      return at::kBFloat16;
    case Precision::fp16:
      return at::kHalf;
    case Precision::automatic:
      break;
  }
  LOCKSTEP_CHECK(false);
}

StepRunner::StepRunner(Recipe& recipe, Model& model, Arena& arena, Reducer& reducer,
                       Optimizer& optimizer, ProcessGroup& group, Backend& backend,
                       const TrainOptions& options, std::int64_t recomputed_blocks)
    : recipe_(recipe),
      model_(model),
      arena_(arena),
      reducer_(reducer),
      optimizer_(optimizer),
      group_(group),
      backend_(backend),
      options_(options),
      recomputed_blocks_(recomputed_blocks),
      terms_(recipe.terms().size()),
      stamps_(at::zeros({2}, arena.master().options().dtype(at::kDouble))),
      dropped_(at::zeros({1}, stamps_.options())),
      reserve_(at::empty({reserve_bytes}, stamps_.options().dtype(at::kByte))) {}

template <class Function>
auto StepRunner::insist(const Function& function) {
  return recording_ ? function() : lockstep::insist(function, [this] { make_room(); });
}

void StepRunner::make_room() {
  reserve_.reset();
  backend_.release_cached_memory();
}

StagedStep StepRunner::stage(StepData data) {
  StagedStep staged;
  LOCKSTEP_CHECK(data.weights.size() == terms_);
  try {
    for (Batch& batch : data.batches) {
      at::Tensor counters = backend_.host_empty({3}, at::kLong);
      auto* values = counters.mutable_data_ptr<std::int64_t>();
      values[0] = options_.seed;
      values[1] = data.step;
      values[2] = batch.first_place;
      std::vector<at::Tensor> fields = std::move(batch.tensors);
      fields.push_back(batch.row_weight);
      fields.push_back(counters);
      staged.uploads.push_back(backend_.upload(std::move(fields)));
    }
  } catch (const std::exception& error) {
    if (!is_out_of_memory(error)) throw;
    out_of_memory_text_ = first_line_of(error);
    staged.out_of_memory = true;
    staged.uploads.clear();
    make_room();
  }
  staged.weights = insist([&] {
    at::Tensor weights = backend_.host_empty({static_cast<std::int64_t>(terms_)}, at::kDouble);
    std::copy(data.weights.begin(), data.weights.end(), weights.mutable_data_ptr<double>());
    return backend_.upload({weights})->take().at(0);
  });
  staged.weights_pending = group_.all_reduce(staged.weights);
  staged.data = std::move(data);
  return staged;
}

void StepRunner::enter(Activity phase) {
  phase_ = phase;
  leave_crumb(phase);
}

void StepRunner::forward_backward(std::vector<at::Tensor> fields, std::int64_t first_place,
                                  const at::Tensor& factors, at::Tensor& means, bool last) {
  StepContext context;
  context.compute_dtype = compute_dtype(options_.precision);
  context.device = backend_.device();
  context.recomputed_blocks = recomputed_blocks_;
  context.counters = std::move(fields.back());
  fields.pop_back();
  Batch batch{.row_weight = std::move(fields.back()), .first_place = first_place};
  fields.pop_back();
  batch.tensors = std::move(fields);

  enter(Activity::forward);
  context.gradient_scale = factors.mul(optimizer_.loss_scale());

  const std::vector<at::Tensor> sums = recipe_.loss(model_, batch, context);
  if (sums.size() != terms_)
    throw Error(cat("the recipe must return ", terms_, " loss terms, but returned ", sums.size()));
  at::Tensor total;
  for (std::size_t t = 0; t < terms_; ++t) {
    const at::Tensor mean = sums[t].to(at::kFloat).mul(factors[static_cast<std::int64_t>(t)]);
    total = total.defined() ? total.add(mean) : mean;
    const at::NoGradGuard no_grad;
    means[static_cast<std::int64_t>(t)].add_(mean.detach());
  }
  if (last && !exact_) reducer_.arm();
  enter(Activity::backward);
  total.mul(optimizer_.loss_scale()[0]).backward();
}

StepRunner::Inputs StepRunner::collect(StagedStep& staged, double lr, const RankReport& report) {
  Inputs inputs{.accumulation = static_cast<std::int64_t>(staged.data.batches.size())};
  RankReport own = report;
  if (staged.out_of_memory) own.out_of_memory = inputs.out_of_memory = Activity::data;
  for (std::size_t m = 0; m < staged.uploads.size(); ++m) {
    inputs.micro.push_back(staged.uploads[m]->take());
    inputs.first_places.push_back(staged.data.batches[m].first_place);
  }
  staged.weights_pending->wait();
  inputs.weights = staged.weights;
  std::vector<at::Tensor> numbers = insist([&] {
    at::Tensor rate = backend_.host_empty({}, at::kFloat);
    *rate.mutable_data_ptr<float>() = static_cast<float>(lr);
    return backend_.upload({report_vector(backend_, terms_, group_, own), rate})->take();
  });
  inputs.report = std::move(numbers[0]);
  inputs.lr = std::move(numbers[1]);
  return inputs;
}

void StepRunner::pass_over_micro_batches(const Inputs& inputs, const at::Tensor& factors,
                                         at::Tensor& means) {
  for (std::size_t m = 0; m < inputs.micro.size(); ++m) {
    if (exact_ && m > 0) arena_.zero_gradients();
    forward_backward(inputs.micro[m], inputs.first_places[m], factors, means,
                     m + 1 == inputs.micro.size());
    if (exact_) exact_->push();
  }
}

at::Tensor StepRunner::work(const Inputs& inputs) {
  Activity failed = inputs.out_of_memory;
  const auto note = [&](const std::exception& error) {
    if (recording_ || !is_out_of_memory(error)) throw;
    out_of_memory_text_ = first_line_of(error);
    failed = phase_;
    make_room();
  };
  arena_.zero_gradients();
  at::Tensor factors, means;
  insist([&] {
    const at::NoGradGuard no_grad;
    factors = factors_of(inputs.weights);
    // In f64, in which a few f32 numbers add up without rounding, in whatever order.
    means = at::zeros({static_cast<std::int64_t>(terms_)}, stamps_.options());
  });
  if (options_.exact && !exact_) exact_.emplace(arena_, group_, inputs.accumulation);
  if (failed == Activity::none) try {
      pass_over_micro_batches(inputs, factors, means);
    } catch (const std::exception& error) {
      note(error);
    }
  const at::NoGradGuard no_grad;
  if (failed != Activity::none) give_up_gradients();
  insist([&] { backend_.stamp(stamps_[0]); });
  try {
    enter(Activity::reduction);
    sum_gradients();
  } catch (const std::exception& error) {
    note(error);
    sum_gradients();
  }
  const at::Tensor numbers = insist([&] { return numbers_of(inputs, means, failed); });
  group_.all_reduce(numbers)->wait();
  insist([&] { backend_.stamp(stamps_[1]); });
  insist([&] {
    const auto terms = static_cast<std::int64_t>(terms_);
    dropped_.copy_(numbers.narrow(0, terms + drop_slot, 1));
    dropped_.add_(at::isfinite(numbers.narrow(0, 0, terms)).all().logical_not());
  });
  insist([&] { optimizer_.prepare(inputs.lr, dropped_); });
  insist([&] { dropped_.add_(optimizer_.not_finite()); });
  leave_crumb(Activity::update);
  optimizer_.apply();
  return insist([&] {
    const at::Tensor own = at::cat({optimizer_.gradient_norm(), optimizer_.loss_scale()});
    return at::cat({numbers, own.to(at::kDouble), dropped_, stamps_});
  });
}

// What this rank gives to the sum of numbers over all ranks.
at::Tensor StepRunner::numbers_of(const Inputs& inputs, const at::Tensor& means,
                                  Activity failed) const {
  const auto terms = static_cast<std::int64_t>(terms_);
  at::Tensor numbers = inputs.report.clone();
  numbers.narrow(0, 0, terms).copy_(means);
  const auto drop = static_cast<std::int64_t>(drop_slot);
  numbers.narrow(0, terms + drop, 1).add_(dropped_);
  if (failed == Activity::none) return numbers;
  const auto own_end = static_cast<std::int64_t>(slots(terms_, group_.rank() + 1));
  numbers[terms + drop] = 1.0;
  numbers[own_end - 1] = static_cast<double>(failed);
  return numbers;
}

void StepRunner::give_up_gradients() {
  arena_.drop_gradients();
  if (exact_)
    exact_->give_up();
  else
    reducer_.give_up();
}

void StepRunner::sum_gradients() {
  if (exact_) return exact_->finish();
  reducer_.flush();
  reducer_.wait();
}

void StepRunner::forget_unfinished() {
  reducer_.reset();
  if (exact_) exact_->reset();
  optimizer_.forget_prepared();
}

void StepRunner::go_on() {
  const at::NoGradGuard no_grad;
  backend_.synchronize();
  graph_.reset();
  graph_inputs_ = Inputs();
  graph_numbers_.reset();
  graph_state_.reset();
  steps_run_ = 0;
  shapes_vary_ = false;
  backend_.release_cached_memory();
  dropped_.zero_();
  try {
    if (!reserve_.defined())
      reserve_ = at::empty({reserve_bytes}, stamps_.options().dtype(at::kByte));
  } catch (const std::exception& error) {
    if (!is_out_of_memory(error)) throw;
  }
}

NotFinite StepRunner::find_not_finite(StagedStep staged) {
  const Inputs inputs = collect(staged, 0, {});
  if (const std::string name = weights_not_finite(arena_); !name.empty())
    return {.tensor = cat("the weights ", name), .in_weights = true};
  const at::Tensor factors = factors_of(inputs.weights);
  const std::vector<std::string> terms = recipe_.terms();
  const auto search = [&](std::size_t m) -> std::string {
    const std::vector<at::Tensor>& fields = inputs.micro[m];
    for (std::size_t f = 0; f + 2 < fields.size(); ++f)
      if (!is_finite(fields[f])) return cat("field ", f, " of the samples");
    arena_.drop_gradients();
    at::Tensor means = at::zeros({static_cast<std::int64_t>(terms_)}, stamps_.options());
    forward_backward(fields, inputs.first_places[m], factors, means, /*last=*/false);
    for (std::size_t term = 0; term < terms_; ++term)
      if (!is_finite(means[static_cast<std::int64_t>(term)]))
        return cat("the term ", terms[term], " of the loss");
    const std::string name = gradient_not_finite(arena_);
    return name.empty() ? "" : cat("the gradient of ", name);
  };
  NotFinite found;
  for (std::size_t m = 0; m < inputs.micro.size() && !found.found(); ++m)
    found = {.micro_batch = static_cast<std::int64_t>(m), .tensor = search(m)};
  arena_.drop_gradients();
  return found;
}

StepRunner::Running StepRunner::run(StagedStep staged, double lr, const RankReport& report) {
  Running running;
  running.step_ = staged.data.step + 1;
  running.terms_ = terms_;
  const Inputs inputs = collect(staged, lr, report);
  if (!graph_state_ && wants_graph()) try_to_capture(inputs);
  const at::Tensor numbers = graph_ ? replay(inputs) : work(inputs);
  running.numbers_ = insist([&] { return backend_.download(numbers); });
  if (inputs.out_of_memory == Activity::none) note_shapes(inputs);
  ++steps_run_;
  return running;
}

StepResult StepRunner::Running::get() {
  leave_crumb(Activity::device);
  const at::Tensor host = numbers_->get();
  touch_crumb();
  const double* values = host.const_data_ptr<double>();
  const auto count = static_cast<std::size_t>(host.numel()) - 2;
  wait_s_ = values[count + 1] - values[count];
  StepResult result{.step = step_};
  for (std::size_t t = 0; t < terms_; ++t) {
    result.terms.push_back(values[t]);
    result.loss += values[t];
  }
  result.dropped = values[terms_ + drop_slot] > 0;
  result.stop_signal = values[terms_ + 1];
  result.stop_quota = values[terms_ + 2];
  result.save = values[terms_ + 3];
  for (std::size_t i = slots(terms_, 0); i + 3 < count; i += report_slots)
    result.ranks.push_back(read_report(values + i));
  result.gradient_norm = values[count - 3];
  result.loss_scale = values[count - 2];
  result.skipped = !result.dropped && !std::isfinite(result.gradient_norm);
  result.not_finite = !result.dropped && values[count - 1] > 0;
  return result;
}

}  // namespace lockstep
