// Muon's state in checkpoints: by parameter, so that it comes back on any number of ranks.
#include "core/base/files/files.h"
#include "fakes/error_of.h"
#include "fakes/muon_cases.h"
#include "fakes/thread_ranks.h"
#include "training/checkpoint/snapshot.h"
#include "training/checkpoint/tensor_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace lockstep {
namespace {

struct MuonRig {
  testing::MuonOptions options;
  testing::MatricesModel model;
  ParameterStorage storage;
  GradientBuffers gradients;
  Optimizer optimizer;

  explicit MuonRig(ProcessGroup* sharing = nullptr, OptimizerKind kind = OptimizerKind::muon)
      : storage((options.optimizer.kind = kind, model.parameters()), at::kCPU, at::kFloat, sharing,
                usual_bucket_bytes, kind),
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

TEST(MuonCheckpoint, IsRefusedByAnotherOptimizerAndTheOtherWayRound) {
  const TemporaryDirectory folder;
  for (const OptimizerKind saved : {OptimizerKind::muon, OptimizerKind::adamw}) {
    const std::filesystem::path place = folder.path() / (saved == OptimizerKind::muon ? "m" : "a");
    MuonRig rig(nullptr, saved);
    rig.step(0);
    save_muon(rig, place);
    MuonRig other(nullptr,
                  saved == OptimizerKind::muon ? OptimizerKind::adamw : OptimizerKind::muon);
    EXPECT_THAT(error_of([&] { restore(*newest_good(place), other.trained()); }),
                ::testing::HasSubstr("holds the state of another optimizer: it has no "));
  }
}

}  // namespace
}  // namespace lockstep
