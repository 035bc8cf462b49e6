#include "worker/reading.h"

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "runtime/launch/launch.h"
#include "runtime/run/events/events.h"
#include "training/step/compute_dtype.h"
#include "training/step/library_modes.h"
#include "training/trainer/output/item_prediction.h"
#include "worker/output_stream.h"
#include "worker/session.h"
#include "worker/words.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <memory>
#include <set>
#include <vector>

namespace lockstep {
namespace {

// Reports skipped checkpoints to the tool, which shows them. This process has no log.
void tell_skipped(const std::vector<CheckpointInfo>& skipped) {
  EventWriter events;
  for (const CheckpointInfo& bad : skipped)
    events.write({{"kind", "warning"},
                  {"step", bad.step},
                  {"text", cat("passed over a damaged checkpoint: ", bad.path.filename().string(),
                               ": ", bad.damage)}});
}

Session open_reading(std::vector<std::string>& arguments) {
  const std::string run = take(arguments, "--run");
  Session session = open_session(run, take(arguments, "--record"), own_world());
  session.weights = take(arguments, "--weights");
  return session;
}

// The model with the requested weights, in evaluation mode.
std::unique_ptr<LoadedModel> load_model(const TrainerSetup& setup, const WhichCheckpoint& which) {
  setup.backend.use_training_stream();
  const at::NoGradGuard no_grad;
  std::vector<CheckpointInfo> skipped;
  auto loaded = std::make_unique<LoadedModel>(setup, which, skipped);
  if (setup.group.rank() == 0) tell_skipped(skipped);
  loaded->model().train(false);
  return loaded;
}

ItemJob job_of(const nlohmann::json& request) {
  ItemJob job{.items = items_from_cbor(request.at("items").get<std::string>()),
              .batch = request.at("batch"),
              .extra = request.at("extra"),
              .folder = request.at("folder").get<std::string>(),
              .scratch = request.at("scratch").get<std::string>(),
              .replace = request.at("replace"),
              .item_keys = request.at("item_keys"),
              .record = request.at("record").get<std::string>(),
              .own = request.at("own").get<std::set<std::string>>(),
              .ends_s = request.at("ends_s"),
              .item_s = request.at("item_s")};
  for (const nlohmann::json& part : request.at("done"))
    job.done[part.at(0)] = {.record = part.at(1).get<std::string>(),
                            .place = {.offset = part.at(2), .bytes = part.at(3)}};
  return job;
}

// The checkpoint that the tool chose. An export has no checkpoints, so the result is empty for it.
WhichCheckpoint chosen_checkpoint(const nlohmann::json& request) {
  const nlohmann::json& step = request.at("step");
  if (step.is_null()) return {};
  return {.step = step.get<std::int64_t>()};
}

// The other runs whose outputs are averaged, with the models that ItemJob::also names.
struct Further {
  std::vector<std::unique_ptr<RunDir>> runs;
  std::vector<std::unique_ptr<LoadedModel>> models;
  std::vector<FurtherRun> list;
};

std::unique_ptr<LoadedModel> load_further(const TrainerSetup& setup, RunDir& run,
                                          const nlohmann::json& asked) {
  std::vector<CheckpointInfo> skipped;
  const TrainerSetup own{.options = setup.options,
                         .plan = setup.plan,
                         .recipe = setup.recipe,
                         .group = setup.group,
                         .backend = setup.backend,
                         .run = run,
                         .clock = setup.clock,
                         .weights = asked.at("weights").get<std::string>()};
  try {
    auto loaded = std::make_unique<LoadedModel>(own, chosen_checkpoint(asked), skipped);
    loaded->model().train(false);
    return loaded;
  } catch (const Error& error) {
    throw Error(cat(asked.at("name").get<std::string>(), " cannot be averaged with ",
                    setup.run.name(), ": ", error.what()),
                "leave it out of predict.also");
  }
}

Further load_further(const TrainerSetup& setup, const nlohmann::json& asked) {
  const at::NoGradGuard no_grad;
  Further further;
  for (const nlohmann::json& one : asked) {
    further.runs.push_back(
        std::make_unique<RunDir>(RunDir::open(one.at("run").get<std::string>(), "")));
    further.models.push_back(load_further(setup, *further.runs.back(), one));
    further.list.push_back({.name = one.at("name"),
                            .model = &further.models.back()->model(),
                            .extra = one.at("extra")});
  }
  return further;
}

// Reports the steps of the weights that made the outputs. The tool shows them.
void tell_weights(const LoadedModel& first, const Further& further) {
  std::vector<std::int64_t> steps{first.step()};
  for (const auto& model : further.models) steps.push_back(model->step());
  EventWriter().write({{"kind", "weights"}, {"steps", steps}});
}

}  // namespace

int run_evaluate(std::vector<std::string> arguments) {
  Session session = open_reading(arguments);
  EvaluateRun how{.best = take_flag(arguments, "--best"),
                  .items_file = take(arguments, "--items"),
                  .tables_folder = take(arguments, "--tables")};
  if (const std::string differs = take(arguments, "--differs"); !differs.empty())
    how.differs = nlohmann::json::parse(differs);
  std::vector<CheckpointInfo> skipped;
  nlohmann::json result = evaluate_run(session.trainer(false), how, skipped);
  if (session.world.rank == 0) {
    tell_skipped(skipped);
    result["kind"] = "evaluated";
    EventWriter().write(result);
  }
  session.group->shutdown();
  return exit_finished;
}

int run_predict(std::vector<std::string> arguments) {
  const std::string request_file = take(arguments, "--request");
  const std::string output_file = take(arguments, "--output");
  Session session = open_reading(arguments);
  const auto loaded = load_model(session.trainer(false), {.best = take_flag(arguments, "--best")});
  OutputStream out(output_file);
  const nlohmann::json asked = nlohmann::json::from_cbor(read_file(request_file, data_bytes));
  PredictRequest request{.extra = asked.at("extra"),
                         .run_dir = asked.at("folder").get<std::string>(),
                         .out = [&out](const std::string& text) { out.write(text); },
                         .device = session.backend->device(),
                         .compute_dtype = compute_dtype(session.setup.train->precision)};
  const at::NoGradGuard no_grad;
  session.recipe->predict(loaded->model(), request);
  return exit_finished;
}

int run_predict_items(std::vector<std::string> arguments) {
  const nlohmann::json request =
      nlohmann::json::from_cbor(read_file(take(arguments, "--request"), data_bytes));
  Session session = open_reading(arguments);
  take_the_same_algorithms_everywhere();
  // The number of threads per operation decides how its sums are rounded.
  if (session.backend->device().is_cpu()) at::set_num_threads(1);
  const TrainerSetup setup = session.trainer(false);
  const auto loaded = load_model(setup, chosen_checkpoint(request));
  const Further further = load_further(setup, request.at("also"));
  if (setup.group.rank() == 0) tell_weights(*loaded, further);
  ItemJob job = job_of(request);
  job.also = further.list;
  predict_items(setup, loaded->model(), job);
  session.group->shutdown();
  return exit_finished;
}

}  // namespace lockstep
