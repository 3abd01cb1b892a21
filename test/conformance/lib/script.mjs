// Prompts for the scripted model behind a real agent, and what it says to them (internal/testkit/scriptedmodel).
export const say = text => `[[script:say ${text}]]`;
export const slow = ms => `[[script:slow ${ms}]]`;
export const read = file => `[[script:read ${file}]]`;
export const write = file => `[[script:write ${file}]]`;
export const both = file => `[[script:both ${file}]]`;
export const escalate = command => `[[script:escalate ${command}]]`;
export const call = (tool, input) => `[[script:call ${tool} ${JSON.stringify(input)}]]`;

export const SLOW_TEXT =
  'One word after another this text goes on for a while so that whoever reads it has the time to press a button or pull a plug before it has come to its end which is at the fortieth word.';
export const THOUGHT = 'The question is old. Six times seven comes to mind, so I will say 42.';
export const THINK_TEXT = 'I have thought about it, and the answer is 42.';
export const WRITTEN = 'written by the scripted model\n';
