import './eval';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './shell/app';
import { adopt } from './api/signin';
import { Failed } from './shell/failed';
import { Guard } from './ui/guard';
import { UI } from './ui/provider';
import './style/all';
import './shell/shell.css';

await adopt();
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <UI>
      <Guard instead={<Failed />}>
        <App />
      </Guard>
    </UI>
  </StrictMode>,
);
