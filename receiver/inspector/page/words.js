// Numbers and times for reading.

const pad = (value, length = 2) => String(value).padStart(length, '0');

/** 14:02:11.482, in the time zone of the reader. */
export function clock(iso) {
  const at = new Date(iso);
  return `${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}.${pad(at.getMilliseconds(), 3)}`;
}

export function bytes(count) {
  return count === undefined ? '' : count.toLocaleString('en');
}

export function counted(count, noun) {
  return `${bytes(count)} ${noun}${count === 1 ? '' : 's'}`;
}

export function took(ms) {
  if (ms >= 10_000) return `${(ms / 1000).toFixed(0)} s`;
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`;
  return `${ms >= 10 ? ms.toFixed(0) : ms.toFixed(1)} ms`;
}

/** 401 refused, accepted, duplicate, aborted. */
export function verdict({ outcome, status }) {
  return outcome === 'refused' ? `${status} refused` : outcome;
}

/** The fixed word of a reason, without what stands in brackets or behind a colon. */
export function reasonWord(reason) {
  return reason?.replace(/(?: \(.*\)|: .*)$/s, '');
}
