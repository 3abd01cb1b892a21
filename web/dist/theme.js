// Sets the theme that a person chose before anything is painted; src/style/theme.ts has the rest.
try {
  const theme = localStorage.getItem('tributary-theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  /* a browser that keeps nothing has the theme of its system */
}
