#include "recipes/fewshot/annotations/find_data.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <set>

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "core/media/pictures/picture_file.h"
#include "tests/fakes/error_of.h"
#include "tests/fakes/test_data.h"

namespace lockstep::fewshot {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Pictures NAME0.png, NAME1.png, … with a cat each, except the last, which has a dog.
class FindData : public ::testing::Test {
 protected:
  void write_pictures(const fs::path& pictures, const std::string& name, int count) const {
    make_directories(root / pictures);
    for (int i = 0; i < count; ++i)
      write_picture(root / pictures / cat(name, i, ".png"),
                    Image({.height = 8, .width = 8, .channels = 3}));
  }
  void write_json(const fs::path& json, const fs::path& pictures, const std::string& name,
                  int count = 4) const {
    write_pictures(pictures, name, count);
    std::string images, annotations;
    for (int i = 0; i < count; ++i) {
      images += cat(i > 0 ? "," : "", R"({"id": )", i, R"(, "file_name": ")", name, i,
                    R"(.png", "width": 8, "height": 8})");
      annotations +=
          cat(i > 0 ? "," : "", R"({"id": )", i, R"(, "image_id": )", i, R"(, "category_id": )",
              i + 1 < count ? 1 : 2, R"(, "bbox": [1, 1, 4, 4]})");
    }
    make_directories((root / json).parent_path());
    write_file_atomic(
        root / json,
        cat(R"({"images": [)", images, R"(], "annotations": [)", annotations,
            R"(], "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name":)", R"("dog"}]})"));
  }
  void write_voc(const fs::path& annotations, const fs::path& pictures, const std::string& name,
                 int count = 4) const {
    write_pictures(pictures, name, count);
    make_directories(root / annotations);
    for (int i = 0; i < count; ++i)
      write_file_atomic(root / annotations / cat(name, i, ".xml"),
                        cat("<annotation><object><name>", i + 1 < count ? "cat" : "dog",
                            "</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>4</xmax><ymax>4"
                            "</ymax></bndbox></object></annotation>"));
  }
  // "t4 v2": how many pictures, and the first letter of the first one's name.
  std::string found(const fs::path& path) const {
    const DetectionSets sets = read_detection_sets(find_detection_data(path), 0.25, 1);
    const auto text = [](const DetectionData& data) {
      return cat(data.pictures[0].path.filename().string()[0], data.pictures.size());
    };
    return cat(text(sets.train), " ", text(sets.valid), sets.split_off ? " split" : "");
  }

  const TemporaryDirectory folder;
  const fs::path root = folder.path();
};

TEST_F(FindData, TrainAndValidBesideFolders) {
  write_json("train.json", "train", "t");
  EXPECT_EQ(found(root), "t3 t1 split");
  write_json("valid.json", "valid", "v", 2);
  EXPECT_EQ(found(root), "t4 v2");
  EXPECT_EQ(found(root / "train.json"), "t4 v2");
  EXPECT_EQ(found(root / "valid.json"), "v1 v1 split");
}

TEST_F(FindData, ValBesideAFolderOfEitherName) {
  write_json("train.json", "images/train", "t");
  write_json("val.json", "valid", "v", 2);
  EXPECT_EQ(found(root), "t4 v2");
}

TEST_F(FindData, TrainCocoAndValCoco) {
  write_json("train_coco.json", "train", "t");
  write_json("val_coco.json", "val", "v", 2);
  EXPECT_EQ(found(root.string() + "/"), "t4 v2");
}

TEST_F(FindData, CocosOwn) {
  write_json("annotations/instances_train2017.json", "train2017", "t");
  write_json("annotations/instances_val2017.json", "images/val2017", "v", 2);
  EXPECT_EQ(found(root), "t4 v2");
  write_json("annotations/instances_train2014.json", "train2014", "u");
  EXPECT_THAT(thrown_by([&] { find_detection_data(root); }).what(), HasSubstr("may both be meant"));
}

TEST_F(FindData, RoboflowsCoco) {
  write_json("train/_annotations.coco.json", "train", "t");
  write_json("valid/_annotations.coco.json", "valid", "v", 2);
  EXPECT_EQ(found(root), "t4 v2");
}

TEST_F(FindData, CvatsCoco) {
  write_json("annotations/instances_default.json", "images/default", "d");
  EXPECT_EQ(found(root), "d3 d1 split");
  write_json("annotations/instances_Train.json", "images/Train", "t");
  EXPECT_EQ(found(root), "t3 t1 split");
  write_json("annotations/instances_Validation.json", "images/Validation", "v", 2);
  EXPECT_EQ(found(root), "t4 v2");
}

