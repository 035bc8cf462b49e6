// Codecs of libtiff that are never used. Its table names all of them, so a static archive would
// want the libraries of JBIG, LERC, LZMA and WebP, which not every system has as archives. These
// take their place in the table; a shared libtiff keeps its own, and the reader refuses such files
// by itself.
#include <tiffio.h>

extern "C" {
int TIFFInitJBIG(TIFF*, int) { return 0; }
int TIFFInitLERC(TIFF*, int) { return 0; }
int TIFFInitLZMA(TIFF*, int) { return 0; }
int TIFFInitWebP(TIFF*, int) { return 0; }
}
