#include "recipes/fewshot/annotations/voc.h"

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

std::string bndbox(const std::string& xmin, const std::string& ymin, const std::string& xmax,
                   const std::string& ymax) {
  return cat("<bndbox><xmax>", xmax, "</xmax><xmin>", xmin, "</xmin><ymin>", ymin, "</ymin><ymax>",
             ymax, "</ymax></bndbox>");
}
std::string object(const std::string& name, const std::string& box, const std::string& more = "") {
  return cat("<object><name>", name, "</name>", more, box, "</object>\n");
}
std::string annotation(const std::string& inner) {
  return cat("<?xml version=\"1.0\"?>\n<annotation><filename>a.jpg</filename>\n",
             "<size><width>500</width><height>375</height><depth>3</depth></size>\n", inner,
             "</annotation>\n");
}
std::string fault_of_xml(const std::string& text) {
  return thrown_by([&] { parse_voc(text, "a.xml"); }).what();
}

TEST(Voc, CornersCountFromOneAndTheLastPixelIsIncluded) {
  const VocAnnotation file =
      parse_voc(annotation(object("dog", bndbox("1", "1", "500", "375")) +
                           object("a&amp;b", bndbox(" 11 ", "21.5", "20", "30"),
                                  "<difficult>1</difficult><truncated>1</truncated>")),
                "a.xml");
  EXPECT_EQ(file.file_name, "a.jpg");
  EXPECT_EQ(file.width, 500);
  EXPECT_EQ(file.height, 375);
  ASSERT_EQ(file.objects.size(), 2u);
  EXPECT_EQ(file.objects[0].name, "dog");
  const auto corners = [](const VocObject& one) {
    return std::vector<double>{one.x, one.y, one.w, one.h};
  };
  EXPECT_THAT(corners(file.objects[0]), ElementsAre(0, 0, 500, 375));
  EXPECT_FALSE(file.objects[0].difficult);
  EXPECT_EQ(file.objects[1].name, "a&b");
  EXPECT_THAT(corners(file.objects[1]), ElementsAre(10, 20.5, 10, 9.5));
  EXPECT_TRUE(file.objects[1].difficult);
}

TEST(Voc, BoxesOfPartsAreNotThoseOfTheObject) {
  const std::string part = "<part><name>head</name>" + bndbox("1", "1", "2", "2") + "</part>";
  const VocAnnotation file =
      parse_voc(annotation(object("person", bndbox("11", "21", "20", "30"), part)), "a.xml");
  ASSERT_EQ(file.objects.size(), 1u);
  EXPECT_EQ(file.objects[0].name, "person");
  EXPECT_EQ(file.objects[0].x, 10);
}

TEST(Voc, NamesFileAndLineOfWhatIsWrong) {
  EXPECT_THAT(fault_of_xml(""), HasSubstr("a.xml:1: this is no xml"));
  EXPECT_THAT(fault_of_xml(annotation("<object>")),
              HasSubstr("a.xml:4: this is no xml: mismatched tag"));
  EXPECT_EQ(fault_of_xml("<svg/>"), "a.xml:1: the file is <svg>, not <annotation>");
  EXPECT_EQ(fault_of_xml(annotation("\n" + object("", bndbox("1", "1", "2", "2")))),
            "a.xml:5: object 1 has no name");
  EXPECT_EQ(fault_of_xml(annotation(object("dog", ""))),
            "a.xml:4: the object 1 (dog) has no bndbox");
  EXPECT_EQ(fault_of_xml(annotation(object("dog", bndbox("1", "x", "2", "2")))),
            "a.xml:4: ymin of the object 1 (dog) must be a number, but is \"x\"");
  EXPECT_EQ(fault_of_xml(annotation(object("dog", bndbox("nan", "1", "2", "2")))),
            "a.xml:4: xmin of the object 1 (dog) must be a number, but is \"nan\"");
  EXPECT_EQ(fault_of_xml(annotation(object("dog", "<bndbox><xmin>1</xmin></bndbox>"))),
            "a.xml:4: the bndbox of the object 1 (dog) needs xmin, ymin, xmax and ymax");
  const std::string box = bndbox("1", "1", "2", "2");
  EXPECT_EQ(fault_of_xml(annotation(object("dog", box + box))),
            "a.xml:4: the object 1 (dog) has two bndbox");
  EXPECT_EQ(fault_of_xml(annotation(object("dog", box, "<difficult>2</difficult>"))),
            "a.xml:4: difficult must be 0 or 1, but is \"2\"");
  EXPECT_EQ(fault_of_xml("<annotation><size><width>-5</width></size></annotation>"),
            "a.xml:1: width must be a whole number up to 65535, but is \"-5\"");
  std::string deep = "<annotation>";
  for (int i = 0; i < 60; ++i) deep += "<a>";
  EXPECT_EQ(fault_of_xml(deep), "a.xml:1: elements are nested deeper than 50");
}

