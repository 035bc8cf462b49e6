// Builds a model, places it on the device and restores it.
#include "training/trainer/placed_model.h"

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/hash.h"
#include "core/base/text/text.h"
#include "runtime/run/checkpoint/export_file.h"
#include "runtime/run/events/json_lines.h"
#include "training/checkpoint/first_weights.h"
#include "training/checkpoint/snapshot.h"
#include "training/evaluation/evaluator.h"
#include "training/parameters/freeze.h"
#include "training/step/compute_dtype.h"
#include "training/trainer/output/metric_values.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

namespace lockstep {
namespace {

namespace fs = std::filesystem;

// Sends rank 0's values of these parameters to all ranks, one by one, through the device that
// collectives use.
void share_first_weights(const std::vector<UniqueParameter>& parameters,
                         const TrainerSetup& setup) {
  if (setup.group.size() == 1) return;
  for (const auto& [parameter, handles] : parameters) {
    at::Tensor values = parameter.tensor.detach();
    const at::Tensor there = values.to(setup.backend.device()).contiguous();
    setup.group.broadcast(there.view({-1}).view(at::kByte), 0);  // as bytes, so that any type works
    values.copy_(there);
  }
}

std::int64_t bucket_bytes(const ModelParameters& parameters, const TrainOptions& options,
                          const std::optional<LinkSpeed>& link) {
  if (options.reduce_bucket_mb > 0) return options.reduce_bucket_mb * 1'000'000;
  if (!link) return usual_bucket_bytes;
  return best_bucket_bytes(*link, elements_of(parameters.trained) * 4);
}

// An evaluation is too short to search for the best number of threads. So the default is one per
// core.
std::int64_t evaluation_threads(const TrainerSetup& setup) {
  if (setup.options.data.threads >= 0) return setup.options.data.threads;
  return setup.plan.devices[static_cast<std::size_t>(setup.group.rank())].threads;
}

constexpr std::int64_t all_rows = std::numeric_limits<std::int64_t>::max();

nlohmann::json units_of(const std::vector<Metric>& metrics) {
  nlohmann::json units = nlohmann::json::object();
  for (const Metric& metric : metrics) units[metric.name] = metric.unit;
  return units;
}

// Writes only the table of items, to the file that the user named. Returns why it failed, or "".
std::string write_items(const EvaluationOutput& output, const fs::path& file) {
  if (output.items().empty())
    return output.problems().empty() ? "the recipe makes no table of items" : output.problems()[0];
  try {
    write_file_atomic(
        file, file.extension() == ".json" ? to_json_text(output.items()) : to_csv(output.items()));
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

// On rank 0: writes the output of `lockstep evaluate` and adds it to the result.
void leave_items(const EvaluationOutput& output, const std::vector<Metric>& metrics,
                 const EvaluateRun& how, nlohmann::json& result) {
  if (!how.items_file.empty()) {
    const std::string fault = write_items(output, how.items_file);
    if (fault.empty())
      result["items"] = how.items_file.string();
    else
      result["items_fault"] = fault;
    return;
  }
  const bool best = how.differs.is_null() && was_best_output(output.run_dir(), output.step());
  result["problems"] = save_output(output, metrics, best, how.differs);
  if (!output.items().empty() && result["problems"].empty())
    result["items"] = (output.folder() / "items.csv").string();
}

// Returns the names, in order, of the recipe's tables other than the table of items. Writes them to
// `folder` unless that is empty.
std::vector<std::string> leave_tables(const EvaluationOutput& output, const fs::path& folder) {
  std::vector<std::string> names;
  for (const EvaluationOutput::File& file : output.files()) {
    if (file.picture) continue;
    if (!folder.empty()) write_file_atomic(folder / file.name, file.bytes);
    if (fs::path(file.name).extension() == ".csv") names.push_back(fs::path(file.name).stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Returns a mark for the folder name, which is the same for the same options.
std::string mark_of(const nlohmann::json& differs) {
  constexpr std::size_t digits = 8;
  return differs.is_null() ? "" : hash128_hex(differs.dump()).substr(0, digits);
}

}  // namespace

PlacedModel::PlacedModel(const TrainerSetup& setup, Placing placing, bool shared,
                         const std::optional<LinkSpeed>& link)
    : model(setup.recipe.build(static_cast<std::uint64_t>(setup.options.seed))) {
  const at::NoGradGuard no_grad;
  if (placing == Placing::fresh && setup.group.rank() == 0 && !setup.measure_only) {
    setup.recipe.initialise(*model);
    if (!setup.init.is_null())
      first_weights = load_first_weights(*model, setup.recipe, setup.options,
                                         weight_source_from_json(setup.init));
  }
  freeze(model->parameters(), setup.options.train.freeze);
  buffers = std::make_unique<ModelBuffers>(model->buffers(), setup.backend.device());
  const ModelParameters parameters = sort_parameters(model->parameters());
  if (shared) share_first_weights(parameters.trained, setup);
  share_first_weights(parameters.frozen, setup);
  storage = std::make_unique<ParameterStorage>(
      model->parameters(), setup.backend.device(), compute_dtype(setup.options.precision),
      shared ? &setup.group : nullptr, bucket_bytes(parameters, setup.options, link),
      setup.options.optimizer.kind);
  if (setup.group.rank() != 0) storage->frozen().forget_built();
}

std::optional<CheckpointInfo> choose_checkpoint(const RunDir& run, ProcessGroup& group,
                                                const WhichCheckpoint& which,
                                                std::vector<CheckpointInfo>& skipped) {
  std::string chosen;
  if (which.step) {
    chosen = cat(*which.step);
  } else if (group.rank() == 0) {
    if (const auto found = checkpoint_to_read(run.checkpoints(), which.best, skipped))
      chosen = cat(found->step);
  }
  // The key has the run's path, because checkpoints of several runs may be read.
  chosen = group.share("checkpoint of " + run.path().string(), chosen);
  if (chosen.empty()) return std::nullopt;
  for (CheckpointInfo& info : list_checkpoints(run.checkpoints(), false))
    if (cat(info.step) == chosen) return info;
  throw Error(cat("the checkpoint of step ", chosen, " is not visible on rank ", group.rank()),
              which.step ? "it may have been removed meanwhile: give the command again"
                         : "the run's folder must be on a file system that all hosts share");
}

struct LoadedModel::Impl {
  PlacedModel placed;
  std::int64_t step = 0;
};

LoadedModel::LoadedModel(const TrainerSetup& setup, const WhichCheckpoint& which,
                         std::vector<CheckpointInfo>& skipped)
    : impl_(std::make_unique<Impl>(Impl{PlacedModel(setup, Placing::restored)})) {
  if (!setup.weights.empty()) {
    restore_weights(setup.weights,
                    {*impl_->placed.storage, nullptr, impl_->placed.buffers->tensors()});
    impl_->step = step_of_export(setup.weights);
    return;
  }
  const auto checkpoint = choose_checkpoint(setup.run, setup.group, which, skipped);
  if (!checkpoint) throw_no_checkpoint(setup.run.name(), skipped);
  const nlohmann::json state =
      restore(*checkpoint, {*impl_->placed.storage, nullptr, impl_->placed.buffers->tensors()});
  ParameterStorage& storage = *impl_->placed.storage;
  if (setup.options.ema.evaluate &&
      restore_average(*checkpoint, storage, storage.master(), impl_->placed.buffers->tensors()))
    storage.cast_weights();
  impl_->step = state.at("step").get<std::int64_t>();
}

LoadedModel::~LoadedModel() = default;
Model& LoadedModel::model() { return *impl_->placed.model; }
std::int64_t LoadedModel::step() const { return impl_->step; }

EvaluatorOptions evaluator_options(const TrainerSetup& setup, const Dataset* data) {
  // A larger batch than there are rows would only add padding.
  const std::int64_t rows = data != nullptr ? data->size() * data->rows_per_sample() : 0;
  std::int64_t batch = setup.options.eval.batch;
  if (rows > 0) batch = std::min(batch, rows);
  return {.seed = static_cast<std::uint64_t>(setup.options.seed),
          .batch = batch > 0 ? batch : setup.plan.batch.micro,
          .compute_dtype = compute_dtype(setup.options.precision),
          .threads = evaluation_threads(setup),
          .prefetch = setup.options.data.prefetch};
}

std::vector<std::string> save_output(const EvaluationOutput& output,
                                     const std::vector<Metric>& metrics, bool best,
                                     const nlohmann::json& differs) {
  if (output.empty()) return output.problems();
  nlohmann::json values = nlohmann::json::object();
  for (const Metric& metric : metrics) values[metric.name] = metric.value;
  nlohmann::json text{
      {"step", output.step()}, {"metrics", values}, {"units", units_of(metrics)}, {"best", best}};
  if (differs.is_object()) text.update(differs);
  return write_output(output, to_line(text) + "\n");
}

nlohmann::json evaluate_run(const TrainerSetup& setup, const EvaluateRun& how,
                            std::vector<CheckpointInfo>& skipped) {
  setup.backend.use_training_stream();
  LoadedModel loaded(setup, {.best = how.best}, skipped);
  const DatasetPair data = setup.recipe.data();
  if (!data.valid || data.valid->size() == 0)
    throw Error("the recipe has no validation data", "set the recipe's options for it and train");
  // The output of an exported model has no folder of its own.
  const bool has_place = setup.options.eval.keep > 0 && setup.weights.empty();
  const bool draws = has_place && how.items_file.empty();
  EvaluationOutput output(setup.run.path(), loaded.step(),
                          {.pictures = draws ? setup.options.eval.pictures : 0, .rows = all_rows},
                          mark_of(how.differs));
  EvaluatorOptions options = evaluator_options(setup, data.valid.get());
  options.output = &output;
  const std::vector<Metric> metrics =
      evaluate(setup.recipe, loaded.model(), *data.valid, setup.group, setup.backend, options)
          .metrics;
  nlohmann::json result{{"step", loaded.step()},
                        {"metrics", metric_values(metrics, setup.options.checkpoint.best_metric)},
                        {"units", units_of(metrics)}};
  if (nlohmann::json infinite = infinite_metrics(metrics); !infinite.is_null())
    result["infinite"] = std::move(infinite);
  if (setup.group.rank() != 0) return result;
  result["tables"] = leave_tables(output, how.tables_folder);
  if (has_place || !how.items_file.empty()) leave_items(output, metrics, how, result);
  return result;
}

}  // namespace lockstep
