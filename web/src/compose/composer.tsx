import { useEffect, useId, useRef, useState } from 'react';
import { ArrowUp, CornerDownRight, Paperclip, Square } from 'lucide-react';
import { Button, IconButton } from '../ui/button';
import { Attached } from './attached';
import { caretLeft } from './caret';
import type { Compose } from './compose';
import { useView } from '../shell/route';
import { useDrop } from './drop';
import { useHeight } from './height';
import { Queued } from './queued';
import { Suggestions } from './suggestions';
import { useOffers, type Offer } from './suggest';
import { triggerAt, type Trigger } from './trigger';

const NONE: never[] = [];

/**
 * Where a person writes. Enter sends, Shift+Enter breaks the line, Escape stops unless there is a draft. A prompt that is sent
 * while the agent works waits in the queue; while the agent waits for an answer, a new message may end the turn.
 */
export function Composer({ compose }: { compose: Compose }) {
  const { text, setText, files, comments, controls, running, paused, sending, stopping } = compose;
  const area = useRef<HTMLTextAreaElement>(null),
    picker = useRef<HTMLInputElement>(null),
    list = useId(),
    why = useId();
  const [trigger, setTrigger] = useState<Trigger | null>(null),
    [at, setAt] = useState(0),
    [left, setLeft] = useState(0);
  const shut = useRef<string | null>(null); // the word whose list Escape has closed
  const recalled = useRef(-1);
  const offers = useOffers(compose.id, controls.files, trigger, trigger?.kind === 'command' ? compose.commands() : NONE);
  const open = trigger !== null && offers.length > 0,
    blocked = controls.blocked !== null;
  const chosen = Math.min(at, offers.length - 1);
  const focus = () => area.current?.focus();
  const reviewing = useRef(useView() === 'review'); // when the composer appears: the review has the focus then
  useEffect(() => {
    if (!reviewing.current && matchMedia('(hover: hover)').matches) focus();
  }, []);
  useHeight(area, text, 240);
  const dropping = useDrop(!blocked, compose.attach);

  const look = () => {
    const el = area.current;
    if (!el) return;
    const found = el.selectionStart === el.selectionEnd ? triggerAt(el.value, el.selectionStart) : null;
    const word = found && `${found.kind}${found.from}`;
    if (word !== shut.current) shut.current = null;
    setTrigger(found && shut.current === null ? found : null);
    if (found?.query !== trigger?.query || found?.from !== trigger?.from) setAt(0);
    if (found) setLeft(caretLeft(el, found.from));
  };
  const take = (offer: Offer) => {
    if (!trigger) return;
    const caret = trigger.from + offer.value.length;
    setText(now => now.slice(0, trigger.from) + offer.value + now.slice(trigger.to).replace(/^ /, ''));
    setTrigger(null);
    focus();
    requestAnimationFrame(() => area.current?.setSelectionRange(caret, caret));
  };
  const recall = (step: number) => {
    const own = compose.own(),
      next = recalled.current + step;
    if (next >= own.length || next < -1) return;
    recalled.current = next;
    setText(() => own[next] ?? '');
  };
  const go = (how: () => Promise<void>) => {
    recalled.current = -1;
    setTrigger(null);
    focus();
    void how();
  };
  const onKeyDown = (e: React.KeyboardEvent) => {
    if (e.nativeEvent.isComposing) return;
    const plain = !e.shiftKey && !e.altKey && !e.ctrlKey && !e.metaKey;
    if (open) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
      if (step) {
        e.preventDefault();
        setAt((chosen + step + offers.length) % offers.length);
        return;
      }
      if (plain && (e.key === 'Enter' || e.key === 'Tab')) {
        e.preventDefault();
        take(offers[chosen]!);
        return;
      }
      if (e.key === 'Escape') {
        e.preventDefault();
        e.stopPropagation();
        shut.current = `${trigger.kind}${trigger.from}`;
        setTrigger(null);
        return;
      }
    }
    if (e.key === 'Enter' && !e.shiftKey && !e.altKey) {
      e.preventDefault();
      go((e.ctrlKey || e.metaKey) && running && controls.steer ? compose.steer : compose.send);
    }
    if (e.key === 'Escape' && (running || paused) && !text) {
      e.preventDefault();
      void compose.stop();
    }
    if (plain && (e.key === 'ArrowUp' || e.key === 'ArrowDown') && (text === '' || text === compose.own()[recalled.current])) {
      if (text === '') recalled.current = -1;
      if (e.key === 'ArrowUp' || text) {
        e.preventDefault();
        recall(e.key === 'ArrowUp' ? 1 : -1);
      }
    }
    if (e.key === 'Backspace' && plain && text === '' && (files.length || comments.length)) {
      // the key removes what it stands on, not what it does not see
      e.preventDefault();
      area.current?.closest('form')?.querySelector<HTMLElement>('.attached li:last-child button')?.focus();
    }
  };
  const empty = !text.trim() && !files.length && !comments.length;

  return (
    <div className="dock">
      <Queued
        queue={compose.queue}
        writes={!blocked}
        owns={compose.session?.role === 'owner' || compose.session?.role === 'admin'}
        tell={compose.tell}
        after={focus}
      />
      {controls.blocked !== null && (
        <p className="blocked" id={why}>
          {controls.blocked}
        </p>
      )}
      <form
        className="composer"
        onSubmit={e => {
          e.preventDefault();
          go(compose.send);
        }}
      >
        <div className={dropping ? 'composer-box dropping' : 'composer-box'}>
          {open && (
            <Suggestions
              id={list}
              offers={offers}
              chosen={chosen}
              left={left}
              label={trigger.kind === 'command' ? 'Commands' : 'Files'}
              onChoose={take}
              onLook={setAt}
            />
          )}
          <Attached files={files} comments={comments} onFiles={compose.setFiles} onComments={compose.setComments} after={focus} />
          <textarea
            ref={area}
            rows={1}
            dir="auto"
            value={text}
            aria-label="Your message"
            disabled={blocked}
            aria-describedby={blocked ? why : undefined}
            aria-autocomplete="list"
            aria-haspopup="listbox"
            aria-controls={open ? list : undefined}
            aria-activedescendant={open ? `${list}-${chosen}` : undefined}
            placeholder={
              blocked
                ? ''
                : paused
                  ? 'Answer here, or send something else to end the turn'
                  : running
                    ? 'Message for the next turn'
                    : 'Message the agent'
            }
            onChange={e => {
              const { value } = e.target;
              setText(() => value);
              look();
            }}
            onSelect={look}
            onBlur={() => setTrigger(null)}
            onKeyDown={onKeyDown}
            onPaste={e => {
              const pasted = [...e.clipboardData.files];
              if (!pasted.length || e.clipboardData.getData('text/plain')) return;
              e.preventDefault();
              compose.attach(pasted);
            }}
          />
          <div className="composer-acts">
            <input
              ref={picker}
              type="file"
              multiple
              hidden
              aria-label="Files to attach"
              onChange={e => {
                compose.attach([...(e.target.files ?? [])]);
                e.target.value = '';
                focus();
              }}
            />
            <IconButton label="Attach files" disabled={blocked} onClick={() => picker.current?.click()}>
              <Paperclip aria-hidden="true" />
            </IconButton>
            <span className="grow" />
            {(running || paused || stopping) && (
              <Button className="stop" aria-disabled={stopping} onClick={() => void compose.stop()}>
                <Square aria-hidden="true" />
                {stopping ? 'Stopping…' : 'Stop'}
              </Button>
            )}
            {running && controls.steer && !empty && !files.length && (
              <Button disabled={sending} title="Ctrl+Enter" onClick={() => go(compose.steer)}>
                <CornerDownRight aria-hidden="true" />
                Send into this turn
              </Button>
            )}
            <Button look="primary" type="submit" className="send" disabled={blocked || sending || empty}>
              <ArrowUp aria-hidden="true" />
              {running ? 'Queue' : 'Send'}
            </Button>
          </div>
        </div>
        <p className="unseen" role="status">
          {stopping ? 'Stopping the turn.' : open ? `${offers.length} to choose from.` : ''}
        </p>
      </form>
    </div>
  );
}
