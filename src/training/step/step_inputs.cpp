#include "training/step/step_inputs.h"

#include "backends/out_of_memory.h"
#include "core/base/check.h"
#include "core/base/hash.h"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <utility>

namespace lockstep {
namespace {

template <class T>
std::uint64_t hash_of(const std::vector<T>& values) {
  return hash64({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}

constexpr int exact_bits = 52;  // bits of an integer that f64 holds exactly
constexpr double no_data = -1;  // replaces the hash of shapes on a rank without data

// Returns a hash of the sizes and dtypes of all fields in all micro-batches.
double shapes_hash(const std::vector<Batch>& batches) {
  std::vector<std::int64_t> words;
  for (const Batch& batch : batches)
    for (const at::Tensor& tensor : batch.tensors) {
      words.push_back(tensor.dim());
      words.push_back(static_cast<std::int64_t>(tensor.scalar_type()));
      words.insert(words.end(), tensor.sizes().begin(), tensor.sizes().end());
    }
  return static_cast<double>(hash_of(words) >> (64 - exact_bits));
}

}  // namespace

StepStage::StepStage(std::size_t terms, std::int64_t seed, const StepMetrics& numbers,
                     ProcessGroup& group, Backend& backend, MemoryReserve& reserve)
    : terms_(terms),
      seed_(seed),
      numbers_(numbers),
      group_(group),
      backend_(backend),
      reserve_(reserve) {}

void StepStage::upload(StagedStep& staged) {
  try {
    for (Batch& batch : staged.data.batches) {
      at::Tensor counters = backend_.host_empty({3}, at::kLong);
      auto* values = counters.mutable_data_ptr<std::int64_t>();
      values[0] = seed_;
      values[1] = staged.data.step;
      values[2] = batch.first_global_row;
      std::vector<at::Tensor> fields = std::move(batch.tensors);
      fields.push_back(batch.row_weight);
      fields.push_back(counters);
      staged.uploads.push_back(backend_.upload(std::move(fields)));
    }
  } catch (const std::exception& error) {
    if (!is_out_of_memory(error)) throw;
    staged.out_of_memory = true;
    staged.uploads.clear();
    reserve_.free_after(error);
  }
}

StagedStep StepStage::stage(StepData data) {
  LOCKSTEP_CHECK(data.weights.size() == terms_);
  StagedStep staged;
  const double own_shapes = shapes_hash(data.batches);
  staged.data = std::move(data);
  upload(staged);
  agree(staged, own_shapes);
  return staged;
}

StagedStep StepStage::stage_nothing() {
  StagedStep staged;
  agree(staged, no_data);
  return staged;
}

void StepStage::agree(StagedStep& staged, double own_shapes) {
  staged.agreed = reserve_.retry(
      [&] { return at::zeros({static_cast<std::int64_t>(terms_) + group_.size()}, at::kDouble); });
  auto* values = staged.agreed.mutable_data_ptr<double>();
  std::copy(staged.data.weights.begin(), staged.data.weights.end(), values);
  values[terms_ + static_cast<std::size_t>(group_.rank())] = own_shapes;
  staged.agreement = group_.all_reduce_on_host(staged.agreed);
}

bool StepStage::all_have_data(const StagedStep& staged) const {
  staged.agreement->wait();
  const auto* agreed = staged.agreed.const_data_ptr<double>();
  return std::none_of(agreed + terms_, agreed + staged.agreed.numel(),
                      [](double shapes) { return shapes == no_data; });
}

StepInputs StepStage::take(StagedStep staged, double lr, const RankReport& report) {
  StepInputs inputs{.accumulation = static_cast<std::int64_t>(staged.data.batches.size())};
  RankReport own = report;
  if (staged.out_of_memory) own.out_of_memory = inputs.out_of_memory = Phase::data;
  for (std::size_t m = 0; m < staged.uploads.size(); ++m) {
    inputs.micro.push_back(staged.uploads[m]->take());
    inputs.first_global_rows.push_back(staged.data.batches[m].first_global_row);
    inputs.host_parts.push_back(staged.data.batches[m].host_part);
  }
  staged.agreement->wait();
  const auto* agreed = staged.agreed.const_data_ptr<double>();
  inputs.shapes_key = hash_of(std::vector<double>(agreed + terms_, agreed + staged.agreed.numel()));
  std::vector<at::Tensor> small = reserve_.retry([&] {
    at::Tensor weights = backend_.host_empty({static_cast<std::int64_t>(terms_)}, at::kDouble);
    std::copy(agreed, agreed + terms_, weights.mutable_data_ptr<double>());
    at::Tensor rate = backend_.host_empty({}, at::kFloat);
    *rate.mutable_data_ptr<float>() = static_cast<float>(lr);
    return backend_.upload({weights, numbers_.report(own, backend_), rate})->take();
  });
  inputs.weights = std::move(small[0]);
  inputs.report = std::move(small[1]);
  inputs.lr = std::move(small[2]);
  return inputs;
}

}  // namespace lockstep
