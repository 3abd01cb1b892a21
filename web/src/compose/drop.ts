import { useEffect, useEffectEvent, useState } from 'react';

const hasFiles = (e: DragEvent) => !!e.dataTransfer?.types.includes('Files');

/** Takes files that are dropped anywhere on the page. Returns whether some are over the page now. */
export function useDrop(active: boolean, take: (files: File[]) => void): boolean {
  const [over, setOver] = useState(false);
  const dropped = useEffectEvent(take);
  useEffect(() => {
    if (!active) return;
    const enter = (e: DragEvent) => {
      if (!hasFiles(e)) return;
      e.preventDefault(); // else the browser leaves the page for the file
      setOver(true);
    };
    const leave = (e: DragEvent) => {
      if (!e.relatedTarget) setOver(false);
    };
    const drop = (e: DragEvent) => {
      setOver(false);
      if (!hasFiles(e)) return;
      e.preventDefault();
      dropped([...e.dataTransfer!.files]);
    };
    addEventListener('dragover', enter);
    addEventListener('dragleave', leave);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragover', enter);
      removeEventListener('dragleave', leave);
      removeEventListener('drop', drop);
    };
  }, [active]);
  return over;
}
