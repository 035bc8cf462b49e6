// One optimizer step: forward and backward over the micro-batches, reduction, update.
#pragma once

#include "data/loader.h"
#include "engine/arena.h"
#include "engine/backend.h"
#include "engine/exact_reducer.h"
#include "engine/not_finite.h"
#include "engine/optimizer.h"
#include "engine/process_group.h"
#include "engine/recipe.h"
#include "engine/reducer.h"
#include "launch/breadcrumbs.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

at::ScalarType compute_dtype(Precision precision);  // not of auto, which a record never holds

// A step's data on its way to the device, with the weights of its loss terms being added up over
// the ranks: started one step ahead, so that nothing waits for it.
struct StagedStep {
  StepData data;                                 // batches emptied into `uploads`
  std::vector<std::unique_ptr<Upload>> uploads;  // one a micro-batch: fields…, row_weight, counters
  std::unique_ptr<Upload> weights_upload;        // f64 [terms]
  at::Tensor weights;  // of all ranks, once `weights_pending` is waited for
  std::unique_ptr<Pending> weights_pending;
  bool out_of_memory = false;  // the data are not on the device
};

// What a rank reports of itself with each step; summed slots let every rank read all ranks'.
struct RankReport {
  double stop_signal = 0, stop_quota = 0;  // > 0: this rank wants to stop
  double save = 0;                         // > 0: it wants a checkpoint
  double wait_s = 0;                       // of the step before
  MemoryUse memory;
  // Where in this step the rank ran out of memory: data, forward, backward, reduction; none:
  // nowhere.
  Activity out_of_memory = Activity::none;
};

// What all ranks know once a step is done.
struct StepResult {
  std::int64_t step = 0;      // finished steps: the first gives 1
  std::vector<double> terms;  // mean of each loss term over the global batch
  double loss = 0;            // their sum
  double gradient_norm = 0;
  bool skipped = false;  // gradient not finite: weights unchanged
  // A rank was out of memory, in this step or in one before it, or one before it was not finite:
  // nothing changed, and no later step changes anything before `StepRunner::go_on`.
  bool dropped = false;
  // The loss or the gradient is not, and it is no matter of the loss scale: nothing changed, and no
  // later step changes anything before `StepRunner::go_on`.
  bool not_finite = false;
  double loss_scale = 1;
  double stop_signal = 0, stop_quota = 0, save = 0;
  std::vector<RankReport> ranks;
};

// Whether the step became one graph, and if not, why.
struct GraphState {
  bool captured = false;
  double seconds = 0;   // that capturing took
  std::string why_not;  // in words
};

// Runs steps on the training stream without synchronising the device. After some steps that warm
// up, all ranks together turn the step into one graph, or none does. A rank that runs out of memory
// still takes part in all collectives of the step, so that every rank drops it. One thread.
class StepRunner {
 public:
  StepRunner(Recipe& recipe, Model& model, Arena& arena, Reducer& reducer, Optimizer& optimizer,
             ProcessGroup& group, Backend& backend, const TrainOptions& options,
             std::int64_t recomputed_blocks = 0);

  StagedStep stage(StepData data);
  // A step under way: `get` blocks until its numbers are on the host.
  class Running {
   public:
    StepResult get();
    // Time between the end of the backward pass and that of the reduction; NaN where the device
    // cannot tell.
    double wait_s() const { return wait_s_; }

   private:
    friend class StepRunner;
    std::int64_t step_ = 0;
    std::size_t terms_ = 0;
    std::unique_ptr<Download> numbers_;
    double wait_s_ = 0;
  };
  Running run(StagedStep staged, double lr, const RankReport& report);
  // Set once, after the step in which it was decided.
  const std::optional<GraphState>& graph_state() const { return graph_state_; }
  // What this rank's last lack of memory said, one line; empty: there was none.
  const std::string& out_of_memory_text() const { return out_of_memory_text_; }
  // All ranks, after a step that was dropped or not finite: maybe with other micro-batches, which
  // make another graph.
  void go_on();
  // After `go_on`, with the data of a step that was not finite: goes through it again, without a
  // graph, and changes nothing. Collectives are not called.
  NotFinite find_not_finite(StagedStep staged);

 private:
  // What a step reads: on the device, and with a graph always at the same place.
  struct Inputs {
    std::vector<std::vector<at::Tensor>> micro;  // fields…, row_weight, counters
    std::vector<std::int64_t> first_places;
    std::int64_t accumulation = 0;
    at::Tensor weights;  // f64 [terms], of all ranks
    at::Tensor report;   // f64, see slots()
    at::Tensor lr;       // f32 0-dim
    Activity out_of_memory = Activity::none;
  };
  Inputs collect(StagedStep& staged, double lr, const RankReport& report);
  // The whole step; returns its numbers, f64.
  at::Tensor work(const Inputs& inputs);
  void forward_backward(std::vector<at::Tensor> fields, std::int64_t first_place,
                        const at::Tensor& factors, at::Tensor& means, bool last);
  void enter(Activity phase);
  void pass_over_micro_batches(const Inputs& inputs, const at::Tensor& factors, at::Tensor& means);
  at::Tensor numbers_of(const Inputs& inputs, const at::Tensor& means, Activity failed) const;
  void sum_gradients();
  void give_up_gradients();
  void forget_unfinished();
  template <class Function>
  auto insist(const Function& function);
  void make_room();
  at::Tensor replay(const Inputs& inputs);
  bool wants_graph();
  void note_shapes(const Inputs& inputs);
  void try_to_capture(const Inputs& inputs);

  Recipe& recipe_;
  Model& model_;
  Arena& arena_;
  Reducer& reducer_;
  std::optional<ExactReducer> exact_;  // from the first step on, with exact = true
  Optimizer& optimizer_;
  ProcessGroup& group_;
  Backend& backend_;
  const TrainOptions& options_;
  std::int64_t recomputed_blocks_;
  std::size_t terms_;
  at::Tensor stamps_;   // f64 [2]
  at::Tensor dropped_;  // f64 [1]; above 0: no step changes anything from here on
  at::Tensor reserve_;  // given up when memory runs out, so that the step can be ended
  std::string out_of_memory_text_;
  bool recording_ = false;  // a graph
  Activity phase_ = Activity::none;
  std::int64_t steps_run_ = 0;
  std::vector<std::vector<std::int64_t>> shapes_;  // of the first step's inputs
  bool shapes_vary_ = false;
  std::optional<GraphState> graph_state_;
  Inputs graph_inputs_;
  at::Tensor graph_numbers_;
  std::unique_ptr<Graph> graph_;  // last: it goes before what it reads
};

}  // namespace lockstep
