// Saving, restoring and refusing.
#include "training/checkpoint/snapshot.h"

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "fakes/thread_ranks.h"
#include "fakes/tied_model.h"
#include "fakes/toy_recipe.h"
#include "runtime/run/checkpoint/checkpoint_writer.h"
#include "training/checkpoint/tensor_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/randn.h>

#include <cmath>
#include <fstream>

namespace lockstep {
namespace {

struct Rig {
  TrainOptions options;
  testing::ToyModel model;
  ParameterStorage storage;
  GradientBuffers gradients;
  Optimizer optimizer;

  explicit Rig(std::uint64_t seed, Precision precision = Precision::fp32, double ema = 0,
               ProcessGroup* sharing = nullptr)
      : options(),
        model(seed),
        storage((options.precision = precision, options.ema.decay = ema, model.parameters()),
                at::kCPU, precision == Precision::fp32 ? at::kFloat : at::kBFloat16, sharing),
        gradients(storage),
        optimizer(options, gradients) {}

  Trained trained() {
    std::vector<NamedTensor> buffers = model.buffers();
    return {storage, &optimizer, buffers};
  }
  void train_as_others() {  // the same on every rank, whatever it holds
    for (int i = 0; i < 3; ++i) {
      const at::NoGradGuard no_grad;
      for (std::size_t p = 0; p < storage.parameters().size(); ++p) {
        at::Tensor gradient = storage.view(gradients.flat(), p);
        gradient.copy_(at::linspace(-1 - i, 2, gradient.numel()).view(gradient.sizes()));
      }
      optimizer.step(0.01);
    }
  }
  void train_a_little() {
    const at::NoGradGuard no_grad;
    for (int i = 0; i < 3; ++i) {
      for (std::size_t p = 0; p < storage.parameters().size(); ++p)
        storage.view(gradients.flat(), p).copy_(at::randn(storage.parameters()[p].tensor.sizes()));
      optimizer.step(0.01);
    }
    model.seen.fill_(17);
  }
};

CheckpointSaver::Result save(Rig& rig, const std::filesystem::path& folder, std::int64_t step,
                             Retention retention = {}) {
  CheckpointSaver::Result result;
  CheckpointSaver saver(folder, retention, cpu_backend(),
                        [&](const CheckpointSaver::Result& done) { result = done; });
  saver.save(rig.trained(), step, {{"step", step}}, {{"loss", 1.5}});
  saver.finish();
  return result;
}

// The other ranks wait at the end of the run for the one that writes.
TEST(Snapshot, ADiskThatTakesLongerThanRanksMayTakeToMeetEndsNoRun) {
  const TemporaryDirectory folder;
  testing::with_ranks(2,
                      [&](ProcessGroup& group) {
                        if (group.rank() != 0) return;
                        Rig rig(1);
                        rig.train_a_little();
                        CheckpointSaver saver(
                            folder.path(), {}, cpu_backend(), [](const CheckpointSaver::Result&) {},
                            [] { system_clock().sleep_s(2.5); });
                        saver.save(rig.trained(), 3, {{"step", 3}}, {{"loss", 1.5}});
                        EXPECT_EQ(saver.finish(), "");
                      },
                      {.start_s = 1});
  EXPECT_EQ(list_checkpoints(folder.path(), true).size(), 1U);
}

TEST(Snapshot, ComesBackBitForBit) {
  const TemporaryDirectory folder;
  Rig a(1);
  a.train_a_little();
  const auto saved = save(a, folder.path(), 3);
  ASSERT_EQ(saved.info.damage, "");
  Rig b(2);
  const nlohmann::json state = restore(*newest_good(folder.path()), b.trained());
  EXPECT_EQ(state.at("step"), 3);
  EXPECT_TRUE(a.storage.master().equal(b.storage.master()));
  for (const auto& [name, flat] : a.optimizer.flat_state())
    EXPECT_TRUE(flat.equal(b.optimizer.flat_state().at(name))) << name;
  for (const auto& [name, scalar] : a.optimizer.scalar_state())
    EXPECT_EQ(scalar.item<double>(), b.optimizer.scalar_state().at(name).item<double>()) << name;
  EXPECT_EQ(b.model.seen.item<double>(), 17);
}

// Such a rule keeps nothing beside the weights; checkpoints of before hold zeros for it. A run may
// go on with momentum, which then begins at zeros.
TEST(Snapshot, SgdWithoutMomentumSavesNoStateAndGoesOnWithOrWithout) {
  for (const double saved : {0.0, 0.9})
    for (const double resumed : {0.0, 0.9}) {
      const TemporaryDirectory folder;
      testing::ToyModel model(1), other(2);
      TrainOptions before, after;
      before.precision = after.precision = Precision::fp32;
      before.optimizer.kind = after.optimizer.kind = OptimizerKind::sgd;
      before.optimizer.momentum = saved;
      after.optimizer.momentum = resumed;
      ParameterStorage storage(model.parameters(), at::kCPU, at::kFloat);
      GradientBuffers gradients(storage);
      Optimizer optimizer(before, gradients);
      EXPECT_EQ(optimizer.flat_state().size(), saved == 0 ? 0U : 1U);
      CheckpointSaver saver(folder.path(), {}, cpu_backend(), [](const auto&) {});
      saver.save({storage, &optimizer, model.buffers()}, 1, {{"step", 1}}, nullptr);
      ASSERT_EQ(saver.finish(), "");
      ParameterStorage into(other.parameters(), at::kCPU, at::kFloat);
      GradientBuffers other_gradients(into);
      Optimizer goes_on(after, other_gradients);
      restore(*newest_good(folder.path()), {into, &goes_on, other.buffers()});
      EXPECT_TRUE(into.master().equal(storage.master()));
      for (const auto& [name, flat] : goes_on.flat_state())
        EXPECT_EQ(flat.abs().sum().item<double>(), 0) << name;
    }
}

TEST(Snapshot, BringsBackTheAverageOfTheWeights) {
  const TemporaryDirectory folder;
  Rig a(1, Precision::fp32, 0.9);
  a.train_a_little();
  save(a, folder.path(), 3);
  const CheckpointInfo saved = *newest_good(folder.path());
  Rig b(2, Precision::fp32, 0.9);
  restore(saved, b.trained());
  EXPECT_TRUE(b.optimizer.average()->flat().equal(a.optimizer.average()->flat()));
  EXPECT_FALSE(b.optimizer.average()->flat().equal(a.storage.master()));
  Rig c(3);
  EXPECT_TRUE(restore_average(saved, c.storage, c.storage.master()));
  EXPECT_TRUE(c.storage.master().equal(a.optimizer.average()->flat()));
  const auto file = map_tensors(saved.path / "ema.safetensors");
  EXPECT_EQ(file.size(), a.storage.parameters().size());
  EXPECT_TRUE(file.count("first.weight"));
}

TEST(Snapshot, BeginsAnAverageAtTheWeightsWhereTheCheckpointHasNone) {
  const TemporaryDirectory folder;
  Rig a(1);
  a.train_a_little();
  save(a, folder.path(), 3);
  Rig b(2, Precision::fp32, 0.9);
  restore(*newest_good(folder.path()), b.trained());
  EXPECT_TRUE(b.optimizer.average()->flat().equal(a.storage.master()));
  EXPECT_FALSE(restore_average(*newest_good(folder.path()), b.storage, b.storage.master()));
}

TEST(Snapshot, RefreshesTheWorkingCopy) {
  const TemporaryDirectory folder;
  Rig a(1);
  a.train_a_little();
  save(a, folder.path(), 1);
  Rig b(2, Precision::bf16);
  restore(*newest_good(folder.path()), b.trained());
  EXPECT_TRUE(b.model.first.equal(a.model.first.to(at::kBFloat16)));
}

TEST(Snapshot, IsOfTheMomentItWasAskedFor) {
  const TemporaryDirectory folder;
  Rig a(1);
  a.train_a_little();
  const at::Tensor then = a.storage.master().clone();
  {
    CheckpointSaver saver(folder.path(), {}, cpu_backend(), [](const CheckpointSaver::Result&) {});
    saver.save(a.trained(), 1, {{"step", 1}}, nullptr);
    a.train_a_little();
  }
  Rig b(2);
  restore(*newest_good(folder.path()), b.trained());
  EXPECT_TRUE(b.storage.master().equal(then));
}

TEST(Snapshot, NamesTensorsAsTheModelDoes) {
  const TemporaryDirectory folder;
  Rig a(1);
  const auto saved = save(a, folder.path(), 1);
  const auto model = map_tensors(saved.info.path / "model.safetensors");
  std::vector<std::string> names;
  for (const auto& [name, tensor] : model) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"first.bias", "first.weight", "rare", "second.weight",
                                             "seen", "unused"}));
  EXPECT_TRUE(model.at("first.weight").equal(a.model.first));
}

