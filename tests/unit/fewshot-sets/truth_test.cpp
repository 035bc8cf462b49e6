// Ground truth as it stands in its files.
#include "recipes/fewshot/sets/truth.h"

#include <gmock/gmock.h>

#include "core/base/files/files.h"
#include "fakes/error_of.h"
#include "recipes/fewshot/metrics/coco_evaluation.h"

namespace lockstep::fewshot {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
namespace fs = std::filesystem;

// A picture "a.jpg" of 64 x 48 and the category 3, "rook", with these annotations.
std::string with_boxes(const std::string& annotations) {
  return R"({"images": [{"id": 7, "file_name": "x/a.jpg", "width": 64, "height": 48}],
             "categories": [{"id": 3, "name": "rook"}], "annotations": [)" +
         annotations + "]}";
}
GroundTruth parsed_truth(const std::string& text) { return parse_truth(text, "t.json"); }

TEST(GroundTruth, KeepsBoxesAsTheyStandInDoublePrecision) {
  const GroundTruth truth = parsed_truth(with_boxes(
      R"({"id": 1, "image_id": 7, "category_id": 3, "bbox": [-10.1, 40.3, 100.7, 30.2], "area": 5, "iscrowd": 0},
         {"id": 2, "image_id": 7, "category_id": 3, "bbox": [70, 5, 4, 4], "area": 16, "iscrowd": 1},
         {"id": 3, "image_id": 7, "category_id": 3, "bbox": [5, 5, 0, 4], "area": 0, "iscrowd": 0})"));
  ASSERT_EQ(truth.boxes.size(), 3u);
  const TrueBox& past = truth.boxes[0];
  EXPECT_EQ(past.picture, 7);
  EXPECT_EQ(past.category, 3);
  EXPECT_EQ(past.x, -10.1);
  EXPECT_EQ(past.y, 40.3);
  EXPECT_EQ(past.width, 100.7);
  EXPECT_EQ(past.height, 30.2);
  EXPECT_EQ(past.area, 5);
  EXPECT_EQ(truth.boxes[1].x, 70) << "beside the picture";
  EXPECT_TRUE(truth.boxes[1].crowd);
  EXPECT_EQ(truth.boxes[2].width, 0);
  EXPECT_EQ(truth.boxes[2].area, 0);
  EXPECT_THAT(truth.notes, IsEmpty());
}

TEST(GroundTruth, NeedsNeitherSizesNorNames) {
  const GroundTruth truth = parsed_truth(
      R"({"images": [{"id": 7, "width": -1, "height": "?"}], "categories": [{"id": 3}],
          "annotations": []})");
  EXPECT_EQ(truth.pictures.at(0).picture, 7);
  EXPECT_EQ(truth.pictures.at(0).file_name, "");
  EXPECT_EQ(truth.categories.at(0).id, 3);
  EXPECT_THAT(truth.boxes, IsEmpty());
}

// The root category of an export of Roboflow.
TEST(GroundTruth, NamesOfCategoriesMayComeTwice) {
  EXPECT_EQ(parsed_truth(R"({"images": [{"id": 7}], "annotations": [],
                       "categories": [{"id": 1, "name": "lego"}, {"id": 0, "name": "lego"}]})")
                .category_ids(),
            (std::vector<std::int64_t>{0, 1}));
}

