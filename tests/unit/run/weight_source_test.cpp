// What a path of init.from stands for.
#include "run/weight_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "fakes/error_of.h"
#include "run/safetensors.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A safetensors file of such tensors, f32 of one element.
void write_weights(const fs::path& file, const std::vector<std::string>& names,
                   const std::map<std::string, std::string>& metadata = {}) {
  std::vector<TensorEntry> entries;
  for (const std::string& name : names)
    entries.push_back({.name = name, .dtype = "F32", .shape = {1}});
  std::ofstream out(file, std::ios::binary);
  out << make_header(entries, metadata) << std::string(names.size() * 4, '\0');
}

class Source : public ::testing::Test {
 protected:
  fs::path path(const std::string& name) const { return folder_.path() / name; }
  WeightSource find(const std::string& name) const {
    return find_weight_source(path(name), false, true);
  }
  std::vector<std::string> names(const std::string& name) const {
    std::vector<std::string> names;
    for (const SourceTensor& tensor : read_source(find(name))) names.push_back(tensor.stored.name);
    return names;
  }
  TemporaryDirectory folder_;
};

TEST_F(Source, IsAFileOrAFolderWithOne) {
  write_weights(path("a.safetensors"), {"x"});
  EXPECT_THAT(names("a.safetensors"), ElementsAre("x"));
  EXPECT_THAT(names("."), ElementsAre("x"));
  write_weights(path("b.safetensors"), {"y"});
  EXPECT_THAT(error_of([&] { find("."); }), HasSubstr("2 files of weights"));
  write_weights(path("model.safetensors"), {"z"});
  EXPECT_THAT(names("."), ElementsAre("z"));
}

TEST_F(Source, IsAnIndexOfPiecesBesideIt) {
  write_weights(path("model-1.safetensors"), {"x"});
  write_weights(path("model-2.safetensors"), {"y"});
  const auto write_index = [&](const std::string& second) {
    write_file_atomic(
        path("model.safetensors.index.json"),
        R"({"metadata":{},"weight_map":{"x":"model-1.safetensors","y":")" + second + "\"}}");
  };
  write_index("model-2.safetensors");
  EXPECT_THAT(names("."), ElementsAre("x", "y"));
  write_index("model-3.safetensors");
  EXPECT_THAT(error_of([&] { find("."); }), HasSubstr("model-3.safetensors is missing"));
  write_index("../../etc/passwd");
  EXPECT_THAT(error_of([&] { find("."); }), HasSubstr("which is no file beside it"));
  write_weights(path("model-2.safetensors"), {"x"});
  write_index("model-2.safetensors");
  EXPECT_THAT(error_of([&] { names("."); }), HasSubstr("is in two files"));
}

TEST_F(Source, HasOtherNamesOfItsTensors) {
  write_weights(path("a.safetensors"), {"x"}, {{"tied", "x"}, {"format", "pt"}});
  const auto tensors = read_source(find("a.safetensors"));
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(tensors[1].stored.name, "tied");
  EXPECT_TRUE(tensors[1].is_alias);
  EXPECT_EQ(tensors[1].stored.begin, tensors[0].stored.begin);
}

TEST_F(Source, ThatIsNoneIsNamed) {
  EXPECT_THAT(error_of([&] { find("none"); }), HasSubstr("there is no"));
  EXPECT_THAT(error_of([&] { find("."); }), HasSubstr("holds no weights"));
  write_file_atomic(path("text.bin"), "just some text");
  EXPECT_THAT(error_of([&] { names("text.bin"); }),
              HasSubstr("neither a file of torch.save nor of safetensors"));
}

TEST_F(Source, IsRecordedWithItsHash) {
  write_weights(path("a.safetensors"), {"x"});
  const nlohmann::json json = to_json(find("a.safetensors"), /*hashed=*/true);
  EXPECT_EQ(json.at("files").at(0).at("path"), path("a.safetensors").string());
  EXPECT_EQ(json.at("files").at(0).at("xxh3").get<std::string>().size(), 32U);
  EXPECT_EQ(weight_source_from_json(json).files.at(0), path("a.safetensors"));
  std::string bytes = read_file(path("a.safetensors"));
  bytes.back() ^= 1;
  write_file_atomic(path("a.safetensors"), bytes);
  EXPECT_THAT(error_of([&] { weight_source_from_json(json); }),
              HasSubstr("content has changed since"));
  write_weights(path("a.safetensors"), {"x", "y"});
  EXPECT_THAT(error_of([&] { weight_source_from_json(json); }), HasSubstr("has changed since"));
}

TEST_F(Source, ThatIsAnExportIsCheckedWhole) {
  write_weights(path("a.safetensors"), {"x"}, {{"lockstep.checksum", std::string(32, '0')}});
  EXPECT_THAT(error_of([&] { find("a.safetensors"); }), HasSubstr("is damaged"));
}

}  // namespace
}  // namespace lockstep
