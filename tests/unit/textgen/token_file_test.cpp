#include "recipes/textgen/options/token_file.h"

#include "recipes/textgen/options/token_pieces.h"
#include "recipes/textgen/prepare/token_writer.h"
#include "tests/unit/textgen/text_test.h"

namespace lockstep::textgen {
namespace {

using TokenFileTest = TextTest;

TEST_F(TokenFileTest, ReadsBackWhatWasWrittenInBothWidths) {
  for (const std::int64_t vocab : {65536, 65537}) {
    std::mt19937_64 random(1);
    std::vector<std::uint32_t> tokens(700000);  // more than the writer's buffer
    for (std::uint32_t& token : tokens)
      token = static_cast<std::uint32_t>(random() % static_cast<std::uint64_t>(vocab));
    TokenWriter writer(path("a.tok"), vocab);
    writer.write(tokens);
    EXPECT_EQ(writer.count(), 700000);
    writer.finish();
    EXPECT_EQ(tokens_of(path("a.tok")), tokens);
    EXPECT_EQ(std::filesystem::file_size(path("a.tok")), 24u + 700000u * (vocab > 65536 ? 4 : 2));
    std::vector<std::int32_t> part(3);
    const TokenFile file(path("a.tok"));
    file.copy(699997, 3, part.data());
    EXPECT_EQ(part[2], static_cast<std::int32_t>(tokens.back()));
    EXPECT_EQ(file.at(699999), part[2]);
  }
}

TEST_F(TokenFileTest, RefusesFilesThatAreNotWhole) {
  TokenWriter writer(path("a.tok"), 256);
  for (std::uint32_t i = 0; i < 100; ++i) writer.write(i);
  writer.finish();
  const std::string good = read_file(path("a.tok"));
  for (const std::string& bad :
       {good.substr(0, good.size() - 1), good.substr(0, good.size() - 2), good + "x",
        std::string("short"), std::string(), "X" + good.substr(1)}) {
    write("bad.tok", bad);
    EXPECT_NE(error_if_any([&] { TokenFile file(path("bad.tok")); }).find("not a whole token file"),
              std::string::npos);
  }
  EXPECT_NE(error_if_any([&] { TokenFile file(path("none.tok")); }).find("cannot read"),
            std::string::npos);
}

TEST_F(TokenFileTest, SaysWhyItCannotWrite) {
  EXPECT_NE(
      error_if_any([&] { TokenWriter writer(path("no/folder.tok"), 256); }).find("No such file"),
      std::string::npos);
}

TEST_F(TokenFileTest, KeepsPiecesWithAnyBytes) {
  const std::vector<std::string> pieces = {"", std::string("\0x", 2), "the", "", "\xFF"};
  write("pieces.bin", encode_pieces(pieces));
  const TokenPieces read(path("pieces.bin"));
  ASSERT_EQ(read.size(), 5);
  for (std::int64_t i = 0; i < 5; ++i)
    EXPECT_EQ(read.bytes(i), pieces[static_cast<std::size_t>(i)]);
  EXPECT_EQ(read.bytes(5), "");  // a row that only pads the embedding
  EXPECT_EQ(read.bytes(-1), "");
  const std::string good = encode_pieces(pieces);
  write("bad.bin", good.substr(0, good.size() - 1));
  EXPECT_NE(error_if_any([&] { TokenPieces bad(path("bad.bin")); }).find("not a whole file"),
            std::string::npos);
}

}  // namespace
}  // namespace lockstep::textgen
