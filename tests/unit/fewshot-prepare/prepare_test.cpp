// From options to the record that a worker reads by, supports of prediction, and scores of files.
#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "core/media/pictures/picture_file.h"
#include "recipes/fewshot/annotations/coco.h"
#include "recipes/fewshot/options/fewshot_options.h"
#include "recipes/fewshot/sets/sets.h"
#include "recipes/fewshot/shapes/made_shapes.h"
#include "tests/fakes/error_of.h"

namespace lockstep::fewshot {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

class PrepareTest : public ::testing::Test {
 protected:
  PrepareTest() {
    write("train", {.pictures = 40});
    write("valid", {.pictures = 16, .first = 40});
    options.data.path = data().string();
    options.episode.k_shot = 1;
    options.episode.n_way = 2;
    options.stop.episodes = 50;
  }
  fs::path data() const { return folder.path() / "data"; }
  void write(const std::string& name, const MadeShapes& set) const {
    const DetectionData described = describe_shapes(set);
    fs::create_directories(data() / name);
    const std::string blank =
        encode_png(Image({.height = set.height, .width = set.width, .channels = 1}));
    for (const Picture& picture : described.pictures)
      write_file_atomic(data() / name / picture.path, blank);
    write_file_atomic(data() / (name + ".json"), coco_json(described, "a test"));
  }
  Prepared prepare(Purpose purpose = Purpose::train, const fs::path& run = {}) {
    said.clear();
    return options.prepare({.purpose = purpose,
                            .cache_dir = folder.path() / "cache",
                            .run_dir = run,
                            .say = [&](const std::string& line) { said.push_back(line); }});
  }
  fs::path write_run(const Prepared& prepared) const {
    fs::create_directories(folder.path() / "run");
    write_file_atomic(folder.path() / "run/run.json", json{{"extra", prepared.extra}}.dump());
    return folder.path() / "run";
  }
  TemporaryDirectory folder;
  FewshotOptions options;
  std::vector<std::string> said;
};

TEST_F(PrepareTest, SaysWhatTheWorkerReadsAndThePlanNeeds) {
  options.data.novel = {"star", "ring"};
  const Prepared prepared = prepare();
  EXPECT_EQ(prepared.facts.train_samples, 50);
  EXPECT_EQ(prepared.facts.valid_samples, 2 * options.evaluate.episodes);
  EXPECT_DOUBLE_EQ(prepared.facts.evaluation_passes,
                   static_cast<double>(prepared.facts.valid_samples) *
                       options.passes_of_evaluation(options.episode.k_shot));
  EXPECT_EQ(prepared.facts.fixed_micro, 1);
  EXPECT_THAT(prepared.facts.smaller_sample, HasSubstr("a smaller episode (episode.size="));
  EXPECT_EQ(prepared.extra.at("boxes").get<int>() % 8, 0);
  EXPECT_EQ(prepared.extra.at("categories").size(), 12U);
  EXPECT_THAT(prepared.extra.at("sets").at("novel").get<std::vector<std::string>>(),
              ElementsAre("star", "ring"));
  EXPECT_THAT(said, Contains(AllOf(HasSubstr("40 pictures to train on, 16 to validate on"),
                                   HasSubstr("novel: star, ring"))));
  EXPECT_EQ(prepare().extra, prepared.extra);
  EXPECT_EQ(prepared.data_hash.size(), 32u);
  EXPECT_EQ(prepare().data_hash, prepared.data_hash);
}

TEST_F(PrepareTest, ListsThePicturesThatCannotBeUsed) {
  write_file_atomic(data() / "train/made-00003.png", "");
  write_picture(data() / "train/made-00005.png", Image({.height = 9, .width = 9, .channels = 1}));
  EXPECT_THAT(error_of([&] { prepare(); }),
              AllOf(HasSubstr("train.json: 2 of 40 pictures cannot be used: "),
                    HasSubstr("made-00003.png is empty (id 4); "),
                    HasSubstr("made-00005.png is 9 x "
                              "9")));
}

TEST_F(PrepareTest, ATestSetIsSaidToBeUnusedUnlessItIsNamed) {
  fs::rename(data() / "valid", data() / "test");
  fs::rename(data() / "valid.json", data() / "test.json");
  prepare();
  EXPECT_THAT(said, Contains(HasSubstr("test.json is not used")));
  EXPECT_THAT(said, Contains(HasSubstr("8 to validate on, held out by data.valid_share;")));
  options.data.valid = (data() / "test.json").string();
  prepare();
  EXPECT_THAT(said, Not(Contains(HasSubstr("is not used"))));
  EXPECT_THAT(said, Contains(HasSubstr("16 to validate on")));
}

// With the same names, sizes and boxes.
TEST_F(PrepareTest, OtherPicturesAreOtherData) {
  const Prepared first = prepare();
  const fs::path run = write_run(first);
  EXPECT_EQ(prepare(Purpose::train, run).data_contents, first.data_contents);
  const std::string whole = read_file(data() / "train/made-00003.png");
  Image other({.height = 128, .width = 160, .channels = 1});
  other.u8()[0] = 255;
  write_picture(data() / "train/made-00003.png", other);
  EXPECT_THAT(error_of([&] { prepare(Purpose::train, run); }),
              AllOf(HasSubstr("pictures of "), HasSubstr("train.json have other contents")));
  EXPECT_NE(prepare().data_contents, first.data_contents);
  EXPECT_EQ(prepare().data_hash, first.data_hash) << "that of older runs";
  Prepared older = first;  // a run of a version that did not know contents
  older.extra["sets"].erase("contents");
  EXPECT_EQ(prepare(Purpose::train, write_run(older)).data_contents, "");
  write_file_atomic(data() / "train/made-00003.png", whole);
  EXPECT_NO_THROW(prepare(Purpose::train, write_run(first)));
}

// data.path holds the annotations alone.
TEST_F(PrepareTest, TheFoldersOfPicturesCountBesideDataPath) {
  fs::rename(data() / "train", folder.path() / "photos");
  fs::rename(data() / "valid", folder.path() / "others");
  EXPECT_THAT(error_of([&] { prepare(); }),
              AllOf(HasSubstr("train.json: 40 of 40 pictures are missing"),
                    HasSubstr("data.train_pictures"), Not(HasSubstr("data.valid_pictures"))));
  options.data.train_pictures = (folder.path() / "photos").string();
  EXPECT_THAT(error_of([&] { prepare(); }),
              AllOf(HasSubstr("valid.json: 16 of 16 pictures are missing"),
                    HasSubstr("data.valid_pictures"), Not(HasSubstr("data.train_pictures"))));
  options.data.valid_pictures = (folder.path() / "others").string();
  const SetsRecord record = sets_record_from_json(prepare().extra.at("sets"));
  EXPECT_EQ(read_sets(record).train.pictures[0].path, folder.path() / "photos/made-00000.png");
  EXPECT_EQ(read_sets(record).valid.pictures[0].path, folder.path() / "others/made-00040.png");
  fs::create_directories(data() / "train");
  options.data.train_pictures = (data() / "train").string();
  EXPECT_THAT(error_of([&] { prepare(); }), HasSubstr("40 of 40 pictures are missing"));
  options.data.train_pictures = (data() / "nowhere").string();
  EXPECT_THAT(error_of([&] { prepare(); }), HasSubstr("nowhere is no folder"));
}

TEST_F(PrepareTest, ARunOfAnOlderVersionKeepsThePicturesThatItFound) {
  Prepared older = prepare();
  const json files = older.extra["sets"]["train"];
  older.extra["sets"].erase("contents");
  const fs::path run = write_run(older);
  fs::create_directories(folder.path() / "ignored");
  options.data.train_pictures = (folder.path() / "ignored").string();
  EXPECT_EQ(prepare(Purpose::train, run).extra.at("sets").at("train"), files);
  options.table.set("data.train_pictures", options.data.train_pictures,
                    {.kind = ValueSource::Kind::argument});
  EXPECT_THAT(error_of([&] { prepare(Purpose::train, run); }), HasSubstr("pictures are missing"));
}

TEST_F(PrepareTest, ReportsAShareThatHasNoEffectAndRefusesPicturesOfNoSet) {
  const auto prepare_with = [&](const char* key, const std::string& value) {
    FewshotOptions changed;
    changed.data.path = data().string();
    changed.episode.k_shot = 1;
    changed.episode.n_way = 2;
    changed.table.set(key, value, {.kind = ValueSource::Kind::argument});
    said.clear();
    changed.prepare({.purpose = Purpose::train,
                     .cache_dir = folder.path(),
                     .run_dir = {},
                     .say = [&](const std::string& line) { said.push_back(line); }});
  };
  prepare_with("data.valid_share", "0.5");
  EXPECT_THAT(said, Contains(AllOf(HasSubstr("data.valid_share has no effect: "),
                                   HasSubstr("valid.json says what to validate on"))));
  fs::remove(data() / "valid.json");
  prepare_with("data.valid_share", "0.5");
  EXPECT_THAT(said, Not(Contains(HasSubstr("has no effect"))));
  EXPECT_THAT(error_of([&] { prepare_with("data.valid_pictures", (data() / "valid").string()); }),
              AllOf(HasSubstr("data.valid_pictures has no effect: a share of "),
                    HasSubstr("train.json is validated on")));
}

// Pictures that EXIF turns by half: nothing but data.exif tells of what their boxes are.
TEST_F(PrepareTest, RecordsOfWhatBoxesAreAndPredictsOfTheSame) {
  const std::string plain = encode_jpeg(Image({.height = 128, .width = 160, .channels = 1}));
  constexpr std::string_view exif(
      "\xFF\xE1\0\x22"
      "Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x03"
      "\0\0\0\0\0\0",
      36);
  const std::string turned = plain.substr(0, 2) + std::string(exif) + plain.substr(2);
  for (const char* name : {"valid/made-00040.png", "valid/made-00041.png"})
    write_file_atomic(data() / name, turned);
  json valid = json::parse(read_file(data() / "valid.json"));
  for (json& image : valid["images"])  // another spelling of a path that a prediction names
    if (image["file_name"] == "made-00041.png") image["file_name"] = "./made-00041.png";
  write_file_atomic(data() / "valid.json", valid.dump());
  const json record = prepare().extra.at("sets");
  EXPECT_FALSE(record.contains("exif"));
  EXPECT_EQ(record.at("look"), true);
  EXPECT_THAT(said, Contains(HasSubstr("for 2 neither size nor boxes tell")));
  options.data.exif = ExifFrame::stored;
  const Prepared prepared = prepare();
  EXPECT_EQ(prepared.extra.at("sets").at("exif"), "stored");
  EXPECT_THAT(said, Not(Contains(HasSubstr("neither size nor boxes tell"))));
  const json paths = prepare(Purpose::predict, write_run(prepared)).extra.at("stored_pictures");
  EXPECT_THAT(paths.get<std::vector<std::string>>(),
              ElementsAre((data() / "valid/made-00040.png").string(),
                          (data() / "valid/made-00041.png").string()));
  // Preparation alone refuses other contents: what is known of the boxes stays known.
  write_file_atomic(data() / "valid/made-00040.png", turned + "x");
  EXPECT_EQ(prepare(Purpose::predict, write_run(prepared)).extra.at("stored_pictures"), paths);
  EXPECT_THAT(error_of([&] { prepare(Purpose::evaluate, write_run(prepared)); }),
              HasSubstr("have other contents"));
}

// Only the pictures tell: a worker must look at them too.
TEST_F(PrepareTest, AWorkerReadsExchangedSizesAsThePreparationDid) {
  EXPECT_FALSE(prepare().extra.at("sets").contains("look"));
  DetectionData exchanged = describe_shapes({.pictures = 40});
  for (Picture& one : exchanged.pictures) std::swap(one.width, one.height);
  write_file_atomic(data() / "train.json", coco_json(exchanged, "a test"));
  const SetsRecord record = sets_record_from_json(prepare().extra.at("sets"));
  EXPECT_THAT(said, Contains(HasSubstr("width and height of 40 pictures are exchanged")));
  EXPECT_EQ(read_sets(record).train.pictures[0].width, 160);
}

TEST_F(PrepareTest, DrawsNovelClassesFromTheSplitSeed) {
  options.data.novel_share = 0.3;
  const auto novel = [&] { return prepare().extra.at("sets").at("novel"); };
  const json first = novel();
  EXPECT_EQ(first.size(), 4U);
  EXPECT_EQ(novel(), first);
  options.data.split_seed = 2;
  EXPECT_NE(novel(), first);
  options.data.novel_share = 0;
  EXPECT_TRUE(novel().empty());
  options.data.classes = ClassUse::novel;
  EXPECT_THAT(error_of([&] { prepare(); }), HasSubstr("data.classes is novel"));
}

TEST_F(PrepareTest, TellsHowManyClassesTheDefaultOfFiveStandsFor) {
  options.data.novel = {"star", "ring"};
  options.episode.n_way = 0;
  EXPECT_EQ(prepare().used, (json{{"episode.n_way", 5}}));
  options.episode.n_way = 4;
  EXPECT_EQ(prepare().used, (json{{"episode.n_way", 4}}));
  options.episode.n_way = 0;
  options.data.classes = ClassUse::novel;  // two, but five in episodes of base classes
  EXPECT_EQ(prepare().used, json::object());
}

TEST_F(PrepareTest, SaysWhichClassesAreHeldOutWhereEpisodesNeedMore) {
  options.episode.n_way = 12;
  const std::string share = error_of([&] { prepare(); });
  EXPECT_THAT(share, AllOf(HasSubstr("; 4 of 12 classes are held out as novel (data.novel_share)"),
                           HasSubstr("; data.novel_share=0 trains on all classes")));
  EXPECT_THAT(said, Contains(HasSubstr("base classes: ")));
  options.data.novel = {"star", "ring"};
  EXPECT_THAT(error_of([&] { prepare(); }),
              AllOf(HasSubstr("; 2 of 12 classes are held out as novel"),
                    HasSubstr("; data.classes=all trains on all classes")));
  options.episode.n_way = 13;  // more than there are
  EXPECT_THAT(error_of([&] { prepare(); }), Not(HasSubstr("trains on all")));
  options.episode.n_way = 0;
  options.episode.k_shot = 1000;  // more pictures than any class has
  EXPECT_THAT(error_of([&] { prepare(); }),
              AllOf(HasSubstr("lower episode.k_shot"), Not(HasSubstr("trains on all"))));
}

TEST_F(PrepareTest, GoesOnWithTheSplitOfTheRunAndRefusesOtherBoxes) {
  const Prepared first = prepare();
  const fs::path run = write_run(first);
  options.data.split_seed = 5;
  EXPECT_EQ(prepare(Purpose::train, run).extra.at("sets").at("novel"),
            first.extra.at("sets").at("novel"));
  // They lie elsewhere: the same.
  fs::rename(data(), folder.path() / "moved");
  options.data.path = (folder.path() / "moved").string();
  EXPECT_NO_THROW(prepare(Purpose::train, run));
  fs::rename(folder.path() / "moved", data());
  options.data.path = data().string();
  write("valid", {.pictures = 15, .first = 40});
  EXPECT_THAT(error_of([&] { prepare(Purpose::train, run); }), HasSubstr("have changed"));
}

TEST_F(PrepareTest, EvaluatesOtherPicturesWithClassesItKnowsAsBase) {
  options.data.novel = {"star", "ring"};
  const fs::path run = write_run(prepare());
  fs::rename(data(), folder.path() / "other");
  options.data.path = (folder.path() / "other").string();
  write("train", {.seed = 5, .pictures = 40});
  write("valid", {.seed = 5, .pictures = 16, .first = 40});
  options.data.path = data().string();
  fs::rename(data() / "train.json", data() / "instances_train.json");
  fs::rename(data() / "valid.json", data() / "instances_val.json");
  fs::rename(data() / "valid", data() / "val");
  const Prepared other = prepare(Purpose::evaluate, run);
  EXPECT_THAT(said, Contains(HasSubstr("not the pictures that the run began with")));
  EXPECT_THAT(other.extra.at("sets").at("novel").get<std::vector<std::string>>(),
              ElementsAre("star", "ring"));
}

TEST_F(PrepareTest, AnExportKnowsItsPicturesAgainWithoutSayingWhereTheyLay) {
  options.data.novel = {"star", "ring"};
  options.data.base = {"square", "cross"};  // and no others
  Prepared exported = prepare();
  const json before = exported.extra.at("sets");
  std::map<std::string, std::string> kept;
  options.forget_places(exported.extra, kept);
  EXPECT_THAT(exported.extra.dump(), Not(HasSubstr(folder.path().string())));
  EXPECT_EQ(exported.extra.at("picture_ids").at("made-00040.png"), 41);
  const fs::path run = write_run(exported);
  options.data.base = options.data.novel = {};
  const Prepared again = prepare(Purpose::evaluate, run);
  EXPECT_EQ(again.extra.at("sets"), before);
  EXPECT_THAT(said, Not(Contains(HasSubstr("not the pictures"))));
  const Prepared supports = prepare(Purpose::predict, run);
  EXPECT_EQ(supports.extra.at("supports").size(), 4U);
  options.data.path.clear();
  EXPECT_THAT(error_of([&] { prepare(Purpose::evaluate, run); }),
              HasSubstr("data.path does not say where some are"));
  EXPECT_THAT(error_of([&] { prepare(Purpose::predict, run); }),
              HasSubstr("an export does not say where they lie"));
}

// As `--then predict` asks before a run exists, and predict of a run afterwards.
TEST_F(PrepareTest, FindsTheSameValidationPicturesWithAndWithoutARun) {
  options.data.novel = {"star", "ring"};
  const auto paths = [&](const fs::path& run) {
    std::vector<std::string> all;
    for (const PredictItem& item :
         options.items({.inputs = {}, .run_dir = run, .cache_dir = folder.path() / "cache"}))
      all.push_back(item.path);
    return all;
  };
  const std::vector<std::string> before = paths({});
  ASSERT_EQ(before.size(), 16U);
  EXPECT_EQ(before[0], (data() / "valid/made-00040.png").string());
  const fs::path run = write_run(prepare());
  EXPECT_EQ(paths(run), before);
  // Without a validation set, those that are held out.
  fs::remove_all(data() / "valid");
  fs::remove(data() / "valid.json");
  const std::vector<std::string> held_out = paths({});
  EXPECT_EQ(held_out.size(), 8U);
  EXPECT_EQ(paths(write_run(prepare())), held_out);
  // An export does not say where its pictures lie.
  json extra = prepare().extra;
  std::map<std::string, std::string> kept;
  options.forget_places(extra, kept);
  write_file_atomic(run / "run.json", json{{"extra", extra}}.dump());
  EXPECT_EQ(paths(run), held_out);
}

TEST_F(PrepareTest, PredictsWithTheNamedOrTheRunsOwnSupports) {
  EXPECT_THAT(error_of([&] { prepare(Purpose::predict); }),
              HasSubstr("there are no examples of what to look for"));
  const fs::path run = write_run(prepare());
  const Prepared own = prepare(Purpose::predict, run);
  EXPECT_EQ(own.extra.at("supports").size(), 12U);
  fs::remove_all(data());
  EXPECT_THAT(error_of([&] { prepare(Purpose::predict, run); }),
              HasSubstr("no supports are given, and the run's own cannot be read"));
}

TEST_F(PrepareTest, ScoresResultsOfTheTruthItself) {
  const DetectionData truth = read_coco(data() / "valid.json", data() / "valid");
  json results = json::array();
  for (const Box& box : truth.boxes)
    results.push_back({{"image_id", truth.pictures[static_cast<std::size_t>(box.picture)].id},
                       {"category_id", truth.categories[static_cast<std::size_t>(box.category)].id},
                       {"bbox", {box.x, box.y, box.w, box.h}},
                       {"score", 0.9}});
  write_file_atomic(folder.path() / "detections.json", results.dump());
  const auto scores = options.score({.predictions = folder.path(), .say = {}});
  ASSERT_FALSE(scores.empty());
  std::map<std::string, double> by_name;
  for (const Score& score : scores) by_name[score.name] = score.value;
  EXPECT_EQ(by_name.at("ap50"), 1);
  EXPECT_EQ(by_name.at("ap50 of circle"), 1);
  // From the json alone, and of a set that nothing is trained on.
  fs::remove_all(data() / "valid");
  fs::remove_all(data() / "train");
  const auto ap50 = [&] {
    return options.score({.predictions = folder.path(), .say = {}})[1].value;
  };
  EXPECT_EQ(ap50(), 1);
  options.data.path.clear();
  EXPECT_THAT(error_of(ap50), HasSubstr("nothing says what the detections are compared with"));
  options.data.valid = (data() / "valid.json").string();
  EXPECT_EQ(ap50(), 1);
  EXPECT_THAT(error_of([&] { prepare(); }), HasSubstr("nothing says what to train on"));
  options.scoring.truth = options.data.valid;
  options.data.valid.clear();
  EXPECT_EQ(ap50(), 1);
}

TEST_F(PrepareTest, AsksWhetherPicturesWithoutAPredictionWerePredicted) {
  write_file_atomic(folder.path() / "truth.json",
                    R"({"images": [{"id": 1, "file_name": "a.jpg", "width": 64, "height": 48},
      {"id": 2, "file_name": "b.jpg", "width": 64, "height": 48},
      {"id": 3, "file_name": "empty.jpg", "width": 64, "height": 48}],
      "categories": [{"id": 1, "name": "person"}], "annotations": [
      {"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 20, 20], "area": 400},
      {"id": 2, "image_id": 2, "category_id": 1, "bbox": [1, 1, 20, 20], "area": 400}]})");
  options.scoring.truth = (folder.path() / "truth.json").string();
  const auto score = [&](const std::string& detections) {
    said.clear();
    write_file_atomic(folder.path() / "detections.json", detections);
    options.score({.predictions = folder.path(),
                   .say = [&](const std::string& line) { said.push_back(line); }});
    return said;
  };
  const std::string one =
                        R"({"image_id": 1, "category_id": 1, "bbox": [1, 1, 20, 20], "score": 1})",
                    two =
                        R"({"image_id": 2, "category_id": 1, "bbox": [1, 1, 20, 20], "score": 1})";
  EXPECT_THAT(score("[" + one + "]"),
              Contains(HasSubstr("1 of 3 pictures have boxes and no prediction, and count as "
                                 "missed: were they predicted?")));
  EXPECT_THAT(score("[" + one + "," + two + "]"), Not(Contains(HasSubstr("were they predicted"))));
}