TEST(GroundTruth, SaysWhatPycocotoolsDoesOtherwiseOrSkips) {
  const GroundTruth truth = parsed_truth(with_boxes(
      R"({"id": 0, "image_id": 7, "category_id": 3, "bbox": [1, 1, 4, 5]},
         {"id": 1, "image_id": 7, "category_id": 3, "bbox": [1, 1, 4, 5], "area": 9, "ignore": 1},
         {"id": 2, "image_id": 7, "category_id": 9, "bbox": [1, 1, 4, 4], "area": 16},
         {"id": 3, "image_id": 8, "category_id": 3, "bbox": [1, 1, 4, 4], "area": 16},
         {"id": 4, "image_id": 8, "category_id": 3, "bbox": [1, 1, 4, 4], "area": 16})"));
  ASSERT_EQ(truth.boxes.size(), 2u);
  EXPECT_EQ(truth.boxes[0].area, 20) << "of the box";
  EXPECT_FALSE(truth.boxes[1].ignore) << "pycocotools puts iscrowd in its place";
  EXPECT_THAT(truth.notes,
              ElementsAre(AllOf(HasSubstr("t.json: 2 annotations of images that"),
                                HasSubstr("skipped (first: id 3)")),
                          HasSubstr("1 annotation of categories that it does not list"),
                          HasSubstr("1 annotation with \"ignore\", which plays no part"),
                          HasSubstr("1 annotation without area"),
                          HasSubstr("the annotation with id 0 counts")));
}

TEST(GroundTruth, RefusesWhatCannotBeScored) {
  const auto fault = [](const std::string& text) { return error_of([&] { parsed_truth(text); }); };
  EXPECT_THAT(fault(R"({"images": [], "categories": [{"id": 1}], "annotations": []})"),
              HasSubstr("t.json has no pictures"));
  EXPECT_THAT(fault(R"({"images": [{"id": 1}], "categories": [], "annotations": []})"),
              HasSubstr("t.json has no categories"));
  EXPECT_THAT(fault(R"({"images": [{"id": 1}, {"id": 1}], "categories": [{"id": 1}]})"),
              HasSubstr("the image with id 1 comes twice"));
  EXPECT_THAT(fault(with_boxes(R"({"id": 2, "image_id": 7, "category_id": 3, "bbox": [0, 0, 1, 1]},
                                  {"id": 2, "image_id": 7, "category_id": 3, "bbox": [0, 0, 1, 1]})")),
              HasSubstr("the annotation with id 2 comes twice"));
  EXPECT_THAT(fault("[]"), HasSubstr("is a list"));
}

TEST(GroundTruth, OfPascalVocHasDifficultBoxesAndNeedsNoPictures) {
  const TemporaryDirectory folder;
  write_file_atomic(folder.path() / "a.xml", R"(<annotation><filename>old.png</filename>
    <object><name>b</name><difficult>1</difficult><bndbox><xmin>-4</xmin><ymin>1</ymin><xmax>5</xmax>
    <ymax>500</ymax></bndbox></object><object><name>a</name><bndbox><xmin>1</xmin><ymin>1</ymin>
    <xmax>5</xmax><ymax>5</ymax></bndbox></object></annotation>)");
  const GroundTruth truth = read_truth(name_detection_files(folder.path(), {}));
  ASSERT_EQ(truth.boxes.size(), 2u);
  EXPECT_EQ(truth.boxes[0].category, 2);
  EXPECT_EQ(truth.boxes[0].x, -5);
  EXPECT_EQ(truth.boxes[0].height, 500);
  EXPECT_EQ(truth.boxes[0].area, 5000);
  EXPECT_TRUE(truth.boxes[0].ignore);
  EXPECT_FALSE(truth.boxes[1].ignore);
  EXPECT_EQ(truth.pictures.at(0).file_name, "a.jpg") << "<filename> is often an old one";
  EXPECT_THAT(error_of([&] {
                read_valid_truth({.train = name_detection_files(folder.path(), {}), .valid = {}},
                                 0.2, 1);
              }),
              HasSubstr("1 of 1 pictures are missing"));
  write_file_atomic(folder.path() / "old.png", "");  // no picture of the xml's name
  EXPECT_EQ(read_truth(name_detection_files(folder.path(), {})).pictures.at(0).file_name,
            "old.png");
}

TEST(Truth, OfPascalVocKeepsFolders) {
  const TemporaryDirectory folder;
  for (const char* camera : {"camA", "camB"}) {
    for (const char* part : {"Annotations", "JPEGImages"})
      std::filesystem::create_directories(folder.path() / part / camera);
    write_file_atomic(folder.path() / "Annotations" / camera / "a.xml",
                      R"(<annotation><object><name>a</name><bndbox><xmin>1</xmin><ymin>1</ymin>
                      <xmax>5</xmax><ymax>5</ymax></bndbox></object></annotation>)");
    write_file_atomic(folder.path() / "JPEGImages" / camera / "a.png", "");
  }
  const GroundTruth truth = read_truth(VocFolders{.annotations = folder.path() / "Annotations",
                                                  .pictures = folder.path() / "JPEGImages",
                                                  .list = {}});
  EXPECT_EQ(truth.pictures.at(0).file_name, "camA/a.png");
  EXPECT_EQ(truth.pictures.at(1).file_name, "camB/a.png");
}

TEST(ValidTruth, HasTheIdsOfTheTrainingSetByName) {
  const TemporaryDirectory folder;
  const auto write = [&](const char* name, const char* categories, int category) {
    write_file_atomic(folder.path() / name,
                      R"({"images": [{"id": 7, "file_name": "a.jpg"}], "categories": )" +
                          std::string(categories) +
                          R"(, "annotations": [{"id": 1, "image_id": 7, "category_id": )" +
                          std::to_string(category) + R"(, "bbox": [0, 0, 9, 9], "area": 81}]})");
    return name_detection_files(folder.path() / name, {});
  };
  FoundData found{.train = write("train.json",
                                 R"([{"id": 0, "name": "king"}, {"id": 1, "name": "rook"},
                                     {"id": 4, "name": "king"}])",
                                 4),
                  .valid = write("valid.json", R"([{"id": 1, "name": "king"}])", 1)};
  const GroundTruth truth = read_valid_truth(found, 0.2, 1);
  EXPECT_EQ(truth.boxes.at(0).category, 4) << "of two that with boxes";
  EXPECT_EQ(truth.category_ids(), (std::vector<std::int64_t>{0, 1, 4}));
  EXPECT_THAT(truth.notes, ElementsAre(HasSubstr("(first: \"king\", 1 and 4)")));
  found.valid = write("valid.json", R"([{"id": 1, "name": "pawn"}])", 1);
  EXPECT_THAT(error_of([&] { read_valid_truth(found, 0.2, 1); }),
              AllOf(HasSubstr("has boxes of the category \"pawn\" (id 1), which"),
                    HasSubstr("truth=FILE")));
}

}  // namespace
}  // namespace lockstep::fewshot
