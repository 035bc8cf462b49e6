// Replacements for libtiff's codecs that are never used. libtiff's table refers to all codecs, so a
// static link would need the libraries of JBIG, LERC, LZMA and WebP. Not every system has static
// versions of them. A shared libtiff keeps its own codecs, and the reader refuses such files
// itself. These functions return 1, so that the directory is read and the compression can be
// reported.
#include <tiffio.h>

extern "C" {
int TIFFInitJBIG(TIFF*, int) { return 1; }
int TIFFInitLERC(TIFF*, int) { return 1; }
int TIFFInitLZMA(TIFF*, int) { return 1; }
int TIFFInitWebP(TIFF*, int) { return 1; }
}
