// The recipe as the engine uses it: its contract, episodes as tensors, what a loss counts.
#include "recipes/fewshot/model/recipe.h"

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "core/media/pictures/picture_file.h"
#include "recipes/fewshot/annotations/coco.h"
#include "recipes/fewshot/model/loss.h"
#include "recipes/fewshot/shapes/made_shapes.h"
#include "training/contract/contract_check.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lockstep::fewshot {
namespace {

namespace fs = std::filesystem;

class FewshotRecipeTest : public ::testing::Test {
 protected:
  FewshotRecipeTest() {
    write("train", {.pictures = 30, .height = 80, .width = 96});
    write("valid", {.pictures = 12, .first = 30, .height = 80, .width = 96});
    options.model = {.depth = 18,
                     .width = 16,
                     .neck = 8,
                     .hidden = 16,
                     .embedding = 8,
                     .anchor_sizes = {"16", "32"},
                     .anchor_ratios = {"1"},
                     .regions = 8};
    options.episode = {.n_way = 2, .k_shot = 1, .queries = 3, .size = 64, .context = 4};
    options.evaluate.episodes = 2;
    options.predict.regions = 20;
    options.stop.episodes = 10;
    record.files = find_detection_data(folder.path());
    record.base = {"circle", "square", "triangle", "cross", "frame", "bolt"};
    record.novel = {"star", "ring", "arrow", "heart"};
    prepared.extra = {{"sets", to_json(record)}, {"boxes", boxes}};
  }
  void write(const std::string& name, const MadeShapes& set) const {
    const DetectionData described = describe_shapes(set);
    fs::create_directories(folder.path() / name);
    for (int i = 0; i < set.pictures; ++i)
      write_picture(folder.path() / name / described.pictures[static_cast<std::size_t>(i)].path,
                    draw_shapes(set, i));
    write_file_atomic(folder.path() / (name + ".json"), coco_json(described, "a test"));
  }
  static std::vector<at::Tensor> sample(const Dataset& data, std::uint64_t seed, std::int64_t step,
                                        std::int64_t row, std::int64_t index = 0) {
    SampleContext context{.seed = seed,
                          .step = step,
                          .global_row = row,
                          .random = Random(seed, RandomStream::augment, 0, 0)};
    return data.get(index, context);
  }
  static bool same(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const at::Tensor& x, const at::Tensor& y) { return x.equal(y); });
  }
  Batch batch_of(const Dataset& data, const std::vector<at::Tensor>& fields,
                 float weight = 1) const {
    return {.tensors = data.collate({fields}), .row_weight = at::tensor({weight})};
  }
  std::vector<double> losses(const Batch& batch, std::int64_t step = 0) {
    FewshotRecipe recipe(options, prepared);
    const auto model = recipe.build(1);
    const at::NoGradGuard no_gradients;
    StepContext context;
    context.counters = at::tensor(std::vector<std::int64_t>{1, step, 0}, at::kLong);
    std::vector<double> all;
    for (const at::Tensor& term : recipe.loss(*model, batch, context))
      all.push_back(term.item<double>());
    return all;
  }

  static constexpr std::int64_t boxes = 8;
  TemporaryDirectory folder;
  FewshotOptions options;
  SetsRecord record;
  Prepared prepared;
};

// Training takes it for granted: the check before the first step is for recipes in plugins.
TEST_F(FewshotRecipeTest, KeepsItsContractWithTheEngine) {
  FewshotRecipe recipe(options, prepared);
  const auto model = recipe.build(1);
  ModelBuffers buffers(model->buffers(), at::kCPU);
  ProcessGroup group{World{}, cpu_backend()};
  const DatasetPair data = recipe.data();
  const ContractReport report = check_contract({.recipe = recipe,
                                                .model = *model,
                                                .buffers = buffers,
                                                .data = data,
                                                .group = group,
                                                .backend = cpu_backend(),
                                                .micro = 1,
                                                .eval_batch = 1,
                                                .best_metric = "AP50_base"});
  const std::vector<std::string> none;
  EXPECT_EQ(report.faults, none);
  EXPECT_EQ(report.warnings, none);
  EXPECT_FALSE(report.tried.empty());
}

