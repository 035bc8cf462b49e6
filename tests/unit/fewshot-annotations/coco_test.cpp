#include "recipes/fewshot/annotations/coco.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "core/media/pictures/picture_file.h"
#include "tests/fakes/error_of.h"
#include "tests/fakes/test_data.h"

namespace lockstep::fewshot {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Two pictures of 100 x 80, categories 3 (dog) and 1 (cat).
std::string file_with(const std::string& annotations) {
  return R"({"info": {"year": 2020}, "images": [
{"id": 7, "file_name": "a.jpg", "width": 100, "height": 80},
{"id": 5, "file_name": "b.jpg", "width": 100, "height": 80, "license": null}],
"categories": [{"id": 3, "name": "dog", "supercategory": "animal"}, {"id": 1, "name": "cat"}],
"annotations": [)" +
         annotations + "]}";
}

// An annotation; `more` begins with a comma.
std::string box(int id, int image, int category, const std::string& bbox,
                const std::string& more = "") {
  return cat(R"({"id": )", id, R"(, "image_id": )", image, R"(, "category_id": )", category,
             R"(, "bbox": )", bbox, more, "}");
}

DetectionData parse(const std::string& text) { return parse_coco(text, "set.json", "pictures"); }
Error fault(const std::string& text) {
  return thrown_by([&] { parse(text); });
}
Error fault_of(const std::string& annotations) { return fault(file_with(annotations)); }

TEST(Coco, BoxesStandByPictureAndCategoriesById) {
  const DetectionData data =
      parse(file_with(box(1, 5, 3, "[1, 2, 30.5, 40]", R"(, "area": 600.25, "iscrowd": 0,
                       "segmentation": [[1, 2, 3.5, 4]])") +
                      "," + box(2, 7, 1, "[10, 20, 30, 40]")));
  EXPECT_EQ(data.name, "set.json");
  EXPECT_THAT(data.categories, ElementsAre(Category{1, "cat"}, Category{3, "dog"}));
  ASSERT_EQ(data.pictures.size(), 2u);
  EXPECT_EQ(data.pictures[0], (Picture{7, fs::path("pictures") / "a.jpg", 100, 80}));
  ASSERT_EQ(data.boxes_of(0).size(), 1u);
  EXPECT_EQ(
      data.boxes_of(0)[0],
      (Box{
          .picture = 0, .category = 0, .x = 10, .y = 20, .w = 30, .h = 40, .area = 1200, .id = 2}));
  ASSERT_EQ(data.boxes_of(1).size(), 1u);
  EXPECT_EQ(data.boxes_of(1)[0], (Box{.picture = 1,
                                      .category = 1,
                                      .x = 1,
                                      .y = 2,
                                      .w = 30.5,
                                      .h = 40,
                                      .area = 600.25,
                                      .id = 1}));
  EXPECT_THAT(data.warnings(), IsEmpty());
}

TEST(Coco, CrowdsAndIgnoredBoxesAreKeptAndDoNotCount) {
  const DetectionData data =
      parse(file_with(box(1, 5, 3, "[1, 2, 30, 40]", R"(, "iscrowd": 1)") + "," +
                      box(2, 5, 3, "[1, 2, 30, 40]", R"(, "ignore": true)") + "," +
                      box(3, 5, 3, "[1, 2, 30, 40]")));
  const auto boxes = data.boxes_of(1);
  ASSERT_EQ(boxes.size(), 3u);
  EXPECT_TRUE(boxes[0].crowd);
  EXPECT_TRUE(boxes[1].difficult);
  EXPECT_THAT((std::vector<bool>{boxes[0].counts(), boxes[1].counts(), boxes[2].counts()}),
              ElementsAre(false, false, true));
  EXPECT_THAT(data.warnings(), ElementsAre(HasSubstr("1 box is of a crowd"),
                                           HasSubstr("1 box is marked difficult")));
}

