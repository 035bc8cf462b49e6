// The toy regression as a plugin with faults that the environment asks for, so that whole runs can
// be seen to fail. LOCKSTEP_TEST_FAULTS holds "KIND STEP RANK [N]", with semicolons between; each
// comes once in a process, in the step after STEP finished ones.
//   forward, backward, evaluation: memory runs out there (N: only if there are more rows than N,
//   and
//     then each time)
//   allocation: the N-th allocation of the training thread after the forward pass fails
//   saving: memory runs out whenever the checkpoint after STEP steps is copied
//   segv, abort, kill, exit, throw, stop, loop: what the rank does in its loss
//   shapes: it multiplies matrices that do not fit
//   buffer: a module buffer changes; operator: one is called that has no deterministic form
//   nan_loss, nan_gradient: what is not a number (N: in so many steps)
//   nan_weights: a weight becomes one
//   spike: the loss is a thousand times as large
//   diverge: the rank sees no validation data, and so leaves out what the others do together
//   corrupt: one weight of the rank changes a little
//   data: loading the samples of that step takes a second each
//   late: the rank needs 2 s before it can meet the others
//   leaving: the rank closes its connections while the ranks meet, and is killed a moment later
#include "fakes/toy_recipe.h"
#include "runtime/launch/watch/heartbeat.h"
#include "training/recipe/register.h"

#include <ATen/Context.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <torch/csrc/autograd/custom_function.h>

#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace lockstep::testing {
namespace {

struct Fault {
  std::string kind;
  std::int64_t step = 0;
  int rank = 0;
  std::int64_t number = 0;
  bool spent = false;
};

std::vector<Fault> read_faults() {
  std::vector<Fault> faults;
  const char* const text = std::getenv("LOCKSTEP_TEST_FAULTS");
  std::istringstream entries(text == nullptr ? "" : text);
  for (std::string entry; std::getline(entries, entry, ';');) {
    std::istringstream words(entry);
    Fault fault;
    words >> fault.kind >> fault.step >> fault.rank >> fault.number;
    faults.push_back(fault);
  }
  return faults;
}

std::vector<Fault>& faults() {
  static std::vector<Fault> all = read_faults();
  return all;
}

int own_rank() {
  const char* const rank = std::getenv("RANK");
  return rank == nullptr ? 0 : std::atoi(rank);
}

bool came_before(const Fault& fault) {
  const char* const folder = std::getenv("LOCKSTEP_TEST_ONCE");
  if (folder == nullptr) return false;
  const std::filesystem::path mark =
      std::filesystem::path(folder) / (fault.kind + std::to_string(fault.step));
  const bool came = std::filesystem::exists(mark);
  std::ofstream(mark) << "came";
  return came;
}

// The fault of this kind that is due on this rank, marked as spent.
bool due(const std::string& kind, std::int64_t step, std::int64_t rows) {
  for (Fault& fault : faults()) {
    if (fault.kind != kind || fault.spent || fault.rank != own_rank() || step < fault.step)
      continue;
    if (fault.number > 0) {
      if (rows > fault.number) return true;
      continue;
    }
    fault.spent = true;
    if (!came_before(fault)) return true;
  }
  return false;
}

// Comes again when the step is computed again; N: in so many steps.
bool not_a_number(const std::string& kind, std::int64_t step) {
  for (const Fault& fault : faults())
    if (fault.kind == kind && fault.rank == own_rank() && step >= fault.step &&
        step < fault.step + std::max<std::int64_t>(fault.number, 1))
      return true;
  return false;
}

void run_out_of_memory() { TORCH_CHECK_WITH(OutOfMemoryError, false, "no memory, by request"); }

thread_local std::int64_t allocations_left = -1;  // until one fails; below 0: none does

thread_local bool training_thread = false;
std::atomic<bool> training_began = false;

// In the save after the step of a fault of that kind.
bool saving_without_memory() {
  if (!training_thread) return false;
  const Heartbeat now = own_heartbeat();
  if (now.phase != Phase::checkpoint) return false;
  for (const Fault& fault : faults())
    if (fault.kind == "saving" && fault.rank == own_rank() && fault.step == now.step) return true;
  return false;
}

class CountingAllocator : public c10::Allocator {
 public:
  explicit CountingAllocator(c10::Allocator* below) : below_(below) {}
  c10::DataPtr allocate(std::size_t bytes) override {
    if (allocations_left >= 0 && allocations_left-- == 0) run_out_of_memory();
    if (saving_without_memory()) run_out_of_memory();
    return below_->allocate(bytes);
  }
  c10::DeleterFnPtr raw_deleter() const override { return below_->raw_deleter(); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    below_->copy_data(to, from, bytes);
  }

