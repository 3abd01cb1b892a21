const MOST = 20000;

/** A tool's input or output: text as text, everything else as JSON. */
export function Value({ label, value }: { label: string; value: unknown }) {
  if (value === undefined) return null;
  const whole = typeof value === 'string' ? value : JSON.stringify(value, null, 2) ?? '';
  const shown = whole.length > MOST ? `${whole.slice(0, MOST)}\n… ${whole.length - MOST} more characters` : whole;
  return (
    <div className="value">
      <span className="label">{label}</span>
      <pre tabIndex={0}>{shown || '(empty)'}</pre>
    </div>
  );
}
