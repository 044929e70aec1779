/** The spellings in which a secret can come back: as it is, and in every encoding that a receiver or a log is likely to use. */

/** JSON, as the serialisers of several languages write it: escaping slashes, all that is not ASCII, or what HTML minds. */
function jsonForms(value: string): string[] {
  const plain = JSON.stringify(value).slice(1, -1);
  const escapeAll = (text: string, which: RegExp): string =>
    text.replace(which, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const ascii = escapeAll(plain, /[^\x20-\x7e]/g);
  const slashes = plain.replaceAll('/', '\\/');
  const html = escapeAll(plain, /[<>&'+=]/g);
  const htmlFew = escapeAll(plain, /[<>&]/g);
  // A JSON text inside a JSON string.
  const nested = JSON.stringify(plain).slice(1, -1);
  return [plain, ascii, slashes, ascii.replaceAll('/', '\\/'), html, htmlFew, nested];
}

function urlForms(value: string): string[] {
  const wellFormed = Buffer.from(value).toString();
  const component = encodeURIComponent(wellFormed);
  const form = new URLSearchParams([['', wellFormed]]).toString().slice(1);
  const every = Array.from(Buffer.from(value), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  // The last one is what is left of a value that was decoded as form data without having been encoded.
  return [component, encodeURI(wellFormed), form, form.replaceAll('+', '%20'), every, value.replaceAll('+', ' ')];
}

function markupForms(value: string): string[] {
  const basic = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const quoted = basic.replaceAll('"', '&quot;');
  return [basic, quoted, ...['&#39;', '&#x27;', '&apos;'].map((apostrophe) => quoted.replaceAll("'", apostrophe))];
}

/**
 * Base64 of the value, and the part of any longer base64 text that only this value can have caused, at each of the three
 * ways in which it can lie across the groups of three bytes (as in `Basic` credentials).
 */
function base64Forms(value: string): string[] {
  const bytes = Buffer.from(value);
  const whole = bytes.toString('base64');
  const cores = [0, 1, 2].map((offset) => {
    const shifted = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    return shifted.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
  });
  const long = cores.filter((core) => core.length >= 8);
  return [whole, whole.replace(/=+$/, ''), ...long].flatMap((form) => [
    form,
    form.replaceAll('+', '-').replaceAll('/', '_'),
    encodeURIComponent(form),
    form.replaceAll('/', '\\/'),
  ]);
}

/** Bytes as programs print them: as they are put into JSON or into a log. */
function printedBytes(bytes: Buffer): string[] {
  const hex = bytes.toString('hex');
  return [hex, hex.replace(/..(?=.)/g, '$& '), bytes.join(','), bytes.join(', ')];
}

/** With a blank in its middle: a scenario sends the API key so, and both halves are there to read. */
function parted(value: string): string[] {
  const middle = Math.floor(value.length / 2);
  return [' ', '%20', '+'].map((blank) => `${value.slice(0, middle)}${blank}${value.slice(middle)}`);
}

/** Every form of a value, the value itself first, without repetitions. Letter case does not matter: the search folds it. */
export function formsOf(value: string): string[] {
  const spelt = [
    value,
    ...jsonForms(value),
    ...urlForms(value),
    ...markupForms(value),
    value.replaceAll("'", "'\\''"),
    ...base64Forms(value),
    ...printedBytes(Buffer.from(value)),
    ...parted(value),
  ];
  // UTF-8 that was read as Latin-1, which is how Node gives header values.
  const misread = spelt.map((form) => Buffer.from(form).toString('latin1'));
  return [...new Set([...spelt, ...misread])];
}

/** A value with its parts that are secret by themselves: without its outer white space, and line by line (PEM material). */
export function partsOf(value: string): string[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim());
  const long = lines.filter((line) => line.length >= 16 && !line.startsWith('-----'));
  return [...new Set([value, value.trim(), ...(lines.length > 1 ? long : [])])].filter((part) => part !== '');
}
