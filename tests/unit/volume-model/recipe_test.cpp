// The recipe as the engine uses it: its contract, losses in parts, records and metrics.
#include "recipes/volume/model/recipe.h"

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "recipes/volume/files/volume_writer.h"
#include "tests/unit/volume-model/cached.h"
#include "training/contract/contract_check.h"
#include "training/recipe/item_progress.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace lockstep::volume {
namespace {

namespace fs = std::filesystem;

class VolumeRecipeTest : public ::testing::Test {
 protected:
  VolumeRecipeTest() {
    options.model.width = 4;
    options.model.depth = 2;
    options.data.patch = {"16"};
    options.data.patches = 3;
    options.predict.overlap = 0;
    const auto ball = [](std::int64_t z, std::int64_t y, std::int64_t x) {
      const std::int64_t square = (z - 10) * (z - 10) + (y - 8) * (y - 8) + (x - 9) * (x - 9);
      return z == 0 ? 2 : square < 30 ? 1 : 0;
    };
    PreparedVolumes set;
    for (const char* id : {"a", "b", "c"}) {
      const VolumeEntry entry = volumes.add(
          id, {20, 18, 22},
          [&](std::int64_t z, std::int64_t y, std::int64_t x) {
            return static_cast<int>(60 + 90 * (ball(z, y, x) == 1) + (z * 7 + y * 13 + x * 5) % 40);
          },
          ball, 2);
      (*id == 'a' ? set.valid : set.train).push_back(entry);
    }
    write_prepared(folder.path() / "volumes.json", set);
    prepared.extra = {{"volumes", (folder.path() / "volumes.json").string()},
                      {"normalization", to_json(set.normalization)},
                      {"channels", 1}};
  }

  ContractReport check() {
    VolumeRecipe recipe(options, prepared);
    const auto model = recipe.build(1);
    ModelBuffers buffers(model->buffers(), at::kCPU);
    ProcessGroup group{World{}, cpu_backend()};
    const DatasetPair data = recipe.data();
    return check_contract({.recipe = recipe,
                           .model = *model,
                           .buffers = buffers,
                           .data = data,
                           .group = group,
                           .backend = cpu_backend(),
                           .micro = 2,
                           .eval_batch = 1,
                           .best_metric = "dice"});
  }