TEST(Voc, ExpandsNoEntities) {
  EXPECT_THAT(fault_of_xml("<!DOCTYPE a [<!ENTITY b \"bbbb\"><!ENTITY c \"&b;&b;\">]>\n"
                           "<annotation><filename>&c;</filename></annotation>"),
              HasSubstr("it declares an entity"));
  EXPECT_THAT(fault_of_xml("<!DOCTYPE annotation SYSTEM \"a.dtd\">\n"
                           "<annotation><filename>&c;</filename></annotation>"),
              HasSubstr("undefined entity"));
  EXPECT_THAT(fault_of_xml("<annotation><filename>&c;</filename></annotation>"),
              HasSubstr("undefined entity"));
}

TEST(Voc, ReadsWhatPythonProgramsWrite) {
  const auto difficult = [](const std::string& text) {
    return parse_voc(annotation(object("dog", bndbox("1", "1", "5", "5"),
                                       "<difficult>" + text + "</difficult>")),
                     "a.xml")
        .objects[0]
        .difficult;
  };
  for (const char* text : {"False", "false", "None", "0", "", "Unspecified"})
    EXPECT_FALSE(difficult(text)) << text;
  for (const char* text : {"True", "true", "1"}) EXPECT_TRUE(difficult(text)) << text;
  EXPECT_EQ(parse_voc("<annotation><size><width>None</width></size></annotation>", "a.xml").width,
            0);
  EXPECT_EQ(parse_voc("<!DOCTYPE annotation SYSTEM \"a.dtd\">\n<annotation><filename>b</filename>"
                      "</annotation>",
                      "a.xml")
                .file_name,
            "b");
}

TEST(Voc, ReadsTheEncodingThatAFileDeclares) {
  const auto named = [](const std::string& encoding, const std::string& name) {
    return parse_voc("<?xml version='1.0' encoding=\"" + encoding + "\"?>\n<annotation><filename>" +
                         name + "</filename></annotation>",
                     "a.xml")
        .file_name;
  };
  EXPECT_EQ(named("gb2312", "\xC3\xA8"), "\xE7\x8C\xAB");    // U+732B
  EXPECT_EQ(named("GBK", "\x81\x40"), "\xE4\xB8\x82");       // U+4E02, not in GB 2312
  EXPECT_EQ(named("windows-1252", "\x80"), "\xE2\x82\xAC");  // U+20AC
  EXPECT_EQ(named("Shift_JIS", "\x94\x4C"), "\xE7\x8C\xAB");
  EXPECT_EQ(named("iso-8859-1", "\xE9"), "\xC3\xA9");
  EXPECT_EQ(named("utf-16", "abc"), "abc");  // .NET: in single bytes nevertheless
  for (const char* unknown : {"no-such-encoding", "iso-2022-cn-ext"})
    EXPECT_EQ(named(unknown, "abc"), "abc");
  EXPECT_EQ(named("gb2312", std::string(10'000, 'a')).size(), 10'000U);
  EXPECT_EQ(
      thrown_by([&] { named("no-such-encoding", "\xE9"); }).what(),
      std::string("a.xml:1: the file declares the encoding no-such-encoding, which is not known "
                  "here"));
  EXPECT_EQ(thrown_by([&] { named("gbk", "\xFF"); }).what(),
            std::string("a.xml:2: the file declares the encoding gbk, but its text is not of it"));
}

class VocSet : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& inner, const std::string& picture) {
    write_file_atomic(root / (name + ".xml"), annotation(inner));
    if (!picture.empty())
      write_picture(root / picture, Image({.height = 375, .width = 500, .channels = 3}));
  }
  VocFolders all() const { return {.annotations = root, .pictures = root, .list = {}}; }

  const TemporaryDirectory folder;
  const fs::path root = folder.path();
};

TEST_F(VocSet, CategoriesAndPicturesStandInTheOrderOfTheirNames) {
  write("b", object("dog", bndbox("1", "1", "10", "10")), "b.png");
  write("a",
        object("cat", bndbox("0", "0", "10", "10")) +
            object("dog", bndbox("490", "1", "520", "9"), "<difficult>1</difficult>") +
            object("dog", bndbox("9", "9", "8", "9")),
        "a.JPG");
  write_file_atomic(root / "note.txt", "passed over");
  const DetectionData data = read_voc(all());
  EXPECT_THAT(data.categories, ElementsAre(Category{1, "cat"}, Category{2, "dog"}));
  EXPECT_THAT(data.pictures, ElementsAre(Picture{1, root / "a.JPG", 500, 375},
                                         Picture{2, root / "b.png", 500, 375}));
  EXPECT_THAT(
      data.boxes,
      ElementsAre(
          Box{.picture = 0, .category = 0, .x = 0, .y = 0, .w = 10, .h = 10, .area = 100, .id = 1},
          Box{.picture = 0,
              .category = 1,
              .x = 489,
              .y = 0,
              .w = 11,
              .h = 9,
              .area = 99,
              .difficult = true,
              .id = 2},
          Box{.picture = 1,
              .category = 1,
              .x = 0,
              .y = 0,
              .w = 10,
              .h = 10,
              .area = 100,
              .id = 4}));
  EXPECT_EQ(data.repairs.degenerate.count, 1);  // VOC's 9 to 8 is no pixel
  EXPECT_EQ(data.repairs.clipped.count, 1);
  EXPECT_EQ(data.repairs.difficult.count, 1);
}

