// The dimabsa recipe from the command to the files that a user keeps.
#include "fakes/killed_predictions.h"
#include "fakes/task_runs.h"
#include "fakes/tenths.h"

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "fakes/said_by_export.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::run_tool;
using testing::ToolResult;
namespace fs = std::filesystem;

constexpr const char* sentences =
    R"({"ID":"r1","Text":"The soup was great but the waiter was slow.","Quadruplet":[{"Aspect":"soup","Opinion":"great","Category":"FOOD#QUALITY","VA":"8.00#7.00"},{"Aspect":"waiter","Opinion":"slow","Category":"SERVICE#GENERAL","VA":"3.00#4.00"}]}
{"ID":"r2","Text":"Great place!","Quadruplet":[{"Aspect":"place","Opinion":"Great","Category":"RESTAURANT#GENERAL","VA":"8.20#7.10"}]}
{"ID":"r3","Text":"我喜欢这个汤。","Quadruplet":[{"Aspect":"汤","Opinion":"喜欢","Category":"FOOD#QUALITY","VA":"7.50#6.00"}]}
{"ID":"r4","Text":"Never again.","Quadruplet":[{"Aspect":"NULL","Opinion":"Never again","Category":"RESTAURANT#GENERAL","VA":"2.00#6.50"}]}
{"ID":"r5","Text":"The wine is cheap.","Quadruplet":[{"Aspect":"wine","Opinion":"cheap","Category":"DRINKS#PRICES","VA":"6.50#5.00"}]}
{"ID":"r6","Text":"The soup is bland and the wine is awful.","Quadruplet":[{"Aspect":"soup","Opinion":"bland","Category":"FOOD#QUALITY","VA":"3.10#3.90"},{"Aspect":"wine","Opinion":"awful","Category":"DRINKS#QUALITY","VA":"2.00#6.00"}]}
)";

class Dimabsa : public testing::TaskRuns {
 protected:
  Dimabsa() { write_file_atomic(file(), sentences); }
  fs::path file(const std::string& name = "eng_restaurant_train_task3.jsonl") const {
    return folder.path() / name;
  }
  ToolResult tool(const Words& words) const { return run_tool(words, folder.path()); }
  // An encoder that is quick, unless model.path has another one.
  ToolResult train_small(const std::string& name, const std::string& devices,
                         const Words& more) const {
    Words words{"train",     "dimabsa", "--name",         name,
                "--devices", devices,   "precision=fp32", "run.record_samples=true"};
    const bool has_model = std::any_of(more.begin(), more.end(), [](const std::string& word) {
      return word.starts_with("model.path=");
    });
    if (!has_model)
      words.insert(words.end(),
                   {"model.width=16", "model.layers=1", "model.heads=2", "model.vocabulary=300"});
    words.insert(words.end(), more.begin(), more.end());
    return tool(words);
  }
  ToolResult train_file(const std::string& name, const std::string& devices,
                        const Words& more) const {
    Words words{"task=3", "data.path=" + file().string(), "data.valid_path=" + file().string()};
    words.insert(words.end(), more.begin(), more.end());
    return train_small(name, devices, words);
  }
  double metric(const std::string& name, const std::string& metric) const {
    return events(name, "eval").back().at("metrics").at(metric).get<double>();
  }
};

// With dropout: it is drawn by a token's place in its row, not by the rank.
TEST_F(Dimabsa, HasOneCurveOnAnyNumberOfRanks) {
  for (const int ranks : {1, 2, 3}) {
    const ToolResult result =
        train_file(cat("on", ranks), cat("cpu:", ranks),
                   {"stop.steps=4", "schedule.kind=constant", "schedule.warmup=0", "batch.global=3",
                    "optimizer.kind=sgd", "optimizer.lr=1e-3", "model.dropout=0.1"});
    ASSERT_EQ(result.code, 0) << result.err;
  }
  expect_same_curve("on2", "on1", 1e-3);
  expect_same_curve("on3", "on1", 1e-3);
}

