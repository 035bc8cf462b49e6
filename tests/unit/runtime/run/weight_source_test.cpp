// What a path of init.from stands for.
#include "runtime/run/checkpoint/weight_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "fakes/error_of.h"
#include "runtime/run/formats/safetensors.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
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

// As diffusers names it.
TEST_F(Source, IsTheOnlyIndexOfAFolder) {
  write_weights(path("diffusion-1.safetensors"), {"x"});
  write_weights(path("diffusion-2.safetensors"), {"y"});
  write_file_atomic(
      path("diffusion.safetensors.index.json"),
      R"({"weight_map":{"x":"diffusion-1.safetensors","y":"diffusion-2.safetensors"}})");
  EXPECT_THAT(names("."), ElementsAre("x", "y"));
}

TEST_F(Source, ThatIsADistributedCheckpointIsNamedWithTheCommandThatHelps) {
  const auto is_named = AllOf(HasSubstr("is a distributed checkpoint"), HasSubstr("dcp_to_torch"));
  fs::create_directories(path("trained/model_fsdp"));
  write_file_atomic(path("trained/model_fsdp/.metadata"), "\x80\x02.");
  write_file_atomic(path("trained/model_fsdp/__0_0.distcp"), "PK");
  EXPECT_THAT(error_of([&] { find("trained/model_fsdp"); }), is_named);
  EXPECT_THAT(error_of([&] { find("trained/model_fsdp/__0_0.distcp"); }), is_named);
  EXPECT_THAT(error_of([&] { find("trained"); }), AllOf(is_named, HasSubstr("model_fsdp")));
}

constexpr const char* pointer =
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n";

TEST_F(Source, ThatWasNotFetchedByGitIsNamed) {
  for (const char* name :
       {"model.safetensors", "pytorch_model.bin", "model.safetensors.index.json"}) {
    SCOPED_TRACE(name);
    write_file_atomic(path(name), pointer);
    EXPECT_THAT(error_of([&] { find(name); }),
                AllOf(HasSubstr(name), HasSubstr("a pointer of Git LFS"), HasSubstr("lfs pull")));
  }
  std::filesystem::create_directories(path("a b"));
  write_file_atomic(path("a b/model.safetensors"), pointer);
  EXPECT_THAT(error_of([&] { find("a b/model.safetensors"); }),
              HasSubstr(cat("git -C '", path("a b").string(), "' lfs pull")));
}

TEST_F(Source, OfAnotherFormatIsNamed) {
  using namespace std::string_literals;
  const auto fault = [&](const std::string& bytes) {
    write_file_atomic(path("a.bin"), bytes);
    return error_of([&] { names("a.bin"); });
  };
  EXPECT_THAT(fault("\x89HDF\r\n\x1a\n and more"), HasSubstr("an HDF5 file"));
  EXPECT_THAT(fault("\x93NUMPY\x01\0 and more"s), HasSubstr("an array of NumPy"));
  EXPECT_THAT(fault("GGUF and more, much more"), HasSubstr("a GGUF file"));
  EXPECT_THAT(fault("\x1f\x8b and more, much more"), HasSubstr("packed by gzip"));
  EXPECT_THAT(fault("\x80\x04}. and more, much more"), HasSubstr("a plain pickle"));
  EXPECT_THAT(fault("<!DOCTYPE html><title>404</title>"), HasSubstr("a web page"));
}

// A zip archive of one empty member.
std::string archive_of(const std::string& member, char method = 0) {
  using namespace std::string_literals;
  const std::string size(1, static_cast<char>(member.size()));
  const std::string file = "PK\3\4"s + std::string(22, '\0') + size + std::string(3, '\0') + member;
  const std::string directory = "PK\1\2"s + std::string(6, '\0') + method + std::string(17, '\0') +
                                size + std::string(17, '\0') + member;
  return file + directory + "PK\5\6"s + std::string(4, '\0') + "\1\0\1\0"s +
         std::string(1, static_cast<char>(directory.size())) + std::string(3, '\0') +
         std::string(1, static_cast<char>(file.size())) + std::string(5, '\0');
}

TEST_F(Source, ThatIsAnArchiveOfAnotherProgramIsNamed) {
  const auto fault = [&](const std::string& bytes) {
    write_file_atomic(path("a.pt"), bytes);
    return error_of([&] { names("a.pt"); });
  };
  EXPECT_THAT(fault(archive_of("m/constants.pkl")), HasSubstr("a TorchScript archive"));
  EXPECT_THAT(fault(archive_of("m/models/model.json")), HasSubstr("an exported program"));
  EXPECT_THAT(fault(archive_of("weights.npy", 8)), HasSubstr("NumPy's arrays"));
  EXPECT_THAT(fault(archive_of("text.txt")), HasSubstr("no data.pkl"));
  EXPECT_THAT(fault(archive_of("m/data.pkl", 8)), HasSubstr("is compressed or encrypted"));
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
