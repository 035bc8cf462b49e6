// The pictures are those of the fuzzer's corpus: exif6.jpg is stored 16 wide and 32 high, and
// turned it is 32 x 16; exif3.jpg is 32 x 16 both ways.
#include "recipes/fewshot/annotations/picture_look.h"

#include <gmock/gmock.h>

#include "checkout_paths.h"
#include "core/base/text/text.h"
#include "tests/fakes/error_of.h"

namespace lockstep::fewshot {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class LookAtPictures : public ::testing::Test {
 protected:
  void add(const std::string& file, int width, int height, const RawBox& box = {}) {
    boxes.push_back({.picture = static_cast<int>(data.pictures.size()), .box = box});
    data.pictures.push_back(
        {.id = std::ssize(data.pictures) + 1,
         .path = std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "tests/fuzz/corpus/picture" / file,
         .width = width,
         .height = height});
  }
  void look(ExifFrame exif = ExifFrame::automatic) {
    look_at_pictures(data, {.exif = exif, .look = true}, [&] { return boxes; });
  }
  // "stored 16x32"
  std::string frame(std::size_t i) const {
    const Picture& one = data.pictures.at(i);
    return cat(one.frame == Frame::stored   ? "stored "
               : one.frame == Frame::turned ? "turned "
                                            : "",
               one.width, "x", one.height);
  }
  std::string fault() {
    return thrown_by([&] { look(); }).what();
  }

