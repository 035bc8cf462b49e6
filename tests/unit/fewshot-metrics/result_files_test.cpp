#include "recipes/fewshot/metrics/result_files.h"

#include <gmock/gmock.h>

#include <cmath>

#include "core/base/files/files.h"
#include "fakes/error_of.h"

namespace lockstep::fewshot {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::int64_t large_id = 9007199254740993;  // no double holds it

const std::vector<NamedPicture> pictures{
    {7, "b, \"c\".jpg"}, {1, "a.jpg"}, {large_id, " d"}, {9, "x/e.jpg"}, {8, "y/e.jpg"}};
const std::vector<NamedClass> listed_classes{{2, "black-bishop"}, {5, "Läufer,\nweiß"}};
const KnownIds known{pictures, listed_classes};

std::vector<Detection> some() {
  return {{.picture = 7,
           .category = 2,
           .x = 0.1,
           .y = -3,
           .width = 12.25,
           .height = 1e-7,
           .score = 1.0 / 3},
          {.picture = large_id,
           .category = 5,
           .x = 10,
           .y = 20,
           .width = 30,
           .height = 0,
           .score = -2}};
}

void expect_equal(const std::vector<Detection>& a, const std::vector<Detection>& b, double near) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].picture, b[i].picture);
    EXPECT_EQ(a[i].category, b[i].category);
    EXPECT_EQ(a[i].x, b[i].x);
    EXPECT_EQ(a[i].y, b[i].y);
    EXPECT_NEAR(a[i].width, b[i].width, near);
    EXPECT_NEAR(a[i].height, b[i].height, near);
    EXPECT_EQ(a[i].score, b[i].score);
  }
}

std::vector<Detection> parsed(const std::string& text) {
  return parse_results_json(text, "r.json", known).detections;
}
std::string refused(const std::string& text) {
  return error_of([&] { parsed(text); });
}
// With one entry before it.
std::string refused_entry(const std::string& entry) {
  return refused("[{\"image_id\": 1, \"category_id\": 5, \"bbox\": [1, 2, 3, 4], \"score\": 1}, " +
                 entry + "]");
}

TEST(ResultsJson, WhatIsWrittenIsReadAgain) {
  const std::string text = results_json(some());
  EXPECT_THAT(text, HasSubstr("{\"image_id\": 7, \"category_id\": 2, \"bbox\": [0.1, -3, 12.25, "
                              "1e-07], \"score\": 0.3333333333333333}"));
  expect_equal(parsed(text), some(), 0);
  EXPECT_TRUE(parsed(results_json({})).empty());
}

TEST(ResultsJson, AFileIsRead) {
  const TemporaryDirectory folder;
  write_file_atomic(folder.path() / "r.json", results_json(some()));
  expect_equal(read_results_json(folder.path() / "r.json", known).detections, some(), 0);
  EXPECT_THAT(error_of([&] { read_results_json(folder.path() / "none.json", known); }),
              HasSubstr("none.json"));
}

TEST(ResultsJson, OtherMembersArePassedOver) {
  const auto read = parsed(
      R"([{"segmentation": [[1, 2], {"bbox": [9]}], "image_id": 1.0, "extra": null, "score": 1e-3,
           "bbox": [1, 2, 3, 4], "category_id": 5, "keypoints": {"score": "x", "image_id": true}}])");
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].picture, 1);
  EXPECT_EQ(read[0].width, 3);
  EXPECT_EQ(read[0].score, 1e-3);
}

TEST(ResultsJson, UnknownIdsAreErrors) {
  EXPECT_THAT(
      refused_entry(R"({"image_id": 3, "category_id": 5, "bbox": [1, 2, 3, 4], "score": 1})"),
      HasSubstr("r.json, entry 1 has the unknown image_id 3 | "));
  EXPECT_THAT(
      refused_entry(R"({"image_id": 1.5, "category_id": 5, "bbox": [1, 2, 3, 4], "score": 1})"),
      HasSubstr("unknown image_id 1.5"));
  EXPECT_THAT(refused_entry(R"({"image_id": 18446744073709551615, "category_id": 5})"),
              HasSubstr("unknown image_id 1.844674407370955"));
}

