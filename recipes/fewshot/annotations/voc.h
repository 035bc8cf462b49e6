// Reads Pascal VOC's xml, which has one file per picture.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recipes/fewshot/annotations/detection_data.h"
#include "recipes/fewshot/annotations/picture_look.h"

namespace lockstep::fewshot {

// One xml file. Corners are in VOC's form: pixels count from 1, and the last pixel is included. So
// a box over the whole of a picture of 500 x 375 is 1, 1, 500, 375. For every file, x = xmin - 1, w
// = xmax - xmin + 1, and y and h likewise. If a tool counts from 0 and excludes the end, its boxes
// begin a pixel early.
struct VocObject {
  std::string name;
  double x = 0, y = 0, w = 0, h = 0;  // in pixels, not cut at the edges; may be below 0
  bool difficult = false;
};
struct VocAnnotation {
  std::string file_name;      // <filename>; "" if there is none
  int width = 0, height = 0;  // <size>; 0 if there is none
  std::vector<VocObject> objects;
};

// <truncated>, <occluded>, <pose> and <part> are ignored: such objects count like any other. The
// text may have any encoding that it declares and iconv knows (xml_as_utf8). <difficult> may be
// true or false, and <difficult> and an extent may be None, as Python writes them. A document type
// is skipped, but entities are refused, so that none is ever expanded. Throws Error, which names
// the file and the line, for: text that is not xml; no <annotation>; an object without name or
// bndbox; a number that is not finite; extents above 65,535; more than 100,000 objects; elements
// nested deeper than 50.
VocAnnotation parse_voc(std::string_view text, const std::string& name);

// Where the files of a VOC set lie.
struct VocFolders {
  std::filesystem::path annotations, pictures;  // may be the same folder
  // The names of the pictures in the set, without ending, one per line (ImageSets/Main/*.txt). Only
  // the first word of a line counts. A second word of -1 (in the lists of one class) excludes the
  // name. Nothing: all xml files of the folder.
  std::optional<std::filesystem::path> list;
};

// A set as its files state it: the pictures and categories of `data` are filled in, its boxes are
// not. A size that an xml does not state is 0. Looks at no picture.
struct VocSet {
  DetectionData data;
  std::vector<std::string> names;    // of the xml files, without ending; one per picture
  std::vector<VocAnnotation> files;  // likewise
};
// Throws Error as read_voc does, but not for missing pictures.
VocSet scan_voc(const VocFolders& folders);
// The files of its pictures, in the order of their ids, which count from 1. Reads only the xml
// files for whose name no picture exists. Throws Error.
std::vector<std::filesystem::path> voc_picture_paths(const VocFolders& folders);

// Reads the whole set, with pictures in the order of their names, or of the list. If the folder has
// no xml files, those in folders below it are read. A picture is the file with the xml's own name
// and the ending .jpg, .jpeg or .png. It may also lie below the folder of pictures, with the same
// relative path or as the only one of that name. If there is none, the <filename> of the xml is
// used, which is often outdated. rule: how closely pictures are examined (look_at_pictures).
// Categories are the names of all objects in alphabetical order. If an xml states no size, its
// picture is opened to get it. Pictures without an xml are ignored. Throws Error as above. Also
// throws Error for a missing xml or picture (it says how many, and the first), a picture that two
// files name, and a set without pictures or boxes that count.
DetectionData read_voc(const VocFolders& folders, const PictureRule& rule = {});

}  // namespace lockstep::fewshot
