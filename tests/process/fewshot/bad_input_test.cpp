// Bad pictures, annotations and options: words that name the file and the id, before there is a run
// where that can be known.
#include <gmock/gmock.h>

#include "fewshot_runs.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ToolResult;
namespace fs = std::filesystem;
using nlohmann::json;

class FewshotBadInput : public testing::FewshotRuns {
 protected:
  json annotations() const { return json::parse(read_file(data() / "train.json")); }
  void write(const json& coco) const { write_file_atomic(data() / "train.json", coco.dump()); }
  // What the tool says where it stops before there is a run.
  std::string refused(const Words& more = {}) const {
    Words words = more;
    words.push_back("stop.steps=2");
    const ToolResult result = train_small("bad", "cpu:1", words);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_FALSE(fs::exists(run("bad")));
    return result.err;
  }
  fs::path picture(const std::string& name = "made-00007.png") const {
    return data() / "train" / name;
  }
  fs::path corpus(const std::string& name) const {
    return fs::path(LOCKSTEP_SOURCE_DIR) / "tests/fuzz/corpus/picture" / name;
  }
};

TEST_F(FewshotBadInput, NamesPicturesThatAreMissing) {
  fs::remove(picture());
  EXPECT_THAT(refused(),
              AllOf(HasSubstr("train.json: 1 of 40 pictures"), HasSubstr("made-00007"),
                    HasSubstr("data.train_pictures"), Not(HasSubstr("data.valid_pictures"))));
}

// Cut off, of another shape, and a bomb, which is not unpacked.
TEST_F(FewshotBadInput, ListsPicturesThatCannotBeUsed) {
  const std::string whole = read_file(picture());
  write_file_atomic(picture(), whole.substr(0, whole.size() / 2));
  for (const auto& [name, by] :
       {std::pair("made-00008.png", "rgb.png"), {"made-00009.png", "huge.png"}})
    fs::copy_file(corpus(by), picture(name), fs::copy_options::overwrite_existing);
  EXPECT_THAT(refused(),
              AllOf(HasSubstr("train.json: 3 of 40 pictures cannot be used"),
                    HasSubstr("made-00007.png is damaged: it ends too early (id 8)"),
                    HasSubstr("made-00008.png is "), HasSubstr("96 x 80 (id 9)"),
                    HasSubstr("made-00009.png has "), HasSubstr("pixels, and a picture may have")));
}

// One byte of its pixels is another: only decoding finds it. One of two ranks does so.
TEST_F(FewshotBadInput, APictureWithDamagedPixelsEndsTheRunAfterACheckpoint) {
  std::string bytes = read_file(picture());
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  write_file_atomic(picture(), bytes);
  const ToolResult result =
      train_small("bad", "cpu:2", {"stop.episodes=200", "episode.queries=1", "batch.global=2"});
  EXPECT_NE(result.code, 0);
  EXPECT_THAT(result.err, AllOf(HasSubstr("made-00007.png is damaged"), HasSubstr("picture id 8"),
                                HasSubstr("is kept, and lockstep resume goes on from it")));
  EXPECT_FALSE(fs::is_empty(run("bad") / "checkpoints"));
}

// CMYK, 16 bits, turned by EXIF: read as 8 bits of RGB.
TEST_F(FewshotBadInput, TakesOddKindsOfPictures) {
  json coco = annotations();
  std::int64_t id = 1000;
  for (const char* name : {"cmyk.jpg", "rgba16.png", "exif6.jpg"}) {
    const ImageShape shape = read_picture_shape(corpus(name));
    fs::copy_file(corpus(name), data() / "train" / name);
    coco["images"].push_back(
        {{"id", ++id}, {"file_name", name}, {"width", shape.width}, {"height", shape.height}});
    for (const int category : {1, 2, 3})
      coco["annotations"].push_back({{"id", 10 * id + category},
                                     {"image_id", id},
                                     {"category_id", category},
                                     {"bbox", {2, 2, 10, 10}}});
  }
  write(coco);
  const ToolResult result =
      train_small("a", "cpu:2", {"stop.episodes=120", "episode.queries=12", "data.novel=star"});
  EXPECT_EQ(result.code, 0) << result.err;
}