TEST_F(FewshotRecipeTest, AnEpisodeFollowsFromSeedStepAndRowAlone) {
  FewshotRecipe recipe(options, prepared), other(options, prepared);
  const auto data = recipe.data().train, again = other.data().train;
  EXPECT_EQ(data->size(), 10);
  const auto fields = sample(*data, 1, 5, 2);
  EXPECT_TRUE(same(fields, sample(*again, 1, 5, 2, /*index=*/7)));
  sample(*data, 2, 5, 2);  // of another seed in between
  EXPECT_TRUE(same(fields, sample(*data, 1, 5, 2)));
  EXPECT_FALSE(same(fields, sample(*data, 2, 5, 2)));
  EXPECT_FALSE(same(fields, sample(*data, 1, 6, 2)));
  EXPECT_FALSE(same(fields, sample(*data, 1, 5, 3)));
}

TEST_F(FewshotRecipeTest, FieldsHaveTheSizesOfTheOptionsAndBoxesLieInTheirPictures) {
  FewshotRecipe recipe(options, prepared);
  const auto data = recipe.data().train;
  std::int64_t objects = 0, ignored = 0;
  for (std::int64_t step = 0; step < 20; ++step) {
    const auto fields = sample(*data, 1, step, 0);
    ASSERT_EQ(fields.size(), 6U);
    EXPECT_EQ(fields[EpisodeFields::supports].sizes(), (std::vector<std::int64_t>{2, 3, 64, 64}));
    EXPECT_EQ(fields[EpisodeFields::queries].sizes(), (std::vector<std::int64_t>{3, 3, 64, 64}));
    EXPECT_TRUE(fields[EpisodeFields::queries].is_contiguous(at::MemoryFormat::ChannelsLast));
    const at::Tensor &places = fields[EpisodeFields::boxes],
                     &labels = fields[EpisodeFields::labels];
    ASSERT_EQ(places.sizes(), (std::vector<std::int64_t>{3, boxes, 4}));
    EXPECT_GE(places.min().item<float>(), 0);
    EXPECT_LE(places.max().item<float>(), 64.01);
    const at::Tensor padding = labels.eq(no_box);
    EXPECT_EQ(places.abs().sum(-1).masked_select(padding).sum().item<float>(), 0);
    EXPECT_TRUE(places.slice(-1, 2, 4)
                    .gt(places.slice(-1, 0, 2))
                    .all(-1)
                    .logical_or(padding)
                    .all()
                    .item<bool>());
    EXPECT_LT(labels.max().item<std::int64_t>(), 2);
    objects += labels.ge(0).sum().item<std::int64_t>();
    ignored += labels.eq(ignore_box).sum().item<std::int64_t>();
  }
  EXPECT_GT(objects, 40);
  EXPECT_GT(ignored, 10) << "boxes of novel classes";
}

// Of the pictures that an episode shows, the objects of its classes, novel ones to ignore, and
// nothing of other classes that are trained on.
TEST_F(FewshotRecipeTest, BoxesOfNovelClassesAreToIgnoreAndThoseOfOtherBaseClassesBackground) {
  record.base = {"circle", "square"};
  record.novel = {"star"};
  prepared.extra["sets"] = to_json(record);
  FewshotRecipe recipe(options, prepared);
  const auto data = recipe.data().train;
  // Every class is of the episode, or is not trained on: nothing is background.
  std::int64_t labels = 0, truth = 0;
  const Sets sets = read_sets(record);
  for (std::int64_t step = 0; step < 10; ++step) {
    const Episode episode = Episodes(ClassPictures(sets.train), sets.train.categories,
                                     sets.split.base, training_shape(options), 3)
                                .at(step, 0);
    const auto fields = sample(*data, 3, step, 0);
    labels += fields[EpisodeFields::labels].ne(no_box).sum().item<std::int64_t>();
    for (const int query : episode.queries) truth += std::ssize(sets.train.boxes_of(query));
    EXPECT_EQ(fields[EpisodeFields::weights].sum().item<float>(), std::ssize(episode.queries));
  }
  EXPECT_EQ(labels, truth);
  options.episode.n_way = 1;  // the other of the two is background
  FewshotRecipe one(options, prepared);
  const auto fewer = one.data().train;
  std::int64_t fewer_labels = 0, fewer_truth = 0;
  for (std::int64_t step = 0; step < 10; ++step) {
    const Episode episode = Episodes(ClassPictures(sets.train), sets.train.categories,
                                     sets.split.base, training_shape(options), 3)
                                .at(step, 0);
    fewer_labels +=
        sample(*fewer, 3, step, 0)[EpisodeFields::labels].ne(no_box).sum().item<std::int64_t>();
    for (const int query : episode.queries)
      for (const Box& box : sets.train.boxes_of(query))
        fewer_truth +=
            episode.label_of(box.category) >= 0 || (box.category != 0 && box.category != 1);
  }
  EXPECT_EQ(fewer_labels, fewer_truth);
}

