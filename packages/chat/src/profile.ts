// The client profile: which parts of the stream the installed release of `ai` can read.
import { DefaultChatTransport, type UIMessageChunk } from 'ai';

export type Profile = '5' | '6' | '7';

/** Reads a stream as the installed release does. */
class Probe extends DefaultChatTransport<never> {
  async reads(chunk: object): Promise<boolean> {
    const body = new Blob([`data: ${JSON.stringify(chunk)}\n\n`]).stream();
    const reader = (this.processResponseStream(body) as ReadableStream<UIMessageChunk>).getReader();
    try {
      return !(await reader.read()).done;
    } catch {
      return false;
    }
  }
}

let found: Promise<Profile> | undefined;

/** The profile of the installed release: no release says which one it is, so this asks for what it can read. */
export const installedProfile = (): Promise<Profile> => (found ??= detect());

async function detect(): Promise<Profile> {
  const probe = new Probe();
  if (await probe.reads({ type: 'tool-approval-response', approvalId: 'a', approved: true })) return '7';
  return (await probe.reads({ type: 'tool-approval-request', approvalId: 'a', toolCallId: 'c' })) ? '6' : '5';
}

let replaces: boolean | undefined;

/** Whether the installed release replaces a message by the one that a resumed stream brings. Others add to it. */
export const replacesOnResume = (): boolean => (replaces ??= 'resumeStreamIsReplay' in new DefaultChatTransport());
