// Examines the pictures of a set while its annotations are read. Finds out whether the pictures can
// be used, their sizes, and the frames of their boxes (see Frame).
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "core/media/pictures/picture_file.h"
#include "recipes/fewshot/annotations/detection_data.h"
#include "recipes/fewshot/annotations/fit_box.h"

namespace lockstep::fewshot {

struct PictureRule {
  ExifFrame exif = ExifFrame::automatic;
  // Whether the headers of all pictures are read, which also sets Picture::content_hash. If false,
  // a header is read only if the annotations lack the picture's size, and all frames stay
  // Frame::by_size. The value false is right if the headers were read before, and no picture had an
  // EXIF orientation.
  bool look = false;
  const char* folder_option = "data.train_pictures";  // the option that messages name
};

// Returns how well a picture fits annotations that state the size width x height:
//   - 2: it has this size.
//   - 1: it has this size scaled by one factor, up to a pixel of rounding.
//   - 0: it has another shape.
int fit_of(const ImageShape& shape, int width, int height);

// Throws Error if pictures do not exist. The message has the number of missing pictures, and the
// first one.
void check_pictures_exist(const DetectionData& data);

// A box as the annotations state it, not cut at the picture's edges.
struct LooseBox {
  int picture = 0;  // index into DetectionData::pictures
  RawBox box;
};

// Fills in the sizes of pictures that the annotations do not state. With `rule.look`, also decides
// the frame of each picture, and counts frames in DetectionData::frames. Headers are read by
// several threads. Call it before boxes are cut.
//
// These rules decide the frame of a picture that EXIF turns, in this order:
//   - If rule.exif names a frame, it is used. The stated width and height are exchanged if they
//     then fit the picture better.
//   - If one frame fits the stated size better than the other frame (fit_of), it is used. Boxes may
//     correct the result, see below.
//   - If no size is stated, the frame within which the boxes lie is used.
//   - Otherwise, neither size nor boxes decide, for example for a square, a half turn or a mirror
//     image. The frame of the set's other pictures is used, if all of these have the same one. If
//     not, the turned frame is used, as viewers show it.
//
// Boxes correct the second rule because some tools (Label Studio) turn a picture but write its
// stored size. The exchanged size of a picture has the stated height as its width, and the stated
// width as its height. A picture contradicts its stated size if the centre of a box lies outside
// it, but all centres lie within the exchanged size. A picture confirms its stated size if a centre
// lies outside the exchanged size, but all centres lie within the stated size. Pictures whose
// stated size fits the stored frame form one group. Pictures whose stated size fits the turned
// frame form another. If more pictures of a group contradict their size than confirm it, the whole
// group is corrected. All its pictures then get the other frame, and their width and height are
// exchanged.
//
// Annotations may also exchange width and height of pictures without an EXIF orientation. These
// sizes are corrected if the boxes of at least one such picture lie only within the exchanged size.
// They are not corrected if the boxes of any such picture lie only within the stated size. If such
// sizes are not corrected, Error is thrown.
//
// boxes: a function that returns all boxes of the set. It is called at most once, and only if boxes
// have to decide. elsewhere: a function that returns another path for a picture (by index) that
// does not exist at Picture::path. The function may be empty.
//
// Throws Error for missing pictures, as check_pictures_exist does. Also throws Error if a header
// that is read shows that a picture is damaged, truncated, too large, or not JPEG or PNG. With
// `rule.look`, also throws Error for pictures of another shape than stated. The message lists these
// pictures.
void look_at_pictures(
    DetectionData& data, const PictureRule& rule,
    const std::function<std::vector<LooseBox>()>& boxes,
    const std::function<std::optional<std::filesystem::path>(std::size_t)>& elsewhere = {});

}  // namespace lockstep::fewshot
