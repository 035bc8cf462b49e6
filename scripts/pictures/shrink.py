"""A picture of at most 60 KB: fewer colours first, then fewer pixels.

Usage: shrink.py IN OUT.png|OUT.jpg [WIDTH]. WIDTH: pixels, at most.
"""
import io
import sys

from PIL import Image

MOST_BYTES = 60_000


def encoded(image, path, colours):
    out = io.BytesIO()
    if path.endswith(".jpg"):
        image.convert("RGB").save(out, "JPEG", quality=max(30, colours // 3), optimize=True)
    else:
        image.convert("RGB").quantize(colours, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


def main():
    source, path, width = sys.argv[1], sys.argv[2], int((sys.argv[3:] or ["900"])[0])
    image = Image.open(source).convert("RGB")
    while True:
        if image.width > width:
            image = image.resize((width, round(image.height * width / image.width)), Image.Resampling.LANCZOS)
        for colours in (256, 128, 64, 32):
            data = encoded(image, path, colours)
            if len(data) <= MOST_BYTES:
                with open(path, "wb") as file:
                    file.write(data)
                return
        width = image.width * 4 // 5


if __name__ == "__main__":
    main()
