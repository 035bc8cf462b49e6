// Pictures with boxes of categories, as COCO json and Pascal VOC files say them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace lockstep::fewshot {

struct Category {
  std::int64_t id = 0;  // of the file; VOC has none, so its names are counted from 1 in their order
  std::string name;     // not empty, of valid UTF-8; each name once in a set
  friend bool operator==(const Category&, const Category&) = default;
};

// The frame that boxes refer to: the pixels as they are stored, or the picture turned by its EXIF
// orientation. by_size: the one that has the annotations' size (pictures/open_picture.h).
enum class Frame { by_size, stored, turned };
// The user's choice of it: data.exif.
enum class ExifFrame { automatic, stored, turned };

// A picture in a file. Width and height are what the annotations say: its boxes are in pixels of a
// picture of this size. The file's own size is looked at when it is decoded
// (pictures/open_picture.h).
struct Picture {
  std::int64_t id = 0;  // of the file; VOC has none, so pictures are counted from 1 in their order
  std::filesystem::path path;
  int width = 0, height = 0;  // at least 1
  Frame frame = Frame::by_size;
  std::uint64_t content_hash = 0;  // of PictureHeader; 0: the picture was not looked at
  friend bool operator==(const Picture&, const Picture&) = default;
};

// A box of one object, or of a crowd. All of it lies within its picture: x, y >= 0, w, h > 0,
// x + w <= width, y + h <= height (to the rounding of a float).
struct Box {
  int picture = 0;                   // index into DetectionData::pictures
  int category = 0;                  // index into DetectionData::categories
  float x = 0, y = 0, w = 0, h = 0;  // upper left corner and extents, in pixels of the picture
  // Area in square pixels, by which COCO tells small, medium and large boxes: the file's `area` (of
  // the mask, if it has one), or else w x h of the box.
  double area = 0;
  bool crowd = false;      // COCO's iscrowd: a region with more objects than were drawn apart
  bool difficult = false;  // VOC's difficult, COCO's ignore: an object that need not be found
  std::int64_t id = 0;     // of the file; VOC has none, so boxes are counted from 1 in their order

  // Whether it counts as an object: a target in training, a support, something to be found in
  // evaluation. The others are neither objects nor background.
  bool counts() const { return !crowd && !difficult; }
  friend bool operator==(const Box&, const Box&) = default;
};

// How often something was put right, and for which box first.
struct Tally {
  std::int64_t count = 0;
  std::int64_t first_id = 0;  // Box::id
  std::string first_picture;  // file name
  void add(std::int64_t id, const std::string& picture);
  friend bool operator==(const Tally&, const Tally&) = default;
};

inline constexpr double least_extent = 0.01;  // pixels, within the picture

struct Repairs {
  Tally clipped;     // reached more than a pixel out of the picture; cut at its edges
  Tally degenerate;  // a side below least_extent, negative, or wholly outside: dropped
  Tally crowd;       // kept, see Box::counts
  Tally difficult;   // kept, see Box::counts
  friend bool operator==(const Repairs&, const Repairs&) = default;
};

// Counts of pictures that EXIF turns, and of sizes that are not the picture's (look_at_pictures).
struct FrameCounts {
  std::int64_t oriented = 0;            // have an EXIF orientation other than 1
  std::int64_t stored = 0, turned = 0;  // of these, by the frame of the boxes
  std::int64_t by_boxes = 0;            // of these, where boxes past an edge speak against the size
  std::int64_t untold = 0;              // of these, where nothing tells
  std::int64_t exchanged = 0;           // others whose width and height the annotations exchange
  friend bool operator==(const FrameCounts&, const FrameCounts&) = default;
};

struct DetectionData {
  std::string name;                    // of the file or folder that it was read from, for messages
  std::vector<Category> categories;    // by id
  std::vector<Picture> pictures;       // in the order of the file; of VOC in that of the names
  std::vector<Box> boxes;              // by picture; of one picture in the order of the file
  std::vector<std::size_t> first_box;  // [pictures + 1]: where the boxes of a picture begin
  Repairs repairs;
  FrameCounts frames;

  std::span<const Box> boxes_of(int picture) const;
  // The index of a category by its name; -1: there is none.
  int category_index(const std::string& name) const;
  // Warnings about what was put right or dropped, for people, one line each; empty if all was well.
  std::vector<std::string> warnings() const;
};

// Sorts boxes by picture, keeping their order otherwise, and fills first_box.
void index_boxes(DetectionData& data);

// The pictures for which `keep` ([pictures]) is true, with their boxes. All categories stay, and so
// do the repairs and the counts of frames, which are of the whole file.
DetectionData take_pictures(const DetectionData& data, const std::vector<bool>& keep);

// `data` with the categories of `model`, matched by name. This is how a validation set is read
// beside a training set. A category that `model` lacks is left out if it has no box. Otherwise it
// is an Error, which names it and the nearest. If ids of one name differ, `model`'s is taken, and a
// line is added to `warnings`.
DetectionData with_categories_of(const DetectionData& model, DetectionData data,
                                 std::vector<std::string>& warnings);

}  // namespace lockstep::fewshot