TEST_F(FindData, LabelStudiosAndFiftyOnesCoco) {
  write_json("ls/result.json", "ls/images", "t");
  EXPECT_EQ(found(root / "ls"), "t3 t1 split");
  write_json("fo/labels.json", "fo/data", "t");
  EXPECT_EQ(found(root / "fo"), "t3 t1 split");
}

TEST_F(FindData, SaysThatATestSetIsNotUsed) {
  write_json("train.json", "train", "t");
  write_json("test.json", "test", "v", 2);
  EXPECT_EQ(found(root), "t3 t1 split");
  EXPECT_THAT(find_detection_data(root).notes,
              ElementsAre(HasSubstr("test.json is not used; data.valid=")));
  EXPECT_EQ(found(root / "test.json"), "v1 v1 split");
  write_json("valid.json", "valid", "v", 2);
  EXPECT_TRUE(find_detection_data(root).notes.empty());
}

TEST_F(FindData, SaysThatAnotherNameOfValidationIsNotUsed) {
  for (const char* name : {"val_annotations", "valid_annotations", "dev_coco", "val2017",
                           "instances_val", "annotations_val"}) {
    const fs::path set = root / name;
    write_json(fs::path(name) / "train_coco.json", fs::path(name) / "train_images", "t");
    const fs::path json = fs::path(name) / cat(name, ".json");
    write_json(json, fs::path(name) / "val_images", "v", 2);
    EXPECT_THAT(find_detection_data(set).notes,
                ElementsAre(AllOf(HasSubstr(cat(name, ".json is not used; ")),
                                  HasSubstr(cat("data.valid=", (root / json).string())))));
    EXPECT_EQ(found(set), "t3 t1 split");
  }
  write_json("a b/train.json", "a b/train", "t");
  write_json("a b/val_1.json", "a b/val", "v", 2);
  EXPECT_THAT(
      find_detection_data(root / "a b").notes,
      ElementsAre(HasSubstr(cat("data.valid='", (root / "a b/val_1.json").string(), "' val"))));
  write_json("r/train/_annotations.coco.json", "r/train", "t");
  write_json("r/dev/_annotations.coco.json", "r/dev", "v", 2);
  EXPECT_THAT(find_detection_data(root / "r").notes,
              ElementsAre(HasSubstr("dev/_annotations.coco.json is not used")));
  write_json("d/train.json", "d/train", "t");
  write_json("d/devices.json", "d/devices", "v", 2);
  write_json("d/train_val.json", "d/train", "t");
  EXPECT_TRUE(find_detection_data(root / "d").notes.empty());
}

TEST_F(FindData, PicturesLieInAFolderThatAWordOfTheNameSays) {
  write_json("val_annotations.json", "val_images", "v");
  write_json("annotations_train.json", "images/train", "t");
  EXPECT_EQ(found(root / "val_annotations.json"), "v3 v1 split");
  EXPECT_EQ(found(root / "annotations_train.json"), "t3 t1 split");
}

TEST_F(FindData, KagglesVoc) {
  write_voc("a/annotations", "a/images", "x");
  EXPECT_EQ(found(root / "a"), "x3 x1 split");
  write_voc("b/annotations/xmls", "b/images", "x");
  EXPECT_EQ(found(root / "b"), "x3 x1 split");
  write_voc("c/annotations/train", "c/images/train", "t");
  write_voc("c/annotations/val", "c/images/val", "v", 2);
  EXPECT_EQ(found(root / "c"), "t4 v2");
}

TEST_F(FindData, ListsWhatMayBeMeant) {
  const auto fault = [&] { return thrown_by([&] { find_detection_data(root); }); };
  write_json("annotations/instances_a.json", "images/a", "a");
  write_json("annotations/instances_b.json", "images/b", "b");
  write_json("result.json", "images", "c");
  EXPECT_THAT(fault().what(),
              AllOf(HasSubstr("holds several sets: "), HasSubstr("result.json, "),
                    HasSubstr("instances_a.json and "), HasSubstr("may all be meant")));
  EXPECT_THAT(fault().hint(), HasSubstr("instances_b.json"));
  write_json("train.json", "train", "t");
  EXPECT_EQ(found(root), "t3 t1 split");  // says what it is for
  write_voc("Annotations", "JPEGImages", "x");
  EXPECT_THAT(fault().what(), AllOf(HasSubstr("train.json and "), HasSubstr("/Annotations may")));
}

