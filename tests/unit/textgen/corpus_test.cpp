#include "recipes/textgen/prepare/corpus.h"

#include <cmath>
#include <stdexcept>

#include "recipes/textgen/prepare/parallel.h"
#include "recipes/textgen/prepare/tokenizers/pair_table.h"
#include "tests/unit/textgen/text_test.h"

namespace lockstep::textgen {
namespace {

class CorpusTest : public TextTest {
 protected:
  std::vector<SourceFile> list(const std::vector<std::string>& paths) {
    return list_files(paths, "data.path");
  }
  std::vector<std::string> names(const std::vector<std::string>& paths) {
    std::vector<std::string> all;
    for (const SourceFile& file : list(paths)) all.push_back(file.name);
    return all;
  }
  Corpus look(const std::vector<std::string>& paths, const Settings& settings = {},
              const std::vector<std::string>& valid = {}) {
    TextOptions options;
    for (const auto& [key, value] : settings) options.table.set(key, value);
    return look_through(list(paths), list_files(valid, "data.valid_path"), options);
  }
  // The text of each part, documents joined with '|'.
  std::pair<std::string, std::string> parts(const Corpus& corpus, double share = 0.1,
                                            std::size_t chunk_bytes = 64) {
    std::pair<std::string, std::string> both;
    ChunkReader reader(corpus.files, corpus.segments, Cut::space, chunk_bytes);
    for (Chunk chunk; reader.next(chunk);)
      for_each_passage(chunk, "text", share, true, [&](const Passage& passage) {
        std::string& text = passage.valid ? both.second : both.first;
        if (passage.starts_document && !text.empty()) text += '|';
        text += passage.text;
      });
    return both;
  }
};

TEST_F(CorpusTest, ListsFilesFoldersAndGlobsSortedAndOnce) {
  write("a/z.txt", "z");
  write("a/b/y.txt", "y");
  write("a/empty.txt", "");
  write("a/.git/x.txt", "x");
  write("a/.hidden", "x");
  write("c1.txt", "1");
  write("c2.txt", "2");
  EXPECT_EQ(names({path("a")}), (std::vector<std::string>{"b/y.txt", "z.txt"}));
  EXPECT_EQ(names({path("c?.txt"), path("c1.txt"), path("a/b")}),
            (std::vector<std::string>{"c1.txt", "c2.txt", "y.txt"}));
  EXPECT_EQ(names({path("[ac]*")}),
            (std::vector<std::string>{"b/y.txt", "z.txt", "c1.txt", "c2.txt"}));
}

TEST_F(CorpusTest, TakesANameWithGlobCharactersAsAFileWhereThereIsOne) {
  write("a[1].txt", "x");
  EXPECT_EQ(names({path("a[1].txt")}), (std::vector<std::string>{"a[1].txt"}));
}

TEST_F(CorpusTest, LeavesOutLinksToNothingWhoseNamesLookLikePatterns) {
  std::filesystem::create_symlink("nowhere", path("*x"));
  write("a.txt", "a");
  EXPECT_EQ(names({path("*")}), (std::vector<std::string>{"a.txt"}));
  EXPECT_NE(error_if_any([&] { list({path("*x")}); }).find("no file matches"), std::string::npos);
}

TEST_F(CorpusTest, SaysWhatIsMissingOrEmpty) {
  write("empty.txt", "");
  std::filesystem::create_directory(path("folder"));
  const auto error = [&](const std::string& name) {
    return error_if_any([&] { list({path(name)}); });
  };
  EXPECT_NE(error("none.txt").find("data.path: there is no file or folder"), std::string::npos);
  EXPECT_NE(error("none*").find("no file matches"), std::string::npos);
  EXPECT_NE(error("empty.txt").find("empty.txt is empty"), std::string::npos);
  EXPECT_NE(error("folder").find("holds no files with text"), std::string::npos);
  EXPECT_NE(error_if_any([&] { list({"/dev/null"}); }).find("neither a file nor a folder"),
            std::string::npos);
}

TEST_F(CorpusTest, RefusesANamedFileThatIsNotText) {
  write("nul.txt", std::string("abc\0def", 7));
  write("latin.txt", "gr\xFC\xDF dich");
  EXPECT_NE(
      error_if_any([&] { look({path("nul.txt")}); }).find("nul.txt is not text: byte 3 is NUL"),
      std::string::npos);
  EXPECT_NE(error_if_any([&] {
              look({path("latin.txt")});
            }).find("latin.txt is not text: 2 of its 9 bytes are not valid UTF-8"),
            std::string::npos);
}

TEST_F(CorpusTest, RefusesWhatGitDidNotFetch) {
  write("a/b.txt", prose(1, 50));
  write("a/c.jsonl", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n");
  EXPECT_NE(error_if_any([&] { look({path("a")}); }).find("c.jsonl: it is a pointer of Git LFS"),
            std::string::npos);
}

TEST_F(CorpusTest, PassesOverFilesInFoldersThatAreNotText) {
  write("a/image.png", std::string("\x89PNG\0\0", 6));
  write("a/b.txt", prose(1, 50));
  const Corpus corpus = look({path("a")});
  EXPECT_EQ(corpus.passed_over, 1);
  EXPECT_EQ(corpus.files.size(), 1u);
  write("only/image.png", std::string("\x89PNG\0\0", 6));
  EXPECT_NE(error_if_any([&] { look({path("only")}); }).find("holds no text"), std::string::npos);
}

TEST_F(CorpusTest, AllowsAFewFaultyBytes) {
  write("a.txt", std::string(1000, 'a') + "\xFF");
  EXPECT_EQ(look({path("a.txt")}).files.size(), 1u);
}

TEST_F(CorpusTest, SplitsTheTailOfFewDocuments) {
  const std::string text = prose(2, 400);
  write("a.txt", text);
  const auto [train, valid] = parts(look({path("a.txt")}));
  EXPECT_EQ(train + valid, text);
  EXPECT_EQ(train.size(), static_cast<std::size_t>(static_cast<double>(text.size()) * 0.9));
}

TEST_F(CorpusTest, CutsTheTailBetweenCharacters) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "\u6f22";
  write("a.txt", text);
  for (const char* share : {"0.101", "0.102", "0.103", "0.104"}) {
    const auto [train, valid] = parts(look({path("a.txt")}, {{"data.valid_share", share}}));
    EXPECT_EQ(train + valid, text);
    EXPECT_EQ(invalid_bytes(train), 0u);
    EXPECT_EQ(valid.size() % 3, 0u);
  }
}

TEST_F(CorpusTest, CutsTheTailOverSeveralFiles) {
  write("a.txt", std::string(60, 'a'));
  write("b.txt", std::string(40, 'b'));
  const Settings half = {{"data.valid_share", "0.5"}};
  const auto [train, valid] = parts(look({path("a.txt"), path("b.txt")}, half));
  EXPECT_EQ(train, std::string(50, 'a'));
  EXPECT_EQ(valid, std::string(10, 'a') + "|" + std::string(40, 'b'));
}

TEST_F(CorpusTest, CutsTheTailOfJsonlAtALine) {
  std::string lines;
  for (int i = 0; i < 10; ++i) lines += cat("{\"text\": \"", i, "\"}\n");
  write("a.jsonl", lines);
  const auto [train, valid] = parts(look({path("a.jsonl")}, {{"data.valid_share", "0.25"}}));
  EXPECT_EQ(train, "0|1|2|3|4|5|6|7");
  EXPECT_EQ(valid, "8|9");
}

TEST_F(CorpusTest, SplitsManyDocumentsByName) {
  std::string lines;
  for (int i = 0; i < 400; ++i) lines += cat("{\"text\": \"", i, "\"}\n", i % 7 == 0 ? "\n" : "");
  write("a.jsonl", lines);
  const Corpus corpus = look({path("a.jsonl")});
  EXPECT_EQ(corpus.documents, 400);
  const auto [train, valid] = parts(corpus);
  const auto count = [](const std::string& text) { return split(text, '|').size(); };
  EXPECT_EQ(count(train) + count(valid), 400u);
  EXPECT_NEAR(static_cast<double>(count(valid)), 40, 20);
  // Documents stay where they are when others are added behind them.
  write("a.jsonl", lines + "{\"text\": \"new\"}\n");
  const auto [more_train, more_valid] = parts(look({path("a.jsonl")}));
  EXPECT_TRUE(more_train.starts_with(train));
  EXPECT_TRUE(more_valid.starts_with(valid));
}

TEST_F(CorpusTest, SplitsManyFilesByNameAndFewOnRequest) {
  for (int i = 0; i < 40; ++i) write(cat("many/", i, ".txt"), cat("text ", i, "\n"));
  const Corpus corpus = look({path("many")});
  EXPECT_EQ(corpus.segments.size(), 40u);
  for (const Segment& segment : corpus.segments)
    EXPECT_EQ(segment.role == Role::valid, is_validation(corpus.files[segment.file].name, 0.1));
  const Corpus tail = look({path("many")}, {{"data.split", "tail"}});
  EXPECT_EQ(tail.segments.back().role, Role::valid);
  EXPECT_NE(error_if_any([&] {
              look({path("many/1.txt")}, {{"data.split", "documents"}});
            }).find("data.split=documents leaves 0 of 1 documents"),
            std::string::npos);
}

TEST_F(CorpusTest, ValidatesOnTheFilesGiven) {
  write("a.txt", "train");
  write("b.txt", "valid");
  const auto [train, valid] = parts(look({path("a.txt")}, {}, {path("b.txt")}));
  EXPECT_EQ(train, "train");
  EXPECT_EQ(valid, "valid");
}

TEST_F(CorpusTest, NamesFileAndLineOfABadJsonlLine) {
  const auto error = [&](const std::string& line, const std::string& field = "text") {
    write("a.jsonl", "{\"text\": \"one\"}\n\n" + line + "\n{\"text\": \"two\"}\n");
    return error_if_any([&] {
      const Corpus corpus = look({path("a.jsonl")}, {{"data.valid_share", "0"}});
      ChunkReader reader(corpus.files, corpus.segments, Cut::space, 16);
      for (Chunk chunk; reader.next(chunk);)
        for_each_passage(chunk, field, 0, true, [](const Passage&) {});
    });
  };
  EXPECT_EQ(error("{\"text\": \"x\"}"), "");
  EXPECT_EQ(error("{\"text\": \"\"}"), "");
  EXPECT_NE(error("{\"text\": ").find("a.jsonl line 3 is not JSON"), std::string::npos);
  EXPECT_NE(error("[1]").find("line 3 must be a JSON object, but is array"), std::string::npos);
  EXPECT_NE(error("{\"body\": \"x\"}").find("line 3 has no field \"text\""), std::string::npos);
  EXPECT_NE(error("{\"text\": 5}").find("field \"text\" must be a text, but is number"),
            std::string::npos);
  EXPECT_NE(error("{\"text\": \"a\\u0000b\"}").find("line 3 field \"text\" holds a NUL"),
            std::string::npos);
  EXPECT_NE(error("{}", "body").find("line 1 has no field \"body\""), std::string::npos);
}

TEST_F(CorpusTest, ChunksAreTheWholeFileWhateverTheirSize) {
  std::mt19937_64 random(8);
  const std::string text = random_text(random, 3000) + std::string(200, 'x') + prose(1, 100);
  write("a.txt", text);
  const std::vector<SourceFile> files = list({path("a.txt")});
  const std::vector<Segment> segments = {{.end = files[0].bytes}};
  for (const Cut cut : {Cut::space, Cut::character})
    for (const std::size_t size : {8, 50, 1000, 100000}) {
      ChunkReader reader(files, segments, cut, size);
      std::string all;
      int starts = 0, ends = 0;
      for (Chunk chunk; reader.next(chunk);) {
        EXPECT_EQ(invalid_bytes(chunk.bytes), 0u);
        EXPECT_FALSE(chunk.bytes.empty());
        all += chunk.bytes;
        starts += chunk.starts_document;
        ends += chunk.ends_document;
      }
      EXPECT_EQ(all, text);
      EXPECT_EQ(starts, 1);
      EXPECT_EQ(ends, 1);
    }
}

TEST_F(CorpusTest, SaysThatAFileBecameShorter) {
  write("a.txt", "1234567890");
  const std::vector<SourceFile> files = list({path("a.txt")});
  const std::vector<Segment> segments = {{.end = files[0].bytes}};
  write("a.txt", "123");
  ChunkReader reader(files, segments, Cut::character);
  Chunk chunk;
  EXPECT_NE(error_if_any([&] { reader.next(chunk); }).find("became shorter"), std::string::npos);
}

TEST(OrderedParallel, KeepsTheOrderAndThrowsTheFirstError) {
  const auto run = [](int count, int faulty) {
    std::vector<int> out;
    std::vector workers(3, [faulty](int item) {
      if (item >= faulty) throw Error(cat("item ", item));
      return item * item;
    });
    int at = 0;
    const std::string error = error_if_any([&] {
      ordered_parallel<int, int>([&](int& item) { return (item = at++) < count; }, workers,
                                 [&](int result) { out.push_back(result); });
    });
    return std::pair(out, error);
  };
  for (const int count : {0, 1, 11, 12, 13, 100}) {
    const auto [out, error] = run(count, 1000);
    EXPECT_EQ(error, "");
    ASSERT_EQ(out.size(), static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) EXPECT_EQ(out[static_cast<std::size_t>(i)], i * i);
  }
  const auto [out, error] = run(100, 17);
  EXPECT_EQ(error, "item 17 | ");
  EXPECT_EQ(out.size(), 17u);
}

TEST(PairTable, NearsTheEntropyOfAKnownSource) {
  // After a comes b or c, each half of the time; after those, a: half a bit a byte.
  std::mt19937_64 random(1);
  const auto make = [&](int length) {
    std::string text;
    for (int i = 0; i < length; ++i) text += random() % 2 == 0 ? "ab" : "ac";
    return text;
  };
  PairCounts train, valid;
  train.add(make(100000), true, false);
  valid.add(make(10000), true, false);
  EXPECT_NEAR(pair_bits_per_byte(train, valid), 0.5, 0.01);
  EXPECT_EQ(pair_bits_per_byte(train, PairCounts()), 0);
}

TEST(PairTable, GivesEveryByteAChance) {
  PairCounts train, valid;
  train.add("aaaa", true, true);
  valid.add("\xFF\xFE", true, true);
  const double bits = pair_bits_per_byte(train, valid);
  EXPECT_TRUE(std::isfinite(bits));
  EXPECT_GT(bits, 5);
}

TEST(PairTable, CountsPartsOfADocumentAsTheWholeButForTheSeam) {
  PairCounts whole, part;
  whole.add("abcd", true, true);
  part.add("ab", true, false);
  part.add("cd", false, true);
  for (unsigned a = 0; a < 256; ++a)
    for (unsigned b = 0; b < 256; ++b)
      ASSERT_EQ(part.at(a, b), a == 'b' && b == 'c' ? 0 : whole.at(a, b));
}

}  // namespace
}  // namespace lockstep::textgen