TEST_F(PrepareTest, ScoresWhatLiesPastTheEdgeAndSaysWhatIsSkipped) {
  // A box past each edge, one beside the picture and one without width: all but the last are found.
  write_file_atomic(folder.path() / "truth.json",
                    R"({"images": [{"id": 1, "file_name": "a.jpg", "width": 64, "height": 48}],
      "categories": [{"id": 1, "name": "person"}], "annotations": [
      {"id": 1, "image_id": 1, "category_id": 1, "bbox": [-20, -20, 120, 110], "area": 13200},
      {"id": 2, "image_id": 1, "category_id": 1, "bbox": [200, 10, 20, 20], "area": 400},
      {"id": 3, "image_id": 1, "category_id": 1, "bbox": [10, 10, 0, 20], "area": 0}]})");
  write_file_atomic(
      folder.path() / "detections.json",
      R"([{"image_id": 1, "category_id": 1, "bbox": [-20, -20, 120, 110], "score": 0.9},
      {"image_id": 1, "category_id": 77, "bbox": [1, 1, 9, 9], "score": 0.9},
      {"image_id": 1, "category_id": 1, "bbox": [200, 10, 20, 20], "score": 0.9}])");
  options.scoring.truth = (folder.path() / "truth.json").string();
  const auto scores =
      options.score({.predictions = folder.path(),
                     .say = [&](const std::string& line) { said.push_back(line); }});
  EXPECT_NEAR(scores[0].value, 67.0 / 101, 1e-12);  // recall 2/3 at precision 1
  EXPECT_THAT(said, Contains(AllOf(HasSubstr("1 of 3 detections are of classes that"),
                                   HasSubstr("skipped (first: category_id 77)"))));
}