TEST(Coco, BoxesThatLeaveThePictureAreCutAndThoseWithoutExtentDropped) {
  const DetectionData data =
      parse(file_with(box(1, 7, 1, "[-10, 70, 30, 40]") + "," + box(2, 7, 1, "[99.5, 0, 0.8, 5]") +
                      "," + box(3, 7, 1, "[5, 5, 0, 5]") + "," + box(4, 7, 1, "[5, 5, -3, 5]") +
                      "," + box(5, 7, 1, "[100, 5, 10, 5]") + "," + box(6, 7, 1, "[]") + "," +
                      box(7, 7, 1, "[1e300, 0, 1e308, 5]")));
  ASSERT_EQ(data.boxes.size(), 2u);
  EXPECT_EQ(
      data.boxes[0],
      (Box{.picture = 0, .category = 0, .x = 0, .y = 70, .w = 20, .h = 10, .area = 200, .id = 1}));
  EXPECT_EQ(data.boxes[1].x + data.boxes[1].w, 100.0f);  // a rounding error, cut without a word
  EXPECT_THAT(data.warnings(),
              ElementsAre("set.json: 5 boxes without extent in their pictures were dropped (first: "
                          "id 3 in a.jpg)",
                          HasSubstr("1 box reaches out of its picture and was cut")));
  EXPECT_EQ(data.repairs.clipped.first_id, 1);
}

TEST(Coco, NamesTheEntryThatIsWrong) {
  const std::string good = box(1, 7, 1, "[1, 2, 30, 40]");
  EXPECT_STREQ(fault_of(good + "," + box(9, 6, 1, "[1, 2, 3, 4]")).what(),
               "set.json: annotation 9 is of image 6, which the file does not have");
  EXPECT_STREQ(fault_of(box(9, 7, 2, "[1, 2, 3, 4]")).what(),
               "set.json: annotation 9 is of category 2, which the file does not have");
  EXPECT_STREQ(fault_of(good + "," + good).what(),
               "set.json: the annotation with id 1 comes twice");
  EXPECT_STREQ(fault_of(good + R"(,{"id": 4, "image_id": 7, "category_id": 1})").what(),
               "set.json: annotations[1] (id 4): bbox is missing");
  EXPECT_STREQ(fault_of(box(4, 7, 1, "[1, 2, 3]")).what(),
               "set.json: annotations[0] (id 4): bbox must be four numbers, but has 3");
  EXPECT_STREQ(fault_of(box(4, 7, 1, R"(["1", 2, 3, 4])")).what(),
               "set.json: annotations[0] (id 4): bbox must be four numbers, but has a text in it");
  EXPECT_STREQ(fault_of(box(4, 7, 1, "7")).what(),
               "set.json: annotations[0] (id 4): bbox must be a list of four numbers: x, y, width, "
               "height, but is a number");
  EXPECT_STREQ(fault_of(R"({"id": "x"})").what(),
               "set.json: annotations[0]: id must be a whole number, but is a text");
  EXPECT_STREQ(fault_of(R"({"id": 1.5})").what(),
               "set.json: annotations[0]: id must be a whole number, but is 1.5");
  EXPECT_STREQ(fault_of(R"({"image_id": 7})").what(), "set.json: annotations[0]: id is missing");
  EXPECT_STREQ(fault_of("3").what(),
               "set.json: annotations[0]: must be an object, but is a number");
  EXPECT_STREQ(fault_of(box(4, 7, 1, "[1, 2, 3, 4]", R"(, "iscrowd": 2)")).what(),
               "set.json: annotations[0] (id 4): iscrowd must be 0 or 1, but is 2");
}

TEST(Coco, NumbersThatAreNotFiniteAreNoJson) {
  EXPECT_THAT(fault_of(box(4, 7, 1, "[NaN, 2, 3, 4]")).what(),
              HasSubstr("set.json:5, in annotations[0] (id 4): this is no JSON"));
  EXPECT_THAT(fault_of(box(4, 7, 1, "[1e999, 2, 3, 4]")).what(), HasSubstr("this is no JSON"));
}