TEST_F(FewshotRecipeTest, AQueryOfWeight0AndARowOfWeight0CountNothing) {
  options.augment = {.flip = false, .brightness = 0, .contrast = 0};
  FewshotRecipe recipe(options, prepared);
  const auto data = recipe.data().train;
  std::vector<at::Tensor> fields = sample(*data, 1, 0, 0);
  ASSERT_EQ(fields[EpisodeFields::weights].sum().item<float>(), 3);
  const std::vector<double> whole = losses(batch_of(*data, fields));
  ASSERT_EQ(whole.size(), recipe.terms().size());
  for (const double term : losses(batch_of(*data, fields, 0))) EXPECT_EQ(term, 0);
  EXPECT_EQ(recipe.loss_weights(batch_of(*data, fields)), std::vector<double>(4, 3));
  EXPECT_EQ(recipe.loss_weights(batch_of(*data, fields, 0)), std::vector<double>(4, 0));

  // The terms of one query after the other add up to those of all. Statistics would tell them
  // apart.
  std::vector<double> sums(4, 0);
  for (std::int64_t query = 0; query < 3; ++query) {
    fields[EpisodeFields::weights] = at::zeros({3});
    fields[EpisodeFields::weights][query] = 1;
    EXPECT_EQ(recipe.loss_weights(batch_of(*data, fields)), std::vector<double>(4, 1));
    const auto one = losses(batch_of(*data, fields));
    for (std::size_t i = 0; i < 4; ++i) sums[i] += one[i];
  }
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(sums[i], whole[i], 1e-4 * (1 + whole[i]));
  EXPECT_GT(whole[0], 0);
  EXPECT_GT(whole[2], 0);
}

// Of an episode whose pictures and boxes were turned around beforehand the loss is the same as
// where the recipe does it.
TEST_F(FewshotRecipeTest, TurnsBoxesAroundWithTheirPictures) {
  constexpr std::int64_t step = 1;  // turns some pictures, and not all
  options.augment = {.flip = true, .brightness = 0, .contrast = 0};
  FewshotRecipe recipe(options, prepared);
  const auto data = recipe.data().train;
  std::vector<at::Tensor> fields = sample(*data, 1, 0, 0);
  const std::vector<double> by_recipe = losses(batch_of(*data, fields), step);
  options.augment.flip = false;
  const std::vector<double> unturned = losses(batch_of(*data, fields), step);
  StepContext context;
  context.counters = at::tensor(std::vector<std::int64_t>{1, step, 0}, at::kLong);
  const auto turn = [&](std::size_t pictures, std::size_t places, std::int64_t layer) {
    const std::int64_t count = fields[pictures].size(0);
    const at::Tensor numbers = context.uniform(1, 3 * count, layer).view({count, 3});
    std::int64_t turned = 0;
    fields[places] = fields[places].clone();
    for (std::int64_t i = 0; i < count; ++i) {
      if (numbers[i][0].item<float>() >= 0.5) continue;
      ++turned;
      fields[pictures][i].copy_(fields[pictures][i].flip({2}));
      const at::Tensor boxes = fields[places][i], before = boxes.clone();
      boxes.select(-1, 0).copy_(64 - before.select(-1, 2));
      boxes.select(-1, 2).copy_(64 - before.select(-1, 0));
    }
    return turned;
  };
  const std::int64_t turned = turn(EpisodeFields::supports, EpisodeFields::support_boxes, 0) +
                              turn(EpisodeFields::queries, EpisodeFields::boxes, 1);
  ASSERT_GT(turned, 0);
  ASSERT_LT(turned, 5);
  const std::vector<double> by_hand = losses(batch_of(*data, fields), step);
  double change = 0;
  for (std::size_t i = 0; i < by_hand.size(); ++i) {
    EXPECT_NEAR(by_recipe[i], by_hand[i], 1e-5 * (1 + by_hand[i]));
    change += std::abs(by_recipe[i] - unturned[i]);
  }
  EXPECT_GT(change, 1e-3);
}

