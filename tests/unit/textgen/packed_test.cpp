// Text that lies in archives, in lists of JSON, behind a byte order mark; and files that are none.
#include <zlib.h>
#include <zstd.h>

#include "recipes/textgen/prepare/corpus.h"
#include "recipes/textgen/prepare/json_list.h"
#include "recipes/textgen/prepare/unpacked_file.h"
#include "tests/unit/textgen/text_test.h"

namespace lockstep::textgen {
namespace {

using namespace std::string_literals;

std::string gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// With a checksum, as the program zstd writes it.
std::string zstd(const std::string& text) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress2(context, packed.data(), packed.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return packed;
}

std::string numbered_lines(int count) {
  std::string lines;
  for (int i = 0; i < count; ++i) lines += cat("{\"text\": \"number ", i, "\"}\n");
  return lines;
}

class PackedTest : public TextTest {
 protected:
  Corpus look(const std::vector<std::string>& paths, const Settings& settings = {}) {
    TextOptions options;
    for (const auto& [key, value] : settings) options.table.set(key, value);
    return look_through(list_files(paths, "data.path"), {}, options);
  }
  // Training documents, then those for validation, with '|' between them and '#' between the two.
  static std::string documents(const Corpus& corpus, std::size_t chunk_bytes = 64) {
    std::string train, valid;
    ChunkReader reader(corpus.files, corpus.segments, Cut::space, chunk_bytes);
    for (Chunk chunk; reader.next(chunk);)
      for_each_passage(chunk, "text", 0.1, true, [&](const Passage& passage) {
        std::string& text = passage.valid ? valid : train;
        if (passage.starts_document && !text.empty()) text += '|';
        text += passage.text;
      });
    return train + "#" + valid;
  }
  std::string read(const std::string& name, const Settings& settings = {}) {
    return documents(look({path(name)}, settings));
  }
  // Whatever is wrong, first of the file and then of its documents.
  std::string error_of(const std::string& name) {
    return error_if_any([&] { documents(look({path(name)}, {{"data.valid_share", "0"}})); });
  }
  std::string hint_of(const std::string& name) {
    try {
      look({path(name)});
    } catch (const Error& error) {
      return error.hint();
    }
    return {};
  }
};

TEST_F(PackedTest, ArchivesAreReadAsWhatWasPacked) {
  const std::string text = prose(1, 60'000);
  write("a.txt", text);
  write("gzip/a.txt", gzip(text));  // by its content
  write("a.txt.gz", gzip(text));
  write("a.txt.zst", zstd(text));
  write("parts.gz", gzip(text.substr(0, 1000)) + gzip("") + gzip(text.substr(1000)) + "\0\0"s);
  write("parts.zst",
        "\x50\x2A\x4D\x18\3\0\0\0abc"s + zstd(text.substr(0, 70'000)) + zstd(text.substr(70'000)));
  const std::string expected = read("a.txt");
  EXPECT_EQ(expected.size(), text.size() + 1);
  for (const char* name : {"gzip/a.txt", "a.txt.gz", "a.txt.zst", "parts.gz", "parts.zst"})
    EXPECT_TRUE(read(name) == expected) << name;
}

TEST_F(PackedTest, LinesInArchivesAreDocuments) {
  write("a.jsonl", numbered_lines(40));
  const std::string plain = read("a.jsonl", {{"data.split", "tail"}});
  EXPECT_TRUE(plain.starts_with("number 0|number 1|")) << plain;
  write("a.jsonl.gz", gzip(numbered_lines(40)));
  write("a.ndjson.zst", zstd(numbered_lines(40)));
  for (const char* name : {"a.jsonl.gz", "a.ndjson.zst"}) {
    EXPECT_EQ(look({path(name)}).documents, 40) << name;
    EXPECT_EQ(read(name, {{"data.split", "tail"}}), plain) << name;
  }
}

TEST_F(PackedTest, FoldersMayHoldArchives) {
  write("folder/a.jsonl.gz", gzip(numbered_lines(20)));
  write("folder/b.txt.zst", zstd("a text"));
  write("folder/empty.txt.gz", gzip(""));
  const Corpus corpus = look({path("folder")});
  EXPECT_EQ(corpus.documents, 21);
  EXPECT_EQ(corpus.passed_over, 1);
  EXPECT_EQ(corpus.first_passed_over, "empty.txt.gz holds no text");
}

// Also where it lies in a folder: its text would be missing without a word.
TEST_F(PackedTest, DamagedArchivesAreNamed) {
  const std::string text = prose(1, 5000);
  for (const std::string& packed : {gzip(text), zstd(text)}) {
    write("folder/a.txt", packed.substr(0, packed.size() / 2));
    EXPECT_NE(error_of("folder").find("a.txt: the archive breaks off"), std::string::npos);
    write("folder/a.txt", packed.substr(0, packed.size() - 1));
    EXPECT_NE(error_of("folder").find("a.txt: the archive breaks off"), std::string::npos);
    for (const std::size_t at : {packed.size() / 2, packed.size() - 6}) {
      std::string damaged = packed;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
      write("folder/a.txt", damaged);
      EXPECT_NE(error_of("folder").find("cannot read"), std::string::npos);
      EXPECT_NE(error_of("folder").find("a.txt: the archive is damaged: "), std::string::npos)
          << error_of("folder");
    }
    write("folder/a.txt", packed + "something else");
    EXPECT_NE(error_of("folder").find("a.txt: the archive is damaged: "), std::string::npos);
  }
}

TEST_F(PackedTest, ArchivesOfFarTooMuchAreRefused) {
  const std::string text(least_bomb_bytes + (1 << 20), 'a');
  for (const std::string& packed : {gzip(text), zstd(text)}) {
    write("bomb", packed);
    EXPECT_NE(error_of("bomb").find("bomb: the archive unpacks to more than 200 times its size"),
              std::string::npos);
  }
}

TEST_F(PackedTest, AnotherArchiveIsAnotherText) {
  const Settings settings = {{"data.path", write("a.txt.gz", gzip(prose(1, 2000)))}};
  const Prepared first = prepare(settings);
  said_.clear();
  EXPECT_EQ(prepare(settings).data_hash, first.data_hash);
  EXPECT_EQ(said_, "") << "it is kept";
  write("a.txt.gz", gzip(prose(2, 2000)));
  EXPECT_NE(prepare(settings).data_hash, first.data_hash);
}

TEST_F(PackedTest, AByteOrderMarkIsNoText) {
  const std::string text = prose(1, 2000), mark(byte_order_mark);
  const auto characters = [&](const std::string& name, const std::string& content) {
    const Prepared prepared =
        prepare({{"data.path", write(name, content)}, {"tokenizer.kind", "chars"}});
    return std::pair(prepared.data_hash, prepared.extra.at("vocab"));
  };
  const auto plain = characters("a.txt", text);
  EXPECT_EQ(characters("b.txt", mark + text), plain);
  EXPECT_EQ(characters("c.txt.gz", gzip(mark + text)), plain);
  write("d.txt", mark);
  EXPECT_NE(error_of("d.txt").find("d.txt holds no text"), std::string::npos);
  write("e.jsonl", mark + numbered_lines(2));
  EXPECT_EQ(read("e.jsonl", {{"data.valid_share", "0"}}), "number 0|number 1#");
}

TEST_F(PackedTest, AListOfJsonIsDocuments) {
  const Settings all = {{"data.valid_share", "0"}};
  write("a.json", R"([{"text": "one"}, {"text": "two"}])");
  EXPECT_EQ(read("a.json", all), "one|two#");
  write("a.json", "\xEF\xBB\xBF [\r\n  \"one, ]\\\"\\n\",\n  \"\",\n  \"two\\\\\"\n]\n");
  EXPECT_EQ(read("a.json", all), "one, ]\"\n|two\\#");
  write("a.json", R"([{"id": [1, {"a": "}"}],
                       "text": "one"
                      },
                      "two", {"score": NaN, "text": "three"}])");
  EXPECT_EQ(read("a.json", all), "one|two|three#");
  write("a.json.gz", gzip(read_file(path("a.json"))));
  EXPECT_EQ(read("a.json.gz", all), "one|two|three#");
}

