// Examines pictures while annotations are read: whether they exist and can be used, their size, and
// the frame to which their boxes refer.
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
  // only if the annotations lack the picture's size. Frames then stay by_size, which is right if an
  // earlier look found no orientation.
  bool look = false;
  const char* folder_option = "data.train_pictures";  // names where the pictures lie
};

// How well a picture fits annotations of that size. 2: it has this size; 1: it was scaled by one
// factor (up to a pixel of rounding); 0: neither.
int fit_of(const ImageShape& shape, int width, int height);

// Throws Error unless all of these exist; it says how many are missing, and the first.
void check_pictures_exist(const DetectionData& data);

// A box as it is in the file.
struct LooseBox {
  int picture = 0;  // index into DetectionData::pictures
  RawBox box;
};

// Call it before boxes are cut. Fills in sizes that are not stated. With `rule.look`, also sets
// frames and counts them (DetectionData::frames). Several threads read headers.
//
// The frame of a picture that EXIF turns is rule.exif, if that names one. Otherwise it is the frame
// that has the annotations' size. Some tools turn a picture but write its stored size (Label Studio
// does), so boxes are examined too: the centre of a box may lie beyond the stated size, but within
// it after its sides are exchanged. If this holds for more pictures of a set than the opposite, all
// of that kind have exchanged sides. If no size is stated, the frame is the one within which the
// boxes lie. If both frames have the same size (a square, half a turn, a mirror image), the frame
// is that of the other pictures, provided that these agree. Otherwise it is the turned one, as
// viewers show it.
//
// Without an orientation, an exchanged width and height are repaired if some boxes extend beyond an
// edge of the stated size but not of the picture, and no box does the opposite.
//
// boxes: called at most once, if boxes have to decide. elsewhere: finds a picture that is not where
// data says; may be empty.
// Throws Error for missing pictures (it says how many, and the first). With `rule.look`, also
// throws Error with a list of the pictures that are of another kind, damaged, truncated, too large,
// or of another shape than the annotations state.
void look_at_pictures(
    DetectionData& data, const PictureRule& rule,
    const std::function<std::vector<LooseBox>()>& boxes,
    const std::function<std::optional<std::filesystem::path>(std::size_t)>& elsewhere = {});

}  // namespace lockstep::fewshot
