// Examines the pictures of a set while its annotations are read. Finds out whether they can be
// used, their size, and the frame of their boxes.
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
  // Whether the headers of all pictures are read, which also sets Picture::content_hash. If not, a
  // header is read only if the annotations lack the picture's size. All frames then stay by_size.
  // This is right if an earlier look found no orientation.
  bool look = false;
  const char* folder_option = "data.train_pictures";  // named in messages
};

// Returns how well a picture fits annotations of a picture of width x height:
//   - 2: it has this size.
//   - 1: it has this size scaled by one factor, up to a pixel of rounding.
//   - 0: it has another shape.
int fit_of(const ImageShape& shape, int width, int height);

// Throws Error if pictures do not exist. The message has their number and the first.
void check_pictures_exist(const DetectionData& data);

// A box as it is in the file, not cut at the picture's edges.
struct LooseBox {
  int picture = 0;  // index into DetectionData::pictures
  RawBox box;
};

// Fills in sizes that the annotations do not state. With `rule.look`, also decides the frame of
// each picture, and counts frames in DetectionData::frames. Several threads read headers. Call it
// before boxes are cut.
//
// These rules decide the frame of a picture that EXIF turns, in this order:
//   - If rule.exif names a frame, it is used. The stated width and height are exchanged if they
//     then fit the picture better.
//   - If one frame fits the stated size better than the other (fit_of), it is used. Boxes may
//     correct this rule, see below.
//   - If no size is stated, the frame within which the boxes lie is used.
//   - Otherwise, neither size nor boxes decide, for example for a square, a half turn or a mirror
//     image. The frame of the set's other pictures is used, if these agree. If not, the turned
//     frame is used, as viewers show it.
//
// Boxes correct the second rule because some tools (Label Studio) turn a picture but write its
// stored size. A picture contradicts its size if the centre of a box lies beyond it, but all
// centres lie within the exchanged size. It confirms its size in the opposite case. Pictures whose
// size fits the stored frame form one group, and those whose size fits the turned frame form
// another. If more pictures of a group contradict their size than confirm it, the whole group
// changes. All its pictures then get the other frame, and width and height are exchanged.
//
// The annotations may also exchange width and height of pictures without an orientation. These are
// corrected if boxes of at least one such picture lie within the exchanged size but not within the
// stated one. No such picture may show the opposite. If the sizes are not corrected, the pictures
// are an Error.
//
// boxes: returns all boxes of the set. It is called at most once, and only if boxes have to decide.
// elsewhere: returns another path for a picture (by index) that is not at its path; may be empty.
//
// Throws Error for missing pictures; the message has their number and the first. Also throws for
// examined pictures that are damaged, truncated, too large, or of another kind or shape than
// stated. The message lists them.
void look_at_pictures(
    DetectionData& data, const PictureRule& rule,
    const std::function<std::vector<LooseBox>()>& boxes,
    const std::function<std::optional<std::filesystem::path>(std::size_t)>& elsewhere = {});

}  // namespace lockstep::fewshot
