// Scores of masks in files.
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "core/media/zip_writer.h"
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
      values[score.name] = score.value, units[score.name] = score.unit;
    return values;
  }
  std::map<std::string, std::string> units;  // of the last score()
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
  EXPECT_DOUBLE_EQ(scores.at("hd95"), (0 + 2.0) / 2);
  EXPECT_EQ(scores.size(), 8U);
  EXPECT_THAT(
      said, AllOf(HasSubstr("id    dice     iou    hd95"), HasSubstr("a   1.0000  1.0000  0.0000"),
                  HasSubstr("b   0.5000  0.3333  2.0000")));
}

TEST_F(ScoreFiles, MeasureDistancesInMillimetresWhereAllLabelsSayTheirSpacing) {
  const VolumeHeader header{.spacing_mm = {{5, 1, 1}}};
  write(data() / "test_labels" / "a.nii", shape, slab(1), header);
  write(path("out") / "a.nii", shape, slab(3), header);
  EXPECT_DOUBLE_EQ(score().at("hd95"), 10) << "as MedPy's hd95";
  EXPECT_EQ(units.at("hd95"), "mm");
  options.table.set("score.unit", "voxels", {.kind = ValueSource::Kind::argument});
  EXPECT_DOUBLE_EQ(score().at("hd95"), 2);
  options.table.set("score.unit", "mm", {.kind = ValueSource::Kind::argument});
  EXPECT_DOUBLE_EQ(score().at("hd95"), 10);
}

TEST_F(ScoreFiles, LeaveUndefinedDistancesOutAndSaySo) {
  write_truth("a", slab(1));
  write_mask("a", slab(0));
  write_truth("b", slab(1));
  write_mask("b", slab(2));
  const auto scores = score();
  EXPECT_DOUBLE_EQ(scores.at("hd95"), 1);
  EXPECT_THAT(
      said, AllOf(HasSubstr("hd95 leaves out 1 volume"), HasSubstr("a   0.0000  0.0000       -")));
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
  EXPECT_EQ(scores.at("dice_1"), 0);
  EXPECT_DOUBLE_EQ(scores.at("dice_2"), 2.0 / 3);
  EXPECT_TRUE(std::isnan(scores.at("hd95_1")));
  EXPECT_DOUBLE_EQ(scores.at("hd95_2"), 1);
  EXPECT_EQ(scores.size(), 8U) << "surfaces of several classes are not compared";
}

TEST_F(ScoreFiles, LeaveSurfacesOutWhereTheyAreNotWanted) {
  options.scoring.topology = false;
  write_truth("a", slab(2));
  write_mask("a", slab(2));
  EXPECT_EQ(score().size(), 4U);
}

// A grid whose x and y run the other way, with the same voxels in the same places.
TEST_F(ScoreFiles, CompareMasksOfTurnedAxesWhereTheyLie) {
  const auto placed = [](double x, double x0, double y, double y0) {
    VolumeHeader header{.spacing_mm = {{1, 1, 1}}, .space = NiftiSpace()};
    header.space->sform_code = 1;
    header.space->srow = {{{x, 0, 0, x0}, {0, y, 0, y0}, {0, 0, 1, 0}}};
    return header;
  };
  std::vector<std::uint8_t> labels(voxels(shape)), flipped(labels);
  for (std::size_t z = 1; z < 3; ++z)
    for (std::size_t y = 0; y < 3; ++y)
      for (std::size_t x = 0; x < 5; ++x) {
        labels[(z * 8 + y) * 8 + x] = 1;
        flipped[(z * 8 + 7 - y) * 8 + 7 - x] = 1;
      }
  write(data() / "test_labels/a.nii.gz", shape, labels, placed(1, -20, 1, 5));
  write(path("out") / "a.nii.gz", shape, flipped, placed(-1, -13, -1, 12));
  EXPECT_EQ(score().at("dice"), 1);
  EXPECT_EQ(score().at("surface_dice"), 1);
  EXPECT_THAT(said, HasSubstr("1 prediction is stored along other axes than the label"));
  write(path("out") / "a.nii.gz", shape, flipped, placed(-1, -12, -1, 12));
  EXPECT_THAT(score_error(), AllOf(HasSubstr("prediction and label of a lie in different places"),
                                   HasSubstr("[-1 0 0 -12; 0 -1 0 12; 0 0 1 0]"),
                                   HasSubstr("[1 0 0 -20; 0 1 0 5; 0 0 1 0]"),
                                   HasSubstr("resample_from_to"), Not(HasSubstr("same_grid"))))
      << "both say where they lie";
  VolumeHeader no_place;
  no_place.space = NiftiSpace();
  write(path("out") / "a.nii.gz", shape, labels, no_place);
  EXPECT_EQ(score().at("dice"), 1);
  EXPECT_THAT(said, HasSubstr("only one of the two files has an affine"));
}