// All that a rank holds of `shared` is the same part of `whole`.
void expect_pieces_of(Rig& shared, Rig& whole) {
  std::map<std::string, at::Tensor> own = shared.optimizer.flat_state();
  std::map<std::string, at::Tensor> all = whole.optimizer.flat_state();
  own["master"] = shared.storage.master();
  all["master"] = whole.storage.master();
  own["average"] = shared.optimizer.average()->flat();
  all["average"] = whole.optimizer.average()->flat();
  for (const auto& [name, flat] : all)
    for (std::size_t i = 0; i < whole.storage.parameters().size(); ++i) {
      const at::Tensor expected = own.at(name).clone();
      shared.storage.write(expected, i, whole.storage.view(flat, i));
      EXPECT_TRUE(expected.equal(own.at(name))) << name << " " << i;
    }
  for (std::size_t i = 0; i < whole.storage.parameters().size(); ++i)
    EXPECT_TRUE(shared.storage.parameters()[i].tensor.equal(whole.storage.parameters()[i].tensor));
}

TEST(Snapshot, IsWholeWhereRanksShareTheUpdateAndComesBackOnAnyNumberOfThem) {
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    const TemporaryDirectory folder;
    testing::with_ranks(3, [&](ProcessGroup& group) {
      Rig a(1, precision, 0.9, &group);
      a.train_as_others();
      std::string damage;
      if (group.rank() == 0)
        damage = save(a, folder.path(), 3).info.damage;
      else
        give_shards(a.trained(), cpu_backend());
      EXPECT_EQ(damage, "");
    });
    const CheckpointInfo saved = *newest_good(folder.path());
    Rig plain(1, precision, 0.9), whole(2, precision, 0.9);
    plain.train_as_others();
    restore(saved, whole.trained());
    EXPECT_TRUE(at::allclose(whole.storage.master(), plain.storage.master(), 1e-6, 1e-7));
    EXPECT_TRUE(at::allclose(whole.optimizer.average()->flat(), plain.optimizer.average()->flat(),
                             1e-6, 1e-7));
    EXPECT_TRUE(at::allclose(whole.optimizer.flat_state().at("exp_avg_sq"),
                             plain.optimizer.flat_state().at("exp_avg_sq"), 1e-6, 1e-12));
    testing::with_ranks(2, [&](ProcessGroup& group) {
      Rig b(3 + group.rank(), precision, 0.9, &group);
      restore(saved, b.trained());
      expect_pieces_of(b, whole);
    });
  }
}

