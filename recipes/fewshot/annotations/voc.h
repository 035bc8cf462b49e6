// Reads sets in Pascal VOC's format, which has one xml file per picture.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recipes/fewshot/annotations/detection_data.h"
#include "recipes/fewshot/annotations/picture_look.h"

namespace lockstep::fewshot {

// An object in an xml file. VOC counts pixels from 1 and includes the last one. So a box over a
// whole picture of 500 x 375 is 1, 1, 500, 375. Every file is read in this way: x = xmin - 1, w =
// xmax - xmin + 1, and likewise for y and h. If a tool counts from 0 and excludes the last pixel,
// its boxes begin one pixel too far left and up.
struct VocObject {
  std::string name;
  // in pixels, not cut at the picture's edges; w and h may be negative
  double x = 0, y = 0, w = 0, h = 0;
  bool difficult = false;
};
struct VocAnnotation {
  std::string file_name;      // <filename>; may be empty
  int width = 0, height = 0;  // <size>; 0 if not stated
  std::vector<VocObject> objects;
};

// Parses the text of one xml file. <truncated>, <occluded>, <pose> and <part> have no effect. The
// text may have any encoding that it declares and that xml_as_utf8 can read. Besides 0 and 1,
// <difficult> may be empty, or true, false, none or unspecified, in upper or lower case. <width>
// and <height> may be empty or none; width or height is then 0. A document type declaration is
// skipped, but a declaration of an entity is an Error. So entities are never expanded.
//
// name: the file's name, for messages. Throws Error, which names the file and the line, in these
// cases:
//   - text that is not xml, or whose first element is not <annotation>;
//   - an object without a name, a bndbox or one of the four numbers of a bndbox;
//   - a number of a bndbox that is not finite;
//   - a width or height that is not a whole number from 0 to 65,535;
//   - more than 100,000 objects, or elements nested deeper than 50.
VocAnnotation parse_voc(std::string_view text, const std::string& name);

// Where the files of a VOC set lie.
struct VocFolders {
  std::filesystem::path annotations, pictures;  // may be the same folder
  // A list of the set's pictures, one name without ending per line (ImageSets/Main/*.txt). A line
  // is skipped if its second word is -1. In VOC's lists for one class, this marks pictures that do
  // not show the class. Any other second word is ignored. Without a list, all xml files of
  // `annotations` are used.
  std::optional<std::filesystem::path> list;
};

// A set as its xml files state it. `data` has pictures and categories, but no boxes. Widths and
// heights that an xml file does not state are 0. No picture is opened.
struct VocSet {
  DetectionData data;
  std::vector<std::string> names;    // [pictures]: names of the xml files, without ending
  std::vector<VocAnnotation> files;  // [pictures]: contents of the xml files
};
// Reads the xml files of a set. Throws Error as read_voc does, except for missing pictures and for
// a set without boxes.
VocSet scan_voc(const VocFolders& folders);
// Returns the paths of the pictures in the order of their ids, which count from 1. Reads an xml
// file only if no picture has its name. Throws Error if the list or an xml file cannot be read, or
// if there are no xml files.
std::vector<std::filesystem::path> voc_picture_paths(const VocFolders& folders);

// Reads the whole set. Pictures are in the order of the list, or without a list in the order of
// their names. If `annotations` itself has no xml files, those in folders below it are read.
// Pictures without an xml file are ignored. Categories are the names of all objects, in byte order.
//
// The picture of NAME.xml is NAME.jpg, NAME.jpeg or NAME.png in `pictures`. If NAME.xml lies in a
// folder below `annotations`, its picture may have the same relative path below `pictures`. It may
// also lie in any folder below `pictures`, if no other picture there has its name. If no picture
// has the name, <filename> of the xml file is used. <filename> comes last because it is often
// outdated. rule: which properties of the pictures are read from their files (look_at_pictures). If
// an xml file states no size, the size is read from the picture.
//
// Throws Error as parse_voc and look_at_pictures do. Also throws Error for missing xml files; the
// message has their number, and the first one. Also throws Error if two xml files have the same
// picture, or if the list repeats a name. Also throws Error if the set has no pictures or no boxes
// that count.
DetectionData read_voc(const VocFolders& folders, const PictureRule& rule = {});

}  // namespace lockstep::fewshot