// Dropout makes the padding of a step 0, and a constant row has a deviation of almost 0.
TEST_F(Dimabsa, TrainsWithDropoutInFp16) {
  const Words words{"stop.epochs=8", "batch.global=3", "model.dropout=0.1", "precision=fp16"};
  ASSERT_EQ(train_file("low", "cpu:2", words).code, 0);
  EXPECT_TRUE(events("low", "step").back().at("grad_norm").is_number());
}

// The six passes of one sentence are rows on two devices.
TEST_F(Dimabsa, TrainsOneSentenceAStepOnTwoRanks) {
  const Words one{"task=2", "batch.global=1", "stop.steps=5"};
  for (const int ranks : {1, 2})
    ASSERT_EQ(train_file(cat("on", ranks), cat("cpu:", ranks), one).code, 0);
  expect_same_curve("on2", "on1", 1e-3);
}

TEST_F(Dimabsa, GoesOnWithTheSameSentences) {
  const Words words{"stop.steps=6", "schedule.kind=constant", "schedule.warmup=0",
                    "batch.global=2"};
  ASSERT_EQ(train_file("whole", "cpu:1", words).code, 0);
  Words part = words;
  part[0] = "stop.steps=3";
  ASSERT_EQ(train_file("part", "cpu:1", part).code, 0);
  const ToolResult rest = tool({"resume", "part", "stop.steps=6", "--devices", "cpu:2"});
  ASSERT_EQ(rest.code, 0) << rest.err;
  expect_same_curve("part", "whole", 1e-3);
  write_file_atomic(file(),
                    std::string(sentences) + R"({"ID":"r7","Text":"More.","Quadruplet":[]})");
  const ToolResult changed = tool({"resume", "part", "stop.steps=8"});
  EXPECT_EQ(changed.code, 2);
  EXPECT_THAT(changed.err, HasSubstr("have changed since it began"));
  // Where nothing is left to train, too.
  Words again = words;
  again.insert(again.end(), {"--resume", "auto", "--then", "evaluate"});
  const ToolResult over = train_file("whole", "cpu:1", again);
  EXPECT_EQ(over.code, 2);
  EXPECT_THAT(over.err, HasSubstr("have changed since it began"));
}