class Renamed : public testing::ToyModel {
 public:
  using ToyModel::ToyModel;
  std::vector<Parameter> parameters() override {
    auto all = ToyModel::parameters();
    all[0].name = "other.weight";
    return all;
  }
};

TEST(Snapshot, RefusesACheckpointOfAnotherModel) {
  const TemporaryDirectory folder;
  Rig a(1);
  save(a, folder.path(), 1);
  Renamed model(1);
  ParameterStorage storage(model.parameters(), at::kCPU, at::kFloat);
  try {
    restore(*newest_good(folder.path()), {storage, nullptr, model.buffers()});
    FAIL() << "restored";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("other.weight"), std::string::npos) << error.what();
  }
}

CheckpointInfo save_tied(ParameterStorage& storage, Model& model, const TrainOptions& options,
                         const std::filesystem::path& folder) {
  GradientBuffers gradients(storage);
  Optimizer optimizer(options, gradients);
  CheckpointSaver saver(folder, {}, cpu_backend(), [](const CheckpointSaver::Result&) {});
  saver.save({storage, &optimizer, model.buffers()}, 1, {{"step", 1}}, nullptr);
  EXPECT_EQ(saver.finish(), "");
  return *newest_good(folder);
}

TEST(Snapshot, HoldsFrozenParametersAsTheyWereBuiltAndTiedOnesOnce) {
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
    const TemporaryDirectory folder;
    const TrainOptions options;
    testing::TiedModel model(1);
    ParameterStorage storage(model.parameters(), at::kCPU, dtype);
    const CheckpointInfo saved = save_tied(storage, model, options, folder.path());
    const auto file = map_tensors(saved.path / "model.safetensors");
    EXPECT_EQ(file.size(), 8U);
    EXPECT_TRUE(file.at("scale").equal(at::full({5}, 1.1)));
    EXPECT_TRUE(file.at("places").equal(at::arange(3)));
    EXPECT_FALSE(file.count("tied"));
    const std::map<std::string, std::string> aliases{{"tied", "second.weight"}};
    EXPECT_EQ(read_aliases(saved.path / "model.safetensors"), aliases);
    EXPECT_EQ(map_tensors(saved.path / "optimizer.safetensors").size(), 10U);

    testing::TiedModel other(2);
    {
      const at::NoGradGuard no_grad;
      other.scale.fill_(7);
      other.places.fill_(0);
    }
    ParameterStorage into(other.parameters(), at::kCPU, dtype);
    GradientBuffers gradients(into);
    Optimizer optimizer(options, gradients);
    restore(saved, {into, &optimizer, other.buffers()});
    EXPECT_TRUE(other.scale.equal(model.scale));
    EXPECT_TRUE(other.places.equal(model.places));
    EXPECT_TRUE(other.tied.equal(model.second));
    EXPECT_TRUE(into.frozen().values(0).equal(at::full({5}, 1.1)));
  }
}

