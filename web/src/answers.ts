/** How a part that asks something hands the answer to the server. */
export interface Answers {
  permit: (request: string, answer: { option: string } | { approved: boolean }) => Promise<void>;
  reply: (question: string, value: string | string[]) => Promise<void>;
}