TEST_F(Dimabsa, LeavesTablesAndPicturesAndPredictsTheSameOnAnyNumberOfRanks) {
  if (!testing::has_turn_twice(2)) GTEST_SKIP() << testing::in_another_tenth;
  const ToolResult trained =
      train_file("a", "cpu:2", {"batch.global=6", "stop.epochs=8", "--then", "evaluate"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const fs::path evaluation = run("a") / "evaluations/step-000000008";
  const std::string of_training = read_file(evaluation / "items.csv");
  for (const char* name : {"items.csv", "null.csv", "categories.csv"})
    EXPECT_TRUE(fs::exists(evaluation / name)) << name;
  for (const char* name : {"valence-arousal.svg", "sentences.html"})
    EXPECT_TRUE(fs::exists(run("a") / "media/step-000000008" / name)) << name;

  // With a file that is named, even the run's own, or with other contents of it, the table is
  // another.
  for (const std::string bare : {"threshold", "beta"})
    EXPECT_THAT(tool({"evaluate", "a", bare + "=0.3"}).err,
                HasSubstr("hint: did you mean predict." + bare + "?"));
  const Words own_file{"evaluate", "a", "data.path=" + file().string(), "predict.beta=0"};
  const ToolResult named = tool(own_file);
  ASSERT_EQ(named.code, 0) << named.err;
  EXPECT_THAT(named.err, HasSubstr("evaluations/step-000000008-"));
  const std::string lines_before = read_file(file());
  write_file_atomic(file(), std::string(sentences) + R"({"ID":"r7","Text":"x","Quadruplet":[]})");
  const ToolResult changed = tool({"evaluate", "a"});
  ASSERT_EQ(changed.code, 0) << changed.err;
  EXPECT_THAT(changed.err, HasSubstr("evaluations/step-000000008-"));
  write_file_atomic(file(), lines_before);
  EXPECT_EQ(read_file(evaluation / "items.csv"), of_training);
  const ToolResult again = tool({"evaluate", "a"});
  EXPECT_EQ(again.out, trained.out);
  EXPECT_THAT(again.out, HasSubstr("\nwithout NULL"));
  EXPECT_THAT(again.err, HasSubstr("evaluations/step-000000008/items.csv"));
  EXPECT_EQ(read_file(evaluation / "items.csv"), of_training);
  // The run and its cache lie elsewhere: that is no other data.
  fs::rename(folder.path() / "runs", folder.path() / "moved");
  EXPECT_THAT(tool({"evaluate", "moved/a"}).err,
              HasSubstr("moved/a/evaluations/step-000000008/items.csv"));
  fs::rename(folder.path() / "moved", folder.path() / "runs");

  write_file_atomic(file("test.txt"),
                    R"({"ID":"t1","Text":"The wine was great."}
{"ID":"t2","Text":"我喜欢这个汤。"}
Just a text, cheap and awful.
)");
  for (const int ranks : {1, 2}) {
    const ToolResult predicted =
        tool({"predict", "a", "data.path=" + file("test.txt").string(), cat("out=on", ranks),
              "predict.threshold=0.2", "predict.beta=0", "submission=submission.zip", "--devices",
              cat("cpu:", ranks)});
    ASSERT_EQ(predicted.code, 0) << predicted.err;
  }
  const std::string name = "subtask_3/pred_eng_restaurant.jsonl";
  const std::string lines = read_file(folder.path() / "on1" / name);
  EXPECT_EQ(lines, read_file(folder.path() / "on2" / name));
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 3);
  EXPECT_THAT(lines, ::testing::AllOf(HasSubstr("\"t1\""), HasSubstr("Quadruplet")));
  EXPECT_TRUE(fs::exists(folder.path() / "on1/submission.zip"));
}

TEST_F(Dimabsa, MakesOneSubmissionOfSeveralLanguagesAndDomains) {
  ASSERT_EQ(train_file("a", "cpu:1", {"stop.steps=1"}).code, 0);
  const std::string line = R"({"ID":"t1","Text":"The wine was great."})";
  const Words names{"eng_laptop_test_task3.jsonl", "zho_hotel_test_task3.jsonl",
                    "eng_laptop_dev_task3.jsonl", "more.jsonl"};
  for (const std::string& name : names)
    write_file_atomic(file(name), name == names[2] ? R"({"ID":"d1","Text":"Slow."})" : line);
  const auto predict = [&](const std::string& devices) {
    const ToolResult result =
        tool({"predict", "a", file(names[0]).string(), file(names[1]).string(),
              file(names[2]).string(), file(names[3]).string(), "out=" + devices,
              "submission=submission.zip", "--devices", devices});
    ASSERT_EQ(result.code, 0) << result.err;
  };
  predict("cpu:1");
  predict("cpu:2");
  for (const auto& [name, lines] : std::map<std::string, std::int64_t>{
           {"eng_laptop", 2}, {"zho_hotel", 1}, {"eng_restaurant", 1}}) {
    const std::string path = cat("subtask_3/pred_", name, ".jsonl");
    const std::string found = read_file(folder.path() / "cpu:1" / path);
    EXPECT_EQ(std::count(found.begin(), found.end(), '\n'), lines) << name;
    EXPECT_EQ(found, read_file(folder.path() / "cpu:2" / path));
    EXPECT_THAT(read_file(folder.path() / "cpu:1/submission.zip"), HasSubstr(path));
  }
}

TEST_F(Dimabsa, SkipsLinesThatAreNoSentences) {
  ASSERT_EQ(train_file("a", "cpu:1", {"stop.steps=1"}).code, 0);
  write_file_atomic(file("bad.jsonl"), R"({"ID":"t1","Text":"The wine was great."}
{"ID":"t2"}
{"ID":"t1","Text":"Again."}
)");
  const ToolResult predicted = tool({"predict", "a", file("bad.jsonl").string(), "out=out"});
  EXPECT_EQ(predicted.code, 1);
  EXPECT_THAT(predicted.err, ::testing::AllOf(HasSubstr("bad.jsonl:2:"), HasSubstr("comes twice"),
                                              HasSubstr("skipped 2 of 3")));
}

// A recipe that can learn learns six sentences by heart.
TEST_F(Dimabsa, LearnsAFewSentencesByHeartAndScoresThem) {
  const ToolResult trained = train_file(
      "a", "cpu:2",
      {"model.width=64", "model.heads=4", "model.layers=2", "batch.global=6", "stop.epochs=150",
       "schedule.warmup=15", "eval.every_epochs=150", "checkpoint.every_epochs=0"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_GE(metric("a", "f1"), 0.99);
  const ToolResult evaluated = tool({"evaluate", "a", "--json"});
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_EQ(nlohmann::json::parse(evaluated.out).at("metrics").at("f1"), metric("a", "f1"));

  ASSERT_EQ(tool({"predict", "a", file().string(), "out=out"}).code, 0);
  const std::string lines = read_file(folder.path() / "out/subtask_3/pred_eng_restaurant.jsonl");
  EXPECT_THAT(lines,
              ::testing::AllOf(HasSubstr("喜欢"), HasSubstr("Never again"), HasSubstr("NULL")));
  const ToolResult scored = tool(
      {"score", "dimabsa", "predictions=out", "data.path=" + file().string(), "task=3", "--json"});
  ASSERT_EQ(scored.code, 0) << scored.err;
  EXPECT_THAT(scored.out, HasSubstr("cf1"));

  write_file_atomic(
      file("gold.jsonl"),
      R"({"ID":"g1","Text":"The soup was great.","Quadruplet":[{"Aspect":"soup","Opinion":"great","Category":"FOOD#QUALITY","VA":"8.00#7.00"}]})");
  const ToolResult other = tool({"evaluate", "a", "data.path=" + file("gold.jsonl").string()});
  ASSERT_EQ(other.code, 0) << other.err;
  EXPECT_THAT(other.err, HasSubstr("this one is evaluated"));
  EXPECT_THAT(other.out, ::testing::ContainsRegex("\nnull\ngroup .* cf1 .*\naspect NULL +0 "));
  EXPECT_THAT(other.out, HasSubstr("\nwithout NULL"));
  EXPECT_THAT(other.out, ::testing::ContainsRegex("\ncategories\ngroup .*\nFOOD#QUALITY +1 "));

  // Of an export, which has no folder for them, and for programs.
  ASSERT_EQ(tool({"export", "a", "--out", "a.model"}).code, 0);
  const ToolResult exported =
      tool({"evaluate", "a.model", "data.path=" + file("gold.jsonl").string(), "--json"});
  ASSERT_EQ(exported.code, 0) << exported.err;
  const auto tables = nlohmann::json::parse(exported.out).at("tables");
  EXPECT_EQ(tables.at("categories").at(0).at("group"), "FOOD#QUALITY");
  EXPECT_EQ(tables.at("null").size(), 3U);
}

// F1 was 1.00 with this seed (42) on two ranks.
TEST_F(Dimabsa, LearnsTheFortySentencesByHeart) {
  if (!testing::has_turn(6)) GTEST_SKIP() << testing::in_another_tenth;
  const std::string data =
      std::string(LOCKSTEP_BUILD_DIR) + "/share/lockstep/dimabsa/forty_sentences.jsonl";
  const ToolResult trained =
      tool({"train", "dimabsa", "--name", "a", "--devices", "cpu:2", "precision=fp32", "task=3",
            "data.path=" + data, "data.valid_path=" + data, "batch.global=10", "stop.epochs=40",
            "schedule.warmup=4", "eval.every_epochs=40"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_GE(metric("a", "f1"), 0.95);
  EXPECT_LE(metric("a", "rmse_va"), 0.6);
}

TEST_F(Dimabsa, RefusesWhatCannotBeBeforeThereIsARun) {
  const auto refused = [&](const std::string& line, const Words& more = {}) {
    write_file_atomic(file("bad.jsonl"), std::string(sentences) + line + "\n");
    Words words{"task=3", "data.path=" + file("bad.jsonl").string()};
    words.insert(words.end(), more.begin(), more.end());
    const ToolResult result = train_small("bad", "cpu:1", words);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_FALSE(fs::exists(run("bad")));
    return result.err;
  };
  write_file_atomic(file("categories.txt"), "FOOD#QUALITY\nSERVICE#GENERAL\nRESTAURANT#GENERAL\n");
  EXPECT_THAT(refused("", {"data.categories=" + file("categories.txt").string()}),
              HasSubstr("DRINKS#PRICES"));
  const auto with_va = [](const std::string& va) {
    return cat(
        R"({"ID":"x","Text":"Nice soup","Quadruplet":[{"Aspect":"soup","Opinion":"Nice","Category":"A#B","VA":")",
        va, R"("}]})");
  };
  EXPECT_THAT(refused(with_va("9.50#3.00")), HasSubstr("bad.jsonl:7:"));
  EXPECT_THAT(refused(with_va("high")), HasSubstr("bad.jsonl:7:"));
  EXPECT_THAT(refused(R"({"ID":"r1","Text":"Twice","Quadruplet":[]})"), HasSubstr("r1"));
  EXPECT_THAT(refused(R"({"ID":"x","Text":"","Quadruplet":[]})"), HasSubstr("bad.jsonl:7:"));
  const std::string absent =
      R"({"ID":"x","Text":"Nice soup","Quadruplet":[{"Aspect":"tea","Opinion":"Nice","Category":"A#B","VA":"7.00#5.00"}]})";
  EXPECT_THAT(refused(absent, {"data.not_found=refuse"}), HasSubstr("tea"));
  write_file_atomic(file("bad.jsonl"), std::string(sentences) + absent + "\n");
  const ToolResult kept = train_small(
      "kept", "cpu:1", {"task=3", "data.path=" + file("bad.jsonl").string(), "stop.steps=1"});
  EXPECT_EQ(kept.code, 0) << kept.err;
  EXPECT_THAT(kept.err, HasSubstr("NULL"));
}

TEST_F(Dimabsa, PlansForGpusThatAreNotThereWhetherTheyPay) {
  const auto plan = [&](const std::string& devices) {
    const ToolResult result = tool({"plan", "dimabsa", "--devices", devices, "task=3",
                                    "data.path=" + file().string(), "batch.global=1", "--json"});
    EXPECT_EQ(result.code, 0) << result.err;
    return nlohmann::json::parse(result.out).at("notes").dump();
  };
  EXPECT_THAT(plan("2xT4"), ::testing::AllOf(HasSubstr("2 GPUs do not pay at batch.global = 1"),
                                             HasSubstr("over PCIe 3 x16, which is assumed,"),
                                             HasSubstr("one alone is faster at this batch: "
                                                       "--devices 0")));
  EXPECT_THAT(plan("2xH100"), HasSubstr("depends on what joins them, which is not known"));
}

TEST_F(Dimabsa, SaysThatAPlanIsOfWhatIsBuiltIn) {
  const auto notes = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"plan", "dimabsa", "task=3", "--devices", "2xT4", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const ToolResult result = tool(words);
    EXPECT_EQ(result.code, 0) << result.err;
    return nlohmann::json::parse(result.out).at("notes").get<std::vector<std::string>>();
  };
  const std::vector<std::string> both = notes({});
  EXPECT_EQ(both.front(),
            "the numbers of this plan are for synthetic sentences and a small BERT (built in); for "
            "those of your own add data.path=FILE model.path=FOLDER");
  EXPECT_THAT(both, ::testing::Contains(::testing::AllOf(
                        HasSubstr("2 GPUs do not pay"),
                        HasSubstr("; this is for synthetic sentences and a small BERT"))));
  const std::string data = "data.path=" + file().string();
  EXPECT_THAT(notes({data}).front(), HasSubstr("are for a small BERT (built in); for those of your "
                                               "own add model.path=FOLDER"));
  EXPECT_THAT(
      notes({data, "model.width=64"}),
      ::testing::Each(::testing::AllOf(Not(HasSubstr("built in")), Not(HasSubstr("this is for")))));
  const auto is_note = [](const std::string& note) { return note.find("(built in)") != note.npos; };
  EXPECT_EQ(std::count_if(both.begin(), both.end(), is_note), 1);
  const std::string table = tool({"plan", "dimabsa", "--table"}).err;
  EXPECT_THAT(table, HasSubstr("(built in)"));
  EXPECT_EQ(table.find("(built in)"), table.rfind("(built in)")) << table;
}

TEST_F(Dimabsa, TellsATextThatIsCut) {
  const ToolResult cut = train_file("a", "cpu:1", {"stop.steps=1", "data.cut=4"});
  ASSERT_EQ(cut.code, 0) << cut.err;
  EXPECT_THAT(cut.err, HasSubstr("longer than data.cut=4 pieces"));
}

TEST_F(Dimabsa, PredictsValenceAndArousalOfGivenAspects) {
  const ToolResult trained = train_small("a", "cpu:2",
                                         {"task=1", "data.path=" + file().string(),
                                          "data.valid_path=" + file().string(), "stop.steps=4"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_GT(metric("a", "rmse_va"), 0);
  write_file_atomic(file("test.jsonl"),
                    R"({"ID":"t1","Text":"The wine was great.","Aspect":["wine","Wine list"]})"
                    "\n");
  const ToolResult refused = tool({"resume", "a", "data.language=zho"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("for what is predicted, set predict.language"));
  ASSERT_EQ(tool({"predict", "a", file("test.jsonl").string(), "out=out", "data.language=zho",
                  "domain=hotel"})
                .code,
            0);
  EXPECT_THAT(read_file(folder.path() / "out/subtask_1/pred_zho_hotel.jsonl"),
              ::testing::AllOf(HasSubstr("Aspect_VA"), HasSubstr("Wine list")));
}

TEST_F(Dimabsa, StartsFromAModelFolderAndRefusesWrongOnes) {
  const Words words{"batch.global=6", "stop.epochs=40", "model.dropout=0", "eval.every_epochs=40"};
  ASSERT_EQ(train_file("a", "cpu:1", words).code, 0);
  fs::create_directory(folder.path() / "m");
  const ToolResult exported = tool({"export", "a", "--out", "m/model.safetensors"});
  ASSERT_EQ(exported.code, 0) << exported.err;
  for (const char* name : {"config.json", "vocab.txt", "tokenizer_config.json"})
    fs::copy_file(run("a") / "recipe" / name, folder.path() / "m" / name);
  const std::string model = "model.path=" + (folder.path() / "m").string();
  const ToolResult trained =
      train_file("b", "cpu:2", {model, "batch.global=6", "stop.steps=1", "eval.at_start=true"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr("the encoder learns at 0.01 of optimizer.lr"));
  EXPECT_EQ(events("b", "eval").front().at("metrics"), events("a", "eval").back().at("metrics"));
  EXPECT_LT(steps("b").begin()->second.at("loss").get<double>(),
            0.5 * steps("a").begin()->second.at("loss").get<double>());

  // A run has its own copy: the folder may move, and no other one has an effect.
  fs::copy(folder.path() / "m", folder.path() / "moved", fs::copy_options::recursive);
  EXPECT_EQ(tool({"evaluate", "b", "model.path=moved"}).code, 0);
  EXPECT_EQ(tool({"evaluate", "b", model}).code, 0);
  fs::rename(folder.path() / "m", folder.path() / "away");
  EXPECT_EQ(tool({"evaluate", "b", model}).code, 0) << "as if it were left out";
  EXPECT_EQ(tool({"evaluate", "b", model + "/"}).code, 0);
  fs::rename(folder.path() / "away", folder.path() / "m");
  for (const Words& command : {Words{"resume", "b", "stop.steps=2"}, Words{"evaluate", "b"},
                               Words{"predict", "b", file().string(), "out=never"}}) {
    Words other = command;
    other.push_back("model.path=nowhere");
    const ToolResult refused = tool(other);
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("model.path cannot change when a run goes on"));
  }

  const std::string vocabulary = read_file(folder.path() / "m/vocab.txt");
  write_file_atomic(folder.path() / "m/vocab.txt", vocabulary + "more\n");
  const ToolResult larger = train_file("c", "cpu:1", {model, "stop.steps=1"});
  EXPECT_EQ(larger.code, 2);
  EXPECT_THAT(larger.err, HasSubstr("word embeddings"));
  EXPECT_FALSE(fs::exists(run("c")));

  // All that is missing is named at once.
  write_file_atomic(folder.path() / "m/vocab.txt", vocabulary);
  const std::string header =
      R"({"embeddings.LayerNorm.weight":{"dtype":"F32","shape":[16],"data_offsets":[0,64]}})";
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size());
  write_file_atomic(folder.path() / "m/model.safetensors", bytes + header + std::string(64, '\0'));
  const ToolResult missing = train_file("d", "cpu:1", {model, "stop.steps=1"});
  EXPECT_EQ(missing.code, 2) << missing.err;
  EXPECT_THAT(missing.err, ::testing::AllOf(HasSubstr("word_embeddings"), HasSubstr("query"),
                                            Not(HasSubstr("heads."))));
}

TEST_F(Dimabsa, KeepsWhatPredictionNeedsInAnExport) {
  ASSERT_EQ(train_file("a", "cpu:1", {"stop.steps=2"}).code, 0);
  ASSERT_EQ(tool({"export", "a", "--out", "a.safetensors"}).code, 0);
  EXPECT_THAT(testing::said_by_export(folder.path() / "a.safetensors"),
              Not(HasSubstr(folder.path().string())));
  for (const char* of : {"a", "a.safetensors"})
    ASSERT_EQ(tool({"predict", of, file().string(), cat("out=", of, "-out"), "predict.beta=0",
                    "predict.threshold=0.2"})
                  .code,
              0);
  const std::string name = "subtask_3/pred_eng_restaurant.jsonl";
  EXPECT_EQ(read_file(folder.path() / "a-out" / name),
            read_file(folder.path() / "a.safetensors-out" / name));
}

TEST_F(Dimabsa, APredictionThatIsKilledGoesOnAndMakesNothingTwice) {
  if (!testing::has_kills_of(2)) GTEST_SKIP() << testing::in_another_tenth;
  ASSERT_EQ(train_file("a", "cpu:1", {"stop.steps=2"}).code, 0);
  std::string many;
  for (int i = 0; i < 3000; ++i)
    many += cat(R"({"ID":"m)", i, R"(","Text":"The soup was great )", i, R"( times."})", "\n");
  write_file_atomic(file("many.jsonl"), many);
  testing::KilledPredictions predictions(
      {"a", file("many.jsonl").string(), "submission=all.zip", "--devices", "cpu:2"},
      folder.path());
  predictions.run(2);
}

}  // namespace
}  // namespace lockstep
