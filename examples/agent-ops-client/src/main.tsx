import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { connect } from './gateway';
import { SessionPage } from './session-page';

// A page of another origin names the gateway and its token in the element #gateway.
const { base = '', token } = document.getElementById('gateway')?.dataset ?? {};
connect({ base, token });

const session = new URLSearchParams(location.search).get('session');
createRoot(document.getElementById('root')!).render(
  <StrictMode>{session ? <SessionPage session={session} /> : <p>Name a session in the address: ?session=ID</p>}</StrictMode>,
);
