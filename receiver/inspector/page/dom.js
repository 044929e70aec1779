// Elements from data. Text is only ever set as text: everything of a delivery is hostile.

/** An element with attributes (those that are undefined are left out) and children: elements, or text. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined) continue;
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

export function find(id) {
  return document.getElementById(id);
}

export function isNarrow() {
  return matchMedia('(max-width: 820px)').matches;
}

/** A button that copies a text and says so for a moment. */
export function copyButton(label, text, attributes = {}) {
  const button = element('button', { type: 'button', ...attributes }, label);
  button.addEventListener('click', async () => {
    const copied = await copy(text());
    button.textContent = copied ? 'Copied' : 'Not copied';
    find('announce').textContent = button.textContent;
    setTimeout(() => {
      button.textContent = label;
    }, 1500);
  });
  return button;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Without HTTPS, and not on this machine, there is no clipboard: the old way then.
    const area = element('textarea', { 'aria-hidden': 'true', class: 'unseen' });
    area.value = text;
    const focused = document.activeElement;
    document.body.append(area);
    area.select();
    const copied = document.execCommand('copy');
    area.remove();
    focused?.focus();
    return copied;
  }
}

/** A command to copy. */
export function commandLine(text) {
  return element(
    'div',
    { class: 'command' },
    element('pre', { tabindex: '0' }, text),
    copyButton('Copy', () => text),
  );
}