TEST(Coco, RefusesWhatComesTwice) {
  const auto lists = [](const std::string& images, const std::string& categories) {
    return cat(R"({"images": [)", images, R"(], "categories": [)", categories,
               R"(], "annotations": []})");
  };
  const std::string a = R"({"id": 1, "file_name": "a.jpg", "width": 9, "height": 9})",
                    cat_1 = R"({"id": 1, "name": "cat"})";
  EXPECT_STREQ(
      fault(lists(a + R"(,{"id": 1, "file_name": "b.jpg", "width": 9, "height": 9})", cat_1))
          .what(),
      "set.json: the image with id 1 comes twice");
  EXPECT_STREQ(
      fault(lists(a + R"(,{"id": 2, "file_name": "a.jpg", "width": 9, "height": 9})", cat_1))
          .what(),
      "set.json: the images 1 and 2 are both a.jpg");
  EXPECT_STREQ(fault(lists(a, cat_1 + R"(,{"id": 1, "name": "dog"})")).what(),
               "set.json: the category with id 1 comes twice");
  EXPECT_STREQ(
      fault(cat(R"({"images": [)", a, R"(], "categories": [)", cat_1,
                R"(,{"id": 2, "name": "cat"}], "annotations": [)", box(1, 1, 1, "[1, 1, 4, 4]"),
                ",", box(2, 1, 2, "[1, 1, 4, 4]"), "]}"))
          .what(),
      R"(set.json: the categories 1 and 2 are both named "cat" and both have annotations)");
}

// Roboflow's root category is named like the project, and the project often like its only class.
TEST(Coco, OfTwoCategoriesOfOneNameTheOneWithoutAnnotationsIsPassedOver) {
  const auto categories_of = [](const std::string& annotations) {
    return parse(cat(R"({"images": [{"id": 1, "file_name": "a.jpg", "width": 9, "height": 9}],
        "categories": [{"id": 0, "name": "face", "supercategory": "none"},
                       {"id": 1, "name": "face", "supercategory": "face"},
                       {"id": 2, "name": "cat", "supercategory": null}],
        "annotations": [)",
                     annotations, "]}"))
        .categories;
  };
  const std::string of_cat = box(9, 1, 2, "[1, 1, 4, 4]");
  EXPECT_THAT(categories_of(box(1, 1, 1, "[1, 1, 4, 4]")),
              ElementsAre(Category{1, "face"}, Category{2, "cat"}));
  EXPECT_THAT(categories_of(box(1, 1, 0, "[1, 1, 4, 4]")),
              ElementsAre(Category{0, "face"}, Category{2, "cat"}));
  EXPECT_THAT(categories_of(of_cat), ElementsAre(Category{1, "face"}, Category{2, "cat"}));
}

TEST(Coco, RefusesPicturesOfImpossibleSizesAndWithoutNames) {
  const auto image = [](const std::string& fields) {
    return cat(R"({"images": [{"id": 1, )", fields,
               R"(}], "categories": [{"id": 1, "name": "cat"}], "annotations": []})");
  };
  EXPECT_STREQ(fault(image(R"("file_name": "a.jpg", "width": -1, "height": 5)")).what(),
               "set.json: images[0] (id 1): width must be from 1 to 65535, but is -1");
  EXPECT_THAT(fault(image(R"("file_name": "a.jpg", "width": 5, "height": 1000000)")).what(),
              HasSubstr("height must be from 1 to 65535, but is 1000000"));
  EXPECT_THAT(fault(image(R"("file_name": "a.jpg")")).what(), HasSubstr("has no width and height"));
  EXPECT_THAT(fault(image(R"("file_name": "", "width": 5, "height": 5)")).what(),
              HasSubstr("file_name is empty"));
  EXPECT_THAT(fault(image(R"("width": 5, "height": 5)")).what(), HasSubstr("file_name is missing"));
}

