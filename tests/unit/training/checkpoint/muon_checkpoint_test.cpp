// Muon's state in checkpoints: by parameter, so that it comes back on any number of ranks.
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "fakes/error_of.h"
#include "fakes/muon_cases.h"
#include "fakes/thread_ranks.h"
#include "training/checkpoint/flat_copy.h"
#include "training/checkpoint/snapshot.h"
#include "training/checkpoint/tensor_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <c10/core/Allocator.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>

namespace lockstep {
namespace {

struct MuonRig {
  testing::MuonOptions options;
  testing::MatricesModel model;
  ParameterStorage storage;
  GradientBuffers gradients;
  Optimizer optimizer;

  explicit MuonRig(ProcessGroup* sharing = nullptr, OptimizerKind kind = OptimizerKind::muon,
                   double momentum = 0)
      : storage((options.optimizer.kind = kind, options.optimizer.momentum = momentum,
                 model.parameters()),
                at::kCPU, at::kFloat, sharing, usual_bucket_bytes, kind),
        gradients(storage),
        optimizer(options, gradients) {}

  Trained trained() { return {storage, &optimizer, {}}; }
  void step(std::int64_t number) { testing::take_made_step(storage, gradients, optimizer, number); }
  std::map<std::string, at::Tensor> weights() const {
    std::map<std::string, at::Tensor> all;
    for (std::size_t i = 0; i < storage.parameters().size(); ++i)
      all[storage.parameters()[i].name] = storage.view(storage.weights(), i).clone();
    return all;
  }
};

void save_muon(MuonRig& rig, const std::filesystem::path& folder) {
  CheckpointSaver saver(folder, {}, cpu_backend(), [](const CheckpointSaver::Result&) {});
  saver.save(rig.trained(), 2, {{"step", 2}}, nullptr);
  EXPECT_EQ(saver.finish(), "");
}

// A run of two ranks saves after two steps; the third is taken on `ranks`.
TEST(MuonCheckpoint, OfTwoRanksGoesOnOnAnyNumberOfThem) {
  const TemporaryDirectory folder;
  testing::with_ranks(2, [&](ProcessGroup& group) {
    MuonRig rig(&group);
    rig.step(0);
    rig.step(1);
    if (group.rank() == 0)
      save_muon(rig, folder.path());
    else
      give_shards(rig.trained(), cpu_backend());
  });
  MuonRig unbroken;
  for (std::int64_t step = 0; step < 3; ++step) unbroken.step(step);
  const auto expected = unbroken.weights();
  const CheckpointInfo saved = *newest_good(folder.path());
  for (const int ranks : {1, 3})
    testing::with_ranks(ranks, [&](ProcessGroup& group) {
      MuonRig rig(&group);
      restore(saved, rig.trained());
      rig.step(2);
      for (const char* name : {"square", "tall", "wide", "larger"})
        EXPECT_TRUE(rig.weights().at(name).equal(expected.at(name))) << name << " on " << ranks;
    });
}

TEST(MuonCheckpoint, NamesMomentumOfMatricesAndMomentsOfTheRest) {
  const TemporaryDirectory folder;
  MuonRig rig;
  rig.step(0);
  save_muon(rig, folder.path());
  std::vector<std::string> names;
  for (const auto& [name, tensor] :
       map_tensors(newest_good(folder.path())->path / "optimizer.safetensors"))
    names.push_back(name);
  EXPECT_THAT(names, ::testing::UnorderedElementsAre(
                         "momentum_buffer.square", "momentum_buffer.tall", "momentum_buffer.wide",
                         "momentum_buffer.larger", "exp_avg.words", "exp_avg.bias",
                         "exp_avg.filter", "exp_avg.head", "exp_avg_sq.words", "exp_avg_sq.bias",
                         "exp_avg_sq.filter", "exp_avg_sq.head"));
}

// Also by a kind whose states are all there, or that has none.
TEST(Checkpoint, IsRefusedByEachOtherKindOfOptimizer) {
  const TemporaryDirectory folder;
  const auto word = [](OptimizerKind kind) -> std::string {
    if (kind == OptimizerKind::sgd) return "sgd";
    return kind == OptimizerKind::muon ? "muon" : "adamw or adam";
  };
  constexpr OptimizerKind kinds[] = {OptimizerKind::adamw, OptimizerKind::sgd, OptimizerKind::muon};
  for (const OptimizerKind saved : kinds) {
    const std::filesystem::path place = folder.path() / word(saved);
    MuonRig rig(nullptr, saved, /*momentum=*/0.9);
    rig.step(0);
    save_muon(rig, place);
    for (const OptimizerKind kind : kinds) {
      MuonRig other(nullptr, kind);
      const auto resume = [&] { restore(*newest_good(place), other.trained()); };
      if (kind == saved)
        EXPECT_NO_THROW(resume()) << word(kind);
      else
        EXPECT_THAT(error_of(resume),
                    ::testing::HasSubstr("holds the state of another optimizer (optimizer.kind=" +
                                         word(saved) + "), not that of "))
            << word(kind);
    }
  }
}

// The same names and shapes, with "tall" as an embedding.
TEST(MuonCheckpoint, OfAnotherDivisionBetweenMuonAndAdamWIsRefusedAsSuch) {
  const TemporaryDirectory folder;
  MuonRig rig;
  rig.step(0);
  save_muon(rig, folder.path());
  std::vector<Parameter> parameters = testing::MatricesModel().parameters();
  for (Parameter& one : parameters)
    if (one.name == "tall") one.use = ParameterUse::embedding;
  ParameterStorage storage(parameters, at::kCPU, at::kFloat);
  GradientBuffers gradients(storage);
  Optimizer optimizer(rig.options, gradients);
  const at::Tensor before = optimizer.states().front().flat().clone();
  EXPECT_THAT(error_of([&] {
                restore(*newest_good(folder.path()), {storage, &optimizer, {}});
              }),
              ::testing::HasSubstr("divides the parameters otherwise between Muon and AdamW: it "
                                   "has momentum_buffer of tall, but no exp_avg"));
  EXPECT_TRUE(optimizer.states().front().flat().equal(before));  // found before anything changes
}

// The state of "tall" under another name.
TEST(MuonCheckpoint, WithoutAParametersStateIsOfAnotherModel) {
  const TemporaryDirectory folder;
  MuonRig rig;
  rig.step(0);
  save_muon(rig, folder.path());
  const CheckpointInfo saved = *newest_good(folder.path());
  const std::filesystem::path file = saved.path / "optimizer.safetensors";
  std::string bytes = read_file(file);
  const std::string name = "momentum_buffer.tall";
  const std::size_t place = bytes.find(name);
  ASSERT_NE(place, std::string::npos);
  bytes.replace(place, name.size(), "momentum_buffer.tell");
  std::ofstream(file, std::ios::binary) << bytes;
  MuonRig other;
  EXPECT_THAT(
      error_of([&] { restore(saved, other.trained()); }),
      ::testing::HasSubstr("a checkpoint of another model: it has no momentum_buffer.tall"));
}

// Large embeddings lie in a bucket of their own, which holds no momentum of matrices.
TEST(MuonCheckpoint, GathersOnlyBucketsThatHoldTheState) {
  testing::with_ranks(2, [&](ProcessGroup& group) {
    const testing::MuonOptions options;
    std::vector<Parameter> parameters = testing::MatricesModel().parameters();
    parameters.insert(
        parameters.begin(),
        {.name = "large",
         .tensor = testing::sawtooth({700, 1000}, 37, 0, 101, 64).requires_grad_(true),
         .use = ParameterUse::embedding});
    ParameterStorage storage(parameters, at::kCPU, at::kFloat, &group, usual_bucket_bytes,
                             OptimizerKind::muon);
    GradientBuffers gradients(storage);
    Optimizer optimizer(options, gradients);
    testing::take_made_step(storage, gradients, optimizer, 0);
    FlatCopier copier(storage, cpu_backend(), group.rank() == 0);
    const FlatCopy momentum = copier.copy(optimizer.states().front());
    const FlatCopy moments = copier.copy(optimizer.states().back());
    if (group.rank() != 0) return;
    EXPECT_GT(momentum.elements(), 0);
    EXPECT_LT(momentum.elements(), 10'000);
    EXPECT_GT(moments.elements(), 700'000);
    const auto tensors = momentum.tensors(storage, "");
    ASSERT_EQ(tensors.size(), 4U);
    for (const auto& [name, tensor] : tensors) EXPECT_GT(tensor.abs().sum().item<double>(), 0);
  });
}

// The last bucket gives no chunk: its one parameter has no elements.
TEST(FlatCopies, HoldParametersWithoutElements) {
  testing::with_ranks(2, [&](ProcessGroup& group) {
    const std::vector<Parameter> parameters{
        {.name = "none", .tensor = at::zeros({0, 3}).requires_grad_(true)},
        {.name = "large", .tensor = at::ones({700, 1000}).requires_grad_(true)}};
    ParameterStorage storage(parameters, at::kCPU, at::kFloat, &group);
    ASSERT_EQ(storage.buckets().size(), 2U);
    FlatCopier copier(storage, cpu_backend(), group.rank() == 0);
    const FlatCopy copy = copier.copy(storage.master().narrow(0, 0, storage.own_elements()));
    if (group.rank() != 0) return;
    const auto tensors = copy.tensors(storage, "");
    ASSERT_EQ(tensors.size(), 2U);
    EXPECT_EQ(tensors[0].second.sizes(), (std::vector<std::int64_t>{0, 3}));
  });
}

struct CountedAllocations : c10::MemoryReportingInfoBase {
  std::size_t largest = 0;  // bytes
  void reportMemoryUsage(void*, std::int64_t size, std::size_t, std::size_t, c10::Device) override {
    if (size > 0) largest = std::max(largest, static_cast<std::size_t>(size));
  }
  bool memoryProfilingEnabled() const override { return true; }
};

TEST(StateBuffers, TakeAWholeParameterWithoutACopyOfIt) {
  ParameterStorage storage({{.name = "filter",
                             .tensor = at::zeros({8, 4, 3, 3})
                                           .contiguous(at::MemoryFormat::ChannelsLast)
                                           .requires_grad_(true)}},
                           at::kCPU, at::kFloat);
  const StateBuffer state(storage, "momentum", {true});
  const at::Tensor values = testing::sawtooth({8, 4, 3, 3}, 37, 0, 101, 64);
  const auto counted = std::make_shared<CountedAllocations>();
  {
    const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, counted);
    state.fill(0, values);
  }
  EXPECT_LT(counted->largest, values.nbytes());
  EXPECT_TRUE(storage.view(state.flat(), 0).equal(values));
}

}  // namespace
}  // namespace lockstep
