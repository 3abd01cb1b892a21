// A chat page in Vue, with @tributary/chat/vue.
import { requestText } from '@tributary/chat';
import { useTributaryChat } from '@tributary/chat/vue';
import { createApp, defineComponent, h } from 'vue';

const Page = defineComponent({
  props: ['id', 'transport', 'onFinish'],
  setup(props) {
    const { messages, requests, answer, draft, submit, busy, stop, loading, error } = useTributaryChat(() => ({ ...props }));
    const send = event => {
      event.preventDefault();
      submit();
    };
    const button = (name, onClick) => h('button', { type: 'button', onClick }, name);
    return () =>
      loading.value
        ? []
        : [
            messages.value.map(m =>
              h(
                'article',
                { key: m.id },
                m.parts.map(p => (p.type === 'text' ? h('p', p.text) : null)),
              ),
            ),
            requests.value.map(r => [
              h('pre', requestText(r)),
              ...(r.choices
                ? r.choices.map(c => button(c.label, () => answer(r, { value: c.label })))
                : [true, false].map(approved => button(approved ? 'Allow' : 'Deny', () => answer(r, { approved })))),
            ]),
            error.value && h('p', { role: 'alert' }, error.value.message),
            h('form', { onSubmit: send }, [
              h('textarea', {
                value: draft.value,
                onInput: event => {
                  draft.value = event.target.value;
                },
              }),
              h('button', 'Send'),
              busy.value && button('Stop', stop),
            ]),
          ];
  },
});

export function mount(place, props) {
  const app = createApp(Page, props);
  app.mount(place);
  return () => app.unmount();
}