TEST_F(PackedTest, LinesInAFileOfJsonAreDocuments) {
  write("a.json", numbered_lines(3));
  EXPECT_EQ(read("a.json", {{"data.valid_share", "0"}}), "number 0|number 1|number 2#");
}

TEST_F(PackedTest, AListOfJsonIsSplitAtItsDocuments) {
  std::string list = "[";
  for (int i = 0; i < 400; ++i) list += cat(i > 0 ? ",\n" : "", "{\"text\": \"", i, "\"}");
  write("a.json", list + "]");
  const Corpus corpus = look({path("a.json")});
  EXPECT_EQ(corpus.documents, 400);
  const std::string both = documents(corpus);
  EXPECT_EQ(split(both, '|').size(), 399u);  // one for validation stands behind '#'
  EXPECT_EQ(read("a.json", {{"data.split", "tail"}, {"data.valid_share", "0.004"}}).substr(0, 6),
            "0|1|2|");
}

TEST_F(PackedTest, OtherFilesOfJsonAreNoText) {
  for (const char* text : {"{\n \"text\": \"one\"\n}", "{\"name\": \"a\", \"version\": 1}\n",
                           "[1, 2]", "[[\"a\"]]", "[{\"body\": \"a\"}]", "5", "\"a\"", "words"}) {
    write("a.json", text);
    EXPECT_NE(error_of("a.json").find("a.json is JSON, but neither a list of texts"),
              std::string::npos)
        << text;
    write("folder/a.json", text);
    write("folder/b.txt", "words");
    EXPECT_EQ(read("folder", {{"data.valid_share", "0"}}), "words#");
  }
  write("a.json", "[]");
  EXPECT_NE(error_of("a.json").find("a.json holds no text"), std::string::npos);
}