// As pycocotools does, but with the count.
TEST(ResultsJson, ClassesThatTheTruthLacksAreSkippedAndCounted) {
  const ReadDetections read = parse_results_json(
      R"([{"image_id": 1, "category_id": 77, "bbox": [1, 2, 3, 4], "score": 1},
          {"image_id": 1, "category_id": 5, "bbox": [1, 2, 3, 4], "score": 0.5},
          {"image_id": 7, "category_id": 9, "category_name": "rook", "bbox": [1, 2, 3, 4], "score": 1}])",
      "r.json", known);
  ASSERT_EQ(read.detections.size(), 1u);
  EXPECT_EQ(read.detections[0].score, 0.5);
  EXPECT_EQ(read.of_other_classes, 2);
  EXPECT_EQ(read.first_other_class, "category_id 77");
  // A picture that it lacks stays an error, and the entry's number counts the skipped ones too.
  EXPECT_THAT(refused(R"([{"image_id": 1, "category_id": 77, "bbox": [1, 2, 3, 4], "score": 1},
                          {"image_id": 3, "category_id": 77, "bbox": [1, 2, 3, 4], "score": 1}])"),
              HasSubstr("entry 1 has the unknown image_id 3"));
}

TEST(ResultsJson, NamesSayWhoseIdsTheyAre) {
  const auto with = [](std::int64_t image, const std::string& file, std::int64_t category,
                       const std::string& name) {
    return R"({"image_id": )" + std::to_string(image) + R"(, "file_name": ")" + file +
           R"(", "category_id": )" + std::to_string(category) + R"(, "category_name": ")" + name +
           R"(", "bbox": [1, 2, 3, 4], "score": 1})";
  };
  EXPECT_EQ(parsed("[" + with(1, "test/a.png", 2, "black-bishop") + "]").size(), 1u);
  EXPECT_THAT(refused_entry(with(7, "a.jpg", 2, "black-bishop")),
              AllOf(HasSubstr("entry 1 is of the picture a.jpg, but image_id 7 of the ground truth "
                              "is b, \"c\".jpg"),
                    HasSubstr("ids of another json"), HasSubstr("detections.csv")));
  EXPECT_THAT(refused_entry(with(3, "a.jpg", 2, "black-bishop")),
              HasSubstr("has the unknown image_id 3 (a.jpg)"));
  EXPECT_THAT(refused_entry(with(1, "a.jpg", 5, "black-bishop")),
              HasSubstr("is of the class black-bishop with category_id 5, but the ground truth has "
                        "it as 2"));
  // Whoever has no name knows by ids alone.
  const KnownIds nameless{{{1, ""}}, {{.category = 5, .name = ""}}};
  EXPECT_EQ(parse_results_json("[" + with(1, "a.jpg", 5, "rook") + "]", "r.json", nameless)
                .detections.size(),
            1u);
}

// Two cameras name their pictures alike, and the folders tell them apart.
const KnownIds two_cameras{{{1, "camA/000.jpg"}, {2, "camB\\000.jpg"}, {3, "only.jpg"}},
                           listed_classes};

ReadDetections of_cameras(const std::vector<std::pair<std::int64_t, std::string>>& entries,
                          const KnownIds& truth = two_cameras) {
  std::string text;
  for (const auto& [id, name] : entries)
    text += (text.empty() ? "[" : ", ") + std::string(R"({"image_id": )") + std::to_string(id) +
            R"(, "file_name": ")" + name +
            R"(", "category_id": 2, "bbox": [1, 2, 3, 4], "score": 1})";
  return parse_results_json(text + "]", "r.json", truth);
}

