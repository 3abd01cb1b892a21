/** A moment in which the page has nothing better to do, or one second later: a slow page that shows an answer has none for long. */
export const idle = () =>
  new Promise<void>(resolve => {
    if ('requestIdleCallback' in window) requestIdleCallback(() => resolve(), { timeout: 1000 });
    else setTimeout(resolve, 20);
  });

/** Code that is no part of the first paint: it is fetched in the first idle moment after the page has loaded, or when it is asked for. */
export function later<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  const get = () => (loaded ??= load());
  const start = () => {
    void idle()
      .then(get)
      .catch(() => {
        loaded = undefined;
      });
  };
  if (document.readyState === 'complete') start();
  else addEventListener('load', start, { once: true });
  return get;
}
