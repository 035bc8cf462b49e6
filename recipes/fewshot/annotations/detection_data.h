// Pictures with boxes of categories, as COCO json and Pascal VOC files state them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace lockstep::fewshot {

struct Category {
  // from the file; VOC has none, so its names are counted from 1 in their order
  std::int64_t id = 0;
  std::string name;  // not empty, valid UTF-8, and unique in a set
  friend bool operator==(const Category&, const Category&) = default;
};

// The frame to which boxes refer: the pixels as they are stored, or the picture turned by its EXIF
// orientation. by_size: whichever has the size in the annotations (pictures/open_picture.h).
enum class Frame { by_size, stored, turned };
// The user's choice of the frame: data.exif.
enum class ExifFrame { automatic, stored, turned };

// A picture in a file. Width and height come from the annotations: its boxes are in pixels of a
// picture of this size. The file's own size is checked when the picture is decoded
// (pictures/open_picture.h).
struct Picture {
  // from the file; VOC has none, so pictures are counted from 1 in their order
  std::int64_t id = 0;
  std::filesystem::path path;
  int width = 0, height = 0;  // at least 1
  Frame frame = Frame::by_size;
  std::uint64_t content_hash = 0;  // of its PictureHeader; 0: the picture was not examined
  friend bool operator==(const Picture&, const Picture&) = default;
};

// A box of one object, or of a crowd. It lies entirely within its picture: x, y >= 0, w, h > 0, x +
// w <= width, y + h <= height (up to the rounding of a float).
struct Box {
  int picture = 0;                   // index into DetectionData::pictures
  int category = 0;                  // index into DetectionData::categories
  float x = 0, y = 0, w = 0, h = 0;  // upper left corner and extents, in pixels of the picture
  // Area in square pixels, by which COCO distinguishes small, medium and large boxes. It is the
  // file's `area` (the area of the mask, if there is one), or else w x h of the box.
  double area = 0;
  bool crowd = false;      // COCO's iscrowd: a region with objects that were not marked separately
  bool difficult = false;  // VOC's difficult, COCO's ignore: an object that need not be found
  // from the file; VOC has none, so boxes are counted from 1 in their order
  std::int64_t id = 0;

  // Whether it counts as an object: as a target in training, a support, or something to find in
  // evaluation. Other boxes are neither objects nor background.
  bool counts() const { return !crowd && !difficult; }
  friend bool operator==(const Box&, const Box&) = default;
};

// How often something was repaired, and for which box first.
struct Tally {
  std::int64_t count = 0;
  std::int64_t first_id = 0;  // Box::id
  std::string first_picture;  // file name
  void add(std::int64_t id, const std::string& picture);
  friend bool operator==(const Tally&, const Tally&) = default;
};

inline constexpr double least_extent = 0.01;  // in pixels, of the part within the picture

struct Repairs {
  Tally clipped;     // extended more than a pixel beyond the picture; cut at its edges
  Tally degenerate;  // a side was below least_extent or negative, or the box lay outside: dropped
  Tally crowd;       // kept, see Box::counts
  Tally difficult;   // kept, see Box::counts
  friend bool operator==(const Repairs&, const Repairs&) = default;
};

// Counts of pictures that EXIF turns, and of sizes that differ from the picture's
// (look_at_pictures).
struct FrameCounts {
  std::int64_t oriented = 0;            // have an EXIF orientation other than 1
  std::int64_t stored = 0, turned = 0;  // of these, by the frame of the boxes
  std::int64_t by_boxes = 0;            // of these, where boxes beyond an edge contradict the size
  std::int64_t untold = 0;              // of these, where nothing decides
  // other pictures whose width and height the annotations exchange
  std::int64_t exchanged = 0;
  friend bool operator==(const FrameCounts&, const FrameCounts&) = default;
};

struct DetectionData {
  // name of the file or folder from which it was read, for messages
  std::string name;
  std::vector<Category> categories;    // by id
  std::vector<Picture> pictures;       // in the order of the file; for VOC in the order of names
  std::vector<Box> boxes;              // by picture; within a picture in the order of the file
  std::vector<std::size_t> first_box;  // [pictures + 1]: where the boxes of a picture begin
  Repairs repairs;
  FrameCounts frames;

  std::span<const Box> boxes_of(int picture) const;
  // The index of a category by its name; -1: there is none.
  int category_index(const std::string& name) const;
  // Warnings for people about what was repaired or dropped, one per line; empty if there was
  // nothing.
  std::vector<std::string> warnings() const;
};

// Sorts boxes by picture, keeping their order otherwise, and fills first_box.
void index_boxes(DetectionData& data);

// Returns the pictures for which `keep` ([pictures]) is true, with their boxes. All categories
// stay. Repairs and counts of frames also stay, and are those of the whole file.
DetectionData take_pictures(const DetectionData& data, const std::vector<bool>& keep);

// Returns `data` with the categories of `model`, matched by name. A validation set is so adapted to
// its training set. A category that `model` lacks is left out if it has no box. Otherwise it is an
// Error, which names it and the nearest. If the ids of a name differ, the id of `model` is used,
// and a line is added to `warnings`.
DetectionData with_categories_of(const DetectionData& model, DetectionData data,
                                 std::vector<std::string>& warnings);

}  // namespace lockstep::fewshot