TEST_F(PackedTest, SaysWhatIsWrongWithAListOfJson) {
  const auto error = [&](const std::string& list) {
    write("a.json", list);
    return error_of("a.json");
  };
  EXPECT_NE(error("[\"a\", \"b\"").find("a.json breaks off: the list has no ]"), std::string::npos);
  EXPECT_NE(error("[\"a\", \"b").find("a.json breaks off"), std::string::npos);
  EXPECT_NE(error("[\"a\"] [\"b\"]").find("a.json goes on behind the list's end"),
            std::string::npos);
  EXPECT_NE(error("[\"a\",, \"b\"]").find("document 2 is nothing but a comma"), std::string::npos);
  EXPECT_NE(error("[\"a\",]").find("document 2 is nothing but a comma"), std::string::npos);
  EXPECT_NE(error("[\"a\", \"b\nc\"]").find("document 2 has a line break within a text"),
            std::string::npos);
  EXPECT_NE(
      error("[\"a\", 5]").find("a.json document 2 must be a JSON object or a text, but is number"),
      std::string::npos);
  EXPECT_NE(error("[\"a\", {\"b\": 1}]").find("document 2 has no field \"text\""),
            std::string::npos);
  EXPECT_NE(error("[\"a\" \"b\"]").find("document 1 is not JSON: column "), std::string::npos);
  EXPECT_NE(error(R"(["\ud83d"])").find("document 1 is not JSON: column 8: half of a surrogate"),
            std::string::npos)
      << error(R"(["\ud83d"])");
}

TEST(JsonListLines, AreTheSameInPartsOfAnyLength) {
  const std::string list = "[ {\"a\": [\"\\\\\\\"]\", 1]\n} , \"b,\\u0041\" ,[ ] ] \n";
  std::string whole;
  JsonListLines lines;
  lines.push(list, whole);
  lines.finish();
  EXPECT_EQ(split(whole, '\n').size(), 4u) << whole;
  for (std::size_t size = 1; size < list.size(); ++size) {
    std::string parts;
    JsonListLines reader;
    for (std::size_t at = 0; at < list.size(); at += size)
      reader.push(std::string_view(list).substr(at, size), parts);
    reader.finish();
    EXPECT_EQ(parts, whole);
  }
}

