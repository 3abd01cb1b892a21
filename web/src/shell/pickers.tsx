import { useEffect, useState } from 'react';
import { changeSession, readControls, type Controls, type Session } from '../api/api';
import { Select } from '../ui/select';
import { toast } from '../ui/toast';
import { choicesOf } from './start';

/** The mode and the model of a session, where its agent has several. */
export default function Pickers({ session: { id, mode, model, state } }: { session: Session }) {
  const [controls, setControls] = useState<Controls | null>(null);
  const idle = state === 'idle';
  useEffect(() => {
    let here = true;
    void readControls(id).then(now => {
      if (here && now) setControls(now);
    });
    return () => {
      here = false;
    };
  }, [id, mode, model, idle]); // an agent that starts may offer more
  const change = (what: { mode: string } | { model: string }) => {
    setControls(now => now && { ...now, ...what });
    changeSession(id, what).catch((e: Error) => {
      toast(e.message, { bad: true });
      void readControls(id).then(setControls);
    });
  };
  return (
    <>
      {controls?.modes?.length ? (
        <Select
          small
          quiet
          label="Mode"
          value={controls.mode ?? ''}
          choices={choicesOf(controls.modes, controls.mode, 'Mode')}
          onChange={to => change({ mode: to })}
        />
      ) : null}
      {controls?.models?.length ? (
        <Select
          small
          quiet
          label="Model"
          value={controls.model ?? ''}
          choices={choicesOf(controls.models, controls.model, 'Model')}
          onChange={to => change({ model: to })}
        />
      ) : null}
    </>
  );
}