TEST_F(FindData, NamesSetsForYoloAndJsonsThatAreNoneOfThese) {
  make_directories(root / "train/labels");
  write_file_atomic(root / "train/labels/a.txt", "0 0.5 0.5 0.1 0.1\n");
  EXPECT_THAT(thrown_by([&] { find_detection_data(root); }).what(),
              HasSubstr("is a set for YOLO (train/labels/*.txt)"));
  write_file_atomic(root / "data.yaml", "names: [cat]\n");
  const Error error = thrown_by([&] { find_detection_data(root / "data.yaml"); });
  EXPECT_THAT(error.what(), HasSubstr("is a set for YOLO (data.yaml)"));
  EXPECT_THAT(error.hint(), HasSubstr("datum convert -i "));
  write_json("other/boxes.json", "other", "t");
  EXPECT_THAT(thrown_by([&] { find_detection_data(root / "other"); }).what(),
              HasSubstr("other; it has boxes.json"));
}

TEST_F(FindData, OneJsonBesideItsPictures) {
  write_json("annotations.json", ".", "t");
  EXPECT_EQ(found(root), "t3 t1 split");
}

TEST_F(FindData, VocWithLists) {
  write_voc("Annotations", "JPEGImages", "x", 6);
  EXPECT_EQ(found(root), "x4 x2 split");
  make_directories(root / "ImageSets/Main");
  const auto list = [&](const char* name, const char* text) {
    write_file_atomic(root / "ImageSets/Main" / name, text);
  };
  list("trainval.txt", "x0\nx5\nx1\nx2\n");
  EXPECT_EQ(found(root), "x3 x1 split");
  list("test.txt", "x3\nx4\n");
  EXPECT_EQ(found(root), "x4 x2");
  list("train.txt", "x0\nx5\n");
  list("val.txt", "x1\n");
  EXPECT_EQ(found(root), "x2 x1");
  EXPECT_EQ(found(root / "ImageSets/Main/train.txt"), "x2 x1");
}

TEST_F(FindData, CvatsVocHasListsInCapitals) {
  write_voc("Annotations", "JPEGImages", "x", 6);
  make_directories(root / "ImageSets/Main");
  write_file_atomic(root / "ImageSets/Main/Train.txt", "x0\nx5\nx1\nx2\n");
  write_file_atomic(root / "ImageSets/Main/Validation.txt", "x3\nx4\n");
  EXPECT_EQ(found(root), "x4 x2");
}

TEST_F(FindData, TheOnlyVocFolderBelow) {
  write_voc("VOCdevkit/VOC2007/Annotations", "VOCdevkit/VOC2007/JPEGImages", "x");
  EXPECT_EQ(found(root), "x3 x1 split");
  EXPECT_EQ(found(root / "VOCdevkit"), "x3 x1 split");
  write_voc("VOCdevkit/VOC2012/Annotations", "VOCdevkit/VOC2012/JPEGImages", "y");
  EXPECT_THAT(thrown_by([&] { find_detection_data(root); }).what(), HasSubstr("may both be meant"));
}

TEST_F(FindData, FlatVocAndRoboflowsVoc) {
  write_voc(".", ".", "x");
  EXPECT_EQ(found(root), "x3 x1 split");
  write_voc("train", "train", "t");
  write_voc("val", "val", "v", 2);
  EXPECT_EQ(found(root), "t4 v2");
}

TEST_F(FindData, SaysWhatWasLookedFor) {
  const Error error = thrown_by([&] { find_detection_data(root); });
  EXPECT_THAT(error.what(), HasSubstr("no pictures with boxes were found in"));
  EXPECT_THAT(error.hint(), HasSubstr("_annotations.coco.json"));
  EXPECT_THAT(thrown_by([&] { find_detection_data(root / "none"); }).what(),
              HasSubstr("is not there"));
}

TEST_F(FindData, SetsThatTheUserNames) {
  write_json("a/boxes.json", "elsewhere", "t");
  write_voc("b", "c", "x");
  const auto pictures = [&](const fs::path& annotations, const fs::path& place) {
    return read_detection_data(name_detection_files(root / annotations, place)).pictures.size();
  };
  EXPECT_EQ(pictures("a/boxes.json", root / "elsewhere"), 4u);
  EXPECT_EQ(pictures("b", root / "c"), 4u);
  EXPECT_THAT(thrown_by([&] { pictures("a/boxes.json", ""); }).what(),
              HasSubstr("4 of 4 pictures"));
  EXPECT_THAT(thrown_by([&] { pictures("b", root / "d"); }).what(), HasSubstr("is no folder"));
}

TEST_F(FindData, APictureInBothSetsIsRefused) {
  write_json("train.json", "images", "t");
  write_json("val.json", "images", "t", 2);
  EXPECT_THAT(thrown_by([&] { found(root); }).what(), HasSubstr("t0.png (id 0) is in"));
}

