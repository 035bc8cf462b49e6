// Descriptions of ImageJ, OME and tifffile, without files.
#include "recipes/volume/files/stack_layout.h"

#include <gmock/gmock.h>

#include "core/base/error.h"
#include "volume_test.h"

namespace lockstep::volume {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

StackLayout layout(const std::string& description, std::int64_t pages, bool allow_2d = false,
                   bool as_planes = false) {
  return stack_layout(description,
                      {.pages = pages,
                       .height = 5,
                       .width = 9,
                       .file_name = "v.ome.tif",
                       .allow_2d = allow_2d,
                       .as_planes = as_planes},
                      [](const std::string& why, const std::string& hint) {
                        throw Error(cat(why, " (hint: ", hint, ")"));
                      });
}
std::string refusal(const std::string& description, std::int64_t pages) {
  return error_of([&] { layout(description, pages); });
}

std::string ome(const std::string& sizes, const std::string& within = "",
                const std::string& order = "XYCZT") {
  return cat("<?xml version=\"1.0\" encoding=\"UTF-8\"?><OME xmlns=\"o\" UUID=\"urn:uuid:1\">",
             "<Image ID=\"Image:0\"><Pixels DimensionOrder=\"", order,
             "\" SizeX=\"9\" SizeY=\"5\" ", sizes, ">", within, "</Pixels></Image></OME>");
}

TEST(StackLayout, APageIsAPlaneWhereNothingIsSaid) {
  for (const char* description : {"", "scan of Monday", "{\"shape\": 3}", "{}", "<OME"})
    EXPECT_EQ(layout(description, 6).depth, 6) << description;
}

TEST(StackLayout, TifffilesAxesAreTaken) {
  EXPECT_EQ(layout(R"({"shape": [6, 5, 9]})", 6).depth, 6);
  EXPECT_EQ(layout(R"({"shape": [1, 6, 5, 9], "axes": "TZYX"})", 6).depth, 6);
  EXPECT_EQ(layout(R"({"shape": [5, 9]})", 6).depth, 6) << "an array a page";
  EXPECT_EQ(layout(R"({"shape": [4, 50, 90]})", 6).depth, 6) << "pages were changed since";
  const StackLayout first = layout(R"({"shape": [2, 3, 5, 9], "axes": "CZYX"})", 6);
  EXPECT_EQ(first.depth, 3);
  EXPECT_EQ(first.channels, 2);
  EXPECT_THAT(first.pages, ElementsAre(0, 3, 1, 4, 2, 5));
  const StackLayout last = layout(R"({"shape": [3, 2, 5, 9], "axes": "ZCYX"})", 6);
  EXPECT_EQ(last.channels, 2);
  EXPECT_THAT(last.pages, IsEmpty());
}

TEST(StackLayout, TifffilesOtherAxesAreRefusedWithTheMend) {
  EXPECT_THAT(refusal(R"({"shape": [2, 3, 5, 9]})", 6),
              AllOf(HasSubstr("2 x 3 x 5 x 9, which does not say what is a channel"),
                    HasSubstr("metadata={'axes': 'CZYX'}")));
  EXPECT_THAT(refusal(R"({"shape": [6, 5, 9], "axes": "TYX"})", 6),
              HasSubstr("a time series of 6 frames, as its description (tifffile) says"));
  EXPECT_THAT(refusal(R"({"shape": [6, 5, 9], "axes": "CYX"})", 6),
              AllOf(HasSubstr("its 6 pages are channels of one plane"), HasSubstr("'ZYX'")));
  EXPECT_THAT(refusal(R"({"shape": [6, 5, 9], "axes": "RYX"})", 6), HasSubstr("R is not read"));
  EXPECT_THAT(refusal(R"({"shape": [6, 5, 9], "axes": "ZXY"})", 6), HasSubstr("must be Y and X"));
  EXPECT_THAT(refusal(R"({"shape": [6, 5, 9], "axes": "ZYX"})", 12),
              HasSubstr("6 x 5 x 9 with the axes ZYX, but it has 12 pages"));
}

TEST(StackLayout, ImageJsNumbersMustFitThePages) {
  EXPECT_EQ(layout("ImageJ=1.54f\nimages=6\nslices=6\n", 6).depth, 6);
  const StackLayout two = layout("ImageJ=1.54f\nimages=6\nchannels=2\nslices=3\n", 6);
  EXPECT_EQ(two.depth, 3);
  EXPECT_EQ(two.channels, 2);
  EXPECT_THAT(refusal("ImageJ=1.11a\nimages=16\nchannels=16\n", 16),
              AllOf(HasSubstr("its 16 pages are channels of one plane"),
                    HasSubstr("files.as_planes=true")));
  EXPECT_THAT(refusal("ImageJ=1.54f\nimages=6\nframes=6\n", 6), HasSubstr("series of 6 frames"));
  EXPECT_THAT(refusal("ImageJ=1.54f\nimages=6\nchannels=2\nslices=3\n", 8),
              HasSubstr("says 2 x 3 x 1 channels, planes and frames, but it has 8 pages"));
}

TEST(StackLayout, OmeNamesTheOrderOfPages) {
  const std::string two = "SizeZ=\"3\" SizeC=\"2\" SizeT=\"1\"";
  EXPECT_THAT(layout(ome(two), 6).pages, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(layout(ome(two, "", "XYZCT"), 6).pages, ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(layout(ome(two, "<TiffData IFD=\"0\" PlaneCount=\"6\"/>", "XYTZC"), 6).pages,
              ElementsAre(0, 3, 1, 4, 2, 5));
  // One page each, the last plane first.
  std::string pages;
  for (int z = 0; z < 3; ++z)
    pages += cat("<TiffData FirstZ=\"", z, "\" IFD=\"", 2 - z,
                 "\"><UUID FileName=\"v.ome.tif\">urn:uuid:1</UUID></TiffData>");
  const StackLayout reversed = layout(ome("SizeZ=\"3\" SizeC=\"1\" SizeT=\"1\"", pages), 3);
  EXPECT_THAT(reversed.pages, ElementsAre(2, 1, 0));
  EXPECT_EQ(reversed.spacing_mm, std::nullopt);
}

TEST(StackLayout, OmesSizesAreInTheirUnit) {
  const std::string z = "SizeZ=\"3\" SizeC=\"1\" SizeT=\"1\" ";
  const auto micrometres =
      layout(ome(z + "PhysicalSizeX=\"0.5\" PhysicalSizeY=\"1\" PhysicalSizeYUnit=\"\xC2\xB5m\" "
                     "PhysicalSizeZ=\"2\" PhysicalSizeZUnit=\"mm\""),
             3)
          .spacing_mm;
  EXPECT_EQ(micrometres, (std::array<double, 3>{2, 1e-3, 0.5e-3}));
  EXPECT_EQ(layout(ome(z + "PhysicalSizeX=\"1\" PhysicalSizeY=\"1\""), 3).spacing_mm, std::nullopt);
  EXPECT_EQ(layout(ome(z + "PhysicalSizeX=\"1\" PhysicalSizeY=\"1\" PhysicalSizeZ=\"1\" "
                           "PhysicalSizeZUnit=\"pixel\""),
                   3)
                .spacing_mm,
            std::nullopt);
}

TEST(StackLayout, OmeThatDoesNotFitIsRefused) {
  EXPECT_THAT(refusal(ome("SizeZ=\"3\" SizeC=\"1\" SizeT=\"2\""), 6),
              HasSubstr("a time series of 2 frames, as its description (OME) says"));
  EXPECT_THAT(refusal(ome("SizeZ=\"1\" SizeC=\"6\" SizeT=\"1\""), 6),
              HasSubstr("its 6 pages are channels of one plane"));
  const std::string z = "SizeZ=\"3\" SizeC=\"1\" SizeT=\"1\"";
  EXPECT_THAT(refusal(ome(z), 6), HasSubstr("says 1 x 3 x 1 channels, planes and frames, but it"));
  EXPECT_THAT(refusal(ome("SizeZ=\"9000000000\" SizeC=\"9000000000\" SizeT=\"1\""), 6),
              HasSubstr("but it has 6 pages"));
  EXPECT_THAT(refusal(ome(z, "<TiffData IFD=\"2\" PlaneCount=\"3\"/>"), 3),
              HasSubstr("names IFD 3, counted from 0, but it has 3 pages"));
  EXPECT_THAT(refusal(ome(z, "<TiffData IFD=\"9223372036854775807\" PlaneCount=\"3\"/>"), 3),
              HasSubstr("names IFD 9223372036854775807"));
  EXPECT_THAT(refusal(ome(z, "<TiffData/><TiffData FirstZ=\"2\" IFD=\"0\"/>"), 3),
              HasSubstr("names two pages for one plane"));
  EXPECT_THAT(refusal(ome(z, "<TiffData IFD=\"0\"/>"), 3),
              HasSubstr("does not name a page for every plane"));
  EXPECT_THAT(refusal(ome(z, "<TiffData><UUID FileName=\"w.tif\">urn:uuid:2</UUID></TiffData>"), 3),
              HasSubstr("in another file, w.tif"));
  EXPECT_THAT(refusal(ome(z, "", "XYZ"), 3), HasSubstr("DimensionOrder is XYZ"));
  EXPECT_THAT(refusal("<OME><Image></OME>", 3), HasSubstr("is no xml: mismatched tag"));
  EXPECT_THAT(refusal("<OME></OME>", 3), HasSubstr("names no image"));
  EXPECT_THAT(refusal(cat("<OME>", "<Image/><Image/>", "</OME>"), 3), HasSubstr("several images"));
  EXPECT_THAT(refusal("<!DOCTYPE a><a></OME>", 3), HasSubstr("declares a document type"));
}

TEST(StackLayout, ChannelsOrTimesOfOnePlaneArePlanesWhereTheUserSaysSo) {
  const auto expect = [](const std::string& description, const std::vector<std::uint32_t>& pages) {
    const StackLayout found = layout(description, 6, /*allow_2d=*/false, /*as_planes=*/true);
    EXPECT_EQ(found.depth, 6) << description;
    EXPECT_EQ(found.channels, 1) << description;
    EXPECT_EQ(found.pages, pages) << description;
  };
  for (const char* axis : {"channels", "frames"})
    expect(cat("ImageJ=1.54f\nimages=6\n", axis, "=6\n"), {});
  expect(R"({"shape": [6, 5, 9], "axes": "TYX"})", {0, 1, 2, 3, 4, 5});
  expect(R"({"shape": [6, 5, 9], "axes": "CYX"})", {0, 1, 2, 3, 4, 5});
  expect(ome("SizeZ=\"1\" SizeC=\"6\" SizeT=\"1\""), {0, 1, 2, 3, 4, 5});
  expect(ome("SizeZ=\"1\" SizeC=\"1\" SizeT=\"6\"",
             "<TiffData FirstT=\"3\" IFD=\"0\" PlaneCount=\"3\"/>"
             "<TiffData IFD=\"3\" PlaneCount=\"3\"/>"),
         {3, 4, 5, 0, 1, 2});
  const std::string both = ome("SizeZ=\"1\" SizeC=\"2\" SizeT=\"3\"");
  const std::string series = "ImageJ=1.54f\nimages=6\nframes=2\n";  // of 3 planes each
  for (const std::string& description : {both, series})
    EXPECT_THAT(error_of([&] { layout(description, 6, false, true); }), HasSubstr("time series"));
  const StackLayout two = layout(R"({"shape": [2, 3, 5, 9], "axes": "CZYX"})", 6, false, true);
  EXPECT_EQ(two.channels, 2) << "planes are there";
}

TEST(StackLayout, ASliceIsAPlaneWhateverItsDescriptionSaysOfAWhole) {
  const std::string whole = ome("SizeZ=\"3\" SizeC=\"1\" SizeT=\"1\"",
                                "<TiffData><UUID FileName=\"w.tif\">urn:uuid:2</UUID></TiffData>");
  for (const std::string& description :
       {whole, std::string("ImageJ=1.54f\nimages=6\nchannels=2\nslices=3\n")}) {
    const StackLayout found = layout(description, 1, /*allow_2d=*/true);
    EXPECT_EQ(found.depth * found.channels, 1);
  }
}

}  // namespace
}  // namespace lockstep::volume