TEST(ResultsJson, FoldersOfNamesAreComparedAsFarAsBothHaveSome) {
  const auto refused_of = [](const std::vector<std::pair<std::int64_t, std::string>>& entries,
                             const KnownIds& truth = two_cameras) {
    return error_of([&] { of_cameras(entries, truth); });
  };
  for (const char* above : {"", "imgs/", "./"})
    EXPECT_TRUE(of_cameras({{1, std::string(above) + "camA/000.jpg"},
                            {2, std::string(above) + "camB/000.png"},
                            {3, std::string(above) + "only.jpg"}})
                    .notes.empty())
        << above;
  EXPECT_THAT(
      refused_of({{2, "camA/000.jpg"}}),
      AllOf(HasSubstr("entry 0 is of the picture camA/000.jpg, but image_id 2 of the ground "
                      "truth is camB"),
            HasSubstr("ids of another json")));
  EXPECT_THAT(refused_of({{1, "camC/000.jpg"}}), HasSubstr("is of the picture camC/000.jpg"));
  // A name without folders does not say which one it is. That is said.
  EXPECT_THAT(of_cameras({{1, "000.jpg"}, {2, "000.jpg"}}).notes,
              ::testing::ElementsAre(HasSubstr("2 detections have a file name that fits several")));
  // Other folders, as those of an annotation tool's server, where no other picture has the name.
  EXPECT_THAT(
      of_cameras({{3, "imgs/only.jpg"}}, {{{3, "/data/upload/4/only.jpg"}}, listed_classes}).notes,
      ::testing::ElementsAre(HasSubstr("1 detection has a file name in other folders")));
  // A picture's own name goes before one that ends with it.
  const KnownIds nested{{{1, "000.jpg"}, {2, "camA/000.jpg"}}, listed_classes};
  EXPECT_TRUE(of_cameras({{1, "000.jpg"}, {2, "camA/000.jpg"}}, nested).notes.empty());
  EXPECT_THAT(refused_of({{1, "camA/000.jpg"}}, nested), HasSubstr("of the ground truth is 000"));
  // Two pictures for one of the ground truth.
  EXPECT_THAT(
      refused_of({{1, "camA/000.jpg"}, {1, "camB/000.jpg"}}, {{{1, "000.jpg"}}, listed_classes}),
      HasSubstr("entry 1 is of the picture camB/000.jpg, but an entry before it has image_id 1 for "
                "camA/000.jpg"));
}

// Files of earlier versions name pictures without their folders.
TEST(ResultsJson, TheIdDecidesWhereANameWithoutFoldersFitsIt) {
  const KnownIds nested{{{1, "000.jpg"}, {2, "camA/000.jpg"}, {3, "only.jpg"}}, listed_classes};
  const ReadDetections read = of_cameras({{1, "000.jpg"}, {2, "000.jpg"}}, nested);
  ASSERT_EQ(read.detections.size(), 2u);
  EXPECT_EQ(read.detections[1].picture, 2);
  EXPECT_THAT(read.notes,
              ::testing::ElementsAre(HasSubstr("1 detection has a file name that fits several")));
  EXPECT_THAT(error_of([&] {
                of_cameras({{3, "000.jpg"}}, nested);
              }),
              HasSubstr("is of the picture 000.jpg, but image_id 3"));
}

TEST(ResultsJson, FilesOfOtherEndingsAreOtherPictures) {
  EXPECT_THAT(error_of([] {
                of_cameras({{3, "only.jpg"}, {3, "only.png"}});
              }),
              HasSubstr("entry 1 is of the picture only.png, but an entry before it has image_id 3 "
                        "for only.jpg"));
  EXPECT_THAT(error_of([] {
                of_cameras({{3, "only.jpg"}, {3, "a/only.jpg"}, {3, "b/only.jpg"}});
              }),
              HasSubstr("is of the picture b/only.jpg, but an entry before it has image_id 3 for "
                        "a/only.jpg"))
      << "the name without folders does not hide that the folders differ";
}

TEST(ResultsJson, FaultyMembersAreErrors) {
  const std::string ids = R"({"image_id": 1, "category_id": 5, )";
  EXPECT_THAT(refused_entry("{}"), HasSubstr("entry 1 has no image_id"));
  EXPECT_THAT(refused_entry(R"({"image_id": 1, "score": 1})"), HasSubstr("has no category_id"));
  EXPECT_THAT(refused_entry(ids + R"("bbox": [1, 2, 3, 4]})"), HasSubstr("has no score"));
  EXPECT_THAT(refused_entry(ids + R"("score": 1})"), HasSubstr("has no bbox"));
  EXPECT_THAT(refused_entry(R"({"image_id": "1"})"), HasSubstr("has a text as image_id"));
  EXPECT_THAT(refused_entry(ids + R"("score": null})"), HasSubstr("has null as score"));
  EXPECT_THAT(refused_entry(ids + R"("score": [1]})"), HasSubstr("has a list as score"));
  EXPECT_THAT(refused_entry(ids + R"("score": true})"), HasSubstr("has a truth value as score"));
}

