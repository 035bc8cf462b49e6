// Scores of masks in files.
#include <map>

#include "media/zip_writer.h"
#include "prepare_test.h"

namespace lockstep::volume {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ScoreFiles : public PrepareTest {
 protected:
  static constexpr VolumeShape shape{.depth = 4, .height = 8, .width = 8};
  // Foreground in the first `planes` planes.
  static std::vector<std::uint8_t> slab(std::size_t planes, std::uint8_t label = 1) {
    std::vector<std::uint8_t> values(voxels(shape));
    std::fill_n(values.begin(), planes * 64, label);
    return values;
  }
  void write_truth(const std::string& id, const std::vector<std::uint8_t>& labels,
                   const std::string& folder = "test_labels") const {
    write(data() / folder / (id + ".tif"), shape, labels);
  }
  void write_mask(const std::string& id, const std::vector<std::uint8_t>& mask) const {
    write(path("out") / (id + ".tif"), shape, mask);
  }
  std::map<std::string, double> score() {
    said.clear();
    std::map<std::string, double> values;
    for (const Score& score :
         score_volumes(options, {.predictions = path("out"),
                                .say = [&](const std::string& line) { said += line + "\n"; }}))
      values[score.name] = score.value;
    return values;
  }
  std::string score_error() {
    return error_if_any([&] { score(); });
  }
};

TEST_F(ScoreFiles, AreMeansOverVolumes) {
  write_truth("a", slab(2));
  write_mask("a", slab(2));
  write_truth("b", slab(1));
  write_mask("b", slab(3));
  const auto scores = score();
  EXPECT_DOUBLE_EQ(scores.at("dice"), (1 + 0.5) / 2);
  EXPECT_DOUBLE_EQ(scores.at("iou"), (1 + 1.0 / 3) / 2);
  EXPECT_EQ(scores.at("volumes"), 2);
  EXPECT_GT(scores.at("topology_score"), 0.8);
  EXPECT_GT(scores.at("surface_dice"), 0.8);
  EXPECT_LE(scores.at("score"), 1);
  EXPECT_EQ(scores.size(), 7U);
  EXPECT_THAT(said, AllOf(HasSubstr("id    dice     iou"), HasSubstr("a   1.0000  1.0000"),
                          HasSubstr("b   0.5000  0.3333")));
}

TEST_F(ScoreFiles, DoNotCountIgnoredVoxels) {
  auto truth = slab(2);
  std::fill(truth.begin() + 128, truth.end(), 2);
  write_truth("a", truth);
  write_mask("a", slab(4));
  EXPECT_EQ(score().at("dice"), 1);
  EXPECT_EQ(score().at("score"), 1);
}

TEST_F(ScoreFiles, OfSeveralClassesAreOverlapsAlone) {
  options.data.classes = 3;
  options.data.ignore = -1;
  auto truth = slab(2, 2), mask = slab(2, 2);
  std::fill_n(truth.begin(), 64, 1);
  write_truth("a", truth);
  write_mask("a", mask);
  const auto scores = score();
  EXPECT_DOUBLE_EQ(scores.at("dice"), (0 + 2.0 / 3) / 2);
  EXPECT_EQ(scores.size(), 3U);
}

TEST_F(ScoreFiles, LeaveSurfacesOutWhereTheyAreNotWanted) {
  options.scoring.topology = false;
  write_truth("a", slab(2));
  write_mask("a", slab(2));
  EXPECT_EQ(score().size(), 3U);
}

TEST_F(ScoreFiles, FindTheLabelsThatThePredictionsAreOf) {
  write_truth("a", slab(1));
  write_truth("b", slab(2), "train_labels");
  write_mask("b", slab(2));
  EXPECT_EQ(score().at("volumes"), 1);
  write_truth("c", slab(2), "elsewhere");
  options.scoring.labels = (data() / "elsewhere").string();
  write_mask("c", slab(2));
  EXPECT_EQ(score().at("volumes"), 1);
  EXPECT_THAT(said, HasSubstr("passed over 1 prediction"));
}

TEST_F(ScoreFiles, NameLabelsWithoutAPrediction) {
  for (const char* id : {"a", "b", "c"}) write_truth(id, slab(1));
  write_mask("b", slab(1));
  EXPECT_THAT(score_error(), AllOf(HasSubstr("2 of 3 labels"), HasSubstr("have no prediction"),
                                   HasSubstr(": a, c"), HasSubstr("predict.csv")));
  write_text("some.csv", "id\nb\n");
  options.predict.csv = (data() / "some.csv").string();
  EXPECT_EQ(score().at("volumes"), 1);
  write_text("some.csv", "id\nx\n");
  EXPECT_THAT(score_error(), HasSubstr("the volume x has no label"));
}

TEST_F(ScoreFiles, RefuseWhatCannotBeCompared) {
  write_truth("a", slab(1));
  write(path("out") / "a.tif", usual, labels_of(usual));
  EXPECT_THAT(score_error(), AllOf(HasSubstr("prediction and label of a differ"),
                                   HasSubstr("6 x 5 x 7"), HasSubstr("4 x 8 x 8")));
  write_mask("a", slab(1, 255));
  EXPECT_THAT(score_error(), AllOf(HasSubstr("out/a.tif"), HasSubstr("is 255")));
  write_mask("a", slab(1));
  options.scoring.unit = ToleranceUnit::mm;
  EXPECT_THAT(score_error(), HasSubstr("score.unit is mm, but"));
}

TEST_F(ScoreFiles, TakeToleranceInMillimetres) {
  options.scoring.unit = ToleranceUnit::mm;
  options.scoring.tolerance = 1;
  write(data() / "test_labels" / "a.nii", shape, slab(1), {.spacing_mm = {{5, 1, 1}}});
  write(path("out") / "a.nii", shape, slab(2), {.spacing_mm = {{5, 1, 1}}});
  const double far = score().at("surface_dice");
  options.scoring.tolerance = 5;
  EXPECT_EQ(score().at("surface_dice"), 1);
  EXPECT_LT(far, 0.9);
}

TEST_F(ScoreFiles, TakeASubmission) {
  const VolumeShape shape{.depth = 2, .height = 2, .width = 2};
  const std::vector<std::uint8_t> mask{0, 1, 1, 0, 0, 0, 1, 1};
  write(data() / "test_labels/a.tif", shape, mask);
  write(path("masks") / "a.tif", shape, mask);
  ZipWriter zip(path("submission.zip"));
  zip.add_file("a.tif", path("masks") / "a.tif");
  zip.finish();
  const auto scores = score_volumes(options, {.predictions = path("submission.zip")});
  EXPECT_EQ(scores.at(0).name, "dice");
  EXPECT_DOUBLE_EQ(scores.at(0).value, 1);
  write_file_atomic(path("other.zip"), "no archive");
  EXPECT_THAT(error_if_any([&] { score_volumes(options, {.predictions = path("other.zip")}); }),
              HasSubstr("other.zip: it is no zip archive"));
}

TEST_F(ScoreFiles, NeedFoldersThatAreThere) {
  EXPECT_THAT(score_error(), HasSubstr("is not there"));
  write_mask("a", slab(1));
  fs::create_directories(data());
  EXPECT_THAT(score_error(), HasSubstr("there are no labels in"));
  options.data.path.clear();
  EXPECT_THAT(score_error(), HasSubstr("needs the labels to compare with"));
}

}  // namespace
}  // namespace lockstep::volume
