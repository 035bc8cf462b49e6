// From files of sentences to what the worker reads, and what a run keeps.
#include "recipes/dimabsa/prepare/prepare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "recipes/dimabsa/options/encoded.h"
#include "recipes/dimabsa/prepare/encode.h"
#include "recipes/dimabsa/prepare/load.h"
#include "recipes/dimabsa/prepare/model_folder.h"
#include "recipes/dimabsa/tokens/tokenizer.h"
#include "runtime/run/checkpoint/weight_source.h"

namespace lockstep::dimabsa {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return cat(error.what(), " | ", error.hint());
  }
  return {};
}

class DimabsaPrepare : public ::testing::Test {
 protected:
  DimabsaPrepare() {
    options.task_number = 3;
    options.data.path = path("eng_restaurant_train_task3.jsonl").string();
    options.model.vocabulary = 200;
    write(options.data.path, lines);
    fs::create_directories(path("cache"));
  }
  fs::path path(const std::string& name) const { return folder.path() / name; }
  static void write(const fs::path& file, const std::vector<std::string>& all) {
    write_file_atomic(file, join(all, "\n") + "\n");
  }
  Prepared prepare(Purpose purpose = Purpose::train, const fs::path& run = {}) {
    said.clear();
    return prepare_sentences(options,
                             {.purpose = purpose,
                              .cache_dir = path("cache"),
                              .run_dir = run,
                              .say = [&](const std::string& line) { said += line + "\n"; }});
  }
  void ask(const char* key, const std::string& value) {
    options.table.set(key, value, {.kind = ValueSource::Kind::argument});
  }
  static std::vector<EncodedSentence> sentences_of(const Prepared& prepared, const char* part) {
    return read_encoded(prepared.extra.at(part).get<std::string>());
  }
  fs::path make_run(const Prepared& prepared) const {
    const fs::path run = path("run");
    fs::create_directories(run / "recipe");
    for (const fs::path& file : prepared.keep)
      fs::copy_file(file, run / "recipe" / file.filename(), fs::copy_options::overwrite_existing);
    return run;
  }

