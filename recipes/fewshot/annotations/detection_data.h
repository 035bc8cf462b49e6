// Pictures and their labelled boxes, read from COCO json or Pascal VOC files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace lockstep::fewshot {

struct Category {
  // COCO: the id in the file. VOC has no ids, so categories are numbered from 1 in the order of
  // their names.
  std::int64_t id = 0;
  std::string name;  // not empty, valid UTF-8, unique in a data set
  friend bool operator==(const Category&, const Category&) = default;
};

// The orientation of a picture to which the coordinates of its boxes refer. stored: the pixels as
// the file stores them. turned: the picture as its EXIF orientation turns it. by_size: whichever of
// the two has the width and height in the annotations (pictures/open_picture.h).
enum class Frame { by_size, stored, turned };
// The user's choice of the frame, by the option data.exif. automatic: look_at_pictures chooses it
// for each picture.
enum class ExifFrame { automatic, stored, turned };

// A picture in a file. Width and height come from the annotations, and boxes are in pixels of a
// picture of this size. When the picture is decoded, the file's own size is compared with them
// (pictures/open_picture.h).
struct Picture {
  // COCO: the id in the file. VOC has no ids, so pictures are numbered from 1 in the order of
  // DetectionData::pictures.
  std::int64_t id = 0;
  std::filesystem::path path;
  int width = 0, height = 0;  // at least 1
  Frame frame = Frame::by_size;
  // PictureHeader::content_hash; 0 if the picture's header was not read
  std::uint64_t content_hash = 0;
  friend bool operator==(const Picture&, const Picture&) = default;
};

// A box around one object, or around a crowd. It lies within its picture, up to the rounding of a
// float: x, y >= 0, w, h > 0, x + w <= width and y + h <= height.
struct Box {
  int picture = 0;                   // index into DetectionData::pictures
  int category = 0;                  // index into DetectionData::categories
  float x = 0, y = 0, w = 0, h = 0;  // upper left corner and extents, in pixels of the picture
  // Area in square pixels, by which COCO distinguishes small, medium and large boxes. It is the
  // annotation's `area`, which is the area of the object's mask if there is a mask. If the
  // annotation has no `area` above 0, it is w x h.
  double area = 0;
  // COCO's iscrowd: the box is a region of objects that have no boxes of their own
  bool crowd = false;
  bool difficult = false;  // VOC's difficult or COCO's ignore: an object that need not be found
  // COCO: the id in the file. VOC has no ids, so boxes are numbered from 1 in the order of the
  // files.
  std::int64_t id = 0;

  // Whether the box counts as an object. It is then a target in training, may be a support, and is
  // to be found in evaluation. Other boxes are neither objects nor background.
  bool counts() const { return !crowd && !difficult; }
  friend bool operator==(const Box&, const Box&) = default;
};

// The number of boxes of one kind, and the first of them.
struct Tally {
  std::int64_t count = 0;
  std::int64_t first_id = 0;  // Box::id
  std::string first_picture;  // file name
  void add(std::int64_t id, const std::string& picture);
  friend bool operator==(const Tally&, const Tally&) = default;
};

inline constexpr double least_extent = 0.01;  // in pixels; see Repairs::degenerate

struct Repairs {
  Tally clipped;     // cut, because they extended beyond the picture by more than a pixel
  Tally degenerate;  // dropped, because a side within the picture was below least_extent
  Tally crowd;       // kept; Box::counts is false
  Tally difficult;   // kept; Box::counts is false
  friend bool operator==(const Repairs&, const Repairs&) = default;
};

// Numbers of pictures with an EXIF orientation, and of pictures whose width and height are
// exchanged in the annotations. look_at_pictures fills them in.
struct FrameCounts {
  std::int64_t oriented = 0;            // pictures with an EXIF orientation other than 1
  std::int64_t stored = 0, turned = 0;  // oriented pictures whose boxes refer to this frame
  // oriented pictures whose frame follows from the boxes, against the stated size
  std::int64_t by_boxes = 0;
  std::int64_t untold = 0;  // oriented pictures whose frame is unknown, so that `turned` is assumed
  // pictures without an orientation whose width and height the annotations exchange
  std::int64_t exchanged = 0;
  friend bool operator==(const FrameCounts&, const FrameCounts&) = default;
};

struct DetectionData {
  // the file or folder from which the data were read, for messages
  std::string name;
  std::vector<Category> categories;  // in the order of ids
  std::vector<Picture> pictures;     // COCO: in the order of the file; VOC: see read_voc
  std::vector<Box> boxes;  // sorted by picture; boxes of a picture are in the file's order
  std::vector<std::size_t> first_box;  // [pictures + 1]: the index of each picture's first box
  Repairs repairs;
  FrameCounts frames;

  std::span<const Box> boxes_of(int picture) const;
  // Returns the index of the category with that name, or -1 if there is none.
  int category_index(const std::string& name) const;
  // Returns warnings for users about cut and dropped boxes, boxes that do not count, and frames.
  // Each warning is one line. The result may be empty.
  std::vector<std::string> warnings() const;
};

// Sorts boxes by picture and fills in first_box. Boxes of the same picture keep their order.
void index_boxes(DetectionData& data);

// Returns the pictures for which `keep` ([pictures]) is true, with their boxes. All categories are
// kept. `repairs` and `frames` are copied unchanged, so they still describe all pictures of `data`.
DetectionData take_pictures(const DetectionData& data, const std::vector<bool>& keep);

// Returns `data` with the categories of `model`, matched by name. `model` is the training set, and
// `data` is its validation set. A category that `model` lacks is left out if it has no box. If it
// has a box, Error is thrown. The error names the category, and the most similar name in `model`.
// If a name has different ids in the two sets, the id of `model` is used. One line is then added to
// `warnings`, which gives the first such name.
DetectionData with_categories_of(const DetectionData& model, DetectionData data,
                                 std::vector<std::string>& warnings);

}  // namespace lockstep::fewshot