  CachedVolumes volumes;
  TemporaryDirectory folder;
  VolumeOptions options;
  Prepared prepared;
};

// Training takes it for granted: the check before the first step is for recipes in plugins.
TEST_F(VolumeRecipeTest, KeepsItsContractWithTheEngine) {
  const ContractReport report = check();
  const std::vector<std::string> none;
  EXPECT_EQ(report.faults, none);
  EXPECT_EQ(report.warnings, none);
}

TEST_F(VolumeRecipeTest, KeepsItWithClassesDeepSupervisionAndAllAugmentation) {
  options.data.classes = 3;
  options.data.ignore = -1;
  options.model.deep_supervision = true;
  options.augment.rotate = 20;
  options.augment.scale = 0.2;
  options.augment.elastic = 2;
  options.augment.gamma = 0.3;
  options.augment.noise = 0.1;
  const ContractReport report = check();
  const std::vector<std::string> none;
  EXPECT_EQ(report.faults, none);
  EXPECT_EQ(report.warnings, none);
}

TEST_F(VolumeRecipeTest, NamesTheMetricsThatItGives) {
  for (const std::int64_t classes : {1, 4}) {
    options.data.classes = classes;
    options.data.ignore = classes == 1 ? 2 : -1;
    VolumeRecipe recipe(options, prepared);
    const DatasetPair data = recipe.data();
    const auto model = recipe.build(1);
    const at::NoGradGuard no_gradients;
    StepContext context;
    context.training = false;
    SampleContext sample{.training = false, .random = Random(1, RandomStream::augment, 0, 0)};
    const Batch batch{.tensors = data.valid->collate({data.valid->get(0, sample)}),
                      .row_weight = at::ones({1})};
    const auto records = recipe.evaluate_items(*model, batch, context);
    std::vector<std::string> names;
    for (const Metric& metric : recipe.metrics(Records(records))) names.push_back(metric.name);
    EXPECT_THAT(names, ::testing::UnorderedElementsAreArray(options.metric_names()));
    const VolumeRecord record = record_from(Records(records)[0]);
    EXPECT_EQ(std::ssize(record.classes), std::max<std::int64_t>(2, classes));
    EvaluationOutput output(folder.path(), 1);
    const ItemTable table = recipe.items(Records(records), output);
    ASSERT_EQ(table.rows.size(), 1U);
    EXPECT_EQ(fault_of(table), "");
    EXPECT_EQ(std::get<std::string>(table.rows[0][0]), "a");
  }
}

// A volume in a file with a spacing.
fs::path write_scan(const fs::path& folder) {
  const VolumeHeader header{.shape = {.depth = 30, .height = 18, .width = 22},
                            .type = VoxelType::u8,
                            .spacing_mm = {{1, 1, 1}}};
  const auto writer = create_nifti(folder / "scan.nii", header);
  std::vector<std::byte> plane(18 * 22);
  for (int z = 0; z < 30; ++z) {
    for (std::size_t i = 0; i < plane.size(); ++i)
      plane[i] = static_cast<std::byte>((i * i + static_cast<std::size_t>(31 * z * z)) % 251);
    writer->write_plane(plane);
  }
  writer->finish();
  return folder / "scan.nii";
}

TEST_F(VolumeRecipeTest, MakesTheSameOfAVolumeInPieces) {
  const PredictItem item{.name = "scan", .path = write_scan(folder.path()), .output = "scan.nii"};
  options.predict.save = Save::probabilities;
  options.predict.overlap = 0.5;
  for (const bool resampled : {false, true}) {
    if (resampled) options.data.spacing = {"0.7", "1", "1"};
    VolumeRecipe recipe(options, prepared);
    const auto model = recipe.build(1);
    const at::NoGradGuard no_gradients;
    const auto context = [&](const std::string& name) {
      fs::create_directories(folder.path() / name);
      return ItemContext{.scratch = folder.path() / name};
    };
    const ItemOutput whole = recipe.predict_item(*model, item, context("whole"));
    const std::string mask = read_file(whole.path), shares = read_file(whole.files.at(0).path);
    for (const std::int64_t count : {2, 3, 20}) {
      std::vector<ItemOutput> pieces;
      std::uintmax_t bytes = 0;
      for (std::int64_t i = 0; i < count; ++i) {
        pieces.push_back(recipe.predict_piece(*model, item, {i, count}, context(cat("piece-", i))));
        if (!pieces.back().path.empty()) bytes += fs::file_size(pieces.back().path);
      }
      EXPECT_EQ(bytes, (resampled ? 43U : 30U) * 18 * 22 * sizeof(float)) << "each plane once";
      const ItemOutput joined = recipe.join_pieces(item, pieces, context("joined"));
      EXPECT_EQ(read_file(joined.path), mask) << count;
      EXPECT_EQ(read_file(joined.files.at(0).path), shares) << count;
    }
  }
}

TEST_F(VolumeRecipeTest, ReportsTheTilesThatItHasPredictedWithFlipsAsParts) {
  const PredictItem item{.name = "scan", .path = write_scan(folder.path()), .output = "scan.nii"};
  options.predict.flips = true;
  VolumeRecipe recipe(options, prepared);
  const auto model = recipe.build(1);
  const at::NoGradGuard no_gradients;
  std::vector<double> done;
  std::set<double> totals;
  const ItemProgressTaker taker([&](double now, double total, const std::string& unit) {
    EXPECT_EQ(unit, "tiles");
    done.push_back(now);
    totals.insert(total);
  });
  recipe.predict_item(*model, item, {.scratch = folder.path()});
  EXPECT_EQ(totals, std::set<double>{8}) << "30 x 18 x 22 in tiles of 16";
  ASSERT_EQ(done.size(), 64U);
  for (std::size_t i = 0; i < done.size(); ++i)
    EXPECT_DOUBLE_EQ(done[i], static_cast<double>(i + 1) / 8);
  done.clear();
  totals.clear();
  recipe.predict_piece(*model, item, {0, 2}, {.scratch = folder.path()});
  EXPECT_EQ(totals, std::set<double>{4});
}

TEST_F(VolumeRecipeTest, EvaluatesTheSameOfAVolumeInPieces) {
  options.predict.overlap = 0.5;
  options.predict.min_component = 5;
  for (const std::int64_t classes : {1, 3}) {
    options.data.classes = classes;
    options.data.ignore = classes == 1 ? 2 : -1;
    VolumeRecipe recipe(options, prepared);
    const DatasetPair data = recipe.data();
    const auto model = recipe.build(1);
    const at::NoGradGuard no_gradients;
    EvaluationOutput whole_output(folder.path(), 1), output(folder.path(), 1);
    StepContext context;
    context.training = false;
    context.output = &whole_output;
    SampleContext sample{.training = false, .random = Random(1, RandomStream::augment, 0, 0)};
    const Batch batch{.tensors = data.valid->collate({data.valid->get(0, sample)}),
                      .row_weight = at::ones({1})};
    const at::Tensor whole = recipe.evaluate_items(*model, batch, context).at(0);
    for (const std::int64_t count : {1, 2, 3, 20}) {
      output.clear();
      context.output = &output;
      std::vector<at::Tensor> pieces;
      for (std::int64_t i = 0; i < count; ++i)
        pieces.push_back(recipe.evaluate_piece(*model, batch, {i, count}, context).reshape({-1}));
      const at::Tensor joined = recipe.join_evaluated(batch, pieces, context);
      EXPECT_TRUE(joined.view(at::kLong).equal(whole.view(at::kLong))) << count << " pieces";
      EXPECT_EQ(output.packed(), whole_output.packed()) << "one picture, of the whole";
    }
  }
}

TEST_F(VolumeRecipeTest, ScoresAPerfectMaskAsOne) {
  const std::vector<std::uint8_t> truth = {0, 1, 1, 2, 0, 0, 1, 1};
  const std::vector<std::uint8_t> found = {0, 1, 1, 1, 0, 0, 1, 1};
  const VolumeRecord record =
      evaluate_volume(truth, found, {2, 2, 2}, {1, 1, 1}, {.classes = 1, .ignore = 2});
  EXPECT_EQ(record.dice(), 1);
  EXPECT_EQ(record.iou(), 1);
  EXPECT_EQ(record.surface_dice, 1);
  EXPECT_EQ(record.score, 1);
  EXPECT_EQ(record_from(to_tensor(record)).dice(), 1);
}

}  // namespace
}  // namespace lockstep::volume
