#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "checkout_paths.h"
#include "core/base/json/json.h"
#include "fakes/test_data.h"
#include "recipes/textgen/options/token_pieces.h"
#include "recipes/textgen/prepare/corpus.h"
#include "recipes/textgen/prepare/prompts.h"
#include "tests/unit/textgen/text_test.h"

namespace lockstep::textgen {
namespace {

using nlohmann::json;

class PrepareTest : public TextTest {
 protected:
  std::string write_gpt2() {
    const Gpt2Files files = make_gpt2_files(english_merges());
    write("gpt2/vocab.json", files.vocab);
    write("gpt2/merges.txt", files.merges);
    return path("gpt2");
  }
  // Settings of each kind of tokenizer on the file.
  std::vector<Settings> all_kinds(const std::string& file) {
    return {{{"data.path", file}},
            {{"data.path", file}, {"tokenizer.kind", "chars"}},
            {{"data.path", file}, {"tokenizer.kind", "gpt2"}, {"tokenizer.path", write_gpt2()}},
            {{"data.path", file}, {"tokenizer.kind", "bpe"}, {"tokenizer.vocab", "320"}}};
  }
  static std::string decode(const Prepared& prepared, const char* part) {
    const TokenPieces pieces(prepared.extra.at("pieces").get<std::string>());
    std::string text;
    for (const std::uint32_t token : tokens_of(prepared.extra.at(part))) {
      const bool separator = token == prepared.extra.at("eot");
      text += separator ? "|" : std::string(pieces.bytes(token));
    }
    return text;
  }
};

TEST_F(PrepareTest, WritesTheWholeTextInEveryKindOfToken) {
  const std::string text = "\u6f22\u5b57 start\n" + prose(1, 4000) + "\u6f22\u5b57 end";
  for (const Settings& settings : all_kinds(write("a.txt", text))) {
    const Prepared prepared = prepare(settings);
    EXPECT_TRUE(decode(prepared, "train") + decode(prepared, "valid") == text);
    const json& extra = prepared.extra;
    EXPECT_EQ(extra["train_tokens"], tokens_of(extra["train"]).size());
    EXPECT_EQ(extra["vocab"], extra["tokenizer_vocab"]);
    const TokenFile lengths(extra["bytes"].get<std::string>());
    const Tokens valid = tokens_of(extra["valid"]);
    EXPECT_EQ(
        extra["valid_bytes"].get<std::size_t>() + static_cast<std::size_t>(lengths.at(valid[0])),
        decode(prepared, "valid").size());
    EXPECT_GT(extra["pair_bits_per_byte"], 1.0);
    EXPECT_LT(extra["pair_bits_per_byte"], 3.5);
    EXPECT_EQ(prepared.facts.unit, "tokens");
    EXPECT_EQ(prepared.facts.units_per_sample, 128);
    EXPECT_EQ(prepared.facts.train_samples,
              (extra["train_tokens"].get<std::int64_t>() + 126) / 128);
    EXPECT_EQ(prepared.facts.valid_samples,
              (extra["valid_tokens"].get<std::int64_t>() + 126) / 128);
    TextOptions options;
    for (const auto& [key, value] : settings) options.table.set(key, value);
    EXPECT_EQ(prepared.facts.parameters, options.parameter_count(extra["tokenizer_vocab"]));
  }
}

TEST_F(PrepareTest, WritesTheSameBytesEachTime) {
  for (const Settings& settings : all_kinds(write("a.txt", prose(1, 4000)))) {
    const Prepared first = prepare(settings, "cache1"), second = prepare(settings, "cache2");
    for (const char* name : {"train", "valid", "pieces", "bytes"})
      EXPECT_EQ(read_file(first.extra.at(name).get<std::string>()),
                read_file(second.extra.at(name).get<std::string>()));
    EXPECT_EQ(first.extra["pair_bits_per_byte"], second.extra["pair_bits_per_byte"]);
  }
}

TEST_F(PrepareTest, TheHashOfTheDataIsOfItsContentAlone) {
  const std::string text = prose(1, 4000);
  const std::string hash = prepare({{"data.path", write("a.txt", text)}}).data_hash;
  EXPECT_EQ(hash.size(), 32u);
  EXPECT_EQ(prepare({{"data.path", write("b.txt", text)}}).data_hash, hash);
  EXPECT_NE(prepare({{"data.path", write("c.txt", text + "x")}}).data_hash, hash);
  EXPECT_NE(prepare({{"data.path", "synthetic"}}).data_hash, "");
}

TEST_F(PrepareTest, FindsWhatWasPreparedBefore) {
  const Settings settings = {{"data.path", write("a.txt", prose(1, 1000))}};
  const Prepared first = prepare(settings);
  EXPECT_NE(said_.find("reading the text"), std::string::npos);
  said_.clear();
  EXPECT_EQ(prepare(settings).extra, first.extra);
  EXPECT_EQ(said_, "");
  write("a.txt", prose(2, 1000) + "more");
  EXPECT_NE(prepare(settings).extra["train"], first.extra["train"]);
}

TEST_F(PrepareTest, PreparesAgainWhatIsDamaged) {
  const Settings settings = {{"data.path", write("a.txt", prose(1, 1000))}};
  const std::string train = prepare(settings).extra["train"];
  const std::string good = read_file(train);
  std::filesystem::resize_file(train, 100);
  EXPECT_EQ(prepare(settings).extra["train"], train);
  EXPECT_EQ(read_file(train), good);
}

TEST_F(PrepareTest, LeavesNothingHalfDoneBehindAnError) {
  write("a.jsonl", "{\"text\": \"fine\"}\n{\"text\": broken}\n");
  EXPECT_NE(error_if_any([&] {
              prepare({{"data.path", path("a.jsonl")}});
            }).find("line 2 is not JSON"),
            std::string::npos);
  for (const auto& entry : std::filesystem::directory_iterator(path("cache/textgen")))
    EXPECT_EQ(entry.path().extension(), ".lock");
}

TEST_F(PrepareTest, MayRunTwiceAtOnce) {
  const Settings settings = {{"data.path", write("a.txt", prose(1, 20000))},
                             {"tokenizer.kind", "bpe"},
                             {"tokenizer.vocab", "320"}};
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(::fork());
    if (children.back() == 0) {
      const std::string error = error_if_any([&] { prepare(settings); });
      ::_exit(error.empty() ? 0 : 1);
    }
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  const Prepared prepared = prepare(settings);
  EXPECT_EQ(said_, "");  // all is there
  EXPECT_EQ(read_file(prepared.extra["train"].get<std::string>()),
            read_file(prepare(settings, "cache2").extra["train"].get<std::string>()));
}

TEST_F(PrepareTest, PutsSeparatorsBetweenDocumentsOnly) {
  write("a.txt", "one two");
  write("b.txt", "three four");
  write("v.txt", "five six");
  const Settings settings = {{"data.path", path("a.txt") + "," + path("b.txt")},
                             {"data.valid_path", path("v.txt")},
                             {"model.context", "4"}};
  const Prepared prepared = prepare(settings);
  EXPECT_EQ(decode(prepared, "train"), "one two|three four");
  EXPECT_EQ(decode(prepared, "valid"), "five six");
  EXPECT_EQ(prepared.extra["valid_bytes"], 7);
}

TEST_F(PrepareTest, LargeFilesHaveTheTokensOfTheirWhole) {
  const std::string text = prose(1, 700000);  // several chunks
  ASSERT_GT(text.size(), std::size_t{3} << 20);
  const Settings settings = {{"data.path", write("a.txt", text)},
                             {"data.valid_share", "0"},
                             {"tokenizer.kind", "gpt2"},
                             {"tokenizer.path", write_gpt2()}};
  const Prepared prepared = prepare(settings);
  const Gpt2Files files = make_gpt2_files(english_merges());
  EXPECT_EQ(tokens_of(prepared.extra["train"]),
            make_gpt2_tokenizer(files.vocab, files.merges, "")->encode(text));
  EXPECT_EQ(prepared.facts.valid_samples, 0);
}

TEST_F(PrepareTest, CharactersHaveExtraEntriesOnlyWhereTheyAreNeeded) {
  write("a.txt", "abcabcabcabc");
  write("b.txt", "abc");
  write("v.txt", "abz");
  const auto vocab = [&](const std::string& train, const std::string& valid) {
    return prepare({{"data.path", train},
                    {"data.valid_path", valid},
                    {"tokenizer.kind", "chars"},
                    {"model.context", "4"}})
        .extra["vocab"]
        .get<int>();
  };
  EXPECT_EQ(vocab(path("a.txt"), path("v.txt")), 5);  // z is unknown; two documents in all
  EXPECT_EQ(vocab(path("a.txt"), path("b.txt")), 4);
  const Prepared one = prepare(
      {{"data.path", write("c.txt", std::string(90, 'a') + "aaabbbaaab" + std::string(20, 'b'))},
       {"tokenizer.kind", "chars"},
       {"model.context", "4"}});
  EXPECT_EQ(one.extra["vocab"], 2);
  EXPECT_EQ(one.extra["eot"], -1);
}

TEST_F(PrepareTest, PadsTheModelsVocabularyOnly) {
  const std::string file = write("a.txt", prose(1, 500));
  const Prepared plain = prepare({{"data.path", file}});
  said_.clear();
  const Prepared padded = prepare({{"data.path", file}, {"model.vocab", "512"}});
  EXPECT_EQ(said_, "");  // the same tokens
  EXPECT_EQ(padded.extra["vocab"], 512);
  EXPECT_EQ(padded.extra["tokenizer_vocab"], 256);
  EXPECT_EQ(padded.facts.parameters - plain.facts.parameters, 256 * 128);
}

TEST_F(PrepareTest, RefusesTextShorterThanAContext) {
  const std::string file = write("a.txt", std::string(100, 'x'));
  EXPECT_NE(error_if_any([&] {
              prepare({{"data.path", file}});
            })
                .find("the training text has 90 tokens, but one context takes 129 | use more text, "
                      "or set model.context to at most 89"),
            std::string::npos);
  EXPECT_EQ(error_if_any([&] { prepare({{"data.path", file}, {"model.context", "89"}}); }), "");
  EXPECT_NE(error_if_any([&] {
              prepare({{"data.path", file}, {"model.context", "8"}, {"data.valid_share", "0.01"}});
            }).find("the validation text has 1 tokens"),
            std::string::npos);
}

TEST_F(PrepareTest, NeedsNoFilesForSyntheticTokens) {
  const Prepared prepared = prepare({{"data.path", "synthetic"}, {"model.vocab", "50304"}});
  EXPECT_EQ(prepared.extra["synthetic"], true);
  EXPECT_EQ(prepared.extra["vocab"], 50304);
  EXPECT_GT(prepared.facts.train_samples, 1000000);
  EXPECT_TRUE(prepared.keep.empty());
  EXPECT_FALSE(std::filesystem::exists(path("cache")));
}

TEST_F(PrepareTest, ResumesWithTheRunsOwnTokens) {
  for (const Settings& settings : all_kinds(write("a.txt", prose(1, 4000)))) {
    const Prepared before = prepare(settings);
    const std::string run = keep(before);
    EXPECT_EQ(prepare(settings, "cache", Purpose::train, run).extra, before.extra);
    // The cache is lost: the same tokens are made again.
    const Prepared again = prepare(settings, "other", Purpose::train, run);
    EXPECT_EQ(tokens_of(again.extra["train"]), tokens_of(before.extra["train"]));
    EXPECT_EQ(tokens_of(again.extra["valid"]), tokens_of(before.extra["valid"]));
    EXPECT_EQ(again.extra["pair_bits_per_byte"], before.extra["pair_bits_per_byte"]);
    std::filesystem::remove_all(run);
  }
}

TEST_F(PrepareTest, TakesTokenizerPathOfARunAsAnotherPlaceOfTheSameFilesAlone) {
  const std::string text = write("a.txt", prose(1, 4000));
  const std::string run = keep(
      prepare({{"data.path", text}, {"tokenizer.kind", "gpt2"}, {"tokenizer.path", write_gpt2()}}));
  const auto refused = [&](const std::string& folder) {
    return error_if_any([&] {
      TextOptions options;
      options.table.set("data.path", text);
      options.table.set("tokenizer.kind", "gpt2");
      options.table.set("tokenizer.path", folder, {.kind = ValueSource::Kind::argument});
      options.prepare({.purpose = Purpose::predict, .cache_dir = path("cache"), .run_dir = run});
    });
  };
  std::filesystem::copy(path("gpt2"), path("moved"));
  EXPECT_EQ(refused(path("moved")), "");
  EXPECT_NE(
      refused(path("none")).find("tokenizer.path cannot change when a run goes on: there is "),
      std::string::npos);
  std::vector<std::string> fewer = english_merges();
  fewer.pop_back();
  const Gpt2Files other = make_gpt2_files(fewer);
  write("moved/vocab.json", other.vocab);
  write("moved/merges.txt", other.merges);
  EXPECT_NE(refused(path("moved")).find("is another tokenizer than the run began with"),
            std::string::npos);
}

TEST_F(PrepareTest, RefusesToResumeOnTextThatHasChanged) {
  const Settings settings = {{"data.path", write("a.txt", prose(1, 1000))}};
  const std::string run = keep(prepare(settings));
  write("a.txt", prose(2, 1000));
  EXPECT_NE(error_if_any([&] {
              prepare(settings, "cache", Purpose::train, run);
            }).find("the text of this run has changed"),
            std::string::npos);
  EXPECT_EQ(error_if_any([&] { prepare(settings, "cache", Purpose::evaluate, run); }), "");
  EXPECT_NE(said_.find("not the one that this run began with"), std::string::npos);
  EXPECT_NE(error_if_any([&] {
              Settings other = settings;
              other.push_back({"tokenizer.kind", "chars"});
              prepare(other, "cache", Purpose::train, run);
            }).find("tokenizer.kind must stay bytes"),
            std::string::npos);
}

TEST_F(PrepareTest, SaysOfATableHowToReadTheTextInAColumn) {
  const std::string rows = "id,text\n" + prose(1, 500);
  prepare({{"data.path", write("train.csv", rows)}});
  EXPECT_NE(said_.find("warning: train.csv is a table, and all of it is read as text"),
            std::string::npos)
      << said_;
  EXPECT_NE(said_.find("pandas.read_csv(\"train.csv\").to_json(\"NEW.jsonl\""), std::string::npos);
  prepare({{"data.path", write("train.tsv", rows)}});
  EXPECT_NE(said_.find("pandas.read_csv(\"train.tsv\", sep=\"\\t\")"), std::string::npos) << said_;
  said_.clear();
  prepare({{"data.path", write("train.txt", rows)}});
  EXPECT_EQ(said_.find("table"), std::string::npos) << said_;
}

TEST_F(PrepareTest, EvaluatesAllOfATextThatIsNamed) {
  const Prepared before = prepare({{"data.path", write("a.txt", prose(1, 1000))}});
  const std::string run = keep(before);
  const auto evaluate = [&](const std::string& file, const std::string& share) {
    said_.clear();
    TextOptions options;
    options.table.set("data.path", file, {.kind = ValueSource::Kind::argument});
    if (!share.empty())
      options.table.set("data.valid_share", share, {.kind = ValueSource::Kind::argument});
    return options.prepare({.purpose = Purpose::evaluate,
                            .cache_dir = path("cache"),
                            .run_dir = run,
                            .say = [this](const std::string& line) { said_ += line + "\n"; }});
  };
  const auto valid_tokens = [](const Prepared& prepared) {
    return prepared.extra.at("valid_tokens").get<std::size_t>();
  };
  const std::string other = prose(3, 500);
  EXPECT_EQ(valid_tokens(evaluate(write("b.txt", other), "")), other.size());
  EXPECT_NE(said_.find("all of the text in data.path is evaluated, even parts on which the run may "
                       "have been trained"),
            std::string::npos)
      << said_;
  EXPECT_EQ(said_.find("reading the text"), said_.rfind("reading the text")) << "read once";
  EXPECT_LT(valid_tokens(evaluate(write("b.txt", other), "0.2")), other.size() / 4);
  EXPECT_EQ(valid_tokens(evaluate(write("short.txt", "To be."), "")), 6U);
  // The run's own text, wherever it lies, has a part that the run did not train on.
  EXPECT_EQ(valid_tokens(evaluate(write("moved.txt", prose(1, 1000)), "")), valid_tokens(before));
  EXPECT_EQ(said_.find("is evaluated"), std::string::npos) << said_;
}

TEST_F(PrepareTest, SaysOfANamedTextThatTheRunWasTrainedOnAllOfIt) {
  const std::string text = prose(1, 1000);
  const Settings settings = {{"data.path", write("a.txt", text)},
                             {"data.valid_path", write("v.txt", prose(2, 300))}};
  const std::string run = keep(prepare(settings));
  TextOptions options;  // as of an export, which does not say where the texts lay
  options.table.set("data.path", path("a.txt"), {.kind = ValueSource::Kind::argument});
  const Prepared prepared =
      options.prepare({.purpose = Purpose::evaluate,
                       .cache_dir = path("cache"),
                       .run_dir = run,
                       .say = [this](const std::string& line) { said_ += line + "\n"; }});
  EXPECT_EQ(prepared.extra.at("valid_tokens"), text.size());
  EXPECT_NE(said_.find("is evaluated, on which the run was trained"), std::string::npos) << said_;
}

TEST_F(PrepareTest, EvaluatesANamedTextBesideTheValidationTextOfTheRun) {
  const std::string valid = write("v.txt", prose(2, 300));
  const std::string run =
      keep(prepare({{"data.path", write("a.txt", prose(1, 1000))}, {"data.valid_path", valid}}));
  const auto evaluate = [&](const std::string& file) {
    TextOptions options;
    options.table.set("data.path", file, {.kind = ValueSource::Kind::argument});
    options.table.set("data.valid_path", valid, {.kind = ValueSource::Kind::record});
    const Prepared prepared =
        options.prepare({.purpose = Purpose::evaluate,
                         .cache_dir = path("cache"),
                         .run_dir = run,
                         .say = [this](const std::string& line) { said_ += line + "\n"; }});
    return prepared.extra.at("valid_tokens").get<std::size_t>();
  };
  EXPECT_EQ(evaluate(valid), prose(2, 300).size());
  EXPECT_NE(said_.find("is evaluated, which is the run's validation text"), std::string::npos)
      << said_;
  std::filesystem::remove(valid);
  EXPECT_EQ(evaluate(write("b.txt", prose(3, 500))), prose(3, 500).size());
}

// Records of old versions have no hashes of the text.
TEST_F(PrepareTest, EvaluatesTheValidationPartWhereTheRecordCannotTellTheText) {
  const std::string file = write("a.txt", prose(1, 1000));
  const Prepared before = prepare({{"data.path", file}});
  const std::string run = keep(before);
  json record = parse_json(read_file(run + "/recipe/prepared.json"));
  for (const char* key : {"train_hash", "valid_hash", "sources"}) record.erase(key);
  write("run/recipe/prepared.json", record.dump());
  TextOptions options;
  options.table.set("data.path", file, {.kind = ValueSource::Kind::argument});
  const Prepared again =
      options.prepare({.purpose = Purpose::evaluate, .cache_dir = path("cache"), .run_dir = run});
  EXPECT_EQ(again.extra.at("valid_tokens"), before.extra.at("valid_tokens"));
}

TEST_F(PrepareTest, ResumesOnTheSameTextInAnotherPlaceOnly) {
  const auto resume = [&](const std::string& file, const std::string& run) {
    return prepare({{"data.path", file}}, "cache", Purpose::train, run);
  };
  const Prepared before = prepare({{"data.path", write("a.txt", prose(1, 1000))}});
  const std::string run = keep(before);
  std::filesystem::create_directory(path("moved"));
  const Prepared after = resume(write("moved/a.txt", prose(1, 1000)), run);
  EXPECT_EQ(tokens_of(after.extra["train"]), tokens_of(before.extra["train"]));
  EXPECT_NE(error_if_any([&] {
              resume(write("b.txt", prose(3, 1000)), run);
            }).find("hold another text than the run began with"),
            std::string::npos);
  EXPECT_NE(error_if_any([&] { resume("synthetic", run); }).find("data.path must be text"),
            std::string::npos);
}

TEST_F(PrepareTest, FilesThatWereOnlyTouchedMayBeResumed) {
  const Settings settings = {{"data.path", write("a.txt", prose(1, 1000))}};
  const Prepared before = prepare(settings);
  const std::string run = keep(before);
  std::filesystem::last_write_time(
      path("a.txt"), std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  EXPECT_EQ(tokens_of(prepare(settings, "cache", Purpose::train, run).extra["train"]),
            tokens_of(before.extra["train"]));
}

TEST_F(PrepareTest, EncodesPromptsWithTheTokenizerOfTheRun) {
  for (Settings settings : all_kinds(write("a.txt", prose(1, 4000)))) {
    const std::string run = keep(prepare(settings));
    settings.push_back({"predict.prompt", "the fox "});
    settings.push_back({"predict.prompt_file", write("prompts.txt", "over\n\nlazy dogs\r\n")});
    std::filesystem::rename(path("a.txt"), path("gone.txt"));  // the corpus is not needed
    const Prepared prepared = prepare(settings, "none", Purpose::predict, run);
    std::filesystem::rename(path("gone.txt"), path("a.txt"));
    EXPECT_EQ(prepared.extra["prompt_texts"], (json{"the fox ", "over", "lazy dogs"}));
    const TokenPieces pieces(prepared.extra["pieces"].get<std::string>());
    std::string text;
    for (const auto& prompt : prepared.extra["prompts"])
      for (const std::int64_t token : prompt) text += pieces.bytes(token);
    EXPECT_EQ(text, "the fox overlazy dogs");
    std::filesystem::remove_all(run);
  }
}

TEST_F(PrepareTest, SaysThatARunHasNoTokenizer) {
  EXPECT_NE(error_if_any([&] {
              prepare({}, "cache", Purpose::predict, path("norun"));
            }).find("has no tokenizer"),
            std::string::npos);
}

TEST_F(PrepareTest, SaysThatTheRecordInARunIsDamaged) {
  const Settings settings = {{"data.path", write("a.txt", prose(1, 1000))}};
  const std::string run = keep(prepare(settings));
  for (const char* damaged : {R"({"key": 7})", R"({"sources": []})"}) {
    write("run/recipe/prepared.json", damaged);
    EXPECT_NE(error_if_any([&] {
                prepare(settings, "cache", Purpose::train, run);
              }).find("prepared.json, which says what was prepared, is damaged"),
              std::string::npos);
  }
}

TEST_F(PrepareTest, ReadsPromptsFromStandardInput) {
  TextOptions options;
  options.table.set("predict.prompt_file", "-");
  std::istringstream input("one\ntwo\n"), empty("\n");
  EXPECT_EQ(read_prompts(options, input), (std::vector<std::string>{"one", "two"}));
  EXPECT_NE(
      error_if_any([&] { read_prompts(options, empty); }).find("standard input holds no prompt"),
      std::string::npos);
  options.table.set("predict.prompt_file", write("nul.txt", std::string("a\0b", 3)));
  EXPECT_NE(error_if_any([&] { read_prompts(options, empty); }).find("is not text"),
            std::string::npos);
}

TEST_F(PrepareTest, AnEmptyPromptIsNeverWithoutATokenToStartFrom) {
  const auto bytes = make_byte_tokenizer();
  EXPECT_EQ(encode_prompt(*bytes, "", 5), (Tokens{0}));
  EXPECT_EQ(encode_prompt(*bytes, "", 1), (Tokens{'\n'}));
  EXPECT_EQ(encode_prompt(*make_char_tokenizer({U'a'}, false, false), "", 1), (Tokens{0}));
}

TEST_F(PrepareTest, SaysThatTheCacheCannotBeWrittenTo) {
  write("file", "x");
  EXPECT_NE(error_if_any([&] {
              prepare({{"data.path", write("a.txt", prose(1, 500))}}, "file");
            }),
            "");
}

// As the build and an installed tree have it: whatever folder they were moved to.
TEST_F(PrepareTest, TheDefaultCorpusIsFoundBesideTheProgramWhereverThatLies) {
  const std::filesystem::path tree = folder_.path() / "moved";
  const std::filesystem::path text = tree / "share/lockstep/textgen/tinyshakespeare.txt";
  std::filesystem::create_directories(text.parent_path());
  std::filesystem::create_directories(tree / "bin");
  EXPECT_NE(error_if_any([&] { default_corpus(tree / "bin"); }).find("set data.path"),
            std::string::npos);
  write_file_atomic(text, prose(1, 500));
  for (const std::filesystem::path& programs : {tree, tree / "bin"}) {
    const std::vector<SourceFile> files = default_corpus(programs);
    ASSERT_EQ(files.size(), 1U);
    EXPECT_EQ(files[0].path, text);
    EXPECT_EQ(files[0].name, "tinyshakespeare.txt");
  }
}

TEST_F(PrepareTest, TheDefaultCorpusIsTheOneOfTheRepository) {
  const std::vector<SourceFile> files = default_corpus();
  ASSERT_EQ(files.size(), 1U);
  const std::string text = read_file(files[0].path);
  EXPECT_TRUE(text == read_file(std::filesystem::path(LOCKSTEP_SOURCE_DIR) /
                                "recipes/textgen/data/tinyshakespeare.txt"));
  EXPECT_EQ(text.size(), 1115394U);
}

TEST_F(PrepareTest, TinyShakespeareHas65CharactersAndANinetyTenSplit) {
  const Prepared prepared = prepare({{"tokenizer.kind", "chars"}});
  EXPECT_NE(said_.find("no data.path is given: the text is the one that comes along"),
            std::string::npos);
  EXPECT_EQ(prepared.extra["vocab"], 65);
  EXPECT_EQ(prepared.extra["train_tokens"], 1003854);
  EXPECT_EQ(prepared.extra["valid_tokens"], 111540);
  EXPECT_EQ(prepared.extra["valid_bytes"], 111539);
  EXPECT_EQ(prepared.extra["eot"], -1);
  EXPECT_TRUE(decode(prepared, "train") + decode(prepared, "valid") ==
              read_file(default_corpus()[0].path));
  EXPECT_GT(prepared.extra["pair_bits_per_byte"], 2.5);
  EXPECT_LT(prepared.extra["pair_bits_per_byte"], 4.5);
}

TEST_F(PrepareTest, RealJsonlLinesAreDocuments) {
  const auto data = testing::test_data("dimabsa/mams_atsa");
  if (!data.why_not.empty()) GTEST_SKIP() << data.why_not;
  const std::string folder = data.path;
  const Prepared prepared = prepare({{"data.path", folder + "/train.jsonl"},
                                     {"data.valid_path", folder + "/val.jsonl"},
                                     {"data.field", "Text"}});
  const Tokens tokens = tokens_of(prepared.extra["train"]);
  EXPECT_EQ(std::count(tokens.begin(), tokens.end(), 0), 4296);  // between 4,297 documents
  EXPECT_NE(error_if_any([&] {
              prepare({{"data.path", folder + "/train.jsonl"}});
            }).find("train.jsonl line 1 has no field \"text\""),
            std::string::npos);
}

TEST_F(PrepareTest, AnExportDoesNotSayWhereItsTextLay) {
  const Settings settings{{"data.path", write("a.txt", prose(1, 4000))}};
  const Prepared first = prepare(settings);
  const std::string run = keep(first);
  json extra = first.extra;
  std::map<std::string, std::string> kept;
  for (const auto& file : first.keep) kept[file.filename().string()] = read_file(file);
  TextOptions().forget_places(extra, kept);
  EXPECT_EQ(extra.dump().find(path()), std::string::npos) << extra;
  for (const auto& [name, content] : kept) {
    EXPECT_EQ(content.find(path()), std::string::npos) << name;
    write("run/recipe/" + name, content);
  }
  EXPECT_EQ(prepare(settings, "cache", Purpose::evaluate, run).extra, first.extra);
}

}  // namespace
}  // namespace lockstep::textgen
