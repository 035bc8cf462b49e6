// nnU-Net's dataset.json, and what is taken from it.
#include "recipes/volume/prepare/find/nnunet_dataset.h"

#include "prepare_test.h"

namespace lockstep::volume {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Nnunet : public PrepareTest {
 protected:
  NnunetDataset read(const std::string& text) const {
    write_text("dataset.json", text);
    return read_nnunet_dataset(data() / "dataset.json");
  }
  std::string read_error(const std::string& text) const {
    return error_if_any([&] { read(text); });
  }
  std::string take_error(const std::string& text) {
    return error_if_any([&] { take(text); });
  }
  void take(const std::string& text, bool training = true) {
    said.clear();
    take_nnunet_dataset(options, read(text), training,
                        [&](const std::string& line) { said += line + "\n"; });
  }
  // A case as nnU-Net names its files, with labels 0, 1 and 2.
  void write_case(const std::string& id, const std::string& part = "Tr") const {
    write(data() / ("images" + part) / (id + "_0000.nii.gz"), usual, image_of(usual, id.back()));
    write(data() / ("labels" + part) / (id + ".nii.gz"), usual, labels_of(usual));
  }

  static constexpr const char* usual_text =
      R"({"channel_names": {"0": "CT"}, "labels": {"background": 0, "liver": 1, "tumor": 2},)"
      R"( "numTraining": 2, "file_ending": ".nii.gz"})";
};

TEST_F(Nnunet, IsReadInBothForms) {
  const NnunetDataset dataset = read(usual_text);
  EXPECT_THAT(dataset.labels, ElementsAre("background", "liver", "tumor"));
  EXPECT_EQ(dataset.ignore, std::nullopt);
  EXPECT_THAT(dataset.channels, ElementsAre("CT"));
  EXPECT_EQ(dataset.file_ending, ".nii.gz");
  const NnunetDataset older = read(
      R"({"modality": {"0": "FLAIR", "1": "T1w"}, "labels": {"0": "background", "1": "edema"}})");
  EXPECT_THAT(older.labels, ElementsAre("background", "edema"));
  EXPECT_THAT(older.channels, ElementsAre("FLAIR", "T1w"));
  EXPECT_EQ(older.file_ending, "");
  const NnunetDataset ignoring =
      read(R"({"labels": {"background": 0, "cell": [1], "ignore": 2}, "channel_names": {}})");
  EXPECT_THAT(ignoring.labels, ElementsAre("background", "cell"));
  EXPECT_EQ(ignoring.ignore, 2);
}

TEST_F(Nnunet, IsRefusedByNameAndMember) {
  EXPECT_THAT(read_error("{\"labels\": "), AllOf(HasSubstr("dataset.json"), HasSubstr("no JSON")));
  EXPECT_THAT(read_error("{}"), HasSubstr("it has no \"labels\""));
  EXPECT_THAT(read_error(R"({"labels": {"background": 0, "a": 2}})"),
              HasSubstr("labels has no 1, but 2"));
  EXPECT_THAT(read_error(R"({"labels": {"background": 0, "a": 1, "b": 1}})"),
              HasSubstr("\"a\" and \"b\" are both 1"));
  EXPECT_THAT(read_error(R"({"labels": {"background": 0, "a": 1.5}})"),
              HasSubstr("the label \"a\" is 1.5"));
  EXPECT_THAT(read_error(R"({"labels": {"background": 0}})"), HasSubstr("beside the background"));
  EXPECT_THAT(read_error(R"({"labels": {"background": 0, "a": 1}, "channel_names": {"x": "CT"}})"),
              HasSubstr("channel_names"));
}

TEST_F(Nnunet, SetsOptionsThatNobodySet) {
  take(usual_text);
  EXPECT_EQ(options.data.classes, 3);
  EXPECT_EQ(options.data.ignore, -1);
  EXPECT_EQ(options.data.channels, 1);
  EXPECT_EQ(options.data.normalize, Normalize::ct);
  EXPECT_THAT(said,
              AllOf(HasSubstr("dataset.json: data.classes=3 (0 background, 1 liver, 2 tumor)"),
                    HasSubstr("data.ignore=-1 (no label is ignored)"),
                    HasSubstr("data.channels=1 (CT)"), HasSubstr("data.normalize=ct")));
}

TEST_F(Nnunet, LeavesWhatIsSetAndSaysSo) {
  options.table.set("data.classes", "4", {.kind = ValueSource::Kind::argument});
  options.table.set("data.normalize", "percentile", {.kind = ValueSource::Kind::argument});
  take(usual_text);
  EXPECT_EQ(options.data.classes, 4);
  EXPECT_EQ(options.data.normalize, Normalize::percentile);
  EXPECT_THAT(said, HasSubstr("kept as it was set: data.classes=4 (dataset.json has 3)"));
}

TEST_F(Nnunet, OfTwoLabelsIsForegroundOrNot) {
  take(R"({"labels": {"background": 0, "cell": 1, "ignore": 2},)"
       R"( "channel_names": {"0": "T1", "1": "CT"}})");
  EXPECT_EQ(options.data.classes, 1);
  EXPECT_EQ(options.data.ignore, 2);
  EXPECT_EQ(options.data.channels, 2);
  EXPECT_EQ(options.data.normalize, Normalize::divide);
  EXPECT_THAT(said, HasSubstr("warning: "));
  EXPECT_THAT(said, HasSubstr("different normalisations, T1, CT"));
}

TEST_F(Nnunet, OfMagneticResonanceIsNormalisedPerVolume) {
  take(R"({"labels": {"0": "background", "1": "a"}, "modality": {"0": "MRI"}})");
  EXPECT_EQ(options.data.normalize, Normalize::zscore);
}

TEST_F(Nnunet, StaysAsItIsOrIsDividedButNotBoth) {
  const auto text = [](const char* channels) {
    return cat(R"({"labels": {"background": 0, "a": 1}, "channel_names": {)", channels, "}}");
  };
  take(text(R"("0": "noNorm", "1": "rgb_to_0_1")"));
  EXPECT_THAT(said, HasSubstr("different normalisations, noNorm, rgb_to_0_1"));
  EXPECT_EQ(options.data.divide, 0);
  take(text(R"("0": "noNorm", "1": "NoNorm")"));
  EXPECT_EQ(options.data.normalize, Normalize::divide);
  EXPECT_EQ(options.data.divide, 1);
}

TEST_F(Nnunet, WithRegionsNeedsClasses) {
  const char* const text =
      R"({"labels": {"background": 0, "whole tumor": [1, 2, 3], "core": [2, 3], "enhancing": 3}})";
  EXPECT_THAT(take_error(text), AllOf(HasSubstr("has regions"), HasSubstr("core, whole tumor"),
                                      HasSubstr("data.classes=N")));
  options.table.set("data.classes", "4", {.kind = ValueSource::Kind::argument});
  take(text);
  EXPECT_EQ(options.data.classes, 4);
  EXPECT_EQ(options.data.ignore, -1);
}

TEST_F(Nnunet, WithFilesThatAreNotReadIsRefused) {
  EXPECT_THAT(take_error(R"({"labels": {"background": 0, "a": 1}, "file_ending": ".nrrd"})"),
              HasSubstr("the file_ending is \".nrrd\", which is not read"));
}

TEST_F(Nnunet, IsTakenWhereDataPathIsARawFolder) {
  for (const char* id : {"ovu_001", "ovu_002"}) write_case(id);
  write_text("dataset.json", usual_text);
  write_text("imagesTr/notes_0000.tif", "no volume, and not of file_ending");
  const Prepared prepared = prepare();
  EXPECT_EQ(options.data.classes, 3);
  EXPECT_EQ(prepared.extra.at("channels"), 1);
  EXPECT_EQ(prepared.extra.at("normalization").at("kind"), "ct");
  EXPECT_THAT(said, AllOf(HasSubstr("data.classes=3"), Not(HasSubstr("ignored (data.ignore"))));
}

// Predictions and labels of one's own need not be of the kind that dataset.json names.
TEST_F(Nnunet, ListsOtherVolumesWhereNoneHasItsEnding) {
  write_text("dataset.json", usual_text);
  write(data() / "imagesTs/ovu_001_0000.tif", usual, image_of(usual, 1));
  const auto items =
      find_items(options, {.inputs = {(data() / "imagesTs").string()}, .cache_dir = cache()});
  ASSERT_EQ(items.size(), 1U);
  EXPECT_EQ(items[0].fault, "");
  write(data() / "labelsTs/ovu_001.tif", usual, labels_of(usual));
  write(path("out") / "ovu_001.tif", usual, labels_of(usual));
  options.scoring.labels = (data() / "labelsTs").string();
  EXPECT_EQ(score_volumes(options, {.predictions = path("out")}).at(0).value, 1);
}

// A picture of each case beside it, as people keep them.
TEST_F(Nnunet, SaysWhichFilesOfItsFoldersArePredictedAndScored) {
  write_text("dataset.json", usual_text);
  const VolumeShape shape{.depth = 4, .height = 8, .width = 8};
  const std::vector<std::uint8_t> labels = labels_of(shape);
  write(data() / "imagesTs/ovu_001_0000.nii.gz", shape, image_of(shape, 1));
  write(data() / "labelsTs/ovu_001.nii.gz", shape, labels);
  write(path("out") / "ovu_001.nii.gz", shape, labels);
  write_text("imagesTs/ovu_001.tif", "a picture");
  write_text("labelsTs/ovu_001.tif", "a picture");
  const std::string images = (data() / "imagesTs").string();
  for (const std::vector<std::string>& inputs :
       {std::vector<std::string>(), std::vector<std::string>{images}}) {
    const auto items = find_items(options, {.inputs = inputs, .cache_dir = cache()});
    ASSERT_EQ(items.size(), 1U);
    EXPECT_EQ(items[0].id, "ovu_001.nii.gz");
    EXPECT_EQ(items[0].fault, "");
  }
  options.scoring.labels = (data() / "labelsTs").string();
  const auto scores = score_volumes(options, {.predictions = path("out")});
  EXPECT_EQ(scores.at(0).value, 1);
}

TEST_F(Nnunet, OfAnotherLayoutIsNotLookedAt) {
  write_pairs({"a", "b"});
  write_text("dataset.json", "no JSON");
  prepare();
  EXPECT_EQ(options.data.classes, 1);
}

}  // namespace
}  // namespace lockstep::volume