  DetectionData data{.name = "set"};
  std::vector<LooseBox> boxes;
};

TEST_F(LookAtPictures, TheSizeTellsTheFrame) {
  add("exif6.jpg", 16, 32);
  add("exif6.jpg", 32, 16);
  add("exif6.jpg", 160, 321);  // scaled after it was annotated
  add("exif1.jpg", 32, 16);
  look();
  EXPECT_EQ(frame(0), "stored 16x32");
  EXPECT_EQ(frame(1), "turned 32x16");
  EXPECT_EQ(frame(2), "stored 160x321");
  EXPECT_EQ(frame(3), "32x16");
  EXPECT_THAT(data.warnings(),
              ElementsAre("set: 3 pictures have an EXIF orientation; boxes are taken as of the "
                          "stored pixels in 2 and of the turned picture in 1"));
}

// As Label Studio exports them: boxes of the turned picture, size of the stored one.
TEST_F(LookAtPictures, BoxesBeyondTheSizeTellThatItsSidesAreExchanged) {
  add("exif6.jpg", 16, 32, {.x = 20, .y = 2, .w = 8, .h = 8});
  add("exif6.jpg", 16, 32, {.x = 2, .y = 2, .w = 8, .h = 8});
  look();
  EXPECT_EQ(frame(0), "turned 32x16");
  EXPECT_EQ(frame(1), "turned 32x16");
  EXPECT_THAT(data.warnings(),
              ElementsAre(HasSubstr("turned picture in 2, in 2 against the size, because boxes lie "
                                    "beyond it")));
}

TEST_F(LookAtPictures, ABoxThatSticksOutTellsNothing) {
  add("exif6.jpg", 16, 32, {.x = 10, .y = 2, .w = 10, .h = 8});
  look();
  EXPECT_EQ(frame(0), "stored 16x32");
}

TEST_F(LookAtPictures, MoreOfTheBoxesDecide) {
  add("exif6.jpg", 16, 32, {.x = 20, .y = 2, .w = 8, .h = 8});
  add("exif6.jpg", 16, 32, {.x = 2, .y = 20, .w = 8, .h = 8});
  look();
  EXPECT_EQ(frame(0), "stored 16x32");
}

TEST_F(LookAtPictures, WhereNothingTellsItIsSaidAndAnOptionDecides) {
  add("exif3.jpg", 32, 16);
  look();
  EXPECT_EQ(frame(0), "turned 32x16");
  EXPECT_THAT(data.warnings(), ElementsAre(HasSubstr("for 1 neither size nor boxes tell: "
                                                     "data.exif=stored or data.exif=turned")));
  look(ExifFrame::stored);
  EXPECT_EQ(frame(0), "stored 32x16");
}

TEST_F(LookAtPictures, OthersOfTheSetTellToo) {
  add("exif3.jpg", 32, 16);
  add("exif6.jpg", 16, 32);
  look();
  EXPECT_EQ(frame(0), "stored 32x16");
  EXPECT_EQ(data.frames.untold, 0);
}

TEST_F(LookAtPictures, WhereNoSizeIsSaidBoxesTell) {
  add("exif6.jpg", 0, 0, {.x = 2, .y = 20, .w = 8, .h = 8});
  add("exif6.jpg", 0, 0, {.x = 20, .y = 2, .w = 8, .h = 8});
  add("exif6.jpg", 0, 0, {.x = 2, .y = 2, .w = 8, .h = 8});
  add("exif1.jpg", 0, 0);
  look();
  EXPECT_EQ(frame(0), "stored 16x32");
  EXPECT_EQ(frame(1), "turned 32x16");
  EXPECT_EQ(frame(2), "turned 32x16");
  EXPECT_EQ(frame(3), "32x16");
  EXPECT_EQ(data.frames.untold, 1);
}

TEST_F(LookAtPictures, TheOptionIsObeyedWhateverTheSize) {
  add("exif6.jpg", 16, 32);
  add("exif6.jpg", 32, 16);
  look(ExifFrame::turned);
  EXPECT_EQ(frame(0), "turned 32x16");
  EXPECT_EQ(frame(1), "turned 32x16");
  look(ExifFrame::stored);
  EXPECT_EQ(frame(0), "stored 16x32");
}

TEST_F(LookAtPictures, ListsAllThatCannotBeUsed) {
  add("rgb.png", 8, 8);
  add("cut_off.jpg", 32, 16);
  add("text.txt", 32, 16);
  add("exif1.jpg", 64, 40);
  add("huge.png", 9, 9);
  EXPECT_THAT(fault(),
              AllOf(HasSubstr("set: 4 of 5 pictures cannot be used: "),
                    HasSubstr("cut_off.jpg is damaged: it ends too early (id 2); "),
                    HasSubstr("text.txt is neither a JPEG nor a PNG file (id 3); "),
                    HasSubstr("exif1.jpg is 32 x 16, but its annotations are of a picture of 64 x "
                              "40 (id 4); "),
                    HasSubstr("a picture may have 200000000 (id 5)"), Not(HasSubstr("rgb.png"))));
}

TEST_F(LookAtPictures, ExchangedSidesAreMendedWhereBoxesTell) {
  add("exif1.jpg", 16, 32, {.x = 2, .y = 2, .w = 8, .h = 8});
  EXPECT_THAT(fault(), HasSubstr("is 32 x 16, but its annotations are of a picture of 16 x 32"));
  add("exif1.jpg", 16, 32, {.x = 18, .y = 2, .w = 10, .h = 8});
  look();
  EXPECT_EQ(frame(0), "32x16");
  EXPECT_EQ(frame(1), "32x16");
  EXPECT_THAT(data.warnings(),
              ElementsAre(HasSubstr("width and height of 2 pictures are exchanged")));
}

// A picture that was turned after it was annotated, with a box that sticks out.
TEST_F(LookAtPictures, ExchangedSidesAreAnErrorWhereBoxesContradict) {
  add("exif1.jpg", 16, 32, {.x = 9, .y = 2, .w = 9, .h = 8});
  add("exif1.jpg", 16, 32, {.x = 2, .y = 20, .w = 8, .h = 8});
  EXPECT_THAT(fault(), HasSubstr("2 of 2 pictures"));
}

TEST_F(LookAtPictures, MissingOnesMayLieElsewhere) {
  add("exif1.jpg", 32, 16);
  add("nowhere/rgb.png", 8, 8);
  EXPECT_THAT(fault(), HasSubstr("set: 1 of 2 pictures are missing, the first is "));
  const auto elsewhere = [&](std::size_t i) {
    return std::optional(data.pictures[i].path.parent_path().parent_path() / "rgb.png");
  };
  look_at_pictures(
      data, {.look = true}, [&] { return boxes; }, elsewhere);
  EXPECT_THAT(data.warnings(), IsEmpty());
  EXPECT_EQ(data.pictures[1].path.parent_path().filename(), "picture");
}

TEST_F(LookAtPictures, WithoutALookOnlySizesThatAreNotSaidAreRead) {
  add("text.txt", 5, 5);
  add("exif6.jpg", 0, 0);
  look_at_pictures(data, {.exif = ExifFrame::turned}, [&] { return boxes; });
  EXPECT_EQ(frame(1), "32x16");
}

}  // namespace
}  // namespace lockstep::fewshot
