// A chat page in Vue, with @tributary/chat/vue.
import { requestText } from '@tributary/chat';
import { useTributaryChat } from '@tributary/chat/vue';
import { createApp, defineComponent, h, shallowRef } from 'vue';

const Page = defineComponent({
  props: ['id', 'transport'],
  setup({ id, transport }) {
    const { conversation, state, messages, status, error, requests } = useTributaryChat({ id, transport });
    const text = shallowRef('');
    const send = event => { event.preventDefault(); conversation.sendMessage({ text: text.value }); text.value = ''; };
    const button = (name, onClick) => h('button', { type: 'button', onClick }, name);
    return () => (state.value.loading ? [] : [
      messages.value.map(m => h('article', { key: m.id }, m.parts.map(p => (p.type === 'text' ? h('p', p.text) : null)))),
      requests.value.map(r => [h('pre', requestText(r)), ...(r.choices ? r.choices.map(c => button(c.label, () => conversation.answer(r, { value: c.label }))) : [true, false].map(approved => button(approved ? 'Allow' : 'Deny', () => conversation.answer(r, { approved }))))]),
      error.value && h('p', { role: 'alert' }, error.value.message),
      h('form', { onSubmit: send }, [
        h('textarea', { value: text.value, onInput: event => { text.value = event.target.value; } }),
        h('button', 'Send'),
        ['submitted', 'streaming'].includes(status.value) && button('Stop', conversation.stop),
      ]),
    ]);
  },
});

export function mount(place, props) {
  const app = createApp(Page, props);
  app.mount(place);
  return () => app.unmount();
}