// Without a validation set: the pictures that training holds back, and no others.
TEST_F(PrepareTest, ScoresAgainstWhatWasHeldBack) {
  fs::remove_all(data() / "valid");
  fs::remove(data() / "valid.json");
  const fs::path run = write_run(prepare());
  std::set<std::string> held_back;
  for (const PredictItem& item : options.items({.run_dir = run}))  // what is predicted by default
    held_back.insert(fs::path(item.path).filename().string());
  EXPECT_EQ(held_back.size(), 8U);
  const DetectionData all = read_coco(data() / "train.json", data() / "train");
  json results = json::array();
  for (const Box& box : all.boxes)
    if (const Picture& picture = all.pictures[static_cast<std::size_t>(box.picture)];
        held_back.contains(picture.path.filename().string()))
      results.push_back({{"image_id", picture.id},
                         {"category_id", all.categories[static_cast<std::size_t>(box.category)].id},
                         {"bbox", {box.x, box.y, box.w, box.h}},
                         {"score", 0.9}});
  write_file_atomic(folder.path() / "detections.json", results.dump());
  for (const Score& score : options.score({.predictions = folder.path(), .say = {}}))
    if (score.name == "ap50") EXPECT_EQ(score.value, 1);
  options.data.train = (data() / "train.json").string();
  EXPECT_THAT(error_of([&] { prepare(); }), HasSubstr("data.path and data.train both"));
}

