// Reading annotations looks at the pictures themselves: whether they are there and can be used,
// their size, and the frame that their boxes refer to.
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
  // Reads the headers of all pictures, and sets Picture::content_hash. Without it, a header is read
  // only if the annotations do not say the picture's size. Frames then stay by_size, which is right
  // if a look found no orientation.
  bool look = false;
  const char* folder_option = "data.train_pictures";  // names where the pictures lie
};

// Whether a picture fits annotations of that size: 2: it has it, 1: it was scaled by one factor (to
// a pixel of rounding), 0: neither.
int fit_of(const ImageShape& shape, int width, int height);

// Throws Error unless all of these are there: how many are missing, and the first.
void check_pictures_exist(const DetectionData& data);

// A box as the file has it.
struct LooseBox {
  int picture = 0;  // index into DetectionData::pictures
  RawBox box;
};

// Before boxes are cut: fills sizes that are not said, and with `rule.look` sets frames and counts
// them (DetectionData::frames). Headers are read by several threads.
//
// Frames, where EXIF turns a picture. The frame is rule.exif, if it says one. Else it is the one
// that has the annotations' size. Tools that turn a picture may still write its stored size (Label
// Studio does). So the boxes are looked at: the centre of a box may lie beyond the said size, but
// within that size with its sides exchanged. If this is so for more pictures of a set than the
// other way round, all of that kind have exchanged sides. If no size is said, it is the frame
// within which the boxes lie. Both frames may have one size (a square, half a turn, a mirror
// image). Then the frame is that of the other pictures if these agree, and else the turned one, as
// viewers show it.
//
// Without an orientation, width and height that are exchanged are mended if some boxes reach past
// an edge of the said size, but not of the picture, and none does the opposite.
//
// boxes: called at most once, if boxes are to decide. elsewhere: the place of a picture that is not
// where data says; may be empty.
// Throws Error: pictures that are missing (how many, and the first), and with `rule.look` a list of
// those that are of another kind, damaged, cut off, too large, or of another shape than the
// annotations say.
void look_at_pictures(
    DetectionData& data, const PictureRule& rule,
    const std::function<std::vector<LooseBox>()>& boxes,
    const std::function<std::optional<std::filesystem::path>(std::size_t)>& elsewhere = {});

}  // namespace lockstep::fewshot
