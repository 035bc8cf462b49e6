// What the page knows, and how its numbers are written. What comes from the machine is only ever set as text.
export const GIB = 2 ** 30;

export const byId = (id) => document.getElementById(id);
// What would turn the direction of writing or break a line, as an escape: as core/base/text/printable.h.
export const printable = (text) => String(text).replace(
  /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, (c) => {
    const code = c.charCodeAt(0), digits = (count) => code.toString(16).padStart(count, '0');
    return { '\n': '\\n', '\t': '\\t', '\r': '\\r' }[c] ?? (code < 0x80 ? `\\x${digits(2)}` : `\\u${digits(4)}`);
  });
export const element = (name, text, className) => {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = printable(text);
  if (className) made.className = className;
  return made;
};

export const state = {
  start: null, interval: 1, newest: 0, gpus: [], metrics: {}, time: [], values: {},
  minutes: 5, paused: false, hidden: new Set(), theme: 'auto', cursor: null, lost: null,
  sample: null,  // the newest, as /sample.json has it
};

export const bytes = (value) => {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let unit = 0;
  for (; Math.abs(value) >= 999.5 && unit < units.length - 1; ++unit) value /= 1000;
  return `${unit && value < 9.95 ? value.toFixed(1) : value.toFixed(0)} ${units[unit]}`;
};
export const rate = (value) => `${bytes(value)}/s`;
export const percent = (value) => `${value.toFixed(0)} %`;
export const gib = (value) => `${(value / GIB).toFixed(1)} GiB`;
export const age = (seconds) =>
  seconds < 100 ? `${seconds.toFixed(0)} s` : seconds < 6000 ? `${(seconds / 60).toFixed(0)} min`
    : seconds < 360000 ? `${(seconds / 3600).toFixed(0)} h` : `${(seconds / 86400).toFixed(0)} d`;
export const clock = (ms) => new Date(ms).toLocaleTimeString([], { hourCycle: 'h23' });

// A reading of /sample.json as text: never 0 where nothing was measured.
export const shown = (reading, format) =>
  reading.state === 'measured' ? format(reading.value) : reading.state === 'unsupported' ? 'n/a' : '-';
export const why = (reading) =>
  reading.state === 'measured' ? `${reading.source || ''}, ${age(reading.age_s)} old`
    : [reading.state, reading.why].filter(Boolean).join(': ');