TEST_F(PackedTest, ALineThatIsNoJsonSaysColumnAndReason) {
  const auto error = [&](const std::string& line) {
    write("a.jsonl", "{\"text\": \"one\"}\n" + line + "\n");
    return error_of("a.jsonl");
  };
  EXPECT_NE(error(R"({"text": "w\u00f6 )"
                  "\u00f6"
                  R"( \ud83d"})")
                .find("a.jsonl line 2 is not JSON: column 27: half of a surrogate pair"),
            std::string::npos)
      << error(R"({"text": "w\u00f6 )"
               "\u00f6"
               R"( \ud83d"})");
  EXPECT_NE(error("{\"text\": \"a\", 5}").find("line 2 is not JSON: column 15: unexpected number"),
            std::string::npos)
      << error("{\"text\": \"a\", 5}");
}

TEST_F(PackedTest, NumbersThatPythonWritesDoNotMatter) {
  write("a.jsonl", "{\"text\": \"NaN\", \"score\": NaN}\n{\"text\": \"b\", \"x\": [-Infinity]}\n");
  EXPECT_EQ(read("a.jsonl", {{"data.valid_share", "0"}}), "NaN|b#");
  write("b.jsonl", "{\"text\": NaN}\n");
  EXPECT_NE(error_of("b.jsonl").find("line 1 field \"text\" must be a text, but is null"),
            std::string::npos)
      << "it is no text";
}

TEST_F(PackedTest, FilesOfOtherKindsAreNamed) {
  struct Case {
    const char* name;
    std::string bytes, what, remedy;
  };
  const Case cases[] = {
      {"a.parquet", "PAR1\x15\4\x15\0"s, "is a Parquet file", "read_parquet"},
      {"a.arrow", "ARROW1\0\0"s, "is an Arrow file", "read_feather"},
      {"b.arrow", "\xFF\xFF\xFF\xFF\x10\1\0\0"s, "is an Arrow stream", "datasets"},
      {"a.bz2", "BZh91AY&SY\x12"s, "is a bzip2 archive", "bzip2 -dc a.bz2 > NEW"},
      {"a.xz", "\xFD\x37zXZ\0\0\4"s, "is an xz archive", "xz -dc a.xz > NEW"},
      {"a.docx", "PK\3\4\x14\0"s, "is a document of a word processor", "plain text"},
      {"a.zip", "PK\3\4\x14\0"s, "is a zip archive", "unzip"},
      {"a.pdf", "%PDF-1.7\n%words\n"s, "is a PDF", "pdftotext"},
      {"a.pkl", "\x80\4\x95\x10\0\0\0\0\0\0\0"s, "is a pickle of Python", "JSON lines, with"},
      {"a.tar.gz", gzip("a.txt"s + std::string(252, '\0') + "ustar\0"s), "is a tar archive",
       "tar -xvf"},
      {"a.gz.gz", gzip(gzip("words")), "is packed twice", "once"},
      {"a.txt", "\xFF\xFE"s + "w\0o\0r\0d\0"s, "is text in UTF-16, but", "iconv -f UTF-16 "},
      {"b.txt", "\xFE\xFF"s + "\0w\0o\0r\0d"s, "is text in UTF-16, but", "iconv -f UTF-16 "},
      {"c.txt", "w\0o\0r\0d\0s\0"s, "is text in UTF-16LE, but", "iconv -f UTF-16LE "},
      {"d.txt", "\0w\0o\0r\0d\0s"s, "is text in UTF-16BE, but", "iconv -f UTF-16BE "},
      {"e.txt", "\xFF\xFE\0\0w\0\0\0"s, "is text in UTF-32, but", "iconv -f UTF-32 "},
  };
  for (const auto& [name, bytes, what, remedy] : cases) {
    write(name, bytes);
    EXPECT_NE(error_of(name).find(cat(name, " ", what)), std::string::npos) << error_of(name);
    EXPECT_NE(hint_of(name).find(remedy), std::string::npos) << hint_of(name);
  }
  write("folder/a.parquet", cases[0].bytes);
  EXPECT_NE(error_of("folder").find("holds no text: none of its files is UTF-8 text; "
                                    "a.parquet is a Parquet file"),
            std::string::npos)
      << error_of("folder");
  write("folder/b.txt", prose(1, 2000));
  prepare({{"data.path", path("folder")}});
  EXPECT_NE(said_.find("passed over 1 file that is not text: a.parquet is a Parquet file"),
            std::string::npos)
      << said_;
}

}  // namespace
}  // namespace lockstep::textgen
