// Runs in the head before the style is applied, so that the page does not flash in the wrong theme.
(() => {
  try {
    const theme = localStorage.getItem('hookproof-theme');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  } catch {
    // Storage is disabled, so the theme of the system is used.
  }
})();
