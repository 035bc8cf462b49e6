// Examines the pictures of a set while its annotations are read. Finds out which pictures can be
// used and how large they are. Also finds out whether their boxes refer to a picture as the file
// stores it, or as EXIF turns it (Frame in detection_data.h).
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
  // a header is read only if the annotations lack the picture's size. All frames then stay
  // Frame::by_size, so the frame is chosen when a picture is opened. The value false is right if
  // the headers were read before, and no picture had an EXIF orientation.
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

// Fills in the picture sizes that the annotations do not state. With `rule.look`, also decides the
// frame of each picture, and counts frames in DetectionData::frames. Headers are read by several
// threads. Call it before boxes are cut.
//
// These rules decide the frame of a picture that EXIF turns, in this order:
//   - If rule.exif names a frame, it is used. The stated width and height are exchanged if they
//     then fit the picture better.
//   - If one frame fits the stated size better than the other frame (fit_of), it is used. Boxes may
//     correct the result, see below.
//   - If no size is stated, the frame within which the boxes lie is used.
//   - If neither size nor boxes decide, the frame of the set's other pictures is used, if all of
//     these have the same one. Examples are a square, a half turn and a mirror image. Otherwise,
//     the turned frame is used, because viewers show pictures turned.
//
// The second rule can be wrong. Some tools (Label Studio) let the user draw boxes on the turned
// picture, but write the width and height that the file stores. Boxes then correct the frame. The
// exchanged size of a picture has the stated height as its width, and the stated width as its
// height. The boxes of a picture contradict its stated size if a centre of a box lies outside the
// stated size, but all centres lie within the exchanged size. They confirm the stated size if a
// centre lies outside the exchanged size, but all centres lie within the stated size. Pictures
// whose stated size fits the stored frame form one group. Pictures whose stated size fits the
// turned frame form another. If the boxes contradict the size of more pictures of a group than they
// confirm, the whole group is corrected. All its pictures then get the other frame, and their width
// and height are exchanged.
//
// Annotations may also exchange width and height of pictures without an EXIF orientation. The sizes
// of all such pictures are corrected under two conditions. The boxes of at least one such picture
// lie within the exchanged size, but not within the stated size. No such picture has boxes that lie
// within the stated size, but not within the exchanged size. Otherwise, Error is thrown.
//
// boxes: a function that returns all boxes of the set. It is called at most once, and only if boxes
// have to decide. elsewhere: a function for a picture that is missing at Picture::path. It takes
// the index of the picture, and returns another path, or nothing. The function may be empty.
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
