// A chat page in Vue. Release 4 has the composable useChat; release 3 has the class Chat only.
import * as sdk from '@ai-sdk/vue';
import { lastAssistantMessageIsCompleteWithApprovalResponses, lastAssistantMessageIsCompleteWithToolCalls } from 'ai';
import { createApp, defineComponent, h, onMounted, reactive, shallowRef } from 'vue';

const Page = defineComponent({
  props: ['id', 'history'],
  setup({ id, history }) {
    const init = {
      id,
      messages: history,
      sendAutomaticallyWhen: c => lastAssistantMessageIsCompleteWithApprovalResponses(c) || lastAssistantMessageIsCompleteWithToolCalls(c),
    };
    const chat = sdk.useChat ? reactive(sdk.useChat(init)) : new sdk.Chat(init);
    const text = shallowRef('');
    onMounted(() => chat.resumeStream());
    const send = event => {
      event.preventDefault();
      void chat.sendMessage({ text: text.value });
      text.value = '';
    };
    const stop = () => {
      void chat.stop();
      void fetch(`/api/sessions/${id}/stop`, { method: 'POST' });
    };
    const part = p => {
      if (p.type === 'text') return h('p', p.text);
      if (p.type === 'reasoning') return h('em', p.text);
      if (p.type === 'tool-AskUser' && p.state === 'input-available') {
        return p.input.choices.map(c =>
          h('button', { onClick: () => chat.addToolOutput({ tool: 'AskUser', toolCallId: p.toolCallId, output: c.label }) }, c.label),
        );
      }
      if (p.state === 'approval-requested') {
        return [
          ['Allow', true],
          ['Deny', false],
        ].map(([name, approved]) => h('button', { onClick: () => chat.addToolApprovalResponse({ id: p.approval.id, approved }) }, name));
      }
      return p.type === 'dynamic-tool' ? h('pre', `${p.toolName} ${JSON.stringify(p.output)}`) : null;
    };
    return () => [
      chat.messages.map(m => h('article', { key: m.id }, m.parts.map(part))),
      chat.error && h('p', { role: 'alert' }, chat.error.message),
      h('form', { onSubmit: send }, [
        h('textarea', {
          value: text.value,
          onInput: event => {
            text.value = event.target.value;
          },
        }),
        h('button', 'Send'),
        ['submitted', 'streaming'].includes(chat.status) && h('button', { type: 'button', onClick: stop }, 'Stop'),
      ]),
    ];
  },
});

export function mount(place, props) {
  const app = createApp(Page, props);
  app.mount(place);
  return () => app.unmount();
}
