// Codecs of libtiff that are never used. Its table names all of them, so a static archive would
// want the libraries of JBIG, LERC, LZMA and WebP, which not every system has as archives. These
// take their place in the table; a shared libtiff keeps its own, and the reader refuses such files
// by itself. They return 1 so that the directory is read, and says which compression it is.
#include <tiffio.h>

extern "C" {
int TIFFInitJBIG(TIFF*, int) { return 1; }
int TIFFInitLERC(TIFF*, int) { return 1; }
int TIFFInitLZMA(TIFF*, int) { return 1; }
int TIFFInitWebP(TIFF*, int) { return 1; }
}
