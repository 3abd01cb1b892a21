// Two ways in which a person may see the page, for tests that look at a state: each size and each scheme of colours is in one of them. What can differ
// between the schemes alone is the contrast, and page.test.mjs works it out for every pair of colours.
export const VIEWS = {
  'wide, light': { viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  'phone, dark': { viewport: { width: 390, height: 780 }, colorScheme: 'dark', hasTouch: true },
};

/** Fails if the page is wider than its window. */
export const fits = page =>
  page.evaluate(() => {
    const { scrollWidth, clientWidth, scrollTop } = document.documentElement;
    if (scrollWidth > clientWidth) throw new Error(`the page is ${scrollWidth} pixels wide in a window of ${clientWidth}`);
    if (scrollTop || document.body.scrollTop) throw new Error('the whole page has scrolled');
  });