TEST_F(FewshotBadInput, CutsAndDropsBoxesAndSaysHowMany) {
  json coco = annotations();
  coco["annotations"][0]["bbox"] = {500, 500, 10, 10};
  coco["annotations"][1]["bbox"] = {5, 5, 0, 10};
  coco["annotations"][2]["bbox"] = {5, 5, -10, 10};
  coco["annotations"][3]["bbox"] = {80, 60, 50, 50};
  write(coco);
  const ToolResult result = train_small("a", "cpu:1", {"stop.steps=2"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("3 boxes"), HasSubstr("train.json")));
  EXPECT_THAT(result.err, HasSubstr(cat(coco["annotations"][0]["id"].get<int>())));
}

TEST_F(FewshotBadInput, RefusesAnnotationsOfNothingAndIdsThatComeTwice) {
  json coco = annotations();
  coco["annotations"][4]["category_id"] = 77;
  write(coco);
  EXPECT_THAT(refused(), AllOf(HasSubstr("train.json"), HasSubstr("77"),
                               HasSubstr(cat(coco["annotations"][4]["id"].get<int>()))));
  write_shapes("train", {.pictures = 40, .height = 80, .width = 96});
  coco = annotations();
  coco["annotations"][4]["image_id"] = 7777;
  write(coco);
  EXPECT_THAT(refused(), AllOf(HasSubstr("train.json"), HasSubstr("7777")));
  write_shapes("train", {.pictures = 40, .height = 80, .width = 96});
  for (const char* list : {"annotations", "images", "categories"}) {
    coco = annotations();
    coco[list][1]["id"] = coco[list][0]["id"];
    write(coco);
    EXPECT_THAT(refused(), AllOf(HasSubstr("train.json"), HasSubstr("twice"))) << list;
    write_shapes("train", {.pictures = 40, .height = 80, .width = 96});
  }
}

TEST_F(FewshotBadInput, RefusesClassesThatCannotBe) {
  EXPECT_THAT(refused({"data.novel=star,rng"}), AllOf(HasSubstr("rng"), HasSubstr("ring")));
  EXPECT_THAT(refused({"episode.n_way=9"}), AllOf(HasSubstr("9"), HasSubstr("8")));
  EXPECT_THAT(refused({"episode.k_shot=30"}), HasSubstr("circle"));
  EXPECT_THAT(refused({"data.base=star"}), HasSubstr("star"));
}

TEST_F(FewshotBadInput, RefusesOptionsThatCannotBe) {
  EXPECT_THAT(refused({"eval.batch=2"}),
              AllOf(HasSubstr("eval.batch"), HasSubstr("one episode at a time")));
  EXPECT_THAT(refused({"model.depth=20"}), HasSubstr("model.depth is 20"));
  EXPECT_THAT(refused({"model.width=8"}), HasSubstr("model.width"));
  EXPECT_THAT(refused({"episode.context=32"}), HasSubstr("episode.context"));
  EXPECT_THAT(refused({"batch.micro=2"}), HasSubstr("micro"));
  EXPECT_THAT(refused({"evaluate.shots=1,x"}), HasSubstr("evaluate.shots"));
  EXPECT_THAT(refused({"data.path=nowhere"}), HasSubstr("nowhere"));
}

TEST_F(FewshotBadInput, RefusesWeightsOfAnotherDepth) {
  ASSERT_EQ(train_small("a", "cpu:1", {"stop.steps=1"}).code, 0);
  const ToolResult other =
      train_small("b", "cpu:1", {"model.depth=34", "init.from=a", "stop.steps=1"});
  EXPECT_NE(other.code, 0);
  EXPECT_THAT(other.err,
              AllOf(HasSubstr("a holds a ResNet-18 of width 16, but the model has a ResNet-34 of "
                              "width 16"),
                    HasSubstr("set model.depth=18\n")));
  const ToolResult wider = train_small(
      "c", "cpu:1", {"model.width=64", "init.from=a", "init.missing=trunk.*", "stop.steps=1"});
  EXPECT_NE(wider.code, 0);
  EXPECT_THAT(wider.err, HasSubstr("set model.width=16\n"));
}

}  // namespace
}  // namespace lockstep