TEST_F(VocSet, AListSaysWhichAndInWhatOrder) {
  for (const char* name : {"a", "b", "c"})
    write(name, object("dog", bndbox("1", "1", "10", "10")), cat(name, ".png"));
  write_file_atomic(root / "list.txt", "c\r\n\nb -1\na  1\n");
  VocFolders folders = all();
  folders.list = root / "list.txt";
  const DetectionData data = read_voc(folders);
  ASSERT_EQ(data.pictures.size(), 2u);
  EXPECT_EQ(data.pictures[0].path.filename(), "c.png");
  EXPECT_EQ(data.pictures[1].path.filename(), "a.png");
  write_file_atomic(root / "list.txt", "c\nd\ne\n");
  EXPECT_EQ(thrown_by([&] { read_voc(folders); }).what(),
            cat((root / "list.txt").string(), ": 2 of 3 xml files are missing, the first is ",
                (root / "d.xml").string()));
  write_file_atomic(root / "list.txt", "c\nc\n");
  EXPECT_THAT(thrown_by([&] { read_voc(folders); }).what(), HasSubstr("c comes twice"));
}

TEST_F(VocSet, APictureIsFoundByTheNameOfItsXmlAndElseByTheOneInIt) {
  write("a", object("dog", bndbox("1", "1", "10", "10")), "");  // says a.jpg
  EXPECT_THAT(thrown_by([&] { read_voc(all()); }).what(),
              HasSubstr(cat("1 of 1 pictures are missing, the first is ", (root / "a.jpg").string(),
                            " (id 1)")));
  write("renamed", object("dog", bndbox("1", "1", "10", "10")), "a.jpg");
  EXPECT_THAT(thrown_by([&] { read_voc(all()); }).what(),
              HasSubstr("a.xml and renamed.xml are both of"));
  write_picture(root / "renamed.png", Image({.height = 375, .width = 500, .channels = 3}));
  const DetectionData data = read_voc(all());
  EXPECT_EQ(data.pictures[1].path, root / "renamed.png");
}

TEST_F(VocSet, XmlInFoldersBelowBelongsToThePictureOfThePathOrTheName) {
  for (const char* below : {"xml/cats", "xml/dogs", "images/cats"}) make_directories(root / below);
  for (const char* name : {"xml/cats/1", "xml/dogs/1", "xml/dogs/2"})
    write(name, object("dog", bndbox("1", "1", "10", "10")), "");
  for (const char* name : {"images/cats/1.png", "images/dogs/1.png", "images/2.png"}) {
    make_directories((root / name).parent_path());
    write_picture(root / name, Image({.height = 375, .width = 500, .channels = 3}));
  }
  write_file_atomic(root / "xml/cats/._1.xml", "macOS's");
  const DetectionData data =
      read_voc({.annotations = root / "xml", .pictures = root / "images", .list = {}});
  ASSERT_EQ(data.pictures.size(), 3u);
  EXPECT_EQ(data.pictures[0].path, root / "images/cats/1.png");
  EXPECT_EQ(data.pictures[1].path, root / "images/dogs/1.png");
  EXPECT_EQ(data.pictures[2].path, root / "images/2.png");
}

TEST_F(VocSet, ExchangedSizesAreMended) {
  write("a", object("dog", bndbox("1", "400", "300", "490")), "");
  write_picture(root / "a.png", Image({.height = 500, .width = 375, .channels = 3}));
  const DetectionData data = read_voc(all(), {.look = true});
  EXPECT_EQ(data.pictures[0].width, 375);
  EXPECT_EQ(data.pictures[0].height, 500);
  EXPECT_EQ(data.boxes[0].h, 91);
}

TEST_F(VocSet, AFolderWithoutXmlIsRefused) {
  EXPECT_THAT(thrown_by([&] { read_voc(all()); }).what(), HasSubstr("has no xml file"));
}

TEST(Voc, ReadsTheChessPieces) {
  const testing::TestData chess = testing::test_data("fewshot/chess_voc");
  if (!chess.why_not.empty()) GTEST_SKIP() << chess.why_not;
  const DetectionData data =
      read_voc({.annotations = chess.path, .pictures = chess.path, .list = {}});
  EXPECT_EQ(data.pictures.size(), 11u);
  EXPECT_EQ(data.categories.size(), 12u);
  EXPECT_EQ(data.categories[0].name, "black-bishop");
  EXPECT_EQ(data.boxes_of(0).size(), 13u);
  EXPECT_EQ(data.boxes_of(0)[0].w, 69);  // 555 to 623
}

}  // namespace
}  // namespace lockstep::fewshot
