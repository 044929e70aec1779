// Light, dark, or as the system has it.

const THEMES = ['system', 'light', 'dark'];

export function setUpTheme(button) {
  const root = document.documentElement;
  const show = () => {
    button.textContent = `Theme: ${root.dataset.theme ?? 'system'}`;
  };
  button.addEventListener('click', () => {
    const next = THEMES[(THEMES.indexOf(root.dataset.theme ?? 'system') + 1) % THEMES.length];
    if (next === 'system') delete root.dataset.theme;
    else root.dataset.theme = next;
    try {
      localStorage.setItem('hookproof-theme', next);
    } catch {
      // It holds until the page is closed.
    }
    show();
  });
  show();
}
