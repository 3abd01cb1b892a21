// The page in the frame of the widget: one conversation of the gateway's page, with a token that the host gives.
import './nostorage';
import '../eval';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Embed } from './app';
import { framed } from './host';
import { carry, UI } from './page';
import { withToken } from './token';
import './embed.css';

carry(withToken);
const root = document.getElementById('root')!;
if (framed)
  createRoot(root).render(
    <StrictMode>
      <UI>
        <Embed />
      </UI>
    </StrictMode>,
  );
else root.textContent = 'This page shows the chat in a frame of another page.';
