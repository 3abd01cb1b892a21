// Comes before the page. Nothing of a conversation stays in the browser, neither a draft nor an id: logout() then has nothing to clear. Browsers
// refuse storage to frames of other sites anyway, so the page can do without. Where host and gateway are one site, the storage would be that of the
// gateway's own page, with the sign-in of another person perhaps.
for (const name of ['localStorage', 'sessionStorage']) {
  Object.defineProperty(window, name, {
    configurable: true,
    get() {
      throw new DOMException('The widget uses no storage.', 'SecurityError');
    },
  });
}