TEST(ResultsJson, FaultyBoxesAreErrors) {
  const auto with = [](const std::string& bbox) {
    return refused_entry(R"({"image_id": 1, "category_id": 5, "score": 1, "bbox": )" + bbox + "}");
  };
  EXPECT_THAT(with("[1, 2, 3]"), AllOf(HasSubstr("entry 1 has a bbox of 3 numbers"),
                                       HasSubstr("[x, y, width, height]")));
  EXPECT_THAT(with("[1, 2, 3, 4, 5]"), HasSubstr("more than 4"));
  EXPECT_THAT(with("[1, 2, -3, 4]"), HasSubstr("a bbox of -3 x 4"));
  EXPECT_THAT(with("7"), HasSubstr("has a number as bbox"));
  EXPECT_THAT(with("{\"x\": 1}"), HasSubstr("has an object as bbox"));
  EXPECT_THAT(with("[1, 2, null, 4]"), HasSubstr("has null as a number of its bbox"));
  EXPECT_THAT(with("[[1, 2, 3, 4]]"), HasSubstr("has a list as a number of its bbox"));
}

TEST(ResultsJson, NumbersThatAreNotFiniteAreErrors) {
  EXPECT_THAT(refused_entry(R"({"score": 1e999})"),
              HasSubstr("r.json, entry 1 has a number that is not finite"));
  EXPECT_THAT(refused_entry(R"({"score": NaN})"),
              AllOf(HasSubstr("r.json, entry 1: the file is no JSON"), HasSubstr("NaN")));
  std::vector<Detection> broken = some();
  broken[1].score = std::nan("");
  EXPECT_THAT(error_of([&] { results_json(broken); }), HasSubstr("not finite"));
  EXPECT_THAT(error_of([&] { results_csv(broken, pictures, listed_classes); }),
              HasSubstr("not finite"));
}