// The same model, which registers the second name first.
class TiedTheOtherWay : public testing::TiedModel {
 public:
  using TiedModel::TiedModel;
  std::vector<Parameter> parameters() override {
    auto all = TiedModel::parameters();
    std::swap(all[3].name, all[6].name);
    return all;
  }
};

TEST(Snapshot, FindsATiedParameterByItsOtherName) {
  const TemporaryDirectory folder;
  const TrainOptions options;
  testing::TiedModel model(1);
  ParameterStorage storage(model.parameters(), at::kCPU, at::kFloat);
  const CheckpointInfo saved = save_tied(storage, model, options, folder.path());
  TiedTheOtherWay other(2);
  ParameterStorage into(other.parameters(), at::kCPU, at::kFloat);
  ASSERT_EQ(into.parameters()[2].name, "tied");
  GradientBuffers gradients(into);
  Optimizer optimizer(options, gradients);
  restore(saved, {into, &optimizer, other.buffers()});
  EXPECT_TRUE(other.second.equal(model.second));
}

class BufferWithTwoNames : public testing::ToyModel {
 public:
  using ToyModel::ToyModel;
  std::vector<NamedTensor> buffers() override { return {{"seen", seen}, {"again.seen", seen}}; }
};

TEST(Snapshot, HoldsABufferOfTwoNamesOnce) {
  const TemporaryDirectory folder;
  const TrainOptions options;
  BufferWithTwoNames model(1), other(2);
  model.seen.fill_(5);
  ParameterStorage storage(model.parameters(), at::kCPU, at::kFloat);
  const CheckpointInfo saved = save_tied(storage, model, options, folder.path());
  EXPECT_EQ(read_aliases(saved.path / "model.safetensors").at("again.seen"), "seen");
  ParameterStorage into(other.parameters(), at::kCPU, at::kFloat);
  restore(saved, {into, nullptr, other.buffers()});
  EXPECT_EQ(other.seen.item<double>(), 5);
}

TEST(Snapshot, ReportsAFullDiskAndKeepsTheLastGoodOne) {
  const TemporaryDirectory folder;
  Rig a(1);
  save(a, folder.path(), 1);
  CheckpointWriter::fault = [](const std::filesystem::path& path, std::size_t) {
    if (path.filename() == "optimizer.safetensors") throw Error("no space left on device");
  };
  const auto failed = save(a, folder.path(), 2);
  CheckpointWriter::fault = {};
  EXPECT_NE(failed.info.damage.find("no space"), std::string::npos);
  EXPECT_EQ(newest_good(folder.path())->step, 1);
  EXPECT_EQ(save(a, folder.path(), 3).info.damage, "");
  EXPECT_EQ(newest_good(folder.path())->step, 3);
}

TEST(Snapshot, WeightsThatAreNotFiniteAreRefused) {
  const TemporaryDirectory folder;
  Rig a(1);
  a.train_a_little();
  ASSERT_EQ(save(a, folder.path(), 3).info.damage, "");
  {
    const at::NoGradGuard no_grad;
    a.model.second[1][2].fill_(INFINITY);
  }
  EXPECT_EQ(save(a, folder.path(), 4, {.keep = 1}).info.damage,
            "the weights second.weight are not finite");
  EXPECT_EQ(newest_good(folder.path())->step, 3);
}

