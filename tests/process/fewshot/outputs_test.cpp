// What the fewshot recipe finds, and the files that a user keeps.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "core/media/csv_table.h"
#include "fakes/killed_predictions.h"
#include "fakes/said_by_export.h"
#include "fakes/tenths.h"
#include "fewshot_runs.h"
#include "runtime/run/predictions/prediction_record.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ToolResult;
namespace fs = std::filesystem;
using nlohmann::json;

class FewshotOutputs : public testing::FewshotRuns {
 protected:
  // By name, of all files below a folder of outputs.
  std::map<std::string, std::string> files(const std::string& name) const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(folder.path() / name))
      if (entry.is_regular_file() && entry.path().parent_path().filename() != records_name)
        all[entry.path().lexically_relative(folder.path() / name).string()] =
            read_file(entry.path());
    return all;
  }
  // Two classes, of the boxes of two pictures of the training set.
  void write_supports(const std::string& lines) const {
    write_file_atomic(folder.path() / "list.csv", "file,class,x,y,w,h\n" + lines);
  }
  const std::string two_supports =
      "made-00000.png,this,10,10,30,30\nmade-00001.png,that,,,,\nmade-00002.png,this,5,5,40,20\n";
};

TEST_F(FewshotOutputs, EvaluatesWithSeveralNumbersOfShotsTheSameOnAnyNumberOfRanks) {
  const ToolResult trained = train_small("a", "cpu:2", {"stop.steps=6"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(trained.err, ::testing::ContainsRegex("\nclasses +shots +episode [^\n]+\nnovel "));
  const fs::path evaluation = run("a") / "evaluations/step-000000006";
  for (const char* name : {"items.csv", "items.json", "classes.csv", "metrics.json"})
    EXPECT_TRUE(fs::exists(evaluation / name)) << name;
  for (const char* name : {"precision-recall-base.svg", "classes-novel.svg", "base-1-shot-1.jpg",
                           "novel-1-shot-3.jpg"})
    EXPECT_TRUE(fs::exists(run("a") / "media/step-000000006" / name)) << name;

  // One episode has no interval.
  const ToolResult once = tool({"evaluate", "a", "evaluate.episodes=1", "--devices", "cpu:1"});
  ASSERT_EQ(once.code, 0) << once.err;
  EXPECT_THAT(once.out, ::testing::ContainsRegex("\nnovel +1 +[a-z]+ +1 +[0-9.e-]+ +- +- +[0-9]"));

  std::string first_metrics, first_rows;
  for (const int ranks : {1, 2, 3}) {
    const std::string rows = cat("items", ranks, ".csv");
    const ToolResult result = tool({"evaluate", "a", "evaluate.shots=2,1", "--json", "--items",
                                    rows, "--devices", cat("cpu:", ranks)});
    ASSERT_EQ(result.code, 0) << result.err;
    const std::string found = json::parse(result.out).at("metrics").dump();
    if (first_metrics.empty()) first_metrics = found, first_rows = read_file(folder.path() / rows);
    EXPECT_EQ(found, first_metrics) << ranks;
    EXPECT_EQ(read_file(folder.path() / rows), first_rows) << ranks;
  }
  const json found = json::parse(first_metrics);
  for (const char* group : {"base", "novel", "base_2shot", "novel_2shot"})
    for (const char* name : {"AP50", "AP", "AP75", "AP50_low", "AP50_high"})
      EXPECT_TRUE(found.contains(cat(name, "_", group))) << name << " " << group;
  EXPECT_LE(found.at("AP50_low_base"), found.at("AP50_base"));
  EXPECT_GE(found.at("AP50_high_base"), found.at("AP50_base"));
  // The shots of training stay with the run; those of evaluations are an option of their own.
  const auto hint = [&](const char* command, const char* word) {
    const ToolResult refused = tool({command, "a", word});
    EXPECT_EQ(refused.code, 2) << refused.err;
    return refused.err.substr(std::min(refused.err.find("hint: "), refused.err.size()));
  };
  EXPECT_EQ(hint("evaluate", "k_shot=1"), "hint: write evaluate.shots=1\n");
  EXPECT_EQ(hint("evaluate", "batch_size=4"),
            "hint: leave it out: episodes are evaluated one at a time\n");
  EXPECT_EQ(hint("evaluate", "n_way=5"),
            "hint: leave it out: the run keeps its settings of training\n");
  EXPECT_EQ(hint("predict", "shots=5"),
            "hint: leave it out: the run keeps its settings of training\n");
  EXPECT_EQ(hint("predict", "image_dir=x"), "hint: write predict.images=x\n");
  EXPECT_EQ(hint("predict", "size=64"),
            "hint: leave it out: episode.size is a setting of training, which the run keeps\n");
  const CsvTable table = read_csv(folder.path() / "items1.csv");
  EXPECT_EQ(table.rows.size(), 3U * 4);  // episodes by base, novel and 1, 2 shots
}

TEST_F(FewshotOutputs, PredictsAFolderByATableOfSupportsTheSameOnAnyNumberOfRanks) {
  ASSERT_EQ(train_small("a", "cpu:2", {"stop.steps=6"}).code, 0);
  write_supports(two_supports);
  for (const int ranks : {1, 2}) {
    const ToolResult result =
        tool({"predict", "a", "images=data/valid", "supports=list.csv", "supports_of=data/train",
              "predict.score=0.01", cat("out=on", ranks), "--devices", cat("cpu:", ranks)});
    ASSERT_EQ(result.code, 0) << result.err;
  }
  const auto found = files("on1");
  EXPECT_TRUE(found == files("on2"));
  ASSERT_EQ(found.size(), 16U + 2);
  for (int i = 40; i < 56; ++i) {
    const std::string name = cat("made-000", i, ".jpg");
    ASSERT_TRUE(found.contains(name)) << name;
    EXPECT_GT(read_picture_shape(folder.path() / "on1" / name).width, 96);
  }
  const CsvTable table = read_csv(folder.path() / "on1/detections.csv");
  EXPECT_EQ(table.columns, std::vector<std::string>({"x_min", "y_min", "x_max", "y_max", "filename",
                                                     "class_name", "similarity_score"}));
  const json results = json::parse(found.at("detections.json"));
  ASSERT_EQ(results.size(), table.rows.size());
  ASSERT_FALSE(results.empty());
  for (const json& one : results) {
    EXPECT_TRUE(one.at("image_id") >= 41 && one.at("image_id") <= 56) << one;
    const json& box = one.at("bbox");
    EXPECT_GE(box.at(0).get<double>(), 0);
    EXPECT_LE(box.at(0).get<double>() + box.at(2).get<double>(), 96.001);
    EXPECT_LE(box.at(1).get<double>() + box.at(3).get<double>(), 80.001);
  }
  for (const auto& row : table.rows)
    EXPECT_TRUE(row.at(5) == "this" || row.at(5) == "that") << row.at(5);
  EXPECT_NEAR(std::stod(table.rows[0][2]) - std::stod(table.rows[0][0]),
              results[0].at("bbox").at(2).get<double>(), 1e-3);
}

TEST_F(FewshotOutputs, PredictsWithSupportsOfTheTrainingSetAndScoresThem) {
  ASSERT_EQ(train_small("a", "cpu:2", {"stop.steps=6"}).code, 0);
  const ToolResult result =
      tool({"predict", "a", "images=data/valid", "out=found", "predict.score=0.01"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err,
              HasSubstr("no supports are given: 1 of the run's training set for each of 12 "
                        "classes"));
  for (const char* predictions : {"found", "found/detections.json", "found/detections.csv"}) {
    const ToolResult score = tool(
        {"score", "fewshot", cat("predictions=", predictions), "truth=data/valid.json", "--json"});
    ASSERT_EQ(score.code, 0) << score.err;
    EXPECT_THAT(score.out, AllOf(HasSubstr("ap50"), HasSubstr("ap50 of star")));
  }
  // Of the validation set of data.path where nothing else is said.
  const ToolResult named = tool({"score", "fewshot", "predictions=found", "data.path=data"});
  EXPECT_EQ(named.code, 0) << named.err;
  EXPECT_THAT(named.out, ::testing::ContainsRegex("\nap_large +-\n")) << "no picture is so large";
  EXPECT_EQ(tool({"score", "fewshot", "predictions=found"}).code, 2);

  // Of other pictures, the ids of the json beside them. They say so, and are no other json's.
  json test = json::parse(read_file(data() / "valid.json"));
  test["images"].erase(test["images"].begin() + 2, test["images"].end());
  fs::create_directory(data() / "test");
  for (json& image : test["images"]) {
    fs::copy(data() / "valid" / image["file_name"], data() / "test" / image["file_name"]);
    image["id"] = 97 - image["id"].get<int>();  // 56 and 55, which valid.json has too
  }
  for (json& one : test["annotations"]) one["image_id"] = 97 - one["image_id"].get<int>();
  write_file_atomic(data() / "test.json", test.dump());
  ASSERT_EQ(tool({"predict", "a", "images=data/test", "out=tested", "predict.score=0.01"}).code, 0);
  const json entries = json::parse(read_file(folder.path() / "tested/detections.json"));
  ASSERT_FALSE(entries.empty());
  for (const json& one : entries) {
    EXPECT_EQ(one.at("image_id"), one.at("file_name") == "made-00040.png" ? 56 : 55) << one;
    EXPECT_TRUE(one.at("category_name").is_string());
  }
  const ToolResult right =
      tool({"score", "fewshot", "predictions=tested", "data.valid=data/test.json"});
  EXPECT_EQ(right.code, 0) << right.err;
  const ToolResult wrong = tool({"score", "fewshot", "predictions=tested", "data.path=data"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("entry 0 is of the picture made-000"));
}

// Two cameras that name their pictures alike, and a truth that counts them the other way round.
TEST_F(FewshotOutputs, NamesPicturesByTheirFoldersWhereTheyHaveSome) {
  ASSERT_EQ(train_small("a", "cpu:2", {"stop.steps=2"}).code, 0);
  json truth = json::parse(read_file(data() / "valid.json"));
  truth["images"].erase(truth["images"].begin() + 2, truth["images"].end());
  const char* const cameras[] = {"camB", "camA"};
  for (std::size_t i = 0; i < 2; ++i) {
    json& image = truth["images"][i];
    fs::create_directories(folder.path() / "imgs" / cameras[i]);
    fs::copy(data() / "valid" / image["file_name"],
             folder.path() / "imgs" / cameras[i] / "img.png");
    image["file_name"] = cat(cameras[i], "/img.png");
    for (json& one : truth["annotations"])
      if (one["image_id"] == image["id"]) one["image_id"] = i + 1;
    image["id"] = i + 1;
  }
  write_file_atomic(folder.path() / "truth.json", truth.dump());
  ASSERT_EQ(tool({"predict", "a", "images=imgs", "out=found", "predict.score=0.001"}).code, 0);
  for (const json& one : json::parse(read_file(folder.path() / "found/detections.json")))
    EXPECT_EQ(one.at("file_name"), one.at("image_id") == 1 ? "camA/img.png" : "camB/img.png");
  const ToolResult by_ids = tool({"score", "fewshot", "predictions=found", "truth=truth.json"});
  EXPECT_EQ(by_ids.code, 2) << by_ids.err;
  EXPECT_THAT(by_ids.err, HasSubstr("is of the picture cam"));
  const ToolResult by_names =
      tool({"score", "fewshot", "predictions=found/detections.csv", "truth=truth.json"});
  EXPECT_EQ(by_names.code, 0) << by_names.err;
}

TEST_F(FewshotOutputs, APredictionThatIsKilledGoesOnAndMakesNothingTwice) {
  if (!testing::has_kills_of(1)) GTEST_SKIP() << testing::in_another_tenth;
  ASSERT_EQ(train_small("a", "cpu:1", {"stop.steps=2"}).code, 0);
  testing::KilledPredictions predictions(
      {"a", "images=data/train", "predict.score=0.01", "--devices", "cpu:2"}, folder.path());
  predictions.run(1);
}

TEST_F(FewshotOutputs, PredictsValidationPicturesWhereNoneIsNamed) {
  ASSERT_EQ(train_small("a", "cpu:1", {"stop.steps=2"}).code, 0);
  const ToolResult result = tool({"predict", "a", "out=found"});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto found = files("found");
  EXPECT_TRUE(found.contains("made-00040.jpg") && found.contains("detections.csv"));
}

// They are known before there is a run.
TEST_F(FewshotOutputs, ThenPredictTakesValidationPicturesOfARunThatIsToBe) {
  const Words then{"stop.steps=2", "--resume", "auto", "--then", "predict", "stop.after=8h30m"};
  Words plan = small_words("a", "cpu:1", then);
  plan[0] = "plan";
  const ToolResult planned = tool(plan);
  ASSERT_EQ(planned.code, 0) << planned.err;
  const ToolResult trained = train_small("a", "cpu:1", then);
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr("predicted 16 items"));
  EXPECT_TRUE(files("runs/a/predictions").contains("made-00040.jpg"));
}

TEST_F(FewshotOutputs, AnExportPredictsAsItsRunDoes) {
  ASSERT_EQ(train_small("a", "cpu:1", {"stop.steps=3"}).code, 0);
  ASSERT_EQ(tool({"export", "a", "--out", "a.safetensors"}).code, 0);
  write_supports(two_supports);
  for (const char* of : {"a", "a.safetensors"}) {
    const ToolResult result =
        tool({"predict", of, "data/valid/made-00040.png", "supports=list.csv",
              "supports_of=data/train", "predict.score=0.01", cat("out=of-", of)});
    ASSERT_EQ(result.code, 0) << result.err;
  }
  EXPECT_TRUE(files("of-a") == files("of-a.safetensors"));
  EXPECT_THAT(testing::said_by_export(folder.path() / "a.safetensors"),
              Not(HasSubstr(folder.path().string())));
  // It knows the run's pictures again, but not where they lie.
  EXPECT_EQ(tool({"evaluate", "a.safetensors"}).code, 2);
  const ToolResult evaluated = tool({"evaluate", "a.safetensors", "data.path=data", "--json"});
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_THAT(evaluated.err, Not(HasSubstr("not the pictures")));
  for (const char* name : {"AP50_base", "AP50_novel"})
    EXPECT_EQ(json::parse(evaluated.out).at("metrics").at(name), metrics("a").at(name)) << name;
}

TEST_F(FewshotOutputs, SkipsPicturesThatCannotBeReadAndNamesThem) {
  ASSERT_EQ(train_small("a", "cpu:1", {"stop.steps=2"}).code, 0);
  const fs::path corpus = fs::path(LOCKSTEP_SOURCE_DIR) / "tests/fuzz/corpus/picture";
  fs::create_directory(folder.path() / "odd");
  for (const char* name :
       {"cmyk.jpg", "rgba16.png", "exif6.jpg", "cut_off.jpg", "bad_checksum.png", "huge.png"})
    fs::copy_file(corpus / name, folder.path() / "odd" / name);
  write_supports(two_supports);
  const ToolResult result = tool(
      {"predict", "a", "images=odd", "supports=list.csv", "supports_of=data/train", "out=found"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr("skipped 3 of 6"), HasSubstr("cut_off.jpg"),
                                HasSubstr("bad_checksum.png"), HasSubstr("huge.png")));
  const auto found = files("found");
  for (const char* name : {"cmyk.jpg", "rgba16.jpg", "exif6.jpg"})
    EXPECT_TRUE(found.contains(name)) << name;
  EXPECT_FALSE(found.contains("cut_off.jpg"));
}

TEST_F(FewshotOutputs, RefusesTablesOfSupportsWithLineAndReason) {
  ASSERT_EQ(train_small("a", "cpu:1", {"stop.steps=2"}).code, 0);
  const auto refused = [&](const std::string& text) {
    write_file_atomic(folder.path() / "list.csv", text);
    const ToolResult result = tool({"predict", "a", "data/valid/made-00040.png",
                                    "supports=list.csv", "supports_of=data/train", "out=found"});
    EXPECT_EQ(result.code, 2) << text << result.err;
    EXPECT_FALSE(fs::exists(folder.path() / "found"));
    return result.err;
  };
  EXPECT_THAT(refused("picture,class\nmade-00000.png,a\n"),
              AllOf(HasSubstr("list.csv has no column file"), HasSubstr("picture, class")));
  EXPECT_THAT(refused("file,x,y,w,h\nmade-00000.png,1,1,9,9\n"), HasSubstr("no column class"));
  EXPECT_THAT(refused("file,class\n"), HasSubstr("has no rows"));
  EXPECT_THAT(refused("file,class\nmade-99999.png,a\n"),
              AllOf(HasSubstr("list.csv, line 2"), HasSubstr("made-99999.png is not there")));
  EXPECT_THAT(
      refused("file,class,x,y,w,h\nmade-00000.png,a,1,1,9,9\nmade-00000.png,a,200,1,9,9\n"),
      AllOf(HasSubstr("list.csv, line 3"), HasSubstr("less than a pixel"), HasSubstr("96 x 80")));
  EXPECT_THAT(refused("file,class,x,y,w,h\nmade-00000.png,a,1,1,-9,9\n"),
              AllOf(HasSubstr("list.csv, line 2"), HasSubstr("less than a pixel")));
  EXPECT_THAT(refused("file,class,x,y,w,h\nmade-00000.png,a,1,1,9,\n"),
              AllOf(HasSubstr("list.csv, line 2"), HasSubstr("lacks 1 of its four numbers")));
  EXPECT_THAT(refused("file,class,x,y,w,h\nmade-00000.png,a,1,1,nine,9\n"),
              AllOf(HasSubstr("list.csv, line 2"), HasSubstr("nine")));
  EXPECT_THAT(refused("file,class,x,y,w\nmade-00000.png,a,1,1,9\n"),
              HasSubstr("list.csv has x, y and w, but not all of x, y, w and h"));
  EXPECT_THAT(refused("file,class,xmin,ymax\nmade-00000.png,a,1,1\n"),
              HasSubstr("has xmin and ymax, but not all of xmin, ymin, xmax and ymax"));
}

TEST_F(FewshotOutputs, FineTunesOnAFewBoxesOfNovelClasses) {
  ASSERT_EQ(train_small("base", "cpu:1", {"stop.steps=4"}).code, 0);
  const ToolResult tuned = train_small("tuned", "cpu:2",
                                       {"init.from=base", "data.classes=novel", "data.shots=3",
                                        "stop.steps=4", "eval.at_start=true"});
  ASSERT_EQ(tuned.code, 0) << tuned.err;
  // It begins where the other ends: the same episodes of the same classes give the same numbers.
  const json before = metrics("base"), at_start = events("tuned", "eval").front().at("metrics");
  EXPECT_EQ(at_start.at("AP50_base"), before.at("AP50_base"));
  const ToolResult none = train_small("few", "cpu:1", {"data.classes=novel", "data.shots=1"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("leaves nothing to find"));
}

// Five pictures, whose copies are the validation set. An untrained model has 0; after so many
// episodes AP50 was 0.46 to 1.00, by seed, processor and the order of sums.
TEST_F(FewshotOutputs, LearnsFivePicturesByHeart) {
  if (!testing::has_turn_twice(2)) GTEST_SKIP() << testing::in_another_tenth;
  fs::remove_all(data());
  const fewshot::MadeShapes five{.seed = 3, .pictures = 5, .height = 96, .width = 96};
  write_shapes("train", five);
  write_shapes("valid", five);
  const ToolResult trained = tool({"train",
                                   "fewshot",
                                   "--name",
                                   "a",
                                   "--devices",
                                   "cpu:2",
                                   "preset=small",
                                   "precision=fp32",
                                   "data.path=data",
                                   "data.base=cross,half-circle,square,triangle",
                                   "episode.n_way=2",
                                   "episode.k_shot=1",
                                   "episode.queries=3",
                                   "augment.flip=false",
                                   "augment.brightness=0",
                                   "augment.contrast=0",
                                   "optimizer.lr=3e-3",
                                   "optimizer.weight_decay=0",
                                   "stop.episodes=600",
                                   "evaluate.episodes=5"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_GE(metrics("a").at("AP50_base").get<double>(), 0.25);
}

}  // namespace
}  // namespace lockstep