TEST(ResultsJson, OtherFilesAreErrors) {
  for (const char* text : {"{}", "7", "null", "\"a\""})
    EXPECT_THAT(refused(text), HasSubstr("r.json holds no list of detections")) << text;
  for (const char* text : {"[7]", "[[]]", "[null]"})
    EXPECT_THAT(refused(text), HasSubstr("not an object")) << text;
  for (const char* text : {"", "[", "[{]", "[]x", "[{\"image_id\": 1,"})
    EXPECT_THAT(refused(text), HasSubstr("no JSON")) << text;
  EXPECT_THAT(refused(std::string(100'000, '[')), HasSubstr("not an object"));
  EXPECT_THAT(refused("[{\"a\": " + std::string(100'000, '[')), HasSubstr("no JSON"));
}

TEST(ResultsCsv, WhatIsWrittenIsReadAgain) {
  const std::string text = results_csv(some(), pictures, listed_classes);
  EXPECT_THAT(text,
              HasSubstr("x_min,y_min,x_max,y_max,filename,class_name,similarity_score\n0.1,-3,"));
  EXPECT_THAT(text, HasSubstr(",\"b, \"\"c\"\".jpg\",black-bishop,0.3333333333333333\n"));
  expect_equal(parse_results_csv(text, "r.csv", known).detections, some(), 1e-12);
  const TemporaryDirectory folder;
  write_file_atomic(folder.path() / "r.csv", text);
  expect_equal(read_results_csv(folder.path() / "r.csv", known).detections, some(), 1e-12);
}

// Pascal VOC's xml without pictures do not say which ending these have.
TEST(ResultsCsv, PicturesMayHaveAnotherEnding) {
  const ReadDetections read = parse_results_csv(
      "x_min,y_min,x_max,y_max,filename,class_name,similarity_score\n"
      "1,2,3,4,a.png,black-bishop,0.5\n",
      "r.csv", known);
  ASSERT_EQ(read.detections.size(), 1u);
  EXPECT_EQ(read.detections[0].picture, 1);
}

TEST(ResultsCsv, FoldersTellPicturesOfOneNameApart) {
  const auto read_names = [](const std::vector<std::string>& names, const KnownIds& truth) {
    std::string text = "x_min,y_min,x_max,y_max,filename,class_name,similarity_score\n";
    for (const std::string& name : names) text += "1,2,3,4," + name + ",black-bishop,0.5\n";
    std::vector<std::int64_t> ids;
    for (const Detection& one : parse_results_csv(text, "r.csv", truth).detections)
      ids.push_back(one.picture);
    return ids;
  };
  EXPECT_THAT(read_names({"camB/000.jpg", "imgs/camA/000.jpg", "x/only.jpg"}, two_cameras),
              ::testing::ElementsAre(2, 1, 3));
  const auto refused_names = [&](const std::vector<std::string>& names, const KnownIds& truth) {
    return error_of([&] { read_names(names, truth); });
  };
  EXPECT_THAT(refused_names({"000.jpg"}, two_cameras),
              AllOf(HasSubstr("line 2: the filename '000.jpg' is that of several"),
                    HasSubstr("with its folders, as the ground truth does: camA/000.jpg or camB")));
  EXPECT_THAT(refused_names({"000.jpg"}, {{{1, "000.jpg"}, {2, "000.jpg"}}, listed_classes}),
              HasSubstr("one file_name for several images"));
  EXPECT_THAT(refused_names({"camC/000.jpg"}, two_cameras), HasSubstr("unknown filename"));
  const KnownIds flat{{{1, "000.jpg"}}, listed_classes};
  EXPECT_THAT(read_names({"camA/000.jpg", "camA/000.jpg"}, flat), ::testing::ElementsAre(1, 1));
  EXPECT_THAT(refused_names({"camA/000.jpg", "camB/000.jpg"}, flat),
              HasSubstr("line 3: the filename 'camB/000.jpg' and 'camA/000.jpg' before it fit the "
                        "same picture"));
  EXPECT_THAT(refused_names({"000.jpg", "000.png"}, flat),
              HasSubstr("line 3: the filename '000.png' and '000.jpg' before it fit the same"));
  // A name without folders says which picture it is only in a file that has folders elsewhere.
  const KnownIds nested{{{1, "000.jpg"}, {2, "camA/000.jpg"}, {3, "b/only.jpg"}}, listed_classes};
  EXPECT_THAT(refused_names({"only.jpg", "000.jpg"}, nested),
              AllOf(HasSubstr("line 3: the filename '000.jpg' is that of several"),
                    HasSubstr("name pictures with their folders, as the ground truth does "
                              "(camA/000.jpg), or score detections.json")));
  EXPECT_THAT(read_names({"000.jpg", "b/only.jpg", "camA/000.jpg"}, nested),
              ::testing::ElementsAre(1, 3, 2));
  EXPECT_THAT(read_names({"only.jpg"}, nested), ::testing::ElementsAre(3));
}

TEST(ResultsCsv, ClassesThatTheTruthLacksAreSkippedAndCounted) {
  const ReadDetections read = parse_results_csv(
      "x_min,y_min,x_max,y_max,filename,class_name,similarity_score\n1,2,3,4,a.jpg,rook,0.5\n"
      "1,2,3,4,a.jpg,black-bishop,0.25\n",
      "r.csv", known);
  ASSERT_EQ(read.detections.size(), 1u);
  EXPECT_EQ(read.detections[0].score, 0.25);
  EXPECT_EQ(read.of_other_classes, 1);
  EXPECT_EQ(read.first_other_class, "class_name 'rook'");
}

TEST(ResultsCsv, ErrorsNameFileAndLine) {
  const std::string header = "x_min,y_min,x_max,y_max,filename,class_name,similarity_score\n";
  const auto refused_row = [&](const std::string& row) {
    return error_of([&] {
      parse_results_csv(header + "1,2,3,4,a.jpg,black-bishop,0.5\n" + row + "\n", "r.csv", known);
    });
  };
  EXPECT_THAT(refused_row("1,2,3,4,x.jpg,black-bishop,1"),
              AllOf(HasSubstr("r.csv, line 3: unknown filename 'x.jpg'"), HasSubstr("a.jpg")));
  EXPECT_THAT(refused_row("1,2,3,4,e.jpg,black-bishop,1"),
              HasSubstr("line 3: the filename 'e.jpg' is that of several"));
  EXPECT_THAT(refused_row("1,2,3,4,a.jpg,black-bishop,inf"),
              HasSubstr("line 3: similarity_score must be a finite number"));
  EXPECT_THAT(refused_row("1,,3,4,a.jpg,black-bishop,1"), HasSubstr("y_min must be"));
  EXPECT_THAT(refused_row("5,2,3,4,a.jpg,black-bishop,1"), HasSubstr("must not be below"));
  EXPECT_THAT(error_of([] { parse_results_csv("x_min\n1\n", "r.csv", known); }),
              HasSubstr("r.csv has no column y_min"));
  EXPECT_THAT(error_of([] {
                std::vector<Detection> other = some();
                other[0].category = 3;
                results_csv(other, pictures, listed_classes);
              }),
              HasSubstr("unknown category 3"));
}

}  // namespace
}  // namespace lockstep::fewshot