  std::vector<std::string> lines{
      R"({"ID":"1","Text":"The fish soup was great, really great.","Quadruplet":[{"Aspect":"fish soup","Opinion":"really great","Category":"FOOD#QUALITY","VA":"8.00#7.00"}]})",
      R"({"ID":"2","Text":"Never again","Quadruplet":[{"Aspect":"NULL","Opinion":"Never again","Category":"RESTAURANT#GENERAL","VA":"2.00#6.50"}]})",
      R"({"ID":"3","Text":"Slow waiter","Quadruplet":[{"Aspect":"waiter","Opinion":"Slow","Category":"SERVICE#GENERAL","VA":"3.00#4.00"}]})",
      R"({"ID":"4","Text":"Nothing to say","Quadruplet":[]})",
      R"({"ID":"5","Text":"好汤","Quadruplet":[{"Aspect":"汤","Opinion":"好","Category":"FOOD#QUALITY","VA":"7.00#5.00"}]})"};
  TemporaryDirectory folder;
  DimabsaOptions options;
  std::string said;
};

TEST_F(DimabsaPrepare, SplitsAlikeEachTimeAndLosesNothing) {
  const std::vector<bool> valid = choose_valid(100, 0.2, 42);
  EXPECT_EQ(std::count(valid.begin(), valid.end(), true), 20);
  EXPECT_EQ(valid, choose_valid(100, 0.2, 42));
  EXPECT_NE(valid, choose_valid(100, 0.2, 43));
  const auto count = [](std::size_t n, double share) {
    const std::vector<bool> chosen = choose_valid(n, share, 1);
    return std::count(chosen.begin(), chosen.end(), true);
  };
  EXPECT_EQ(count(2, 0.2), 1);
  EXPECT_EQ(count(1, 0.2), 0);
  EXPECT_EQ(count(5, 0), 0);
}

TEST_F(DimabsaPrepare, OfSeveralFilesSaysHowToPutThemTogether) {
  for (const std::string& several :
       {folder.path().string(), path("a.jsonl,b.jsonl").string(), path("*.jsonl").string()}) {
    options.data.path = several;
    EXPECT_THAT(error_of([&] { prepare(); }), HasSubstr("sentences are read from one file, but "))
        << several;
  }
  options.data.path = path("a,b.jsonl").string();  // a name like any other
  write(options.data.path, lines);
  EXPECT_EQ(error_of([&] { prepare(); }), "");
}

TEST_F(DimabsaPrepare, TheHashOfTheDataIsOfItsContentAlone) {
  const std::string hash = prepare().data_hash;
  EXPECT_EQ(hash.size(), 32U);
  fs::create_directories(path("elsewhere"));
  options.data.path = path("elsewhere/eng_restaurant_train_task3.jsonl").string();
  write(options.data.path, lines);
  EXPECT_EQ(prepare().data_hash, hash);
  lines.pop_back();
  write(options.data.path, lines);
  EXPECT_NE(prepare().data_hash, hash);
}

TEST_F(DimabsaPrepare, EncodesPhrasesAsThePiecesThatHoldThem) {
  options.data.valid_path = options.data.path;
  const Prepared prepared = prepare();
  const std::vector<EncodedSentence> train = sentences_of(prepared, "train");
  ASSERT_EQ(train.size(), 5U);
  for (const EncodedSentence& sentence : train)
    for (std::size_t i = 0; i < sentence.tuples.size(); ++i) {
      const auto part = [&](const PieceSpan& span) {
        if (span.is_null()) return std::string("NULL");
        const auto begin =
            static_cast<std::size_t>(sentence.begins[static_cast<std::size_t>(span.first)]);
        const auto end =
            static_cast<std::size_t>(sentence.ends[static_cast<std::size_t>(span.last)]);
        return sentence.sentence.text.substr(begin, end - begin);
      };
      EXPECT_EQ(part(sentence.tuples[i].aspect), sentence.sentence.tuples[i].aspect);
      EXPECT_EQ(part(sentence.tuples[i].opinion), sentence.sentence.tuples[i].opinion);
    }
  EXPECT_TRUE(train[1].tuples[0].aspect.is_null());
  EXPECT_EQ(prepared.facts.rows_per_sample, 7);
  EXPECT_EQ(prepared.facts.train_samples, 5);
  EXPECT_THAT(prepared.extra.at("categories"),
              ElementsAre("FOOD#QUALITY", "RESTAURANT#GENERAL", "SERVICE#GENERAL"));
}

// The tokenizer drops variation selectors and accents; phrases keep them.
TEST_F(DimabsaPrepare, KeepsMarksBehindAPiece) {
  const std::unique_ptr<Tokenizer> tokenizer =
      open_tokenizer(fs::path(prepare().keep[0]).parent_path());
  const std::string heart = "\u2764\uFE0F", accented = "cafe\u0301";
  const auto encode = [&](const std::string& aspect, const std::string& opinion,
                          const std::string& text, std::int64_t cut, EncodeNotes& notes) {
    Sentence sentence{.text = text};
    sentence.tuples = {{.aspect = aspect, .opinion = opinion}};
    return SentenceEncoder(*tokenizer, {}, cut).encode(sentence, notes);
  };
  const auto bytes = [](const EncodedSentence& sentence, const PieceSpan& span) {
    if (span.is_null()) return std::string(null_phrase);
    const auto begin = sentence.begins[static_cast<std::size_t>(span.first)];
    const auto end = sentence.ends[static_cast<std::size_t>(span.last)];
    return sentence.sentence.text.substr(static_cast<std::size_t>(begin),
                                         static_cast<std::size_t>(end - begin));
  };
  for (const std::string& text :
       {accented + " was " + heart, heart + " the " + accented, heart + "," + accented + "!"}) {
    EncodeNotes notes;
    const EncodedSentence encoded = encode(accented, heart, text, 99, notes);
    EXPECT_EQ(bytes(encoded, encoded.tuples[0].aspect), accented) << text;
    EXPECT_EQ(bytes(encoded, encoded.tuples[0].opinion), heart) << text;
    EXPECT_FALSE(encoded.cut);
    EXPECT_FALSE(sentence_from_json(to_json(encoded)).cut);
    EXPECT_THAT(words_of(notes, "the data", 99),
                ::testing::Not(::testing::Contains(HasSubstr("NULL"))));
  }
  EncodeNotes notes;
  const EncodedSentence whole = encode("soup", "NULL", "the soup " + heart, 99, notes);
  const EncodedSentence cut = encode(heart, "soup", "the soup " + heart, whole.size() - 1, notes);
  EXPECT_TRUE(sentence_from_json(to_json(cut)).cut);
  EXPECT_TRUE(cut.tuples[0].aspect.is_null());
  EXPECT_EQ(bytes(cut, cut.tuples[0].opinion), "soup");
  EXPECT_EQ(notes.cut, 1);
  EXPECT_EQ(notes.beyond_cut, 1);
  EXPECT_EQ(notes.without_pieces, 0);
}

TEST_F(DimabsaPrepare, SaysWhichPhrasesHaveNoPiece) {
  const std::unique_ptr<Tokenizer> tokenizer =
      open_tokenizer(fs::path(prepare().keep[0]).parent_path());
  const std::string nothing = "\u200B\u200B";
  Sentence sentence{.text = nothing + " soup"};
  sentence.tuples = {{.aspect = "soup", .opinion = nothing}};
  EncodeNotes notes;
  const EncodedSentence encoded = SentenceEncoder(*tokenizer, {}, 99).encode(sentence, notes);
  EXPECT_TRUE(encoded.tuples[0].opinion.is_null());
  EXPECT_FALSE(encoded.tuples[0].aspect.is_null());
  EXPECT_THAT(words_of(notes, "the data", 99),
              ::testing::Contains(HasSubstr("1 aspect or opinion counts as NULL")));
}

TEST_F(DimabsaPrepare, QueriesHoldPlacesForTheirPhrases) {
  const Prepared prepared = prepare();
  const EncodedQueries queries = queries_from_json(prepared.extra.at("queries"));
  const auto places = [&](Pass pass) {
    std::vector<std::int64_t> found;
    for (const std::int64_t token : queries.tokens[static_cast<std::size_t>(pass)])
      if (token < 0) found.push_back(token);
    return found;
  };
  EXPECT_THAT(places(Pass::aspects), ElementsAre());
  EXPECT_THAT(places(Pass::opinion_of), ElementsAre(aspect_place));
  EXPECT_THAT(places(Pass::aspect_of), ElementsAre(opinion_place));
  EXPECT_THAT(places(Pass::category), ElementsAre(aspect_place, opinion_place));
  EXPECT_EQ(queries.null.size(), 1U);  // the learned vocabulary knows the queries' words
  const EncodedQueries of_aspects =
      make_queries(*open_tokenizer(fs::path(prepared.keep[0]).parent_path()), Task::aspects);
  EXPECT_EQ(std::count(of_aspects.tokens[5].begin(), of_aspects.tokens[5].end(), opinion_place), 0);
}

TEST_F(DimabsaPrepare, FindsWhatItPreparedAndNoticesAChange) {
  const Prepared first = prepare();
  EXPECT_EQ(prepare().extra.at("train"), first.extra.at("train"));
  lines.push_back(R"({"ID":"6","Text":"More","Quadruplet":[]})");
  write(options.data.path, lines);
  EXPECT_NE(prepare().extra.at("train"), first.extra.at("train"));
}

TEST_F(DimabsaPrepare, GoesOnWithTheSameSentencesAlone) {
  const Prepared first = prepare();
  const fs::path run = make_run(first);
  const Prepared again = prepare(Purpose::train, run);
  EXPECT_EQ(sentences_of(again, "train").size(), sentences_of(first, "train").size());
  EXPECT_EQ(again.extra.at("longest_span"), first.extra.at("longest_span"));
  lines.pop_back();
  write(options.data.path, lines);
  EXPECT_THAT(error_of([&] { prepare(Purpose::train, run); }), HasSubstr("have changed"));
}

TEST_F(DimabsaPrepare, TakesModelPathOfARunAsAnotherPlaceOfTheSameFilesAlone) {
  const fs::path run = make_run(prepare());
  const fs::path moved = path("moved");
  fs::copy(run / "recipe", moved);
  write_file_atomic(moved / "model.bin", "weights");
  nlohmann::json record{
      {"config", {{"model.path", path("model").string()}}},
      {"extra", {{"weights", to_json(find_weight_source(moved, false, false), true)}}}};
  write_file_atomic(run / "run.json", record.dump());
  const auto refused = [&](const fs::path& folder) {
    ask("model.path", folder.string());
    std::string error;
    for (const Purpose purpose : {Purpose::train, Purpose::evaluate, Purpose::predict}) {
      const std::string next = error_of([&] { prepare(purpose, run); });
      if (purpose != Purpose::train) EXPECT_EQ(next, error);
      error = next;
    }
    return error;
  };
  EXPECT_EQ(prepare(Purpose::train, run).extra.at("weights"), record["extra"]["weights"])
      << "for a run that has no checkpoint yet";
  EXPECT_EQ(refused(moved), "");
  EXPECT_THAT(refused(path("none")),
              AllOf(HasSubstr("model.path cannot change when a run goes on: there is no folder "),
                    HasSubstr("leave out model.path")));
  EXPECT_THAT(refused(""), HasSubstr("the run began with the weights of a folder"));
  write_file_atomic(moved / "model.bin", "Weights");
  EXPECT_THAT(refused(moved), HasSubstr("holds other weights than the run began with"));
  write_file_atomic(moved / "model.bin", "weights");
  write_file_atomic(moved / "config.json", read_file(moved / "config.json") + " ");
  EXPECT_THAT(refused(moved), HasSubstr("another config.json than the run began with"));
  record["config"]["model.path"] = "";
  write_file_atomic(run / "run.json", record.dump());
  EXPECT_THAT(refused(moved), HasSubstr("the run began without one"));
}

// With the run's own tokenizer, categories and longest span, and all of them.
TEST_F(DimabsaPrepare, EvaluatesOtherSentences) {
  const Prepared first = prepare();
  const fs::path run = make_run(first);
  options.data.path = path("gold.jsonl").string();
  write(options.data.path, {lines[0], lines[2]});
  const Prepared gold = prepare(Purpose::evaluate, run);
  EXPECT_THAT(said, HasSubstr("all 2 of them are evaluated"));
  EXPECT_EQ(sentences_of(gold, "valid").size(), 2U);
  EXPECT_EQ(gold.extra.at("categories"), first.extra.at("categories"));
  EXPECT_EQ(gold.extra.at("longest_span"), first.extra.at("longest_span"));
  EXPECT_EQ(gold.extra.at("config"), first.extra.at("config"));
  // Phrases of gold stay as they are written, for the scorer.
  write(
      options.data.path,
      {R"({"ID":"1","Text":"Fine","Quadruplet":[{"Aspect":"soup","Opinion":"Fine","Category":"FOOD#QUALITY","VA":"8.00#7.00"}]})"});
  const Prepared absent = prepare(Purpose::evaluate, run);
  EXPECT_EQ(sentences_of(absent, "valid").at(0).sentence.tuples.at(0).aspect, "soup");
}

// Also where it is the file that the run was trained on.
TEST_F(DimabsaPrepare, EvaluatesAllOfAFileThatIsNamed) {
  const fs::path run = make_run(prepare());
  EXPECT_EQ(sentences_of(prepare(Purpose::evaluate, run), "valid").size(), 1U);
  ask("data.path", options.data.path);
  EXPECT_EQ(sentences_of(prepare(Purpose::evaluate, run), "valid").size(), 5U);
  EXPECT_THAT(said, HasSubstr("trained on a part of these sentences: all 5 of them are evaluated"));
  // And not those of another evaluation of the run that has the same files.
  options.data.valid_path = path("dev.jsonl").string();
  write(options.data.valid_path, {lines[0], lines[2]});
  EXPECT_EQ(sentences_of(prepare(Purpose::evaluate, run), "valid").size(), 5U);
  ask("data.valid_path", options.data.valid_path);
  EXPECT_EQ(sentences_of(prepare(Purpose::evaluate, run), "valid").size(), 2U);
}

TEST_F(DimabsaPrepare, EvaluatesOtherGoldWithoutTheRunsValidationFile) {
  options.data.valid_path = path("dev.jsonl").string();
  write(options.data.valid_path, {lines[0], lines[2]});
  const fs::path run = make_run(prepare());
  fs::remove(options.data.valid_path);
  write(path("gold.jsonl"), {lines[0], lines[1], lines[3]});
  ask("data.path", path("gold.jsonl").string());
  EXPECT_EQ(sentences_of(prepare(Purpose::evaluate, run), "valid").size(), 3U);
}

TEST_F(DimabsaPrepare, CountsCategoriesOfGoldThatTheRunDoesNotKnow) {
  const fs::path run = make_run(prepare());
  ask("data.path", path("gold.jsonl").string());
  write(
      options.data.path,
      {lines[0],
       R"({"ID":"9","Text":"Fine tea","Quadruplet":[{"Aspect":"tea","Opinion":"Fine","Category":"TEA#QUALITY","VA":"8.00#7.00"}]})"});
  const auto gold = sentences_of(prepare(Purpose::evaluate, run), "valid");
  ASSERT_EQ(gold.size(), 2U);
  EXPECT_EQ(gold[1].tuples.at(0).category, -1);
  EXPECT_EQ(gold[1].sentence.tuples.at(0).category, "TEA#QUALITY");
  EXPECT_THAT(said, HasSubstr("1 line has a category that is not in the list, first: line 2 "
                              "\"TEA#QUALITY\""));
}

TEST_F(DimabsaPrepare, RefusesTask3WithoutACategory) {
  write(options.data.path, {R"({"ID":"1","Text":"Fine","Quadruplet":[]})",
                            R"({"ID":"2","Text":"Good","Quadruplet":[]})"});
  EXPECT_THAT(error_of([&] { prepare(); }),
              AllOf(HasSubstr("there is no category in the data"), HasSubstr("data.categories=")));
  write(path("categories.txt"), {"FOOD#QUALITY"});
  options.data.categories = path("categories.txt").string();
  EXPECT_EQ(error_of([&] { prepare(); }), "");
}

TEST_F(DimabsaPrepare, NamesAModelFolderThatIsNone) {
  const fs::path model = path("model");
  options.model.path = model.string();
  const auto refused = [&](const std::string& what) {
    EXPECT_THAT(error_of([&] { prepare(); }),
                AllOf(HasSubstr("model.path: "), HasSubstr(what), HasSubstr(model.string()),
                      HasSubstr("vocab.txt"), Not(HasSubstr(".part"))));
  };
  refused("there is no folder");
  fs::create_directories(model);
  refused("holds no config.json");
  write(model / "config.json", {"{}"});
  refused("holds no tokenizer");
  write(model / "tokenizer.json", {"no JSON"});
  EXPECT_THAT(error_of([&] { prepare(); }),
              AllOf(HasSubstr(model.string()), Not(HasSubstr(".part"))));
}

// To train on as NULL; to evaluate as they are written, so that NULL is no hit.
TEST_F(DimabsaPrepare, PhrasesOutsideTheirTextsAreNullInTrainingAlone) {
  const char* const absent =
      R"({"ID":"7","Text":"Fine","Quadruplet":[{"Aspect":"soup","Opinion":"Fine","Category":"FOOD#QUALITY","VA":"8.00#7.00"}]})";
  write(options.data.path, {lines[0], absent});
  for (int seed = 0; seed < 20; ++seed) {  // each of the two is validated on in some splits
    options.data.split_seed = seed;
    const LoadedSentences loaded = load_sentences(options, {});
    ASSERT_EQ(loaded.valid.size(), 1U);
    for (const auto& [sentences, aspect] :
         {std::pair{&loaded.train, "NULL"}, std::pair{&loaded.valid, "soup"}})
      if (sentences->at(0).id == "7") {
        EXPECT_EQ(sentences->at(0).tuples.at(0).aspect, aspect);
      }
    EXPECT_THAT(loaded.warnings, Contains(HasSubstr("1 aspect is not in its text")));
    EXPECT_THAT(loaded.warnings,
                Contains(HasSubstr(loaded.valid[0].id == "7" ? "no prediction has it"
                                                             : "counts as NULL in training")));
  }
  // The same choice for what is validated on.
  options.data.valid_path = path("dev.jsonl").string();
  write(options.data.path, lines);
  write(options.data.valid_path, {absent});
  EXPECT_THAT(load_sentences(options, {}).warnings,
              Contains(HasSubstr("dev.jsonl: 1 aspect is not in its text")));
  options.data.not_found = NotFound::refuse;
  EXPECT_THAT(error_of([&] { load_sentences(options, {}); }),
              HasSubstr("dev.jsonl:1: the aspect \"soup\" is not in the text"));
}

TEST_F(DimabsaPrepare, ScoresTheTaskThatThePredictionsAreOf) {
  DimabsaOptions scored;
  scored.data.path = path("gold.jsonl").string();
  write(scored.data.path, lines);
  fs::create_directories(path("out/subtask_3"));
  write(path("out/subtask_3/pred.jsonl"), lines);
  const auto f1 = [&](const char* predictions) {
    for (const Score& score : score_predictions(scored, {.predictions = path(predictions)}))
      if (score.name == "f1") return score.value;
    return -1.0;
  };
  EXPECT_EQ(f1("out"), 1);
  EXPECT_EQ(f1("out/subtask_3/pred.jsonl"), 1);
  fs::create_directories(path("out/subtask_1"));
  write(path("out/subtask_1/pred.jsonl"), lines);
  EXPECT_THAT(error_of([&] { f1("out"); }),
              AllOf(HasSubstr("of the tasks 1 and 3"), HasSubstr("task=3")));
}

TEST_F(DimabsaPrepare, PredictsFromTheRunsFolderAlone) {
  const Prepared first = prepare();
  const fs::path run = make_run(first);
  fs::remove_all(path("cache"));
  fs::remove(options.data.path);
  EXPECT_EQ(prepare(Purpose::predict, run).extra.at("config"), first.extra.at("config"));
  EXPECT_THAT(error_of([&] { prepare(Purpose::predict, path("none")); }), HasSubstr("has no"));
}

TEST_F(DimabsaPrepare, AnExportDoesNotSayWhereAnythingLay) {
  Prepared prepared = prepare();
  prepared.extra["weights"] = {{"files", {{{"path", path("model.bin").string()}}}}};
  prepared.extra["config"]["_name_or_path"] = path("model").string();
  std::map<std::string, std::string> kept;
  for (const fs::path& file : prepared.keep) kept[file.filename().string()] = read_file(file);
  nlohmann::json tokenizer = nlohmann::json::parse(kept.at("tokenizer_config.json"));
  tokenizer["tokenizer_file"] = path("tokenizer.json").string();
  tokenizer["name_or_path"] = "bert-base-uncased";
  kept["tokenizer_config.json"] = tokenizer.dump();
  nlohmann::json record = nlohmann::json::parse(kept.at(record_name));
  record["said"] = {path("a.jsonl").string() + ", line 3: odd"};
  kept[record_name] = record.dump();
  options.forget_places(prepared.extra, kept);
  EXPECT_THAT(prepared.extra.dump(), Not(HasSubstr(folder.path().string())));
  for (const auto& [name, content] : kept)
    EXPECT_THAT(content, Not(HasSubstr(folder.path().string()))) << name;
  EXPECT_THAT(kept.at("tokenizer_config.json"), HasSubstr("bert-base-uncased"));
  const fs::path run = path("run");
  fs::create_directories(run / "recipe");
  for (const auto& [name, content] : kept) write_file_atomic(run / "recipe" / name, content);
  const Prepared again = prepare(Purpose::evaluate, run);
  EXPECT_EQ(again.extra.at("categories"), prepared.extra.at("categories"));
  EXPECT_EQ(again.facts.valid_samples, prepared.facts.valid_samples);
}

TEST_F(DimabsaPrepare, SaysHowMuchOfATextTheModelTakes) {
  const fs::path model = path("model");
  const Prepared prepared = prepare();
  fs::create_directories(model);
  for (const fs::path& file : prepared.keep) fs::copy_file(file, model / file.filename());
  options.model.path = model.string();
  // Only what was asked for is refused; else the model decides, also in what is predicted later.
  options.data.cut = 1000;
  const auto cut = [&] {
    error_of([&] { prepare(); });  // there are no weights
    const std::size_t at = said.find("data.cut is ");
    return at == std::string::npos ? "" : said.substr(at, said.find('\n', at) - at);
  };
  const std::string limit = cut();
  EXPECT_THAT(limit, HasSubstr(" in place of 1000: the model takes "));
  EXPECT_THAT(error_of([&] { prepare(); }),
              AllOf(HasSubstr("model.path: "), HasSubstr(" holds no weights")));
  EXPECT_EQ(error_of([&] { prepare(Purpose::plan); }), "") << "a plan needs none";
  ask("data.cut", "1000");
  EXPECT_THAT(error_of([&] { prepare(); }), HasSubstr("set data.cut to at most"));
  EXPECT_EQ(said.find("data.cut is "), std::string::npos);
}

TEST_F(DimabsaPrepare, CutsAsTheModelWasTrained) {
  const fs::path run = make_run(prepare());
  nlohmann::json record = nlohmann::json::parse(read_file(run / "recipe" / record_name));
  EXPECT_EQ(record.at("cut"), 256);
  record["cut"] = 2;
  write_file_atomic(run / "recipe" / record_name, record.dump());
  write(path("test.txt"), {"The fish soup was great, really great."});
  const auto items = find_items(options, {.inputs = {path("test.txt").string()}, .run_dir = run});
  ASSERT_EQ(items.size(), 1U);
  EXPECT_EQ(sentence_from_json(nlohmann::json::parse(items[0].text)).size(), 2);
}

TEST_F(DimabsaPrepare, KnowsTheMeanOfTheTrainingDataInLaterEvaluationsToo) {
  options.data.valid_path = options.data.path;
  const Prepared first = prepare();
  const std::vector<double> mean = first.extra.at("mean_va");
  EXPECT_DOUBLE_EQ(mean.at(0), (8.0 + 2 + 3 + 7) / 4);
  EXPECT_DOUBLE_EQ(mean.at(1), (7.0 + 6.5 + 4 + 5) / 4);
  const fs::path run = make_run(first);
  ask("data.path", path("gold.jsonl").string());
  write(options.data.path, {lines[0]});
  const Prepared gold = prepare(Purpose::evaluate, run);
  EXPECT_EQ(gold.extra.at("mean_va"), first.extra.at("mean_va"));
  EXPECT_EQ(gold.extra.at("evaluated"), "gold.jsonl");
  EXPECT_THAT(said, HasSubstr("gold.jsonl: these are not the sentences"));
  EXPECT_FALSE(first.extra.contains("evaluated"));
}

// A text for all aspects, one for all opinions, and five for each tuple.
TEST_F(DimabsaPrepare, CountsTextsForTheFormulas) {
  options.data.valid_path = options.data.path;
  const Prepared prepared = prepare();
  const nlohmann::json& tokens = prepared.extra.at("tokens");
  EXPECT_DOUBLE_EQ(tokens.at("texts_per_row").get<double>(), (5 * 2 + 4 * 5) / 35.0);
  EXPECT_EQ(tokens.at("most_texts"), 7);
  const EncodedQueries queries = queries_from_json(prepared.extra.at("queries"));
  std::int64_t longest = 0;
  for (const EncodedSentence& sentence : sentences_of(prepared, "train"))
    for (const EncodedTuple& tuple : sentence.tuples) {
      const std::int64_t own = sentence.size() + tuple.aspect.length() + tuple.opinion.length() +
                               std::ssize(queries.null);
      for (const Pass pass : {Pass::category, Pass::valence, Pass::arousal})
        longest =
            std::max(longest, std::ssize(queries.tokens.at(static_cast<std::size_t>(pass))) + own);
    }
  EXPECT_EQ(tokens.at("longest"), longest);  // [CLS] and [SEP] for the two places of phrases
}

TEST_F(DimabsaPrepare, TakesVaOutOfRangeByChoice) {
  lines.push_back(
      R"({"ID":"6","Text":"Odd","Quadruplet":[{"Aspect":"NULL","Opinion":"Odd","Category":"FOOD#QUALITY","VA":"5#16.5"}]})");
  write(options.data.path, lines);
  EXPECT_THAT(error_of([&] { prepare(); }),
              AllOf(HasSubstr(":6: VA is 5#16.5"), HasSubstr("data.out_of_range=")));
  const auto largest = [&](OutOfRange how) {
    options.data.out_of_range = how;
    options.data.valid_share = 0;
    double most = 0;
    for (const EncodedSentence& sentence : sentences_of(prepare(), "train"))
      for (const Tuple& tuple : sentence.sentence.tuples) most = std::max(most, tuple.va->arousal);
    return most;
  };
  EXPECT_EQ(largest(OutOfRange::keep), 16.5);
  EXPECT_EQ(largest(OutOfRange::clip), 9);
  EXPECT_THAT(said, HasSubstr("1 VA is not from 1 to 9 and is set to the nearest value, first: "
                              "line 6 5#16.5"));
  EXPECT_EQ(largest(OutOfRange::skip), 7);
}

TEST_F(DimabsaPrepare, RefusesAVocabularyOfAnotherModel) {
  const Prepared prepared = prepare();
  const fs::path model = path("model");
  fs::create_directories(model);
  const auto header = [&](std::int64_t rows) {
    const std::string json =
        cat(R"({"bert.embeddings.word_embeddings.weight":{"dtype":"F32","shape":[)", rows,
            ",1],\"data_offsets\":[0,", rows * 4, "]}}");
    std::string bytes(8, '\0');
    for (int i = 0; i < 8; ++i)
      bytes[static_cast<std::size_t>(i)] = static_cast<char>(json.size() >> (8 * i));
    write_file_atomic(model / "model.safetensors",
                      bytes + json + std::string(static_cast<std::size_t>(rows) * 4, '\0'));
  };
  EncoderShape shape;
  shape.vocabulary = 50;
  header(50);
  said.clear();
  const auto find = [&](std::int64_t pieces) {
    return error_of([&] {
      find_weights(model, pieces, shape, true, [&](const std::string& line) { said += line; });
    });
  };
  EXPECT_EQ(find(50), "");
  EXPECT_EQ(said, "");
  EXPECT_THAT(find(51), HasSubstr("the vocabulary has 51 pieces, but the weights have 50"));
  EXPECT_EQ(find(49), "");
  EXPECT_THAT(said, HasSubstr("the vocabulary has 49 pieces and the weights have 50"));
  header(60);
  EXPECT_THAT(find(50), HasSubstr("vocab_size"));
  shape.vocabulary = 2000;
  header(2000);
  EXPECT_EQ(find(976), "");
  EXPECT_THAT(find(975), HasSubstr("the vocabulary has 975 pieces"));
}

class DimabsaItems : public DimabsaPrepare {
 protected:
  std::vector<PredictItem> items(const std::vector<std::string>& inputs) {
    return find_items(
        options,
        {.inputs = inputs, .standard_input = {}, .run_dir = run, .cache_dir = path("cache")});
  }
  static Sentence sentence_of(const PredictItem& item) {
    return sentence_from_json(nlohmann::json::parse(item.text)).sentence;
  }
  fs::path run = make_run(prepare());
};

TEST_F(DimabsaItems, AreLinesWithTheirTokens) {
  write(path("test.txt"), {R"({"ID":"a","Text":"Great soup"})", "", "just a text"});
  const auto found = items({path("test.txt").string()});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].id, "3");
  EXPECT_THAT(found[1].name, HasSubstr("line 3 of"));
  const EncodedSentence sentence = sentence_from_json(nlohmann::json::parse(found[0].text));
  EXPECT_EQ(sentence.sentence.id, "a");
  EXPECT_GT(sentence.size(), 1);
}

TEST_F(DimabsaItems, NameEachLineThatIsNone) {
  write(path("test.jsonl"),
        {R"({"ID":"a","Text":"Great soup"})", R"({"ID":"b"})", R"({"ID":"a","Text":"x"})"});
  const auto found = items({path("test.jsonl").string()});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].fault, "");
  EXPECT_THAT(found[1].fault, HasSubstr("test.jsonl:2:"));
  EXPECT_THAT(found[2].fault, HasSubstr("comes twice"));
}

TEST_F(DimabsaItems, KeepTheFirstOfAFileWithAByteOrderMark) {
  write(path("test.jsonl"), {"\xEF\xBB\xBF"
                             R"({"ID":"a","Text":"Great soup"})"});
  const auto found = items({path("test.jsonl").string()});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(sentence_of(found[0]).id, "a");
}

TEST_F(DimabsaItems, OfOtherFormsAreRefused) {
  write(path("list.json"), {"", R"( [{"ID":"a","Text":"Great soup"}])"});
  write(path("list.txt"), {"[", R"({"ID":"a","Text":"Great soup"},)", "]"});
  for (const char* name : {"list.json", "list.txt"})
    EXPECT_THAT(error_of([&] { items({path(name).string()}); }), HasSubstr("JSON Lines are read"));
  write(path("a.jsonl"), {"just a text", R"({"ID":"a","Text":"Great soup"})"});
  const auto found = items({path("a.jsonl").string()});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(found[0].fault, HasSubstr("a.jsonl:1: the line is not JSON"));
  EXPECT_EQ(found[1].fault, "");
  write(path("a.txt"), {"[sic] a text"});
  EXPECT_EQ(sentence_of(items({path("a.txt").string()}).at(0)).text, "[sic] a text");
}

TEST_F(DimabsaItems, HaveIdsThatDifferOverAllInputs) {
  fs::create_directories(path("b"));
  write(path("a.txt"), {"one", R"({"ID":"x","Text":"two"})"});
  write(path("c.txt"), {"three", R"({"ID":"x","Text":"four"})"});
  write(path("b/c.txt"), {"five"});
  const std::string a = path("a.txt").string(), c = path("c.txt").string(),
                    bc = path("b/c.txt").string();
  const auto found = items({a, c, bc, a});
  ASSERT_EQ(found.size(), 5U);
  EXPECT_EQ(sentence_of(found[0]).id, "a.txt:1");
  EXPECT_EQ(sentence_of(found[2]).id, c + ":1");
  EXPECT_EQ(sentence_of(found[4]).id, bc + ":1");
  EXPECT_EQ(found[1].fault, "");
  EXPECT_THAT(found[3].fault,
              AllOf(HasSubstr("the ID x comes twice"), HasSubstr("line 2 of " + a)));
  EXPECT_THAT(found[3].name, HasSubstr("line 2 of " + c));
}

TEST_F(DimabsaItems, GoToTheFileOfTheirLanguageAndDomain) {
  const std::string english = path("eng_hotel_test.jsonl").string(),
                    chinese = path("zho_hotel_test.jsonl").string();
  write(english, {R"({"ID":"a","Text":"Great soup"})"});
  write(chinese, {R"({"ID":"a","Text":"好汤"})"});
  const auto file_of = [](const PredictItem& item) {
    return nlohmann::json::parse(item.text).at(file_key).get<std::string>();
  };
  auto found = items({english, chinese});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(file_of(found[0]), HasSubstr("/pred_eng_hotel.jsonl"));
  EXPECT_THAT(file_of(found[1]), HasSubstr("/pred_zho_hotel.jsonl"));
  ask("data.language", "eng");
  found = items({english, chinese});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(file_of(found[0]), HasSubstr("/pred_eng_hotel.jsonl"));
  EXPECT_THAT(found[1].fault, HasSubstr("the ID a comes twice")) << "in one file";
}

TEST_F(DimabsaItems, AreTheValidationSentencesWhereNoFileIsNamed) {
  EXPECT_EQ(items({}).size(), 1U);  // of five
  prepare(Purpose::predict, run);
  EXPECT_THAT(said, HasSubstr("the 1 validation sentence of the run is predicted"));
  // The file that the run was trained on is a file like others where it is named.
  ask("data.path", options.data.path);
  EXPECT_EQ(items({}).size(), 5U);
  prepare(Purpose::predict, run);
  EXPECT_EQ(said, "");
  ask("data.path", path("test.jsonl").string());
  write(options.data.path, {R"({"ID":"a","Text":"Great soup"})", R"({"ID":"b","Text":"More"})"});
  EXPECT_EQ(items({}).size(), 2U);
}

TEST_F(DimabsaItems, AreNotTheValidationSentencesOfAFileThatHasChanged) {
  lines.pop_back();
  write(options.data.path, lines);
  EXPECT_THAT(error_of([&] { items({}); }), HasSubstr("have changed since it began"));
}

}  // namespace
}  // namespace lockstep::dimabsa
