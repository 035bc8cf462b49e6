// Tables of supports, and supports that are drawn from the training set.
#include "recipes/fewshot/prepare/supports.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "core/base/files/files.h"
#include "core/media/pictures/picture_file.h"
#include "recipes/fewshot/shapes/made_shapes.h"
#include "tests/fakes/error_of.h"

namespace lockstep::fewshot {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class SupportsTest : public ::testing::Test {
 protected:
  SupportsTest() {
    write_picture(folder.path() / "a.png", Image({.height = 20, .width = 30, .channels = 3}));
  }
  SupportList read(const std::string& text) const {
    write_file_atomic(folder.path() / "list.csv", text);
    return read_supports(folder.path() / "list.csv", {});
  }
  TemporaryDirectory folder;
};

TEST_F(SupportsTest, TakeBoxesCornersAndWholePictures) {
  const SupportList list =
      read("filename,label,x,y,w,h\na.png,one,1,2,10,11\na.png,two,,,,\na.png,one,-5,-5,100,100\n");
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].name, "one");
  EXPECT_EQ(list[0].id, 1);
  EXPECT_EQ(list[1].id, 2);
  EXPECT_TRUE(list[0].novel);
  EXPECT_EQ(list[0].examples[0].box.h, 11);
  EXPECT_EQ(list[0].examples[1].box.w, 30) << "cut at the edges";
  EXPECT_EQ(list[1].examples[0].box.h, 20);
  const SupportList corners = read("class,file,xmin,ymin,xmax,ymax\none,a.png,1,2,11,13\n");
  EXPECT_EQ(corners[0].examples[0].box, list[0].examples[0].box);
  EXPECT_EQ(read("class,file\none,a.png\n")[0].examples[0].box.w, 30);
}

TEST_F(SupportsTest, NameFileAndLine) {
  const auto fault = [&](const std::string& text) { return error_of([&] { read(text); }); };
  EXPECT_THAT(fault("file,class\nb.png,one\n"), AllOf(HasSubstr("line 2"), HasSubstr("b.png")));
  EXPECT_THAT(fault("file,class\na.png,\n"), AllOf(HasSubstr("line 2"), HasSubstr("no name")));
  EXPECT_THAT(fault("file,class,x,y,w,h\na.png,one,1,2,nan,4\n"), HasSubstr("line 2"));
  EXPECT_THAT(fault("file,class,x,y,w,h\na.png,one,29.5,2,4,4\n"), HasSubstr("less than a pixel"));
  EXPECT_THAT(fault("file,class,x,h\na.png,one,1,2\n"), HasSubstr("has x and h, but not all of"));
  EXPECT_THAT(fault("name,box\n"), HasSubstr("has no column file"));
}

TEST(SupportsOfTraining, ComeFromSoManyPicturesOfEachClass) {
  Sets sets{.train = describe_shapes({.pictures = 60}), .valid = {}, .split = {{0, 1}, {3}}};
  const SupportList list = supports_of_training(sets, {0, 3}, 4, 1);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_FALSE(list[0].novel);
  EXPECT_TRUE(list[1].novel);
  for (const SupportClass& one : list) {
    ASSERT_EQ(one.examples.size(), 4U);
    std::set<std::int64_t> pictures;
    for (const auto& example : one.examples) pictures.insert(example.picture.id);
    EXPECT_EQ(pictures.size(), 4U);
  }
  EXPECT_EQ(to_json(supports_of_training(sets, {0, 3}, 4, 1)), to_json(list));
  EXPECT_NE(to_json(supports_of_training(sets, {0, 3}, 4, 2)), to_json(list));
}

}  // namespace
}  // namespace lockstep::fewshot