TEST_F(ScoreFiles, CompareVoxelsAsStoredWhereTheUserSaysSo) {
  const auto placed = [](double x, double x0) {
    VolumeHeader header{.spacing_mm = {{1, 1, 1}}, .space = NiftiSpace()};
    header.space->sform_code = 1;
    header.space->srow = {{{x, 0, 0, x0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
    return header;
  };
  std::vector<std::uint8_t> labels(voxels(shape));
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = i % 8 < 3 ? 1 : 0;
  write(data() / "test_labels/a.nii", shape, labels, placed(1, -20));
  write(path("out") / "a.nii", shape, labels, placed(1, 0));  // as of np.eye(4)
  EXPECT_THAT(thrown_by([&] { score(); }).hint(),
              AllOf(HasSubstr("files.same_grid=true"), Not(HasSubstr("resample"))));
  options.files.same_grid = true;
  EXPECT_EQ(score().at("dice"), 1);
  write(path("out") / "a.nii", shape, labels, placed(-1, -13));
  EXPECT_EQ(score().at("dice"), 1);
  EXPECT_EQ(said.find("turned"), said.npos);
  EXPECT_EQ(said.find("warning"), said.npos);
  options.files.same_grid = false;
  EXPECT_EQ(score().at("dice"), 0) << "turned";
  // What nibabel writes on the grid of a label without codes.
  VolumeHeader no_place{.spacing_mm = {{1, 1, 1}}, .space = NiftiSpace()};
  write(data() / "test_labels/a.nii", shape, labels, no_place);
  VolumeHeader nibabel = placed(-1, 3.5);
  nibabel.space->srow[1][3] = -3.5;
  nibabel.space->srow[2][3] = -1.5;
  write(path("out") / "a.nii", shape, labels, nibabel);
  EXPECT_EQ(score().at("dice"), 1);
  EXPECT_EQ(said.find("warning"), said.npos);
}

TEST_F(ScoreFiles, KnowTheirOwnProbabilitiesAndNamesOfFirstChannels) {
  write_truth("a", slab(2));
  write_truth("b", slab(2));
  write_mask("a_0000", slab(2));
  write_mask("b", slab(2));
  write(path("out") / "b_probability.tif", shape, std::vector<float>(voxels(shape), 0.25F));
  write(path("out") / "b_probability_2.tif", shape, std::vector<float>(voxels(shape), 0.25F));
  EXPECT_EQ(score().at("volumes"), 2);
  EXPECT_EQ(score().at("dice"), 1);
  EXPECT_THAT(said, Not(HasSubstr("passed over")));
}

TEST_F(ScoreFiles, LeaveASummaryAsNnUNetDoes) {
  options.table.set("data.classes", "3");
  options.table.set("data.ignore", "-1");
  auto truth = slab(2, 2), mask = slab(3, 2);
  std::fill_n(truth.begin(), 64, 1);
  std::fill_n(mask.begin(), 64, 1);
  write_truth("a", truth);
  write_mask("a", mask);
  write_truth("b", slab(1));
  write_mask("b", slab(1));
  score();
  const fs::path file = path("out") / "summary.json";
  const auto summary = nlohmann::json::parse(read_file(file));
  const auto& metrics = summary.at("metric_per_case").at(0).at("metrics").at("2");
  EXPECT_EQ(metrics.at("TP"), 64);
  EXPECT_EQ(metrics.at("FP"), 64);
  EXPECT_EQ(metrics.at("FN"), 0);
  EXPECT_EQ(metrics.at("TN"), 128);
  EXPECT_EQ(metrics.at("n_pred"), 128);
  EXPECT_EQ(metrics.at("n_ref"), 64);
  EXPECT_DOUBLE_EQ(metrics.at("Dice"), 2.0 / 3);
  EXPECT_DOUBLE_EQ(metrics.at("IoU"), 0.5);
  EXPECT_DOUBLE_EQ(metrics.at("HD95"), 1);
  EXPECT_EQ(summary.at("metric_per_case").at(1).at("metrics").at("2").at("Dice"), nullptr);
  EXPECT_DOUBLE_EQ(summary.at("mean").at("1").at("Dice"), 1);
  EXPECT_DOUBLE_EQ(summary.at("mean").at("2").at("Dice"), 2.0 / 3) << "of the case that has it";
  EXPECT_DOUBLE_EQ(summary.at("mean").at("2").at("TP"), 32);
  EXPECT_DOUBLE_EQ(summary.at("foreground_mean").at("Dice"), (1 + 2.0 / 3) / 2);
  EXPECT_EQ(summary.at("metric_per_case").at(0).at("prediction_file"),
            (path("out") / "a.tif").string());
  EXPECT_EQ(summary.at("hd95_unit"), "voxels");

  write_file_atomic(file, R"({"foreground_mean": {"Dice": 0.5}})");
  score();
  EXPECT_THAT(said, HasSubstr("is another program's and stays"));
  EXPECT_THAT(read_file(file), HasSubstr("0.5"));
  options.scoring.summary = path("mine.json").string();
  score();
  EXPECT_EQ(nlohmann::json::parse(read_file(path("mine.json"))), summary);
  options.scoring.summary = "none";
  fs::remove(file);
  score();
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(ScoreFiles, TakeClassesFromNnUNetsDataset) {
  write(data() / "labelsTs/a.tif", shape, slab(2, 2));
  write_mask("a", slab(2, 2));
  write_text("dataset.json", R"({"labels": {"background": 0, "liver": 1, "tumor": 2}})");
  EXPECT_EQ(score().at("dice_2"), 1);
  EXPECT_THAT(said, HasSubstr("1 liver, 2 tumor"));
}

TEST_F(ScoreFiles, TakeClassesFromNnUNetsDatasetAroundTheLabels) {
  write(data() / "labelsTs/a.tif", shape, slab(2, 2));
  write_mask("a", slab(2, 2));
  write_text("dataset.json", R"({"labels": {"background": 0, "liver": 1, "tumor": 2}})");
  options.scoring.labels = (data() / "labelsTs/").string();  // with its slash
  options.data.path.clear();
  EXPECT_EQ(score().at("dice_2"), 1);
}

TEST_F(ScoreFiles, TakeClassesFromTheCopyBesidePredictions) {
  write(path("truth/a.tif"), shape, slab(2, 2));
  options.data.path.clear();
  options.scoring.labels = path("truth").string();
  write_mask("a", slab(2, 2));
  write_file_atomic(path("out") / "dataset.json",
                    R"({"labels": {"background": 0, "liver": 1, "tumor": 2}})");
  EXPECT_EQ(score().at("dice_2"), 1);
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
  options.scoring.summary = path("summary.json").string();
  const auto scores = score_volumes(options, {.predictions = path("submission.zip")});
  EXPECT_EQ(scores.at(0).name, "dice");
  EXPECT_DOUBLE_EQ(scores.at(0).value, 1);
  EXPECT_EQ(nlohmann::json::parse(read_file(path("summary.json")))
                .at("metric_per_case")
                .at(0)
                .at("prediction_file"),
            (path("submission.zip") / "a.tif").string());
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
