"""What a command shows in a terminal, as an SVG picture: still or moving, light or dark as the reader's page is.

Usage: terminal.py OUT.svg [--columns N] [--rows N] [--seconds N] [--shown TEXT] -- COMMAND…
  --seconds N     a moving picture of so many seconds, however long the command takes; else the last screen alone
  --shown TEXT    what stands behind the prompt in place of the command
The command's exit code does not matter: doctor's is 1 where it finds something.
"""
import argparse
import fcntl
import html
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time

import pyte

CHARACTER, LINE, MARGIN = 8.4, 18, 14  # pixels of a 14 px monospace font
FRAMES = 40  # of a moving picture, at most
PAUSE_S = 3  # on the last screen before it begins anew
# One class a colour, in the light and in the dark.
COLOURS = {"red": ("#b3261e", "#ff8a80"), "green": ("#1b7f3b", "#7bd88f"), "brown": ("#8a6100", "#f2c55c"), "blue": ("#1a56b0", "#82b1ff"),
           "magenta": ("#8e24aa", "#e0a3f2"), "cyan": ("#00727d", "#6fd6e0"), "white": ("#5f6368", "#b0b4ba")}


def screens(command, columns, rows, shown):
    """(seconds since the start, lines of the screen), whenever the screen changed; the lines as tuples of (text, style)."""
    screen = pyte.Screen(columns, rows)
    stream = pyte.ByteStream(screen)
    stream.feed(f"$ {shown}\r\n".encode())
    yield 0.0, lines_of(screen)
    main, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns), "LINES": str(rows)}
    begin = time.monotonic()
    process = subprocess.Popen(command, stdin=other, stdout=other, stderr=other, env=environment, start_new_session=True)
    os.close(other)
    while True:
        ready, _, _ = select.select([main], [], [], 0.1)
        if ready:
            try:
                data = os.read(main, 65536)
            except OSError:  # the terminal's end: nobody has it open any more
                break
            if not data:
                break
            stream.feed(data)
            yield time.monotonic() - begin, lines_of(screen)
        elif process.poll() is not None:
            break
    process.wait()
    yield time.monotonic() - begin, lines_of(screen)


def lines_of(screen):
    lines = []
    for y in range(screen.lines):
        row, parts = screen.buffer[y], []
        for x in range(screen.columns):
            cell = row[x]
            style = (cell.fg if cell.fg in COLOURS else "", cell.bold, cell.reverse)
            if parts and parts[-1][1] == style:
                parts[-1][0].append(cell.data)
            else:
                parts.append(([cell.data], style))
        texts = [("".join(text), style) for text, style in parts]
        while texts and not texts[-1][0].strip() and not texts[-1][1][2]:
            texts.pop()
        lines.append(tuple(texts))
    return tuple(lines)


def sampled(frames, seconds):
    """At most FRAMES of them, at even times of a picture that takes `seconds`: (share of the time, lines)."""
    frames = list(frames)
    whole = frames[-1][0] or 1.0
    chosen = []
    for number in range(FRAMES):
        at = whole * number / (FRAMES - 1)
        lines = [lines for moment, lines in frames if moment <= at][-1]
        if not chosen or chosen[-1][1] != lines:
            chosen.append((number / (FRAMES - 1) * (seconds - PAUSE_S) / seconds, lines))
    return chosen


def text_of(parts):
    out, column = [], 0
    for text, (colour, bold, reverse) in parts:
        stripped = text.strip()
        if stripped:
            start = column + len(text) - len(text.lstrip())
            names = " ".join(filter(None, [colour, "bold" if bold else "", "reverse" if reverse else ""]))
            mark = f' class="{names}"' if names else ""
            # textLength keeps columns where the reader's font is wider or narrower.
            out.append(f'<tspan x="{MARGIN + start * CHARACTER:.1f}" textLength="{len(stripped) * CHARACTER:.1f}"{mark}>'
                       f"{html.escape(stripped, quote=False)}</tspan>")
        column += len(text)
    return "".join(out)


def svg(frames, columns, seconds):
    """frames: (share of the time, lines)."""
    rows = max(max((y + 1 for y, line in enumerate(lines) if line), default=1) for _, lines in frames)
    width, height = 2 * MARGIN + columns * CHARACTER, 2 * MARGIN + rows * LINE
    ids = {}
    strips = []
    for number, (_, lines) in enumerate(frames):
        uses = []
        for y, line in enumerate(lines[:rows]):
            if line:
                name = ids.setdefault(line, f"l{len(ids)}")
                uses.append(f'<use href="#{name}" y="{MARGIN + 13 + y * LINE}"/>')
        strips.append(f'<g transform="translate({number * width:.0f} 0)">{"".join(uses)}</g>')
    texts = "".join(f'<text id="{name}" xml:space="preserve">{text_of(line)}</text>' for line, name in ids.items())
    style = ["text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#202124}",
             ".back{fill:#fbfbfc;stroke:#d0d4da}.bold{font-weight:700}.reverse{text-decoration:underline}"]
    style += [f".{name}{{fill:{light}}}" for name, (light, _) in COLOURS.items()]
    dark = "text{fill:#e6e6e6}.back{fill:#16181d;stroke:#3a3f47}" + "".join(f".{name}{{fill:{dark}}}" for name, (_, dark) in COLOURS.items())
    style.append(f"@media(prefers-color-scheme:dark){{{dark}}}")
    if len(frames) > 1:
        steps = "".join(f"{100 * share:.2f}%{{transform:translateX({-number * width:.0f}px)}}" for number, (share, _) in enumerate(frames))
        last = f"100%{{transform:translateX({-(len(frames) - 1) * width:.0f}px)}}"
        style.append(f"@keyframes film{{{steps}{last}}}#film{{animation:film {seconds}s step-end infinite}}")
        # For readers who want nothing to move: the last screen.
        style.append(f"@media(prefers-reduced-motion){{#film{{animation:none;transform:translateX({-(len(frames) - 1) * width:.0f}px)}}}}")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}">'
            f'<style>{"".join(style)}</style><defs>{texts}</defs>'
            f'<rect class="back" x=".5" y=".5" width="{width - 1:.0f}" height="{height - 1}" rx="6"/>'
            f'<g id="film">{"".join(strips)}</g></svg>\n')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--columns", type=int, default=88)
    parser.add_argument("--rows", type=int, default=26)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--shown")
    words = sys.argv[1:]
    at = words.index("--")
    arguments, command = parser.parse_args(words[:at]), words[at + 1:]
    frames = screens(command, arguments.columns, arguments.rows, arguments.shown or " ".join(command))
    if arguments.seconds:
        chosen = sampled(frames, arguments.seconds)
    else:
        chosen = [(0, list(frames)[-1][1])]
    with open(arguments.out, "w") as file:
        file.write(svg(chosen, arguments.columns, arguments.seconds))


if __name__ == "__main__":
    main()