TEST(Coco, SaysOfOtherFilesThatTheyAreNoCocoFiles) {
  EXPECT_THAT(fault("[]").what(), HasSubstr("is a list, which is what results of a detector are"));
  EXPECT_THAT(fault("{}").what(), HasSubstr("is no COCO file"));
  EXPECT_THAT(fault("3").what(), HasSubstr("is no COCO file"));
  EXPECT_THAT(fault(R"({"images": {}})").what(), HasSubstr("images must be a list"));
  EXPECT_THAT(fault(R"({"images": "x"})").what(), HasSubstr("images must be a list"));
  EXPECT_THAT(fault("\xff\xd8\xff").what(), HasSubstr("set.json:1: this is no JSON"));
  EXPECT_THAT(fault("").what(), HasSubstr("this is no JSON"));
  EXPECT_THAT(fault(R"({"images": [)" + std::string(300, '[')).what(),
              HasSubstr("must be an object"));
  EXPECT_THAT(fault(R"({"x": )" + std::string(300, '[')).what(), HasSubstr("deeper than 200"));
  EXPECT_THAT(fault(file_with("")).what(), HasSubstr("has no box of an object"));
  EXPECT_THAT(fault_of(box(1, 7, 1, "[1, 1, 3, 3]", R"(, "iscrowd": 1)")).what(),
              HasSubstr("has no box of an object"));
  EXPECT_THAT(fault(R"({"images": [], "annotations": [], "categories": []})").what(),
              HasSubstr("has no pictures"));
}

TEST(Coco, ACutOffFileIsNamedWithItsLine) {
  const std::string whole = file_with(box(1, 7, 1, "[1, 2, 30, 40]"));
  const Error error = fault(whole.substr(0, whole.size() - 20));
  EXPECT_THAT(error.what(), HasSubstr("set.json:5"));
  EXPECT_THAT(error.hint(), HasSubstr("cut off"));
}

TEST(Coco, WhatIsWrittenIsReadAsTheSame) {
  const DetectionData data =
      parse(file_with(box(1, 5, 3, "[1.1, 2, 30.3, 40]", R"(, "iscrowd": 1)") + "," +
                      box(2, 5, 3, "[1, 2, 30, 40]", R"(, "ignore": 1, "area": 7)") + "," +
                      box(3, 7, 1, "[1, 2, 30, 40]")));
  const DetectionData again = parse(coco_json(data, "a \"made\" set"));
  EXPECT_EQ(again.pictures, data.pictures);
  EXPECT_EQ(again.categories, data.categories);
  EXPECT_EQ(again.boxes, data.boxes);
}

TEST(Coco, PicturesMustBeThereAndTheirSizeIsReadWhereItIsNotSaid) {
  const TemporaryDirectory folder;
  const auto write = [&](const char* name, int height, int width) {
    write_picture(folder.path() / name, Image({.height = height, .width = width, .channels = 3}));
  };
  write("a.png", 40, 60);
  const fs::path json = folder.path() / "set.json";
  const auto text = [](const std::string& images) {
    return cat(R"({"images": [)", images, R"(], "categories": [{"id": 1, "name": "cat"}],)",
               R"("annotations": [{"id": 1, "image_id": 1, "category_id": 1,)",
               R"("bbox": [0, 0, 100, 100]}]})");
  };
  write_file_atomic(json, text(R"({"id": 1, "file_name": "a.png"})"));
  const DetectionData data = read_coco(json, folder.path());
  EXPECT_EQ(data.pictures[0], (Picture{1, folder.path() / "a.png", 60, 40}));
  EXPECT_EQ(data.boxes[0].w, 60);

  write_file_atomic(json, text(R"({"id": 1, "file_name": "a.png"},
      {"id": 2, "file_name": "b.png"}, {"id": 3, "file_name": "c.png"})"));
  const Error error = thrown_by([&] { read_coco(json, folder.path()); });
  EXPECT_EQ(error.what(), cat(json.string(), ": 2 of 3 pictures are missing, the first is ",
                              (folder.path() / "b.png").string(), " (id 2)"));
}

TEST(Coco, TheFolderIsTheOneThatHasTheFirstPicture) {
  const TemporaryDirectory folder;
  const fs::path root = folder.path();
  make_directories(root / "first");
  make_directories(root / "second");
  write_picture(root / "second" / "a.png", Image({.height = 4, .width = 6, .channels = 3}));
  write_file_atomic(root / "set.json",
                    R"({"images": [{"id": 1, "file_name": "a.png"}], "categories": [{"id": 1,
                    "name": "cat"}], "annotations": [{"id": 1, "image_id": 1, "category_id": 1,
                    "bbox": [0, 0, 3, 3]}]})");
  const std::vector<fs::path> folders{root / "none", root / "first", root / "second"};
  EXPECT_EQ(read_coco(root / "set.json", folders).pictures[0].path, root / "second" / "a.png");
}

