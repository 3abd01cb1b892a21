/** In the place of the whole page, if it cannot be drawn. */
export const Failed = () => (
  <div className="hint" role="alert">
    <p className="hint-title">The page cannot show this.</p>
    <p>What you have written is kept, and the agent works on.</p>
    <p>
      <button type="button" className="btn" onClick={() => location.reload()}>
        Load the page again
      </button>{' '}
      {/* biome-ignore lint/a11y/useValidAnchor: it leads to another session, in a page that is loaded again */}
      <a href="#/" onClick={() => setTimeout(() => location.reload())}>
        New session
      </a>
    </p>
  </div>
);
