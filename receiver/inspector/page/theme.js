// In the head and before the style is used, so that the page does not flash in the wrong theme.
(() => {
  try {
    const theme = localStorage.getItem('hookproof-theme');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  } catch {
    // Storage is disabled: use the theme of the system.
  }
})();
