#include "worker/reading.h"

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "engine/library_modes.h"
#include "engine/train_step.h"
#include "launch/launch.h"
#include "run/events.h"
#include "trainer/item_prediction.h"
#include "worker/output_stream.h"
#include "worker/session.h"
#include "worker/words.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <memory>

namespace lockstep {
namespace {

// To the tool, which shows it: the log of this process is kept by nobody.
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

// The model whose weights are asked for, in the mode in which it predicts.
std::unique_ptr<LoadedModel> load_model(const TrainerSetup& setup,
                                        std::vector<std::string>& arguments) {
  setup.backend.use_training_stream();
  const at::NoGradGuard no_grad;
  std::vector<CheckpointInfo> skipped;
  auto loaded = std::make_unique<LoadedModel>(setup, take_flag(arguments, "--best"), skipped);
  if (setup.group.rank() == 0) tell_skipped(skipped);
  loaded->model().train(false);
  return loaded;
}

ItemJob job_of(const nlohmann::json& request) {
  return {.items = items_from_cbor(request.at("items").get<std::string>()),
          .batch = request.at("batch"),
          .extra = request.at("extra"),
          .folder = request.at("folder").get<std::string>(),
          .scratch = request.at("scratch").get<std::string>(),
          .replace = request.at("replace")};
}

}  // namespace

int run_evaluate(std::vector<std::string> arguments) {
  Session session = open_reading(arguments);
  const std::string items = take(arguments, "--items");
  std::vector<CheckpointInfo> skipped;
  nlohmann::json result =
      evaluate_run(session.trainer(false), take_flag(arguments, "--best"), items, skipped);
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
  const auto loaded = load_model(session.trainer(false), arguments);
  OutputStream out(output_file);
  const nlohmann::json asked = nlohmann::json::from_cbor(read_file(request_file));
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
  const nlohmann::json request = nlohmann::json::from_cbor(read_file(take(arguments, "--request")));
  Session session = open_reading(arguments);
  take_the_same_algorithms_everywhere();
  // How many threads share an operation decides how its sums are rounded.
  if (session.backend->device().is_cpu()) at::set_num_threads(1);
  const TrainerSetup setup = session.trainer(false);
  const auto loaded = load_model(setup, arguments);
  predict_items(setup, loaded->model(), job_of(request));
  session.group->shutdown();
  return exit_finished;
}

}  // namespace lockstep