 private:
  c10::Allocator* below_;
};

struct SpoilsGradient : torch::autograd::Function<SpoilsGradient> {
  static at::Tensor forward(torch::autograd::AutogradContext*, const at::Tensor& x) {
    return x.clone();
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 torch::autograd::variable_list gradients) {
    return {gradients[0] * NAN};
  }
};

struct FailsInBackward : torch::autograd::Function<FailsInBackward> {
  static at::Tensor forward(torch::autograd::AutogradContext*, const at::Tensor& x) {
    return x.clone();
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 torch::autograd::variable_list) {
    run_out_of_memory();
    return {};
  }
};

// What a rank may do instead of computing its loss.
void misbehave(std::int64_t step) {
  if (due("segv", step, 0)) raise(SIGSEGV);
  if (due("abort", step, 0)) std::abort();
  if (due("kill", step, 0)) raise(SIGKILL);
  if (due("shapes", step, 0)) at::mm(at::ones({2, 3}), at::ones({4, 5}));
  // Not std::exit: it destroys statics under LibTorch's threads, and now and then ends with a
  // signal instead.
  if (due("exit", step, 0)) std::_Exit(3);
  if (due("throw", step, 0)) throw std::runtime_error("thrown by request");
  if (due("stop", step, 0)) raise(SIGSTOP);
  if (due("loop", step, 0))
    for (volatile bool on = true; on;) continue;
}

class SlowData : public ToyData {
 public:
  using ToyData::ToyData;
  std::vector<at::Tensor> get(std::int64_t index, SampleContext& context) const override {
    for (const Fault& fault : faults())
      if (fault.kind == "data" && fault.rank == own_rank() && context.training &&
          context.step == fault.step)
        std::this_thread::sleep_for(std::chrono::seconds(1));
    return ToyData::get(index, context);
  }
};

// Its samples are gone once training has begun.
class VanishingData : public SlowData {
 public:
  using SlowData::SlowData;
  std::int64_t size() const override { return training_began ? 0 : SlowData::size(); }
};

// As the kernel ends a process: what it had open is closed before its parent can see its end.
void leave_while_the_ranks_meet() {
  std::thread([] {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    for (int fd = 3; fd < 256; ++fd) shutdown(fd, SHUT_RDWR);  // sockets alone
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    raise(SIGKILL);
  }).detach();
}

struct FaultyOptions : RecipeOptions {
  void defaults(TrainOptions& train, bool) const override {
    train.batch.global = 64;
    train.check.contract = false;  // it would spend the faults
  }
};

std::int64_t samples() {
  const char* const text = std::getenv("LOCKSTEP_TEST_SAMPLES");
  return text == nullptr ? 400 : std::atoll(text);
}

class FaultyRecipe : public ToyRecipe {
 public:
  FaultyRecipe(const FaultyOptions&, const Prepared&) : ToyRecipe(samples(), 23, 0.1) {
    static CountingAllocator allocator(c10::GetCPUAllocator());
    c10::SetCPUAllocator(&allocator, /*priority=*/255);
    if (std::getenv("RANK") == nullptr) return;  // a worker that prepares
    if (due("late", 0, 0)) std::this_thread::sleep_for(std::chrono::seconds(2));
    if (due("leaving", 0, 0)) leave_while_the_ranks_meet();
  }
  DatasetPair data() override {
    std::shared_ptr<const Dataset> valid = std::make_shared<SlowData>(23);
    if (due("diverge", 0, 0)) valid = std::make_shared<VanishingData>(23);
    return {std::make_shared<SlowData>(samples()), valid};
  }
  std::vector<at::Tensor> loss(Model& model, const Batch& batch, StepContext& context) override {
    const auto step = context.counters[1].item<std::int64_t>();
    const std::int64_t rows = batch.row_weight.size(0);
    training_thread = true;
    training_began = true;
    misbehave(step);
    if (due("buffer", step, 0)) dynamic_cast<ToyModel&>(model).seen.add_(1);
    if (due("operator", step, 0)) at::globalContext().alertNotDeterministic("blurred_sum");
    // Behind the back of autograd, as memory that fails.
    if (due("corrupt", step, 0))
      dynamic_cast<ToyModel&>(model).second.variable_data()[1][3].add_(1e-6);
    if (due("nan_weights", step, 0))
      dynamic_cast<ToyModel&>(model).second.variable_data()[1][3].fill_(NAN);
    if (due("forward", step, rows)) run_out_of_memory();
    std::vector<at::Tensor> terms = ToyRecipe::loss(model, batch, context);
    if (not_a_number("nan_loss", step)) terms[0] = terms[0] * NAN;
    if (not_a_number("nan_gradient", step)) terms[0] = SpoilsGradient::apply(terms[0]);
    if (due("spike", step, 0)) terms[0] = terms[0] * 1000;
    if (due("backward", step, rows)) terms[0] = FailsInBackward::apply(terms[0]);
    for (Fault& fault : faults())
      if (fault.kind == "allocation" && !fault.spent && fault.rank == own_rank() &&
          step == fault.step) {
        fault.spent = true;
        allocations_left = fault.number;
      }
    return terms;
  }
  at::Tensor evaluate(Model& model, const Batch& batch, StepContext& context) override {
    if (due("evaluation", 0, batch.row_weight.size(0))) run_out_of_memory();
    return ToyRecipe::evaluate(model, batch, context);
  }
};

}  // namespace
}  // namespace lockstep::testing

LOCKSTEP_PLUGIN("faulty", "a tiny regression that fails on request",
                lockstep::testing::FaultyOptions, lockstep::testing::FaultyRecipe)