TEST(Snapshot, BuffersAndFrozenParametersThatHoldNaNAreRefusedButInfiniteMasksAreNot) {
  const TemporaryDirectory folder;
  Rig a(1);
  a.model.seen.fill_(-INFINITY);
  EXPECT_EQ(save(a, folder.path(), 1).info.damage, "");
  a.model.seen.fill_(NAN);
  EXPECT_EQ(save(a, folder.path(), 2).info.damage, "the buffer seen holds NaN");
  EXPECT_EQ(newest_good(folder.path())->step, 1);

  const TrainOptions options;
  testing::TiedModel model(1);
  ParameterStorage storage(model.parameters(), at::kCPU, at::kFloat);
  GradientBuffers gradients(storage);
  Optimizer optimizer(options, gradients);
  {
    const at::NoGradGuard no_grad;
    model.scale[1].fill_(NAN);
  }
  CheckpointSaver saver(folder.path(), {}, cpu_backend(), [](const CheckpointSaver::Result&) {});
  saver.save({storage, &optimizer, {}}, 3, {{"step", 3}}, nullptr);
  EXPECT_EQ(saver.finish(), "the frozen parameter scale holds NaN");
}

TEST(Snapshot, CountsOnlyOnceWhatGoesWithItIsDurable) {
  const TemporaryDirectory folder;
  Rig a(1);
  std::vector<std::string> damages;
  bool fails = false;
  CheckpointSaver saver(
      folder.path(), {}, cpu_backend(),
      [&](const CheckpointSaver::Result& done) { damages.push_back(done.info.damage); },
      [&] {
        EXPECT_FALSE(newest_good(folder.path()));
        if (fails) throw std::runtime_error("no space for samples");
      });
  fails = true;
  saver.save(a.trained(), 1, {{"step", 1}}, nullptr);
  EXPECT_EQ(saver.finish(), "no space for samples");
  EXPECT_FALSE(newest_good(folder.path()));
  fails = false;
  saver.save(a.trained(), 2, {{"step", 2}}, nullptr);
  EXPECT_EQ(saver.finish(), "");
  EXPECT_EQ(newest_good(folder.path())->step, 2);
  EXPECT_EQ(damages, (std::vector<std::string>{"no space for samples", ""}));
}

TEST(Snapshot, KeepsTheNewestFew) {
  const TemporaryDirectory folder;
  Rig a(1);
  for (int step = 1; step <= 5; ++step) save(a, folder.path(), step, {.keep = 2});
  const auto left = list_checkpoints(folder.path(), true);
  ASSERT_EQ(left.size(), 2U);
  EXPECT_EQ(left[0].step, 4);
  EXPECT_EQ(left[1].step, 5);
}

TEST(Snapshot, SaysOnceOfAFolderThatHoldsSomethingElseThatItStays) {
  const TemporaryDirectory folder;
  Rig a(1);
  std::vector<std::string> undeleted;
  CheckpointSaver saver(
      folder.path(), {.keep = 1}, cpu_backend(), [&](const CheckpointSaver::Result& done) {
        EXPECT_EQ(done.info.damage, "");
        undeleted.insert(undeleted.end(), done.undeleted.begin(), done.undeleted.end());
      });
  const std::filesystem::path first = folder.path() / "step-000000001";
  for (int step = 1; step <= 4; ++step) {
    saver.save(a.trained(), step, {{"step", step}}, nullptr);
    saver.finish();
    if (step == 1) std::ofstream(first / "my notes.txt") << "the best so far";
  }
  EXPECT_THAT(undeleted,
              ::testing::ElementsAre(cat("cannot remove checkpoint ", first.string(),
                                         ": it holds my notes.txt, which is no file of a "
                                         "checkpoint; move that elsewhere, or remove the folder "
                                         "yourself")));
  std::vector<std::int64_t> steps;
  for (const CheckpointInfo& info : list_checkpoints(folder.path(), true))
    steps.push_back(info.step);
  EXPECT_EQ(steps, (std::vector<std::int64_t>{1, 4}));
}

}  // namespace
}  // namespace lockstep