TEST_F(FewshotRecipeTest, WeightsOfTermsScaleThem) {
  FewshotRecipe recipe(options, prepared);
  const auto data = recipe.data().train;
  const Batch batch = batch_of(*data, sample(*data, 1, 0, 0));
  const auto before = losses(batch);
  options.loss = {.proposals = 2, .proposal_boxes = 3, .classes = 0.5, .boxes = 0};
  const auto after = losses(batch);
  EXPECT_NEAR(after[0], 2 * before[0], 1e-4);
  EXPECT_NEAR(after[1], 3 * before[1], 1e-4);
  EXPECT_NEAR(after[2], 0.5 * before[2], 1e-4);
  EXPECT_EQ(after[3], 0);
}

TEST_F(FewshotRecipeTest, NamesTheMetricsThatItGives) {
  FewshotRecipe recipe(options, prepared);
  const DatasetPair data = recipe.data();
  ASSERT_EQ(data.valid->size(), 4);
  const auto model = recipe.build(1);
  const at::NoGradGuard no_gradients;
  StepContext context;
  context.training = false;
  std::vector<at::Tensor> records;
  for (std::int64_t i = 0; i < 4; ++i) {
    const auto found = recipe.evaluate_items(
        *model, batch_of(*data.valid, sample(*data.valid, 1, 0, 0, i)), context);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].numel() % 7, 0);
    records.push_back(found[0]);
  }
  std::vector<std::string> names;
  for (const Metric& metric : recipe.metrics(Records(records))) {
    names.push_back(metric.name);
    EXPECT_FALSE(metric.lower_is_better);
    EXPECT_GE(metric.value, 0);
    EXPECT_LE(metric.value, 1);
  }
  EXPECT_EQ(names.front(), "AP50_base");
  for (const std::string& name : options.metric_names())
    EXPECT_THAT(names, ::testing::Contains(name));
  EvaluationOutput output(folder.path(), 1);
  const ItemTable table = recipe.items(Records(records), output);
  ASSERT_EQ(table.rows.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(table.rows[i][0], Cell(i < 2 ? "novel" : "base")) << "unseen classes come first";
  EXPECT_EQ(fault_of(table), "");
}

// Statistics of the trunk move in training, and only there.
TEST_F(FewshotRecipeTest, BuffersFollowTrainingAndStayWhenFrozen) {
  for (const bool frozen : {false, true}) {
    FewshotRecipe recipe(options, prepared);
    const auto data = recipe.data().train;
    const auto model = recipe.build(1);
    const auto mean = [&] {
      for (const NamedTensor& buffer : model->buffers())
        if (buffer.name == "trunk.bn1.running_mean") return buffer.tensor.clone();
      return at::Tensor();
    };
    const at::Tensor before = mean();
    const at::NoGradGuard no_gradients;
    StepContext context;
    context.counters = at::tensor(std::vector<std::int64_t>{1, 0, 0}, at::kLong);
    context.frozen_statistics = frozen;
    recipe.loss(*model, batch_of(*data, sample(*data, 1, 0, 0)), context);
    EXPECT_EQ(mean().equal(before), frozen);
  }
}

}  // namespace
}  // namespace lockstep::fewshot