TEST(Coco, ReadsTheChessPieces) {
  const testing::TestData chess = testing::test_data("fewshot/chess");
  if (!chess.why_not.empty()) GTEST_SKIP() << chess.why_not;
  const DetectionData data =
      read_coco(fs::path(chess.path) / "train.json", fs::path(chess.path) / "train");
  EXPECT_EQ(data.pictures.size(), 202u);
  EXPECT_EQ(data.categories.size(), 12u);
  EXPECT_EQ(data.first_box.back(), data.boxes.size());
  for (const Box& one : data.boxes) {
    const Picture& picture = data.pictures[static_cast<std::size_t>(one.picture)];
    EXPECT_LE(one.x + one.w, static_cast<float>(picture.width) * 1.000001f);
    EXPECT_LE(one.y + one.h, static_cast<float>(picture.height) * 1.000001f);
  }
}

// Label Studio writes paths of Windows, of its server, and addresses.
TEST(Coco, PathsOfAnotherMachineAreFoundByTheirLastPart) {
  const TemporaryDirectory folder;
  make_directories(folder.path() / "images/deep");
  for (const char* name : {"images/0.png", "images/1.png", "images/deep/0.png"})
    write_picture(folder.path() / name, Image({.height = 8, .width = 8, .channels = 3}));
  const auto read = [&](const std::vector<std::string>& names, const fs::path& pictures) {
    std::string images;
    for (std::size_t i = 0; i < names.size(); ++i)
      images += cat(i > 0 ? "," : "", R"({"id": )", i,
                    R"(, "width": 8, "height": 8, "file_name": ")", names[i], R"("})");
    write_file_atomic(
        folder.path() / "result.json",
        cat(R"({"images": [)", images, R"(], "categories": [{"id": 1, "name": "cat"}],)",
            R"("annotations": [)", box(1, 0, 1, "[1, 1, 4, 4]"), "]}"));
    std::string found;
    for (const Picture& picture :
         read_coco(folder.path() / "result.json", folder.path() / pictures).pictures)
      found += cat(found.empty() ? "" : " ",
                   picture.path.lexically_normal().lexically_relative(folder.path()).string());
    return found;
  };
  EXPECT_EQ(read({R"(images\\0.png)", R"(images\\1.png)"}, ""), "images/0.png images/1.png");
  EXPECT_EQ(read({R"(images\\0.png)", R"(images\\1.png)"}, "images"), "images/0.png images/1.png");
  EXPECT_EQ(read({R"(deep\\0.png)", "1.png"}, "images"), "images/deep/0.png images/1.png");
  EXPECT_EQ(read({"../../label-studio/media/upload/4/0.png"}, "images"), "images/0.png");
  EXPECT_EQ(read({"1.png", "/data/upload/4/0.png"}, "images"), "images/1.png images/0.png");
  EXPECT_EQ(read({"https://a.example/b/0.png"}, "images"), "images/0.png");
  EXPECT_THAT(thrown_by([&] {
                read({"/data/upload/4/0.png", "/data/upload/5/0.png"}, "images");
              }).what(),
              HasSubstr("the images 0 and 1 are both"));
  EXPECT_THAT(thrown_by([&] {
                read({"0.png", "2.png"}, "images");
              }).what(),
              HasSubstr("1 of 2 pictures are missing"));
}

}  // namespace
}  // namespace lockstep::fewshot