DetectionData numbered(int count) {
  DetectionData data{.name = "set", .categories = {{.id = 1, .name = "cat"}}};
  for (int i = 0; i < count; ++i) {
    data.pictures.push_back({.id = i, .path = cat("p/", i, ".jpg"), .width = 9, .height = 9});
    data.boxes.push_back({.picture = i, .x = 1, .y = 1, .w = 2, .h = 2, .area = 4, .id = i});
  }
  index_boxes(data);
  return data;
}

TEST(ChooseValid, ADrawFromTheSeedAndTheNames) {
  const std::vector<bool> a = choose_valid(numbered(1000), 0.2, 1),
                          b = choose_valid(numbered(1000), 0.2, 2);
  EXPECT_EQ(std::count(a.begin(), a.end(), true), 200);
  EXPECT_NE(a, b);
  EXPECT_EQ(a, choose_valid(numbered(1000), 0.2, 1));
  DetectionData of_windows = numbered(1000);
  for (Picture& one : of_windows.pictures) one.path = cat("a\\", one.path.filename().string());
  EXPECT_EQ(a, choose_valid(of_windows, 0.2, 1));
  // With one picture more, at most one changes its side.
  std::vector<bool> more = choose_valid(numbered(1001), 0.2, 1);
  int changed = 0;
  for (std::size_t i = 0; i < 1000; ++i) changed += more[i] != a[i] ? 1 : 0;
  EXPECT_LE(changed, 1);
}

TEST(ChooseValid, AtLeastOneAndNotAll) {
  const auto held = [](int count, double share) {
    const std::vector<bool> chosen = choose_valid(numbered(count), share, 3);
    return std::count(chosen.begin(), chosen.end(), true);
  };
  EXPECT_EQ(held(2, 0.01), 1);
  EXPECT_EQ(held(2, 0.99), 1);
  EXPECT_THAT(thrown_by([&] { held(1, 0.5); }).what(), HasSubstr("has one picture"));
}

TEST(TakePictures, BoxesGoWithTheirPictures) {
  const DetectionData taken = take_pictures(numbered(4), {false, true, false, true});
  ASSERT_EQ(taken.pictures.size(), 2u);
  EXPECT_EQ(taken.pictures[1].id, 3);
  ASSERT_EQ(taken.boxes_of(1).size(), 1u);
  EXPECT_EQ(taken.boxes_of(1)[0].id, 3);
}

class CategoriesOf : public ::testing::Test {
 protected:
  static DetectionData with(std::vector<Category> categories, std::vector<int> boxes) {
    DetectionData data = numbered(static_cast<int>(boxes.size()));
    data.categories = std::move(categories);
    for (std::size_t i = 0; i < boxes.size(); ++i) data.boxes[i].category = boxes[i];
    return data;
  }
  std::vector<std::string> warnings;
};

TEST_F(CategoriesOf, AreMatchedByName) {
  const DetectionData model = with({{1, "cat"}, {2, "dog"}}, {0, 1});
  const DetectionData data =
      with_categories_of(model, with({{1, "dog"}, {2, "cat"}, {3, "cow"}}, {0, 1, 0}), warnings);
  EXPECT_EQ(data.categories, model.categories);
  EXPECT_EQ(data.boxes[0].category, 1);
  EXPECT_EQ(data.boxes[1].category, 0);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("ids of categories differ from those of set")));
}

TEST_F(CategoriesOf, ThatTheModelLacksAreNamedWithTheNearest) {
  const DetectionData model = with({{1, "black-king"}, {2, "dog"}}, {0, 1});
  const Error error = thrown_by([&] {
    with_categories_of(model, with({{1, "blackking"}, {2, "dog"}}, {0, 1}), warnings);
  });
  EXPECT_THAT(error.what(), HasSubstr("has boxes of the category \"blackking\" (id 1)"));
  EXPECT_THAT(error.hint(), HasSubstr("is \"black-king\" meant?"));
}

TEST(FindChess, BothForms) {
  const testing::TestData data = testing::test_data("fewshot");
  if (!data.why_not.empty()) GTEST_SKIP() << data.why_not;
  const DetectionSets coco =
      read_detection_sets(find_detection_data(fs::path(data.path) / "chess"), 0.2, 0);
  EXPECT_EQ(coco.train.pictures.size(), 202u);
  EXPECT_EQ(coco.valid.pictures.size(), 58u);
  EXPECT_EQ(coco.train.categories, coco.valid.categories);
  const DetectionSets voc =
      read_detection_sets(find_detection_data(fs::path(data.path) / "chess_voc"), 0.2, 0);
  EXPECT_EQ(voc.train.pictures.size(), 9u);
  EXPECT_TRUE(voc.split_off);
}

}  // namespace
}  // namespace lockstep::fewshot