TEST_F(PrepareTest, EvaluatesASetOfNewClassesAlone) {
  Prepared first = prepare();
  first.extra["sets"]["base"] = {"bishop", "king"};
  first.extra["sets"]["novel"] = json::array();
  first.extra["sets"]["fingerprint"] = "of pictures of chess";
  const fs::path run = write_run(first);
  fs::rename(data() / "train.json", data() / "instances_train.json");
  fs::rename(data() / "valid.json", data() / "instances_val.json");
  fs::rename(data() / "valid", data() / "val");
  const Prepared other = prepare(Purpose::evaluate, run);
  EXPECT_TRUE(other.extra.at("sets").at("base").empty());
  EXPECT_EQ(other.extra.at("sets").at("novel").size(), 12U);
}

TEST_F(PrepareTest, SaysWhichShotsAreNotEvaluated) {
  options.evaluate.shots = {"1", "1000"};
  prepare();
  EXPECT_THAT(said, Contains(HasSubstr("it is not evaluated with 1000 shots")));
}

TEST_F(PrepareTest, GivesClassesThatTheRunDoesNotKnowIdsOfTheirOwn) {
  const fs::path run = write_run(prepare());
  write_picture(folder.path() / "a.png", Image({.height = 20, .width = 30, .channels = 3}));
  write_file_atomic(folder.path() / "list.csv",
                    "file,class,x,y,w,h\na.png,unicorn,,,,\na.png,circle,,,,\n");
  options.predict.supports = (folder.path() / "list.csv").string();
  std::set<std::int64_t> ids;
  const json supports = prepare(Purpose::predict, run).extra.at("supports");
  for (const json& one : supports) ids.insert(one.at("id").get<std::int64_t>());
  EXPECT_EQ(ids, (std::set<std::int64_t>{1, 13}));
}

}  // namespace
}  // namespace lockstep::fewshot
