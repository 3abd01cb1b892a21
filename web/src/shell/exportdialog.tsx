import { useState } from 'react';
import { exported, type Form } from '../api/api';
import { save } from '../parts/save';
import { Button } from '../ui/button';
import { Dialog } from '../ui/dialog';
import type { Exporting } from './acting';

const FORMS: { form: Form; name: string; note: string }[] = [
  { form: 'markdown', name: 'Markdown', note: 'the conversation, for people' },
  { form: 'json', name: 'JSON', note: 'the messages, for chats' },
  { form: 'trace', name: 'Trace', note: 'all records, as JSON lines' },
  { form: 'atif', name: 'ATIF', note: 'a trajectory, for graders and training' },
  { form: 'otlp', name: 'OTLP', note: 'spans, for stores of traces such as Langfuse' },
];

/** The forms that can leave out what was said, and can have one turn only. */
const readers = (form: Form) => form === 'atif' || form === 'otlp';

/** Asks in which form a session, or the turn of a message, is downloaded. */
export default function ExportDialog({ id, message, onClose }: Exporting & { onClose: () => void }) {
  const forms = FORMS.filter(f => !message || readers(f.form));
  const [form, setForm] = useState(forms[0]!.form),
    [bare, setBare] = useState(false);
  const [problem, setProblem] = useState(''),
    [busy, setBusy] = useState(false);
  const download = async () => {
    setBusy(true);
    setProblem('');
    try {
      const { name, content } = await exported(id, { form, bare: bare && readers(form), message });
      save(name, content);
      onClose();
    } catch (e) {
      setProblem((e as Error).message);
      setBusy(false);
    }
  };
  return (
    <Dialog title={message ? 'Export this turn' : 'Export this session'} onClose={onClose}>
      <form
        className="export"
        onSubmit={e => {
          e.preventDefault();
          void download();
        }}
      >
        <fieldset className="export-forms">
          <legend className="unseen">Format</legend>
          {forms.map(f => (
            <label key={f.form} className="item">
              <input type="radio" name="form" checked={form === f.form} onChange={() => setForm(f.form)} />
              <span className="grow">
                {f.name}
                <span className="note">{f.note}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <label className="item">
          <input type="checkbox" checked={bare && readers(form)} disabled={!readers(form)} onChange={e => setBare(e.target.checked)} />
          <span className="grow">
            Without contents
            <span className="note">{readers(form) ? 'Only names, numbers and times.' : 'ATIF and OTLP can leave out what was said.'}</span>
          </span>
        </label>
        {problem && (
          <p className="bad" role="alert">
            {problem}
          </p>
        )}
        <div className="actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={busy}>
            Download
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
