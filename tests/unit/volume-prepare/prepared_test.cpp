// What preparation tells the engine, and runs that go on, are evaluated or predict.
#include "prepare_test.h"

namespace lockstep::volume {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using Prepares = PrepareTest;

TEST_F(Prepares, CountsPatchesAndVolumes) {
  write_pairs({"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"});
  options.data.patches = 3;
  const Prepared prepared = prepare();
  EXPECT_EQ(prepared.facts.train_samples, 24);
  EXPECT_EQ(prepared.facts.valid_samples, 2);
  EXPECT_GT(prepared.facts.evaluation_passes, 0);
  EXPECT_EQ(prepared.facts.unit, "patches");
  EXPECT_EQ(prepared.facts.units_per_sample, 1);
  EXPECT_EQ(prepared.facts.parameters, parameter_count(options.net(1)));
  EXPECT_EQ(prepared.extra.at("channels"), 1);
  EXPECT_EQ(prepared.extra.at("made"), false);
  EXPECT_EQ(prepared.extra.at("normalization").at("kind"), "divide");
  ASSERT_EQ(prepared.keep.size(), 1U);
  EXPECT_EQ(prepared.keep[0].filename(), "volumes.json");
  EXPECT_TRUE(fs::path(prepared.extra.at("volumes").get<std::string>()).is_absolute());
}

TEST_F(Prepares, KnowsTheTypeThatHoldsAllVoxels) {
  write_pairs({"a", "b"});
  EXPECT_EQ(volumes().type, VoxelType::u8);
  write(data() / "train_images" / "b.tif", usual, std::vector<std::uint16_t>(voxels(usual), 700));
  EXPECT_EQ(volumes().type, VoxelType::u16);
  write(data() / "train_images" / "b.tif", usual, std::vector<float>(voxels(usual), 0.5F));
  EXPECT_EQ(volumes().type, VoxelType::f32);
}

TEST_F(Prepares, StatisticsOfTheForegroundOfTrainingVolumesForCt) {
  options.data.normalize = Normalize::ct;
  options.data.valid = {"c"};
  for (int i = 0; i < 3; ++i) {
    const std::string id(1, static_cast<char>('a' + i));
    std::vector<float> values(voxels(usual), 1e6F);
    const auto labels = labels_of(usual);
    for (std::size_t v = 0; v < values.size(); ++v)
      if (labels[v] == 1) values[v] = i == 2 ? 5000 : i == 0 ? -100 : 300;
    write(data() / "train_images" / (id + ".tif"), usual, values);
    write_label(id);
  }
  const PreparedVolumes found = volumes();
  ASSERT_EQ(found.normalization.set.size(), 1U);
  const ChannelStatistics& set = found.normalization.set[0];
  EXPECT_EQ(set.minimum, -100);
  EXPECT_EQ(set.maximum, 300);
  EXPECT_NEAR(set.mean, 100, 1e-9);
  EXPECT_NEAR(set.deviation, 200, 1e-9);
  EXPECT_NEAR(set.low, -100, 400.0 / 65'536);
  EXPECT_NEAR(set.high, 300, 400.0 / 65'536);
  EXPECT_THAT(said, HasSubstr("measuring the foreground of 2 volumes"));
  EXPECT_EQ(volumes().normalization.set, found.normalization.set);
  EXPECT_THAT(said, Not(HasSubstr("measuring")));
}

TEST_F(Prepares, StatisticsForCtAreOfTheTrainedPlanesAlone) {
  options.data.normalize = Normalize::ct;
  const VolumeShape deep{.depth = 40, .height = 4, .width = 4};
  std::vector<std::uint8_t> values(voxels(deep), 10), labels(voxels(deep), 1);
  for (std::size_t i = 32 * 16; i < values.size(); ++i) values[i] = 200;
  write(data() / "images" / "a.tif", deep, values);
  write(data() / "labels" / "a.tif", deep, labels);
  EXPECT_EQ(volumes().normalization.set.at(0).maximum, 10);
}

class GoesOn : public PrepareTest {
 protected:
  GoesOn() {
    write_pairs({"a", "b", "c", "d", "e", "f"});
    age();
    first = prepare();
    run = make_run(first);
  }
  PreparedVolumes again(Purpose purpose = Purpose::train) {
    return read_prepared(prepare(purpose, run).extra.at("volumes").get<std::string>());
  }
  std::string again_error() {
    return error_if_any([&] { again(); });
  }
  PreparedVolumes recorded() const { return read_prepared(run / "recipe/volumes.json"); }

  Prepared first;
  fs::path run;
};

TEST_F(GoesOn, WithTheSameVolumesAndSplit) {
  EXPECT_EQ(again().train, recorded().train);
  EXPECT_EQ(again().valid, recorded().valid);
  EXPECT_EQ(prepare(Purpose::train, run).extra, first.extra);
  EXPECT_EQ(first.data_hash.size(), 32U);
  EXPECT_EQ(prepare(Purpose::train, run).data_hash, first.data_hash);
  write_pairs({"g", "h", "i", "j", "k"});
  EXPECT_EQ(ids_of(again().train), ids_of(recorded().train));
  EXPECT_EQ(ids_of(again().valid), ids_of(recorded().valid));
}

TEST_F(GoesOn, WhereTheVolumesLieNow) {
  fs::rename(data(), path("moved"));
  EXPECT_THAT(again_error(), HasSubstr("there is no folder"));
  options.data.path = path("moved").string();
  const PreparedVolumes now = again();
  EXPECT_EQ(ids_of(now.train), ids_of(recorded().train));
  EXPECT_EQ(now.train[0].image.parent_path(), path("moved") / "train_images");
}

// The tool has made the name absolute before; a later start may be in another folder.
TEST_F(GoesOn, WithAFolderOfThePathThatIsNamedNow) {
  fs::rename(data() / "train_labels", data() / "train_masks");
  options.data.labels = (fs::current_path() / "train_masks").string();
  EXPECT_EQ(ids_of(again().train), ids_of(recorded().train));
  EXPECT_EQ(options.data.labels, (data() / "train_masks").string());
}

TEST_F(GoesOn, WithoutACache) {
  fs::remove_all(cache());
  EXPECT_EQ(ids_of(again().valid), ids_of(recorded().valid));
  EXPECT_TRUE(fs::exists(again().train[0].cached));
}

TEST_F(GoesOn, NotWithAVolumeThatHasChanged) {
  write_image("b", usual, 77);
  EXPECT_THAT(again_error(), AllOf(HasSubstr("a volume of this run has changed"),
                                   HasSubstr("began: b"), HasSubstr("new run")));
}

TEST_F(GoesOn, NotWithoutAVolume) {
  for (const char* id : {"b", "c"}) {
    fs::remove(data() / "train_images" / (std::string(id) + ".tif"));
    fs::remove(data() / "train_labels" / (std::string(id) + ".tif"));
  }
  EXPECT_THAT(again_error(), HasSubstr("volumes of this run are not there any more: "));
}

TEST_F(GoesOn, WithItsSlabsOfASingleVolume) {
  fs::remove_all(data());
  write_pair("one", {.depth = 40, .height = 5, .width = 7});
  run = make_run(prepare(), "slabs");
  const PreparedVolumes now = again();
  EXPECT_EQ(now.train, recorded().train);
  EXPECT_EQ(now.valid, recorded().valid);
  EXPECT_EQ(now.valid.at(0).begin, 32);
}

TEST_F(GoesOn, NamesOptionsWhereNothingIsHeldBackToEvaluateOn) {
  fs::remove_all(data());
  write_pair("one");
  options.data.patch = {"6", "5", "7"};
  run = make_run(prepare(), "thin");
  EXPECT_THAT(said, AllOf(HasSubstr("nothing is validated"), HasSubstr("data.patch or data.pad")));
  const auto evaluate = [&] { return error_if_any([&] { again(Purpose::evaluate); }); };
  EXPECT_THAT(evaluate(), AllOf(HasSubstr("its volume of 6 x 5 x 7 is too small"),
                                HasSubstr("patches of 6,5,7"), HasSubstr("data.path=FOLDER"),
                                HasSubstr("data.patch, or data.pad=true")));
  options.data.valid_share = 0;
  run = make_run(prepare(), "all");
  EXPECT_THAT(evaluate(), AllOf(HasSubstr("no volume was held back"),
                                HasSubstr("data.valid_share=0.2 or data.valid=ID")));
}

TEST_F(GoesOn, AndIsEvaluatedOnItsOwnVolumesOrAllOfOthers) {
  EXPECT_EQ(ids_of(again(Purpose::evaluate).valid), ids_of(recorded().valid));
  fs::remove_all(data());
  write_pairs({"x", "y"});
  EXPECT_THAT(ids_of(again(Purpose::evaluate).valid), ElementsAre("x", "y"));
  EXPECT_THAT(said, HasSubstr("all 2 of them are evaluated"));
  EXPECT_THAT(again_error(), HasSubstr("not there any more"));
}

TEST_F(GoesOn, NeverOnMadeVolumesWhereItBeganWithOthers) {
  options.data.path.clear();  // as an export has it
  for (const Purpose purpose : {Purpose::evaluate, Purpose::train})
    EXPECT_THAT(error_if_any([&] { again(purpose); }),
                AllOf(HasSubstr("data.path does not say where"), HasSubstr("data.path=DATA")));
  options.data.patch = {"32"};
  run = make_run(prepare(), "made");
  EXPECT_EQ(again(Purpose::evaluate).valid, recorded().valid);
}

TEST_F(GoesOn, FromAnExportThatDoesNotSayWhereItsVolumesLay) {
  nlohmann::json extra = first.extra;
  std::map<std::string, std::string> kept{{"volumes.json", read_file(run / "recipe/volumes.json")}};
  options.forget_places(extra, kept);
  const std::string& record = kept.at("volumes.json");
  for (const std::string& text : {extra.dump(), record})
    EXPECT_THAT(text, Not(HasSubstr(data().parent_path().string())));
  const PreparedVolumes before = recorded();
  write_file_atomic(run / "recipe/volumes.json", record);
  write_file_atomic(run / "run.json", nlohmann::json{{"extra", extra}}.dump());
  EXPECT_EQ(again(Purpose::evaluate).valid, before.valid);
}

TEST_F(GoesOn, AndPredictsWithoutAnyVolume) {
  fs::remove_all(data());
  fs::remove_all(cache());
  const Prepared prepared = prepare(Purpose::predict, run);
  EXPECT_EQ(prepared.extra.at("normalization"), first.extra.at("normalization"));
  EXPECT_EQ(prepared.extra.at("channels"), 1);
  EXPECT_EQ(prepared.facts.parameters, first.facts.parameters);
  EXPECT_FALSE(fs::exists(cache() / "volumes"));
  fs::remove(run / "run.json");
  const Prepared without = prepare(Purpose::predict, run);  // from recipe/volumes.json
  for (const char* key : {"normalization", "channels", "made"})
    EXPECT_EQ(without.extra.at(key), prepared.extra.at(key)) << key;
  EXPECT_TRUE(without.extra.at("values").is_null());
  fs::remove(run / "recipe/volumes.json");
  EXPECT_THAT(error_if_any([&] { prepare(Purpose::predict, run); }),
              HasSubstr("does not say how its volumes were normalised"));
}

TEST_F(GoesOn, NotWhereItsRecordIsDamaged) {
  write_file_atomic(run / "recipe/volumes.json", "{}");
  EXPECT_THAT(again_error(), HasSubstr("recipe/volumes.json"));
}

class RealVolumes : public PrepareTest {};

TEST_F(RealVolumes, NucleiAreFound) {
  const auto path = real_data("nuclei");
  if (!path) GTEST_SKIP() << "LOCKSTEP_TEST_DATA has no volumes";
  options.data.path = path->string();
  options.data.patch = {"64"};
  const PreparedVolumes found = volumes();
  EXPECT_EQ(found.train.size(), 1U);
  ASSERT_EQ(found.valid.size(), 1U);
  const CachedVolume volume(found.valid[0].cached);
  EXPECT_EQ(volume.shape(), (VolumeShape{.depth = 100, .height = 100, .width = 100}));
  const double share = static_cast<double>(volume.positives(0, 100)) / 1e6;
  EXPECT_GT(share, 0.14);
  EXPECT_LT(share, 0.24);
}

TEST_F(RealVolumes, MniKeepsItsIgnoredBand) {
  const auto path = real_data("mni");
  if (!path) GTEST_SKIP() << "LOCKSTEP_TEST_DATA has no volumes";
  options.data.path = path->string();
  options.data.patch = {"64"};
  const PreparedVolumes found = volumes();
  EXPECT_EQ(found.train.size() + found.valid.size(), 4U);
  std::int64_t ignored = 0;
  for (const VolumeEntry& entry : found.train) {
    const CachedVolume volume(entry.cached);
    const auto labels = volume.labels();
    ignored += std::count(labels.begin(), labels.end(), 2);
  }
  EXPECT_GT(ignored, 0);
}

}  // namespace
}  // namespace lockstep::volume
