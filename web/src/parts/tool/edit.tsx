import { useMemo } from 'react';
import { Diff } from '../diff';
import { editsIn } from './edits';
import { inputOf } from './kind';
import { Json } from '../json';

/** The change that a call's input describes. */
export function EditInput({ input }: { input: unknown }) {
  const patch = useMemo(() => editsIn(inputOf(input)), [input]);
  return patch ? <Diff patch={patch} /> : <Json value={input} />;
}
